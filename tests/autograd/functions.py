"""Tensors and custom Functions that several tests make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradcli as torch
from gradcli.autograd import Function


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def backward_of(forward: Any) -> Callable[[Any], Any]:
    """Make a Function of a backward, whose forward saves its arguments."""

    def run(ctx: Any, *given: Any) -> Any:
        ctx.save_for_backward(*given)
        return forward(*given)

    def made(backward: Any) -> Any:
        body = {"forward": staticmethod(run), "backward": staticmethod(backward)}
        return type(backward.__name__, (Function,), body)

    return made
