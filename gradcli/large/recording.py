"""Recordings: the calls that a computation makes on arrays, to be made again on others.

Invariant: whatever a computation learns of the entries (a truth value, a number, a
position) is kept with the answer that it got. A replay asks again: with the same
answers the computation would have made the same calls, so its results are those of a
fresh computation, to the last bit; with another answer it raises `Departed`. What does
not depend on an input is computed once, while recording.

    trace = Trace()
    xp = Recording(NUMPY, trace)
    x = xp.input(np.linspace(0, 1, 5))
    again = Replay(trace, [xp.sin(x) * 2])
    again([np.linspace(1, 2, 5)])             # [sin of the new entries, times 2]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from ..engine.arrays import ArrayNamespace
from ..engine.beside import (
    BASIS,
    WrappedArray,
    WrapperNamespace,
    give_operators,
    holds,
    left_to_base,
    whole,
)
from ..engine.raw import Params, Raw
from ..ops.types import Shape
from .columns import is_elementwise
from .kernel import needed
from .tracing import Function, Trace, TracedArray, TraceValue, Untraceable, cast_to

_ITEM, _TOLIST = operator.methodcaller("item"), operator.methodcaller("tolist")
_SHAPE = operator.attrgetter("shape")
"""Functions that read of an array what every replay has to read again."""

Picker = Callable[[list[Any]], Any]


class Departed(Exception):
    """The error of a replay that gets another answer than the recording did."""


def _calling(function: Function) -> Function:
    """Return a method that records the call of a function of arrays."""
    return lambda x, *args: x.__gradcli_namespace__.record(function, (x, *args), {})


class RecordedArray(TracedArray):
    """An array of a recording, all entries of which are known."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        found: Shape = self.data.shape
        return found

    T = property(_calling(np.transpose))
    all, any = _calling(np.all), _calling(np.any)
    min, max = _calling(np.min), _calling(np.max)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        return self.__gradcli_namespace__.record(cast_to(dtype), (self,), {})

    def copy(self, order: str = "C") -> Any:
        return self.__gradcli_namespace__.record(np.copy, (self,), {})

    def item(self) -> Any:
        """Return the only entry; a replay has to find the same."""
        return self.__gradcli_namespace__.known(self, _ITEM)

    def tolist(self) -> Any:
        return self.__gradcli_namespace__.known(self, _TOLIST)

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: Any) -> Any:
        return self.__gradcli_namespace__.getitem(self, index)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise Untraceable("an array's memory is read")

    __setitem__ = __array__


give_operators(RecordedArray)


class CallRecorder(WrapperNamespace, of=RecordedArray):
    """The namespace of arrays whose calls are recorded, over that of ``base``.

    ``careful``: calls are made again even if no result needs them, as long as they may
    raise an error that depends on entries.
    """

    writeable = False
    careful = False

    def __init__(self, base: ArrayNamespace, trace: Trace) -> None:
        super().__init__(base)
        self.trace = trace

    def input(self, raw: Raw) -> RecordedArray:
        """Return an array as a new input; add inputs before anything is computed."""
        nr = self.trace.inputs
        self.trace.inputs += 1
        self.trace.given[nr] = raw.dtype, raw.shape
        return RecordedArray(raw, self, TraceValue(nr))

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        found = self.record(self.of_base(name), args, kwargs)
        if is_elementwise(name):
            return found
        if self.careful:
            self.trace.asked += [x.value for x in _inside(found)]
        if isinstance(found, RecordedArray):
            given = [*args, *kwargs.values()]
            chosen = [x for each in given for x in _inside(each) if x.dtype.kind != "f"]
            if chosen:  # the size may be theirs to say, as a mask's is
                self.known(found, _SHAPE)
        return found

    def pow(self, a: Any, b: Any) -> Any:
        """Return a power; with the exponent 0 it is 1 whatever the base is."""
        if type(b) in (int, float) and not b:
            return a.data**b
        return self.other("pow", (a, b), {})

    def calling(self, function: Function, *args: Any) -> Any:
        """Return what a function of arrays gives; it is a step if one is recorded."""
        return (
            self.record(function, args, {})
            if holds(RecordedArray, args)
            else function(*args)
        )

    def record(self, function: Function, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Return what a function gives, as arrays of the recording."""
        call, flat = laid_out(function, args, kwargs)
        if any(
            isinstance(x, WrappedArray) and not isinstance(x, RecordedArray)
            for x in flat
        ):
            return NotImplemented  # a batch knows how to be scaled by an array
        found = call(*[x.data if isinstance(x, RecordedArray) else x for x in flat])
        operands = tuple([x.value if isinstance(x, RecordedArray) else x for x in flat])
        if isinstance(found, np.ndarray | np.generic):
            return RecordedArray(found, self, self.trace.add(call, operands, {}, found))
        value = self.trace.add(call, operands, {}, found)
        arrays = isinstance(found, tuple | list) and all(
            isinstance(part, np.ndarray | np.generic) for part in found
        )
        if not arrays:
            self._demand(value, found)
            return found
        pick, kind = operator.getitem, tuple if isinstance(found, tuple) else list
        return kind([
            RecordedArray(part, self, self.trace.add(pick, (value, nr), {}, part))
            for nr, part in enumerate(found)
        ])  # fmt: skip

    def known(self, x: RecordedArray, read: Function) -> Any:
        """Return what is read of an array, which every replay has to find again."""
        found = read(x.data)
        self._demand(self.trace.add(read, (x.value,), {}, found), found)
        return found

    def _demand(self, value: TraceValue, answer: object) -> None:
        if not _is_plain(answer):
            raise Untraceable(f"what is read is a {type(answer).__name__}")
        self.trace.asked.append(
            self.trace.add(Demand(repr(answer)), (value,), {}, None)
        )

    @whole
    def new_full(self, x: Any, shape: Shape, value: Any) -> Any:
        if isinstance(value, RecordedArray):
            return self.record(np.full, (tuple(shape), value, x.dtype), {})
        like = x.data if isinstance(x, RecordedArray) else x
        return self.base.new_full(like, shape, value)


OWN = {
    *vars(CallRecorder),
    "ones_like",
    "plus",
    "symbolic",
    "writing",
    "zeros_like",
}
"""Names that are not left to arrays: ``plus`` and ``writing`` would write over what may
be a constant here, or be read again."""

LAYOUT = {"geometry", "is_contiguous", "is_viewable"}
"""Functions that ask how entries lie in memory, which is the same in each replay."""

MEMORY = {
    "address", "apart", "array", "array_itself", "in_parts", "later", "seen", "settle",
}  # fmt: skip
"""Functions that make no call on entries."""


def _handed_on(name: str) -> Any:
    """Return a method that makes a call of the namespace of arrays."""
    if name in LAYOUT:
        return lambda self, x, *args: getattr(self.base, name)(x.data, *args)
    return lambda self, *args, **kwargs: self.other(name, args, kwargs)


for _name in (BASIS & {*dir(WrapperNamespace)}) - MEMORY - OWN:
    setattr(CallRecorder, _name, left_to_base(_name, _handed_on(_name)))


@dataclass(frozen=True, slots=True)
class Demand:
    """A step that compares what is found with the answer that the recording got, as
    text: a zero has a sign, and NaN is equal to NaN."""

    answer: str

    def __call__(self, found: object) -> None:
        if repr(found) != self.answer:
            raise Departed


@dataclass(frozen=True, slots=True)
class Laid:
    """A function that takes its arguments one after the other.

    layout  for each argument the class and the length of a tuple or a list whose parts
            are given in its place; None: it is given as it is
    names   the names of the last arguments
    """

    function: Function
    layout: tuple[tuple[type, int] | None, ...]
    names: tuple[str, ...]

    def __call__(self, *flat: Any) -> Any:
        parts = iter(flat)
        args = [
            next(parts) if kind is None else kind[0](islice(parts, kind[1]))
            for kind in self.layout
        ]
        first = len(args) - len(self.names)
        named = dict(zip(self.names, args[first:], strict=True))
        return self.function(*args[:first], **named)


def laid_out(
    function: Function, args: tuple[Any, ...], kwargs: Params
) -> tuple[Function, list[Any]]:
    """Return a function and its arguments, so that an array of a recording is never
    inside of a tuple, a list or a dict."""
    given = [*args, *kwargs.values()]
    layout: list[tuple[type, int] | None] = []
    flat: list[Any] = []
    for each in given:
        nested = isinstance(each, tuple | list) and holds(RecordedArray, each)
        layout.append((type(each), len(each)) if nested else None)
        flat += each if nested else [each]
    if any(layout) or kwargs:
        return Laid(function, tuple(layout), tuple(kwargs)), flat
    return function, flat


class Replay:
    """The calls of a recording that results need, to be made on other arrays.

    Args:
        trace: the recording.
        wanted: the results, arrays of the recording or constants.
    """

    def __init__(self, trace: Trace, wanted: Sequence[Any]) -> None:
        steps, found = needed(trace, [*wanted, *trace.asked])
        self._registers: list[Any] = [None] * (trace.inputs + len(trace.steps))
        self._inputs = trace.inputs
        places = {nr: nr for nr in range(trace.inputs)}
        last: dict[int, int] = {}
        for nr, step in steps.items():
            last |= {o.nr: nr for o in step.operands if isinstance(o, TraceValue)}
        results = found[: len(wanted)]
        kept = {r.nr for r in results if isinstance(r, TraceValue)}
        self._results = [self._place(r) for r in results]
        self._owned = [isinstance(r, TraceValue) and r.nr in steps for r in results]
        self._calls = []
        for nr, step in steps.items():
            places[nr] = nr
            read = [self._place(o) for o in step.operands]
            ended = {o.nr for o in step.operands if isinstance(o, TraceValue)} - kept
            drop = tuple(n for n in ended if last[n] == nr)
            pick: Picker = operator.itemgetter(*read) if len(read) > 1 else _only(read)
            self._calls.append((step.function, pick, nr, drop))

    def _place(self, operand: Any) -> int:
        """Return the register that holds an operand: a value, or a constant."""
        if isinstance(operand, TraceValue):
            return operand.nr
        self._registers.append(operand)
        return len(self._registers) - 1

    def __call__(self, arrays: Sequence[Raw]) -> list[Any]:
        """Return the results on other inputs, in memory of their own.

        Raises:
            Departed: the computation would make other calls.
        """
        held = self._registers.copy()
        held[: self._inputs] = arrays
        try:
            for function, pick, nr, drop in self._calls:
                held[nr] = function(*pick(held))
                for old in drop:
                    held[old] = None
        except Departed:
            raise
        except Exception as error:
            raise Departed from error  # a fresh computation says it in its own words
        found: list[Any] = []
        for at, own in zip(self._results, self._owned, strict=True):
            result = held[at]
            alone = own and result.base is None and not any(r is result for r in found)
            found.append(result if alone else np.array(result))
        return found

    @property
    def steps(self) -> int:
        """Return the number of calls that a replay makes."""
        return len(self._calls)


def _only(read: list[int]) -> Picker:
    if not read:
        return lambda held: ()
    (at,) = read
    return lambda held: (held[at],)


def _inside(value: Any) -> list[RecordedArray]:
    """Return the arrays of a recording in an argument."""
    parts = value if isinstance(value, tuple | list) else (value,)
    return [part for part in parts if isinstance(part, RecordedArray)]


def _is_plain(answer: object) -> bool:
    """Return whether an answer's text says what it is."""
    if isinstance(answer, tuple | list):
        return all(map(_is_plain, answer))
    return answer is None or isinstance(answer, bool | int | float | str)
