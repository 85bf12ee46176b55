"""Activations as modules.

Invariant: a module's attributes are its function's parameters after the input, in
order; a declaration names the function and the parameters.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import Applied, attributes
from .module import Module
from .parameter import Parameter


class _Changing(Applied):
    """An activation that may work in place."""

    inplace: bool

    @attributes
    def __init__(self, inplace: bool = False) -> None:
        """Nothing to check."""


class _Along(Applied):
    """A function along a dimension."""

    dim: int | None

    @attributes
    def __init__(self, dim: int | None = None) -> None:
        """Nothing to check."""

    def forward(self, input: Tensor) -> Tensor:
        out: Tensor = type(self).function(input, self.dim, _stacklevel=5)
        return out


class Tanh(Applied):
    """Hyperbolic tangent."""

    function = F.tanh


class Sigmoid(Applied):
    """``1/(1 + exp(-input))``."""

    function = F.sigmoid


class LogSigmoid(Applied):
    """Logarithm of the logistic function."""

    function = F.logsigmoid


class Softsign(Applied):
    """``input/(1 + abs(input))``."""

    function = F.softsign


class Tanhshrink(Applied):
    """``input - tanh(input)``."""

    function = F.tanhshrink


class ReLU(_Changing):
    """``max(0, input)``."""

    function = F.relu


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
    shown = ""


class Hardswish(_Changing):
    """``input*hardsigmoid(input)``."""

    function = F.hardswish
    shown = ""


class Softmax(_Along):
    """``exp(input)`` divided by its sum along a dimension."""

    function = F.softmax


class LogSoftmax(_Along):
    """Logarithm of the softmax."""

    function = F.log_softmax


class Softmin(_Along):
    """Softmax of the negated input."""

    function = F.softmin


class Softmax2d(Module):
    """Softmax along the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead"
            )
        return F.softmax(input, -3)


class LeakyReLU(Applied):
    """``input`` where it is positive, ``negative_slope*input`` elsewhere."""

    function = F.leaky_relu
    negative_slope: float
    inplace: bool

    @attributes
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        """Nothing to check."""


class ELU(Applied):
    """``input`` where it is positive, ``alpha*(exp(input) - 1)`` elsewhere."""

    function = F.elu
    alpha: float
    inplace: bool

    @attributes
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        """Nothing to check."""


class CELU(ELU):
    """`ELU` with a slope that is continuous for every alpha."""

    function = F.celu


class Hardtanh(Applied):
    """The input, kept between two bounds."""

    function = F.hardtanh
    options = ("min_val", "max_val", "inplace")
    min_val: float
    max_val: float
    inplace: bool

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
        min_value: float | None = None, max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for older, newer, given in (
            ("min_value", "min_val", min_value), ("max_value", "max_val", max_value),
        ):  # fmt: skip
            if given is not None:
                words = f"keyword argument `{older}` is deprecated and renamed to"
                warnings.warn(f"{words} `{newer}`", FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val "
                f"({self.min_val})"
            )


class ReLU6(Hardtanh):
    """``min(max(0, input), 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Applied):
    """``input`` where it is above the threshold, ``value`` elsewhere."""

    function = F.threshold
    threshold: float
    value: float
    inplace: bool

    @attributes
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        """Nothing to check."""


class GELU(Applied):
    """``input`` times the normal distribution up to it; approximate "none", "tanh"."""

    function = F.gelu
    shown = "approximate={approximate!r}"
    approximate: str

    @attributes
    def __init__(self, approximate: str = "none") -> None:
        """Nothing to check."""


class Softplus(Applied):
    """``log(1 + exp(beta*input))/beta``, and the input itself above the threshold."""

    function = F.softplus
    beta: float
    threshold: float

    @attributes
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        """Nothing to check."""


class Hardshrink(Applied):
    """0 within ``lambd`` of 0, the input elsewhere."""

    function = F.hardshrink
    shown = "{lambd}"
    lambd: float

    @attributes
    def __init__(self, lambd: float = 0.5) -> None:
        """Nothing to check."""


class Softshrink(Applied):
    """The input moved by ``lambd`` towards 0."""

    function = F.softshrink
    shown = "{lambd}"
    lambd: float

    @attributes
    def __init__(self, lambd: float = 0.5) -> None:
        """Nothing to check."""


class GLU(Applied):
    """The first half times the logistic function of the second, along a dimension."""

    function = F.glu
    dim: int

    @attributes
    def __init__(self, dim: int = -1) -> None:
        """Nothing to check."""


class PReLU(Module):
    """A leaky rectifier whose slope is trained, one for all channels or one each."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(
            full((num_parameters,), float(init), device=device, dtype=dtype)
        )

    def reset_parameters(self) -> None:
        """Let every slope be what it began as."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
