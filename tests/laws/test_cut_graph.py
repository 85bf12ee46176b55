"""No function drops a gradient without a word: where none passes, either the value does
not change with the operand, or the function is asked for just that, or it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, function, grad
from gradcli.engine.errors import NoSlope, UnknownSlope
from gradcli.engine.forward import jvp
from gradcli.engine.record import Recorder, apply
from gradcli.ops import FUNCTIONS, OPS, Composite, Op, overloads
from tests.grouped import by_row

from .draw import Spot, draw, generator, handed
from .forward import AT

STEP = 1e-6

RELATIVE = 1e-4
"""What a central difference may be off by; a gradient that is cut is off by itself."""


def is_float(value: Any) -> bool:
    return hasattr(value, "dtype") and value.dtype.kind == "f" and bool(value.size)


PLACES = [
    f"{at}:{position}"
    for at, trial in AT.items()
    if not trial.entry.internal and not getattr(trial.entry, "query", False)
    for position, value in enumerate(trial.arrays())
    if is_float(value)
]
"""The cases of all functions that users are offered, once for each operand that holds
floats, whether it was drawn or given."""


def outputs(entry: Op | Composite, spot: Spot, arrays: Any) -> list[Tensor]:
    if isinstance(entry, Op):
        found = apply(entry, tuple(arrays), spot.case.params)
    else:
        found = function(entry.name)(*handed(entry, arrays), **spot.case.params)
    parts = found if isinstance(found, tuple | list) else (found,)
    if isinstance(entry, Op) and entry.carries > 1:
        # What lies behind is given anew by the public function.
        parts = parts[: entry.carries]
    return [part for part in parts if isinstance(part, Tensor)]


def meant(entry: Op | Composite) -> bool:
    """Whether the row says that its derivative is not that of its value."""
    rows = overloads(entry.base)
    return bool(entry.slope) or any(row.stops or row.slope for row in rows)


Along = Callable[[Tensor, Tensor, Any, Any], float]
"""The slope of an output's weighted sum along a direction of a leaf, by the engine."""


def passed(
    entry: Op | Composite, at: str, position: int, ways: Sequence[Along]
) -> list[tuple[float, float]]:
    """For each output of floats the slopes along a direction by the engine, in several
    ways, each with that by a central difference."""
    spot = draw(entry, AT[at].number)
    draws = generator(at, position, "cut")
    value = spot.arrays[position]
    direction = draws.uniform(-1, 1, value.shape)
    if value.ndim > 1 and np.array_equal(value, np.swapaxes(value, -1, -2)):
        # Some functions read one triangle and give a gradient for both, as PyTorch's.
        direction = direction + np.swapaxes(direction, -1, -2)

    def tensors(shift: float, requires_grad: bool = False) -> list[Any]:
        moved = list(spot.arrays)
        moved[position] = value + shift * direction
        return [
            Tensor(a, NUMPY, requires_grad and i == position)
            if hasattr(a, "dtype") else a
            for i, a in enumerate(moved)
        ]  # fmt: skip

    leaves = tensors(0.0, requires_grad=True)
    pairs = []
    below, above = (outputs(entry, spot, tensors(s)) for s in (-STEP, STEP))
    for low, y, high in zip(below, outputs(entry, spot, leaves), above, strict=True):
        if y.raw.dtype.kind != "f":
            continue
        slope = (high.raw - low.raw) / (2 * STEP)
        smooth = np.isfinite(slope) & (np.abs(high.raw - low.raw) < STEP**0.5)
        weight = np.where(smooth, draws.uniform(-1, 1, y.raw.shape), 0)
        want = float(np.sum(np.where(smooth, slope, 0) * weight))
        for along in ways:
            pairs.append((along(y, leaves[position], weight, direction), want))
    return pairs


def pulled(y: Tensor, leaf: Tensor, weight: Any, direction: Any) -> float:
    if y.edge is None:
        return 0.0
    (found,) = grad([y], [leaf], [Tensor(weight, NUMPY)], retain_graph=True)
    return 0.0 if found is None else float(np.sum(found.raw * direction))


def pushed(y: Tensor, leaf: Tensor, weight: Any, direction: Any) -> float:
    (tangent,) = jvp([y], [leaf], [Tensor(direction, NUMPY)])
    return float(np.sum(tangent.raw * weight))


def demand_slope(place: str, *ways: Along) -> None:
    """See that what passes is what a central difference finds, or that it is refused.

    Raises:
        AssertionError: another slope.
    """
    at, _, position = place.rpartition(":")
    entry = AT[at].entry
    if meant(entry):
        return
    try:
        with np.errstate(all="ignore"):
            pairs = passed(entry, at, int(position), ways)
    except (UnknownSlope, NoSlope):
        return
    for found, want in pairs:
        assert abs(found - want) <= RELATIVE * (1 + abs(want)), (found, want)


@by_row("place", PLACES, str)
def test_no_gradient_and_no_tangent_is_dropped_without_a_word(place: str) -> None:
    demand_slope(place, pulled, pushed)


def test_what_is_asked_to_stop_a_gradient_does() -> None:
    stopping = [op for op in OPS.values() if op.stops]
    assert stopping
    for op in stopping:
        (y,) = outputs(op, draw(op, 0), [Tensor(np.ones(3), NUMPY, True)])
        assert y.edge is None


def test_a_function_that_drops_a_gradient_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Recorder, "_node", lambda self, *args: None)
    monkeypatch.setattr(Recorder, "__call__", Recorder.general)
    with pytest.raises(AssertionError):
        demand_slope("exp-0:0", pulled)
    with pytest.raises(AssertionError):
        demand_slope("exp-0:0", pushed)


def test_every_public_function_is_tried() -> None:
    known = {n for trial in AT.values() for n in (trial.name, trial.entry.base)}
    assert not {name for name, e in FUNCTIONS.items() if not e.internal} - known
