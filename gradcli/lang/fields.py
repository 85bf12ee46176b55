"""Derivatives of fields in space inside a program: `div(F)`, `curl(F)` and `lap(f)`.

The coordinates are named behind the field, or they are x, y and z. A vector that is the
only coordinate has the coordinates as its entries.

Invariant: each is made of the derivatives by one name of `derivatives`, so it can be
derived again, in every number system.

    div([x*y, y^2])             # y + 2*y
    lap(u^2*v, u, v)            # 2*v
    curl([-y, x, 0])            # [0, 0, 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from ..engine import Tensor, function
from .derivatives import FIELDS, derivative
from .errors import ProgramError
from .syntax import Call, Expression, Name, Program, walk
from .syntax import Sequence as Listed

COORDINATES = ("x", "y", "z")
"""Names of coordinates where none are named."""


class FieldDerivative(NamedTuple):
    """The parts of `div(F)`, `curl(F)` or `lap(f)`: the kind, what is derived, and the
    coordinates; None: x, y and z."""

    kind: str
    of: Expression
    by: tuple[Name, ...] | None


def field_of(node: Call) -> FieldDerivative | None:
    """Return the parts of a derivative of a field; None if a call is none: `div(a, b)`
    is a quotient."""
    kind = FIELDS.get(node.function)
    count = len(node.arguments)
    if kind is None or not count or node.keywords:
        return None
    of, *given = node.arguments
    if node.function == "div" and count == 2 and not isinstance(given[0], Listed):
        return None
    listed = any(isinstance(each, Listed) for each in node.arguments)
    values = not all(isinstance(each, Name) for each in given)
    if values and not listed and (count == 3 or (count == 2 and kind == "curl")):
        of, given = Listed(node.span, list, node.arguments), []
    if count == 2 and isinstance(given[0], Listed):
        given = [*given[0].items]
    by = tuple(each for each in given if isinstance(each, Name))
    if len(by) != len(given):
        return None
    if kind == "divergence" and isinstance(of, Call) and of.function == "grad":
        inner = of.arguments
        return FieldDerivative("laplacian", inner[0], by or None) if inner else None
    return FieldDerivative(kind, of, by or None)


def coordinates_of(field: FieldDerivative, program: Program) -> tuple[Name | None, ...]:
    """Return the coordinates that a field is derived by; None for one of x, y and z
    that the program does not read, so that no value depends on it."""
    if field.by is not None:
        return field.by
    at = field.of.span
    own = {n.name for n in walk(field.of) if isinstance(n, Name)}
    names = {n.name for n in walk(program) if isinstance(n, Name)}
    found: list[Name | None] = []
    for letter in COORDINATES:
        local = (n for n in sorted(own) if n.endswith(f".{letter}"))
        name = letter if letter in names else next(local, None)
        found.append(None if name is None else Name(at, name))
    return tuple(found)


def coordinates_in(program: Program) -> frozenset[str]:
    """Return the names that a program takes derivatives of fields by."""
    calls = [node for node in walk(program) if isinstance(node, Call)]
    fields = [field for call in calls if (field := field_of(call)) is not None]
    found = {name.name for field in fields for name in field.by or ()}
    if any(field.by is None for field in fields):
        names = {node.name for node in walk(program) if isinstance(node, Name)}
        found |= {name for name in names if name.rpartition(".")[2] in COORDINATES}
    return frozenset(found)


Coordinates = Sequence[tuple[str, Tensor | None]]
"""Coordinates by name and value; None: nothing depends on it."""

TURNS = ((1, 2), (2, 0), (0, 1))
"""Planes of the entries of a curl, as pairs of coordinates."""


def field_derivative(
    kind: str, y: Tensor | None, at: Coordinates, named: bool
) -> Tensor:
    """Return the divergence or the curl of a vector, or a Laplacian.

    Args:
        kind: ``divergence``, ``curl`` or ``laplacian``.
        y: the field's value; None: it is neither a number nor an array.
        at: the coordinates.
        named: whether the program names them; else they are x, y and z.

    Raises:
        ProgramError: the field does not have as many entries as there are coordinates.
    """
    known = [(name, x) for name, x in at if x is not None]
    if y is None or not known:
        message = f"the {kind} by {_listed(at)} is of a formula in these"
        hint = f"name other coordinates: {kind}({FIELD[kind]}, u, v)"
        raise ProgramError("E302", message, hint=hint)
    if any(x.ndim for _, x in known):
        return _by_vector(kind, y, known)
    if kind == "laplacian":
        return reduce(add, [derivative(derivative(y, x, n), x, n) for n, x in known])
    count = y.shape[0] if y.ndim == 1 else 0
    if not named and count < len(at) and all(x is None for _, x in at[count:]):
        at = at[:count]
    if count != len(at):
        raise _refused(kind, y, at)

    def partial(entry: int, by: int) -> Tensor:
        name, x = at[by]
        if x is None:
            return Tensor(y.xp.zeros_like(y[entry].raw), y.xp)
        return derivative(y[entry], x, name)

    return _combined(kind, y, at, count, partial)


FIELD = {"divergence": "F", "curl": "F", "laplacian": "f"}
"""Letters for what each is the derivative of."""


def _by_vector(kind: str, y: Tensor, known: Sequence[tuple[str, Tensor]]) -> Tensor:
    """Return the derivative by the entries of the vector that is the coordinate."""
    (name, x), *others = known
    if others or x.ndim != 1:
        message = f"{_listed(known)} are no coordinates: numbers are, or one vector"
        hint = f"name them: {FIELDS[kind]}({FIELD[kind]}, x)"
        raise ProgramError("E596", message, hint=hint)
    field = derivative(y, x, name) if kind == "laplacian" else y
    if field.shape != x.shape:
        raise _refused(kind, y, known)
    rows = [derivative(field[k], x, name) for k in range(x.shape[0])]
    return _combined(kind, y, known, len(rows), lambda entry, by: rows[entry][by])


def _combined(
    kind: str,
    y: Tensor,
    at: Coordinates,
    count: int,
    partial: Callable[[int, int], Tensor],
) -> Tensor:
    """Return the sum or the differences of partial derivatives that a kind is."""
    if kind != "curl":
        return reduce(add, [partial(k, k) for k in range(count)])
    if count == 2:
        return partial(1, 0) - partial(0, 1)
    if count != len(TURNS):
        raise _refused(kind, y, at)
    stacked: Tensor = function("stack")(
        [partial(j, i) - partial(i, j) for i, j in TURNS]
    )
    return stacked


def _refused(kind: str, y: Tensor, at: Coordinates) -> ProgramError:
    size = "a number" if not y.ndim else f"shape {list(y.shape)}"
    message = f"there is no {kind} by {_listed(at)} of {size}"
    hint = f"name as many coordinates as it has entries: {kind}([a, b], x, y)"
    return ProgramError("E596", message, hint=hint)


def _listed(at: Coordinates) -> str:
    return ", ".join(name for name, _ in at)
