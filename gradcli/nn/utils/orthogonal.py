"""Orthogonal matrices from matrices without constraints.

Invariant: every map is made of recorded operations, so that gradients and derivatives
of any order pass through it. Wide matrices are treated as their transposes.

    Orthogonal(weight, "cayley")(X)         # orthogonal, for any X
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...engine.creation import eye, zeros_like
from ...engine.draws import randn
from ...engine.modes import no_grad
from ...engine.queries import finfo
from ...engine.tensor import Tensor
from ..functional.shared import run
from ..init import orthonormal
from ..module import Module


def unit(like: Tensor, size: int) -> Tensor:
    """The unit matrix, of another's dtype and on its device."""
    return eye(size, dtype=like.dtype, device=like.device)


def cayley(matrix: Tensor) -> Tensor:
    """``(1 - A/2)**-1 (1 + A/2)``."""
    one = unit(matrix, matrix.size(-1))
    return run("solve", one - matrix / 2, one + matrix / 2)


def reflections(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Householder's vectors below the diagonal and R above it, and the factors.

    Golub and Van Loan, Matrix Computations, 5.2; signs as LAPACK's.
    """
    packed = matrix.clone()
    columns = matrix.size(-1)
    factors = zeros_like(matrix[..., 0, :])
    for k in range(columns):
        x = packed[..., k:, k].clone()
        first, rest = x[..., 0], x[..., 1:].square().sum(-1)
        turned = rest > 0
        length = (first.square() + rest).sqrt()
        beta = run("where", first >= 0, -length, length)
        beta = run("where", turned, beta, first)
        safe = run("where", turned, first - beta, 1.0)
        v = x / safe.unsqueeze(-1)
        v[..., 0] = 1.0
        factor = run("where", turned, (beta - first) / beta, 0.0)
        part = packed[..., k:, k:].clone()
        part -= factor[..., None, None] * v.unsqueeze(-1) @ (v.unsqueeze(-2) @ part)
        packed[..., k:, k:] = part
        packed[..., k + 1 :, k] = v[..., 1:] * turned.unsqueeze(-1)
        factors[..., k] = factor
    return packed, factors


def diagonal(matrix: Tensor) -> Tensor:
    return run("diagonal", matrix, 0, -2, -1)


def is_orthogonal(matrix: Tensor) -> bool:
    """Whether the columns are orthonormal, up to rounding."""
    rows, columns = matrix.shape[-2:]
    if rows < columns:
        return False
    allowed = 10 * rows * finfo(matrix.dtype).eps
    error = (matrix.mT @ matrix - unit(matrix, columns)).abs()
    return float(error.amax()) <= float(allowed)


MAPS: dict[str, Callable[[Tensor], Tensor] | None] = {
    "matrix_exp": partial(run, "matrix_exp"),
    "cayley": cayley,
    "householder": None,
}


class Orthogonal(Module):
    """An orthogonal matrix, computed from one without constraints.

    Args:
        weight: the matrix as it is.
        orthogonal_map: a name in `MAPS`.
        use_trivialization: multiply by a fixed matrix, which is what was assigned.
    """

    base: Tensor

    def __init__(
        self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _tall(self, X: Tensor) -> tuple[Tensor, bool]:
        """The matrix with at least as many rows as columns; whether it was turned."""
        wide = X.size(-2) < X.size(-1)
        return (X.mT if wide else X), wide

    def forward(self, X: Tensor) -> Tensor:
        X, turned = self._tall(X)
        rows, columns = X.shape[-2:]
        build = MAPS[self.orthogonal_map]
        if build is None:
            below = X.tril(-1)
            factors = 2.0 / (1.0 + below.square().sum(-2))
            made = run("linalg.householder_product", below, factors)
            made = made * diagonal(X).detach().sign().unsqueeze(-2)
        else:
            A = X.tril()
            if rows != columns:
                rest = X.new_zeros((*X.shape[:-2], rows, rows - columns))
                A = run("cat", [A, rest], -1)
            made = build(A - A.mT)[..., :columns]
        if "base" in self._buffers:
            made = self.base @ made
        return made.mT if turned else made

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a "
                f"tensor of shape {Q.shape}."
            )
        with no_grad():
            given, turned = self._tall(Q.detach())
            if "base" not in self._buffers:
                made = self._unmapped(given)
                return made.mT if turned else made
            rows, columns = given.shape[-2:]
            if rows != columns:
                more = randn(
                    *given.shape[:-2], rows, rows - columns, dtype=Q.dtype,
                    device=Q.device,
                )  # fmt: skip
                given = orthonormal(run("cat", [given, more], -1))
            elif not is_orthogonal(given):
                given = orthonormal(given)
            self.base = given.clone()
            start = zeros_like(Q)
            diagonal(start).fill_(-1.0)
            return start

    def _unmapped(self, Q: Tensor) -> Tensor:
        """The matrix that Householder's map takes to ``Q``."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        packed, factors = reflections(Q)
        signs = diagonal(packed).sign()
        signs = run("where", factors == 0, -signs, signs)
        diagonal(packed).copy_(signs)
        return packed
