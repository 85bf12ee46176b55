"""Layers for sequences: embeddings, which look up rows of a table by number, one-hot
encodings, and a recurrent layer's step.

Invariant: ``embedding.backward`` is the transpose of ``embedding.default``. The numbers
of rows, and offsets, carry no gradient. The padding row belongs to no bag, and an empty
bag results in zeros. Gates are stacked in PyTorch's order: input, forget, cell, output.

    embedding([2, 0], weight)       # EmbeddingBackward0: weight[2], weight[0]
    one_hot([2, 0])                 # [[0, 0, 1], [1, 0, 0]]
    embedding_bag([1, 2, 4], weight, [0, 2])    # EmbeddingBagBackward0: two means
    h, c = call("lstm.cell", x, h, c, u)        # LstmCellBackward0
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, cast

from .checks import (
    LISTED,
    KindError,
    PositionError,
    ValueRangeError,
    check_size,
    demand_rank,
    refuse,
)
from .index import check_positions, checked_size
from .op import (
    LINEAR,
    PACKED,
    Fixed,
    Formula,
    Rule,
    case,
    function,
    jointly,
    of_floats,
    row,
)
from .types import Array, Caller, Cotangents, Namespace, Outputs, Positions, Tangents

# fmt: off


NO_PADDING = -1
"""Value of ``padding_idx`` in rows for no padding; other values are not negative."""


def rows_at(xp: Namespace, count: int, indices: Array) -> Positions:
    at = xp.as_index(indices)
    check_positions(
        xp, count, 0, at, PositionError, "index out of range in self", from_end=False)
    return at


def without_padding(xp: Namespace, g: Array, at: Array, padding_idx: int) -> Array:
    """Return ``g`` with zeros in the rows whose number is ``padding_idx``."""
    if padding_idx == NO_PADDING:
        return g
    return xp.where(xp.unsqueeze(xp.eq(at, padding_idx), -1), 0, g)


SCALED = ("that of the value except for the row padding_idx, which gets none, and with "
          "scale_grad_by_freq divided by how often a row is read")

row("embedding.default", jvp=LINEAR, slope=SCALED, formula="y[i] = weight[indices[i]]",
    fwd=lambda xp, weight, indices, padding_idx=NO_PADDING, scale_grad_by_freq=False:
    xp.getitem(weight, checked_size(
        weight.shape, (rows_at(xp, weight.shape[0], indices),))),
    vjp=(lambda xp, g, y, weight, indices, padding_idx=NO_PADDING,
         scale_grad_by_freq=False:
         xp.call("embedding.backward", g * xp.call("embedding.shares", g, indices)
                 if scale_grad_by_freq else g, indices, weight.shape[0], padding_idx),
         None),
    cases=[case((4, 3), Fixed([2, 0, 2])), case((4, 3), Fixed([[1, 1], [3, 0]]))])

row("embedding.backward", node="EmbeddingDenseBackwardBackward0", jvp=LINEAR,
    formula="y[indices[i]] += g[i]",
    fwd=lambda xp, x, indices, count, padding_idx=NO_PADDING: xp.put_add(
        (count, x.shape[-1]), (rows_at(xp, count, indices),),
        without_padding(xp, x, xp.as_index(indices), padding_idx)),
    vjp=(lambda xp, g, y, x, indices, count, padding_idx=NO_PADDING:
         without_padding(xp, xp.call("embedding.default", g, indices),
                         xp.as_index(indices), padding_idx), None),
    cases=[case((3, 2), Fixed([2, 0, 2]), count=4),
           case((3, 2), Fixed([2, 0, 2]), count=4, padding_idx=2)])


@row("embedding.shares", formula="1/count(indices == indices[i])", memory=PACKED,
    cases=[case((3, 2), Fixed([2, 0, 2]))])
def shares(xp: Namespace, x: Array, indices: Array) -> Array:
    at = xp.as_index(indices)
    counts = xp.put_add((int(at.max()) + 1,), (at,), xp.new_full(x, at.shape, 1))
    return 1 / xp.unsqueeze(xp.getitem(counts, (at,)), -1)


@function("embedding", operands=("input", "weight"), formula="y[i] = weight[input[i]]",
          doc="Rows of a table, by their numbers; a padding row gets no gradient.")
def embedding(call: Caller, input: Array, weight: Array, padding_idx: int | None = None,
              scale_grad_by_freq: bool = False) -> Array:
    demand_rank("embedding: weight", weight, 2, 2)
    padding = row_of_padding(padding_idx, weight.shape[0])
    return call("embedding.default", weight, input, padding, scale_grad_by_freq)


@row("one_hot", formula="y[i, j] = 1 if x[i] == j, else 0",
    doc="Each number as a row of zeros with a one.",
    cases=[case(Fixed([0, 2, 1])), case(Fixed([[0], [3]]), num_classes=5)])
def one_hot(xp: Namespace, x: Array, num_classes: int = -1) -> Array:
    at = xp.as_index(x)
    refuse(num_classes == -1 and not at.size, "Can not infer total number of classes "
           "from empty tensor.", kind=ValueRangeError)
    if at.size and int(at.min()) < 0:
        raise ValueRangeError("Class values must be non-negative.")
    count = int(at.max()) + 1 if num_classes == -1 else num_classes
    refuse(count < 1, "num_classes should be positive", kind=ValueRangeError)
    if at.size and int(at.max()) >= count:
        raise ValueRangeError("Class values must be smaller than num_classes.")
    check_size((*at.shape, count))
    hits = xp.eq(xp.unsqueeze(at, -1), xp.as_index(range(count)))
    return xp.as_type_of(hits, at)


# bags: runs of the row numbers that are looked up; offsets say where each begins

FAMILY = "bags"


SUM, MEAN, MAX = range(3)
"""Numbers that PyTorch uses for a bag's reduction."""

MODES = {"sum": SUM, "mean": MEAN, "max": MAX}


class Bags(NamedTuple):
    """Lookups of rows, without those of the padding row.

    rows     the number of the table's row, per lookup
    places   its position among all lookups, padding included, per lookup
    bags     the number of its bag, per lookup
    sizes    the number of lookups, per bag
    """

    rows: list[int]
    places: list[int]
    bags: list[int]
    sizes: list[int]


def bags_of(xp: Namespace, count: int, indices: Array, offsets: Array,
            with_end: bool, padding: int) -> Bags:
    rows, begins = xp.as_index(indices).tolist(), xp.as_index(offsets).tolist()
    for extreme in (min(rows), max(rows)) if rows else ():
        refuse(not 0 <= extreme < count, "embedding_bag: Expected idx >= 0 && idx < "
               "num_embeddings but found idx to be {}", extreme)
    ends = begins[1:] if with_end else [*begins[1:], len(rows)]
    spans = list(zip(begins, ends, strict=False))
    whole = [(at, bag) for bag, (begin, end) in enumerate(spans)
             for at in range(begin, end) if rows[at] != padding]
    places, bags = [at for at, _ in whole], [bag for _, bag in whole]
    sizes = [0] * len(spans)
    for bag in bags:
        sizes[bag] += 1
    return Bags([rows[at] for at in places], places, bags, sizes)


def placed(xp: Namespace, x: Array, numbers: object) -> Positions:
    """Return integers as an array on the device of ``x``."""
    return cast("Positions", xp.call("as_index.beside", x, numbers))


def read(xp: Namespace, x: Array, at: list[int]) -> Array:
    """Return the entries of a vector, or rows of a matrix, at positions ``at``."""
    return xp.call("index.Tensor", x, (xp.as_index(at).reshape((-1,)),))


def added(xp: Namespace, x: Array, at: list[int], shape: tuple[int, ...]) -> Array:
    """Return zeros of ``shape`` with ``x`` added at ``at``: the transpose of `read`."""
    return xp.call("index.backward", x, shape, (xp.as_index(at).reshape((-1,)),))


def divided(xp: Namespace, x: Array, bags: Bags, mode: int) -> Array:
    """Return ``x``, which has a row per bag; for MEAN, divided by the bags' sizes."""
    if mode == SUM:
        return x
    sizes = placed(xp, x, [max(n, 1) for n in bags.sizes]).reshape((-1, 1))
    return x / xp.as_type_of(sizes, x)


def counted(xp: Namespace, rows: Array, bags: Bags, weights: Array | None) -> Array:
    """Return the rows that are looked up, each times its weight, if any are given."""
    if weights is None:
        return rows
    return rows * xp.unsqueeze(read(xp, weights, bags.places), -1)


def largest_at(xp: Namespace, weight: Array, bags: Bags) -> Positions:
    """Return, for each bag and column, the number of the first row with the largest
    entry; 0 for an empty bag."""
    listed: list[list[int]] = [[] for _ in bags.sizes]
    for at, bag in zip(bags.rows, bags.bags, strict=True):
        listed[bag].append(at)
    longest = max([1, *bags.sizes])
    check_size((len(listed), longest), LISTED)
    table = xp.as_index([each + (each[:1] or [0]) * (longest - len(each))
                         for each in listed]).reshape((len(listed), longest))
    _, number = xp.largest_of([
        xp.call("index.Tensor", weight, (table[:, k],)) for k in range(longest)])
    nr = xp.as_index(range(len(listed))).reshape((-1, 1))
    return xp.as_index(xp.getitem(table, (nr, number)))


def largest(xp: Namespace, x: Array, at: Array, bags: Bags) -> Array:
    """Return ``x[at[bag, column], column]``, or 0 for an empty bag, as a matrix."""
    if not bags.sizes:
        return xp.new_full(x, (0, x.shape[1]), 0)
    return xp.where(filled(xp, x, bags), xp.gather(x, 0, at), 0)


def filled(xp: Namespace, x: Array, bags: Bags) -> Array:
    return xp.gt(placed(xp, x, bags.sizes).reshape((-1, 1)), 0)


def sums(xp: Namespace, weight: Array, samples: Array | None, bags: Bags, mode: int
         ) -> Array:
    check_size((len(bags.rows), weight.shape[1]))
    rows = counted(xp, read(xp, weight, bags.rows), bags, samples)
    total = added(xp, rows, bags.bags, (len(bags.sizes), weight.shape[1]))
    return divided(xp, total, bags, mode)


def of_bags(rule: Formula) -> Formula:
    """Return a rule of the row that calls ``rule`` with the `Bags` of its inputs."""
    def run(xp: Namespace, g: Array | Tangents, y: Outputs, weight: Array,
            indices: Array, offsets: Array, per_sample_weights: Array | None = None,
            mode: int = SUM, scale_grad_by_freq: bool = False,
            include_last_offset: bool = False, padding_idx: int = NO_PADDING) -> Array:
        bags = bags_of(xp, weight.shape[0], indices, offsets, include_last_offset,
                       padding_idx)
        return cast("Array", rule(xp, g, y, weight, bags, per_sample_weights, mode,
                                  scale_grad_by_freq))

    return run


def by_weight(xp: Namespace, g: Array, y: Outputs, weight: Array, bags: Bags,
              samples: Array | None, mode: int, by_freq: bool) -> Array:
    if mode == MAX:
        if not bags.sizes:
            return xp.zeros_like(weight)
        return xp.call("gather.backward", xp.where(filled(xp, g, bags), g, 0),
                       y[1], weight.shape, 0)
    rows = counted(xp, read(xp, divided(xp, g, bags, mode), bags.bags), bags, samples)
    if by_freq:
        often = Counter(bags.rows)
        counts = placed(xp, rows, [often[at] for at in bags.rows]).reshape((-1, 1))
        rows = rows / xp.as_type_of(counts, rows)
    return added(xp, rows, bags.rows, weight.shape)


def by_sample(xp: Namespace, g: Array, y: Outputs, weight: Array, bags: Bags,
              samples: Array, mode: int, by_freq: bool) -> Array:
    products = read(xp, g, bags.bags) * read(xp, weight, bags.rows)
    return added(xp, xp.sum(products, -1), bags.places, samples.shape)


LOOKED_UP, BEGINS = Fixed([1, 2, 0, 0, 3, 2]), Fixed([0, 2, 2])


@of_floats("embedding_bag.default", slope=SCALED, one_type=True,
    rule=Rule("EmbeddingBagBackwardBackward0", (3,), gives=(0,)),
    formula="y[b] = sum(weight[indices[i]], i in bag b)",
    kink="of equal largest entries the first one counts",
    vjp=(of_bags(by_weight), None, None, of_bags(by_sample)),
    saves=("indices offsets per_sample_weights y.1", "", "",
           "weight indices offsets"), returns=2,
    cases=[case((4, 3), LOOKED_UP, BEGINS, Fixed(None), mode=MEAN),
           case((4, 3), LOOKED_UP, BEGINS, (6,), padding_idx=2),
           case((4, 3), LOOKED_UP, BEGINS, Fixed(None), mode=MAX, make="distinct"),
           case((4, 2), LOOKED_UP, Fixed([0, 3, 6]), Fixed(None), mode=MEAN,
                padding_idx=0, include_last_offset=True)])
def put_together(xp: Namespace, weight: Array, indices: Array, offsets: Array,
                 per_sample_weights: Array | None = None, mode: int = SUM,
                 scale_grad_by_freq: bool = False, include_last_offset: bool = False,
                 padding_idx: int = NO_PADDING) -> tuple[Array, Positions]:
    """Return a row for each bag; and, for mode MAX the numbers of the rows with the
    largest entries, for MEAN the bags' sizes, for SUM zeros."""
    bags = bags_of(xp, weight.shape[0], indices, offsets, include_last_offset,
                   padding_idx)
    if mode == MAX:
        at = largest_at(xp, weight, bags)
        return largest(xp, weight, at, bags), at
    counts = xp.as_index(bags.sizes if mode else [0] * len(bags.sizes)).reshape((-1,))
    return sums(xp, weight, per_sample_weights, bags, mode), counts


def check_offsets(begins: list[int], count: int, with_end: bool) -> None:
    refuse(with_end and not begins,
           "include_last_offset: number of offset should be at least 1")
    refuse(count and not begins, "numbers are looked up, but no bag begins: offsets "
           "has no entries")
    first, last = (begins[0], begins[-1]) if begins else (0, 0)
    refuse(first != 0, "offsets[0] has to be 0, i.e., the first sequence in the "
           "mini-batch has to start from position 0. However, got {}", first)
    refuse(last > count, "offsets[-1] can not be greater than input's length {} but "
           "got offsets[-1] of {}", count, last)
    refuse(begins != sorted(begins), "offsets must not become smaller, but got {}",
           begins)


def row_of_padding(padding_idx: int | None, count: int) -> int:
    if padding_idx is None:
        return NO_PADDING
    refuse(not -count <= padding_idx < count, "padding_idx must be within the number "
           "of embeddings, {} through {}, but got {}", -count, count - 1, padding_idx,
           kind=ValueRangeError)
    return padding_idx % count


def shown(shape: tuple[int, ...]) -> str:
    return f"torch.Size({list(shape)})"


@function("embedding_bag",
          operands=("input", "weight", "offsets", "per_sample_weights"),
          formula="y[b] = mean(weight[input[i]], i in bag b)",
          doc="Rows of a table, by their numbers, put together bag by bag; a padding "
              "row belongs to no bag.",
          kink="of equal largest entries the first one counts",
          cases=[case(Fixed([2, 0, 1]), (3, 2), Fixed([0, 1])),
                 case(Fixed([[2, 0], [1, 1]]), (3, 2), mode="sum", padding_idx=0),
                 case(Fixed([[2, 0], [1, 2]]), (3, 2), mode="max", make="distinct")])
def embedding_bag(call: Caller, input: Array, weight: Array,
                  offsets: Array | None = None, scale_grad_by_freq: bool = False,
                 mode: str = "mean",
                  per_sample_weights: Array | None = None,
                  include_last_offset: bool = False, padding_idx: int | None = None
                  ) -> Array:
    samples = per_sample_weights
    given = input.shape if samples is None else samples.shape
    refuse(tuple(given) != tuple(input.shape), "embedding_bag: If per_sample_weights "
           "({}) is not None, then it must have the same shape as the input ({})",
           shown(given), shown(input.shape), kind=ValueRangeError)
    demand_rank("embedding_bag: weight", weight, 2, 2)
    if input.ndim == 2:
        refuse(offsets is not None, "embedding_bag: offsets belong to an input of one "
               "dimension; each row of two is a bag", kind=ValueRangeError)
        items, length = input.shape
        begins = range(0, items * length, length) if length else ()
        offsets = call("as_index.beside", input, list(begins))
        include_last_offset = False
        input = call("reshape", input, (-1,))
        samples = None if samples is None else call("reshape", samples, (-1,))
    elif input.ndim != 1:
        raise ValueRangeError("input has to be 1D or 2D Tensor, but got Tensor of "
                              f"dimension {input.ndim}")
    elif offsets is None:
        raise ValueRangeError("offsets has to be a 1D Tensor but got None")
    demand_rank("embedding_bag: offsets", offsets, 1, 1)
    if mode not in MODES:
        raise ValueRangeError("mode has to be one of sum, mean or max")
    refuse(mode == "max" and scale_grad_by_freq, "max mode does not support scaling "
           "the gradient by the frequency", kind=ValueRangeError)
    refuse(samples is not None and mode != "sum", "embedding_bag: per_sample_weights "
           "are only for mode='sum', not for '{}'", mode, kind=KindError)
    padding = row_of_padding(padding_idx, weight.shape[0])
    begins = cast("Positions", call("as_index", offsets)).tolist()
    check_offsets(begins, input.shape[0], include_last_offset)
    found, _ = cast("Outputs", call(
        "embedding_bag.default", weight, input, offsets, samples, MODES[mode],
        scale_grad_by_freq, include_last_offset, padding))
    return found

# recurrent layers: a step of a cell

FAMILY = "recurrent"


def opened(xp: Namespace, gates: Array) -> tuple[Array, ...]:
    """Return the input, forget, new and output gate of what goes into them."""
    n = gates.shape[1] // 4
    shares, new = xp.sigmoid(gates), xp.tanh(gates[:, 2 * n:3 * n])
    return shares[:, :n], shares[:, n:2 * n], new, shares[:, 3 * n:]


def by_cell(xp: Namespace, wanted: Sequence[bool], g: Cotangents, y: Outputs, x: Array,
            h: Array, c: Array, u: Array) -> list[Array | None]:
    gh, gc = (xp.zeros_like(c) if part is None else part for part in g)
    enter, forget, new, leave = opened(xp, x + xp.matmul(h, xp.t(u)))
    squashed = xp.tanh(y[1])
    gc = gc + gh * leave * (1 - squashed * squashed)
    gx = xp.cat((gc * new * enter * (1 - enter), gc * c * forget * (1 - forget),
                 gc * enter * (1 - new * new), gh * squashed * leave * (1 - leave)), 1)
    return [gx, xp.matmul(gx, u), gc * forget, xp.matmul(xp.t(gx), h)]


# Hochreiter, Schmidhuber 1997, with the forget gates of Gers et al. 2000.
@of_floats("lstm.cell", node="LstmCellBackward0", returns=2, carries=2, one_type=True,
    saves="x h c u y", **jointly(by_cell, 4),
    cases=[case((2, 8), (2, 2), (2, 2), (8, 2)), case((1, 4), (1, 1), (1, 1), (4, 1))])
def lstm(xp: Namespace, x: Array, h: Array, c: Array, u: Array) -> Outputs:
    """Return h and c after a step; ``x`` is the input times its weight, with biases."""
    enter, forget, new, leave = opened(xp, x + xp.matmul(h, xp.t(u)))
    c = forget * c + enter * new
    return leave * xp.tanh(c), c
