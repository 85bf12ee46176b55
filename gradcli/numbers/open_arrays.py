"""The basis of the table's vocabulary on open terms: masks are arrays of terms, too.

Invariant: what the language reads out of an array as a plain number or a truth value
becomes a condition; what stays in arrays is decided by the code.

    xp = OpenNamespace(OpenTerms(most=1000))
    xp.where(xp.gt(x, 0), x, 0)         # a term that selects
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import inf
from typing import Any, Final

import numpy as np

from .arrays import OBJECT, ObjectArray, boxed
from .matrices import SMALL
from .namespace import Dims, ObjectNamespace, are_indices
from .open_terms import CHOICES, TRUTHS, OpenTerms

_LOGIC: Final = ("logical_and", "logical_or", "logical_xor", "logical_not")


class OpenArray(ObjectArray):
    """An array of terms; ``mask``: its terms are truth values."""

    __slots__ = ("mask",)

    def __init__(self, data: Any, namespace: Any, mask: bool = False) -> None:
        super().__init__(data, namespace)
        self.mask = mask

    @property
    def dtype(self) -> Any:
        return np.dtype(bool) if self.mask else OBJECT

    def __bool__(self) -> bool:
        return bool(self.__gradcli_namespace__.truth(self))

    def item(self) -> Any:
        return self._values().item()

    def _like(self, data: Any) -> OpenArray:
        return OpenArray(boxed(data), self.__gradcli_namespace__, self.mask)

    def _values(self) -> Any:
        """What is read as plain numbers is held to them."""
        if self.mask:
            return self.__gradcli_namespace__.truth(self)
        system = self.__gradcli_namespace__.system
        for element in self.data.flat:
            system.fixed(element, float(element.value))
        return super()._values()


class OpenNamespace(ObjectNamespace):
    """The basis over `OpenTerms`."""

    system: OpenTerms

    writeable = False

    def __init__(self, system: OpenTerms) -> None:
        super().__init__(system)
        for name in CHOICES.keys() - {"select"}:
            setattr(self, name, self._numeric(partial(system.apply, name)))
        for name in TRUTHS.keys() - set(_LOGIC):
            setattr(self, name, self._truths(partial(system.apply, name)))
        for name in _LOGIC:
            setattr(self, name, self._truths(partial(self._combined, name)))

    def own(self, data: Any) -> OpenArray:
        """An array of terms as one of this namespace's."""
        return OpenArray(boxed(data), self)

    _of = own

    def arranged(self, data: Any, source: ObjectArray) -> OpenArray:
        return self.own(data)

    def stop(self, x: Any) -> OpenArray:
        return self.own(np.frompyfunc(self.system.stop, 1, 1)(self.elements(x)))

    def _truths(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Elements to a mask: plain where nothing depends on an input."""

        def run(*operands: Any) -> Any:
            arrays = [self.elements(o) for o in operands]
            return self._mask_of(np.frompyfunc(rule, len(arrays), 1)(*arrays))

        return run

    def _mask_of(self, data: Any) -> Any:
        data = boxed(data)
        if all(term.constant for term in data.flat):
            flat = [bool(term.value) for term in data.flat]
            return np.array(flat, dtype=bool).reshape(data.shape)
        return OpenArray(data, self, mask=True)

    def _combined(self, name: str, *elements: Any) -> Any:
        return self.system.apply(name, *[self.system.truth(e) for e in elements])

    def truth(self, x: Any) -> Any:
        if not isinstance(x, ObjectArray):
            return np.asarray(x)
        flat = [self.system.decide(term) for term in x.data.flat]
        return np.array(flat, dtype=bool).reshape(x.shape)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        plain = not isinstance(condition, ObjectArray)
        if plain or are_indices(a, b):
            return super().where(condition, a, b)
        which = np.frompyfunc(self.system.truth, 1, 1)(self.elements(condition))
        select = partial(self.system.apply, "select")
        picked = np.frompyfunc(select, 3, 1)(which, self.elements(a), self.elements(b))
        return self._of(picked)

    def finite_or(self, instead: Sequence[float], x: Any) -> Any:
        nan, above, below = instead
        x = self.where(self.isnan(x), nan, x)
        x = self.where(self.eq(x, inf), above, x)
        return self.where(self.eq(x, -inf), below, x)

    def nan_to_num(
        self, x: Any, nan: float, posinf: float | None, neginf: float | None
    ) -> Any:
        largest = float(np.finfo(np.float64).max)
        above = largest if posinf is None else posinf
        below = -largest if neginf is None else neginf
        return self.finite_or((nan, above, below), self.array(x))

    def amax(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self._reduce(partial(self._chain, "maximum"), x, dim, keepdim)

    def amin(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self._reduce(partial(self._chain, "minimum"), x, dim, keepdim)

    def _chain(self, name: str, row: list[Any]) -> Any:
        if not row:
            raise ValueError("the largest or smallest of no entries is not defined")
        return reduce(partial(self.system.apply, name), row)

    def all(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self._quantified("logical_and", x, dim, keepdim)

    def any(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self._quantified("logical_or", x, dim, keepdim)

    def _quantified(self, name: str, x: Any, dim: Dims, keepdim: bool) -> Any:
        none = self.system.lift(name == "logical_and")

        def rule(row: list[Any]) -> Any:
            return reduce(partial(self._combined, name), row, none)

        return self._mask_of(self._reduce(rule, x, dim, keepdim).data)

    def solve(self, a: Any, b: Any) -> Any:
        self._note_pivots(a)
        return super().solve(a, b)

    def det(self, a: Any) -> Any:
        self._note_pivots(a)
        return super().det(a)

    def _note_pivots(self, a: Any) -> None:
        if a.shape and a.shape[-1] > SMALL:
            self.system.pivoted = True

    def as_index(self, index: Any) -> Any:
        if isinstance(index, OpenArray) and index.mask:
            return self.truth(index)
        return super().as_index(index)

    def _shaped(self, x: Any, change: Callable[[Any], Any]) -> Any:
        if isinstance(x, OpenArray) and x.mask:
            return OpenArray(boxed(change(x.data)), self, mask=True)
        return super()._shaped(x, change)
