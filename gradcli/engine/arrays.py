"""The functions that rules call, on arrays of NumPy and, by the same names, of CuPy.

Invariant: arrays of one module give arrays of it; only `to_copy` moves data to another
device. Every other number system has to define the same names, which are the basis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from ..ops.basis import SLOW, UFUNCS
from ..ops.checks import LIMIT, broadcast_shape, check_size, count_of
from ..ops.index import check_bounds
from ..ops.types import Index, Sizes, Sliding
from .errors import ValueRangeError
from .factors import MatrixFactors
from .memory_order import in_memory_order
from .namespace import NumberSystem
from .parts import MIN_WORK_SPLIT, on_threads, over_parts, product
from .raw import MAX_NUMBER_OF_ALL_TYPES, SCALARS, Library, Raw, Run, kinds_of
from .special_functions import SpecialFunctions
from .versions import lend, owner, with_separate_version

Dims = int | Sequence[int] | None


MAX_DOUBTS = 10_000
"""Most checks of values that are put off until numbers are read from a device."""

MIN_SIZE_TO_FLATTEN = 1024
"""Fewest entries for which adding at positions is faster in the flattened array."""


MIN_ENTRIES_BY_BITS = 4096
"""Fewest entries of a condition for which a choice between a number and 0 is faster by
the bits of the number than by branches."""


def _is_zero(x: object) -> bool:
    """Return whether ``x`` is the plain number 0, not -0.0."""
    return type(x) in (int, float) and x == 0 and math.copysign(1, x) > 0


def _axes(dim: Dims) -> Dims:
    return tuple(dim) if isinstance(dim, list) else dim


class ArrayNamespace(SpecialFunctions, MatrixFactors, NumberSystem):
    """The basis on one array module.

    ``np`` is the array module (``numpy`` or ``cupy``); ``special`` and ``solvers``
    import its special functions, and its solvers of linear systems, when the first of
    them is needed.
    """

    symbolic = False

    def __init__(
        self,
        np: Library,
        special: Callable[[], Library],
        solvers: Callable[[], Library],
        device: str,
    ) -> None:
        self.np = np
        self.device = device
        self.plain = True
        self.waits = device != "cpu"
        self.doubts: list[Callable[[], None]] = []
        self._special = special
        self._solvers = solvers
        for name, theirs in UFUNCS.items():
            if not hasattr(type(self), name):
                run = getattr(np, theirs)
                slow = device == "cpu" and name in SLOW
                setattr(self, name, on_threads(run) if slow else run)

    def array(self, values: Raw) -> Raw:
        """Return a NumPy array as an array of this module."""
        return self.np.asarray(values)

    def array_itself(self, x: Raw) -> Raw:
        """Return a scalar of the array module as an array; an array stays itself."""
        return self.np.asarray(x)

    def with_separate_version(self, x: Raw) -> Raw:
        if hasattr(x, "__array_interface__"):
            return with_separate_version(x)
        same = self.np.ndarray(x.shape, x.dtype, x.data, x.strides)  # CuPy's
        return lend(x, same, apart=True)

    def address(self, x: Raw) -> int:
        """Return the address in memory of the first entry, in bytes."""
        there = getattr(x.data, "ptr", None)
        return int(x.__array_interface__["data"][0] if there is None else there)

    def to_copy(
        self,
        x: Raw,
        dtype: str | None,
        device: NumberSystem | None,
        back: object = None,
    ) -> Raw:
        """Return a copy in a type on a device; None keeps the type or the device."""
        np: Any = self.np
        if device is not None and device is not self:
            self.settle()
            np = device.np
            x = device.array(x.get() if hasattr(x, "get") else x)
        if 0 in x.strides:
            x = np.array(x, order="C", copy=True)
        return x.copy("K") if dtype is None else x.astype(dtype)

    # Elementwise functions that have a parameter or need more than one call.

    def nextafter(self, x: Raw, other: Raw) -> Raw:
        return self.np.nextafter(x, other)

    def sign(self, x: Raw) -> Raw:
        """Return -1, 0 or 1 in the type of ``x``; 0 for NaN."""
        if x.dtype.kind == "b":
            return x
        np = self.np
        return np.subtract(np.greater(x, 0), np.less(x, 0), dtype=x.dtype)

    def floor_divide(self, a: Raw, b: Raw) -> Raw:
        return self.np.floor_divide(a, self._divisor(a, b))

    def remainder(self, a: Raw, b: Raw) -> Raw:
        y = self.np.remainder(a, self._divisor(a, b))
        if y.dtype.kind != "f":
            return y
        none = self.np.equal(y, 0)
        if not self._holds_any(none):
            return y
        return self.np.where(none, self.np.copysign(y, a), y)

    def fmod(self, a: Raw, b: Raw) -> Raw:
        return self.np.fmod(a, self._divisor(a, b))

    def _divisor(self, a: Raw, b: Raw) -> Raw:
        """Return ``b``; refuse a 0 in it where integers are divided."""
        kinds = [v.dtype.kind for v in (a, b) if hasattr(v, "dtype")]
        floats = "f" in kinds or isinstance(a, float) or isinstance(b, float)
        if not floats and not self.np.all(self.np.asarray(b)):
            raise ValueRangeError("ZeroDivisionError")
        return b

    def xlogy(self, a: Raw, b: Raw) -> Raw:
        """Return ``a*log(b)``; 0 where a is 0 and b is a number."""
        np = self.np
        nothing = np.logical_and(np.equal(a, 0), np.logical_not(np.isnan(b)))
        return np.where(nothing, 0, a * np.log(b))

    def nan_to_num(
        self, x: Raw, nan: float, posinf: float | None, neginf: float | None
    ) -> Raw:
        """Replace NaN and the infinities by numbers; None: the dtype's extremes."""
        return self.np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)

    def where(self, condition: Raw, a: Raw, b: Raw) -> Raw:
        condition = self.np.asarray(condition)  # CuPy takes no plain truth value
        if self.device == "cpu" and condition.size >= MIN_ENTRIES_BY_BITS:
            kind: Any = self.np.result_type(a, b)
            if kind.type in SCALARS and condition.dtype.kind == "b":
                if _is_zero(b):
                    return self._where_set(condition, a, kind)
                if _is_zero(a):
                    return self._where_set(self.np.logical_not(condition), b, kind)
        return self.np.where(condition, a, b)

    def _where_set(self, condition: Raw, x: Raw, kind: Any) -> Raw:
        """Return ``x``, and 0 where the condition is False. The bits of a number are
        multiplied by 1 or 0, since a processor cannot predict a branch per entry."""
        bits = self.np.asarray(x, kind).view(f"i{kind.itemsize}")
        return (bits * condition).view(kind)

    def _holds_any(self, condition: Raw) -> bool:
        """Return whether a condition may hold in some entry. On a GPU this is always
        True, since the host would have to wait for the answer."""
        return self.waits or bool(self.np.any(condition))

    def later(self, check: Callable[[], None]) -> None:
        if not self.waits:
            check()
            return
        self.doubts.append(check)
        if len(self.doubts) > MAX_DOUBTS:
            self.settle()

    def settle(self) -> None:
        put_off = self.doubts[:]
        self.doubts.clear()
        for check in put_off:
            check()

    # Reductions and scans; the dim None stands for all dimensions.

    def sum(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.add.reduce(x, axis=_axes(dim), keepdims=keepdim)

    def prod(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.prod(x, axis=_axes(dim), keepdims=keepdim)

    def amax(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.maximum.reduce(x, axis=_axes(dim), keepdims=keepdim)

    def amin(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.minimum.reduce(x, axis=_axes(dim), keepdims=keepdim)

    def all(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.all(x, axis=_axes(dim), keepdims=keepdim)

    def any(self, x: Raw, dim: Dims = None, keepdim: bool = False) -> Raw:
        return self.np.any(x, axis=_axes(dim), keepdims=keepdim)

    def argmax(self, x: Raw, dim: int | None = None, keepdim: bool = False) -> Raw:
        return self.np.asarray(self.np.argmax(x, axis=dim, keepdims=keepdim))

    def argmin(self, x: Raw, dim: int | None = None, keepdim: bool = False) -> Raw:
        return self.np.asarray(self.np.argmin(x, axis=dim, keepdims=keepdim))

    def largest_of(self, parts: Sequence[Raw]) -> tuple[Raw, Raw]:
        np = self.np
        parts = [np.ascontiguousarray(part) for part in parts]
        best = np.array(parts[0], order="C")
        for part in parts[1:]:
            np.maximum(best, part, out=best)
        few = len(parts) <= MAX_NUMBER_OF_ALL_TYPES
        found = np.zeros(best.shape, "i1" if few else "i8")
        beaten, has_nan = np.ones(best.shape, "?"), best.dtype.kind == "f"
        if has_nan and not self.waits:
            has_nan = bool(np.isnan(np.maximum.reduce(best, axis=None, initial=0)))
        for part in parts[:-1]:
            np.logical_and(beaten, np.not_equal(part, best), out=beaten)
            if has_nan:
                np.logical_and(beaten, np.equal(part, part), out=beaten)
            found += beaten
        return best, found

    def argsort(self, x: Raw, dim: int = -1, descending: bool = False) -> Raw:
        """Return the indices that sort ``x``; equal entries keep their order."""
        if not descending:
            return self.np.argsort(x, axis=dim, kind="stable")
        reverse = self.np.argsort(self.np.flip(x, dim), axis=dim, kind="stable")
        return self.np.flip(x.shape[dim] - 1 - reverse, dim)

    def cumsum(self, x: Raw, dim: int) -> Raw:
        return self.np.cumsum(x, axis=dim)

    def cumprod(self, x: Raw, dim: int) -> Raw:
        return self.np.cumprod(x, axis=dim)

    # Changes of the shape.

    def reshape(self, x: Raw, shape: Sequence[int]) -> Raw:
        return x.reshape(shape)

    def is_contiguous(self, x: Raw) -> Raw:
        return self.np.bool_(x.flags.c_contiguous)

    def is_viewable(self, x: Raw, shape: Sequence[int]) -> Raw:
        """Return whether ``x`` can be reshaped to ``shape`` without a copy."""
        return self.np.bool_(
            x.size < 2 or self.np.may_share_memory(x, self.reshape(x, shape))
        )

    def clone(self, x: Raw, memory_format: str | None = None) -> Raw:
        if memory_format == "contiguous" or 0 not in x.strides:
            order = "K" if memory_format != "contiguous" else "C"
            return self.np.array(x, order=order, copy=True)
        copy: Raw = in_memory_order(self.np.empty(x.size, x.dtype), x)
        copy[...] = x
        return copy

    def expand(self, x: Raw, shape: Sequence[int]) -> Raw:
        """Broadcast ``x`` to ``shape``, whose sizes are all given."""
        check_size(shape)
        return self.np.broadcast_to(x, tuple(shape))

    def permute(self, x: Raw, dims: Sequence[int]) -> Raw:
        return x.transpose(dims)

    def t(self, x: Raw) -> Raw:
        return x.T

    def transpose(self, x: Raw, dim0: int, dim1: int) -> Raw:
        return x.swapaxes(dim0, dim1)

    def unsqueeze(self, x: Raw, dim: int) -> Raw:
        shape = x.shape
        d = dim + len(shape) + 1 if dim < 0 else dim
        return x.reshape((*shape[:d], 1, *shape[d:]))

    def cat(self, tensors: Sequence[Raw], dim: int = 0) -> Raw:
        check_join(tensors)
        return self.np.concatenate(tensors, axis=dim)

    def stack(self, tensors: Sequence[Raw], dim: int = 0) -> Raw:
        shape = tensors[0].shape
        if dim or not shape or any(t.shape != shape for t in tensors):
            check_join(tensors)
            return self.np.stack(tensors, axis=dim)
        return self.cat(tensors).reshape((len(tensors), *shape))

    def flip(self, x: Raw, dims: Dims) -> Raw:
        return self.np.flip(x, _axes(dims))

    def roll(self, x: Raw, shifts: Sizes, dims: Dims | None = None) -> Raw:
        return self.np.roll(x, _axes(shifts), _axes(dims))

    def tril(self, x: Raw, diagonal: int = 0) -> Raw:
        return self.np.tril(x, diagonal)

    def triu(self, x: Raw, diagonal: int = 0) -> Raw:
        return self.np.triu(x, diagonal)

    def diagonal(self, x: Raw, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Raw:
        return self.np.diagonal(x, offset, dim1, dim2)

    # Views with any shape and strides.

    def windowed(self, x: Raw, d: int, starts: range, size: int) -> Raw:
        steps = x.strides
        check_size((*x.shape[:d], len(starts), *x.shape[d + 1 :], size))
        shape = (*x.shape[:d], len(starts), *x.shape[d + 1 :], size)
        strides = (*steps[:d], steps[d] * starts.step, *steps[d + 1 :], steps[d])
        return self.seen(x, shape, strides, self.address(x))

    def geometry(self, x: Raw) -> tuple[tuple[int, ...], int]:
        size = x.dtype.itemsize
        start = self.address(x) - self.address(owner(x))
        return tuple([step // size for step in x.strides]), start // size

    def strided(
        self, x: Raw, size: tuple[int, ...], stride: tuple[int, ...], start: int
    ) -> Raw:
        check_size(size)
        held, each = owner(x), x.dtype.itemsize
        check_bounds(held.size, each, size, stride, start)
        strides = tuple([step * each for step in stride])
        return self.seen(x, size, strides, self.address(held) + start * each)

    def seen(
        self, x: Raw, shape: tuple[int, ...], strides: tuple[int, ...], address: int
    ) -> Raw:
        """Return a view, of a shape and strides, of the memory that ``x`` lies in.

        Args:
            strides: the strides, in bytes; ``address`` is that of the first entry.
        """
        held = owner(x)
        flat = held.ravel("K").view(x.dtype)
        start = address - self.address(held)
        if self.device == "cpu":
            return self.np.ndarray(shape, x.dtype, flat, start, strides)
        flat = flat[start // x.dtype.itemsize :]
        return lend(held, self.np.lib.stride_tricks.as_strided(flat, shape, strides))

    def cells(self, x: Raw, windows: Sliding, counts: tuple[int, ...]) -> Raw:
        """Return a copy of all windows, made in one call."""
        if self.device != "cpu" or not x.flags.c_contiguous:
            return super().cells(x, windows, counts)
        steps, kernel = x.strides, windows.kernel
        moved = zip(steps[2:], windows.dilation, windows.stride, strict=True)
        within, along = zip(*[(s * d, s * n) for s, d, n in moved], strict=True)
        shape = (*x.shape[:2], *kernel, *counts)
        check_size(shape)
        seen = self.np.ndarray(shape, x.dtype, x, 0, (*steps[:2], *within, *along))
        return seen.reshape((*x.shape[:2], math.prod(kernel), *counts))

    # Reading and adding at positions.

    def getitem(self, x: Raw, index: Index) -> Raw:
        return x[index]

    def put_add(self, shape: Sequence[int], index: Index, g: Raw) -> Raw:
        """Return zeros of ``shape`` with ``g`` added at ``index``; repeats add up."""
        check_size(shape)
        out = self.np.zeros(tuple(shape), dtype=g.dtype)
        if g.size < MIN_SIZE_TO_FLATTEN:
            self.np.add.at(out, index, g)
        else:
            flat = self.np.arange(out.size).reshape(out.shape)[index]
            g = self.np.broadcast_to(g, flat.shape)
            self.np.add.at(out.reshape(-1), flat.reshape(-1), g.reshape(-1))
        return out

    def put_view(self, shape: Sequence[int], index: Index, g: Raw) -> Raw:
        """Return zeros of ``shape`` with ``g`` at ``index``; no position repeats."""
        check_size(shape)
        out = self.np.zeros(tuple(shape), dtype=g.dtype)
        out[index] = g
        return out

    def put_views(
        self, shape: tuple[int, ...], slices: Sequence[Index], parts: Sequence[Raw]
    ) -> Raw:
        out = self.put_view(shape, slices[0], parts[0])
        for at, part in zip(slices[1:], parts[1:], strict=True):
            seen = out[at]
            seen += part
        return out

    def as_index(self, index: object) -> Raw:
        """Return an index as integers or truth values; whole floats become integers."""
        if isinstance(index, range):
            check_size((len(index),))
            return self.np.arange(index.start, index.stop, index.step)
        kinds_of(index)  # NumPy does not end where a list holds itself
        found = self.np.asarray(index)
        if found.dtype.kind in "iub":
            return found
        whole = found.astype("int64")
        if not bool(self.np.all(whole == found)):
            raise IndexError("an index must be integers")
        return whole

    # Linear algebra on the last two dimensions.

    def matmul(self, a: Raw, b: Raw) -> Raw:
        size = a.size * b.size
        if size > MIN_WORK_SPLIT:
            if size > LIMIT.entries:
                check_product(a.shape, b.shape)
            if self.device == "cpu":
                made: Raw = product(a, b)
                return made
        return self.np.matmul(a, b)

    def plus(self, y: Raw, x: Raw) -> Raw:
        if y.dtype is not x.dtype or not y.shape:
            return y + x
        y += x
        return y

    def is_finite(self, x: Raw) -> bool:
        return not self.waits and bool(self.np.all(self.np.isfinite(x)))

    def in_parts(self, run: Run, arrays: Sequence[Raw], entries: int) -> Raw:
        if self.device != "cpu":
            return cast("Raw", run(*arrays))
        return cast("Raw", over_parts(run, arrays, entries))

    def matmul_like(self, a: Raw, b: Raw, like: Raw) -> Raw:
        flags = like.flags
        if flags.c_contiguous or not flags.f_contiguous or a.ndim != 2 or b.ndim != 2:
            return self.matmul(a, b)
        return self.matmul(b.T, a.T).T

    def einsum(self, equation: str, *operands: Raw) -> Raw:
        check_einsum(equation, [o.shape for o in operands])
        return self.np.einsum(equation, *operands, optimize=len(operands) > 2)

    def inverse(self, a: Raw) -> Raw:
        """Return the inverse of matrices; narrower floats are inverted as doubles."""
        if a.dtype.itemsize < 8:
            a, kind = a.astype("float64"), a.dtype
            return self._by_columns(self._factored("inv", a).astype(kind))
        return self._by_columns(self._factored("inv", a))

    def solve(self, a: Raw, b: Raw) -> Raw:
        """Return the solution ``x`` of ``a @ x = b`` for matrices ``b``."""
        return self._by_columns(self._factored("solve", a, b))

    def det(self, a: Raw) -> Raw:
        found: Raw = self._factored("det", a)
        return found

    def slogdet(self, a: Raw) -> tuple[Raw, Raw]:
        sign, logabsdet = self._factored("slogdet", a)
        return self.np.where(self.np.isnan(logabsdet), 0 * sign, sign), logabsdet

    def read_in_triangle(self, a: Raw, upper: bool = False) -> Raw:
        """Return a matrix whose lower triangle is the asked triangle of ``a``; LAPACK
        reads no other entries here."""
        return a.swapaxes(-2, -1) if upper else a

    def cholesky(self, a: Raw) -> Raw:
        factor = self._factored("cholesky", a)
        # LAPACK may return a factor with NaN for a matrix that holds infinities.
        if not self.np.isfinite(factor).all():
            refused: Any = self.np.linalg.LinAlgError
            raise refused("Matrix is not positive definite")
        return self._by_columns(factor)

    def eye(self, n: int, like: Raw) -> Raw:
        check_size((n, n))
        return self.np.eye(n, dtype=like.dtype)

    # New arrays made like an old one.

    def new_full(self, x: Raw, shape: Sequence[int], value: float) -> Raw:
        check_size(shape)
        return self.np.full(tuple(shape), value, dtype=x.dtype)

    def zeros_like(self, x: Raw) -> Raw:
        return self.np.zeros(x.shape, dtype=x.dtype)

    def ones_like(self, x: Raw) -> Raw:
        return self.np.ones(x.shape, dtype=x.dtype)

    def as_type_of(self, x: Raw, like: Raw) -> Raw:
        """Return ``x``, a mask or an index, as numbers in the dtype of ``like``."""
        made = x if getattr(x, "ndim", 0) else self.np.asarray(x)
        return made.astype(getattr(like, "dtype", float))


# Checks of sizes, before anything is allocated.


def check_join(tensors: Sequence[Raw]) -> None:
    """Raise an error if tensors are larger together than allowed."""
    size = sum([t.size for t in tensors])
    if size > LIMIT.entries:
        check_size((size,))


def check_product(a: Sequence[int], b: Sequence[int]) -> None:
    """Raise an error if the result of a matrix product is larger than allowed."""
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    check_size((*broadcast_shape(a[:-2], b[:-2]), *rows, *columns))


def check_einsum(equation: str, shapes: Sequence[Sequence[int]]) -> None:
    """Raise an error if the result of an einsum is larger than allowed.

    Operands that do not fit the equation pass; the array module raises the error.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    once = [c for c in inputs if c.isalpha() and inputs.count(c) == 1]
    sizes: dict[str, int] = {}
    unnamed = 1
    for letters, shape in zip(inputs.split(","), shapes, strict=False):
        head, dots, tail = letters.partition("...")
        end = len(shape) - len(tail)
        sizes.update(zip(head, shape, strict=False))
        sizes.update(zip(tail, shape[end:], strict=False))
        if dots:
            unnamed = max(unnamed, count_of(shape[len(head) : end]))
    named = output.replace("...", "") if arrow else once
    check_size([unnamed, *[sizes.get(letter, 1) for letter in named]])
