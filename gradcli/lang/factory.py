"""The factory, which makes the tensors of a run from numbers.

Every tensor that a program makes from numbers has the run's number system, device and
dtype; its size is checked before it is allocated. Random numbers come from streams that
depend on the seed and a name alone, so a new input does not change the draws of others.

    factory = Factory(NUMPY, "float64", seed=0)
    factory.constant([1.0, 2.0])              # a constant tensor of shape (2,)
    factory.draw("w1", (3,))                  # the same for every program that reads w1
"""

from collections.abc import Callable
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import Tensor
from ..ops.checks import check_size
from .errors import ProgramError
from .nested import Floats, array_of
from .plain import whole_number

if TYPE_CHECKING:
    from numpy.random import Generator

CONSTRUCTORS = frozenset(
    {"arange", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "tensor",
     "zeros"}
)  # fmt: skip
"""Names of functions that make a tensor of plain numbers; none is a tensor's method."""

RANDOM = frozenset({"rand", "randint", "randn", "rand_like", "randn_like"})
"""Names of the constructors of random numbers."""

HASH_BYTES = 32
"""Length of a name's hash, in bytes; a name that is not longer is not hashed."""

Values = Callable[[tuple[int, ...]], object]
"""A function that returns an array of a given shape."""

_LEFT_OUT = {
    "requires_grad": "leave the line out and bind the name: w=randn(3) on the command "
    "line makes it an input",
    "dtype": "a run has one dtype: choose it with --dtype",
    "device": "a run has one device: choose it with --device",
    "generator": "choose the draws with --seed",
}


_BOUNDS = ("low", "high", "size")


class Factory:
    """A maker of tensors in a number system ``xp``, with a dtype and a random seed."""

    def __init__(self, xp: Any, dtype: str, seed: int) -> None:
        self.xp = xp
        self.dtype = dtype
        self.seed = seed

    def on(self, xp: Any) -> "Factory":
        """Return a factory of the same dtype and seed in another number system."""
        return Factory(xp, self.dtype, self.seed)

    def raw(self, values: object) -> Any:
        """Return a NumPy array or number as an array of this run's number system."""
        raw = self.xp.array(np.asarray(values, dtype=self.dtype))
        # NumPy's own scalars are three times faster than arrays of shape ().
        return raw[()] if isinstance(raw, np.ndarray) else raw

    def constant(self, values: object) -> Tensor:
        return Tensor(self.raw(values), self.xp)

    def leaf(self, values: object) -> Tensor:
        """Return a tensor that requires a gradient; the values are copied unless their
        array is read-only."""
        fixed = isinstance(values, np.ndarray) and not values.flags.writeable
        own = values if fixed else np.array(values)
        return Tensor(self.raw(own), self.xp, requires_grad=True)

    def stream(self, name: str) -> "Generator":
        """Return the random generator of an input, or of the program itself; the hash
        of a name longer than `HASH_BYTES` stands for it."""
        from numpy.random import PCG64, Generator, SeedSequence

        key = name.encode()
        if len(key) > HASH_BYTES:
            from hashlib import blake2b

            key = blake2b(key, digest_size=HASH_BYTES).digest()
        number = int.from_bytes(key, "big")
        return Generator(PCG64(SeedSequence([self.seed, number])))

    def draw(self, name: str, shape: tuple[int, ...] = ()) -> Floats:
        """Return standard normal numbers for an input without a value."""
        return self.stream(name).standard_normal(shape)

    def numbers_of(self, value: object) -> Floats:
        """Return a number, or a list of numbers, of a program as a NumPy array.

        Raises:
            ProgramError: ``value`` is something else.
        """
        try:
            return array_of(value)
        except ProgramError as problem:
            raise ProgramError("E302", problem.message, hint=problem.hint) from None

    # Three ways to fill an array, which a factory of exact numbers has its own of.

    def filled(self, shape: tuple[int, ...], number: object) -> Floats:
        return np.full(shape, number)

    def spaced(self, first: float, pace: float, count: int) -> Floats:
        return first + pace * np.arange(count, dtype=np.float64)

    def between(self, start: float, end: float, count: int) -> Floats:
        return np.linspace(start, end, count)

    def constructors(self, draws: "Draws") -> dict[str, Callable[..., object]]:
        """Return the constructors by name; ``draws`` are numbers of the random ones."""
        rand: Values = lambda shape: draws.generator.random(shape)
        randn: Values = lambda shape: draws.generator.standard_normal(shape)
        shaped: dict[str, Values] = {
            "ones": np.ones,
            "zeros": np.zeros,
            "rand": rand,
            "randn": randn,
        }
        bare: dict[str, Callable[..., object]] = {
            "arange": self._arange,
            "eye": self._eye,
            "full": self._full,
            "linspace": self._linspace,
            "randint": partial(self._randint, draws),
            "rand_like": lambda x: self.constant(rand(x.shape)),
            "randn_like": lambda x: self.constant(randn(x.shape)),
            "tensor": self._tensor,
            **{name: self._of_shape(name, made) for name, made in shaped.items()},
        }
        return {name: _guarded(name, make) for name, make in bare.items()}

    def _tensor(self, data: object) -> Tensor:
        if isinstance(data, Tensor):
            hint = "leave tensor(...) out; .detach() stops the gradient"
            raise ProgramError("E302", "this is a tensor already", hint=hint)
        numbers = self.constant(self.numbers_of(data))
        return numbers != 0 if _all_truths(data) else numbers

    def _of_shape(self, name: str, values: Values) -> Callable[..., Tensor]:
        def make(*sizes: object, size: object = None) -> Tensor:
            return self.constant(values(_shape(name, sizes, size)))

        return make

    def _full(self, size: object, fill_value: object) -> Tensor:
        return self.constant(self.filled(_shape("full", (size,), None), fill_value))

    def _eye(self, n: object, m: object = None) -> Tensor:
        rows = _length("eye", n)
        columns = rows if m is None else _length("eye", m)
        check_size((rows, columns))
        return self.constant(np.eye(rows, columns))

    def _arange(
        self, start: float, end: float | None = None, step: float = 1
    ) -> Tensor:
        first, last = (0.0, start) if end is None else (start, end)
        first, last, pace = map(_as_float, (first, last, step))
        steps = (last - first) / pace if pace else -1.0
        if not 0 <= steps < float("inf"):
            way = f"from {first:g} to {last:g} in steps of {pace:g}"
            hint = "write arange(start, end, step)"
            raise ProgramError("E302", f"arange never gets {way}", hint=hint)
        check_size((ceil(steps),))
        return self.constant(self.spaced(first, pace, ceil(steps)))

    def _randint(self, draws: "Draws", *given: object, **named: object) -> Tensor:
        """Return whole numbers from ``low``, or from 0, up to but without ``high``."""
        names = ("high", "size") if len(given) + len(named) < 3 else (
            "low", "high", "size",
        )  # fmt: skip
        told = {**dict(zip(names, given, strict=False)), **named}
        if len(given) > len(names) or {*names[-2:]} - {*told} or {*told} - {*_BOUNDS}:
            hint = "write randint(high, (2, 3)) or randint(low, high, (2, 3))"
            raise ProgramError("E302", "randint takes bounds and a size", hint=hint)
        low, high = (whole_number(told.get(name, 0)) for name in ("low", "high"))
        if low >= high:
            message = f"no whole number is from {low} up to but without {high}"
            raise ProgramError("E302", message, hint="write randint(low, high, size)")
        shape = _shape("randint", (), told["size"])
        return self.constant(draws.generator.integers(low, high, shape))

    def _linspace(self, start: float, end: float, steps: object) -> Tensor:
        count = _length("linspace", steps)
        check_size((count,))
        return self.constant(self.between(_as_float(start), _as_float(end), count))


class Draws:
    """The random generator of one stream, which can start again from the beginning."""

    def __init__(self, factory: Factory, stream: str) -> None:
        self._start = partial(factory.stream, stream)

    @cached_property
    def generator(self) -> "Generator":
        return self._start()

    def restart(self) -> None:
        """Return to the first random number of the stream."""
        self.__dict__.pop("generator", None)


def _as_float(number: float) -> float:
    return number if isinstance(number, float) else float(number)


def _all_truths(data: object) -> bool:
    """Return whether a nested list is a mask: all its entries are True or False."""
    waiting, found = [data], False
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, list | tuple):
            waiting.extend(entry)
        elif isinstance(entry, bool):
            found = True
        else:
            return False
    return found


def _guarded(name: str, make: Callable[..., object]) -> Callable[..., object]:
    """Return a constructor that refuses options such as ``dtype`` with a hint."""

    def call(*args: object, **keywords: object) -> object:
        if keywords.get("requires_grad") is False:
            del keywords["requires_grad"]
        for keyword in keywords:
            if keyword in _LEFT_OUT:
                message = f"{name} takes no '{keyword}' here"
                raise ProgramError("E302", message, hint=_LEFT_OUT[keyword])
        return make(*args, **keywords)

    return call


def _shape(name: str, sizes: tuple[object, ...], size: object) -> tuple[int, ...]:
    if size is not None:
        sizes = (*sizes, size)
    if len(sizes) == 1 and isinstance(sizes[0], list | tuple):
        sizes = tuple(sizes[0])
    shape = tuple([_length(name, n) for n in sizes])
    check_size(shape)
    return shape


def _length(name: str, value: object) -> int:
    if isinstance(value, list | tuple | str) or value is None:
        message = f"{name} takes integers as sizes"
        raise ProgramError("E302", message, hint=f"write {name}(2, 3)")
    length = whole_number(value)
    if length < 0:
        hint = "a size is 0 or more"
        raise ProgramError("E302", f"{name} cannot make a size of {length}", hint=hint)
    return length
