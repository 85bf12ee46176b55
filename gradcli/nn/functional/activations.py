"""Activations as functions, with PyTorch's parameters.

Invariant: the value and the graph are the table's; what is added here is ``inplace``,
which changes the input's own memory, and the choice of a dimension that was left out.
"""

from __future__ import annotations

import warnings
from typing import Any

from ...engine.changes import change
from ...engine.tensor import Tensor
from .run import run


def _of(name: str, inplace: bool, input: Tensor, *params: Any) -> Tensor:
    """The function of the table; or the input itself, changed to what that gives."""
    if inplace:
        return change(input, lambda old: run(name, old, *params))
    return run(name, input, *params)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(0, input)``."""
    return _of("relu", inplace, input)


def relu_(input: Tensor) -> Tensor:
    """`relu` in place."""
    return _of("relu", True, input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(0, input), 6)``."""
    return hardtanh(input, 0.0, 6.0, inplace)


def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    """``input`` where it is positive, ``negative_slope*input`` elsewhere."""
    return _of("leaky_relu", inplace, input, negative_slope)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """`leaky_relu` in place."""
    return _of("leaky_relu", True, input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, ``alpha*(exp(input) - 1)`` elsewhere."""
    return _of("elu", inplace, input, alpha)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`elu` in place."""
    return _of("elu", True, input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the constants that keep mean and variance."""
    return _of("selu", inplace, input)


def selu_(input: Tensor) -> Tensor:
    """`selu` in place."""
    return _of("selu", True, input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`elu` with a slope that is continuous for every alpha."""
    return _of("celu", inplace, input, alpha)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """`celu` in place."""
    return _of("celu", True, input, alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution up to it; or "tanh" approximates that."""
    return _of("gelu", False, input, approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input*sigmoid(input)``."""
    return _of("silu", inplace, input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input*tanh(softplus(input))``."""
    return _of("mish", inplace, input)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """``log(1 + exp(beta*input))/beta``, and the input itself above the threshold."""
    return _of("softplus", False, input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """``input/(1 + abs(input))``."""
    return _of("softsign", False, input)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """The input, kept between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _of("hardtanh", inplace, input, min_val, max_val)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(input + 3)/6``."""
    return _of("hardsigmoid", inplace, input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input*hardsigmoid(input)``."""
    return _of("hardswish", inplace, input)


def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """``input`` where it is above the threshold, ``value`` elsewhere."""
    return _of("threshold", inplace, input, threshold, value)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold` in place."""
    return _of("threshold", True, input, threshold, value)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 within ``lambd`` of 0, the input elsewhere."""
    return _of("hardshrink", False, input, lambd)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """The input moved by ``lambd`` towards 0."""
    return _of("softshrink", False, input, lambd)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``."""
    return _of("tanhshrink", False, input)


def tanh(input: Tensor) -> Tensor:
    """Hyperbolic tangent."""
    return _of("tanh", False, input)


def sigmoid(input: Tensor) -> Tensor:
    """``1/(1 + exp(-input))``."""
    return _of("sigmoid", False, input)


def logsigmoid(input: Tensor) -> Tensor:
    """Logarithm of `sigmoid`."""
    return _of("logsigmoid", False, input)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input`` where it is positive, ``weight*input`` elsewhere."""
    return _of("prelu", False, input, weight)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half times `sigmoid` of the second half along a dimension."""
    return _of("glu", False, input, dim)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """``exp(input)`` divided by its sum along a dimension."""
    return _along("softmax", input, dim, _stacklevel, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Logarithm of `softmax`."""
    return _along("log_softmax", input, dim, _stacklevel, dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """`softmax` of the negated input."""
    return _along("softmin", input, dim, _stacklevel, dtype)


def _along(
    name: str, input: Tensor, dim: int | None, stacklevel: int, dtype: Any
) -> Tensor:
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. "
            "Change the call to include dim=X as an argument.",
            stacklevel=stacklevel,
        )
        dim = 0 if input.ndim in (0, 1, 3) else 1
    if dtype is not None:
        input = input.to(dtype)
    return run(name, input, dim)
