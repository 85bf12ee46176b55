"""Batches of cotangents and tangents give what each row alone gives, on every row of
the table and every case."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, batch
from gradcli.engine import jacobian as blocks
from gradcli.engine.forward import jvp
from gradcli.engine.jacobian import columns_of, rows_of
from gradcli.engine.record import call
from gradcli.large import again
from gradcli.large.blocks import gradient, hessian, itself, pull
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, draw_array, generator, ident, spots
from .measure import outputs_of

ALIKE = {"rtol": 1e-12, "atol": 1e-13}


def units(like: Tensor) -> list[Tensor]:
    eye = np.eye(like.numel(), dtype=like.raw.dtype)
    return [Tensor(row.reshape(like.shape), like.xp) for row in eye]


def by_rows(y: Tensor, leaves: list[Tensor]) -> list[np.ndarray]:
    """The Jacobian of ``y`` by each leaf from a reverse pass for each entry."""
    rows = [pull([y], leaves, [unit]) for unit in units(y)]
    return [
        np.array([np.zeros(x.shape) if r[nr] is None else r[nr].raw for r in rows])
        .reshape((*y.shape, *x.shape))
        for nr, x in enumerate(leaves)
    ]  # fmt: skip


def by_columns(y: Tensor, x: Tensor) -> np.ndarray:
    """The Jacobian of ``y`` by a leaf from a forward pass for each entry."""
    if not x.numel():
        return np.zeros((*y.shape, *x.shape))
    columns = [jvp([y], [x], [unit])[0].raw for unit in units(x)]
    return np.stack(columns, axis=-1).reshape((*y.shape, *x.shape))


def mixed(y: Tensor) -> Tensor:
    """A value whose entries depend on two neighbours each."""
    flat = call("reshape", y, (-1,))
    return flat * 0.5 + call("roll", flat, 1, 0)


KINDS = pytest.mark.parametrize("fewest", [1, 10**9], ids=["sparse", "dense"])


@KINDS
@by_row("at", spots(), ident)
def test_a_batch_of_cotangents_is_pulled_as_each_alone(
    at: tuple[str, int], fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
    leaves, y = draw(OPS[at[0]], at[1]).run()
    for out in outputs_of(y):
        for value in (out, mixed(out)):
            found = rows_of(value, leaves)
            for block, slow in zip(found, by_rows(value, leaves), strict=True):
                np.testing.assert_allclose(block.dense().raw, slow, **ALIKE)


@by_row("at", spots(), ident)
def test_a_batch_of_tangents_is_pushed_as_each_alone(
    at: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", 1)
    leaves, y = draw(OPS[at[0]], at[1]).run()
    for out in outputs_of(y):
        for x in leaves:
            (block,) = columns_of([mixed(out)], x)
            columns = by_columns(mixed(out), x)
            np.testing.assert_allclose(block.dense().raw, columns, **ALIKE)


@pytest.mark.parametrize("forward", [False, True], ids=["rev", "fwd"])
@by_row("at", spots(), ident)
def test_a_derivative_asked_for_again_is_that_of_the_new_numbers(
    at: tuple[str, int], forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", 1)
    monkeypatch.setattr(batch, "FULL", 2)
    spot = draw(OPS[at[0]], at[1])
    shapes = [spot.case.inputs[i] for i in spot.free]
    for nr in range(4):
        rng = generator(at, nr)
        new = [draw_array(rng, shape, spot.case) for shape in shapes]
        leaves, y = spot.run(new if nr else None)
        for out in outputs_of(y):
            for value, make in ((mixed(out), itself), ((out * out).sum(), gradient)):
                given = value, leaves, make, None, forward
                rows, outputs = again.asked_again(*given) or [], make(value, leaves)
                for row, z in zip(rows, outputs, strict=False):
                    for block, x in zip(row, leaves, strict=True):
                        (fresh,) = columns_of([z], x) if forward else rows_of(z, [x])
                        found, expected = block.dense().raw, fresh.dense().raw
                        np.testing.assert_allclose(found, expected, **ALIKE)


def test_a_hessian_of_a_sum_is_zero_each_time_and_blocks_share_no_memory() -> None:
    x, z = (Tensor(np.ones(70), NUMPY, True) for _ in "xz")
    for _ in range(4):
        ((block,),) = hessian(call("sum", x), [x])
        assert not block.dense().raw.any()
        first, second = (block.csr().data for block in rows_of(x * 2 + z * 2, [x, z]))
        assert not np.shares_memory(first, second)


@by_row("at", spots(), ident)
def test_what_is_too_large_is_computed_in_halves(
    at: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    leaves, y = draw(OPS[at[0]], at[1]).run()
    for out in outputs_of(y):
        whole = [block.dense().raw for block in rows_of(out, leaves)]
        monkeypatch.setattr(batch, "MAX_ENTRIES", 8)
        for block, expected in zip(rows_of(out, leaves), whole, strict=True):
            np.testing.assert_allclose(block.dense().raw, expected, **ALIKE)
        monkeypatch.undo()


@KINDS
@pytest.mark.parametrize("factor", [1e200, 0.1, float("nan")])
def test_a_number_is_a_factor_in_the_type_of_the_batch(
    factor: float, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
    x = Tensor(np.array([1.0, -3.0, 0.7], dtype=np.float32), NUMPY, True)
    y = x * factor
    with np.errstate(all="ignore"):
        (block,) = rows_of(y, [x])
        (slow,) = by_rows(y, [x])
        (column,) = columns_of([y], x)
        aside = by_columns(y, x)
    for made, expected in ((block, slow), (column, aside)):
        assert made.dense().raw.dtype == np.float32
        np.testing.assert_array_equal(made.dense().raw, expected)


@KINDS
def test_zeros_of_a_batch_times_nan_are_nan(
    fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
    x = Tensor(np.array([1.0, -2.0, 0.7]), NUMPY, True)
    with np.errstate(all="ignore"):
        y = call("sign", call("pow.Tensor_Tensor", x, x))
        (block,) = rows_of(y, [x])
        (slow,) = by_rows(y, [x])
        (column,) = columns_of([y], x)
        aside = by_columns(y, x)
    assert np.isnan(slow).any()
    np.testing.assert_array_equal(block.dense().raw, slow)
    np.testing.assert_array_equal(column.dense().raw, aside)
