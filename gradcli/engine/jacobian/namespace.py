"""The vocabulary of the rules on batches of cotangents or tangents.

Invariant: what holds no batch is left to the namespace of the arrays; what holds one is
linear in it, or raises `NotLinear`.

    xp = batches_over(NUMPY)
    xp.sum(g, 0)                # of each cotangent of a batch g, in its own terms
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

from ...engine.raw import Run
from ...ops.basis import SPECIAL, UFUNCS
from ...ops.types import Dims, Index, Shape
from ..arrays import ArrayNamespace
from ..namespace import Namespace
from ..raw import Raw
from .batch import Batch, NotLinear, Rows, stacked


def _moving(name: str) -> Run:
    """A method that moves, repeats or drops entries, by what it does to positions."""

    def method(
        self: BatchNamespace, x: object, *args: object, **kwargs: object
    ) -> Rows:
        change = getattr(self.base, name)
        if not isinstance(x, Batch):
            found: Raw = change(x, *args, **kwargs)
            return found
        return x.moved(lambda positions: change(positions, *args, **kwargs))

    return method


class BatchNamespace(Namespace):
    """The basis on batches, over the arrays of ``base``."""

    symbolic = False

    def __init__(self, base: ArrayNamespace) -> None:
        self.base = base
        self.device = base.device

    def __getattr__(self, name: str) -> Run:
        if name in UFUNCS or name in SPECIAL or hasattr(type(self.base), name):
            made: Run = self._constant(getattr(self.base, name))
            setattr(self, name, made)
            return made
        return super().__getattr__(name)

    def _constant(self, function: Any) -> Any:
        """Return a function that knows no batches."""
        if not callable(function):
            return function

        def run(*args: object, **kwargs: object) -> Any:
            if any(isinstance(x, Batch) for x in (*args, *kwargs.values())):
                raise NotLinear
            return function(*args, **kwargs)

        return run

    def where(self, mask: Any, a: Any, b: Any) -> Rows:
        if isinstance(mask, Batch):
            raise NotLinear
        parts = [
            value.where(chosen) if isinstance(value, Batch) else value
            for value, chosen in ((a, mask), (b, self.base.np.logical_not(mask)))
        ]
        if not any(isinstance(part, Batch) for part in parts):
            return self.base.where(mask, a, b)
        both: Rows = parts[0] + parts[1]
        return both

    def as_type_of(self, x: Rows, like: Raw) -> Rows:
        if isinstance(x, Batch):
            return x.like(x.matrix.astype(like.dtype))
        return self.base.as_type_of(x, like)

    # -- sums --------------------------------------------------------------------------

    def sum(self, x: Rows, dim: Dims = None, keepdim: bool = False) -> Rows:
        if not isinstance(x, Batch):
            return self.base.sum(x, dim, keepdim)
        dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        return x.summed(tuple(dims), keepdim)

    def cumsum(self, x: Rows, dim: int) -> Rows:
        if not isinstance(x, Batch):
            return self.base.cumsum(x, dim)
        return x.flattened(self.base.cumsum(x.arranged(), dim % x.ndim + 1))

    # -- other positions ---------------------------------------------------------------

    permute = _moving("permute")
    transpose = _moving("transpose")
    expand = _moving("expand")
    flip = _moving("flip")
    roll = _moving("roll")
    diagonal = _moving("diagonal")
    getitem = _moving("getitem")

    def reshape(self, x: Rows, shape: Sequence[int]) -> Rows:
        return x.reshape(shape)

    def unsqueeze(self, x: Rows, dim: int) -> Rows:
        if not isinstance(x, Batch):
            return self.base.unsqueeze(x, dim)
        return x.reshape(self.base.unsqueeze(x.positions(), dim).shape)

    def clone(self, x: Rows, memory_format: str | None = None) -> Rows:
        return x if isinstance(x, Batch) else self.base.clone(x, memory_format)

    def is_contiguous(self, x: Rows) -> bool | Raw:
        return isinstance(x, Batch) or self.base.is_contiguous(x)

    def is_viewable(self, x: Rows, shape: Sequence[int]) -> bool | Raw:
        return isinstance(x, Batch) or self.base.is_viewable(x, shape)

    def tril(self, x: Rows, diagonal: int = 0) -> Rows:
        return self._triangle(self.base.tril, x, diagonal)

    def triu(self, x: Rows, diagonal: int = 0) -> Rows:
        return self._triangle(self.base.triu, x, diagonal)

    def _triangle(self, cut: Callable[..., Raw], x: Rows, diagonal: int) -> Rows:
        if not isinstance(x, Batch):
            return cut(x, diagonal)
        return x.where(cut(self.base.np.ones(x.shape, dtype=bool), diagonal))

    def cat(self, tensors: Sequence[Rows], dim: int = 0) -> Rows:
        return self._joined(self.base.cat, tensors, dim)

    def stack(self, tensors: Sequence[Rows], dim: int = 0) -> Rows:
        return self._joined(self.base.stack, tensors, dim)

    def _joined(
        self, join: Callable[..., Raw], tensors: Sequence[Rows], dim: int
    ) -> Rows:
        if not any(isinstance(t, Batch) for t in tensors):
            return join(tensors, dim)
        if any(self.base.np.any(t) for t in tensors if not isinstance(t, Batch)):
            raise NotLinear
        count = self.base.np.arange
        which = [count(1, 1 + prod(t.shape)).reshape(t.shape) for t in tensors]
        parts, positions = [], []
        for nr, t in enumerate(tensors):
            if isinstance(t, Batch):
                alone = [w if k == nr else 0 * w for k, w in enumerate(which)]
                made: Any = join(alone, dim)
                flat = made.ravel()
                where: Any
                (where,) = self.base.np.nonzero(flat)
                parts.append(t)
                positions.append(where[flat[where].argsort()].reshape(t.shape))
        return stacked(parts, positions, made.shape)

    def put_add(self, shape: Shape, index: Index, g: Rows) -> Rows:
        if not isinstance(g, Batch):
            return self.base.put_add(shape, index, g)
        positions = self.base.np.arange(prod(shape)).reshape(tuple(shape))[index]
        return g.put(positions, tuple(shape))

    def put_view(self, shape: Shape, index: Index, g: Rows) -> Rows:
        """Return zeros with ``g`` written at an index; of equal places the last is."""
        if not isinstance(g, Batch):
            return self.base.put_view(shape, index, g)
        parts = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(part, list) or hasattr(part, "dtype") for part in parts):
            return self.put_add(shape, index, g)
        positions = self.base.np.arange(prod(shape)).reshape(tuple(shape))[index]
        own = self.base.np.arange(g.size).reshape(g.shape)
        last = self.base.np.zeros(prod(shape), own.dtype)
        last[positions.ravel()] = own.ravel()
        return g.where(last[positions] == own).put(positions, tuple(shape))

    # -- products ----------------------------------------------------------------------

    def matmul(self, a: Any, b: Any) -> Any:
        if isinstance(a, Batch) and isinstance(b, Batch):
            raise NotLinear
        if isinstance(a, Batch):
            if b.ndim <= 2:
                return a.times_matrix(b)
            return self._batched(a, b, lambda a, b: a @ b, after=True)
        if not isinstance(b, Batch):
            return self.base.matmul(a, b)
        if a.ndim <= 2 and b.ndim == 1:
            return b.times_matrix(a.T if a.ndim == 2 else a)
        if a.ndim == 2:
            turned = self.transpose(b, -2, -1).times_matrix(a.T)
            return self.transpose(turned, -2, -1)
        return self._batched(b, a, lambda b, a: a @ b, after=False)

    def _batched(self, g: Batch, other: Raw, product: Run, after: bool) -> Batch:
        """Return a product with a vector or a stack of matrices, one for each row."""
        batch = g.arranged()
        vector = g.ndim == 1
        if vector:
            batch = batch[:, None, :] if after else batch[:, :, None]
        lead = max(other.ndim - (batch.ndim - 1), 0)
        batch = batch.reshape(g.count, *(1,) * lead, *batch.shape[1:])
        if other.ndim == 1:
            made = product(batch, other)
        else:
            made = product(batch, other)
            if vector:
                made = made[..., 0, :] if after else made[..., 0]
        return g.flattened(made)

    def einsum(self, equation: str, *operands: Any) -> Rows:
        batched = [isinstance(x, Batch) for x in operands]
        if not any(batched):
            return self.base.einsum(equation, *operands)
        if sum(batched) > 1 or "->" not in equation:
            raise NotLinear
        terms, out = equation.replace(" ", "").split("->")
        letter = next(c for c in _LETTERS if c not in equation)
        words = [
            letter + word if there else word
            for word, there in zip(terms.split(","), batched, strict=True)
        ]
        (g,) = [x for x in operands if isinstance(x, Batch)]
        arrays = [x.arranged() if isinstance(x, Batch) else x for x in operands]
        made = self.base.einsum(f"{','.join(words)}->{letter}{out}", *arrays)
        return g.flattened(made)

    def solve(self, a: Any, b: Any) -> Batch | Raw:
        if isinstance(a, Batch):
            raise NotLinear
        if not isinstance(b, Batch):
            return self.base.solve(a, b)
        batch: Any = b.arranged()
        if a.ndim > 2 or b.ndim > 2:
            return b.flattened(self.base.solve(a, batch))
        n, columns = b.shape
        side = batch.transpose(1, 0, 2).reshape(n, -1)
        made: Any = self.base.solve(a, side).reshape(n, b.count, columns)
        return b.flattened(made.transpose(1, 0, 2))

    # -- arrays beside a batch ---------------------------------------------------------

    def zeros_like(self, x: Rows) -> Raw:
        return self.base.np.zeros(x.shape, dtype=x.dtype)

    def ones_like(self, x: Rows) -> Raw:
        return self.base.np.ones(x.shape, dtype=x.dtype)

    def new_full(self, x: Raw, shape: Shape, value: float) -> Raw:
        return self.base.new_full(x, shape, value)

    def eye(self, n: int, like: Raw) -> Raw:
        return self.base.eye(n, like)


_LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"


@cache
def batches_over(base: ArrayNamespace) -> BatchNamespace:
    """Return the namespace of batches over the arrays of another."""
    return BatchNamespace(base)
