"""Verdicts of eigenvalues and singular values of more than two."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from gradcli.check.matrices import MAX_SIZE
from gradcli.check.process.job import CERTIFIED, REFUTED, UNKNOWN
from gradcli.ops import OPS
from tests.laws.mutants import Mutant, mutants_of, planted

from .jobs import checked, job, rows_job
from .mutant_programs import differ, gap, sameness

PROGRAMS = [
    "linalg.svdvals(A)",
    "linalg.eigvalsh(A)",
    "linalg.eigh(A)[1]",
    "linalg.svd(A, full_matrices=False)[0]",
    "linalg.svd(A, full_matrices=False)[2]",
    "linalg.matrix_norm(A, 2)",
    "linalg.matrix_norm(A, 'nuc')",
    "linalg.cond(A)",
    "linalg.pinv(A)",
]

NO_EIGENVALUES = [p for p in PROGRAMS if "eig" not in p]


def drawn(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).round(2)


def fitting(program: str, matrix: Any) -> Any:
    """The matrix, or its symmetric part where a program is about such."""
    return (matrix + matrix.T) / 2 if "eig" in program else matrix


def weights(program: str, shape: tuple[int, ...]) -> Any:
    """What the output is contracted with, so that no two entries cancel."""
    plain = job(program, {"A": fitting(program, drawn(*shape))})
    return np.arange(1.0, 1 + plain.output.count).reshape(plain.output.shape)


def verdict(program: str, matrix: Any, **options: Any) -> str:
    return checked(job(program, {"A": fitting(program, matrix)}, **options)).verdict


SHAPES = [
    *((p, (n, n), dtype) for p in PROGRAMS for n in (3, 4)
      for dtype in ("float64", "float32")),
    *((p, shape, "float64") for p in NO_EIGENVALUES
      for shape in ((5, 3), (3, 4), (30, 3))),
]  # fmt: skip


@pytest.mark.parametrize(("program", "shape", "dtype"), SHAPES)
def test_gradients_of_matrices_are_certified(
    program: str, shape: tuple[int, int], dtype: str
) -> None:
    given = weights(program, shape)
    assert verdict(program, drawn(*shape), cotangent=given, dtype=dtype) == CERTIFIED


ROWS = [
    ("linalg.svdvals(A)", "jacobian"),
    ("linalg.eigvalsh(A)[1]", "hessian"),
]


@pytest.mark.parametrize(("program", "kind"), ROWS)
def test_every_row_of_a_jacobian_and_a_hessian_is_certified(
    program: str, kind: str
) -> None:
    given = rows_job(program, {"A": fitting(program, drawn(3, 3))}, kind)
    assert checked(given).verdict == CERTIFIED


def test_why_it_is_not_proved_is_told() -> None:
    (told,) = checked(job("linalg.svdvals(A)[0]", {"A": drawn(3, 3)})).inputs
    assert told.note == (
        "SymPy has no expression of the program: a singular value of a matrix of more "
        "than 2 rows and columns has no formula"
    )


Q = np.linalg.qr(drawn(3, 3))[0]
NEAR = Q @ np.diag([1, 1 + 1e-6, 2]) @ Q.T


@pytest.mark.parametrize("program", PROGRAMS)
def test_eigenvalues_that_are_nearly_equal_are_told_apart(program: str) -> None:
    assert verdict(program, (NEAR + NEAR.T) / 2) == CERTIFIED


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("matrix", [np.eye(3), np.diag([2.0, 1.0, 1.0])], ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
def test_equal_eigenvalues_are_unknown(program: str, matrix: Any, dtype: str) -> None:
    if program == "linalg.matrix_norm(A, 2)" and matrix[0, 0] > 1:
        program = "linalg.matrix_norm(A, -2)"
    assert verdict(program, matrix, dtype=dtype) == UNKNOWN


def test_equal_eigenvalues_are_the_reason_that_is_told() -> None:
    (told,) = checked(job("linalg.eigvalsh(A)[0]", {"A": np.eye(3)})).inputs
    assert told.note == (
        "A[0,0]: an eigenvalue of a matrix of more than 2 rows has no derivative where "
        "it is equal to another; the engine's convention gave 1.0"
    )


@pytest.mark.parametrize("matrix", [np.ones((3, 3)), np.diag([3.0, 1.0, 1.0])], ids=str)
@pytest.mark.parametrize(
    "program", ["linalg.svdvals(A)[0]", "linalg.eigvalsh(A)[2]",
                "linalg.matrix_norm(A, 2)"]
)  # fmt: skip
def test_a_value_of_its_own_is_certified_beside_equal_ones(
    program: str, matrix: Any
) -> None:
    assert verdict(program, matrix) == CERTIFIED


SCALED = [*((program, 3) for program in PROGRAMS), ("linalg.svd(A)[0]", 2)]


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("program", "n"), SCALED)
def test_right_gradients_of_matrices_in_all_scales_are_not_refuted(
    program: str, n: int, dtype: str, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    matrix = draw.normal(size=(n, n)) * 10.0 ** draw.integers(-6, 6, size=(n, 1))
    rounded = matrix.astype(dtype).astype(float)
    assert verdict(program, rounded, dtype=dtype, seconds=9.0) != REFUTED


def test_larger_matrices_are_unknown_and_say_so() -> None:
    n = MAX_SIZE + 1
    for program in ("linalg.svdvals(A)", "linalg.eigvalsh(A)"):
        (told,) = checked(job(program, {"A": fitting(program, drawn(n, n))})).inputs
        assert told.verdict == UNKNOWN
        assert told.note is not None
        assert f"of up to {MAX_SIZE} rows or columns, not of {n}" in told.note


MUTANTS = [
    mutant
    for row in ("linalg_svd.default", "linalg_eigh.default")
    for mutant in mutants_of(OPS[row])
    if mutant.in_reverse
]

RECORDING = {
    "linalg_svd.default": [
        "linalg.svdvals(A)",
        "p = linalg.svd(A, full_matrices=False); p[0] * p[1]",
        "p = linalg.svd(A, full_matrices=False); (p[0] * p[1]).sum(0) @ p[2]",
    ],
    "linalg_eigh.default": ["linalg.eigvalsh(A)", "p = linalg.eigh(A); p[1] * p[0]"],
}


SHARE = 3
"""One mutant of so many is tried in every run, the others at night."""


@pytest.mark.parametrize(
    "mutant",
    [
        mutant if n % SHARE == 0 else pytest.param(mutant, marks=pytest.mark.nightly)
        for n, mutant in enumerate(MUTANTS)
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_wrong_rule_is_refuted_at_three_rows(mutant: Mutant) -> None:
    shapes = [(3, 3), (4, 3), (3, 4)] if "svd" in mutant.row else [(3, 3)]
    explained = None
    for program, shape in product(RECORDING[mutant.row], shapes):
        given = weights(program, shape)
        values = {"A": fitting(program, drawn(*shape))}
        right = job(program, values, cotangent=given)
        with planted(mutant):
            try:
                wrong = job(program, values, cotangent=given)
            except Exception:
                # No gradient is shown, so there is none to verify.
                continue
            if differ(right, wrong):
                found = checked(wrong).verdict
                explained = gap(mutant, found, right, wrong) or found
                assert found == REFUTED or explained != found
    assert explained or sameness(mutant)
