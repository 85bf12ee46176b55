"""The outputs of a custom function, put into the graph.

Invariant: an output is a tensor of its own: a returned argument comes back as another
tensor on the same memory, unless the function says that it changed it in place.
"""

from __future__ import annotations

from typing import Any

from ..engine.errors import GradError
from ..engine.node import AccumulateGrad
from ..engine.tensor import Tensor
from .context import FunctionCtx, edge_of
from .function_node import FunctionNode

DIRTY_LEAF = (
    "a leaf Variable that requires grad has been used in an in-place operation."
)


def attach(
    node: FunctionNode | None, ctx: FunctionCtx, args: tuple[Any, ...], output: Any
) -> Any:
    """What ``apply`` returns: the outputs of ``forward`` with their edges."""
    several = isinstance(output, tuple)
    parts = output if several else (output,)
    if not any(isinstance(part, Tensor) for part in parts):
        return output
    numbers: dict[int, int | None] = {}
    seen = {id(x) for x in args if isinstance(x, Tensor)}
    result = []
    for place, part in enumerate(parts):
        number = place if len(parts) > 1 else None
        result.append(_placed(part, node, number, ctx, seen))
        numbers.setdefault(id(part), number)
        seen.add(id(part))
    if node is not None:
        node.note_outputs(output)
        ctx.keep(node, {key: n for key, n in numbers.items() if _is_new(key, args)})
    return tuple(result) if several else result[0]


def _is_new(key: int, args: tuple[Any, ...]) -> bool:
    return all(key != id(x) for x in args)


def _placed(
    part: Any,
    node: FunctionNode | None,
    number: int | None,
    ctx: FunctionCtx,
    seen: set[int],
) -> Any:
    """One output: itself or a tensor on its memory, with its edge."""
    if not isinstance(part, Tensor):
        return part
    if any(part is t for t in ctx.dirty_tensors):
        if node is not None and isinstance(part.edge, AccumulateGrad):
            raise GradError(DIRTY_LEAF)
        out = part
    else:
        out = part.detach() if id(part) in seen or part.edge is not None else part
    if node is None or not ctx.differentiates(part):
        if out is not part or not any(part is t for t in ctx.dirty_tensors):
            out.edge = None
        return out
    out.edge = edge_of(node, number)
    return out
