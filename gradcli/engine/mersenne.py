"""PyTorch's random numbers on the CPU: the Mersenne twister, and how it is read.

Invariant: a seed gives the numbers that it gives in PyTorch, in the same order, to the
last digit but for the logarithms and cosines of normal draws.

    Mersenne(0).uniform(3, "float32")       # 0.4963, 0.7682, 0.0885
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .raw import Host

SINGLE_BITS, DOUBLE_BITS = 24, 53
"""How many bits of a word make a number, and of two words a double."""

BELOW_1 = 1 - 2.0**-11
"""The largest half-precision number below 1."""

WORD = 32
BLOCK = 16
"""Normal numbers that are drawn in one block; fewer are drawn one by one."""


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
        """Return pairs of words as one, the first the higher."""
        pairs = self.words(2 * count).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(WORD)) | pairs[:, 1]

    def uniform(self, count: int, name: str) -> Host:
        """Return numbers from [0, 1) of a type."""
        if name == "float64":
            bits, drawn = DOUBLE_BITS, self.doubles(count)
        else:
            bits, drawn = SINGLE_BITS, self.words(count)
        found = (drawn & np.uint64((1 << bits) - 1)) * 2.0**-bits
        return (np.minimum(found, BELOW_1) if name == "float16" else found).astype(name)

    def below(self, count: int, limit: int) -> Host:
        """Return integers from 0 up to, without, ``limit``."""
        drawn = self.words(count) if limit < 1 << WORD else self.doubles(count)
        return (drawn % np.uint64(limit)).astype(np.int64)

    def permutation(self, count: int) -> Host:
        """Return the numbers below ``count``, each swapped with one that follows."""
        order = list(range(count))
        steps = self.words(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint64)
        for at, step in enumerate(steps.tolist()):
            order[at], order[at + step] = order[at + step], order[at]
        return np.array(order, np.int64)

    def normal(self, count: int, name: str) -> Host:
        """Draw from the standard normal distribution, by Box and Muller 1958."""
        if count < BLOCK:
            return np.array([self._one_normal() for _ in range(count)], name)
        kind = "float64" if name == "float64" else "float32"
        drawn = self.uniform(count, kind)
        whole = count - count % BLOCK
        drawn[:whole] = _as_normal(drawn[:whole])
        if count % BLOCK:
            drawn[-BLOCK:] = _as_normal(self.uniform(BLOCK, kind))
        return drawn.astype(name)

    def _one_normal(self) -> float:
        """Draw a number; they come in pairs, and the second is kept for the next."""
        if self._kept is not None:
            found, self._kept = self._kept, None
            return found
        turn, length = self.uniform(2, "float64").tolist()
        radius, angle = math.sqrt(-2 * math.log1p(-length)), 2 * math.pi * turn
        self._kept = radius * math.sin(angle)
        return radius * math.cos(angle)

    def state(self) -> bytes:
        """Return the state of the stream, from which `go_back` goes on."""
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
    """Turn uniform numbers, in blocks, into normal ones: 8 lengths, 8 angles each."""
    half = BLOCK // 2
    blocks = drawn.reshape(-1, 2, half)
    radius = np.sqrt(-2 * np.log(1 - blocks[:, 0]))
    angle = blocks.dtype.type(2 * math.pi) * blocks[:, 1]
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return pairs.reshape(drawn.shape)
