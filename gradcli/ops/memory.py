"""What in-place changes and moves of memory leave in the graph.

Invariant: positions count the entries of the flattened tensor; ``copy_slices`` writes
at positions where ``as_strided`` reads, so that the two are each other's rule.

    y[1:] = x          # CopySlices(y before, x)
    y[:2].mul_(3)      # CopySlices(y before, the product); y[:2] is read from it anew
"""

from __future__ import annotations

from math import prod
from typing import Any

from .op import GIVEN, LINEAR, case, row
from .shape import Shape, sum_to

# fmt: off


def written(xp: Any, x: Any, src: Any, at: Any) -> Any:
    """``x`` with ``src``, which broadcasts, at positions that name no entry twice."""
    at = xp.as_index(at)
    flat = (prod(x.shape),)
    put = xp.put_view(flat, (at,), xp.expand(src, at.shape))
    mark = xp.put_view(flat, (at,), xp.new_full(src, at.shape, 1))
    return xp.where(xp.ne(xp.reshape(mark, x.shape), 0), xp.reshape(put, x.shape), x)


def kept(xp: Any, g: Any, at: Any) -> Any:
    """The cotangent of what was not overwritten."""
    nothing = xp.new_full(g, (), 0)
    return xp.call("copy_slices.positions", g, nothing, at)


def writing(name: str, node: str, doc: str) -> None:
    row(name, node=node, doc=doc, formula="y[at] = src", jvp=LINEAR,
        fwd=lambda xp, x, src, at: written(xp, x, src, at),
        vjp=(lambda xp, g, y, x, src, at: kept(xp, g, at),
             lambda xp, g, y, x, src, at: sum_to(
                 xp, xp.call("as_strided.positions", g, at), src.shape)),
        cases=[case((2, 3), (2,), at=[1, 5]), case((2, 3), (), at=[[0, 1], [3, 4]]),
               case((3,), (1,), at=[2, 0])])


writing("copy_slices.positions", "CopySlices", "A part of a tensor overwritten.")
writing("index_put.positions", "IndexPutBackward0",
        "Entries overwritten at a list of positions or where a mask is true.")


def read(xp: Any, x: Any, at: Any) -> Any:
    return xp.getitem(xp.reshape(x, (prod(x.shape),)), (xp.as_index(at),))


row("as_strided.positions", node="AsStridedBackward0", jvp=LINEAR,
    doc="A view of a tensor that was changed in place, read from it anew.",
    formula="y = x[at]", fwd=read,
    vjp=(lambda xp, g, y, x, at: xp.call("as_strided.backward", g, at, x.shape),),
    cases=[case((2, 3), at=[1, 5]), case((3,), at=[[2], [0]])])


def added(xp: Any, x: Any, at: Any, input_sizes: Shape) -> Any:
    flat = xp.put_add((prod(input_sizes),), (xp.as_index(at),), x)
    return xp.reshape(flat, input_sizes)


row("as_strided.backward", node="AsStridedBackwardBackward0", jvp=LINEAR,
    doc="Zeros with the cotangent added at positions.", formula="y[at] += g",
    fwd=added,
    vjp=(lambda xp, g, y, x, at, input_sizes:
         xp.call("as_strided.positions", g, at),),
    cases=[case((2,), at=[1, 5], input_sizes=(2, 3))])

row("copy_.default", node="CopyBackwards", jvp=LINEAR, formula="y = src",
    doc="A tensor overwritten by another, which broadcasts.",
    fwd=lambda xp, x, src: xp.expand(xp.as_type_of(src, x), x.shape),
    vjp=(lambda xp, g, y, x, src: xp.zeros_like(g),
         lambda xp, g, y, x, src: sum_to(xp, g, src.shape)),
    cases=[case((2, 3), (2, 3)), case((2, 3), (3,)), case((), ())])


def overwriting(name: str, node: str) -> None:
    row(name, node=node, jvp=LINEAR, formula="y = value",
        doc="A tensor overwritten by one number.",
        fwd=lambda xp, x, value: xp.new_full(x, x.shape, value),
        vjp=(lambda xp, g, y, x, value: xp.zeros_like(g),),
        cases=[case((2, 3), value=0.0)])


overwriting("zero_.default", "ZeroBackward0")
overwriting("fill_.Scalar", "FillBackward2")
overwriting("fill_.Tensor", "FillBackward3")

row("to_copy.default", node="ToCopyBackward0", jvp=LINEAR, result=GIVEN,
    formula="y = x",
    doc="A copy of another type or on another device; ``back`` leads home.",
    fwd=lambda xp, x, dtype, device, back: xp.to_copy(x, dtype, device),
    vjp=(lambda xp, g, y, x, dtype, device, back:
         xp.to_copy(g, *back, (dtype, device)),),
    cases=[case((2, 3), dtype=None, device=None, back=(None, None)),
           case((), dtype=None, device=None, back=(None, None))])
