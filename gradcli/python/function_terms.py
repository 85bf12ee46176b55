"""Terms and tapes for functions written in Python.

Invariant: a number never leaves a tensor unnoticed. A function that takes a number out,
writes it elsewhere or casts it to an integer raises `NoMeaning`. What a custom
function's ``forward`` computes is differentiated, though the engine records nothing
there.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, NoReturn

import numpy as np

from ..engine.raw import Host
from ..numbers.arrays import ObjectArray
from ..numbers.namespace import ObjectNamespace
from ..numbers.system import NoMeaning
from ..numbers.tape import TapeNamespace

LEFT: Final = (
    "a number leaves the tensors there (item(), tolist(), float(), numpy() or a "
    "write into an array), so what is made of it has no derivative to look at"
)
MADE_WHOLE: Final = "numbers are cast to {} there, which has no meaning on balls"


class _OfPython:
    """Methods that Python code needs of a namespace beside the table's functions."""

    watching: bool

    def floats(self, data: object) -> NoReturn:
        raise NoMeaning(LEFT)

    def integer(self, x: Any) -> int:
        return int(x) if not isinstance(x, ObjectArray) else self.floats(x)

    def stop(self, x: object) -> Any:
        """Return the same values, as constants unless a custom function's forward runs,
        which is differentiated, though it records nothing."""
        if not self.watching or not isinstance(x, ObjectArray):
            return x
        return super().stop(x)  # type: ignore[misc]

    def to_copy(
        self, x: object, dtype: Any, device: object, back: object = None
    ) -> Any:
        """Return a copy in another type; numbers become only floats or booleans."""
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
    """The namespace of terms for functions written in Python."""

    def elements(self, x: object) -> Host:
        """Return the numbers of an array as terms; plain floats become exact
        fractions."""
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
    """The namespace of a tape for functions written in Python."""
