"""Muon: a step along the direction made orthogonal, for the matrices of hidden layers.

Invariant: the direction is computed in bfloat16, as PyTorch computes it: sums in single
precision, every result rounded to the eight digits (of two) that bfloat16 keeps.

    Muon([p for p in net.parameters() if p.ndim == 2], lr=0.02)
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from ..engine.namespace import Namespace
from ..engine.raw import Raw
from ..ops.types import Array, Operand
from .descent import Descent, Kept, move_towards
from .optimizer import Group
from .options import one_number

RATES: dict[str | None, Callable[[int, int], float]] = {
    None: lambda rows, columns: sqrt(max(1, rows / columns)),
    "original": lambda rows, columns: sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * sqrt(max(rows, columns)),
}
"""What the rate is multiplied by, from the sizes of the matrix."""

END_OF_STEPS = 100


class OfMatrices(Descent):
    """Gradient descent that takes matrices alone.

    Raises:
        ValueError: a parameter has not two dimensions.
    """

    def _begin(self, params: object, defaults: Group) -> None:
        super()._begin(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter "
                        f"with size: {parameter.shape}"
                    )


def muon(xp: Namespace, p: Array, g: Array, kept: Kept, o: Group, lr: Operand) -> None:
    """``p -= lr*r*u``, where u is the running mean of gradients, made orthogonal, and r
    depends on the sizes of p (Jordan et al. 2024)."""
    if "momentum_buffer" not in kept:
        kept.fill("momentum_buffer", 0.0)
    mean, momentum = kept["momentum_buffer"], o["momentum"]
    move_towards(mean, g, 1 - momentum)
    direction = mean
    if o["nesterov"]:
        direction = xp.clone(g)
        move_towards(direction, mean, momentum)
    step = orthogonal(xp, direction, o["ns_coefficients"], o["ns_steps"], o["eps"])
    p *= 1 - lr * o["weight_decay"]
    p += -lr * RATES[o["adjust_lr_fn"]](*p.shape) * xp.as_type_of(step, p)


def orthogonal(
    xp: Namespace,
    x: Raw,
    coefficients: tuple[float, float, float],
    steps: int,
    eps: float,
) -> Array:
    """A matrix with singular values near 1 in the place of the matrix's own, by so many
    steps of Newton and Schulz (quintic, with the slope at 0 as large as may be).

    Raises:
        ValueError: too many steps, or not three coefficients.
    """
    if steps >= END_OF_STEPS:
        raise ValueError(
            "Number of steps must be less than 100 for computational efficiency"
        )
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    y = short(xp, x.T if tall else x)
    size = short(xp, xp.sqrt(xp.sum(y * y)))
    y = short(xp, y / xp.maximum(size, short(xp, xp.new_full(size, (), eps))))
    for _ in range(steps):
        gram = short(xp, y @ y.T)
        y = short(xp, a * y + short(xp, b * gram + c * (gram @ gram)) @ y)
    found: Array = y.T if tall else y
    return found


def short(xp: Namespace, x: Array) -> Any:
    """Round to bfloat16, ties to even; the numbers stay in single precision."""
    single = xp.np.asarray(x).astype("float32")
    bits: Any = single.view("uint32")
    nearest = (bits + (0x7FFF + ((bits >> 16) & 1))) & 0xFFFF0000
    rounded = nearest.astype("uint32").view("float32")
    return xp.where(xp.isnan(single), single, rounded)


def sound(o: Group) -> None:
    one_number(o["lr"])
    for words, value in (
        ("Learning rate", o["lr"]), ("momentum", o["momentum"]),
        ("weight decay", o["weight_decay"]),
    ):  # fmt: skip
        if not value >= 0:
            raise ValueError(f"{words} should be >= 0 but is: {value}")
    if o["adjust_lr_fn"] not in RATES:
        raise ValueError(
            f"Adjust learning rate function {o['adjust_lr_fn']} is not supported"
        )
