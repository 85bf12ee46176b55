"""What the laws measure: products with a row's Jacobian, from either mode.

Invariant: directions and cotangents are drawn from the same seeded generator as the
inputs; outputs that are no floating-point numbers (indices, truth values) take no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, call, grad
from gradcli.engine.forward import jvp

from .draw import Spot, generator, remembered, root

Arrays = list[Any]


def outputs_of(y: Any) -> list[Tensor]:
    """The outputs that carry a gradient."""
    parts = y if isinstance(y, tuple) else (y,)
    return [part for part in parts if part.edge is not None]


def flattened(y: Any) -> Tensor:
    """All outputs that carry a gradient, as one vector."""
    parts = [call("reshape", part, (-1,)) for part in outputs_of(y)]
    joined: Tensor = parts[0] if len(parts) == 1 else call("cat", parts)
    return joined


def flat_output(spot: Spot, tensors: dict[str, Tensor]) -> Tensor:
    """The outputs of a row as one vector, its free inputs given by name: ``x0`` is the
    first."""
    return flattened(spot.output({i: tensors[f"x{i}"] for i in spot.free}))


def directions(spot: Spot, *names: object) -> Arrays:
    """A tangent per free input, of its shape, with entries in [-1, 1]."""
    given = ("tangent", root(spot.op), *names)
    return list(remembered(spot.case, given, lambda: _directions(spot, *names)))


def _directions(spot: Spot, *names: object) -> Arrays:
    rng = generator(root(spot.op), spot.case, *names)
    found = [np.asarray(rng.uniform(-1, 1, v.shape)) for v in spot.values()]
    if spot.case.make != "symmetric":
        return found
    # One triangle is read: the derivative is that of symmetric matrices.
    return [(t + np.swapaxes(t, -1, -2)) / 2 if t.ndim > 1 else t for t in found]


def cotangents(spot: Spot, *names: object) -> Arrays:
    """A cotangent per output, of its shape, with entries in [-1, 1]."""
    given = ("cotangent", root(spot.op), *names)
    return list(remembered(spot.case, given, lambda: _cotangents(spot, *names)))


def _cotangents(spot: Spot, *names: object) -> Arrays:
    rng = generator(root(spot.op), spot.case, "cotangent", *names)
    _, y = spot.run()
    return [np.asarray(rng.uniform(-1, 1, part.shape)) for part in outputs_of(y)]


def tensors(arrays: Sequence[Any], xp: Any = NUMPY) -> list[Tensor]:
    return [Tensor(a, xp) for a in arrays]


def value_at(spot: Spot, values: Sequence[Any]) -> Arrays:
    """The outputs where the free inputs have these values."""
    _, y = spot.run(values)
    return [np.asarray(part.raw) for part in outputs_of(y)]


def push(spot: Spot, t: Arrays, values: Sequence[Any] | None = None) -> Arrays:
    """J t, by forward mode."""
    leaves, y = spot.run(values)
    return [np.asarray(out.raw) for out in jvp(outputs_of(y), leaves, tensors(t))]


def pull(spot: Spot, v: Arrays, values: Sequence[Any] | None = None) -> Arrays:
    """The transpose of J times v, by reverse mode."""
    leaves, y = spot.run(values)
    return _pulled(outputs_of(y), leaves, v)


def _pulled(outputs: list[Tensor], leaves: list[Tensor], v: Arrays) -> Arrays:
    pulled = grad(outputs, leaves, tensors(v))
    return [
        np.zeros(leaf.shape) if g is None else np.asarray(g.raw)
        for g, leaf in zip(pulled, leaves, strict=True)
    ]


def both(spot: Spot, v: Arrays, t: Arrays) -> tuple[Arrays, Arrays]:
    """The transpose of J times v, and J t, of one recorded pass."""
    leaves, y = spot.run()
    outputs = outputs_of(y)
    pushed = [np.asarray(out.raw) for out in jvp(outputs, leaves, tensors(t))]
    return _pulled(outputs, leaves, v), pushed


def inner(a: Arrays, b: Arrays) -> float:
    return float(sum(np.sum(p * q) for p, q in zip(a, b, strict=True)))


def size(a: Arrays, b: Arrays) -> float:
    """The sum of absolute products: what rounding errors are measured against."""
    return float(sum(np.sum(np.abs(p * q)) for p, q in zip(a, b, strict=True)))


def moved(values: Arrays, t: Arrays, step: float) -> Arrays:
    return [v + step * d for v, d in zip(values, t, strict=True)]


STEP = 1e-4
RELATIVE = 1e-7
ROUNDINGS = 64


def slope(function: Any) -> tuple[float, float]:
    """The derivative at 0 of a number-valued function, and a bound of its error.

    The function gives its value and the size of what the value was added up from. The
    five-point rule is off by step**4/30 times the fifth derivative: `RELATIVE` of the
    slope, which callers add, leaves room for a fifth derivative 1e10 times as large. A
    value carries a few roundings of its size, which are divided by the step.
    """
    (f2, s2), (f1, s1), (b1, z1), (b2, z2) = [
        function(k * STEP) for k in (2.0, 1.0, -1.0, -2.0)
    ]
    rounding = ROUNDINGS * np.finfo(float).eps * max(s2, s1, z1, z2) / STEP
    return (8 * (f1 - b1) - (f2 - b2)) / (12 * STEP), float(rounding)


# The laws: each gives an error as a multiple of what rounding explains, so that a row
# obeys where the number is at most 1.

ROUNDING = 1e-12
FLOOR = 1e-3
"""What cancels inside a product is measured against this at least."""


def adjoint(spot: Spot) -> float:
    """<v, J t> = <transpose(J) v, t>"""
    v, t = cotangents(spot), directions(spot)
    pulled, pushed = both(spot, v, t)
    gap = abs(inner(v, pushed) - inner(pulled, t))
    return gap / (ROUNDING * (FLOOR + size(v, pushed) + size(pulled, t)))


def forward_difference(spot: Spot) -> float:
    """<v, J t> is the slope of <v, f(x + h t)>."""
    v, pushed = cotangents(spot), push(spot, directions(spot))
    return _against_slope(spot, inner(v, pushed), size(v, pushed))


def reverse_difference(spot: Spot) -> float:
    """<transpose(J) v, t> is the slope of <v, f(x + h t)>."""
    t, pulled = directions(spot), pull(spot, cotangents(spot))
    return _against_slope(spot, inner(pulled, t), size(pulled, t))


def _against_slope(spot: Spot, found: float, terms: float) -> float:
    v, t, x = cotangents(spot), directions(spot), spot.values()

    def along(h: float) -> tuple[float, float]:
        y = value_at(spot, moved(x, t, h))
        return inner(v, y), size(v, y) + size(x, x) ** 0.5

    expected, rounding = slope(along)
    return abs(found - expected) / (RELATIVE * terms + rounding)


def second_difference(spot: Spot) -> float:
    """The gradient of <u, transpose(J) v> by the inputs is its slope."""
    v, t, u = cotangents(spot), directions(spot), directions(spot, "second")
    x = spot.values()

    def along(h: float) -> tuple[float, float]:
        pulled = pull(spot, v, moved(x, t, h))
        return inner(u, pulled), size(u, pulled) + size(x, x) ** 0.5

    by_input, _ = second(spot, v, u)
    expected, rounding = slope(along)
    bound = RELATIVE * size(by_input, t) + rounding
    return abs(inner(by_input, t) - expected) / bound


def cotangent_gradient(spot: Spot) -> float:
    """The gradient of <u, transpose(J) v> by v is J u."""
    v, u = cotangents(spot), directions(spot, "second")
    _, by_cotangent = second(spot, v, u)
    pushed = push(spot, u)
    gap = sum(
        float(np.sum(np.abs(p - q))) for p, q in zip(by_cotangent, pushed, strict=True)
    )
    return gap / (ROUNDING * (1 + sum(float(np.sum(np.abs(p))) for p in pushed)))


def second(spot: Spot, v: Arrays, u: Arrays) -> tuple[Arrays, Arrays]:
    """The gradients of <u, transpose(J) v> by the inputs and by v."""
    leaves, y = spot.run()
    upstream = [Tensor(a, NUMPY, True) for a in v]
    pulled = grad(outputs_of(y), leaves, upstream, create_graph=True)
    ends = [
        (g, Tensor(d, NUMPY))
        for g, d in zip(pulled, u, strict=True)
        if g is not None and g.edge is not None
    ]
    wanted = [*leaves, *upstream]
    found: list[Any] = [None] * len(wanted)
    if ends:
        outputs, weights = zip(*ends, strict=True)
        found = list(grad(outputs, wanted, weights))
    arrays = [
        np.zeros(t.shape) if g is None else np.asarray(g.raw)
        for g, t in zip(found, wanted, strict=True)
    ]
    return arrays[: len(leaves)], arrays[len(leaves) :]


def misfit(spot: Spot) -> float:
    """Each gradient has its input's shape, each tangent its output's."""
    leaves, y = spot.run()
    outputs = outputs_of(y)
    pulled = grad(outputs, leaves, tensors(cotangents(spot)))
    fits = all(
        g is not None and g.shape == leaf.shape
        for g, leaf in zip(pulled, leaves, strict=True)
    )
    pushed = push(spot, directions(spot))
    fits = fits and [t.shape for t in pushed] == [o.shape for o in outputs]
    return 0.0 if fits and outputs else np.inf


LAWS = {
    "shape": misfit,
    "adjoint": adjoint,
    "forward_difference": forward_difference,
    "reverse_difference": reverse_difference,
    "second_difference": second_difference,
    "cotangent_gradient": cotangent_gradient,
}
