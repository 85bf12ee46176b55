"""Supports: a cotangent or a tangent with the places that a path leads to.

Invariant: an entry is there if a path leads to it from the entry that the pass began
with; elsewhere it is zero whatever it is multiplied by, also by what is not finite. A
rule that mixes entries in a way of its own is run on the values, and gives entries that
are there if any of its own were.

    (g,) = row_of(y, [x], 0)      # the first row of the Jacobian, zeros where no path
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ops import TRANSPOSED
from ..ops.basis import ARITHMETIC
from ..ops.types import Dims, Shape
from .backward import Joined, materialise
from .batch import NotLinear
from .beside import WrappedArray, WrapperNamespace
from .custom import CustomNode
from .forward import push, push_through
from .modes import RecordingOff
from .node import Edge, Node
from .raw import Params, Run
from .tensor import Tensor
from .walk import accumulate, added, between, sent_below


class Supported(WrappedArray):
    """An array or a column, ``value``, with the mask of the entries that are there."""

    __slots__ = ("shape", "there", "value")

    def __init__(self, value: Any, there: Any, namespace: Supports) -> None:
        self.value, self.there = value, there
        self.shape = tuple(there.shape)
        self.__gradcli_namespace__ = namespace

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    def like(self, value: Any, there: Any) -> Supported:
        return Supported(value, there, self.__gradcli_namespace__)

    def astype(self, dtype: Any, copy: bool = True) -> Supported:
        return self.like(self.value.astype(dtype), self.there)

    def copy(self) -> Supported:
        return self

    @property
    def T(self) -> Supported:
        return self.like(self.value.T, self.there.T)

    def _scaled(self, factor: Any, run: Run) -> Supported:
        """Return the entries that are there, with a factor; zeros elsewhere."""
        if isinstance(factor, Supported):
            raise NotLinear
        base = self.__gradcli_namespace__.base
        shape = np.broadcast_shapes(self.shape, getattr(factor, "shape", ()))
        there = self.there if shape == self.shape else base.expand(self.there, shape)
        return self.like(base.where(there, run(self.value, factor), 0), there)

    def __neg__(self) -> Supported:
        return self.like(-self.value, self.there)

    def __add__(self, other: Any) -> Supported:
        if not isinstance(other, Supported):
            other = self.__gradcli_namespace__.nothing(other)
        value = self.value + other.value
        base = self.__gradcli_namespace__.base
        return self.like(value, base.logical_or(self.there, other.there))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Supported:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Supported:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> Supported:
        return self._scaled(other, ARITHMETIC["mul"])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Supported:
        return self._scaled(other, ARITHMETIC["div"])

    def __getitem__(self, index: Any) -> Any:
        return self.__gradcli_namespace__.getitem(self, index)


def is_none(mask: Any) -> bool:
    """Return whether a mask is False everywhere, and in all rows."""
    return not data_of(mask).any()


def data_of(raw: Any) -> Any:
    """Return an array; of a column, that of all rows."""
    return getattr(raw, "data", raw) if isinstance(raw, WrappedArray) else raw


def has_nan(raw: Any) -> bool:
    """Return whether a value, in any row if it is a column, is NaN somewhere."""
    data = data_of(raw)
    if data.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        total = data.sum()
    # A number that is nan is not equal to itself, on every device.
    return bool(total != total) and bool((data != data).any())


def _moving(name: str) -> Run:
    """Return a method that moves values and masks as the function ``name`` does."""

    def method(self: Supports, x: Supported, *args: Any, **kwargs: Any) -> Supported:
        change = getattr(self.base, name)
        moved = (change(part, *args, **kwargs) for part in (x.value, x.there))
        return x.like(*moved)

    return method


class Supports(WrapperNamespace, of=Supported):
    """The functions that rules call, on supported values over those of ``base``."""

    base: Any

    def nothing(self, x: Any) -> Supported:
        """Return zeros of which none is there; refuse other numbers."""
        x = self.np.asarray(x) if isinstance(x, int | float) else x
        if not is_none(x):
            raise NotLinear
        shape = tuple(x.shape)
        return Supported(x, self.np.zeros(shape, bool), self)

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Return the result of an operator; refuse functions that are not linear."""
        if name in ARITHMETIC:
            return ARITHMETIC[name](*args, **kwargs)
        raise NotLinear

    def where(self, mask: Any, a: Any, b: Any) -> Any:
        if isinstance(mask, Supported):
            raise NotLinear
        parts = []
        for each, chosen in ((a, mask), (b, self.base.logical_not(mask))):
            part = each if isinstance(each, Supported) else self.nothing(each)
            value = self.base.where(chosen, part.value, 0)
            shape = tuple(value.shape)
            there = part.there
            if shape != part.shape:
                there = self.base.expand(there, shape)
            parts.append(part.like(value, there))
        made: Supported = parts[0] + parts[1]
        return made

    permute = _moving("permute")
    transpose = _moving("transpose")
    expand = _moving("expand")
    reshape = _moving("reshape")
    flip = _moving("flip")
    roll = _moving("roll")
    diagonal = _moving("diagonal")
    getitem = _moving("getitem")
    unsqueeze = _moving("unsqueeze")
    tril = _moving("tril")
    triu = _moving("triu")

    def put_add(self, shape: Shape, index: Any, g: Supported) -> Supported:
        put = self.base.put_add
        return self._either(g, lambda part: put(shape, index, part))

    def put_view(self, shape: Shape, index: Any, g: Supported) -> Supported:
        put = self.base.put_view
        return self._either(g, lambda part: put(shape, index, part))

    def sum(self, x: Supported, dim: Dims = None, keepdim: bool = False) -> Supported:
        return self._either(x, lambda part: self.base.sum(part, dim, keepdim))

    def cumsum(self, x: Supported, dim: int) -> Supported:
        return self._either(x, lambda part: self.base.cumsum(part, dim))

    def _either(self, x: Supported, run: Run) -> Supported:
        """Return sums of entries; one is there if a part of it is."""
        return x.like(run(x.value), run(x.there * self.np.float64(1)) > 0)

    def cat(self, tensors: Sequence[Any], dim: int = 0) -> Supported:
        return self._joined("cat", tensors, dim)

    def stack(self, tensors: Sequence[Any], dim: int = 0) -> Supported:
        return self._joined("stack", tensors, dim)

    def _joined(self, name: str, tensors: Sequence[Any], dim: int) -> Supported:
        join = getattr(self.base, name)
        parts = [t if isinstance(t, Supported) else self.nothing(t) for t in tensors]
        value = join([part.value for part in parts], dim)
        return Supported(value, join([part.there for part in parts], dim), self)

    def matmul(self, a: Any, b: Any) -> Supported:
        left = isinstance(a, Supported)
        g, other = (a, b) if left else (b, a)
        if isinstance(other, Supported):
            raise NotLinear
        base, lone = self.base, (a.ndim == 1, b.ndim == 1)

        def pair(part: Any) -> tuple[Any, Any]:
            """Return both operands with the dimensions of a product of entries."""
            x, y = (part, other) if left else (other, part)
            x = base.unsqueeze(x, 0) if lone[0] else x
            y = base.unsqueeze(y, 1) if lone[1] else y
            return base.unsqueeze(x, -1), base.unsqueeze(y, -3)

        x, y = pair(g.value)
        mask = pair(g.there)[0 if left else 1]
        factors = g.there * self.np.float64(1), base.ones_like(other)
        there = base.matmul(*(factors if left else factors[::-1])) > 0
        value = base.sum(base.where(mask, x * y, 0), -2)
        if lone[1]:
            value = value[..., 0]
        if lone[0]:
            value = value[..., 0] if lone[1] else value[..., 0, :]
        return Supported(value, there, self)

    def einsum(self, equation: str, *operands: Any) -> Supported:
        given = [x for x in operands if isinstance(x, Supported)]
        others = [x for x in operands if not isinstance(x, Supported)]
        if len(given) > 1 or not all(map(self.base.is_finite, others)):
            raise NotLinear
        values = [x.value if isinstance(x, Supported) else x for x in operands]
        masks = [
            x.there * self.np.float64(1)
            if isinstance(x, Supported)
            else self.base.ones_like(x)
            for x in operands
        ]
        run = self.base.einsum
        return given[0].like(run(equation, *values), run(equation, *masks) > 0)


def row_of(output: Tensor, inputs: Sequence[Tensor], nr: int) -> list[Any]:
    """Return the derivatives of one entry of an output by each input, as arrays or
    columns; None where no path leads to an input."""
    ends = frozenset(x.edge for x in inputs if x.edge is not None)
    order = between([output.edge], ends)[::-1]
    xp = Supports(output.xp)
    needed = frozenset(order)

    def send(edge: Edge, g: Any) -> Iterator[tuple[Edge, Any]]:
        return sent_below(edge, g, needed, partial(_pulled, xp))

    with RecordingOff():
        seeds = {output.edge: _unit(xp, output, nr)}
        arrived = accumulate(order, seeds, send, added, keep=ends)
    found = [arrived.get(x.edge) for x in inputs]
    return [None if g is None else g.value for g in found]


def column_of(outputs: Sequence[Tensor], x: Tensor, nr: int) -> list[Any]:
    """Return the derivatives of each output by one entry of an input, as `row_of`."""
    xp = Supports(x.xp)
    known: dict[Any, Any] = {x.edge: _unit(xp, x, nr)}
    roots = [y.edge for y in outputs if y.edge is not None]
    with RecordingOff():
        push_through(roots, known, lambda node, ts: _pushed(xp, node, ts))
    found = [known.get(y.edge) if y.edge is not None else None for y in outputs]
    return [None if t is None else t.value for t in found]


def _unit(xp: Supports, like: Tensor, nr: int) -> Supported:
    """Return one entry of a value that is one, and there; the others are not."""
    shape = tuple(like.shape)
    there = xp.np.zeros(like.numel(), bool)
    there[nr] = True
    value = there.astype(like.raw.dtype)
    return Supported(value.reshape(shape), there.reshape(shape), xp)


def _pulled(xp: Supports, node: Node, g: Any, wanted: Sequence[Edge]) -> Sequence[Any]:
    """Return the cotangents of a node's edges; None where nothing is there."""
    several = isinstance(g, list)
    if isinstance(node, Joined):
        return [g, *[None] * (len(node.edges) - 1)]
    if not isinstance(node, CustomNode):
        inputs, y = node.restored()
        given = materialise(node, g) if several else g
        try:
            return _checked(xp, node.apply_rules(xp, given, y, inputs, wanted))
        except NotLinear:
            pass

    def pull(parts: list[Any]) -> Sequence[Any]:
        return node.pull(materialise(node, parts) if several else parts[0])

    return _on_values(xp, pull, g if several else [g])


def _pushed(xp: Supports, node: Node, arriving: list[Any]) -> Any:
    """Return the tangent of a node's output, a tuple for several."""
    several = node.several
    if not isinstance(node, CustomNode) and node.op.jvp is not TRANSPOSED:
        try:
            made = push(node, arriving, xp=xp)
            found = _checked(xp, made if isinstance(made, tuple) else [made])
            return tuple(found) if isinstance(made, tuple) else found[0]
        except NotLinear:
            pass

    def forward(parts: list[Any]) -> Sequence[Any]:
        made = push(node, parts)
        return made if isinstance(made, tuple) else [made]

    found = _on_values(xp, forward, arriving)
    return tuple(found) if several else found[0]


def _checked(xp: Supports, parts: Sequence[Any]) -> list[Supported | None]:
    """Return the results of a rule; None where nothing is there."""
    found: list[Supported | None] = []
    for part in parts:
        if part is None or (isinstance(part, Supported) and is_none(part.there)):
            found.append(None)
        else:
            found.append(part if isinstance(part, Supported) else xp.nothing(part))
    return found


def _on_values(
    xp: Supports, run: Callable[[list[Any]], Sequence[Any]], given: Sequence[Any]
) -> list[Supported | None]:
    """Return the results of a rule that is run only on values."""
    values = [None if part is None else part.value for part in given]
    some: Any = None
    for part in given:
        if part is not None:
            here = xp.base.sum(part.there * xp.np.float64(1)) > 0
            some = here if some is None else xp.base.logical_or(some, here)
    return [
        None
        if made is None
        else Supported(made, xp.base.expand(some, tuple(made.shape)), xp)
        for made in run(values)
    ]
