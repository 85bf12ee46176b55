"""The options that only ``gradcli descend`` has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from .problems import wrong


@dataclass(frozen=True, slots=True)
class Choice:
    """A group of options: how to descend.

    --optimizer: The optimizer, as PyTorch has it.
    --lr RATE: Learning rate (default: 0.1; for lbfgs 1, where its line search starts).
    --momentum M: Momentum of sgd.
    --steps N: Steps to take.
    --tolerance LENGTH: Stop when the gradient's norm is at most this.
    --batch NAMES:ROWS: Use so many rows of these inputs in a step, as in x,y:10. The
        last loss is that of all rows.
    --shuffle: Shuffle the rows of batches in each round.
    --every N: Print every Nth step (default: each in a pipe, none in a terminal).
    """

    optimizer: Literal["sgd", "adam", "lbfgs"] = "sgd"
    lr: float | None = None
    momentum: float | None = None
    steps: Annotated[int, {"min": 0}] = 100
    tolerance: Annotated[float | None, {"min": 0}] = None
    batch: str | None = None
    shuffle: bool = False
    every: Annotated[int | None, {"min": 1}] = None

    def check(self) -> None:
        """Refuse options that do not fit the optimizer or each other."""
        if self.momentum is not None and self.optimizer != "sgd":
            hint = "leave it out, or choose --optimizer sgd"
            raise wrong("E590", f"{self.optimizer} takes no --momentum", hint)
        if self.batch is not None and self.optimizer == "lbfgs":
            hint = "lbfgs compares gradients of one loss; choose sgd or adam"
            raise wrong("E590", "lbfgs takes no --batch", hint)
        if self.shuffle and self.batch is None:
            raise wrong(
                "E590", "--shuffle needs --batch", "say which rows: --batch x,y:10"
            )
