"""`vmap`: a function of one sample, run on each sample of a batch.

Invariant: the function is run once per sample, and results are stacked: every
operation, every control flow and every nesting of transforms works as it does for one
sample, is differentiable, and gives the same numbers. It is no faster than a loop.

    vmap(torch.dot, in_dims=(0, None))(rows, w)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from ..engine.changes import SAMPLES, apart_from
from ..engine.draws import Samples
from ..engine.raw import Run
from ..engine.record import call
from ..engine.tensor import Tensor, zeros_for

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

    @wraps(func)
    def mapped(*args: object, **kwargs: object) -> object:
        leaves, shape = flatten(args)
        named, named_shape = flatten(kwargs)
        dims = _in_dims(leaves, shape, in_dims)
        dims += [0 if isinstance(x, Tensor) else None for x in named]
        pairs = list(zip(leaves + named, dims, strict=True))
        sizes = [x.shape[dim] for x, dim in pairs if dim is not None]
        if len(set(sizes)) > 1:
            raise ValueError(f"vmap: batches are of one size, got sizes {sizes}")
        samples, size = Samples(randomness), int(sizes[0])
        per_sample: list[list[object]] = []
        nested = Shape()
        for nr in range(max(size, 1)):
            own = [_sample(x, dim, nr, size) for x, dim in pairs]
            mapped_over = [
                x for x, dim in zip(own, dims, strict=True) if dim is not None
            ]
            with samples.one(nr), apart_from(mapped_over, SAMPLES):
                result = func(
                    *shape.fill(own[: len(leaves)]),
                    **named_shape.fill(own[len(leaves) :]),
                )
                outputs, nested = flatten(result)
                per_sample.append(outputs)
        return _batched(per_sample, nested, size, out_dims)

    return mapped


def _in_dims(leaves: Sequence[Any], shape: Shape, in_dims: object) -> list[int | None]:
    """Return the batch dimension of each leaf, counted from the front; None: shared."""
    spread = shape.spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims)
    if spread is None or all(dim is None for dim in spread):
        raise ValueError(
            f"vmap: in_dims={in_dims} is not compatible with the inputs: it is a "
            "number, or numbers and None nested as the inputs are, not all of them None"
        )
    found: list[int | None] = []
    for x, dim in zip(leaves, spread, strict=True):
        if dim is None:
            found.append(None)
            continue
        known = isinstance(dim, int) and isinstance(x, Tensor)
        if not known or not -x.dim() <= dim < x.dim():
            what = f"a tensor of {x.dim()} dimensions" if known else f"{type(x)}"
            raise ValueError(f"vmap: in_dim={dim} is no dimension of {what}")
        found.append(dim % x.dim())
    return found


def _sample(x: Any, dim: int | None, nr: int, size: int) -> Any:
    """Return one sample of a batch; of an empty one, zeros."""
    if dim is None:
        return x
    if size:
        return call("select", x, dim, nr)
    return zeros_for(x, (*x.shape[:dim], *x.shape[dim + 1 :]))


def _batched(
    per_sample: Sequence[Sequence[Any]], nested: Shape, size: int, out_dims: object
) -> object:
    """Stack the samples' outputs, nested as one sample's are."""
    spread = nested.spread(out_dims)
    if spread is None:
        raise ValueError(
            f"vmap: out_dims={out_dims} is not compatible with the outputs"
        )
    stacked = []
    for parts, dim in zip(zip(*per_sample, strict=True), spread, strict=True):
        y = parts[0]
        if dim is None:
            stacked.append(y)
        elif not all(isinstance(part, Tensor) for part in parts):
            raise ValueError(
                f"vmap: a function must only return Tensors, got type {type(y)}: it "
                "needs None in out_dims"
            )
        elif size:
            stacked.append(call("stack", list(parts), dim))
        else:
            at = dim % (y.dim() + 1)
            stacked.append(zeros_for(y, (*y.shape[:at], 0, *y.shape[at:])))
    return nested.fill(stacked)


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
