"""A compiled program at many points, given as columns.

Invariant: row k of a result is what the program gives at row k of the columns alone.

    compile("x**2*a").table({"x": np.array([1.0, 2.0])}, a=3.0).grads["x"]    # [6, 12]
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from gc import collect
from typing import Any

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.engine.errors import EngineError
from gradcli.engine.raw import Raw
from gradcli.lang.errors import MORE_MEMORY, NO_MEMORY, ProgramError
from gradcli.lang.excerpt import enumerated
from gradcli.lang.fusion import Fusion
from gradcli.lang.in_parts import InParts, entrywise, tell_region
from gradcli.lang.point import Gradients, Point, dtype_of, raw_of
from gradcli.lang.process import is_out_of_memory


def table(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
    failed: dict[int, ProgramError] | None = None,
    each: AbstractContextManager[None] | None = None,
    first: bool = False,
) -> Gradients:
    """The values and the gradients at each row of the columns.

    Args:
        at: makes a point of values by name.
        columns: arrays of one length.
        shared: values that all rows share.
        failed: takes the errors of rows at which the program fails, by their number;
            their results are NaN. None: the first is raised.
        each: what a row is computed inside of, where they are computed one by one.
        first: leave the rows behind the first that fails.

    Raises:
        ProgramError: columns differ in length, a shared value is a column too, or the
            program fails.
    """
    twice = next((name for name in shared if name in columns), None)
    if twice is not None:
        hint = "leave out one of the two"
        raise ProgramError("E503", f"{twice} is a column and a value", hint=hint)
    count = _length(columns)
    point, whole = _point(at, columns, shared, count)
    cut = None if _in_the_way(point, whole) else _at_once(point)
    if cut is None:
        within = each or nullcontext()
        y, grads = _row_by_row(point, count, whole, failed, within, first)
    else:
        y, grads = cut[:2]
    return Gradients(point.back(y), point.by_name(grads))


def fusion_of(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
) -> Fusion:
    """Whether `table` computes the rows at once, part by part, or why one by one."""
    point, whole = _point(at, columns, shared, _length(columns))
    reading, fusion = point.reading, Fusion()
    reason = _in_the_way(point, whole)
    if reason:
        fusion.refused(reason)
    if reading.pointwise is not None and reading.pointwise.obstacles:
        fusion.obstacles(point.prepared.source, reading.pointwise.obstacles)
    if fusion.rest:
        return fusion
    cut = _at_once(point)
    if cut is None:
        fusion.refused("its value is not one number for each row")
    else:
        tell_region(point.prepared, reading, fusion, cut.tile_entries)
    return fusion


def _point(
    at: Callable[[Mapping[str, object]], Point],
    columns: Mapping[str, object],
    shared: Mapping[str, object],
    count: int,
) -> tuple[Point, set[str]]:
    """All rows as one point, and the inputs that are arrays in every row."""
    dtype = dtype_of({**columns, **shared})
    point = at({**columns, **{n: _shared(v, count, dtype) for n, v in shared.items()}})
    return point, {name for name, value in shared.items() if _dimensions(value)}


def _in_the_way(point: Point, whole: set[str]) -> str:
    """Why the rows are not computed at once; empty: they may be."""
    if whole:
        return f"{enumerated(sorted(whole))} has many entries in each row"
    if any(t.raw.ndim != 1 for t in point.tensors.values()):
        return "an input has many entries in each row"
    if point.of is not None:
        return "--of asks for another value than the last"
    return ""


def _at_once(point: Point) -> InParts | None:
    """All rows together, where each entry is computed apart."""
    return entrywise(point.prepared, point.reading)


def _row_by_row(
    point: Point,
    count: int,
    whole: set[str],
    failed: dict[int, ProgramError] | None,
    each: AbstractContextManager[None],
    first: bool,
) -> tuple[Tensor, list[Tensor | None]]:
    """The program run for each row, with the values of ``whole`` as they are."""
    xp, session = point.factory.xp, point.session()
    rows: list[tuple[object, ...] | None] = []
    with np.errstate(all="ignore"):
        for row in range(count):
            if first and failed:
                rows += [None] * (count - row)
                break
            leaves = {
                name: Tensor(
                    t.raw if name in whole else t.raw[row],
                    xp,
                    requires_grad=name in point.wanted,
                )
                for name, t in point.tensors.items()
            }
            session.rebind(leaves)
            wanted = [leaves[name] for name in point.wanted]
            try:
                with each:
                    y = session()
                    _demand_number(y)
                    found = (y.raw, *_gradients(y, wanted))
            except Exception as error:
                told = _told(error)
                if failed is None or told is None:
                    raise
                failed[row] = told
                rows.append(None)
            else:
                rows.append(found)
            if failed and row in failed and failed[row].code == "E403":
                collect()  # what it held, in a circle with where it failed
    like = next((row for row in rows if row is not None), None)
    if like is None:
        like = (np.nan,) * (1 + len(point.wanted))
    nothing = tuple(np.full_like(part, np.nan) for part in like)
    if not rows:
        y, *grads = (Tensor(xp.np.empty(0), xp) for _ in like)
        return y, [*grads]
    parts = zip(*(nothing if row is None else row for row in rows), strict=True)
    y, *grads = (Tensor(xp.np.array(part), xp) for part in parts)
    return y, [*grads]


def _told(error: Exception) -> ProgramError | None:
    """What a row failed with, without what it held; None: it should not have."""
    if isinstance(error, ProgramError):
        error.__cause__ = error.__context__ = error.__traceback__ = None
        return error
    if is_out_of_memory(error):
        return ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
    return ProgramError("E596", str(error)) if isinstance(error, EngineError) else None


def _demand_number(y: Tensor) -> None:
    """See that a row's value is one number.

    Raises:
        ProgramError: it is not.
    """
    if y.numel() != 1:
        message = (
            f"the value has shape {list(y.shape)}, and a gradient is of one number"
        )
        raise ProgramError("E596", message, hint="add .sum(), or take an entry")


def _gradients(y: Tensor, wanted: Sequence[Tensor]) -> list[Raw]:
    """The raw gradients of a row's value; zeros where it does not depend on one."""
    found = grad([y], wanted) if y.edge is not None else [None] * len(wanted)
    return [
        x.xp.zeros_like(x.raw) if g is None else g.raw
        for x, g in zip(wanted, found, strict=True)
    ]


def _length(columns: Mapping[str, Any]) -> int:
    """How many rows the columns have.

    Raises:
        ProgramError: they differ, or there are none.
    """
    lengths = {n: len(c) for n, c in columns.items() if _dimensions(c)}
    if not lengths:
        raise ProgramError("E509", "no column has rows", hint="give an array")
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ProgramError("E509", f"the columns differ in length: {listed}")
    return next(iter(lengths.values()))


def _shared(value: Any, count: int, dtype: str) -> object:
    """A value that all rows share; a number as a column."""
    if _dimensions(value):
        return value
    raw = raw_of(value)
    return np.full(count, value, dtype) if raw is None else np.full(count, raw)


def _dimensions(value: Any) -> int:
    raw = raw_of(value)
    return np.ndim(value if raw is None else raw)
