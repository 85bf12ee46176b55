"""`backward` and `grad` as PyTorch's users call them.

Invariant: arguments are brought into the engine's form here and nowhere else; every
number comes from `gradcli.engine.backward`.

    (g,) = grad(y, x, create_graph=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..engine.backward import grad as _grad
from ..engine.errors import NO_GRAD_FN, GradError
from ..engine.record import call
from ..engine.tensor import Tensor
from ..torch.passes import backward as _backward

One: TypeAlias = "Tensor | Sequence[Tensor]"
Cotangents: TypeAlias = "Tensor | Sequence[Tensor | None] | None"

UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in the graph. "
    "Set allow_unused=True if this is the desired behavior."
)
EMPTY_INPUTS = "`inputs` argument to `{}()` cannot be empty."


def backward(
    tensors: One,
    grad_tensors: Cotangents = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Cotangents = None,
    inputs: One | None = None,
) -> None:
    """Add the gradients of ``tensors`` to the leaves they were made from.

    Args:
        tensors: one tensor or several; their gradients are added up.
        grad_tensors: a cotangent per tensor, of its shape; None where that is ().
        retain_graph: keep saved values for another pass; as ``create_graph`` unless
            said otherwise.
        create_graph: record the pass itself, for second derivatives.
        grad_variables: an older name of ``grad_tensors``.
        inputs: add only to the gradients of these.
    """
    roots = _targets(tensors)
    given = grad_variables if grad_tensors is None else grad_tensors
    cotangents = _cotangents(given, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    targets = None if inputs is None else _targets(inputs)
    if targets is not None:
        if not targets:
            raise GradError(EMPTY_INPUTS.format("backward"))
        _demand_grad(targets)
    _backward(roots, cotangents, retain, create_graph, targets)


def grad(
    outputs: One,
    inputs: One,
    grad_outputs: Cotangents = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of the sum of ``outputs`` by ``inputs``; no leaf is touched.

    Args:
        outputs: one tensor or several.
        inputs: one tensor or several, leaves or values between.
        grad_outputs: a cotangent per output, of its shape; None where that is ().
        retain_graph: keep saved values for another pass; as ``create_graph`` unless
            said otherwise.
        create_graph: record the pass itself, for second derivatives.
        only_inputs: accepted and ignored, as in PyTorch.
        allow_unused: give None for an input that no output depends on.
        materialize_grads: give zeros for an input that no output depends on.

    Returns:
        One tensor per input, of its shape.

    Raises:
        GradError: a vector output without a cotangent, an output or an input without
            a graph, an unused input, or saved values that were freed.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("materialize_grads=True allows what is unused")
    roots, targets = _targets(outputs), _targets(inputs)
    if not targets:
        raise GradError(EMPTY_INPUTS.format("grad"))
    for index, root in enumerate(roots):
        if root.edge is None:
            raise GradError(NO_GRAD_FN.format(index))
    _demand_grad(targets)
    cotangents = _cotangents(grad_outputs, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    found: list[Tensor | None]
    found = _grad(roots, targets, cotangents, retain, create_graph)
    if materialize_grads:
        return tuple(
            call("zeros_like", x.detach()).requires_grad_(create_graph)
            if g is None
            else g
            for x, g in zip(targets, found, strict=True)
        )
    if not allow_unused and None in found:
        raise GradError(UNUSED.format(found.index(None)))
    return tuple(found)


def _targets(value: Any) -> list[Tensor]:
    """Return one tensor, or several, as a list."""
    found = [value] if isinstance(value, Tensor) else list(value)
    for x in found:
        if not isinstance(x, Tensor):
            raise TypeError(f"expected tensors, got {type(x).__name__}")
    return found


def _cotangents(value: Cotangents, count: int) -> list[Tensor | None]:
    if value is None:
        return [None] * count
    given: list[Tensor | None]
    given = [value] if isinstance(value, Tensor) else list(value)
    if len(given) != count:
        raise GradError(f"got {count} tensors and {len(given)} gradients")
    return given


def _demand_grad(targets: Sequence[Tensor]) -> None:
    for x in targets:
        if x.edge is None:
            raise GradError("One of the differentiated Tensors does not require grad")
