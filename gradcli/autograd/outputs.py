"""The outputs of a custom function, put into the graph.

Invariant: an output is a tensor of its own: a returned argument comes back as another
tensor on the same memory, unless the function says that it changed it in place.
"""

from __future__ import annotations

from typing import Any

from ..engine.changes import demand_changeable, rebase
from ..engine.errors import GradError
from ..engine.node import AccumulateGrad
from ..engine.tensor import Tensor
from ..engine.versions import touch
from ..engine.views import demand_sturdy
from .context import FunctionCtx, edge_of
from .function_node import FunctionNode

DIRTY_LEAF = (
    "a leaf Variable that requires grad has been used in an in-place operation."
)
DIRTY_KEPT = (
    "Some elements marked as dirty during the forward method were not returned as "
    "output. The inputs that are modified inplace must all be outputs of the Function."
)
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your "
    "Function cannot return more than one Tensor. This is not supported by the current "
    "autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially "
    "splitting it into two Functions: one doing the inplace that returns a single "
    "Tensor and a second one that does the other operations)."
)


def attach(
    node: FunctionNode | None, ctx: FunctionCtx, args: tuple[object, ...], output: Any
) -> Any:
    """Return the result of ``apply``: the outputs of ``forward`` with their edges."""
    several = isinstance(output, tuple)
    parts = output if several else (output,)
    if not any(isinstance(part, Tensor) for part in parts):
        return output
    _check_dirty(ctx, parts)
    given = {id(x) for x in args}
    seen, numbers = set(given), dict[int, int | None]()
    result = []
    for index, part in enumerate(parts):
        number = index if len(parts) > 1 else None
        result.append(_placed(part, node, number, ctx, seen))
        seen.add(id(part))
        if id(part) not in given:
            numbers.setdefault(id(part), number)
    if node is not None:
        node.note_outputs(output)
        ctx.keep(node, numbers)
    return tuple(result) if several else result[0]


def _placed(
    part: object,
    node: FunctionNode | None,
    number: int | None,
    ctx: FunctionCtx,
    seen: set[int],
) -> object:
    """Return one output: itself or a tensor on its memory, with its edge."""
    if not isinstance(part, Tensor):
        return part
    if _is_among(part, ctx.dirty_tensors):
        return _changed(part, node, number)
    out = part.detach() if id(part) in seen or part.edge is not None else part
    graphless = node is None or not ctx.differentiates(part)
    out.edge = None if graphless else edge_of(node, number)
    return out


def _changed(t: Tensor, node: FunctionNode | None, number: int | None) -> Tensor:
    """Return an argument that was changed in place, with all that share its memory."""
    touch(t.raw)
    if node is not None:
        if not t._is_view() and isinstance(t.edge, AccumulateGrad):
            raise GradError(DIRTY_LEAF)
        demand_changeable(t)
        demand_sturdy(t)
        rebase(t, edge_of(node, number))
    return t


def _check_dirty(ctx: FunctionCtx, parts: tuple[object, ...]) -> None:
    for t in ctx.dirty_tensors:
        if not _is_among(t, parts):
            raise GradError(DIRTY_KEPT)
        if t._is_view() and len(parts) > 1:
            raise GradError(DIRTY_VIEW)


def _is_among(t: Tensor, tensors: tuple[object, ...]) -> bool:
    return any(t is other for other in tensors)
