"""Tensors made in inference mode: they may be computed with, but never saved.

Invariant: a tensor is an inference tensor exactly if its namespace is a *twin*, which
computes what the namespace itself does. So an operation on normal tensors pays nothing
to find out, and a mixed one meets two different namespaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import GradError
from .modes import MODE
from .namespace import Namespace
from .node import Node
from .saved import used_parts

NOT_FOR_BACKWARD = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created "
    "in inference mode in computation tracked by autograd. To work around this, you "
    "can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)

_TWINS: dict[int, object] = {}


def inference_was_used() -> bool:
    """Return whether a twin exists at all."""
    return bool(_TWINS)


def plain_namespace(xp: Namespace) -> Namespace:
    """Return the namespace itself, of a twin or of any other."""
    return xp.plain_namespace if xp.inference else xp


def present_namespace(xp: Namespace) -> Any:
    """Return the namespace of new tensors: in inference mode, the twin."""
    xp = plain_namespace(xp)
    if not MODE.inference:
        return xp
    twin = _TWINS.get(id(xp))
    if twin is None:
        twin = object.__new__(type(xp))
        twin.__dict__.update(xp.__dict__)
        twin.inference, twin.plain = True, False
        twin.plain_namespace = xp
        _TWINS[id(xp)] = twin
    return twin


def refuse_inference_tensors(node: Node, inputs: Sequence[Any]) -> None:
    """Refuse to record a node whose rules would read an inference tensor.

    Raises:
        GradError: in PyTorch's words, which name the way out.
    """
    if any(inputs[i].xp.inference for i in used_parts(node).inputs
           if hasattr(inputs[i], "xp")):  # fmt: skip
        raise GradError(NOT_FOR_BACKWARD)
