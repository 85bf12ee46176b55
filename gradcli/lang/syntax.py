"""The syntax tree: immutable nodes, each with the span of its text.

`program.source[node.span.start:node.span.end]` is the text of a node, without the
parentheses around it. `op_span` is the span of the operator or of the called name, for
errors to point at. A sum of n terms is a tree of depth n: go through it with `walk` or
`bounce`, never by recursion.

The fields of a class are in the order in which they are run, which is that of the text
except that a value comes before the targets that it is assigned to.
"""

import gc
from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import GeneratorType
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_type_hints

from ..ops.records import record
from .errors import Span


@record
class SyntaxNode:
    """A part of the tree, with the span of text that it was read from."""

    span: Span


@record
class Expression(SyntaxNode):
    """A node that has a value."""


@record
class Literal(Expression):
    """A number, string, True, False, None or Ellipsis; `written` is its text, where the
    span is not its own."""

    value: int | float | str | bool | Any
    written: str = ""


@record
class Name(Expression):
    """A name that is read; `qualified` if it had a prefix, such as `torch.`, and with
    the title of the library that the prefix means, if it is another one."""

    name: str
    qualified: bool = False
    source: str = ""


@record
class Unary(Expression):
    """An operator with one operand: `-x`, `+x`, `not x`."""

    operator: str
    operand: Expression
    op_span: Span


@record
class Binary(Expression):
    """An arithmetic operator with two operands: `+ - * / // % @ **`."""

    operator: str
    left: Expression
    right: Expression
    op_span: Span


@record
class Chain(Expression):
    """Two operands or more, with an operator between neighbours."""

    operands: tuple[Expression, ...]
    op_spans: tuple[Span, ...]

    @property
    def op_span(self) -> Span:
        return self.op_spans[0]


@record
class Compare(Chain):
    """A chain of comparisons: `a < b <= c`."""

    operators: tuple[str, ...]


@record
class Logic(Chain):
    """A chain of one logical operator: `a and b and c`, or `a or b`."""

    operator: str


@record
class Conditional(Expression):
    """A conditional expression: `then if test else otherwise`."""

    then: Expression
    test: Expression
    otherwise: Expression
    op_span: Span


@record
class Refusal(Expression):
    """An expression without a value: an error that another library's function is not
    computed at the operands that it was given."""

    message: str
    hint: str


@record
class Keyword(SyntaxNode):
    """An argument of a call that is passed by name: `name=value`."""

    name: str
    value: Expression


@record
class Call(Expression):
    """A call of a function of the library: `function(arguments)`."""

    function: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]
    op_span: Span


@record
class MethodCall(Expression):
    """A call of a method: `receiver.method(arguments)`."""

    receiver: Expression
    method: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]
    op_span: Span


@record
class Attribute(Expression):
    """An attribute of a value: `value.name`."""

    value: Expression
    name: str
    op_span: Span


@record
class Index(Expression):
    """An index: `value[key]`; several keys are a `Sequence` of kind tuple."""

    value: Expression
    key: Expression
    op_span: Span


@record
class Slice(Expression):
    """A slice inside an index: `start:stop:step`."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None


@record
class Sequence(Expression):
    """A list or a tuple."""

    kind: type[list[object]] | type[tuple[object, ...]]
    items: tuple[Expression, ...]


@record
class Comprehension(Expression):
    """A list of a value for each item: `value for target in iterable if test`."""

    iterable: Expression
    targets: tuple["Target", ...]
    test: Expression | None
    value: Expression
    unpacks: bool


@record
class Apply(Expression):
    """A call of a function that the program defines: the arguments are assigned to the
    targets, the body is run, and the value is that of ``value``."""

    arguments: tuple[Expression, ...]
    targets: tuple["Target", ...]
    body: tuple["Statement", ...]
    value: Expression


@record
class Statement(SyntaxNode):
    """A node that is run for its effect."""


@record
class Target(SyntaxNode):
    """A name that is assigned to."""

    name: str


Parameter = tuple[Target, Expression | None]
"""A name that a function takes, with its value where a call gives none."""


@record
class Definition(Statement):
    """A function that the program defines; ``size`` is the length of its code, in
    tokens, with that of the functions that it calls."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    value: Expression
    size: int


@record
class Assign(Statement):
    """An assignment: `name = value`, or `a, b = value` if `unpacks`."""

    value: Expression
    targets: tuple[Target, ...]
    unpacks: bool
    op_span: Span


@record
class Augment(Statement):
    """An in-place operation: `name += value`; `operator` is the sign without `=`."""

    operator: str
    before: Name
    value: Expression
    target: Target
    op_span: Span


@record
class Evaluate(Statement):
    """A statement that is an expression."""

    value: Expression


@record
class Block(SyntaxNode):
    """Statements that run one after another."""

    statements: tuple[Statement, ...]


@record
class Branch(SyntaxNode):
    """One `if` or `elif` with its body."""

    test: Expression
    body: Block


@record
class If(Statement):
    """A conditional: one `if`, any number of `elif`, and an optional `else`."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


@record
class For(Statement):
    """A loop `for name in iterable`, or `for a, b in iterable` if `unpacks`."""

    iterable: Expression
    targets: tuple[Target, ...]
    body: Block
    unpacks: bool


@record
class While(Statement):
    """A loop `while test`."""

    test: Expression
    body: Block


@record
class With(Statement):
    """A block `with no_grad():`, or `with enable_grad():` if `enabled`."""

    enabled: bool
    body: Block


@record
class Word(Statement):
    """The statement `break`, `continue` or `pass`."""

    word: str


class Note(NamedTuple):
    """A remark on a span of a program that is no error: how ambiguous text was read, or
    a division by zero."""

    message: str
    span: Span


@record
class Program(SyntaxNode):
    """A program, with the text that all spans refer to; ``doubts`` are the places of
    names that may be mathematical notation."""

    source: str
    body: Block
    notes: tuple[Note, ...] = ()
    doubts: tuple[Span, ...] = ()

    def text(self, node: SyntaxNode) -> str:
        """Return the text of a node."""
        return self.source[node.span.start : node.span.end]


@cache
def _fields_of_nodes(kind: type[SyntaxNode]) -> tuple[str, ...]:
    """Return the names of the fields in which a class holds nodes."""
    hints = get_type_hints(kind)
    parts = {
        field: get_args(hints[field]) or (hints[field],)
        for field in kind.__match_args__
    }
    is_node = lambda part: isinstance(part, type) and issubclass(part, SyntaxNode)
    return tuple(field for field, held in parts.items() if any(map(is_node, held)))


def children(node: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """Return a node's children, in the order of its fields."""
    parts: list[SyntaxNode] = []
    for field in _fields_of_nodes(type(node)):  # type: ignore[arg-type]
        value = getattr(node, field)
        if isinstance(value, tuple):
            parts.extend(value)
        elif value is not None:
            parts.append(value)
    return tuple(parts)


def walk(root: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the node and everything below it, each before its children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def free_names(program: Program, known: Container[str] = ()) -> tuple[str, ...]:
    """Return the names that are read before an assignment and are not in `known`, in
    order of the text."""
    assigned: set[str] = set()
    free: dict[str, None] = {}
    for node in walk(program):
        if isinstance(node, Target):
            assigned.add(node.name)
        elif isinstance(node, Name) and not (node.qualified or node.name in assigned):
            free[node.name] = None
    return tuple(name for name in free if name not in known)


def read_names(
    program: Program, constants: Container[str], bound: Container[str]
) -> tuple[str, ...]:
    """Return the free names without constants; a name that is bound, or assigned to
    anywhere, does not count as a constant."""
    own = set(assigned_names(program))
    names = free_names(program)
    return tuple(n for n in names if n not in constants or n in bound or n in own)


def assigned_names(root: SyntaxNode) -> tuple[str, ...]:
    """Return the names that a program, or a part of it, assigns to, in order of first
    assignment."""
    targets = (node.name for node in walk(root) if isinstance(node, Target))
    return tuple(dict.fromkeys(targets))


_SIZES = frozenset({"shape", "ndim", "len", "size", "dim", "numel"})
"""Attributes, methods and functions that read no entries."""


def decides(program: Program, names: Iterable[str]) -> bool:
    """Return whether the way through a program depends on the values of some names, or
    on what is made of them."""

    def reads(root: SyntaxNode | None) -> bool:
        waiting = [] if root is None else [root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Name) and node.name in reached:
                return True
            word = getattr(node, "function", None) or getattr(node, "method", None)
            word = node.name if isinstance(node, Attribute) else word
            waiting.extend(() if word in _SIZES else children(node))
        return False

    reached, before, nodes = {*names}, 0, [*walk(program)]
    while before != len(reached):
        before = len(reached)
        for node in nodes:
            if isinstance(node, Apply):
                pairs = zip(node.targets, node.arguments, strict=False)
                reached |= {target.name for target, given in pairs if reads(given)}
            elif isinstance(node, Assign | Augment) and reads(node.value):
                reached |= {*assigned_names(node)}
            elif isinstance(node, For | Comprehension) and reads(node.iterable):
                reached |= {target.name for target in node.targets}
    return any(
        reads(getattr(node, field))
        for node in nodes
        for field in ("test", "iterable")
        if hasattr(node, field)
    ) or any(isinstance(node, Logic) and reads(node) for node in nodes)


Result = TypeVar("Result")
Part = TypeVar("Part")
Steps = Generator[Any, Any, Result]


def bounce(root: Steps[Result]) -> Result:
    """Return the value of a generator, after running all generators that it yields.

    A generator yields another generator where a function would call it, and receives
    the value that the other one returns; a value that it yields, it receives. Where it
    returns a generator, that one runs in its place. Only the list ``stack`` grows with
    the depth, so ten thousand nested parentheses can be parsed and compiled.
    """
    stack: list[Steps[Any]] = [root]
    value: Any = None
    while stack:
        try:
            value = stack[-1].send(value)
        except StopIteration as finished:
            value = finished.value
            stack.pop()
        if type(value) is GeneratorType:
            stack.append(value)
            value = None
    result: Result = value
    return result


def renamed(
    root: Part, names: Mapping[str, str], at: Span | None = None, text: str = ""
) -> Part:
    """Return a tree with other names for some of the variables that it reads or
    assigns to; all of it has the span ``at``, if that is given, and not that of its
    ``text``."""

    def steps(node: Any) -> Steps[Any]:
        if isinstance(node, tuple) and not isinstance(node, Span):
            parts = []
            for part in node:
                parts.append((yield steps(part)))
            return tuple(parts)
        if not isinstance(node, SyntaxNode):
            return at if at and isinstance(node, Span) else node
        values: dict[str, Any] = {}
        kind: Any = type(node)
        for field in kind.__match_args__:
            value = getattr(node, field)
            own = field == "name" and isinstance(node, Name | Target)
            values[field] = names.get(value, value) if own else (yield steps(value))
        if at and isinstance(node, Literal):
            values["written"] = node.written or text[slice(*node.span)]
        return kind(**values)

    return cast(Part, bounce(steps(root)))


@contextmanager
def uncollected() -> Iterator[None]:
    """Return a context that pauses the collector of cycles.

    Trees and code of a hundred thousand terms are millions of small objects, none of
    them garbage; the collector would visit them all repeatedly (measured: three
    quarters of the time). Reference counting is not affected.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
