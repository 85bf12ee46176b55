"""Which programs compute each entry of their output from one entry of each input.

Invariant: what is called pointwise treats entries alike and apart, so that it may be
run on any part of its inputs; the sum or the mean that it may end with is told apart.

    pointwise(parse("mean((w*x + b - y)**2)")).reduction        # "mean"
    pointwise(parse("softmax(x, 0)")).obstacles                 # why it is not one
"""

from itertools import islice
from typing import NamedTuple

from ..ops import FUNCTIONS, Op
from ..ops.op import overloads
from .excerpt import Span
from .syntax import (
    Assign,
    Augment,
    Binary,
    Block,
    Branch,
    Call,
    Compare,
    Conditional,
    Evaluate,
    Expression,
    For,
    If,
    Index,
    Literal,
    Logic,
    MethodCall,
    Name,
    Node,
    Program,
    Sequence,
    Target,
    Unary,
    While,
    walk,
)
from .tensor_library import public_name

REDUCTIONS = ("sum", "mean")
"""The functions of all entries that a pointwise program may end with."""


MAX_OBSTACLES = 8
"""Most obstacles that are told of one program."""


class Obstacle(NamedTuple):
    """A text that keeps a program from being pointwise, and the reason why.

    is_sum  it is a sum or a mean of all entries
    """

    span: Span
    reason: str
    is_sum: bool = False


class Pointwise(NamedTuple):
    """A program as one of single entries, without its reduction.

    program    the entries; None: the program is not known to be pointwise
    reduction  what it ends with; empty: nothing
    span       the text of the entries
    obstacles  what stands in the way
    """

    program: Program | None
    reduction: str
    span: Span
    obstacles: tuple[Obstacle, ...] = ()


def pointwise(program: Program) -> Pointwise:
    """Return the program as one of single entries, or what stands in the way of
    that."""
    statements = program.body.statements
    last = statements[-1] if statements else program
    if not isinstance(last, Assign | Evaluate) or (
        isinstance(last, Assign) and (last.unpacks or len(last.targets) > 1)
    ):
        found = [Obstacle(last.span, "no single value is what it ends with")]
        return Pointwise(None, "", program.span, tuple(found))
    inner, reduction = _reduced(last.value)
    ending = Evaluate(inner.span, inner)
    body = Block(program.body.span, (*statements[:-1], ending))
    reasons = ((node, _obstacle(node)) for node in walk(body))
    obstacles = (
        Obstacle(
            node.span, reason, isinstance(node, Expression) and bool(_reduced(node)[1])
        )
        for node, reason in reasons
        if reason
    )
    found = list(islice(obstacles, MAX_OBSTACLES))
    span = inner.span
    if len(statements) > 1:
        span = Span(statements[0].span.start, last.span.end)
    if found:
        return Pointwise(None, reduction, span, tuple(found))
    return Pointwise(Program(program.span, program.source, body), reduction, span)


def _reduced(value: Expression) -> tuple[Expression, str]:
    """Return the operand of a final sum or mean, and its name; else the value."""
    if isinstance(value, Call) and not value.keywords and len(value.arguments) == 1:
        name, inner = value.function, value.arguments[0]
    elif isinstance(value, MethodCall) and not (value.arguments or value.keywords):
        name, inner = value.method, value.receiver
    else:
        return value, ""
    return (inner, name) if name in REDUCTIONS else (value, "")


def _obstacle(node: Node) -> str:
    """Return why a node is not pointwise; empty: it is."""
    if isinstance(node, Call | MethodCall):
        name = node.function if isinstance(node, Call) else node.method
        if node.keywords and is_elementwise(name):
            return f"{name} has options"
        return "" if is_elementwise(name) else f"{name} puts entries together"
    if isinstance(node, Binary):
        return "@ puts entries together" if node.operator == "@" else ""
    if isinstance(node, Unary):
        return "not asks for one truth value" if node.operator == "not" else ""
    if isinstance(node, Compare):
        chained = len(node.operators) > 1
        return "a chain of comparisons asks for one truth value" if chained else ""
    if isinstance(node, Literal):
        return "" if isinstance(node.value, int | float) else "this is no number"
    if isinstance(node, Assign):
        return "several names are assigned at once" if node.unpacks else ""
    if isinstance(node, Name | Target | Block | Branch | Evaluate | Augment):
        return ""  # a branch is told of with its `if`
    return _OTHERS.get(type(node), "this is not done entry by entry")


_OTHERS: dict[type[Node], str] = {
    Conditional: "a condition asks for one truth value: where(...) has many",
    For: "a loop is not done entry by entry",
    If: "a branch asks for one truth value: where(...) has many",
    Index: "an index takes entries from other places",
    Logic: "and, or ask for one truth value",
    Sequence: "a list puts values together",
    While: "a loop is not done entry by entry",
}


def is_elementwise(name: str) -> bool:
    """Return whether a function gives each entry from one entry of each operand."""
    try:
        entry = FUNCTIONS[public_name(name)]
    except KeyError:
        return False
    if isinstance(entry, Op):
        return entry.elementwise
    rows = overloads(entry.name)
    return bool(rows) and not entry.operands and all(row.elementwise for row in rows)
