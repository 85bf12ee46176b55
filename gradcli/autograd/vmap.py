"""`vmap`: a function of one sample, run on each sample of a batch.

Invariant: the function is run once per sample, and results are stacked: every
operation, every control flow and every nesting of transforms works as it does for one
sample, is differentiable, and gives the same numbers. It is no faster than a loop.

    vmap(torch.dot, in_dims=(0, None))(rows, w)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple

from ..engine.changes import SAMPLES, apart_from
from ..engine.draws import Samples
from ..engine.errors import EngineError
from ..engine.modes import MODE, no_grad
from ..engine.raw import Run
from ..engine.record import call
from ..engine.tensor import Tensor, zeros_for

BOTH = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an "
    "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
    "overridden vmap staticmethod to avoid ambiguity."
)
NO_RULE = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and "
    "implement the vmap staticmethod or set generate_vmap_rule=True."
)
NO_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
    "jacrev, ...), it must override the setup_context staticmethod."
)
TWO_RETURNS = (
    "Expected the vmap staticmethod to have two returns, an output and out_dims with "
    "pytree structure compatible with the output. Got a {} instead"
)
APART = (
    "the samples of a batch call {} differently; a function with a vmap rule has to be "
    "called by all of them"
)


class VmapInfo(NamedTuple):
    """The size and the randomness of a batch, as a rule is told them."""

    batch_size: int
    randomness: str


class _Waiting(BaseException):
    """Signal that ends a sample's run where it needs the result of a rule."""


class _Call(NamedTuple):
    """A function with a rule, and the arguments of one sample."""

    function: Any
    args: tuple[object, ...]


class Batch(Samples):
    """The samples of one call of a function that `vmap` maps.

    Args:
        origins: per argument the batch and the dimension that samples are taken from.
    """

    def __init__(
        self, randomness: str, size: int, origins: Sequence[tuple[Any, int | None]]
    ) -> None:
        super().__init__(randomness)
        self._info = VmapInfo(size, randomness)
        self._origins = origins
        self._came_from: dict[int, tuple[Tensor, int]] = {}
        self._held: list[object] = []
        self._known: list[list[Any]] = []
        self._waiting: dict[int, _Call] = {}
        self._nr = self._met = self._ran = 0

    @contextmanager
    def sample(self, nr: int, own: Sequence[object]) -> Iterator[None]:
        """Run a block as a sample on its ``own`` arguments; end it where it waits."""
        self._nr, self._met = nr, 0
        self._ran += 1
        self._held += own
        for x, (batch, dim) in zip(own, self._origins, strict=True):
            if dim is not None:
                self._came_from[id(x)] = batch, dim
        try:
            with self.one(nr):
                yield
        except _Waiting:
            if nr not in self._waiting:
                raise

    def ask(self, function: Any, args: tuple[object, ...]) -> Any:
        """Return this sample's part of what the function's rule gives for the batch."""
        if function.generate_vmap_rule:
            raise EngineError(BOTH.format(function.__name__))
        number = self._met
        self._met += 1
        if number < len(self._known):
            return self._known[number][self._nr]
        self._waiting[self._nr] = _Call(function, args)
        raise _Waiting

    def settle(self) -> bool:
        """Run the rule that samples wait for; return whether there was one."""
        calls, ran = list(self._waiting.values()), self._ran
        self._ran = 0
        if not calls:
            return False
        function = calls[0].function
        if len(calls) != ran or any(c.function is not function for c in calls):
            raise EngineError(APART.format(function.__name__))
        self._waiting = {}
        columns = zip(*(c.args for c in calls), strict=True)
        args, dims = zip(*map(self._together, columns), strict=True)
        with no_grad():
            returned = function.vmap(self._info, dims, *args)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise EngineError(TWO_RETURNS.format(type(returned)))
        output, out_dims = returned
        several = isinstance(output, tuple)
        parts = output if several else (output,)
        spread = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(parts)
        per_sample = [
            tuple(
                call("select", y, dim, nr)
                if dim is not None and isinstance(y, Tensor)
                else y
                for y, dim in zip(parts, spread, strict=True)
            )
            for nr in range(ran)
        ]
        self._known.append(per_sample if several else [one[0] for one in per_sample])
        self._held, self._came_from = [], {}
        return True

    def _together(self, values: tuple[object, ...]) -> tuple[Any, int | None]:
        """Stack an argument of all samples; return it and its batch dimension."""
        first = values[0]
        if not isinstance(first, Tensor) or all(v is first for v in values):
            return first, None
        origins = [self._came_from.get(id(v)) for v in values]
        batch = origins[0]
        if batch is not None and all(o and o[0] is batch[0] for o in origins):
            return batch
        return call("stack", list(values), 0), 0


def demand_transformable(function: Any, has_setup: bool, has_rule: bool) -> None:
    """Raise an error for a custom function that transforms cannot run.

    Raises:
        EngineError: in PyTorch's words, saying what it lacks.
    """
    batched = innermost_batch() is not None
    if (batched or MODE.traces) and not has_setup:
        raise EngineError(NO_SETUP)
    if batched and not has_rule and not function.generate_vmap_rule:
        raise EngineError(NO_RULE.format(function.__name__))


def innermost_batch() -> Batch | None:
    """Return the innermost of the batches of which a sample runs."""
    inside = MODE.samples
    return inside[-1] if inside and isinstance(inside[-1], Batch) else None


SIZES_DIFFER = (
    "vmap: Expected all tensors to have the same size in the mapped dimension, got "
    "sizes {} for the mapped dimension"
)
RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Run,
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Run:
    """Return the function that runs ``func`` on each sample of its arguments' batches.

    Args:
        func: takes and gives tensors, which may be nested in tuples, lists and dicts.
        in_dims: the dimension of each argument along which samples lie; None for an
            argument that all samples share. One number, or a tuple, nested as far as
            the arguments are.
        out_dims: where the samples' dimension is put in each output.
        randomness: whether samples may draw random numbers: ``error``, they may not;
            ``different``, each draws its own; ``same``, all draw those of the first.
        chunk_size: accepted; samples are run one by one.

    Raises:
        ValueError: the batches differ in size, or dimensions do not fit.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )
    name = getattr(func, "__name__", repr(func))

    @wraps(func)
    def mapped(*args: object, **kwargs: object) -> object:
        where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
        leaves, shape = flatten(args)
        dims = _in_dims(leaves, shape, in_dims, where)
        named, named_shape = flatten(kwargs)
        dims += [0 if isinstance(x, Tensor) else None for x in named]
        batches = leaves + named
        pairs = list(zip(batches, dims, strict=True))
        sizes = [x.shape[dim] for x, dim in pairs if dim is not None]
        size = int(sizes[0])
        if len(set(sizes)) > 1:
            raise ValueError(SIZES_DIFFER.format(sizes))
        per_sample: list[list[object]] = []
        nested = Shape()
        batch = Batch(randomness, size, pairs)
        waiting = True
        while waiting:
            per_sample = []
            for nr in range(max(size, 1)):
                own = [_sample(x, dim, nr, size) for x, dim in pairs]
                mapped_over = [
                    x for x, dim in zip(own, dims, strict=True) if dim is not None
                ]
                with batch.sample(nr, own), apart_from(mapped_over, SAMPLES):
                    result = func(
                        *shape.fill(own[: len(leaves)]),
                        **named_shape.fill(own[len(leaves) :]),
                    )
                    outputs, nested = flatten(result)
                    per_sample.append(outputs)
            waiting = batch.settle()
        return _batched(per_sample, nested, size, out_dims, name)

    return mapped


def _in_dims(
    leaves: Sequence[object], shape: Shape, in_dims: object, where: str
) -> list[int | None]:
    """Return the batch dimension of each leaf, counted from the front; None: shared."""
    if not isinstance(in_dims, int | tuple | list):
        raise ValueError(
            f"{where}: expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    spread = shape.spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims)
    if spread is None:
        raise ValueError(
            f"{where}: in_dims is not compatible with the structure of `inputs`. "
            f"in_dims has structure {flatten(in_dims)[1]} but inputs has structure "
            f"{shape}."
        )
    if all(dim is None for dim in spread):
        raise ValueError(
            f"{where}: at least one input has to be mapped over, all in_dims are None"
        )
    return [_in_dim(x, dim, where) for x, dim in zip(leaves, spread, strict=True)]


def _in_dim(x: object, dim: object, where: str) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but in_dim must be either an "
            "integer dimension or None."
        )
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{where}: Got in_dim={dim} for an input but the input is of type "
            f"{type(x)}. We cannot vmap over non-Tensor arguments, please use None as "
            "the respective in_dim"
        )
    if not -x.dim() <= dim < x.dim():
        raise ValueError(
            f"{where}: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {x.dim()} so expected in_dim to satisfy -{x.dim()} <= "
            f"in_dim < {x.dim()}."
        )
    return dim % x.dim()


def _sample(x: Any, dim: int | None, nr: int, size: int) -> Any:
    """Return one sample of a batch; of an empty one, zeros."""
    if dim is None:
        return x
    if size:
        return call("select", x, dim, nr)
    return zeros_for(x, (*x.shape[:dim], *x.shape[dim + 1 :]))


def _batched(
    per_sample: Sequence[Sequence[Any]],
    nested: Shape,
    size: int,
    out_dims: object,
    name: str,
) -> object:
    """Stack the samples' outputs, nested as one sample's are."""
    spread = nested.spread(out_dims)
    if spread is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`. out_dims has structure "
            f"{flatten(out_dims)[1]} but outputs has structure {nested}."
        )
    stacked = []
    for parts, dim in zip(zip(*per_sample, strict=True), spread, strict=True):
        y = parts[0]
        for part in parts:
            if dim is not None and not isinstance(part, Tensor):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                    f"{type(part)}. Did you mean to set out_dims= to None for output?"
                )
        if dim is None:
            stacked.append(y)
        elif size:
            stacked.append(call("stack", list(parts), dim))
        else:
            at = dim % (y.dim() + 1)
            stacked.append(zeros_for(y, (*y.shape[:at], 0, *y.shape[at:])))
    return nested.fill(stacked)


LEAF = "*"


@dataclass(frozen=True, slots=True)
class Shape:
    """How leaves are nested: the container's type, its keys if any, its members."""

    kind: Any = None
    keys: tuple[object, ...] = ()
    members: tuple[Shape, ...] = ()

    def fill(self, leaves: Iterable[object]) -> Any:
        """Return the nested value that has these leaves, in order."""
        return self._fill(iter(leaves))

    def _fill(self, leaves: Iterator[object]) -> object:
        if self.kind is None:
            return next(leaves)
        filled = [member._fill(leaves) for member in self.members]
        if issubclass(self.kind, dict):
            return self.kind(zip(self.keys, filled, strict=True))
        if hasattr(self.kind, "_fields"):
            return self.kind(*filled)
        return self.kind(filled)

    def spread(self, value: object) -> list[Any] | None:
        """Return one value per leaf from one nested less deeply; None if it differs."""
        if self.kind is None or not _is_nested(value):
            return [value] * self.count()
        members, keys = _members(value)
        same = len(members) == len(self.members) and keys == self.keys
        if not same:
            return None
        parts = [s.spread(m) for s, m in zip(self.members, members, strict=True)]
        return (
            None if None in parts else [leaf for part in parts for leaf in part or ()]
        )

    def count(self) -> int:
        """Return how many leaves there are."""
        if self.kind is None:
            return 1
        return sum(member.count() for member in self.members)

    def __str__(self) -> str:
        if self.kind is None:
            return LEAF
        inside = [str(member) for member in self.members]
        if self.keys:
            pairs = zip(self.keys, inside, strict=True)
            return "{" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "}"
        if issubclass(self.kind, list):
            return f"[{', '.join(inside)}]"
        return f"({', '.join(inside)}{',' if len(inside) == 1 else ''})"


def flatten(value: object) -> tuple[list[Any], Shape]:
    """Return the leaves of a nested value, left to right, and its shape."""
    if not _is_nested(value):
        return [value], Shape()
    members, keys = _members(value)
    leaves = []
    shapes = []
    for member in members:
        own, shape = flatten(member)
        leaves += own
        shapes.append(shape)
    return leaves, Shape(type(value), keys, tuple(shapes))


def _is_nested(value: object) -> bool:
    return isinstance(value, tuple | list | dict)


def _members(value: Any) -> tuple[Sequence[object], tuple[object, ...]]:
    if isinstance(value, dict):
        return list(value.values()), tuple(value)
    return value, ()
