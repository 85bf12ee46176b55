"""Which programs compute each entry of their output from one entry of each input.

Invariant: what is called pointwise treats entries alike and apart, so that it may be
run on any part of its inputs; the sum or the mean that it may end with is told apart.

    pointwise(parse("mean((w*x + b - y)**2)")).reduction        # "mean"
    pointwise(parse("softmax(x, 0)"))                           # None
"""

from typing import NamedTuple

from gradcli.lang.syntax import (
    Assign,
    Augment,
    Binary,
    Block,
    Call,
    Compare,
    Evaluate,
    Expression,
    Literal,
    MethodCall,
    Name,
    Node,
    Program,
    Statement,
    Target,
    Unary,
    walk,
)
from gradcli.lang.tensors import public_name
from gradcli.ops import FUNCTIONS, Op
from gradcli.ops.op import overloads

REDUCTIONS = ("sum", "mean")
"""The functions of all entries that a pointwise program may end with."""


class Pointwise(NamedTuple):
    """A pointwise program without its reduction, and what that is; empty: none."""

    program: Program
    reduction: str


def pointwise(program: Program) -> Pointwise | None:
    """The program as one of single entries; None if it is not known to be one."""
    statements = program.body.statements
    if not statements or not isinstance(statements[-1], Assign | Evaluate):
        return None
    last = statements[-1]
    if isinstance(last, Assign) and (last.unpacks or len(last.targets) > 1):
        return None
    inner, reduction = _reduced(last.value)
    ending = Evaluate(inner.span, inner)
    body = Block(program.body.span, (*statements[:-1], ending))
    entries = Program(program.span, program.source, body)
    if not all(_is_pointwise(node) for node in walk(body)):
        return None
    return Pointwise(entries, reduction)


def _reduced(value: Expression) -> tuple[Expression, str]:
    """What a final sum or mean is of, and its name."""
    if isinstance(value, Call) and not value.keywords and len(value.arguments) == 1:
        name, inner = value.function, value.arguments[0]
    elif isinstance(value, MethodCall) and not (value.arguments or value.keywords):
        name, inner = value.method, value.receiver
    else:
        return value, ""
    return (inner, name) if name in REDUCTIONS else (value, "")


def _is_pointwise(node: Node) -> bool:
    if isinstance(node, Call):
        return not node.keywords and is_elementwise(node.function)
    if isinstance(node, MethodCall):
        return not node.keywords and is_elementwise(node.method)
    if isinstance(node, Binary):
        return node.operator != "@"
    if isinstance(node, Unary):
        return node.operator != "not"
    if isinstance(node, Compare):
        return len(node.operators) == 1
    if isinstance(node, Literal):
        return isinstance(node.value, int | float)
    if isinstance(node, Assign):
        return not node.unpacks
    if isinstance(node, Statement):
        return isinstance(node, Evaluate | Augment)
    return isinstance(node, Name | Target | Block)


def is_elementwise(name: str) -> bool:
    """Whether a function gives each entry from one entry of each operand."""
    try:
        entry = FUNCTIONS[public_name(name)]
    except KeyError:
        return False
    if isinstance(entry, Op):
        return entry.elementwise
    rows = overloads(entry.name)
    return bool(rows) and not entry.operands and all(row.elementwise for row in rows)
