"""Random numbers: generators, seeds and the tensors drawn with them.

Invariant: every draw takes a generator, the default one unless another is given, and
happens on the CPU; so a seed gives the same numbers on every device, and the ones that
it gives in PyTorch.

    manual_seed(0)
    randn(2, 3), randint(10, (4,)), randperm(5)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ..engine import dtypes
from ..engine.changes import demand_changeable, edge_of, rebase, write
from ..engine.dtypes import DEFAULT, DeviceLike, dtype, sizes_of
from ..engine.errors import EngineError, ShapeError
from ..engine.memory_order import in_memory_order
from ..engine.methods import named
from ..engine.modes import MODE
from ..engine.raw import Host, Run
from ..engine.tensor import Tensor
from .creation import alike, array_of, constructor, make_tensor

SINGLE_BITS, DOUBLE_BITS = 24, 53
"""Bits of a word that make a single-precision number, and of two words a double."""

WORD = 32
BLOCK = 16
"""Number of normal numbers drawn in one block; fewer are drawn one by one."""


class Mersenne:
    """A stream of 32-bit words, read as numbers."""

    def __init__(self, seed: int) -> None:
        from numpy.random import MT19937, RandomState

        self._bits = MT19937()
        # NumPy's older generator begins from a seed as the reference program does.
        old = RandomState(seed % (1 << WORD)).get_state(legacy=False)
        self._bits.state = {"bit_generator": "MT19937", "state": old["state"]}
        self._kept: float | None = None

    def words(self, count: int) -> Host:
        drawn: Host = self._bits.random_raw(count)
        return drawn

    def doubles(self, count: int) -> Host:
        """Return 64-bit words made of two words each, the first as the higher half."""
        pairs = self.words(2 * count).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(WORD)) | pairs[:, 1]

    def uniform(self, count: int, name: str) -> Host:
        """Return ``count`` uniform draws from [0, 1) in the type ``name``."""
        if name == "float64":
            bits, drawn = DOUBLE_BITS, self.doubles(count)
        else:
            bits, drawn = SINGLE_BITS, self.words(count)
        found = ((drawn & np.uint64((1 << bits) - 1)) * 2.0**-bits).astype(name)
        # As in PyTorch, what is rounded up to the end is the beginning.
        return np.where(found < 1, found, 0).astype(name)

    def below(self, count: int, limit: int) -> Host:
        """Return ``count`` integers drawn from 0 up to but without ``limit``."""
        drawn = self.words(count) if limit < 1 << WORD else self.doubles(count)
        return (drawn % np.uint64(limit)).astype(np.int64)

    def permutation(self, count: int) -> Host:
        """Return the numbers below ``count`` in random order, by swaps."""
        order = list(range(count))
        steps = self.words(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint64)
        for at, step in enumerate(steps.tolist()):
            order[at], order[at + step] = order[at + step], order[at]
        return np.array(order, np.int64)

    def normal(self, count: int, name: str) -> Host:
        """Return standard normal draws, by the method of Box and Muller 1958."""
        if count < BLOCK:
            return self.single_normal(count, name)
        kind = "float64" if name == "float64" else "float32"
        whole = count - count % BLOCK
        drawn = np.zeros(count, kind)
        # Half numbers of a last block that is not whole are drawn once, others twice.
        first = whole if name == "float16" else count
        drawn[:first] = self.uniform(first, kind)
        drawn[:whole] = _as_normal(drawn[:whole])
        if count % BLOCK:
            drawn[-BLOCK:] = _as_normal(self.uniform(BLOCK, kind))
        return drawn.astype(name)

    def single_normal(self, count: int, name: str) -> Host:
        """Return standard normal draws that are made one by one; of two that are made
        at once the second is kept for the next."""
        kept = [] if self._kept is None else [self._kept]
        pairs = max(count + 1 - len(kept), 0) // 2
        turns, lengths = self.uniform(2 * pairs, "float64").reshape(-1, 2).T.tolist()
        for turn, length in zip(turns, lengths, strict=True):
            radius, angle = math.sqrt(-2 * math.log1p(-length)), 2 * math.pi * turn
            kept += radius * math.cos(angle), radius * math.sin(angle)
        self._kept = kept[count] if len(kept) > count else None
        return np.array(kept[:count], name)

    def state(self) -> bytes:
        """Return the state of the stream as bytes, which `go_back` restores."""
        state = self._bits.state["state"]
        kept = math.nan if self._kept is None else self._kept
        tail = np.array([kept], "<f8").tobytes()
        key: bytes = state["key"].astype("<u4").tobytes()
        return key + int(state["pos"]).to_bytes(8, "little") + tail

    def go_back(self, held: bytes) -> None:
        """Set the stream to a state that `state` returned."""
        key, pos, tail = held[:-16], held[-16:-8], held[-8:]
        numbers: Any = {
            "key": np.frombuffer(key, "<u4"),
            "pos": int.from_bytes(pos, "little"),
        }
        self._bits.state = {"bit_generator": "MT19937", "state": numbers}
        kept = float(np.frombuffer(tail, "<f8")[0])
        self._kept = None if math.isnan(kept) else kept


def _as_normal(drawn: Host) -> Host:
    """Return normal numbers made of blocks of uniform ones: 8 radii, then 8 angles."""
    half = BLOCK // 2
    blocks = drawn.reshape(-1, 2, half)
    radius = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    angle = blocks.dtype.type(2 * math.pi) * blocks[:, 1]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return pairs.reshape(drawn.shape)


FIRST_SEED = 67280421310721
"""Seed of a generator that is given none, as in PyTorch."""

_SEED_BYTES = 8


class Generator:
    """An independent source of random numbers.

    Args:
        device: taken for PyTorch's sake; numbers are drawn on the CPU.
    """

    def __init__(self, device: DeviceLike = "cpu") -> None:
        self.device = device
        self._start(FIRST_SEED)

    def _start(self, seed: int) -> None:
        self._seed = seed
        self.stream = Mersenne(seed)

    def manual_seed(self, seed: int) -> Generator:
        """Start anew from a seed, and return the generator."""
        self._start(int(seed))
        return self

    def seed(self) -> int:
        """Start anew from a seed of the operating system, and return the seed."""
        from secrets import randbits

        self._start(randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed that the generator started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Return the state of the generator, as a tensor of bytes."""
        held = self._seed.to_bytes(_SEED_BYTES, "little") + self.stream.state()
        return make_tensor(np.frombuffer(held, "uint8").copy(), False)

    def set_state(self, new_state: Tensor) -> Generator:
        """Restore a state that `get_state` returned, and return the generator."""
        held = new_state.numpy().tobytes()
        self._seed = int.from_bytes(held[:_SEED_BYTES], "little")
        self.stream.go_back(held[_SEED_BYTES:])
        return self


default_generator = Generator()

RANDOM_IN_SAMPLES = (
    "vmap: called random operation while in randomness error mode. Please either use "
    "the 'same' or 'different' randomness flags on vmap or perform the randomness "
    "operation out of vmap"
)


class SampledDraws:
    """The rule for random draws in the samples of a batch, which run one by one.

    ``randomness`` is ``error`` (no draws are allowed), ``different``, or ``same``: each
    sample draws the numbers that the first one drew. A sample that runs again draws
    its own numbers again.
    """

    def __init__(self, randomness: str) -> None:
        self.randomness = randomness
        self._starts: dict[int, dict[int, tuple[Generator, bytes]]] = {}
        self._running = 0

    def meet(self, generator: Generator) -> None:
        """Note that a generator is about to draw; raise an error if samples may not."""
        if self.randomness == "error":
            raise EngineError(RANDOM_IN_SAMPLES)
        starts = self._starts.setdefault(self._running, {})
        if id(generator) not in starts:
            starts[id(generator)] = generator, generator.stream.state()

    @contextmanager
    def one(self, nr: int = 0) -> Iterator[None]:
        """Run a block as the sample number ``nr``."""
        self._running = 0 if self.randomness == "same" else nr
        for generator, start in self._starts.get(self._running, {}).values():
            generator.stream.go_back(start)
        with MODE.having(samples=(*MODE.samples, self)):
            yield


def _stream(generator: Generator | None) -> Mersenne:
    """Return the stream that a draw takes its numbers from, after
    `SampledDraws.meet`."""
    chosen = generator or default_generator
    for samples in MODE.samples:
        samples.meet(chosen)
    return chosen.stream


@contextmanager
def fork_rng(
    devices: object | None = None, enabled: bool = True, **_: object
) -> Iterator[None]:
    """Run a block whose draws leave the default generator as it was.

    Args:
        devices: taken for PyTorch's sake; numbers are drawn on the CPU.
        enabled: False: the generator stays changed.
    """
    before = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(before)


manual_seed = default_generator.manual_seed
seed = default_generator.seed
initial_seed = default_generator.initial_seed
get_rng_state = default_generator.get_state
set_rng_state = default_generator.set_state


# Tensors that are drawn.

Source: TypeAlias = Generator | None
"""A generator; None: the default one."""


def uniform(shape: tuple[int, ...], name: str, generator: Source) -> Host:
    """Return an array drawn uniformly from [0, 1); no entry rounds up to 1."""
    return _stream(generator).uniform(prod(shape), name).reshape(shape)


def uniform_like(t: Tensor, name: str, generator: Source, *others: Tensor) -> Host:
    """Return uniform draws from [0, 1) in the shape and order of memory of a tensor;
    where it has no order, ``others`` tell it."""
    drawn = uniform((t.numel(),), name, generator)
    found: Host = in_memory_order(drawn, t.raw, *(each.raw for each in others))
    return found


def standard_normal(
    shape: tuple[int, ...], name: str, generator: Source, single: bool = False
) -> Host:
    """Return an array drawn from the standard normal distribution, ``single`` entry by
    entry."""
    stream = _stream(generator)
    draw = stream.single_normal if single else stream.normal
    return draw(prod(shape), name).reshape(shape)


def _whole(
    low: int, high: int, shape: tuple[int, ...], type_: dtype | None, generator: Source
) -> Host:
    """Return an array of integers drawn from ``[low, high)``."""
    if low >= high:
        raise EngineError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= "
            f"to={high}"
        )
    drawn = low + _stream(generator).below(prod(shape), high - low).reshape(shape)
    return np.asarray(drawn, (type_ or dtypes.int64).name)


def _family(
    name: str, draw: Run, kernel: str, what: str
) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    """Return the constructors ``name`` and ``name_like`` of floats that ``draw`` gives;
    ``kernel`` is PyTorch's name of the draw, for errors."""

    def drawn(
        shape: tuple[int, ...], type_: dtype | None, generator: Source, **how: bool
    ) -> Host:
        chosen = type_ or DEFAULT.dtype
        if not chosen.is_floating_point:
            raise NotImplementedError(
                f"\"{kernel}\" not implemented for '{chosen.legacy}'"
            )
        return np.asarray(draw(shape, chosen.name, generator, **how))

    def sized(type_: dtype | None, *size: object, generator: Source = None) -> Host:
        return drawn(sizes_of(size, name), type_, generator)

    def like(type_: dtype, input: Tensor, *, generator: Source = None) -> Host:
        shape = tuple(input.shape)
        how = {}
        if draw is standard_normal:
            filled = in_memory_order(np.empty(input.numel()), input.raw)
            how = {"single": not filled.flags.c_contiguous}
        return drawn(shape, type_, generator, **how)

    doc = f"{what} in the shape and type of a tensor."
    return (
        constructor(named(sized, name, f"{what} of a shape: numbers, or one tuple.")),
        alike(named(like, f"{name}_like", doc)),
    )


rand, rand_like = _family(
    "rand", uniform, "check_uniform_bounds", "Uniform draws from [0, 1)"
)
randn, randn_like = _family(
    "randn", standard_normal, "normal_kernel_cpu", "Standard normal draws"
)


@constructor
def randint(
    type_: dtype | None, low: Any = None, high: Any = None, size: Any = None,
    *, generator: Source = None,
) -> Host:  # fmt: skip
    """Return integers drawn from ``low`` (default 0) up to but without ``high``.

    Raises:
        RuntimeError: ``low`` is not below ``high``.
    """
    if size is None:
        low, high, size = None, low, high
    if high is None:
        low, high = None, low
    return _whole(low or 0, high, sizes_of((size,), "randint"), type_, generator)


@constructor
def randperm(type_: dtype | None, n: int, *, generator: Source = None) -> Host:
    """Return the numbers from 0 to n - 1 in random order."""
    (count,) = sizes_of((n,), "randperm")
    order = _stream(generator).permutation(count)
    return order.astype((type_ or dtypes.int64).name)


def normal(
    mean: object, std: object = 1.0, size: object | None = None, **options: Any
) -> Tensor:
    """Return normal draws of given means and standard deviations.

    Args:
        mean, std: numbers, or tensors that broadcast.
        size: the shape, where both are numbers; None: that of the tensors.
    """
    like = next((v for v in (mean, std) if isinstance(v, Tensor)), None)
    if like is not None:
        options = {"dtype": like.dtype, "device": like.device} | options
    return _normal(mean, std, size, **options)


def _demand_deviation(std: Any) -> None:
    if std < 0:
        raise EngineError(f"normal expects std >= 0.0, but found std {std:g}")


@constructor
def _normal(
    type_: dtype | None, mean: object, std: object, size: Any, *,
    generator: Source = None,
) -> Host:  # fmt: skip
    means, deviations = (_host_array(v) for v in (mean, std))
    if not isinstance(std, Tensor):
        _demand_deviation(std)
    elif (deviations < 0).any():
        raise EngineError("normal expects all elements of std >= 0.0")
    shape: tuple[int, ...] = np.broadcast_shapes(means.shape, deviations.shape)
    if size is not None:
        shape = sizes_of((size,), "normal")
    name = (type_ or DEFAULT.dtype).name
    drawn = means + deviations * standard_normal(shape, name, generator)
    return np.asarray(drawn, name)


def bernoulli(input: Tensor, *, generator: Source = None) -> Tensor:
    """Return ones, drawn with the probabilities in ``input``, and zeros elsewhere.

    Raises:
        EngineError: a probability lies outside of [0, 1].
    """
    chances = _host_array(input)
    if not bool(((chances >= 0) & (chances <= 1)).all()):
        raise EngineError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = uniform(chances.shape, chances.dtype.name, generator) < chances
    return make_tensor(np.asarray(drawn, input.dtype.name), False, input.device)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *,
    generator: Source = None,
) -> Tensor:  # fmt: skip
    """Return positions drawn from each row, with the entries as their weights.

    Args:
        input: weights of shape ``(n,)`` or ``(rows, n)``; they need not sum to 1.
        num_samples: how many positions to draw from each row.
        replacement: whether a position may be drawn again.

    Returns:
        Positions of type int64, of shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises:
        EngineError: weights that are negative or not finite, or too few of them.
    """
    weights = _host_array(input)
    rows = weights.reshape(-1, weights.shape[-1])
    if not bool((rows >= 0).all() and (rows.sum(1) > 0).all()):
        raise EngineError(
            "probability tensor contains either `inf`, `nan` or element < 0"
        )
    if not replacement and num_samples > int((rows > 0).sum(1).min()):
        raise EngineError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    # As in PyTorch, a single draw does not depend on ``replacement``.
    if replacement and num_samples > 1:
        # Positions are found by a search in the rows' running sums.
        sums = rows.cumsum(1)
        sums = sums / sums[:, -1:]
        at = uniform((len(rows), num_samples), "float64", generator)
        found = [np.searchsorted(s, one) for s, one in zip(sums, at, strict=True)]
        drawn = np.stack(found)
    else:
        # Those are drawn whose exponential times over their weights are the least.
        drawn = uniform_like(input, "float64", generator)
        times = -np.log1p(-drawn.reshape(rows.shape))
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = np.where(rows > 0, rows / times, -1)
        drawn = np.argsort(-speed, axis=1, kind="stable")[:, :num_samples].copy()
    return make_tensor(
        drawn.reshape(*weights.shape[:-1], num_samples), False, input.device
    )


# Draws that are written into a tensor.


def _overwritten(self: Tensor, values: Host) -> Tensor:
    """Write drawn numbers to all entries, and return the tensor; no gradient passes."""
    demand_changeable(self)
    write(self, (), self.xp.array(np.asarray(values, self.raw.dtype.name)))
    if MODE.enabled and self.edge is not None:
        rebase(self, edge_of("fill_.Scalar", (self,), (self.edge,), value=0))
    return self


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Source = None,
    **bounds: float,
) -> Tensor:  # fmt: skip
    """Fill the tensor with uniform draws from ``[from, to)``."""
    low = bounds.pop("from", from_)
    if bounds:
        raise TypeError(f"uniform_() got an unexpected keyword {next(iter(bounds))!r}")
    if low > to:
        raise ShapeError(
            f"uniform_ expects to return a [from, to) range, but found from={low} > "
            f"to={to}"
        )
    name = self.raw.dtype.name
    drawn = uniform_like(self, "float64" if name == "float64" else "float32", generator)
    values = (low + drawn * (to - low)).astype(name)
    return _overwritten(self, np.where(values == to, low, values))


def normal_(
    self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Source = None
) -> Tensor:
    """Fill the tensor with draws from a normal distribution."""
    _demand_deviation(std)
    single = not self.is_contiguous()
    drawn = standard_normal((self.numel(),), self.raw.dtype.name, generator, single)
    return _overwritten(self, mean + in_memory_order(drawn, self.raw) * std)


def random_(
    self: Tensor, from_: int = 0, to: int | None = None, *, generator: Source = None
) -> Tensor:
    """Fill the tensor with integers from ``[from_, to)``; ``random_(n)``: below n."""
    if to is None:
        digits = {"f2": 2**11 + 1, "f4": 2**24 + 1, "f8": 2**53 + 1, "b1": 2, "u1": 256}
        code = self.dtype.code
        from_, to = 0, from_ or digits.get(code, 1 << (8 * int(code[1:]) - 1))
    drawn = _whole(from_, to, (self.numel(),), None, generator)
    return _overwritten(self, in_memory_order(drawn, self.raw))


def bernoulli_(self: Tensor, p: object = 0.5, *, generator: Source = None) -> Tensor:
    """Fill the tensor with ones, of probability ``p``, and zeros."""
    if isinstance(p, Tensor):
        drawn = uniform_like(self, p.raw.dtype.name, generator, p.expand_as(self))
        return _overwritten(self, drawn < _host_array(p))
    return _overwritten(self, uniform_like(self, "float64", generator) < p)


def exponential_(
    self: Tensor, lambd: float = 1.0, *, generator: Source = None
) -> Tensor:
    """Fill the tensor with exponential draws of rate ``lambd``."""
    drawn = uniform_like(self, "float64", generator)
    return _overwritten(self, -np.log1p(-drawn) / lambd)


def _host_array(value: object) -> Any:
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    return array_of(value, dtypes.float64, copy=False)
