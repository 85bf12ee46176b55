"""The pure number system: 50 digits, or as many as are asked for, and no symbols.

Invariant: an input's float is taken as the exact number it is; a program's own
constants as what was written (see `gradcli.numbers.system.exact`).

    xp = ObjectNamespace(Numbers())
    x = Tensor(xp.exactly(np.array([0.1])), xp, requires_grad=True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .precision import EXACT, guarded
from .scalars import SCALARS
from .system import RELATIONS, Number, exact, to_context


class Numbers:
    """Elements are numbers of one precision and nothing else."""

    def __init__(self, context: Any = EXACT) -> None:
        self.context = context

    def lift(self, number: Number) -> Any:
        return to_context(self.context, exact(number))

    def apply(self, name: str, *elements: Any) -> Any:
        return guarded(self.context, SCALARS[name].number, *elements)

    def total(self, elements: Sequence[Any]) -> Any:
        return guarded(self.context, SCALARS["total"].number, *elements)

    def value(self, element: Any) -> Any:
        return element

    def slack(self, element: Any) -> Any:
        return self.context.zero

    def rounded(self, element: Any) -> Any:
        return element

    def compare(self, relation: str, a: Any, b: Any) -> bool:
        return bool(RELATIONS[relation](a, b))

    def fixed(self, element: Any, value: Number) -> Any:
        return to_context(self.context, value)

    def choice(self, pick: Callable[[], Any]) -> Any:
        return pick()

    def stop(self, element: Any) -> Any:
        return element

    def kink(self, element: Any, what: str) -> None:
        """A number alone has no derivative to speak of."""
