"""The options of many points.

Invariant: importing this module is cheap; the work is done by `gradcli.cli.at_points`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from .output import form
from .problems import typed, wrong


@dataclass(frozen=True, slots=True)
class Many:
    """A group of options: where points come from, and where results go.

    --table FILE: Compute at every row of a table, whose columns are the inputs without
        a value (.csv, .tsv, .jsonl, .npy, .parquet; '-': standard input). Nothing is
        verified.
    --sweep NAME=START:STOP:COUNT: Compute at evenly spaced values of an input; of two
        or more, at all combinations.
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
            hint = "as in --sweep x=0:1:101 --plot"
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
