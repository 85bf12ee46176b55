"""Python's operators on the numbers of a number system.

Invariant: an operator is the function of the table that it is named after in
`ops.basis`, of the operands in their order.

    put_on(Tree, lambda name: lambda tree, *both: tree.xp.operate(name, *both))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.basis import COMPARISONS, OPERATORS, UNARY


def put_on(kind: type, applying: Callable[[str], Callable[..., Any]]) -> None:
    """Give a class all operators.

    Args:
        applying: for a function's name what applies it; that is given the number whose
            operator it is, and then the operands.
    """
    for own, name in OPERATORS.items():
        _put(kind, own, applying(name))


def _put(kind: type, own: str, apply: Callable[..., Any]) -> None:
    setattr(kind, f"__{own}__", lambda self, *other: apply(self, self, *other))
    if own not in (*COMPARISONS, *UNARY):
        setattr(kind, f"__r{own}__", lambda self, other: apply(self, other, self))
