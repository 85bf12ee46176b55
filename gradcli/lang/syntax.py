"""The syntax tree: immutable nodes, each with the stretch of text it was read from.

`program.source[node.span.start:node.span.end]` is the node's own text, without the
parentheses around it. `op_span` is the operator, or the called name, so that an error
can point at it. A flat sum of n terms is a tree n deep: walk it with `walk` or
`gradcli.lang.trampoline`, never by recursion.

`children` gives a node's parts in the order of the text, except that an assignment's
value comes before its target, as it is run.
"""

from collections.abc import Callable, Iterator
from typing import Any

from gradcli.lang.errors import Span
from gradcli.lang.record import Record


class Node(Record):
    """Anything with a place in the program's text."""

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


class Compare(Expression):
    """`a < b <= c`: one operator fewer than operands."""

    operators: tuple[str, ...]
    operands: tuple[Expression, ...]
    op_spans: tuple[Span, ...]

    @property
    def op_span(self) -> Span:
        return self.op_spans[0]


class Logic(Expression):
    """`a and b and c`, or the same with `or`; short-circuiting."""

    operator: str
    operands: tuple[Expression, ...]
    op_spans: tuple[Span, ...]

    @property
    def op_span(self) -> Span:
        return self.op_spans[0]


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

    kind: type[list[Any]] | type[tuple[Any, ...]]
    items: tuple[Expression, ...]


class Statement(Node):
    """Anything that is done."""


class Target(Node):
    """A name that is assigned to."""

    name: str


class Assign(Statement):
    """`name = value`, or `a, b = value` when `unpacks`."""

    targets: tuple[Target, ...]
    value: Expression
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

    targets: tuple[Target, ...]
    iterable: Expression
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


class Program(Node):
    """A whole program and the text that all spans count in."""

    source: str
    body: Block

    def text(self, node: Node) -> str:
        """The node's own text."""
        return self.source[node.span.start : node.span.end]


def _nothing(node: Any) -> tuple[Node, ...]:
    return ()


def _present(*parts: Node | None) -> tuple[Node, ...]:
    return tuple(part for part in parts if part is not None)


_CHILDREN: dict[type[Node], Callable[[Any], tuple[Node, ...]]] = {
    Unary: lambda n: (n.operand,),
    Binary: lambda n: (n.left, n.right),
    Compare: lambda n: n.operands,
    Logic: lambda n: n.operands,
    Conditional: lambda n: (n.then, n.test, n.otherwise),
    Keyword: lambda n: (n.value,),
    Call: lambda n: n.arguments + n.keywords,
    MethodCall: lambda n: (n.receiver, *n.arguments, *n.keywords),
    Attribute: lambda n: (n.value,),
    Index: lambda n: (n.value, n.key),
    Slice: lambda n: _present(n.start, n.stop, n.step),
    Sequence: lambda n: n.items,
    Assign: lambda n: (n.value, *n.targets),
    Augment: lambda n: (n.before, n.value, n.target),
    Evaluate: lambda n: (n.value,),
    Block: lambda n: n.statements,
    Branch: lambda n: (n.test, n.body),
    If: lambda n: _present(*n.branches, n.otherwise),
    For: lambda n: (n.iterable, *n.targets, n.body),
    While: lambda n: (n.test, n.body),
    With: lambda n: (n.body,),
    Program: lambda n: (n.body,),
}


def children(node: Node) -> tuple[Node, ...]:
    """A node's direct parts, in the order described above."""
    return _CHILDREN.get(type(node), _nothing)(node)


def walk(root: Node) -> Iterator[Node]:
    """The node and everything below it, each before its children."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))
