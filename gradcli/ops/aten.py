"""The rows under PyTorch's names of operators, as ``aten.mm.default``.

Invariant: a row has the overload's name after the dot where it has one; a row without a
dot is whatever overload its operation is asked for by.
"""

from __future__ import annotations

from .op import OPS, Op


class Overloads:
    """An operator; its attributes are its rows."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> Op:
        for name in (f"{self._name}.{overload}", self._name):
            if name in OPS:
                return OPS[name]
        raise AttributeError(f"aten.{self._name} has no overload {overload!r}")


def __getattr__(name: str) -> Overloads:
    if not any(op.base == name for op in OPS.values()):
        raise AttributeError(f"aten has no operator {name!r}")
    return Overloads(name)
