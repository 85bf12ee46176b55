"""The vocabulary on arrays: NumPy's and, over the same names, CuPy's.

Invariant: array in, same kind of array out; nothing here moves data between devices.
The basis below is what every other number system has to offer as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .namespace import Namespace

Dims = int | Sequence[int] | None

UFUNCS = {
    "abs": "absolute", "sign": "sign", "sqrt": "sqrt", "square": "square",
    "floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "sinc": "sinc", "hypot": "hypot", "logaddexp": "logaddexp",
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin",
    "remainder": "remainder", "fmod": "fmod", "floor_divide": "floor_divide",
    "where": "where", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_not": "logical_not", "logical_xor": "logical_xor",
}  # fmt: skip
"""Elementwise basis that the array module has itself, under its own names."""

SPECIAL = {
    "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "lgamma": "gammaln",
    "digamma": "digamma", "polygamma": "polygamma", "sigmoid": "expit",
    "logsigmoid": "log_expit", "xlogy": "xlogy",
}  # fmt: skip
"""Elementwise basis from scipy.special (cupyx.scipy.special on a GPU)."""


def _axes(dim: Dims) -> Any:
    return tuple(dim) if isinstance(dim, list) else dim


class ArrayNamespace(Namespace):
    """The basis on one array module.

    ``np`` is the array module (``numpy`` or ``cupy``), ``special`` a function that
    imports its special functions when the first of them is needed.
    """

    symbolic = False

    def __init__(self, np: Any, special: Any, device: str) -> None:
        self.np = np
        self.device = device
        self._special = special
        for name, theirs in UFUNCS.items():
            setattr(self, name, getattr(np, theirs))

    def __getattr__(self, name: str) -> Any:
        if name in SPECIAL:
            function = getattr(self._special(), SPECIAL[name])
            setattr(self, name, function)
            return function
        return super().__getattr__(name)

    # reductions and scans; dim None means all

    def sum(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.add.reduce(x, axis=_axes(dim), keepdims=keepdim)

    def prod(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.prod(x, axis=_axes(dim), keepdims=keepdim)

    def amax(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.max(x, axis=_axes(dim), keepdims=keepdim)

    def amin(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.min(x, axis=_axes(dim), keepdims=keepdim)

    def all(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.all(x, axis=_axes(dim), keepdims=keepdim)

    def any(self, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
        return self.np.any(x, axis=_axes(dim), keepdims=keepdim)

    def argmax(self, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        return self.np.asarray(self.np.argmax(x, axis=dim, keepdims=keepdim))

    def argmin(self, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        return self.np.asarray(self.np.argmin(x, axis=dim, keepdims=keepdim))

    def argsort(self, x: Any, dim: int = -1, descending: bool = False) -> Any:
        """Stable: equal entries keep their order, in either direction."""
        if not descending:
            return self.np.argsort(x, axis=dim, kind="stable")
        reverse = self.np.argsort(self.np.flip(x, dim), axis=dim, kind="stable")
        return self.np.flip(x.shape[dim] - 1 - reverse, dim)

    def cumsum(self, x: Any, dim: int) -> Any:
        return self.np.cumsum(x, axis=dim)

    def cumprod(self, x: Any, dim: int) -> Any:
        return self.np.cumprod(x, axis=dim)

    # shape

    def reshape(self, x: Any, shape: Sequence[int]) -> Any:
        return self.np.reshape(x, tuple(shape))

    def expand(self, x: Any, shape: Sequence[int]) -> Any:
        """Broadcast to ``shape``, whose entries are all given."""
        return self.np.broadcast_to(x, tuple(shape))

    def permute(self, x: Any, dims: Sequence[int]) -> Any:
        return self.np.transpose(x, tuple(dims))

    def transpose(self, x: Any, dim0: int, dim1: int) -> Any:
        return self.np.swapaxes(x, dim0, dim1)

    def unsqueeze(self, x: Any, dim: int) -> Any:
        return self.np.expand_dims(x, dim)

    def cat(self, tensors: Sequence[Any], dim: int = 0) -> Any:
        return self.np.concatenate(tensors, axis=dim)

    def stack(self, tensors: Sequence[Any], dim: int = 0) -> Any:
        return self.np.stack(tensors, axis=dim)

    def flip(self, x: Any, dims: Any) -> Any:
        return self.np.flip(x, _axes(dims))

    def roll(self, x: Any, shifts: Any, dims: Any = None) -> Any:
        return self.np.roll(x, _axes(shifts), _axes(dims))

    def tril(self, x: Any, diagonal: int = 0) -> Any:
        return self.np.tril(x, diagonal)

    def triu(self, x: Any, diagonal: int = 0) -> Any:
        return self.np.triu(x, diagonal)

    def diagonal(self, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        return self.np.diagonal(x, offset, dim1, dim2)

    # reading and adding at positions

    def getitem(self, x: Any, index: Any) -> Any:
        return x[index]

    def put_add(self, shape: Sequence[int], index: Any, g: Any) -> Any:
        """Zeros of ``shape`` with ``g`` added at ``index``; repeats add up."""
        out = self.np.zeros(tuple(shape), dtype=g.dtype)
        self.np.add.at(out, index, g)
        return out

    def put_view(self, shape: Sequence[int], index: Any, g: Any) -> Any:
        """Zeros of ``shape`` with ``g`` at ``index``, which names no entry twice."""
        out = self.np.zeros(tuple(shape), dtype=g.dtype)
        out[index] = g
        return out

    def gather(self, x: Any, dim: int, index: Any) -> Any:
        """``out[..., j, ...] = x[..., index[..., j, ...], ...]``; index may be smaller
        than x in the other dimensions."""
        return x[self._along(index, dim)]

    def scatter_add(self, shape: Sequence[int], dim: int, index: Any, g: Any) -> Any:
        """The transpose of `gather`: zeros of ``shape`` with ``g`` added."""
        return self.put_add(shape, self._along(index, dim), g)

    def _along(self, index: Any, dim: int) -> tuple[Any, ...]:
        grid = list(self.np.indices(index.shape, sparse=True))
        grid[dim] = index
        return tuple(grid)

    def as_index(self, index: Any) -> Any:
        """Integers or booleans to index with; whole-numbered floats are taken."""
        index = self.np.asarray(index)
        if index.dtype.kind in "iub":
            return index
        whole = index.astype("int64")
        if not bool((whole == index).all()):
            raise IndexError("an index must be whole numbers")
        return whole

    # linear algebra, on the last two dimensions

    def matmul(self, a: Any, b: Any) -> Any:
        return self.np.matmul(a, b)

    def einsum(self, equation: str, *operands: Any) -> Any:
        return self.np.einsum(equation, *operands, optimize=len(operands) > 2)

    def inverse(self, a: Any) -> Any:
        return self.np.linalg.inv(a)

    def solve(self, a: Any, b: Any) -> Any:
        """``a @ x = b`` for matrices ``b``."""
        return self.np.linalg.solve(a, b)

    def det(self, a: Any) -> Any:
        return self.np.linalg.det(a)

    def slogdet(self, a: Any) -> Any:
        sign, logabsdet = self.np.linalg.slogdet(a)
        return sign, logabsdet

    def cholesky(self, a: Any) -> Any:
        return self.np.linalg.cholesky(a)

    def eye(self, n: int, like: Any) -> Any:
        return self.np.eye(n, dtype=like.dtype)

    # new arrays beside an old one

    def new_full(self, x: Any, shape: Sequence[int], value: float) -> Any:
        return self.np.full(tuple(shape), value, dtype=x.dtype)

    def zeros_like(self, x: Any) -> Any:
        return self.np.zeros(x.shape, dtype=x.dtype)

    def ones_like(self, x: Any) -> Any:
        return self.np.ones(x.shape, dtype=x.dtype)

    def as_type_of(self, x: Any, like: Any) -> Any:
        """``x`` (a mask, an index) as numbers of the dtype of ``like``."""
        return self.np.asarray(x).astype(like.dtype)
