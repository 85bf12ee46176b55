"""Operators and methods of tensors, put in place from the table.

Invariant: a method is the public function of its name with the tensor as its first
argument; an operator is the row or function named here and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import ALIASES, FUNCTIONS, OPS
from .record import binary, call, function
from .tensor import Tensor, constant


def install() -> None:
    """Give `Tensor` its operators; called once when the engine is imported."""
    add, sub, mul = binary(OPS["add"]), binary(OPS["sub"]), binary(OPS["mul"])
    div = binary(OPS["div.Tensor"])
    members: dict[str, Callable[..., Any]] = {
        "__add__": add,
        "__radd__": add,
        "__sub__": sub,
        "__mul__": mul,
        "__rmul__": mul,
        "__truediv__": div,
        "__rsub__": _reflected_sub,
        "__rtruediv__": lambda x, other: call("div", other, x),
        "__neg__": function("neg"),
        "__pos__": lambda x: x,
        "__pow__": function("pow"),
        "__rpow__": lambda x, other: call("pow", other, x),
    }
    for name, member in members.items():
        setattr(Tensor, name, member)


def _reflected_sub(x: Tensor, other: Any) -> Tensor:
    if isinstance(other, int | float):
        return call("rsub.Scalar", x, number=other)  # type: ignore[no-any-return]
    return call("sub", constant(other), x)  # type: ignore[no-any-return]


def method(name: str) -> Callable[..., Any] | None:
    """The public function behind ``tensor.name(...)``."""
    name = ALIASES.get(name, name)
    return function(name) if name in FUNCTIONS else None
