"""Modules declared by a function and a constructor's parameters.

Invariant: the parameters of ``__init__`` are the attributes, and in their order what
the function takes after the input; the body that is written out holds checks alone.

    class LeakyReLU(Applied):
        function = F.leaky_relu

        @attributes
        def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
            '''Nothing to check.'''
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from ..engine.tensor import Tensor
from .module import Module

F = TypeVar("F", bound=Callable[..., None])


def attributes(init: F) -> F:
    """Let a constructor set its parameters as attributes, after its own checks."""
    signature = inspect.signature(init)
    names = tuple(signature.parameters)[1:]

    @wraps(init)
    def run(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except TypeError as problem:
            raise TypeError(_named(str(problem), init, self)) from None
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        Module.__init__(self)
        for name in names:
            setattr(self, name, bound.arguments[name])

    run.attributes = names  # type: ignore[attr-defined]  # what `Applied` asks for
    return run  # type: ignore[return-value]  # with the constructor's signature


def _named(words: str, init: Any, module: Any) -> str:
    """An error's words with the class that the user sees in place of a base."""
    owner, _, rest = str(init.__qualname__).partition(".")
    shown = type(module).__name__ if owner.startswith("_") else owner
    return words.replace(f"{owner}.{rest}", f"{shown}.{rest}")


class Applied(Module):
    """A function of one input with options, as a module.

    ``shown`` formats what the module says of itself; None: all options by name, and
    ``inplace`` where it is set.
    """

    function: ClassVar[Callable[..., Any]]
    options: ClassVar[tuple[str, ...]] = ()
    shown: ClassVar[str | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own: Any = cls.__dict__.get("__init__")
        if hasattr(own, "attributes"):
            cls.options = own.attributes

    def forward(self, input: Tensor) -> Any:
        return type(self).function(input, *[getattr(self, n) for n in self.options])

    def extra_repr(self) -> str:
        if self.shown is not None:
            return self.shown.format_map(self.__dict__)
        parts = [f"{n}={getattr(self, n)}" for n in self.options if n != "inplace"]
        if self.__dict__.get("inplace"):
            parts.append("inplace=True")
        return ", ".join(parts)
