"""`Tensor.backward`, which adds gradients to leaves or to chosen tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.backward import accumulate_gradients
from ..engine.errors import EngineError
from ..engine.modes import MODE
from ..engine.tensor import Tensor
from .node_hooks import retain_grad

INSIDE = (
    "backward() called inside a functorch transform. This is not supported, please use "
    "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
    "transforms."
)


def backward(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    """Accumulate the gradients of ``outputs`` into their leaves, or into ``inputs``."""
    if MODE.traces:
        raise EngineError(INSIDE)
    for x in inputs or ():
        retain_grad(x)
    ends = None if inputs is None else [x.edge for x in inputs]
    accumulate_gradients(outputs, gradients, retain_graph, create_graph, ends)


def backward_of(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradient of this tensor to the leaves it was made from.

    Args:
        gradient: the cotangent, of this tensor's shape; may be left out where that
            has one entry.
        retain_graph: keep saved values for another pass; None: as ``create_graph``.
        create_graph: record the pass itself, for second derivatives.
        inputs: the tensors to reach; None: all leaves.
    """
    if retain_graph is None:
        retain_graph = create_graph
    if inputs is not None:
        inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
        if not inputs:
            raise EngineError("`inputs` argument to `backward` cannot be empty.")
    backward([self], [gradient], retain_graph, create_graph, inputs)
