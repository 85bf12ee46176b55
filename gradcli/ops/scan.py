"""Cumulative operations along one dimension.

Invariant: sums and products in rules are linear recurrences ``s[i] = a[i]*s[i-1] +
b[i]``, computed in log2(n) steps without a division, so that they are right for zeros,
infinities and derivatives of any order. The scan of a scalar is the scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .checks import dim_of
from .op import (
    LINEAR,
    PACKED,
    WHOLES,
    Marker,
    Rules,
    case,
    row,
)
from .types import Array, ArrayRule, Namespace, Outputs, Tangents

# fmt: off


def part(xp: Namespace, x: Array, dim: int, start: int, stop: int) -> Array:
    return xp.narrow(x, dim, start, stop - start)


# Hillis, Steele 1986, doi:10.1145/7902.7903, on pairs of a factor and a term: Blelloch
# 1990, Prefix sums and their applications, section 1.4.
def recurrence(xp: Namespace, a: Array, b: Array, dim: int) -> Array:
    """Return ``s[i] = a[i]*s[i-1] + b[i]``; ``a`` begins with ``a[1]``.

    It is computed by doubling: after the step of width k, ``b[i]`` holds the sum of the
    last 2k terms and ``a`` the factor over 2k positions.
    """
    n, k = b.shape[dim], 1
    while k < n:
        carried = part(xp, b, dim, k, n) + a * part(xp, b, dim, 0, n - k)
        b = xp.cat([part(xp, b, dim, 0, k), carried], dim)
        if 2 * k < n:
            a = part(xp, a, dim, k, n - k) * part(xp, a, dim, 0, n - 2 * k)
        k *= 2
    return b


def backwards(xp: Namespace, a: Array, b: Array, dim: int) -> Array:
    """Return ``s[i] = a[i]*s[i+1] + b[i]``; ``a`` has no entry for the last i."""
    return xp.flip(recurrence(xp, xp.flip(a, dim), xp.flip(b, dim), dim), dim)


def before(xp: Namespace, y: Array, dim: int, first: float) -> Array:
    """Return ``y`` with ``first`` put before its entries along a dimension."""
    edge = xp.new_full(y, (*y.shape[:dim], 1, *y.shape[dim + 1 :]), first)
    return xp.cat([edge, y], dim)


def preceding(xp: Namespace, y: Array, dim: int, first: float) -> Array:
    """Return each entry's predecessor along a dimension; ``first`` for the first."""
    return before(xp, outer(xp, y, dim), dim, first)


def inner(xp: Namespace, x: Array, dim: int) -> Array:
    """Return ``x`` without its first entry along a dimension."""
    return part(xp, x, dim, 1, x.shape[dim])


def outer(xp: Namespace, x: Array, dim: int) -> Array:
    """Return ``x`` without its last entry along a dimension."""
    return part(xp, x, dim, 0, x.shape[dim] - 1)


def running(xp: Namespace, merge: Callable[[Outputs, Outputs], Sequence[Array]],
            xs: Outputs, dim: int) -> Outputs:
    """Return ``y[i] = merge(y[i-1], x[i])`` for an associative ``merge`` of tuples."""
    n, k = xs[0].shape[dim], 1
    while k < n:
        left = tuple([part(xp, x, dim, 0, n - k) for x in xs])
        right = tuple([part(xp, x, dim, k, n) for x in xs])
        xs = tuple([xp.cat([part(xp, x, dim, 0, k), merged], dim)
                    for x, merged in zip(xs, merge(left, right), strict=True)])
        k *= 2
    return xs


def ratio(xp: Namespace, a: Array, b: Array) -> Array:
    """Return ``exp(a - b)``, which is 1 where both are the same infinity."""
    return xp.exp(xp.where(xp.eq(a, b), 0, a - b))


ALONG = [case((3, 4), dim=0), case((3, 4), dim=-1), case((5,), dim=0),
         case((2, 3, 2), dim=1), case((1,), dim=0), case((), dim=0)]


def scan(name: str, node: str, *, fwd: ArrayRule, vjp: ArrayRule,
         jvp: ArrayRule | Marker, **facts: Any) -> None:
    """Enter a row for a scan; its rules never see scalars or a negative ``dim``."""
    def tangent(xp: Namespace, t: Tangents, y: Array, x: Array, dim: int) -> Array:
        assert not isinstance(jvp, Marker)
        return jvp(xp, t[0], y, x, dim % x.ndim) if has_line(x, dim) else t[0]

    row(name, node=node, cases=ALONG, memory=PACKED, wide=True, **facts,
        fwd=lambda xp, x, dim: over_line(xp, fwd, x, dim_of(x.shape, dim)),
        vjp=(lambda xp, g, y, x, dim:
             vjp(xp, g, y, x, dim % x.ndim) if has_line(x, dim) else g,),
        jvp=LINEAR if jvp is LINEAR else tangent)


def over_line(xp: Namespace, fwd: ArrayRule, x: Array, dim: int) -> Array:
    """Return ``fwd`` along a dimension; a scalar is passed as a line of one entry."""
    if x.shape:
        return fwd(xp, x, dim)
    return xp.reshape(fwd(xp, xp.reshape(x, (1,)), dim), ())


def has_line(x: Array, dim: int) -> bool:
    """Return whether ``x`` has entries and is no scalar; raise if it has no ``dim``."""
    dim_of(x.shape, dim)
    return bool(x.shape) and 0 not in x.shape


scan("cumsum", "CumsumBackward0", formula="y[i] = x[0] + ... + x[i]",
     doc="Running sum along a dimension.",
     fwd=lambda xp, x, dim: xp.cumsum(x, dim),
     vjp=lambda xp, g, y, x, dim: xp.flip(xp.cumsum(xp.flip(g, dim), dim), dim),
     jvp=LINEAR, in_place=True, casts=True, also=("cumulative_sum",))

scan("cumprod", "CumprodBackward0", formula="y[i] = x[0] * ... * x[i]",
     in_place=True, casts=True, saves="x y",
     doc="Running product along a dimension; exact where entries are 0.",
     fwd=lambda xp, x, dim: xp.cumprod(x, dim),
     vjp=lambda xp, g, y, x, dim:
         preceding(xp, y, dim, 1) * backwards(xp, inner(xp, x, dim), g, dim),
     jvp=lambda xp, t, y, x, dim:
         recurrence(xp, inner(xp, x, dim), preceding(xp, y, dim, 1) * t, dim))

scan("logcumsumexp", "LogcumsumexpBackward0",
     refuses=WHOLES, saves="x y",
     formula="y[i] = log(exp(x[0]) + ... + exp(x[i]))",
     doc="Logarithm of the running sum of exponentials, without overflow.",
     fwd=lambda xp, x, dim: running(
         xp, lambda a, b: [xp.logaddexp(a[0], b[0])], (x,), dim)[0],
     vjp=lambda xp, g, y, x, dim: ratio(xp, x, y) * backwards(
         xp, ratio(xp, outer(xp, y, dim), inner(xp, y, dim)), g, dim),
     jvp=lambda xp, t, y, x, dim: recurrence(
         xp, ratio(xp, outer(xp, y, dim), inner(xp, y, dim)), ratio(xp, x, y) * t, dim))


def record_run(xp: Namespace, x: Array, dim: int, beats: ArrayRule
              ) -> tuple[Array, ...]:
    """Return the best entry up to each position, and its position; the last of ties."""
    if not has_line(x, dim):
        lone = [] if 0 in x.shape else [0]
        return x, xp.reshape(xp.as_index(lone), x.shape)

    def merge(old: Outputs, new: Outputs) -> list[Array]:
        won = xp.logical_or(beats(new[0], old[0]), xp.isnan(new[0]))
        return [xp.where(won, b, a) for a, b in zip(old, new, strict=True)]

    positions = xp.as_index(xp.cumsum(xp.ones_like(x), dim) - 1)
    return running(xp, merge, (x, positions), dim % x.ndim)


BY_POSITION: Rules = {
    "vjp": (lambda xp, g, y, x, dim=-1, **how:
            xp.call("gather.backward", g, y[1], x.shape, dim),),
    "jvp": lambda xp, t, y, x, dim=-1, **how: xp.gather(t[0], dim, y[1]),
    "returns": 2,
    "saves": "y.1",
}
"""Rules of rows that return entries along a dimension, and their positions."""


BY_RECORD: Rules = {**BY_POSITION, "saves": "x y.1"}
"""Rules of rows that return the best entry so far; PyTorch saves their input too."""


def records(name: str, node: str, word: str, comparison: str) -> None:
    row(name, node=node, memory=PACKED, **BY_RECORD,
        formula=f"y[i] = {name[3:]}(x[0], ..., x[i])",
        doc=f"The {word} entry so far, and where it stands.",
        kink="of equal entries the last carries the gradient",
        fwd=lambda xp, x, dim: record_run(xp, x, dim, getattr(xp, comparison)),
        cases=[case((3, 4), dim=0, make="distinct"), case((5,), dim=-1,
               make="distinct"), case((2, 3, 4), dim=1, make="distinct"),
               case((), dim=0)])


records("cummax", "CummaxBackward0", "largest", "ge")
records("cummin", "CumminBackward0", "smallest", "le")
