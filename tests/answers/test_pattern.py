"""Patterns of matrices: what is seen in sparse ones is what the dense ones show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gradcli.answers.derivatives import block_view
from gradcli.answers.pattern import colours_of, dots_of, nothing_in, pattern_of
from gradcli.engine import NUMPY, Tensor, call
from gradcli.engine.jacobian import rows_of


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    entries = st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.0])
    flat = draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns))
    return np.array(flat).reshape(rows, columns)


@settings(max_examples=200)
@given(matrices())
def test_a_sparse_matrix_has_the_pattern_of_the_dense_one(matrix: np.ndarray) -> None:
    dense, sparse = pattern_of(matrix), pattern_of(csr_array(matrix))
    assert dense.stored == sparse.stored == np.count_nonzero(matrix)
    assert dense.structure() == sparse.structure()
    assert dense.sparse_structure() == sparse.sparse_structure()
    assert (dense.below, dense.above) == (sparse.below, sparse.above)
    np.testing.assert_array_equal(matrix[dense.rows, dense.columns], dense.values)


@settings(max_examples=200)
@given(matrices())
def test_colours_are_enough_and_no_fewer_than_the_fullest_row_needs(
    matrix: np.ndarray,
) -> None:
    colours = colours_of(pattern_of(matrix))
    filled = (matrix != 0).sum(1).max()
    neighbours = (matrix.T != 0).astype(int) @ (matrix != 0)
    np.fill_diagonal(neighbours, 0)
    assert filled <= colours <= (neighbours != 0).sum(1).max() + 1


@settings(max_examples=100)
@given(matrices(), st.integers(1, 5), st.integers(1, 5))
def test_every_entry_lies_under_a_dot_and_every_dot_has_one(
    matrix: np.ndarray, height: int, width: int
) -> None:
    rows, columns = matrix.shape
    height, width = min(height, rows), min(width, columns)
    found = dots_of(pattern_of(matrix), height, width)
    for r in range(height):
        for c in range(width):
            part = matrix[
                -(-r * rows // height) : -(-(r + 1) * rows // height),
                -(-c * columns // width) : -(-(c + 1) * columns // width),
            ]
            assert found[r, c] == part.any()


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.eye(80), "identity"),
        (np.diag(np.arange(1.0, 81)), "diagonal"),
        (np.zeros((80, 70)), "zero"),
        (np.eye(80) + np.eye(80, k=1), "banded"),
        (np.eye(79, 80), "banded"),
        (np.kron(np.eye(20), np.ones((3, 4))), "block diagonal"),
        (np.eye(80)[:, ::-1], "sparse"),
        (np.tril(np.ones((80, 80))), "lower triangular"),
    ],
)
def test_a_large_blocks_structure_is_named(matrix: np.ndarray, expected: str) -> None:
    for each in (matrix, csr_array(matrix)):
        assert pattern_of(each).sparse_structure() == expected


def test_blocks_on_the_diagonal_are_counted() -> None:
    matrix = np.kron(np.eye(20), np.ones((3, 4)))
    assert pattern_of(matrix).blocks == 20
    matrix[0, -1] = 1
    assert pattern_of(matrix).blocks == 1


def test_nothing_has_no_colour() -> None:
    assert colours_of(nothing_in(3, 4)) == 0


def elementwise(count: int) -> object:
    x = Tensor(np.linspace(1.0, 2.0, count), NUMPY, requires_grad=True)
    (block,) = rows_of(call("sin", x), [x])
    return block


def test_size_and_form_decide_whether_zeros_are_kept() -> None:
    small, large = elementwise(63), elementwise(64)
    assert not block_view(("x",), small).is_sparse  # type: ignore[arg-type]
    assert block_view(("x",), large).is_sparse  # type: ignore[arg-type]
    dense = block_view(("x",), large, "dense")  # type: ignore[arg-type]
    assert dense.stored is None
    whole = np.diag(np.cos(np.linspace(1, 2, 64)))
    np.testing.assert_array_equal(dense.value, whole)
    sparse = block_view(("x",), small, "sparse")  # type: ignore[arg-type]
    stored = sparse.stored
    assert stored is not None
    assert sparse.value is None
    assert stored.rows == stored.columns == list(range(63))
    assert stored.values == np.cos(np.linspace(1, 2, 63)).tolist()
    assert sparse.structure == dense.structure == "diagonal"
