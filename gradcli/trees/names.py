"""Names that no two things have.

names = Names(reserved)
names.take("y"), names.take("y")        # ("y", "y_2")
"""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Hands out names; none twice, and none that is reserved."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """The name itself, or with a number behind it."""
        return self._free(wanted, wanted + "_", 1)

    def step(self) -> str:
        """The next of t1, t2, ..."""
        return self._free("", "t", 0)

    def _free(self, name: str, stem: str, number: int) -> str:
        """``name``, or the stem with the first number above ``number`` that is free."""
        number = max(number, self._last.get(stem, 0))
        while not name or name in self._taken:
            number += 1
            name = f"{stem}{number}"
        self._last[stem] = number
        self._taken.add(name)
        return name
