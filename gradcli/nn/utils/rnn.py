"""Sequences of different lengths: filled up in one tensor, or packed without gaps.

Invariant: a packed sequence holds the entries of all sequences step after step, the
longest sequence first; ``batch_sizes`` says how many sequences last to each step.

    packed = pack_padded_sequence(batch, lengths, enforce_sorted=False)
    out, h = GRU(3, 4)(packed)
    padded, lengths = pad_packed_sequence(out)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ...engine.dtypes import int64
from ...engine.record import call
from ...engine.tensor import Tensor
from ...torch.creation import as_tensor, tensor

__all__ = [
    "PackedSequence",
    "pack_padded_sequence",
    "pad_packed_sequence",
    "pad_sequence",
]


class PackedSequence_(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Entries of sequences, step after step; made by `pack_padded_sequence`.

    ``batch_sizes`` says how many sequences last to each step; ``sorted_indices`` which
    sequence of the batch is at each position, None: they came in order.
    """

    __slots__ = ()

    def __new__(
        cls, data: Tensor, batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None, unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:  # fmt: skip
        if batch_sizes is None:
            raise ValueError("batch_sizes are missing: use pack_padded_sequence")
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = call("argsort", sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: object, **kwargs: object) -> PackedSequence:
        """Move the entries to another device or dtype; itself, if they are there."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        where = {"device": data.device}
        indices = [
            None if index is None else index.to(**where)
            for index in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self) -> PackedSequence:
        """Move the entries to main memory."""
        return self.to("cpu")

    def cuda(self) -> PackedSequence:
        """Move the entries to a GPU."""
        return self.to("cuda")

    @property
    def is_cuda(self) -> bool:
        """True if the entries are on a GPU."""
        return self.data.is_cuda


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:  # fmt: skip
    """Pack sequences that were filled up, without what fills them.

    Args:
        input: (T, B, ...), or (B, T, ...) with ``batch_first``.
        lengths: how long each sequence is.
        enforce_sorted: they have to come with the longest first; False: they are put
            in that order.

    Raises:
        RuntimeError: lengths that do not fit, or are not in order.
    """
    given = as_tensor(lengths, dtype=None if len(lengths) else int64)
    counts: list[int] = given.tolist()
    steps, batch = input.shape[:2][:: -1 if batch_first else 1]
    fits = given.ndim == 1 and given.dtype is int64 and len(counts) == batch > 0
    if not fits or not 0 < min(counts) <= max(counts) <= steps:
        raise RuntimeError(
            f"lengths {counts} do not fit {batch} sequences of {steps} steps: there is "
            "an integer between 1 and that for each"
        )
    indices = None
    if not enforce_sorted:
        order = sorted(range(batch), key=lambda i: -counts[i])
        indices = tensor(order, dtype=int64, device=input.device)
        counts = [counts[i] for i in order]
        input = call("index_select", input, 0 if batch_first else 1, indices)
    elif any(a < b for a, b in pairwise(counts)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` "
            "is True. You can pass `enforce_sorted=False` to pack_padded_sequence."
        )
    if batch_first:
        input = input.transpose(0, 1)
    sizes = [sum(count > step for count in counts) for step in range(counts[0])]
    rows = [step * batch + i for step, size in enumerate(sizes) for i in range(size)]
    flat = input.reshape(-1, *input.shape[2:])
    at = tensor(rows, dtype=int64, device=input.device)
    data = call("index_select", flat, 0, at)
    return PackedSequence(data, tensor(sizes, dtype=int64), indices)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Undo `pack_padded_sequence`.

    Args:
        batch_first: give (B, T, ...), not (T, B, ...).
        padding_value: what short sequences are filled with.
        total_length: T; None: the longest sequence's.

    Returns:
        The sequences in one tensor, and their lengths.

    Raises:
        ValueError: a sequence is longer than ``total_length``.
    """
    sizes: list[int] = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(f"total_length is {total_length}, the longest has {longest}")
    parts = call("split", sequence.data, sizes, 0)
    padded = pad_sequence(parts, True, padding_value)
    if total_length is not None and total_length > longest:
        more = (0, 0) * (padded.ndim - 1) + (0, total_length - longest)
        padded = call("constant_pad_nd", padded, more, padding_value)
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = tensor([sum(size > i for size in sizes) for i in range(sizes[0])])
    indices = sequence.unsorted_indices
    if indices is not None:
        padded = call("index_select", padded, 0 if batch_first else 1, indices)
        lengths = lengths[indices.cpu()]
    return padded, lengths


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False,
    padding_value: float = 0.0, padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Join sequences (length, ...) to one tensor (longest, N, ...), short ones filled
    up at the "right" or the "left"; ``batch_first``: (N, longest, ...).

    Raises:
        RuntimeError: no sequences, or another side.
    """
    given = list(sequences)
    if padding_side not in ("right", "left") or not given:
        raise RuntimeError(
            f"{len(given)} sequences cannot be padded at the side {padding_side!r}"
        )
    longest = max(len(sequence) for sequence in given)
    filled = []
    for sequence in given:
        short = longest - len(sequence)
        ends = (0, short) if padding_side == "right" else (short, 0)
        widths = (0, 0) * (sequence.ndim - 1) + ends
        filled.append(call("constant_pad_nd", sequence, widths, padding_value))
    padded: Tensor = call("stack", filled, 0 if batch_first else 1)
    return padded
