"""Changes of shape and order of object arrays, as views of their memory or as copies.

Invariant: what NumPy gives as a view shares its memory with its source, so that a
change of the one is seen in the other; elements themselves never change.

    xp.transpose(x, 0, 1).base is x         # True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from ..engine import NUMPY
from ..engine.arrays import ArrayNamespace
from ..engine.modes import MODE
from ..engine.namespace import Namespace
from ..engine.raw import Host, Raw, Run
from ..engine.versions import owner
from ..ops.types import Dims, Shape
from .arrays import Numbers, ObjectArray, boxed
from .balls import to_float
from .decided import as_floats, floats, whole
from .system import System

Given = TypeVar("Given")


def _arranging(name: str) -> Run:
    """Return a function of arrays that puts entries into another order or shape."""
    arrange = getattr(NUMPY, name)

    def run(
        self: ShapeNamespace, x: object, *args: object, **params: object
    ) -> Numbers:
        return self._shaped(x, lambda data: arrange(data, *args, **params))

    return run


class ShapeNamespace(Namespace):
    """The functions of object arrays that never look at an element's value."""

    symbolic = True
    device = "cpu"
    np = np
    """The module that makes masks and indices, which are NumPy's arrays."""

    def __init__(self, system: System[Any]) -> None:
        self.system = system
        self.watching = False
        """Whether a program is running: what it makes under ``no_grad`` is constant."""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Run a program in this block: what it makes unrecorded stays constant."""
        self.watching = True
        try:
            yield
        finally:
            self.watching = False

    @contextmanager
    def followed(self) -> Iterator[None]:
        before, self.watching = self.watching, False
        try:
            yield
        finally:
            self.watching = before

    @contextmanager
    def taking_numbers(self) -> Iterator[None]:
        """Take plain numbers in this block for numbers of this namespace."""
        before, self.takes_numbers = self.takes_numbers, True
        try:
            with self.at_home():
                yield
        finally:
            self.takes_numbers = before

    @contextmanager
    def at_home(self) -> Iterator[None]:
        before, MODE.home = MODE.home, self
        try:
            yield
        finally:
            MODE.home = before

    def shown(self, x: Any) -> Any:
        return floats(self.system, x.data).tolist()

    def elements(self, x: object) -> Host:
        """Return a NumPy array of elements, made from numbers or arrays of any kind."""
        raise NotImplementedError

    def floats(self, data: Host) -> Host:
        """Return the elements' values as floats, with which the program goes on."""
        return as_floats(self.system, data)

    def integer(self, x: Any) -> int:
        if not isinstance(x, ObjectArray):
            return super().integer(x)
        made = whole(self.system, x.data.reshape(-1)[0])
        return int(to_float(self.system.value(made)))

    def _of(self, data: Host) -> ObjectArray:
        return ObjectArray(
            self._stopped(data) if self._makes_constants else boxed(data), self
        )

    @property
    def _makes_constants(self) -> bool:
        """Whether what is made now is kept constant."""
        return self.watching and not MODE.enabled

    def _stopped(self, data: Host) -> Host:
        return boxed(np.frompyfunc(self.system.stop, 1, 1)(data))

    def arranged(self, data: Host, source: ObjectArray) -> ObjectArray:
        """Return elements of ``source`` in another order or shape."""
        made = ObjectArray(boxed(data), self, source)
        stopped = source.stopped or self._makes_constants
        if stopped and made.base is None:
            return ObjectArray(self._stopped(made.data), self)
        made.stopped = stopped
        return made

    def stop(self, x: Any) -> Any:
        """Return the same values, through which no derivative is taken."""
        if not isinstance(x, ObjectArray):
            return x
        made = ObjectArray(x.data, self, x)
        made.stopped = True
        return made

    windowed: Run = ArrayNamespace.windowed
    geometry: Run = ArrayNamespace.geometry
    strided: Run = ArrayNamespace.strided

    def seen(
        self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], address: int
    ) -> Numbers:
        """Return a view, of a given shape, of an array's memory from an address on.

        Args:
            strides: the steps of the view's dimensions, in bytes.
        """
        base = owner(x)
        flat = _memory(base).ravel("K")
        start = (address - self.address(base)) // flat.itemsize
        data = np.lib.stride_tricks.as_strided(flat[start:], shape, strides)
        return self.arranged(data, x) if isinstance(x, ObjectArray) else data

    def carried(self, raw: Any, after: Any, address: int) -> Raw:
        made = super().carried(raw, after, address)
        if isinstance(made, ObjectArray):
            made.stopped = raw.stopped
        return made

    def _shaped(self, x: object, change: Callable[[Any], Any]) -> Numbers:
        """Return an array changed by ``change``, of the kind that it was."""
        if isinstance(x, ObjectArray):
            return self.arranged(change(x.data), x)
        found: Host = change(np.asarray(x))
        return found

    reshape: Run = _arranging("reshape")
    clone: Run = _arranging("clone")
    expand: Run = _arranging("expand")
    permute: Run = _arranging("permute")
    transpose: Run = _arranging("transpose")
    unsqueeze: Run = _arranging("unsqueeze")
    flip: Run = _arranging("flip")
    roll: Run = _arranging("roll")
    diagonal: Run = _arranging("diagonal")

    def is_contiguous(self, x: object) -> np.bool_:
        return np.bool_(_memory(x).flags.c_contiguous)

    def address(self, x: object) -> int:
        return int(_memory(x).__array_interface__["data"][0])

    def array_itself(self, x: Given) -> Given:
        return x

    def apart(self, x: object) -> Any:
        """Return another array on the same memory."""
        return self._shaped(x, lambda a: a.view())

    def moved(self, x: Given, device: object) -> Given:
        """Return the array itself: elements are on no device."""
        return x

    def to_copy(
        self, x: object, dtype: object, device: object, back: object = None
    ) -> Any:
        """Return a copy; elements have one kind and are on no device."""
        return self._shaped(x, lambda a: a.copy())

    def is_viewable(self, x: object, shape: Sequence[int]) -> np.bool_:
        memory = _memory(x)
        reshaped = np.reshape(memory, tuple(shape))
        return np.bool_(memory.size < 2 or np.may_share_memory(memory, reshaped))

    def cat(self, tensors: Sequence[object], dim: int = 0) -> Numbers:
        return self._joined(tensors, lambda parts: np.concatenate(parts, axis=dim))

    def stack(self, tensors: Sequence[object], dim: int = 0) -> Numbers:
        return self._joined(tensors, lambda parts: np.stack(parts, axis=dim))

    def _joined(
        self, tensors: Sequence[object], join: Callable[[Any], Host]
    ) -> Numbers:
        if not any(isinstance(t, ObjectArray) for t in tensors):
            return join(tensors)
        return self._of(join([self.elements(t) for t in tensors]))

    def tril(self, x: object, diagonal: int = 0) -> ObjectArray:
        return self._triangle(np.tril, x, diagonal)

    def triu(self, x: object, diagonal: int = 0) -> ObjectArray:
        return self._triangle(np.triu, x, diagonal)

    def _triangle(
        self, cut: Callable[[Host, int], Host], x: object, diagonal: int
    ) -> ObjectArray:
        data = self.elements(x)
        mask = cut(np.ones(data.shape[-2:], dtype=bool), diagonal)
        return self._of(np.where(mask, data, self.system.lift(0)))


def as_tuple(dims: Dims) -> int | Shape | None:
    return tuple(dims) if isinstance(dims, list) else dims


def _memory(x: object) -> Host:
    return x.data if isinstance(x, ObjectArray) else np.asarray(x)
