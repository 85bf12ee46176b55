"""What layers with parameters are declared by: constructor, function and text.

Invariant: a constructor under `head` begins as a module whose attributes are its
parameters, as they were given; the body that is written out checks them, and makes the
layer's own tensors with `add_parameters`. What a layer applies and says of itself is
read from its attributes at each call.

    class Linear(Module):
        @head("bias")
        def __init__(self, inputs, outputs, bias=True, device=None, dtype=None):
            add_parameters(self, device, dtype, weight=(outputs, inputs),
                           bias=(outputs,) if bias else None)

        forward = applying(F.linear)        # F.linear(input, self.weight, self.bias)
        extra_repr = saying("{inputs}, {outputs}", bias=True)
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter
from operator import attrgetter
from typing import Any, TypeVar

from ..engine.creation import empty
from ..engine.signatures import Parameters, described
from . import parameter
from .module import Module

Function = Callable[..., object]
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
        def run(self: object, *args: object, **kwargs: object) -> None:
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
    """Name the class that users see: that of a constructor, or a public one below."""
    public = [c.__name__ for c in classes if not c.__name__.startswith("_")]
    return public[-1] if public else classes[-1].__name__


def applying(
    function: Function,
    operands: int = 1,
    options: Sequence[str] | None = None,
    *,
    parameters: Sequence[Parameter] | None = None,
    owner: str | None = None,
) -> Function:
    """A ``forward`` that applies a function to its operands and to attributes.

    Args:
        function: what is applied.
        operands: how many of its parameters ``forward`` takes.
        options: the attributes, named as parameters; None: all other parameters.
        parameters: the function's; None: as its signature says.
        owner: the class's name; None: the class whose body this is called in.
    """
    if parameters is None:
        parameters = parameters_of(function)
    others = [each.name for each in parameters[operands:]]
    names = others if options is None else list(options)
    in_order = names == others[: len(names)] and not any(
        each.kind is each.KEYWORD_ONLY for each in parameters
    )
    taken = parameters[:operands]
    attributes = _getter(names)

    def forward(self: Any, *inputs: Any, **named: Any) -> Any:
        if named or len(inputs) != operands:
            bind = Parameters(f"{type(self).__name__}.forward", taken, own=1).bind
            inputs = tuple(bind(inputs, named).values())
        if in_order:
            return function(*inputs, *attributes(self))
        return function(*inputs, **dict(zip(names, attributes(self), strict=True)))

    if owner is None:
        owner = sys._getframe(1).f_locals["__qualname__"]
    return described(forward, owner, "forward", taken)


def parameters_of(function: Function) -> list[Parameter]:
    """A function's parameters but for ``out``, which no layer has."""
    every = inspect.signature(function).parameters.values()
    return [each for each in every if each.name != "out"]


def _getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """The values of an object's attributes, always as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda each: tuple([getattr(each, name) for name in names])


def saying(text: str, **usual: object) -> Callable[[Module], str]:
    """An ``extra_repr`` that fills in attributes.

    Args:
        text: a format, with attributes by name; ``bias`` is whether there is one.
        usual: attributes that are shown only where they are not as usual; a tuple is
            where all of its entries are.
    """

    def extra_repr(self: Module) -> str:
        values = _Attributes(self)
        parts = [text.format_map(values)] if text else []
        for name, default in usual.items():
            value = values[name]
            if value != default and {*_entries(value)} != {default}:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

    return extra_repr


class _Attributes(dict[str, object]):
    """A module's attributes by name, a bias as whether there is one."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def __missing__(self, name: str) -> object:
        value = getattr(self.module, name)
        has_none_or_one = name == "bias" and not isinstance(value, bool)
        return value is not None if has_none_or_one else value


def _entries(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else ()


def add_parameters(
    module: Module, device: object, dtype: object, **shapes: tuple[int, ...] | None
) -> None:
    """Register parameters of given shapes, to be filled; None: a name without one."""
    for name, shape in shapes.items():
        made = None
        if shape is not None:
            made = parameter.Parameter(empty(shape, device=device, dtype=dtype))
        module.register_parameter(name, made)
