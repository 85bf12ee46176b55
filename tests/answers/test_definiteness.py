"""Words for a Hessian's eigenvalues, beside exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from gradcli.answers.definiteness import MAX_SIDE, definiteness

CASES = {
    "positive definite": [
        [[2, 1], [1, 2]], [[1e-20, 0], [0, 2]], [[1e-300]], [[1e300]],
    ],
    "negative definite": [[[-2, 1], [1, -2]], [[-1e-9, 0], [0, -1e9]]],
    "indefinite": [[[0, 1], [1, 0]], [[1, 0], [0, -1e-9]], [[1e-20, 1], [1, 1]]],
    "positive semidefinite to rounding": [
        [[1, 1], [1, 1]], [[2, 0], [0, 0]], [[0.1, 0.3], [0.3, 0.9]],
        [[1, 1], [1, 1 + 1e-16]],
    ],
    "negative semidefinite to rounding": [[[-1, 0], [0, 0]]],
    "zero": [[[0]], [[0, 0], [0, 0]]],
}  # fmt: skip


@pytest.mark.parametrize("word", CASES)
def test_a_matrix_has_its_word(word: str) -> None:
    for matrix in CASES[word]:
        found = definiteness(matrix)
        assert found is not None
        assert found.definiteness == word, matrix


@pytest.mark.parametrize("seed", range(40))
def test_the_word_is_true_of_the_exact_matrix(seed: int) -> None:
    draw = np.random.default_rng(seed)
    side = int(draw.integers(1, 5))
    rank = int(draw.integers(0, side + 1))
    root = draw.integers(-3, 4, (side, rank))
    signs = np.diag(draw.choice([-1, 1], rank) if seed % 2 else np.ones(rank, int))
    matrix = sympy.Matrix((root @ signs @ root.T).tolist())
    found = definiteness(np.array(matrix.tolist(), float))
    assert found is not None
    word = found.definiteness
    if matrix.is_zero_matrix:
        assert word == "zero"
    elif matrix.is_positive_definite or matrix.is_negative_definite:
        assert word.endswith(" definite")
        assert word.startswith("positive") == matrix.is_positive_definite
    elif matrix.is_positive_semidefinite or matrix.is_negative_semidefinite:
        assert word.endswith("semidefinite to rounding")
        assert word.startswith("positive") == matrix.is_positive_semidefinite
    else:
        assert word == "indefinite"


def test_what_has_no_eigenvalues_has_no_word() -> None:
    assert definiteness([[float("nan")]]) is None
    assert definiteness([[1.0, 2.0], [3.0, 1.0]]) is None
    assert MAX_SIDE >= 100
