"""The base class of namespaces: the functions that rules call in a number system.

A *namespace* gives the names that a rule calls as ``xp.name``: the table's own public
names with the table's own parameters (``xp.sum(x, dim, keepdim)``). Each number system
has one: arrays (`gradcli.engine.arrays`), recording tensors (`gradcli.engine.record`),
SymPy expressions and balls (`gradcli.check`).

Invariant: a namespace implements a small basis itself; any other name resolves to the
row of that name, run in this same namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, cast

from ..ops import FUNCTIONS, OPS, Composite
from ..ops.arrange import windowed
from ..ops.index import contiguous_strides, strided
from ..ops.shape import CONTIGUOUS, inverse_order
from ..ops.types import Index, Sliding
from ..ops.types import Namespace as Vocabulary
from .raw import Library, Raw, Run


class NumberSystem:
    """A number system; names that it does not define are looked up in the table.

    ``plain`` marks the namespaces of arrays. ``keeps_positions``: a position
    that was computed stays in the index as an array, rather than as its value.
    ``writeable``: an array's entries can be changed in place. ``takes_numbers``: at
    home, plain numbers become numbers of this namespace rather than of arrays.
    ``waits``: who asks for values waits for a device, and what was put off is in
    ``doubts``. ``precise``: numbers have more digits than floats.
    ``whole_row(op, inputs, params)`` gives a row's result where a namespace does not
    leave that to the row's formula. ``pending`` is the namespace in which a GPU runs
    formulas, so that their steps become kernels together.
    """

    np: Library
    device: str
    symbolic: bool
    plain = keeps_positions = takes_numbers = waits = precise = False
    in_floats = False
    doubts: Sequence[Callable[[], None]] = ()
    writeable = True
    whole_row: Run | None = None
    pending: Any = None

    def __getattr__(self, name: str) -> Callable[..., Raw]:
        entry = FUNCTIONS.get(name)
        if entry is None:
            raise AttributeError(f"{type(self).__name__} has no function {name!r}")
        if isinstance(entry, Composite):
            bound: Callable[..., Raw] = partial(entry.build, self.call)
        else:
            bound = partial(entry.fwd, self)
        setattr(self, name, bound)
        return bound

    def later(self, check: Callable[[], None]) -> None:
        """Run a check that reads values and may raise an error: at once or, on a GPU,
        when numbers are next read from it."""
        check()

    def extremes(self, at: Raw) -> tuple[Raw, Raw]:
        """Return the least and the largest position, for checks."""
        return at.min(), at.max()

    def settle(self) -> None:
        """Run the checks that were put off."""

    def followed(self) -> AbstractContextManager[None]:
        """Return a block for a custom function's ``forward``: its unrecorded results do
        not become constants. It has an effect on symbols only."""
        return nullcontext()

    def at_home(self) -> AbstractContextManager[None]:
        """Return a block in which new floats are of a symbolic namespace."""
        return nullcontext()

    def taking_numbers(self) -> AbstractContextManager[None]:
        """Return a block in which only plain numbers are of this namespace, exactly, if
        it is symbolic."""
        return nullcontext()

    def shown(self, x: Raw) -> Any:
        """Return the values as nested lists, for printing."""
        return x.tolist()

    def integer(self, x: Raw) -> int:
        """Return the only entry, cut to a Python integer."""
        return int(x.item())

    def stop(self, x: Raw) -> Raw:
        """Return the values without their derivatives, which only symbols carry."""
        return x

    def variable(self, x: Raw) -> Raw:
        """Return the values as ones that `derived` can take derivatives by."""
        return x

    def derived(self, y: Raw, x: Raw, found: Raw) -> Raw:
        """Return the derivative of ``y`` by ``x``, which the reverse pass ``found``; a
        system that checks the rules of that pass has it in its own way."""
        return found

    def to_copy(
        self,
        x: Raw,
        dtype: str | None,
        device: NumberSystem | None,
        back: object = None,
    ) -> Raw:
        """Return the values in another type or on another device, if it has those."""
        return x

    def windowed(self, x: Raw, d: int, starts: range, size: int) -> Raw:
        """Return the windows over a dimension, in a new last dimension."""
        return cast("Raw", windowed(cast("Vocabulary", self), x, d, starts, size))

    def largest_of(self, parts: Sequence[Raw]) -> tuple[Raw, Raw]:
        """Return the largest of several arrays at each place, and the number of the
        array it is first found in; NaN is larger than any number."""
        joined = self.stack(parts, -1)
        number = self.argmax(joined, -1)
        found = self.gather(joined, -1, self.unsqueeze(number, -1))
        return self.reshape(found, parts[0].shape), number

    def nextafter(self, x: Raw, other: Raw) -> Raw:
        """Return ``x``, since exact numbers have no neighbours. Where both are equal it
        passes no derivative, as in the row."""
        return self.where(self.eq(x, other), self.stop(x), x)

    def plus(self, y: Raw, x: Raw) -> Raw:
        """Return ``y + x`` in the shape of ``y``; it may be written to the memory of
        ``y``, which only the caller holds."""
        return y + x

    def is_finite(self, x: Raw) -> bool:
        """Return whether all entries are known to be finite; False if that would take a
        computation."""
        return False

    def in_parts(self, run: Run, arrays: Sequence[Raw], entries: int) -> Raw:
        """Return ``run(*arrays)``, run on a few items of the first dimension at a time
        where that is faster; ``entries`` is the number of results per item."""
        made: Raw = run(*arrays)
        return made

    def calling(self, function: Callable[..., Any], *arrays: Any) -> Any:
        """Return what a function of arrays gives; a recording makes it a step."""
        return function(*arrays)

    def matmul_like(self, a: Raw, b: Raw, like: Raw) -> Raw:
        """Return ``a @ b``, in the memory layout of ``like`` where there is memory."""
        return self.matmul(a, b)

    def cells(self, x: Raw, windows: Sliding, counts: tuple[int, ...]) -> Raw:
        """Return the entries of ``counts`` windows over an array (N, C, spatial...), in
        the shape (N, C, entries of the kernel, counts...)."""
        return self.stack([self.getitem(x, at) for at in windows.slices(counts)], 2)

    def put_views(
        self, shape: tuple[int, ...], slices: Sequence[Index], parts: Sequence[Raw]
    ) -> Any:
        """Return the sum of all parts, each at its slices of zeros."""
        total: Any = 0
        for at, part in zip(slices, parts, strict=True):
            total = total + self.put_view(shape, at, part)
        return total

    def geometry(self, x: Raw) -> tuple[tuple[int, ...], int]:
        """Return the strides and the offset of the first entry, both in entries."""
        return contiguous_strides(x.shape), 0

    def strided(
        self, x: Raw, size: tuple[int, ...], stride: tuple[int, ...], start: int
    ) -> Raw:
        """Return the entries at a size and strides, as a view where there is memory."""
        return cast("Raw", strided(cast("Vocabulary", self), x, size, stride, start))

    def with_separate_version(self, x: Raw) -> Raw:
        """Return an array on the same memory whose changes are counted separately."""
        return x

    def carried(self, raw: Raw, after: Raw, address: int) -> Raw:
        """Return the part of a copy of memory that ``raw`` views in the original."""
        return self.seen(after, raw.shape, raw.strides, address)

    def packed(self, y: Raw) -> Raw:
        """Return the entries, stored in the order of their indices."""
        return y if self.is_contiguous(y) else self.clone(y, CONTIGUOUS)

    def in_order_of(self, y: Raw, x: Raw) -> Raw:
        """Return the entries, stored in the order of those of ``x`` if the shapes are
        equal, else in the order of their indices."""
        if y.shape != x.shape or self.is_contiguous(x):
            return self.packed(y)
        steps = self.geometry(x)[0]
        order = sorted(range(len(steps)), key=steps.__getitem__, reverse=True)
        return self.packed_in(y, order)

    def packed_in(self, y: Raw, order: Sequence[int]) -> Raw:
        """Return the entries, stored with the dimensions in an order, outer first."""
        turned = self.packed(self.permute(y, order))
        return self.permute(turned, inverse_order(tuple(order)))

    def call(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """Return the result of the row or the public function ``name`` on arrays."""
        op = OPS.get(name)
        if op is not None:
            return op.fwd(self, *args, **kwargs)
        return getattr(self, name)(*args, **kwargs)
