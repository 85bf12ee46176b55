"""Views as copies: the same reading, into memory of the result's own.

Invariant: a row here has the formula, the rules and the cases of the view's row.

    t_copy(x)       # TBackward0_copy: the transpose, which x shares no memory with
"""

from __future__ import annotations

from math import prod

from .index import narrow_at
from .memory import as_strided_how
from .op import LINEAR, OPS, PACKED, case, function, row
from .shape import sizes_of, squeezing

# fmt: off

COPY = "{} In memory of its own."


def copying(name: str, of: str) -> None:
    """Enter the row of a view again, as a copy."""
    view = OPS[of]
    row(name, node=f"{view.node}_copy", memory=PACKED, fwd=view.fwd, vjp=view.vjp,
        jvp=view.jvp, saves=view.saves, returns=view.returns, star=view.star,
        cases=view.cases[:2], doc=COPY.format(view.doc), formula=view.formula)


for _name in ("alias", "t", "transpose", "permute", "expand", "unsqueeze", "unfold",
              "select", "unbind", "split_with_sizes"):
    copying(f"{_name}_copy", _name)
for _name in ("squeeze.default", "squeeze.dim", "squeeze.dims", "split.Tensor",
              "slice.Tensor", "view.default", "as_strided.default"):
    copying(_name.replace(".", "_copy."), _name)

function("squeeze_copy", squeezing("squeeze_copy"), operands=("x",),
         cases=[case((1, 3, 1)), case((1, 3, 1), dim=0)])
function("split_copy", lambda call, x, split_size, dim=0:
         tuple(call("split_copy.Tensor", x, split_size, dim)), operands=("x",),
         cases=[case((5, 2), split_size=2)])
function("slice_copy", lambda call, x, dim=0, start=None, end=None, step=1:
         call("slice_copy.Tensor", x, dim, start, end, step), operands=("x",),
         cases=[case((5, 3), start=1, step=2)])
function("view_copy", lambda call, x, size:
         call("view_copy.default", x, sizes_of(size, prod(x.shape))), operands=("x",),
         cases=[case((3, 4), size=(4, 3))])
function("as_strided_copy", lambda call, x, size, stride, storage_offset=None:
         call("as_strided_copy.default", x,
              *as_strided_how(call, x, size, stride, storage_offset)),
         operands=("x",), cases=[case((3, 4), size=(2, 2), stride=(4, 1))])

row("narrow_copy", node="NarrowCopyBackward0", jvp=LINEAR, memory=PACKED,
    doc="A stretch of a dimension, in memory of its own.",
    formula="y[..., i, ...] = x[..., start + i, ...]",
    fwd=lambda xp, x, dim, start, length:
    xp.call("slice.Tensor", x, *narrow_at(x, dim, start, length)),
    vjp=(lambda xp, g, y, x, dim, start, length: xp.call(
        "slice.backward", g, x.shape, *narrow_at(x, dim, start, length), 1),),
    cases=[case((5, 3), dim=0, start=1, length=2),
           case((5, 3), dim=-1, start=-2, length=2)])
