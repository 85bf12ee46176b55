"""Derivatives inside a program: `diff(f, x)` is the derivative of f by the name x.

Invariant: a derivative is the recorded reverse pass, so it can be derived again, in
every number system. A system of exact numbers, with which the program is checked, has
the value of the derivative in a way of its own: `NumberSystem.derived` returns it.

    y = diff(x^3, x)            # 3*x^2
    y = diff(x^3*b, x, 2)       # 6*x*b
    y = diff(x^2*b, x, b)       # 2*x, the derivative by x and then by b
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..engine import Tensor, function, grad
from ..engine.tensor import with_edge
from .errors import ProgramError, Span
from .maxima import MAX_DERIVATIVE_ORDER
from .syntax import (
    Apply,
    Call,
    Definition,
    Expression,
    Literal,
    Name,
    Program,
    Sequence,
    SyntaxNode,
    Target,
    walk,
)

Fail = Callable[[str, str, Span, str], ProgramError]
"""A function that makes an error of a code, a message, a place and a hint."""

DIFF = "diff"
"""Name of the function; without a name behind its first operand it is PyTorch's one."""

FIELDS = {
    "div": "divergence", "divergence": "divergence", "curl": "curl", "rot": "curl",
    "lap": "laplacian", "laplacian": "laplacian",
}  # fmt: skip
"""Derivatives of fields in space, by the names that they have in a program."""


def _names_of(by: SyntaxNode) -> tuple[Name, ...]:
    """Return the names of one step of a derivative: those of `x` and of `[x, 2]`; none
    if it is something else."""
    if isinstance(by, Name):
        return () if by.qualified else (by,)
    if not isinstance(by, Sequence) or len(by.items) != 2:
        return ()
    name, count = by.items
    times = count.value if isinstance(count, Literal) else None
    if not isinstance(name, Name) or type(times) is not int:
        return ()
    return (name,) * times if 0 < times <= MAX_DERIVATIVE_ORDER else ()


def is_derivative(node: SyntaxNode) -> bool:
    """Return whether a node is a derivative by a name, and no difference of entries."""
    called = isinstance(node, Call) and node.function == DIFF and node.arguments[1:]
    return bool(called and _names_of(called[0]))


def derived_by(program: Program) -> frozenset[str]:
    """Return the names that a program takes derivatives by."""
    calls = [n for n in walk(program) if isinstance(n, Call) and is_derivative(n)]
    given = (each for call in calls for each in call.arguments[1:])
    return frozenset(name.name for each in given for name in _names_of(each))


def orders_of(node: Call, source: str) -> tuple[Name, ...]:
    """Return the names by which a derivative is taken, in order; a number behind a name
    repeats it.

    Raises:
        ProgramError: something else stands among them.
    """

    def refused(message: str, at: Span) -> ProgramError:
        hint = "write diff(f, x), diff(f, x, 2) or diff(f, x, y)"
        return ProgramError("E302", message, at, source, hint=hint)

    if node.keywords:
        message = "a derivative by a name takes no named arguments"
        raise refused(message, node.keywords[0].span)
    names: list[Name] = []
    counted = False
    for each in node.arguments[1:]:
        own = _names_of(each)
        if own:
            names += own
            counted = len(own) > 1
            continue
        count = each.value if isinstance(each, Literal) else None
        if type(count) is not int or counted or not 1 <= count <= MAX_DERIVATIVE_ORDER:
            most = MAX_DERIVATIVE_ORDER
            raise refused(
                f"the order of a derivative is a number, 1 to {most}", each.span
            )
        names += [names[-1]] * (count - 1)
        counted = True
    return tuple(names)


def applied_function(
    function: Name, arguments: tuple[Expression, ...], span: Span, known: bool
) -> Expression | None:
    """Return the call of a function of the table, ``known`` by its name, as that of a
    function which the program defines; None if it has not one input."""
    if not known or len(arguments) != 1:
        return None
    at, own = function.span, f"{function.name}.{span.start}"
    inside = Call(span, function.name, (Name(at, own),), (), at)
    return Apply(span, arguments, (Target(at, own),), (), inside)


def with_inputs(
    function: str,
    arguments: tuple[Expression, ...],
    definitions: Mapping[str, Definition],
    applied: Callable[..., Expression],
) -> tuple[Expression, ...]:
    """Return the arguments of a derivative, in which a function of the program that is
    named without brackets is called with its own inputs.

    A field that is derived by no named coordinates is derived by these inputs.
    """
    first = arguments[0] if arguments else None
    if not isinstance(first, Name) or first.name not in definitions:
        return arguments
    alone = function in FIELDS and len(arguments) == 1
    if not (alone or (function in (DIFF, *FIELDS) and arguments[1:])):
        return arguments
    parameters = definitions[first.name].parameters
    own = tuple(Name(first.span, target.name) for target, _ in parameters)
    return applied(first, own, (), first.span), *(own if alone else arguments[1:])


def derived_at(
    applied: Expression | None, order: int, span: Span, fail: Fail
) -> Expression:
    """Return the call of a function with the derivative by its input as the value.

    Raises:
        ProgramError: the function is not known, or has several inputs.
    """
    if not isinstance(applied, Apply):
        message = "a prime means the derivative of a function of one input"
        hint = "define f(x) = ... first, or write diff(EXPRESSION, x)"
        raise fail("E208", message, span, hint)
    if len(applied.targets) != 1:
        message = (
            "a prime means the derivative by the only input, and there are several"
        )
        raise fail("E208", message, span, "write diff(f(x, y), x)")
    (target,) = applied.targets
    by = Name(span, target.name), Literal(span, order, str(order))
    value = Call(span, DIFF, (applied.value, *by), (), span)
    return Apply(span, applied.arguments, applied.targets, applied.body, value)


def followed(tensor: Tensor, moved: bool) -> Tensor:
    """Return a tensor that derivatives can be taken by; a value that was ``moved`` from
    another name gets an edge of its own."""
    kind = getattr(getattr(tensor.raw, "dtype", None), "kind", "O")
    if tensor.edge is not None:
        if not moved:
            return tensor
        tensor = function("alias")(tensor)
        return with_edge(tensor.xp.variable(tensor.raw), tensor.xp, tensor.edge)
    if kind not in "fO":
        return tensor
    return Tensor(tensor.xp.variable(tensor.raw), tensor.xp, requires_grad=True)


def derivative(y: Tensor | None, x: object, name: str) -> Tensor:
    """Return the recorded derivative of a value by a followed one.

    Args:
        y: a tensor, of one entry if ``x`` has dimensions; None: some other value.
        x: the value of the ``name``.

    Raises:
        ProgramError: there is no such derivative, or it is a Jacobian.
    """
    if y is None:
        message = "there is no derivative of this: it is no number and no array"
        raise ProgramError("E302", message, hint="derive a formula: diff(x^2, x)")
    if not isinstance(x, Tensor) or x.edge is None:
        message = f"there is no derivative by '{name}': it is no real number"
        raise ProgramError("E302", message, hint="name an input or a variable")
    if x.ndim and y.numel() != 1:
        message = (
            f"diff by '{name}', of shape {list(x.shape)}, takes one number, and this "
            f"has shape {list(y.shape)}"
        )
        hint = "gradcli jacobian gives all derivatives; or choose one entry, or the sum"
        raise ProgramError("E596", message, hint=hint)
    found = _recorded(y, x)
    if found is None:
        like = x if x.ndim else y
        found = Tensor(like.xp.zeros_like(like.raw), like.xp)
    raw = x.xp.derived(y.raw, x.raw, found.raw)
    if raw is found.raw:
        return found
    return Tensor(raw, x.xp) if found.edge is None else with_edge(raw, x.xp, found.edge)


def _recorded(y: Tensor, x: Tensor) -> Tensor | None:
    """Return the derivative as the reverse pass gives it; None if y has no graph, or it
    does not lead to x."""
    if y.edge is None:
        return None
    if x.ndim or not y.ndim:
        return grad([y], [x], create_graph=True)[0]
    # The pass is linear in its cotangent, so its derivative by that is the derivative
    # of each entry.
    ones = Tensor(y.xp.ones_like(y.raw), y.xp, requires_grad=True)
    (pulled,) = grad([y], [x], [ones], create_graph=True)
    if pulled is None or pulled.edge is None:
        return None
    return grad([pulled], [ones], create_graph=True)[0]
