"""Terms and tapes for functions written in Python, which may leave the tensors.

Invariant: a number never leaves a tensor unseen. A function that asks for one, that
writes it elsewhere or makes it whole has no meaning here, and is told so; what is
computed in a custom function's ``forward`` is differentiated, though the engine records
nothing there.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, NoReturn

import numpy as np

from ..engine.raw import Host
from ..numbers.arrays import ObjectArray
from ..numbers.namespace import ObjectNamespace
from ..numbers.system import NoMeaning
from ..numbers.taped import TapeNamespace

LEFT: Final = (
    "a number leaves the tensors there (item(), tolist(), float(), numpy() or a "
    "write into an array), so what is made of it has no derivative to look at"
)
MADE_WHOLE: Final = "numbers are cast to {} there, which has no meaning on balls"


class _OfPython:
    """The functions that Python asks of a namespace beside the table's names."""

    watching: bool

    def floats(self, data: object) -> NoReturn:
        raise NoMeaning(LEFT)

    def integer(self, x: Any) -> int:
        return int(x) if not isinstance(x, ObjectArray) else self.floats(x)

    def stop(self, x: object) -> Any:
        """Return the same values; in a custom function nothing is recorded in any
        case."""
        if not self.watching or not isinstance(x, ObjectArray):
            return x
        return super().stop(x)  # type: ignore[misc]

    def to_copy(
        self, x: object, dtype: Any, device: object, back: object = None
    ) -> Any:
        """Copy; truth values may become numbers, numbers nothing but floats."""
        copied = super().to_copy(x, dtype, device, back)  # type: ignore[misc]
        if dtype is None:
            return copied
        kind = np.dtype(dtype).kind
        if not isinstance(x, ObjectArray):
            cast = copied.astype(dtype)
            return self.array(cast) if kind == "f" else cast  # type: ignore[attr-defined]
        if kind == "b":
            return self.ne(x, 0)  # type: ignore[attr-defined]
        if kind != "f":
            raise NoMeaning(MADE_WHOLE.format(dtype))
        return copied


class FunctionTerms(_OfPython, ObjectNamespace):
    """The basis over terms."""

    def elements(self, x: object) -> Host:
        """Return the numbers of an array; those of plain arrays are exactly their
        floats."""
        exact = np.asarray(x) if isinstance(x, np.ndarray | np.generic) else None
        if exact is None or exact.dtype.kind != "f":
            return super().elements(x)
        lift = self.system.lift
        data = np.empty(exact.shape, dtype=object)
        numbers = exact.reshape(-1).tolist()
        data.reshape(-1)[:] = [
            lift(Fraction(n) if np.isfinite(n) else n) for n in numbers
        ]
        return data


class FunctionTape(_OfPython, TapeNamespace):
    """The basis over a tape."""
