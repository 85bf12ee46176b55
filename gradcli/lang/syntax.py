"""The syntax tree: immutable nodes, each with the stretch of text it was read from.

`program.source[node.span.start:node.span.end]` is the node's own text, without the
parentheses around it. `op_span` is the operator, or the called name, so that an error
can point at it. A flat sum of n terms is a tree n deep: walk it with `walk` or
`gradcli.lang.trampoline`, never by recursion.

A class names its parts in the order in which they are run, which is that of the text
except that a value comes before what it is assigned to.
"""

from collections.abc import Container, Iterator
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints

from .errors import Span
from .record import Record


class Node(Record):
    """Anything that was read from a stretch of the program's text."""

    span: Span


class Expression(Node):
    """Anything with a value."""


class Literal(Expression):
    """A number, string, True, False, None or Ellipsis."""

    value: int | float | str | bool | Any


class Name(Expression):
    """A name that is read; `qualified` if a dropped prefix stood before it."""

    name: str
    qualified: bool = False


class Unary(Expression):
    """`-x`, `+x`, `not x`."""

    operator: str
    operand: Expression
    op_span: Span


class Binary(Expression):
    """Arithmetic: `+ - * / // % @ **`."""

    operator: str
    left: Expression
    right: Expression
    op_span: Span


class Chain(Expression):
    """Operands with one operator fewer between them."""

    operands: tuple[Expression, ...]
    op_spans: tuple[Span, ...]

    @property
    def op_span(self) -> Span:
        return self.op_spans[0]


class Compare(Chain):
    """`a < b <= c`."""

    operators: tuple[str, ...]


class Logic(Chain):
    """`a and b and c`, or the same with `or`; short-circuiting."""

    operator: str


class Conditional(Expression):
    """`then if test else otherwise`."""

    then: Expression
    test: Expression
    otherwise: Expression
    op_span: Span


class Keyword(Node):
    """`name=value` among the arguments of a call."""

    name: str
    value: Expression


class Call(Expression):
    """`function(arguments)`; the function is a name of the library."""

    function: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]
    op_span: Span


class MethodCall(Expression):
    """`receiver.method(arguments)`."""

    receiver: Expression
    method: str
    arguments: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]
    op_span: Span


class Attribute(Expression):
    """`value.name`."""

    value: Expression
    name: str
    op_span: Span


class Index(Expression):
    """`value[key]`; several keys are a `Sequence` of kind tuple."""

    value: Expression
    key: Expression
    op_span: Span


class Slice(Expression):
    """`start:stop:step` inside an index."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None


class Sequence(Expression):
    """A list or a tuple."""

    kind: type[list[object]] | type[tuple[object, ...]]
    items: tuple[Expression, ...]


class Statement(Node):
    """Anything that is done."""


class Target(Node):
    """A name that is assigned to."""

    name: str


class Assign(Statement):
    """`name = value`, or `a, b = value` when `unpacks`."""

    value: Expression
    targets: tuple[Target, ...]
    unpacks: bool
    op_span: Span


class Augment(Statement):
    """`name += value`; `operator` is the sign without `=`."""

    operator: str
    before: Name
    value: Expression
    target: Target
    op_span: Span


class Evaluate(Statement):
    """An expression by itself."""

    value: Expression


class Block(Node):
    """Statements that run together."""

    statements: tuple[Statement, ...]


class Branch(Node):
    """One `if` or `elif` with its body."""

    test: Expression
    body: Block


class If(Statement):
    """`if`, any number of `elif`, perhaps `else`."""

    branches: tuple[Branch, ...]
    otherwise: Block | None


class For(Statement):
    """`for name in iterable`, or `for a, b in iterable` when `unpacks`."""

    iterable: Expression
    targets: tuple[Target, ...]
    body: Block
    unpacks: bool


class While(Statement):
    """`while test`."""

    test: Expression
    body: Block


class With(Statement):
    """`with no_grad():`, or with `enabled`, `with enable_grad():`."""

    enabled: bool
    body: Block


class Break(Statement):
    """`break`."""


class Continue(Statement):
    """`continue`."""


class Pass(Statement):
    """`pass`."""


class Note(NamedTuple):
    """A remark on a stretch of a program that did not stop it: how it was read where
    people read it in two ways, or a division by zero."""

    message: str
    span: Span


class Program(Node):
    """A program and the text that all spans count in."""

    source: str
    body: Block
    notes: tuple[Note, ...] = ()

    def text(self, node: Node) -> str:
        """Return the node's own text."""
        return self.source[node.span.start : node.span.end]


@cache
def _fields_of_nodes(kind: type[Node]) -> tuple[str, ...]:
    """Return the fields of a class that hold a node, several, or perhaps one."""
    hints = get_type_hints(kind)
    return tuple(field for field in kind._fields if _holds_nodes(hints[field]))


def _holds_nodes(hint: object) -> bool:
    parts = get_args(hint) or (hint,)
    return any(isinstance(part, type) and issubclass(part, Node) for part in parts)


def children(node: Node) -> tuple[Node, ...]:
    """Return a node's direct parts, in the order of its fields."""
    parts: list[Node] = []
    for field in _fields_of_nodes(type(node)):
        value = getattr(node, field)
        if isinstance(value, tuple):
            parts.extend(value)
        elif value is not None:
            parts.append(value)
    return tuple(parts)


def walk(root: Node) -> Iterator[Node]:
    """Yield the node and everything below it, each before its children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def free_names(program: Program, known: Container[str] = ()) -> tuple[str, ...]:
    """Return names read before assignment, in order of the text; none that is in
    `known`."""
    assigned: set[str] = set()
    free: dict[str, None] = {}
    for node in walk(program):
        if isinstance(node, Target):
            assigned.add(node.name)
        elif (
            isinstance(node, Name)
            and not node.qualified
            and node.name not in assigned
            and node.name not in known
        ):
            free[node.name] = None
    return tuple(free)


def read_names(
    program: Program, constants: Container[str], bound: Container[str]
) -> tuple[str, ...]:
    """Return the free names but for constants; one that is bound, or that the program
    assigns to anywhere, is no constant."""
    own = set(assigned_names(program))
    names = free_names(program)
    return tuple(n for n in names if n not in constants or n in bound or n in own)


def assigned_names(program: Program) -> tuple[str, ...]:
    """Return names that the program gives a value to, in order of first assignment."""
    targets = (node.name for node in walk(program) if isinstance(node, Target))
    return tuple(dict.fromkeys(targets))
