"""The head of a constructor: what every layer with options does before anything else.

Invariant: a constructor under `head` begins as a module whose attributes are its
parameters, as they were given; the body that is written out checks them, and makes the
layer's own tensors with `add_parameters`.

    class Linear(Module):
        @head("bias")
        def __init__(self, inputs, outputs, bias=True, device=None, dtype=None):
            add_parameters(self, device, dtype, weight=(outputs, inputs),
                           bias=(outputs,) if bias else None)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..engine.creation import empty
from ..engine.signatures import Parameters
from .module import Module
from .parameter import Parameter

F = TypeVar("F", bound=Callable[..., None])

PLACE = ("device", "dtype")
"""Parameters that say where tensors are made, and are no attributes."""


def head(*left_out: str) -> Callable[[F], F]:
    """Let a constructor set its parameters as attributes before its body runs.

    Args:
        left_out: parameters that are no attributes, beside the place of tensors.
    """

    def declared(init: F) -> F:
        signature = inspect.signature(init)
        parameters = Parameters("", list(signature.parameters.values())[1:], own=1)
        kept = [n for n in parameters.defaults if n not in (*PLACE, *left_out)]

        @wraps(init)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            mro: Any = type(self).__mro__
            at = next(i for i, c in enumerate(mro) if vars(c).get("__init__") is run)
            try:
                given = parameters.bind(args, kwargs)
            except TypeError as misfit:
                raise TypeError(f"{_shown(mro[: at + 1])}.__init__{misfit}") from None
            super(mro[at], self).__init__()
            for name in kept:
                object.__setattr__(self, name, given[name])
            init(self, **given)

        return run  # type: ignore[return-value]  # with the constructor's signature

    return declared


def _shown(classes: tuple[type, ...]) -> str:
    """The class that users see: the one of a constructor, or a public one below it."""
    public = [c.__name__ for c in classes if not c.__name__.startswith("_")]
    return public[-1] if public else classes[-1].__name__


def add_parameters(
    module: Module, device: Any, dtype: Any, **shapes: tuple[int, ...] | None
) -> None:
    """Register parameters of given shapes, to be filled; None: a name without one."""
    for name, shape in shapes.items():
        made = None
        if shape is not None:
            made = Parameter(empty(shape, device=device, dtype=dtype))
        module.register_parameter(name, made)
