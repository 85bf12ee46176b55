"""Embeddings, which look up rows of a table by number, and one-hot encodings.

Invariant: ``embedding.backward`` is the transpose of ``embedding.default``. The numbers
of rows carry no gradient.

    embedding([2, 0], weight)       # EmbeddingBackward0: weight[2], weight[0]
    one_hot([2, 0])                 # [[0, 0, 1], [1, 0, 0]]
"""

from __future__ import annotations

from .checks import PositionError, ValueRangeError, demand_rank, refuse
from .index import check_positions, checked_size
from .limits import check_size
from .op import LINEAR, PACKED, Fixed, case, function, row
from .types import Array, Call, Namespace, Positions

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


def occurrences(xp: Namespace, x: Array, at: Positions) -> Array:
    """Return how often each number from 0 to the largest occurs, in the dtype of x."""
    return xp.put_add((int(at.max()) + 1,), (at,), xp.new_full(x, at.shape, 1))


SCALED = ("that of the value but for the row padding_idx, which gets none, and with "
          "scale_grad_by_freq divided by how often a row is read")

row("embedding.default", node="EmbeddingBackward0", jvp=LINEAR, slope=SCALED,
    formula="y[i] = weight[indices[i]]",
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

row("embedding.shares", formula="1/count(indices == indices[i])", memory=PACKED,
    fwd=lambda xp, x, indices: 1 / xp.unsqueeze(xp.getitem(
        occurrences(xp, x, xp.as_index(indices)), (xp.as_index(indices),)), -1),
    cases=[case((3, 2), Fixed([2, 0, 2]))])


@function("embedding", operands=("input", "weight"), formula="y[i] = weight[input[i]]",
          doc="Rows of a table, by their numbers; a padding row gets no gradient.")
def embedding(call: Call, input: Array, weight: Array, padding_idx: int | None = None,
              scale_grad_by_freq: bool = False) -> Array:
    demand_rank("embedding: weight", weight, 2, 2)
    count = weight.shape[0]
    if padding_idx is None:
        row_of_padding = NO_PADDING
    elif -count <= padding_idx < count:
        row_of_padding = padding_idx % count
    else:
        raise ValueRangeError("Padding_idx must be within num_embeddings")
    return call("embedding.default", weight, input, row_of_padding, scale_grad_by_freq)


@row("one_hot", formula="y[i, j] = 1 if x[i] == j, else 0",
    doc="Each number as a row of zeros with a one.",
    cases=[case(Fixed([0, 2, 1])), case(Fixed([[0], [3]]), num_classes=5)])
def one_hot(xp: Namespace, x: Array, num_classes: int = -1) -> Array:
    at = xp.as_index(x)
    if num_classes == -1 and not at.size:
        raise ValueRangeError(
            "Can not infer total number of classes from empty tensor.")
    if at.size and int(at.min()) < 0:
        raise ValueRangeError("Class values must be non-negative.")
    count = int(at.max()) + 1 if num_classes == -1 else num_classes
    refuse(count < 1, "num_classes should be positive", kind=ValueRangeError)
    if at.size and int(at.max()) >= count:
        raise ValueRangeError("Class values must be smaller than num_classes.")
    check_size((*at.shape, count))
    hits = xp.eq(xp.unsqueeze(at, -1), xp.as_index(range(count)))
    return xp.as_type_of(hits, at)
