"""What a gradient check says when it fails.

Invariant: a message opens with PyTorch's sentence, and then names what PyTorch leaves
to be searched for: the entry, both values, what was allowed, and the kink if one is
there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from ..engine.devices import NUMPY
from ..engine.errors import GradError
from ..engine.raw import Host
from ..engine.tensor import Tensor


class GradcheckError(GradError):
    """A gradient that differs from the difference quotient, or a point without one."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much a gradient may differ from a difference quotient."""

    atol: float
    rtol: float

    def __call__(self, quotient: Host) -> Host:
        return self.atol + self.rtol * numpy.abs(quotient)


@dataclass(frozen=True, slots=True)
class Block:
    """Both values of a Jacobian block, a row per input entry as PyTorch prints it."""

    output: int
    input: int
    input_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    numerical: Host
    analytical: Host
    mode: str = ""

    def worst(self, allowed: Tolerance) -> tuple[int, int] | None:
        """Return the input and output entry that differ most beyond what is allowed."""
        if not self.numerical.size:
            return None
        with numpy.errstate(invalid="ignore"):
            gap = numpy.abs(self.analytical - self.numerical)
            excess = gap - allowed(self.numerical)
        excess = numpy.where(numpy.isnan(excess), numpy.inf, excess)
        flat_index = int(numpy.argmax(excess))
        if excess.flat[flat_index] <= 0:
            return None
        row, column = divmod(flat_index, self.numerical.shape[1])
        return row, column

    def describe(self, at: tuple[int, int], allowed: Tolerance) -> str:
        """Return the message, without what may be known of a kink."""
        numerical, analytical = self.numerical[at], self.analytical[at]
        mode = f" in {self.mode}" if self.mode else ""
        return (
            f"Jacobian mismatch{mode} for output {self.output} with respect to input "
            f"{self.input},\nnumerical:{_shown(self.numerical)}\n"
            f"analytical:{_shown(self.analytical)}\n"
            f"The largest difference is that of output entry "
            f"{entry_of(at[1], self.output_shape)} by input entry "
            f"{entry_of(at[0], self.input_shape)}: numerical {numerical:.9g}, "
            f"analytical {analytical:.9g}, differing by "
            f"{abs(analytical - numerical):.3g} where "
            f"{allowed(numerical):.3g} is allowed."
        )


def entry_of(flat_index: int, shape: tuple[int, ...]) -> list[int]:
    """Return the indices of an entry of a tensor, given its number."""
    return [int(i) for i in numpy.unravel_index(flat_index, shape)] if shape else []


def _shown(values: object) -> str:
    return repr(Tensor(numpy.ascontiguousarray(values), NUMPY))
