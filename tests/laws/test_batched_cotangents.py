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
from tests.grouped import by_row, row_of

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


@by_row("at", spots(), ident)
def test_a_batch_is_pulled_and_pushed_as_each_alone(
    at: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a row's first case both values are taken, of each other one of the two."""
    leaves, y = draw(OPS[at[0]], at[1]).run()
    for out in outputs_of(y):
        for value in (out, mixed(out))[at[1] % 2 :: at[1] + 1]:
            alone = by_rows(value, leaves)
            for fewest in (10**9, 1):
                monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
                for block, slow in zip(rows_of(value, leaves), alone, strict=True):
                    np.testing.assert_allclose(block.dense().raw, slow, **ALIKE)
        for x in leaves:
            (block,) = columns_of([mixed(out)], x)
            columns = by_columns(mixed(out), x)
            np.testing.assert_allclose(block.dense().raw, columns, **ALIKE)
        whole = [block.dense().raw for block in rows_of(out, leaves)]
        # What is too large is computed in halves.
        monkeypatch.setattr(batch, "MAX_ENTRIES", 8)
        for block, expected in zip(rows_of(out, leaves), whole, strict=True):
            np.testing.assert_allclose(block.dense().raw, expected, **ALIKE)
        monkeypatch.undo()


def called(case: tuple[str, int, bool]) -> str:
    return f"{'forward' if case[2] else 'reverse'} {case[0]}-{case[1]}"


AGAIN = [
    (name, number, forward)
    for name, number in spots()
    for forward in ((False, True) if number == 0 else (number % 2 == 0,))
]
"""All cases of all rows; those beyond a row's first in one direction."""


SHARE = 3
"""One row of so many is asked again in every run, the others at night."""


@by_row("name, number, forward", AGAIN, called, lambda c: row_of(c.split()[1]), SHARE)
def test_a_derivative_asked_for_again_is_that_of_the_new_numbers(
    name: str, number: int, forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = name, number
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", 1)
    monkeypatch.setattr(batch, "FULL", 2)
    spot = draw(OPS[at[0]], at[1])
    shapes = [spot.case.inputs[i] for i in spot.free]
    for nr in range(3):
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


@KINDS
@pytest.mark.parametrize("picked", [[0, 1, 2], [2, 0, 1], [1, 1, 1], [0, 1], [1, 2]])
def test_rows_of_a_matrix_are_picked_in_any_order(
    picked: list[int], fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MIN_SPARSE_ROWS", fewest)
    monkeypatch.setattr(batch, "FULL", 2)
    matrix = np.arange(6.0).reshape(3, 2)
    x = Tensor(np.array([0.3, -2.0]), NUMPY, True)
    product = call("matmul", Tensor(matrix.copy(), NUMPY), x)
    index = Tensor(np.array(picked), NUMPY)
    y = call("index_select", product, 0, index) * 3.0
    (block,) = rows_of(y, [x])
    np.testing.assert_array_equal(block.dense().raw, 3.0 * matrix[picked])
    np.testing.assert_array_equal(product.raw, matrix @ x.raw)
