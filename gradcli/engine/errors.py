"""Errors of the engine. Each class is also the builtin that PyTorch raises there,
so that ``except RuntimeError`` keeps working; messages are PyTorch's where it has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from ..ops.checks import (
    EngineError,
    KindError,
    LimitError,
    NoSlope,
    ShapeError,
    UnknownSlope,
    ValueRangeError,
)

__all__ = [
    "FREED",
    "NOT_SCALAR",
    "NO_GRAD_FN",
    "CallError",
    "DeviceError",
    "EngineError",
    "GradError",
    "KindError",
    "LimitError",
    "NoSlope",
    "ShapeError",
    "UnknownSlope",
    "ValueRangeError",
]


class GradError(EngineError):
    """Error of a derivative pass that cannot be run as asked."""


class DeviceError(EngineError):
    """Error of a device that is missing, or of operands on two devices."""


class CallError(TypeError):
    """Error of a call that does not fit the function's parameters.

    ``given`` is the offending keyword or None, ``allowed`` the parameter names,
    ``way_out`` what to write instead, where that is known.
    """

    def __init__(
        self,
        message: str,
        allowed: tuple[str, ...],
        given: str | None = None,
        way_out: str = "",
    ) -> None:
        told = f"; {way_out}" if way_out else ""
        if given is not None and given not in allowed:
            told = f": {instead(given, allowed)}"
        super().__init__(message + told)
        self.message = message
        self.allowed = allowed
        self.given = given
        self.way_out = way_out


NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_GRAD_FN = "element {} of tensors does not require grad and does not have a grad_fn"
FREED = (
    "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward."
)


class LinAlgError(ValueRangeError):
    """Error of a matrix that has no inverse, or no factor of the kind asked for."""


OVERFLOW = "value cannot be converted to type {} without overflow"
"""Message on a number that a type cannot hold."""


# Words about keywords and names that do not exist.

Function = TypeVar("Function", bound=Any)

CLOSE_ENOUGH = 0.7
"""Least likeness of two names, from 0 to 1, at which one is proposed for another."""


def nearest(name: str, offered: Iterable[str]) -> str:
    """Return the question whether the nearest offered name was meant; "" if none is
    near."""
    from difflib import get_close_matches

    by_small = {known.lower(): known for known in sorted(offered)}
    close = get_close_matches(name.lower(), by_small, 1, CLOSE_ENOUGH)
    return f"did you mean {by_small[close[0]]!r}? " if close else ""


def instead(keyword: str, names: Sequence[str]) -> str:
    """Return what to write for a keyword that a function of these parameters lacks."""
    listed = f"its parameters are {', '.join(names)}" if names else "it has none"
    return f"{nearest(keyword, names)}{listed}"


def naming(function: Function) -> Function:
    """Return a function whose error for an unknown keyword names those that it has."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def run(*args: object, **kwargs: object) -> object:
        for name in kwargs:
            if name not in names:
                said = f"{function.__name__}() got an unexpected keyword argument"
                raise TypeError(f"{said} {name!r}: {instead(name, names)}")
        return function(*args, **kwargs)

    return cast(Function, run)
