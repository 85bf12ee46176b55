"""The functions that rules call on arrays of CuPy where these are not NumPy's.

Invariant: results are those of `ArrayNamespace` on NumPy's arrays, except for the last
bits of library functions and of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy

from .arrays import ArrayNamespace
from .raw import Library, Params, Raw, Run
from .rules import placed
from .series import SERIES, in_doubles


class GpuArrays(ArrayNamespace):
    """`ArrayNamespace` for CuPy."""

    def sign(self, x: Raw) -> Raw:
        if x.dtype.kind == "b":
            return x
        np: Any = self.np
        y = np.greater(x, 0).astype(x.dtype) - np.less(x, 0).astype(x.dtype)
        return y  # type: ignore[no-any-return]

    def floor_divide(self, a: Raw, b: Raw) -> Raw:
        """Return the quotient rounded down, from the exact remainder, as NumPy's."""
        np: Any = self.np
        b = self._divisor(a, b)
        if not _floats(a, b):
            return np.floor_divide(a, b)  # type: ignore[no-any-return]
        rest, quotient = np.fmod(a, b), a / b
        turned = self._turned(rest, b)
        y = (a - rest) / b
        y = np.where(turned, y - 1, y)
        low = np.floor(y)
        low = np.where(y - low > 0.5, low + 1, low)
        low = np.where(np.equal(y, 0), np.copysign(low, quotient), low)
        return np.where(np.equal(b, 0), quotient, low)  # type: ignore[no-any-return]

    def remainder(self, a: Raw, b: Raw) -> Raw:
        """Return the exact remainder, of the sign of ``b``; a 0 has that of ``a``."""
        np: Any = self.np
        b = self._divisor(a, b)
        if not _floats(a, b):
            return np.remainder(a, b)  # type: ignore[no-any-return]
        rest = np.fmod(a, b)
        return np.where(self._turned(rest, b), rest + b, rest)  # type: ignore

    def _turned(self, rest: Raw, b: Raw) -> Raw:
        """Return where a remainder has another sign than the divisor."""
        np: Any = self.np
        other = np.not_equal(np.less(rest, 0), np.less(b, 0))
        return np.logical_and(np.not_equal(rest, 0), other)  # type: ignore

    def erfinv(self, x: Raw) -> Raw:
        """Return the inverse of erf; NaN outside of its domain."""
        return self._within(self.np.abs(x) > 1, numpy.nan, "erfinv", x)

    def argsort(self, x: Raw, dim: int = -1, descending: bool = False) -> Raw:
        """Return the indices that sort ``x``; NaN is the largest."""
        if x.dtype.kind != "f":
            return super().argsort(x, dim, descending)
        absent: Any = self.np.isnan(x)
        first = super().argsort(self.np.where(absent, 0, x), dim, descending)
        gather: Any = self.np.take_along_axis
        last = super().argsort(gather(absent, first, dim).astype("i1"), dim, descending)
        return gather(first, last, dim)  # type: ignore[no-any-return]

    def matrix_exp(self, a: Raw) -> Raw:
        y = super().matrix_exp(a)
        return y if y.flags.c_contiguous else self.np.ascontiguousarray(y)

    def solve(self, a: Raw, b: Raw) -> Raw:
        np: Any = self.np
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if a.shape[:-2] != lead:
            a = np.broadcast_to(a, (*lead, *a.shape[-2:]))
        if b.shape[:-2] != lead:
            b = np.broadcast_to(b, (*lead, *b.shape[-2:]))
        return super().solve(a, b)


for _name, _function in SERIES.items():
    setattr(GpuArrays, _name, in_doubles(_function))


def _floats(a: Any, b: Any) -> bool:
    """Return whether one of two operands has floats."""
    return any(
        isinstance(x, float) or getattr(getattr(x, "dtype", None), "kind", "") == "f"
        for x in (a, b)
    )


class GpuNamespace(GpuArrays):
    """The functions that rules call on CuPy's arrays; whole rules become kernels.

    Args:
        np: CuPy, with what differs in it.
        kernels: makes the namespace of pending arrays over this one.
    """

    def __init__(
        self,
        np: Library,
        special: Callable[[], Library],
        solvers: Callable[[], Library],
        kernels: Callable[[GpuNamespace], Any],
    ) -> None:
        super().__init__(np, special, solvers, "cuda")
        self._kernels = kernels
        self._placed: dict[Any, Run] = {}
        self.whole_row = self._row

    @cached_property
    def pending(self) -> Any:
        """Return the namespace in which formulas are run."""
        return self._kernels(self)

    def _row(self, op: Any, raw: Any, params: Params) -> Any:
        """Return a row's result, its elementwise steps in as few kernels as can be."""
        formula = self._placed.get(op)
        if formula is None:
            formula = self._placed[op] = placed(op)
        name = f"{op.base}_forward"  # a kernel has no name of a function of C
        if op.elementwise:
            return self.pending.run_elementwise(op.name, name, formula, raw, params)
        return self.pending.run(name, formula, raw, params)
