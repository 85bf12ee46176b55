"""How parameters begin: fillings in place, outside the graph.

Invariant: a filling changes the tensor's own memory and gives the tensor back; whether
it requires a gradient stays as it is.

    kaiming_uniform_(layer.weight, a=math.sqrt(5))
"""

from __future__ import annotations

import math

from ..engine.modes import RecordingOff
from ..engine.record import call
from ..engine.tensor import Tensor
from ..torch.creation import empty_like
from ..torch.draws import randperm

GAINS = {
    "linear": 1.0, "identity": 1.0, "sigmoid": 1.0, "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0), "selu": 3.0 / 4,
    **{f"conv{n}d": 1.0 for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": 1.0 for n in (1, 2, 3)},
}  # fmt: skip
"""Factors that undo what an activation does to a deviation."""

LEAKY_RELU_SLOPE = 0.01


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain for a nonlinearity; ``param`` is the slope of leaky_relu.

    Raises:
        ValueError: no such nonlinearity.
    """
    if nonlinearity == "leaky_relu":
        slope = LEAKY_RELU_SLOPE if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def _fans(tensor: Tensor) -> tuple[int, int]:
    """Count the inputs and the outputs that each entry of a weight connects."""
    shape = tuple(tensor.shape)
    _demand_matrix(tensor)
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _demand_matrix(tensor: Tensor, most: float = math.inf) -> None:
    """Raise ValueError for fewer than 2 dimensions, or more than ``most``."""
    if not 2 <= tensor.ndim <= most:
        raise ValueError(f"a tensor of {tensor.ndim} dimensions is not supported")


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    with RecordingOff():
        return tensor.fill_(val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on its diagonal and zeros elsewhere."""
    _demand_matrix(tensor, 2)
    with RecordingOff():
        tensor.zero_()
        tensor.diagonal().fill_(1.0)
    return tensor


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: object = None
) -> Tensor:
    """Draw evenly from ``[a, b)``."""
    with RecordingOff():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: object = None
) -> Tensor:
    """Draw from the normal distribution."""
    with RecordingOff():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0,
    b: float = 2.0, generator: object = None,
) -> Tensor:  # fmt: skip
    """Draw from the normal distribution, cut off outside of ``[a, b]``."""
    low, high = (math.erf((end - mean) / std / math.sqrt(2.0)) for end in (a, b))
    with RecordingOff():
        if high - low <= MIN_TWICE_PROBABILITY:
            tensor.uniform_(low, high, generator=generator)
            drawn = tensor.erfinv() * (std * math.sqrt(2.0)) + mean
            return tensor.copy_(drawn.clamp(a, b))
        tensor.normal_(mean, std, generator=generator)
        while bool((outside := (tensor < a) | (tensor > b)).any()):
            again = tensor.detach().clone().normal_(mean, std, generator=generator)
            tensor.copy_(call("where", outside, again, tensor))
    return tensor


MIN_TWICE_PROBABILITY = 0.6
"""Twice the probability from which on draws are repeated until they are inside."""


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: object = None
) -> Tensor:
    """Draw evenly with the deviation ``gain*sqrt(2/(fan_in + fan_out))``."""
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: object = None
) -> Tensor:
    """Draw normally with the deviation ``gain*sqrt(2/(fan_in + fan_out))``."""
    std = gain * math.sqrt(2.0 / sum(_fans(tensor)))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in",
    nonlinearity: str = "leaky_relu", generator: object = None,
) -> Tensor:  # fmt: skip
    """Draw evenly with the deviation ``gain/sqrt(fan)``; ``a`` is the slope."""
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in",
    nonlinearity: str = "leaky_relu", generator: object = None,
) -> Tensor:  # fmt: skip
    """Draw normally with the deviation ``gain/sqrt(fan)``; ``a`` is the slope."""
    std = _kaiming(tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, std, generator)


def _kaiming(tensor: Tensor, slope: float, mode: str, nonlinearity: str) -> float:
    """Return the deviation ``gain/sqrt(fan)``; for a tensor without entries, 0."""
    if 0 in tensor.shape:
        return 0.0
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    fan = _fans(tensor)[modes.index(mode.lower())]
    return calculate_gain(nonlinearity, slope) / math.sqrt(fan)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: object = None) -> Tensor:
    """Fill with orthonormal rows or columns, by ``gain``; all but the first dimension
    count as one.
    """
    _demand_matrix(tensor)
    rows = tensor.shape[0]
    columns = tensor.numel() // max(rows, 1)
    if not rows or not columns:
        return tensor
    with RecordingOff():
        drawn = empty_like(tensor, memory_format="contiguous")
        drawn.normal_(0, 1, generator=generator)
        matrix = drawn.reshape(rows, columns)
        wide = rows < columns
        q, r = call("linalg.qr", matrix.mT if wide else matrix)
        # Each column points towards where the drawn one did.
        q = q * call("diagonal", r, 0, -2, -1).sign().unsqueeze(-2)
        return tensor.copy_((q.mT if wide else q).reshape(tensor.shape) * gain)


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: object = None
) -> Tensor:
    """Draw a matrix normally and set a share of each column to 0 (Martens 2010)."""
    _demand_matrix(tensor, 2)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with RecordingOff():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows, generator=generator)[:zeros], column] = 0.0
    return tensor


def __dir__() -> list[str]:
    fillings = [name for name in globals() if name.endswith("_") and name[0] != "_"]
    return ["calculate_gain", *fillings]
