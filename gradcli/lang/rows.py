"""A compiled program at many points, given as columns.

Invariant: row k of a result is what the program gives at row k of the columns alone.

    compile("x**2*a").table(x=np.array([1.0, 2.0]), a=3.0).grads["x"]      # [6., 12.]
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.lang.errors import ProgramError
from gradcli.lang.in_parts import entrywise
from gradcli.lang.point import Gradients, Point


def table(
    at: Callable[[Mapping[str, Any]], Point], columns: Mapping[str, Any]
) -> Gradients:
    """The values and the gradients at each row of the columns.

    Args:
        at: makes a point of values by name.
        columns: arrays of one length, and numbers.
    """
    count = _length(columns)
    full = {name: _column(value, count) for name, value in columns.items()}
    point = at(full)
    found = None
    if all(t.raw.ndim == 1 for t in point.tensors.values()):
        found = entrywise(point)
    y, grads = found or _row_by_row(point, at, full, count)
    return Gradients(point.back(y), point.by_name(grads))


def _row_by_row(
    point: Point, at: Callable[[Mapping[str, Any]], Point], columns: Mapping[str, Any],
    count: int,
) -> tuple[Tensor, list[Tensor]]:  # fmt: skip
    """The program run for each row."""
    xp, session = point.factory.xp, point.session(point.reading.code)
    values: list[Any] = []
    grads: dict[str, list[Any]] = {name: [] for name in point.wanted}
    with np.errstate(all="ignore"):
        for row in range(count):
            leaves = {
                name: Tensor(t.raw[row], xp, requires_grad=name in point.wanted)
                for name, t in point.tensors.items()
            }
            session.rebind(leaves)
            y = session()
            values.append(y.raw)
            found = grad([y], [leaves[name] for name in point.wanted])
            for (name, gs), g in zip(grads.items(), found, strict=True):
                gs.append(xp.zeros_like(leaves[name].raw) if g is None else g.raw)
    made = [Tensor(xp.np.array(gs), xp) for gs in grads.values()]
    return Tensor(xp.np.array(values), xp), made


def _length(columns: Mapping[str, Any]) -> int:
    """How many rows the columns have.

    Raises:
        ProgramError: they differ, or there are only numbers.
    """
    lengths = {n: len(c) for n, c in columns.items() if np.ndim(_raw(c))}
    if not lengths:
        raise ProgramError("E509", "no column has rows", hint="give an array")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ProgramError("E509", f"the columns differ in length: {listed}")
    return next(iter(lengths.values()))


def _column(value: Any, count: int) -> Any:
    """A column; a number that all rows share as one."""
    raw = _raw(value)
    if np.ndim(raw):
        return value
    return np.full(count, raw, dtype=getattr(raw, "dtype", float))


def _raw(value: Any) -> Any:
    return value.raw if isinstance(value, Tensor) else value
