"""`vmap`: a function of one sample, run on each sample of a batch.

Invariant: the function is run once per sample, and results are stacked: every
operation, every control flow and every nesting of transforms works as it does for one
sample, is differentiable, and gives the same numbers. It is no faster than a loop.

    vmap(torch.dot, in_dims=(0, None))(rows, w)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from typing import Any

from ..engine.captured import SAMPLES, apart_from
from ..engine.raw import Run
from ..engine.record import call
from ..engine.tensor import Tensor, zeros_for
from .batch_rule import Batch
from .tree import Shape, flatten

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
        size = _size(batches, dims)
        per_sample: list[list[object]] = []
        nested = Shape()
        batch = Batch(randomness, size, list(zip(batches, dims, strict=True)))
        waiting = True
        while waiting:
            per_sample = []
            for nr in range(max(size, 1)):
                own = _sample(batches, dims, nr, size)
                pairs = zip(own, dims, strict=True)
                mapped_over = [x for x, dim in pairs if dim is not None]
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


def _size(batches: Sequence[Any], dims: Sequence[int | None]) -> int:
    pairs = zip(batches, dims, strict=True)
    sizes = [x.shape[dim] for x, dim in pairs if dim is not None]
    if len(set(sizes)) > 1:
        raise ValueError(SIZES_DIFFER.format(sizes))
    return int(sizes[0])


def _sample(
    batches: Sequence[Any], dims: Sequence[int | None], nr: int, size: int
) -> list[object]:
    """Return one sample of each batch; of an empty batch, zeros."""
    found = []
    for x, dim in zip(batches, dims, strict=True):
        if dim is None:
            found.append(x)
        elif size:
            found.append(call("select", x, dim, nr))
        else:
            shape = (*x.shape[:dim], *x.shape[dim + 1 :])
            found.append(zeros_for(x, shape))
    return found


def _batched(
    per_sample: Sequence[Sequence[object]],
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
    columns = zip(*per_sample, strict=True)
    stacked = [
        _stacked(parts, dim, size, name)
        for parts, dim in zip(columns, spread, strict=True)
    ]
    return nested.fill(stacked)


def _stacked(parts: Sequence[Any], dim: int | None, size: int, name: str) -> object:
    for y in parts:
        if dim is not None and not isinstance(y, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                f"{type(y)}. Did you mean to set out_dims= to None for output?"
            )
    if dim is None:
        return parts[0]
    if size:
        return call("stack", list(parts), dim)
    y = parts[0]
    at = dim % (y.dim() + 1)
    shape = (*y.shape[:at], 0, *y.shape[at:])
    return zeros_for(y, shape)
