"""Gradients kept within bounds before an optimizer takes its step, and weights made
anew before each forward pass: of given lengths, or of spectral norm 1.

Invariant: gradients are changed in place and nothing is recorded. A weight has at most
one hook of a kind. The module holds, in place of the parameter ``NAME``, what the hook
computes it from: directions ``NAME_v`` and their lengths ``NAME_g`` (Salimans and
Kingma 2016), or ``NAME_orig`` and its two singular vectors, the buffers ``NAME_u`` and
``NAME_v`` (Miyato et al. 2018).

    layer = weight_norm(nn.Linear(3, 2))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import mul
from typing import ClassVar, TypeVar

from ...engine.changes import change_by
from ...engine.modes import RecordingOff
from ...engine.tensor import Tensor
from ...torch.creation import tensor
from .. import functional as F
from ..functional.declare import run
from ..module import Module
from ..parameter import Parameter
from ..weighted import _ConvTransposeNd

M = TypeVar("M", bound=Module)


class _WeightHook:
    """A hook that sets the attribute ``name`` of the module that it is called with."""

    kind: ClassVar[str]
    parts: ClassVar[tuple[str, ...]]
    """Endings of the names of what the module holds for the hook."""

    def __init__(self, module: Module, name: str, dim: int) -> None:
        self.name, self.dim = name, dim
        if name not in module._parameters:
            raise RuntimeError(
                f"Cannot register two {self.kind} hooks on the same parameter {name}"
            )

    def make(self, module: Module, passing: bool) -> Tensor:
        """Compute the weight, for a forward pass or as it is."""
        raise NotImplementedError

    def tensors(self, module: Module) -> list[Tensor]:
        """Return what the module holds for the hook, in the order of ``parts``."""
        return [getattr(module, f"{self.name}_{part}") for part in self.parts]

    def __call__(self, module: Module, inputs: object) -> None:
        setattr(module, self.name, self.make(module, True))


class WeightNorm(_WeightHook):
    """The hook that scales slices of the directions to their lengths."""

    kind = "weight_norm"
    parts = ("g", "v")

    def make(self, module: Module, passing: bool) -> Tensor:
        g, v = self.tensors(module)
        if self.dim in (0, v.ndim - 1):
            return run("weight_norm_interface.default", v, g, self.dim)
        return v * (g / _lengths(v, self.dim))


def _lengths(v: Tensor, dim: int) -> Tensor:
    """Return the norm of each slice along ``dim``, to broadcast; -1: of the whole."""
    if dim == -1:
        return run("linalg.vector_norm", v)
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    return run("linalg.vector_norm", v, 2, others, True) if others else run("abs", v)


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Keep a weight as directions ``NAME_v`` and their lengths ``NAME_g``.

    Args:
        dim: slices along it have lengths of their own; None: the tensor has one.

    Raises:
        RuntimeError: the weight has such a hook already.
    """
    hook = WeightNorm(module, name, -1 if dim is None else dim)
    v = getattr(module, name).detach()
    del module._parameters[name]
    for part, value in zip(hook.parts, (_lengths(v, hook.dim), v), strict=True):
        module.register_parameter(f"{name}_{part}", Parameter(value))
    setattr(module, name, hook.make(module, False))
    module.register_forward_pre_hook(hook)
    return module


class SpectralNorm(_WeightHook):
    """The hook that divides a weight by its largest singular value ``u' W v``.

    In training the singular vectors are moved on by power iterations.
    """

    kind = "spectral_norm"
    parts = ("u", "v", "orig")
    eps: float
    n_power_iterations: int

    def make(self, module: Module, passing: bool) -> Tensor:
        u, v, weight = self.tensors(module)
        matrix = self.as_matrix(weight)
        if passing and module.training:
            with RecordingOff():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.unit(run("mv", matrix.t(), u)))
                    u.copy_(self.unit(run("mv", matrix, v)))
        # Later iterations change the buffers, which a backward pass still needs.
        u, v = u.clone(), v.clone()
        return weight / run("dot", u, run("mv", matrix, v))

    def as_matrix(self, weight: Tensor) -> Tensor:
        """Return a weight as a matrix, with one row per entry of its dimension."""
        if self.dim != 0:
            others = [d for d in range(weight.ndim) if d != self.dim]
            weight = weight.permute(self.dim, *others)
        return weight.reshape(weight.size(0), -1)

    def unit(self, vector: Tensor) -> Tensor:
        """Return a vector of length 1; one shorter than ``eps`` stays shorter."""
        return F.normalize(vector, dim=0, eps=self.eps)


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
        ValueError: a number of iterations that is not positive.
    """
    if n_power_iterations <= 0:
        raise ValueError("n_power_iterations has to be positive")
    transposed = isinstance(module, _ConvTransposeNd)
    hook = SpectralNorm(module, name, int(transposed) if dim is None else dim)
    hook.eps, hook.n_power_iterations = eps, n_power_iterations
    weight = getattr(module, name)
    with RecordingOff():
        matrix = hook.as_matrix(weight)
        vectors = [hook.unit(matrix.new_empty(n).normal_(0, 1)) for n in matrix.size()]
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    for part, vector in zip("uv", vectors, strict=True):
        module.register_buffer(f"{name}_{part}", vector)
    module.register_forward_pre_hook(hook)
    return module


ADDED_TO_TOTAL_NORM = 1e-6
"""The number that a norm is raised by before it is divided by."""


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Shorten all gradients, taken as one vector, to ``max_norm``.

    Returns:
        The norm that they had.

    Raises:
        RuntimeError: it is no finite number, where that was asked for.
    """
    gradients, p = _gradients(parameters), float(norm_type)
    with RecordingOff():
        if not gradients:
            return tensor(0.0)
        lengths = [run("linalg.vector_norm", each, p) for each in gradients]
        total = run("linalg.vector_norm", run("stack", lengths), p)
        if error_if_nonfinite and not math.isfinite(float(total)):
            raise RuntimeError("the norm is non-finite, so it cannot be clipped")
        factor = (float(max_norm) / (total + ADDED_TO_TOTAL_NORM)).clamp(max=1.0)
        for gradient in gradients:
            change_by(gradient, mul, [factor])
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float,
    foreach: bool | None = None,
) -> None:  # fmt: skip
    """Keep each entry of the gradients within ``clip_value`` of 0."""
    bound = float(clip_value)
    with RecordingOff():
        for gradient in _gradients(parameters):
            gradient.clamp_(-bound, bound)
