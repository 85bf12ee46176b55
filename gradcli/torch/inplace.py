"""Methods that change a tensor in place.

Invariant: ``x.name_(...)`` writes what ``name(x, ...)`` gives into the memory of ``x``
and returns ``x``; everything else about a change is in `gradcli.engine.changes`.

    x.mul_(2); x += 1; x[x > 0] = 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..engine import devices, indexing
from ..engine.changes import (
    OVERLAPPING,
    change,
    demand_changeable,
    demand_numbers,
    edge_of,
    is_expanded,
    note_change,
    rebase,
    renew_views,
    settle_memory,
    write,
)
from ..engine.errors import EngineError, ShapeError
from ..engine.methods import named
from ..engine.modes import MODE
from ..engine.node import Node, turned_class
from ..engine.promote import fitting
from ..engine.raw import Host, Raw, Run
from ..engine.record import call
from ..engine.tensor import Tensor
from ..engine.versions import owner
from ..ops.types import Index
from .conversions import to
from .creation import array_of
from .public import public_function


def in_place(name: str) -> Callable[..., Tensor]:
    """Return the in-place form of a function of the table."""
    return _changed(public_function(name), name)


def _changed(apply: Run, name: str) -> Callable[..., Tensor]:
    """Return the in-place form of ``apply``, a function of the name ``name``."""

    def run(self: Tensor, *args: object, **kwargs: object) -> Tensor:
        return change(self, lambda old: apply(old, *args, **kwargs))

    made: Callable[..., Tensor] = named(run, f"{name}_", f"`{name}`, in place.")
    return made


def _as_operand(self: Tensor, value: object) -> Tensor:
    """Return a value that is to be written as a tensor on the device of ``self``. If
    that holds integers or truth values, no gradient passes to the value."""
    if isinstance(value, Tensor):
        demand_numbers(self, value)
        moved = to(value, device=self.xp)
        if self.is_floating_point():
            return moved
        return moved.detach().to(self.dtype)
    if isinstance(value, int | float):
        entries = np.asarray(fitting(value, self.raw.dtype), self.raw.dtype)
    else:
        type_ = self.dtype if self.is_floating_point() else None
        entries = array_of(value, type_, copy=False)
    return Tensor(self.xp.array(entries), self.xp)


def _each_once(t: Tensor) -> Tensor:
    """Return a view in which entries that were expanded from one occur once."""
    raw = t.raw
    for d, (n, step) in enumerate(zip(raw.shape, raw.strides, strict=True)):
        if n > 1 and not step:
            t = call("narrow", t, d, 0, 1)
    return t


def zero_(self: Tensor) -> Tensor:
    """Fill the tensor with zeros."""
    change(_each_once(self), lambda old: call("zero_.default", old, 0))
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill the tensor with one number.

    Raises:
        EngineError: the tensor's type cannot hold the number, or several are given.
    """
    if not isinstance(value, Tensor):
        number = fitting(value, self.raw.dtype)
        change(_each_once(self), lambda old: call("fill_.Scalar", old, number))
        return self
    if value.raw.shape:
        raise EngineError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions."
        )
    return _filled(self, _as_operand(self, value))


def _filled(self: Tensor, given: Tensor) -> Tensor:
    """Fill a tensor with the number in ``given``, through which gradients pass."""
    return change(self, lambda old: call("fill_.Tensor", old, given))


def copy_(self: Tensor, src: object, non_blocking: bool = False) -> Tensor:
    """Write the entries of ``src``, broadcast, cast and moved to fit this tensor."""
    given = _as_operand(self, src)
    try:
        np.broadcast_shapes(self.raw.shape, given.raw.shape)
    except ValueError:
        raise _does_not_fit(self.raw.shape, given.raw.shape) from None
    return change(self, lambda old: call("copy_.default", old, given))


def _choosing(name: str) -> Callable[..., Tensor]:
    """Return the in-place form of a function that keeps or replaces each entry; in an
    expanded tensor a replaced entry is written to the place that it shares."""

    def run(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        apply = public_function(name)
        if not is_expanded(self.raw):
            return change(self, lambda old: apply(old, *args, **kwargs))
        nought, one = (
            apply(call("full_like", self, n), *args, **kwargs) for n in (0, 1)
        )
        replaced = (nought != 0) | (one != 1)
        self[replaced] = apply(self, *args, **kwargs)[replaced]
        return self

    made: Callable[..., Tensor] = named(run, f"{name}_", f"`{name}`, in place.")
    return made


masked_fill_ = _choosing("masked_fill")


def index_put_(
    self: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> Tensor:
    """Write values at positions, or add them to the entries there."""
    if accumulate or not is_expanded(self.raw):
        return in_place("index_put")(self, indices, values, accumulate)
    self[tuple(slice(None) if i is None else i for i in indices)] = values
    return self


def _does_not_fit(want: Sequence[int], have: Sequence[int]) -> ShapeError:
    want, have = list(want), list(have)
    lead = len(want) - len(have)
    if lead < 0:
        return ShapeError(
            f"The number of sizes provided ({len(want)}) must be greater or equal to "
            f"the number of dimensions in the tensor ({len(have)})"
        )
    pairs = enumerate(zip(want[lead:], have, strict=True))
    dim = next((d for d, (n, m) in pairs if m not in (1, n)), 0)
    return ShapeError(
        f"The expanded size of the tensor ({want[lead + dim]}) must match the existing "
        f"size ({have[dim]}) at non-singleton dimension {lead + dim}.  Target sizes: "
        f"{want}.  Tensor sizes: {have}"
    )


def fill_diagonal_(self: Tensor, fill_value: object, wrap: bool = False) -> Tensor:
    """Write one number to the main diagonal."""
    if wrap:
        raise ValueError("fill_diagonal_ with wrap=True is not offered; use wrap=False")
    fill_(call("diagonal", self), fill_value)
    return self


def _reshaping(name: str) -> Callable[..., Tensor]:
    """Return the in-place form of a function whose result is a view of its operand."""
    apply = public_function(name)

    def run(self: Tensor, *args: object, **kwargs: object) -> Tensor:
        demand_changeable(self)
        before, held = self.edge, self.raw
        seen = apply(self, *args, **kwargs)
        if MODE.enabled:
            self.raw, self.edge = seen.raw, seen.edge
        else:
            settle_memory(self, seen.raw)
        if self.xp.writeable and not MODE.renews:
            note_change(held, self.raw)
        if isinstance(self.edge, Node) and self.edge is not before:
            self.edge.__class__ = turned_class(type(self.edge))
            renew_views(self, but=self)
        return self

    made: Callable[..., Tensor] = named(run, f"{name}_", f"`{name}`, in place.")
    return made


squeeze_, unsqueeze_ = _reshaping("squeeze"), _reshaping("unsqueeze")
transpose_ = _reshaping("transpose")


def __setitem__(self: Tensor, index: Index, value: object) -> None:
    """Write ``value`` to ``x[index]``, and record it.

    Raises:
        IndexError: a position is outside a dimension, or there are too many items.
        ShapeError: the value does not broadcast to the shape that is indexed.
    """
    at, arrays = indexing.assignable(self, index)
    given = _as_operand(self, value)
    whole = not arrays and all(i is ... or i == slice(None) for i in at)
    if whole and not given.raw.shape:
        _filled(self, given)
        return
    if whole:
        copy_(self, _without_leading_ones(given, self.raw.ndim))
        return
    if is_expanded(self.raw) and not arrays:
        region = self[index]
        copy_(region, _without_leading_ones(given, region.ndim))
        return
    demand_changeable(self, part=not arrays)
    name = "index_put.positions" if arrays else "copy_slices.positions"
    recorded = MODE.enabled and not (self.edge is None and given.edge is None)
    if recorded and is_expanded(self.raw):
        raise EngineError(OVERLAPPING)
    positions = numbers_at(self, at) if recorded else None
    if given.raw.ndim:
        given = _without_leading_ones(given, self.raw[at].ndim)
    try:
        write(self, at, given.raw)
    except ValueError:
        want, have = list(self.raw[at].shape), list(given.raw.shape)
        if not arrays:
            raise _does_not_fit(want, have) from None
        raise ShapeError(
            f"shape mismatch: value tensor of shape {have} cannot be broadcast to "
            f"indexing result of shape {want}"
        ) from None
    if positions is not None:
        at, edges = self.xp.array(positions), (self.edge, given.edge)
        rebase(self, edge_of(name, (self, given), edges, at=at))


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    """Return the value without leading dimensions of size 1 beyond ``ndim``."""
    extra = value.raw.ndim - ndim
    if extra > 0 and all(n == 1 for n in value.raw.shape[:extra]):
        found: Tensor = call("reshape", value, value.raw.shape[extra:])
        return found
    return value


def numbers_at(t: Tensor, index: object) -> Host:
    """Return the numbers, counted from 0 in order, of the entries that an index of a
    tensor selects."""
    return np.asarray(np.arange(t.numel()).reshape(t.raw.shape)[_on_host(index)])


def _on_host(value: object) -> Any:
    """Return an index with its arrays as NumPy arrays."""
    if isinstance(value, tuple):
        return tuple([_on_host(v) for v in value])
    return devices.host(value) if hasattr(value, "dtype") else value


# Memory that a transform of functions may change.

DERIVATIVE = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
    "call in-place operation that would mutate a captured Tensor. This is not "
    "supported; please rewrite the function being transformed to explicitly accept the "
    "mutated Tensor(s) as inputs."
)
SAMPLES = (
    "vmap: an inplace operation on a Tensor from outside the function, which all "
    "samples share, is not possible: each sample would change it. Please use "
    "out-of-place operators, or clone() the Tensor inside the function."
)


class WritableMemory:
    """The memory that a transform may change, by the identities of the owning arrays.

    An older array that code in the transform can change lives as long as the transform.
    So it never has the identity of a known array that has died.
    """

    __slots__ = ("known", "refusal")

    def __init__(self, refusal: str) -> None:
        self.refusal = refusal
        self.known: set[int] = set()

    def note(self, *raw: Raw) -> None:
        """Add the memory of arrays to the known memory."""
        self.known.update([id(owner(each)) for each in raw])

    def move(self, before: Raw, now: Raw) -> None:
        """Add the memory ``now`` to the known memory if ``before`` is in it."""
        if id(owner(before)) in self.known:
            self.note(now)

    def demand(self, raw: Raw) -> None:
        """Raise an error if the memory of an array is not known."""
        if id(owner(raw)) not in self.known:
            raise EngineError(self.refusal)


@contextmanager
def separate_from(own: Iterable[object], refusal: str) -> Iterator[None]:
    """Run a block in which only its ``own`` arguments and newer memory may change."""
    outer = MODE.made
    made = WritableMemory(refusal)
    made.note(*(x.raw for x in own if isinstance(x, Tensor)))
    try:
        with MODE.having(made=made):
            yield
    finally:
        if outer is not None:
            outer.known |= made.known
