"""A weight divided by its largest singular value: hooks of a module.

Invariant: before each forward pass in training the two singular vectors, buffers
``NAME_u`` and ``NAME_v``, are moved on by power iterations, and the attribute is
``NAME_orig`` over ``u' W v`` (Miyato et al. 2018). `parametrizations.spectral_norm`
does the same without hooks.
"""

from __future__ import annotations

from typing import Any

from ...engine.modes import no_grad
from ...engine.record import call
from ...engine.tensor import Tensor
from .. import functional as F
from ..convolution import _ConvTransposeNd
from ..module import Module
from .weight_hooks import M, WeightHook

STATE_VERSION = 1
"""Of what a state holds; before, ``NAME_v`` was not part of it."""


def output_dim(module: Module) -> int:
    """The dimension of a weight that counts the outputs."""
    return 1 if isinstance(module, _ConvTransposeNd) else 0


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix, with one row per entry of dimension ``dim``."""
    if dim != 0:
        others = [d for d in range(weight.ndim) if d != dim]
        weight = weight.permute(dim, *others)
    return weight.reshape(weight.size(0), -1)


def check_iterations(count: int) -> None:
    """Raise ValueError for a number of power iterations that is not positive."""
    if count <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={count}"
        )


def first_vectors(matrix: Tensor, eps: float) -> list[Tensor]:
    """Random vectors of length 1 that power iterations begin with."""
    drawn = [matrix.new_empty(n).normal_(0, 1) for n in matrix.size()]
    return [F.normalize(each, dim=0, eps=eps) for each in drawn]


def iterate(
    matrix: Tensor, u: Tensor, v: Tensor, eps: float, count: int, v_first: bool
) -> None:
    """Move both singular vectors on, in place, by power iterations."""
    with no_grad():
        for turn in (v_first, not v_first) * count:
            if turn:
                v.copy_(F.normalize(call("mv", matrix.t(), u), dim=0, eps=eps))
            else:
                u.copy_(F.normalize(call("mv", matrix, v), dim=0, eps=eps))


def over_largest(weight: Tensor, matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """A weight over its largest singular value ``u' matrix v``."""
    # Later iterations change the buffers, which a backward pass still needs.
    u, v = u.clone(), v.clone()
    normalised: Tensor = weight / call("dot", u, call("mv", matrix, v))
    return normalised


class SpectralNorm(WeightHook):
    """The hook that makes the weight."""

    kind = "spectral_norm"
    parts = ("u", "v", "orig")
    _version = STATE_VERSION

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0,
        eps: float = 1e-12,
    ) -> None:  # fmt: skip
        check_iterations(n_power_iterations)
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its largest singular value."""
        u, v, weight = self.held(module)
        matrix = as_matrix(weight, self.dim)
        count = self.n_power_iterations if do_power_iteration else 0
        iterate(matrix, u, v, self.eps, count, v_first=True)
        return over_largest(weight, matrix, u, v)

    def make(self, module: Module) -> Tensor:
        return self.compute_weight(module, do_power_iteration=module.training)

    def settled(self, module: Module) -> Tensor:
        return self.compute_weight(module, do_power_iteration=False)

    def note_version(
        self, module: Module, state: object, prefix: str, notes: Any
    ) -> None:
        """Note the version in a state."""
        notes.setdefault("spectral_norm", {})[f"{self.name}.version"] = self._version


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> M:  # fmt: skip
    """Let a weight's largest singular value be 1.

    Args:
        n_power_iterations: how many, before each forward pass in training.
        eps: a vector shorter than this is not made longer.
        dim: the dimension that counts the outputs; None: by the module's class.

    Raises:
        RuntimeError: the weight has such a hook already.
    """
    SpectralNorm.refuse_second(module, name)
    along = output_dim(module) if dim is None else dim
    hook = SpectralNorm(name, n_power_iterations, along, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(
            f"`SpectralNorm` cannot be applied as parameter `{name}` is None"
        )
    with no_grad():
        vectors = first_vectors(as_matrix(weight, along), eps)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    for part, vector in zip(hook.parts, vectors, strict=False):
        module.register_buffer(f"{name}_{part}", vector)
    module.register_forward_pre_hook(hook)
    module._register_state_dict_hook(hook.note_version)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the weight a plain parameter again.

    Raises:
        ValueError: it has no such hook.
    """
    hook = SpectralNorm.removed_from(module, name)
    after = module._own_hooks().after_save
    for key in [k for k, other in after.items() if other == hook.note_version]:
        after.pop(key)
    return module
