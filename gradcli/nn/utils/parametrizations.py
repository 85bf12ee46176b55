"""Parametrizations of weights: orthogonal, of spectral norm 1, direction and length.

layer = orthogonal(nn.Linear(3, 3))         # layer.weight @ layer.weight.T is 1
"""

from __future__ import annotations

from ...engine.raw import Params
from ...engine.tensor import Tensor
from .. import functional as F
from ..module import Module
from . import parametrize
from .orthogonal import MAPS, Orthogonal
from .spectral_norm import (
    as_matrix,
    check_iterations,
    first_vectors,
    iterate,
    output_dim,
    over_largest,
)
from .weight_norm import norm_except_dim, normed

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

FIRST_ITERATIONS = 15
"""Power iterations with which singular vectors begin."""


def _tensor_of(module: Module, name: str) -> Tensor:
    """A module's parameter or buffer. Raises ValueError if there is none."""
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'"
        )
    return found


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
    use_trivialization: bool = True,
) -> Module:  # fmt: skip
    """Let a matrix, or each of a batch, have orthonormal rows or columns.

    Args:
        orthogonal_map: "matrix_exp", "cayley" or "householder"; None: the first for
            square matrices, the last for others.
        use_trivialization: multiply by a fixed orthogonal matrix, so that the weight
            begins as what it is assigned.

    Raises:
        ValueError: no such tensor, no such map, or less than two dimensions.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} "
            "dimensions."
        )
    square = weight.size(-2) == weight.size(-1)
    chosen = orthogonal_map or ("matrix_exp" if square else "householder")
    if chosen not in MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, chosen, use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module


class _Orthogonal(Orthogonal):
    """What `orthogonal` registers."""


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int = 0) -> Module:
    """Keep a weight as directions and their lengths: ``original1``, ``original0``.

    Args:
        dim: slices along it have lengths of their own; None: the tensor has one.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def older(state_dict: Params, prefix: str, *_: object) -> None:
        """Take a state that was saved with hooks in place of the parametrization."""
        for i, part in enumerate("gv"):
            key = f"{prefix}{name}_{part}"
            if key in state_dict:
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(older)
    return module


class _SpectralNorm(Module):
    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0,
        eps: float = 1e-12,
    ) -> None:  # fmt: skip
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            vectors = first_vectors(matrix, eps)
            for part, vector in zip(("_u", "_v"), vectors, strict=True):
                self.register_buffer(part, vector)
            self._power_method(matrix, FIRST_ITERATIONS)

    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        iterate(matrix, self._u, self._v, self.eps, n_power_iterations, v_first=False)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        return over_largest(weight, matrix, self._u, self._v)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1,
    eps: float = 1e-12, dim: int | None = None,
) -> Module:  # fmt: skip
    """Let a weight's largest singular value be 1.

    Args:
        n_power_iterations: how many, each time that the weight is used in training.
        eps: a vector shorter than this is not made longer.
        dim: the dimension that counts the outputs; None: by the module's class.
    """
    weight = _tensor_of(module, name)
    along = output_dim(module) if dim is None else dim
    made = _SpectralNorm(weight, n_power_iterations, along, eps)
    parametrize.register_parametrization(module, name, made)
    return module
