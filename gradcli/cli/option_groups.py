"""Groups of options: many points, the blocks of a derivative, a descent.

Invariants: importing this module is cheap; what cannot be done is refused before any
work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from .output import form
from .problems import typed, wrong

if TYPE_CHECKING:
    from ..answers.derivatives import Form


@dataclass(frozen=True, slots=True)
class Many:
    """A group of options: where points come from, and where results go.

    --table FILE: Compute at every row of a table, whose columns are the inputs without
        a value (.csv, .tsv, .jsonl, .npy, .parquet; '-': standard input). Nothing is
        verified.
    --sweep NAME=START..STOP:COUNT: Compute at evenly spaced values of an input, such as
        x=0..1:101; of two or more, at all combinations.
    --plot: Draw value and derivative over a sweep instead of rows; over two sweeps
        lines of equal value, with arrows that point uphill.
    --out FILE: Write the rows to a file, in the format that its name ends with; at one
        point the value and gradients to a .npz, or a gradient to a .npy.
    --on-error: What becomes of a row that cannot be computed: it is left out, it ends
        the work, or its results are nan.
    --cluster ADDRESS: Compute on the workers of a Dask cluster, or in N processes of
        this machine: local:N.
    """

    TITLE: ClassVar = "Many points"

    table: str | None = None
    sweep: list[str] | None = None
    plot: bool = False
    out: str | None = None
    on_error: Literal["skip", "stop", "nan"] = "skip"
    cluster: str | None = None

    @property
    def asked(self) -> bool:
        """Whether many points were asked for."""
        if self.table is not None and self.sweep:
            hint = "leave out one of the two"
            raise wrong("E590", "--table and --sweep both give points", hint)
        swept = len(self.sweep or ())
        if self.plot and (swept not in (1, 2) or self.out or self.cluster):
            hint = "as in --sweep x=0..1:101 --plot"
            raise wrong(
                "E590", "--plot draws one --sweep or two, on the terminal", hint
            )
        if self.table is not None or self.sweep:
            return True
        hint = "give points with --table or --sweep"
        if self.cluster is not None:
            raise wrong("E590", "--cluster is for many points", hint)
        if self.on_error != "skip":
            raise wrong("E590", "--on-error is for many points", hint)
        if self.out is not None:
            from .array_files import is_for_one_point

            if not is_for_one_point(self.out):
                hint += "; gradients at one point go to a .npz or .npy"
                raise wrong("E590", "--out is for many points", hint)
        return False

    def refuse(self, **others: object) -> None:
        """Refuse further options, by name, that have no effect at many points."""
        if self.plot and form.json:
            hint = "leave out --plot for rows, or take `gradcli plot --json`"
            raise wrong("E590", "--plot draws, and --json asks for numbers", hint)
        extra = typed(**others)
        if extra:
            message = f"{extra[0]} is not for many points"
            raise wrong("E590", message, "leave it out, or ask at one point")


@dataclass(frozen=True, slots=True)
class Matrices:
    """A group of options: blocks with or without their zeros, and files of them.

    --sparse: Show every block by the coordinates and values of its entries, as large
        ones that are mostly zeros are shown anyway.
    --dense: Show every block with all its zeros.
    --spy: Show a picture of where the entries of each block are, and how many colours
        its columns need.
    --out FILE: Write the block to a file: .npz (scipy.sparse), .mtx (Matrix Market),
        .npy (with its zeros). {} in the name of FILE stands for the input's, where
        there are several blocks.
    """

    TITLE: ClassVar = "Blocks"

    sparse: bool = False
    dense: bool = False
    spy: bool = False
    out: str | None = None

    @property
    def form(self) -> Form:
        return "sparse" if self.sparse else "dense" if self.dense else "auto"

    def check(self) -> None:
        """Refuse options that exclude each other, and files of no known format."""
        if self.sparse and self.dense:
            hint = "leave out one of the two"
            raise wrong("E590", "--sparse leaves zeros out, --dense shows them", hint)
        if self.out is not None:
            from .array_files import check_format

            check_format(self.out)


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
