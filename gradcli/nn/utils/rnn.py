"""Sequences of different lengths in one tensor.

batch = pad_sequence([a, b], batch_first=True)      # (2, longest, ...)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.record import call
from ...engine.tensor import Tensor

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False,
    padding_value: float = 0.0, padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Sequences (length, ...) as one tensor, short ones filled up.

    Args:
        sequences: tensors that differ in their first size alone.
        batch_first: give (N, longest, ...), not (longest, N, ...).
        padding_value: what short sequences are filled with.
        padding_side: "right" or "left": where.

    Raises:
        RuntimeError: no sequences, or another side.
    """
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not sequences:
        raise RuntimeError("Expected a non-empty list of Tensors")
    longest = max(len(sequence) for sequence in sequences)
    filled = []
    for sequence in sequences:
        short = longest - len(sequence)
        ends = (0, short) if padding_side == "right" else (short, 0)
        widths = (0, 0) * (sequence.ndim - 1) + ends
        filled.append(call("constant_pad_nd", sequence, widths, padding_value))
    whole: Tensor = call("stack", filled, 0 if batch_first else 1)
    return whole


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded tensor, by their lengths."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts = lengths.tolist()
    return [row[:count] for row, count in zip(rows.unbind(0), counts, strict=True)]
