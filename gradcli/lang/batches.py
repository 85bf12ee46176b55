"""Rows of a program's data, some at a time.

Invariant: the inputs of a batch are cut at the same rows, so that what belongs together
stays together; every row comes once in each round, the last batch of a round may be
smaller, and the order of a shuffled round follows from the seed alone.

    batches = Batches({"x": x, "y": y}, 10)
    batches.next_rows()                     # {"x": rows 0 to 9 of x, "y": of y}
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..engine import Tensor
from .errors import ProgramError

if TYPE_CHECKING:
    from numpy.random import Generator

    from ..engine.raw import Host


class Batches:
    """Cuts tensors into batches of ``size`` rows, round after round.

    Args:
        inputs: tensors that have their rows along the first dimension.
        size: rows in a batch.
        generator: shuffles each round; None: the rows come in order.

    Raises:
        ProgramError: an input has no rows, or another number of them.
    """

    def __init__(
        self,
        inputs: Mapping[str, Tensor],
        size: int,
        generator: "Generator | None" = None,
    ) -> None:
        self._inputs = inputs
        self._size = size
        self._generator = generator
        self._rows = _common_rows(inputs)
        self._start = self._rows
        self._order: Host | None = None

    def all_rows(self) -> dict[str, Tensor]:
        """Every row, as constants."""
        return {name: x.detach() for name, x in self._inputs.items()}

    def next_rows(self) -> dict[str, Tensor]:
        """The next batch, as constants."""
        if self._start >= self._rows:
            self._start = 0
            if self._generator is not None:
                self._order = self._generator.permutation(self._rows)
        start, self._start = self._start, self._start + self._size
        return {name: self._rows_of(x, start) for name, x in self._inputs.items()}

    def _rows_of(self, x: Tensor, start: int) -> Tensor:
        some = slice(start, start + self._size)
        if self._order is None:
            return Tensor(x.raw[some], x.xp)
        return Tensor(x.raw[x.xp.as_index(self._order[some])], x.xp)


def _common_rows(inputs: Mapping[str, Tensor]) -> int:
    for name, x in inputs.items():
        if not x.shape or not x.shape[0]:
            shape = list(x.shape)
            message = f"--batch: '{name}' has no rows to take, its shape is {shape}"
            hint = "rows run along the first dimension"
            raise ProgramError("E509", message, hint=hint)
    counts = {name: int(x.shape[0]) for name, x in inputs.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        message = f"--batch: the inputs differ in their number of rows: {listed}"
        hint = "a batch takes the same rows of all of them"
        raise ProgramError("E509", message, hint=hint)
    return next(iter(counts.values()))
