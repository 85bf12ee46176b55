"""Factors of matrices, and functions that are computed from them, on arrays.

Invariant: all work on the last two dimensions of stacks, empty ones too; where a
library fails or defines no value, the result is PyTorch's.

    u, s, vh = NUMPY.svd_factors(a, full_matrices=False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any

from ..ops.checks import check_size
from .errors import LinAlgError
from .parts import factored
from .raw import Library, Raw

MAX_SIZE_BY_ROWS = 16
"""Largest size of a triangle that is solved row by row; larger ones are halved."""

NOT_FINITE = (
    "linalg.svd: {}The algorithm failed to converge because the input matrix contained "
    "non-finite values."
)

PADE = (
    64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
    129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800,
    960960, 16380, 182, 1,
)  # fmt: skip
MAX_NORM = 5.371920351148152
"""Coefficients of the approximation of order 13, and the norm up to which it is good to
the last place. Higham 2005, The scaling and squaring method for the matrix exponential
revisited."""


def _places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Return the index of each matrix in a stack of a shape."""
    return product(*map(range, shape))


class MatrixFactors:
    """The functions of `ArrayNamespace` that factor matrices.

    ``np`` is the array module; ``_solvers`` imports its library of linear systems.
    """

    np: Library
    device: str
    cholesky: Callable[[Raw], Raw]
    matmul: Callable[[Raw, Raw], Raw]
    _solvers: Callable[[], Library]

    def svd_factors(self, a: Raw, full_matrices: bool = True) -> tuple[Raw, Raw, Raw]:
        """Return ``u``, the singular values from the largest on, and ``v.T``; they are
        NaN for a matrix with an infinite entry.

        Raises:
            LinAlgError: an entry is NaN.
        """
        if a.size:
            self._demand_numbers(a)
            u, s, vh = self._of_finite(
                lambda finite: self._factored("svd", finite, full_matrices), a
            )
            return self._by_columns(u), s, self._by_columns(vh)
        *lead, m, n = a.shape
        k = min(m, n)
        rows, columns = (m, n) if full_matrices else (k, k)
        return (
            self._identities((*lead, m, rows), a),
            self.np.zeros((*lead, k), a.dtype),
            self._identities((*lead, columns, n), a),
        )

    def eigh_factors(self, a: Raw) -> tuple[Raw, Raw]:
        """Return the eigenvalues of symmetric matrices, from the least on, and their
        eigenvectors; they are NaN for a matrix that is not finite."""
        values, vectors = self._of_finite(partial(self._factored, "eigh"), a)
        return values, self._by_columns(vectors)

    def _factored(self, name: str, a: Raw, *more: Any) -> Any:
        """Return the result of a function of the array module's linear algebra."""
        run = getattr(self.np.linalg, name)
        return factored(run, a, *more) if self.device == "cpu" else run(a, *more)

    def _demand_numbers(self, a: Raw) -> None:
        lost = self.np.any(self.np.isnan(a), (-2, -1)).reshape(-1)
        if lost.any():
            nr = int(self.np.argmax(lost))
            raise LinAlgError(NOT_FINITE.format(
                f"(Batch element {nr}): " if a.ndim > 2 else ""
            ))  # fmt: skip

    def _of_finite(self, run: Callable[[Raw], Iterable[Raw]], a: Raw) -> list[Raw]:
        """Return the factors that ``run`` gives for finite matrices, and NaN for other
        matrices, with which LAPACK's iterations need not end."""
        np = self.np
        lost = np.logical_not(np.all(np.isfinite(a), (-2, -1)))
        if not lost.any():
            return list(run(a))
        found = run(np.where(lost[..., None, None], 0, a))
        return [
            np.where(lost.reshape(lost.shape + (1,) * (part.ndim - lost.ndim)),
                     np.nan, part).astype(part.dtype)
            for part in found
        ]  # fmt: skip

    def qr_factors(self, a: Raw, mode: str = "reduced") -> tuple[Raw, Raw]:
        """Return the factors ``q``, of orthonormal columns, and ``r``, a triangle."""
        if a.size:
            q, r = self._factored("qr", a, mode)
            return self._by_columns(q), self._by_columns(r)
        *lead, m, n = a.shape
        k = m if mode == "complete" else min(m, n)
        none = self.np.zeros((*lead, k, n), a.dtype)
        return self._identities((*lead, m, k), a), none

    def indefinite_minors(self, a: Raw) -> Raw:
        """Return the order of each matrix's first leading minor that is not positive
        definite; 0 where there is none."""
        found = self.np.zeros(a.shape[:-2], "int32")
        for at in _places(a.shape[:-2]):
            if not self._definite(a[at]):
                orders = range(1, a.shape[-1] + 1)
                whole = a.shape[-1]
                found[at] = next(
                    (n for n in orders if not self._definite(a[at][:n, :n])), whole
                )
        return found

    def _definite(self, matrix: Raw) -> bool:
        refused: Any = self.np.linalg.LinAlgError
        try:
            self.cholesky(matrix)
        except refused:
            return False
        return True

    def zero_pivots(self, a: Raw) -> Raw:
        """Return the number, counted from 1, of each matrix's first pivot that is zero;
        0 where there is none."""
        np = self.np
        zero = np.equal(np.diagonal(self.lu_factors(a)[0], 0, -2, -1), 0)
        if not zero.shape[-1]:
            return np.zeros(zero.shape[:-1], "int32")
        first = np.argmax(zero, -1) + 1
        return np.where(np.any(zero, -1), first, 0).astype("int32")

    def lu_factors(self, a: Raw) -> tuple[Raw, Raw]:
        """Return both triangular factors in one matrix, and the row, counted from 1,
        that each row was exchanged with; zero pivots are allowed."""
        np = self.np
        both = np.zeros(a.shape, a.dtype)
        pivots = np.zeros((*a.shape[:-2], min(a.shape[-2:])), "int32")
        if a.size:
            from warnings import catch_warnings, simplefilter

            factor = self._solvers().lu_factor
            with catch_warnings():
                # SciPy warns of a zero pivot, with which the factors are still right.
                simplefilter("ignore")
                for at in _places(a.shape[:-2]):
                    both[at], exchanged = factor(a[at], check_finite=False)
                    pivots[at] = exchanged + 1
        return self._by_columns(both), pivots

    def solve_triangle(
        self, a: Raw, b: Raw, unitriangular: bool = False, *, upper: bool
    ) -> Raw:
        """Return the solution of ``a @ x = b`` for a triangular ``a``, whose other
        triangle is not read. It is not finite where the diagonal has a zero."""
        np = self.np
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        x = np.empty((*lead, *b.shape[-2:]), np.result_type(a, b))
        x[...] = b
        if x.size:
            self._substitute(a, x, upper, unitriangular)
        return self._by_columns(x)

    def _substitute(self, a: Raw, x: Raw, upper: bool, unitriangular: bool) -> None:
        """Replace the right-hand sides ``x`` by the solutions, in place."""
        n = a.shape[-1]
        if n <= MAX_SIZE_BY_ROWS:
            for i in range(n)[:: -1 if upper else 1]:
                if not unitriangular:
                    x[..., i, :] /= a[..., i, i, None]
                rest = slice(0, i) if upper else slice(i + 1, n)
                x[..., rest, :] -= a[..., rest, i, None] * x[..., i, None, :]
            return
        half = n // 2
        first, last = slice(0, half), slice(half, n)
        done, left = (last, first) if upper else (first, last)
        self._substitute(a[..., done, done], x[..., done, :], upper, unitriangular)
        x[..., left, :] -= self.matmul(a[..., left, done], x[..., done, :])
        self._substitute(a[..., left, left], x[..., left, :], upper, unitriangular)

    def matrix_exp(self, a: Raw) -> Raw:
        """Return matrix exponentials, computed as doubles and rounded once."""
        np = self.np
        if not a.size:
            return np.zeros(a.shape, a.dtype)
        wide = a.astype("float64")
        size = np.max(np.sum(np.abs(wide), -2), -1)[..., None, None]
        doublings = np.ceil(np.log2(np.maximum(size / MAX_NORM, 1)))
        doublings = np.where(np.isfinite(doublings), doublings, 0)
        power = self._pade(wide / 2.0**doublings)
        for step in range(int(np.max(doublings))):
            power = np.where(step < doublings, self.matmul(power, power), power)
        return power.astype(a.dtype)

    def _pade(self, a: Raw) -> Raw:
        np, c = self.np, PADE
        one = np.eye(a.shape[-1])
        a2 = self.matmul(a, a)
        a4 = self.matmul(a2, a2)
        a6 = self.matmul(a4, a2)
        odd = self.matmul(a6, c[13] * a6 + c[11] * a4 + c[9] * a2)
        odd = self.matmul(a, odd + c[7] * a6 + c[5] * a4 + c[3] * a2 + c[1] * one)
        even = self.matmul(a6, c[12] * a6 + c[10] * a4 + c[8] * a2)
        even = even + c[6] * a6 + c[4] * a4 + c[2] * a2 + c[0] * one
        found: Raw = self._factored("solve", even - odd, even + odd)
        return found

    def _identities(self, shape: tuple[int, ...], like: Raw) -> Raw:
        check_size(shape)
        ones = self.np.eye(*shape[-2:], dtype=like.dtype)
        return self.np.broadcast_to(ones, shape).copy()

    def _by_columns(self, a: Raw) -> Raw:
        """Return matrices stored column by column, as PyTorch's results from LAPACK
        are; so a reshape of them has to copy, as it does there."""
        turn = self.np.swapaxes
        return turn(self.np.ascontiguousarray(turn(a, -2, -1)), -2, -1)
