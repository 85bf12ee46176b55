"""A change in place reaches whoever shares the memory, and derivatives stay right.

Invariant: a program that keeps what was saved (`renewing`) gives the values that
memory written in place would give, and both modes the derivative of these values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.engine.modes import renewing
from gradcli.engine.record import apply
from gradcli.engine.versions import owner
from gradcli.ops import OPS, VIEW, Op
from tests.grouped import by_row

from .draw import draw, ident
from .recorded import Trial, name_of, tensors
from .sharing import laid_out, sharers, trials


def memory(x: Any) -> int | None:
    """Return what names the memory of a tensor; None for what has none."""
    return id(owner(x.raw)) if isinstance(x, Tensor) and x.raw.size > 0 else None


def lends(trial: Trial) -> bool:
    """Tell whether the first input alone shares its memory with an output."""
    inputs = tensors(laid_out(trial))
    try:
        outputs = trial.run(inputs)
    except (ValueError, RuntimeError):  # a view that the layout does not allow
        return False
    return {i for _, i in sharers(outputs, inputs, memory)} == {0}


SHARED = [trial for trial in trials() if lends(trial)]

ways = pytest.mark.parametrize("way", [nullcontext, renewing], ids=["written", "kept"])
shared = by_row("trial", SHARED, attrgetter("ident"), name_of)

Way = Callable[[], AbstractContextManager[Any]]


def parts_of(outputs: Any) -> list[Tensor]:
    return list(outputs) if isinstance(outputs, tuple | list) else [outputs]


def inputs_with(trial: Trial, x: Any) -> list[Any]:
    """The trial's inputs, with an array in the first one's place."""
    return tensors([x, *laid_out(trial)[1:]])


@ways
@shared
def test_an_output_sees_what_is_written_to_its_input(trial: Trial, way: Way) -> None:
    x = laid_out(trial)[0]
    inputs = inputs_with(trial, np.array(x, order="K"))
    outputs = parts_of(trial.run(inputs))
    with way():
        inputs[0].mul_(3)
    expected = parts_of(trial.run(inputs_with(trial, x * 3)))
    for out, value in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(out.raw, value.raw)


@ways
@shared
def test_an_input_sees_what_is_written_to_its_output(trial: Trial, way: Way) -> None:
    places = np.arange(laid_out(trial)[0].size, dtype=float)
    places = places.reshape(laid_out(trial)[0].shape)
    inputs = inputs_with(trial, np.array(places, order=trial.how))
    out = parts_of(trial.run(inputs))[-1]
    if 0 in out.stride():
        with way(), pytest.raises(RuntimeError, match="a single memory location"):
            out.add_(-1)
        return
    touched = np.array(out.raw).reshape(-1).astype(int)
    with way():
        out.fill_(-1)
    places.reshape(-1)[touched] = -1
    np.testing.assert_array_equal(inputs[0].raw, places)


def views() -> Iterator[tuple[str, int]]:
    """The rows that give one view, with those cases whose entries lie apart."""
    for name, op in OPS.items():
        if op.memory is VIEW and op.returns == 1 and not op.variadic:
            for number, case in enumerate(op.cases):
                x = Tensor(np.zeros(case.inputs[0]), NUMPY)
                if 0 not in run_row(op, x, number).stride():
                    yield name, number


def run_row(op: Op, x: Tensor, number: int) -> Tensor:
    found: Tensor = apply(op, (x,), dict(op.cases[number].params))
    return found


def changed(op: Op, leaf: Tensor, number: int) -> Tensor:
    """What a row gave of a tensor that was squared in place afterwards."""
    with renewing():
        v = leaf * 1
        y = run_row(op, v, number)
        kept = y * y
        v *= v
        y *= y
        total: Tensor = (y * 2).sum() + kept.sum() + (v * v).sum()
    return total


@by_row("name, number", views(), ident)
def test_both_modes_differentiate_a_program_that_changes_its_values(
    name: str, number: int
) -> None:
    op = OPS[name]
    x = np.abs(draw(op, number).arrays[0]) + 0.5
    leaf = Tensor(np.array(x), NUMPY, True)
    total = changed(op, leaf, number)
    (g,) = grad([total], [leaf], retain_graph=True)
    assert g is not None
    t = np.cos(np.arange(x.size)).reshape(x.shape)
    (pushed,) = jvp([total], [leaf], [Tensor(t, NUMPY)])
    step = 1e-5
    ahead, behind = (
        changed(op, Tensor(x + sign * step * t, NUMPY), number).item()
        for sign in (1, -1)
    )
    np.testing.assert_allclose((g.raw * t).sum(), pushed.raw, rtol=1e-12)
    np.testing.assert_allclose(pushed.raw, (ahead - behind) / (2 * step), rtol=1e-6)
