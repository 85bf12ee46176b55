"""Activations as modules.

Invariant: a module's attributes are its function's parameters after the input, in
order; most are one line that names the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from .module import Module
from .parameter import Parameter


class _Plain(Module):
    """An activation without options; any that are given are ignored, as in PyTorch."""

    function: ClassVar[Callable[[Tensor], Tensor]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input)


class _Changing(Module):
    """An activation that may work in place."""

    function: ClassVar[Callable[..., Tensor]]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class _Along(Module):
    """A function along a dimension."""

    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Tanh(_Plain):
    """Hyperbolic tangent."""

    function = F.tanh


class Sigmoid(_Plain):
    """``1/(1 + exp(-input))``."""

    function = F.sigmoid


class LogSigmoid(_Plain):
    """Logarithm of the logistic function."""

    function = F.logsigmoid


class Softsign(_Plain):
    """``input/(1 + abs(input))``."""

    function = F.softsign


class Tanhshrink(_Plain):
    """``input - tanh(input)``."""

    function = F.tanhshrink


class ReLU(_Changing):
    """``max(0, input)``."""

    function = F.relu


class ReLU6(_Changing):
    """``min(max(0, input), 6)``."""

    function = F.relu6


class SELU(_Changing):
    """`ELU` with the constants that keep mean and variance."""

    function = F.selu


class SiLU(_Changing):
    """``input*sigmoid(input)``."""

    function = F.silu


class Mish(_Changing):
    """``input*tanh(softplus(input))``."""

    function = F.mish


class Hardsigmoid(_Changing):
    """``relu6(input + 3)/6``."""

    function = F.hardsigmoid

    def extra_repr(self) -> str:
        return ""


class Hardswish(Hardsigmoid):
    """``input*hardsigmoid(input)``."""

    function = F.hardswish


class Softmax(_Along):
    """``exp(input)`` divided by its sum along a dimension."""

    function = F.softmax


class Softmax2d(Module):
    """Softmax along the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead"
            )
        return F.softmax(input, -3)


class LogSoftmax(_Along):
    """Logarithm of the softmax."""

    function = F.log_softmax


class Softmin(_Along):
    """Softmax of the negated input."""

    function = F.softmin


class LeakyReLU(Module):
    """``input`` where it is positive, ``negative_slope*input`` elsewhere."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{_in_place(self)}"


class ELU(Module):
    """``input`` where it is positive, ``alpha*(exp(input) - 1)`` elsewhere."""

    function: ClassVar[Callable[..., Tensor]] = F.elu

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{_in_place(self)}"


class CELU(ELU):
    """`ELU` with a slope that is continuous for every alpha."""

    function = F.celu


class Hardtanh(Module):
    """The input, kept between two bounds."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        super().__init__()
        if max_val <= min_val:
            raise ValueError("max_val must be larger than min_val")
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{_in_place(self)}"


class Threshold(Module):
    """``input`` where it is above the threshold, ``value`` elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{_in_place(self)}"


def _in_place(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""


class GELU(Module):
    """``input`` times the normal distribution up to it; approximate "none", "tanh"."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """``log(1 + exp(beta*input))/beta``, and the input itself above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """0 within ``lambd`` of 0, the input elsewhere."""

    function: ClassVar[Callable[..., Tensor]] = F.hardshrink

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Hardshrink):
    """The input moved by ``lambd`` towards 0."""

    function = F.softshrink


class GLU(Module):
    """The first half times the logistic function of the second, along a dimension."""

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class PReLU(Module):
    """A leaky rectifier whose slope is trained, one for all channels or one each."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(
            full((num_parameters,), float(init), device=device, dtype=dtype)
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
