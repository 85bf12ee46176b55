"""Steps scaled by the gradient's size, kept as row and column means."""

from __future__ import annotations

from typing import Any

from ..engine.queries import finfo
from .descent import Descent, Kept, move_towards
from .optimizer import Group, Params
from .options import one_number, options


class Adafactor(Descent):
    """Adam's second mean as a product of two vectors (Shazeer and Stern 2018).

    Args:
        params: tensors or groups.
        lr: the highest rate; it falls as one over the root of the steps.
        beta2_decay: the power of the steps that the means move by.
        eps: added to a square, None: the dtype's least; and the least size of a
            parameter that its step is scaled by.
        d: how large a step's entries may be on average.
        weight_decay: how much a parameter shrinks in a step.
        maximize: go uphill.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options("lr beta2_decay eps d weight_decay foreach maximize")
    def __init__(
        self, params: Params, lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0,
        weight_decay: float = 0.0, *, foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        one_number(lr)
        for right, words, value in (
            (lr >= 0, "Learning rate should be >= 0", lr),
            (beta2_decay <= 0, "beta2_decay should be <= 0", beta2_decay),
            (eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0]),
            (eps[1] >= 0, "epsilon2 should be >= 0", eps[1]),
            (d >= 1, "Clipping threshold d should be >= 1", d),
            (weight_decay >= 0, "weight_decay should be >= 0", weight_decay),
        ):
            if not right:
                raise ValueError(f"{words} but is: {value}")

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        flat = len(g.shape) < 2
        if kept.begin(*(["variance"] if flat else [])) and not flat:
            kept.hold("row_var", g[..., :1] * 0)
            kept.hold("col_var", g[..., :1, :] * 0)
        step_number = kept.count()
        share = step_number ** o["beta2_decay"]
        least, small = o["eps"]
        least = finfo(kept.parameter.dtype).eps if least is None else least
        rate = min(lr, 1 / step_number**0.5) * max(small, _size(xp, p))
        if o["weight_decay"]:
            p *= 1 - lr * o["weight_decay"]
        if flat:
            square = kept["variance"]
            move_towards(square, g * g, share)
        else:
            rows, columns = kept["row_var"], kept["col_var"]
            move_towards(rows, xp.mean(g * g, (-1,), True), share)
            move_towards(columns, xp.mean(g * g, (-2,), True), share)
            mean = xp.mean(rows, (-2,), True)
            square = rows * columns / xp.maximum(mean, least)
        step = g / xp.sqrt(xp.maximum(square, least * least))
        p += -rate / max(1.0, _size(xp, step) / o["d"]) * step


def _size(xp: Any, x: Any) -> float:
    """The root of the mean square."""
    return float(xp.sqrt(xp.mean(x * x)))
