"""Groups of options: many points, the blocks of a derivative, a descent.

Invariants: importing this module is cheap; what cannot be done is refused before any
work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from typer import Option

from .options import Request, was_typed
from .problems import typed, wrong
from .sources import listed

if TYPE_CHECKING:
    from ..answers.derivatives import Form


@dataclass(frozen=True, slots=True)
class Many:
    """A group of options: where points come from, and where results go."""

    TITLE: ClassVar = "Many points"

    table: Annotated[
        str | None,
        Option(
            "--table",
            metavar="FILE",
            help="Compute at every row of a table, whose columns are the inputs "
            "without a value (.csv, .tsv, .json, .jsonl, also packed as .csv.gz; .npy, "
            ".parquet; '-': standard input). A unit behind a name, as in mass "
            "[kg], may be left out. Nothing is verified without --require.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            "--columns",
            metavar="NAMES",
            help="The names of the columns of a table without a header: x,y.",
        ),
    ] = None
    keep: Annotated[
        str | None,
        Option(
            "--keep",
            metavar="NAMES",
            help="Columns of the table that are carried along to the results: id,name.",
        ),
    ] = None
    rename: Annotated[
        str | None,
        Option(
            "--rename",
            metavar="OLD=NEW",
            help="Read the column OLD of the table as the input NEW; where NEW is no "
            "input, call the column OLD of the results NEW: old=new,old2=new2.",
        ),
    ] = None
    sweep: Annotated[
        list[str] | None,
        Option(
            "--sweep",
            metavar="NAME=START..STOP:COUNT",
            help="Compute at evenly spaced values of an input, such as x=0..1:101; of "
            "two or more, at all combinations.",
        ),
    ] = None
    out: Annotated[
        str | None,
        Option(
            "--out",
            metavar="FILE",
            help="Write what is computed to a file, in the format that its name ends "
            "with: rows to a table, also packed, as out.csv.gz; at one point "
            "gradients to a .npz or .npy, a block of derivatives to a .npz "
            "(scipy.sparse), .mtx (Matrix Market) or .npy. {} in the name stands "
            "for an input's, where there are several blocks.",
        ),
    ] = None
    on_error: Annotated[
        Literal["skip", "stop", "nan"] | None,
        Option(
            "--on-error",
            help="What becomes of a row that cannot be computed, or is nan: it is left "
            "out, it ends the work, or its results are nan. By default what cannot "
            "be computed is left out, and nan is written.",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        Option(
            "--cluster",
            metavar="ADDRESS",
            help="Compute on the workers of a Dask cluster, or in N processes of this "
            "machine: local:N.",
        ),
    ] = None

    def asked(self, *endings: str) -> bool:
        """Return whether many points were asked for; refuse options without effect, and
        for one point a file whose name ends with none of the ``endings``."""
        for name in ("table", "out"):
            if getattr(self, name) == "":
                raise wrong("E595", f"--{name}: there is no file name", "give one")
        if self.table is not None and self.sweep:
            hint = "leave out one of the two"
            raise wrong("E590", "--table and --sweep both give points", hint)
        odd, out = self.on_error is not None, self.out or ""
        odd_out = not out.lower().endswith(endings) and out
        extra = typed(columns=self.columns, keep=self.keep)
        if not self.sweep:
            one = {"cluster": self.cluster, "on_error": odd, "rename": self.rename}
            extra += typed(**one, out=odd_out)
        if extra and self.table is None:
            hint = f"give points with --table{'' if self.sweep else ' or --sweep'}"
            if endings and extra == ["--out"]:
                hint += f"; of one point, files end with {' or '.join(endings)}"
            raise wrong("E590", f"{extra[0]} is for many points", hint)
        return self.table is not None or bool(self.sweep)

    @property
    def renamed(self) -> dict[str, str]:
        """The old names by the new ones."""
        pairs = [pair.partition("=") for pair in listed(self.rename) or ()]
        if not all(old and new for old, _, new in pairs):
            hint = "as in --rename speed=v,weight=m"
            raise wrong("E595", f"--rename: {self.rename!r} is not OLD=NEW", hint)
        return {new.strip(): old.strip() for old, _, new in pairs}

    def refuse(
        self, request: Request, require: str | None = None, **others: object
    ) -> None:
        """Refuse further options, by name, that have no effect at many points, where
        verdicts are reached only if some are required."""
        own = {"precision": was_typed("precision")}
        if require is None:
            own["verify_seconds"] = was_typed("verify_seconds")
        extra = typed(**others, shape=request.shape, **own)
        if extra:
            message = f"{extra[0]} is not for many points"
            raise wrong("E590", message, "leave it out, or ask at one point")


@dataclass(frozen=True, slots=True)
class Matrices:
    """A group of options: blocks with or without their zeros, and files of them."""

    TITLE: ClassVar = "Blocks"

    sparse: Annotated[
        bool,
        Option(
            "--sparse",
            help="Show every block by the coordinates and values of its entries, as "
            "large ones that are mostly zeros are shown anyway.",
        ),
    ] = False
    dense: Annotated[
        bool,
        Option("--dense", help="Show every block with all its zeros."),
    ] = False
    spy: Annotated[
        bool,
        Option(
            "--spy",
            help="Show a picture of where the entries of each block are, and how many "
            "colours its columns need.",
        ),
    ] = False

    @property
    def form(self) -> Form:
        return "sparse" if self.sparse else "dense" if self.dense else "auto"

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.sparse and self.dense:
            hint = "leave out one of the two"
            raise wrong("E590", "--sparse leaves zeros out, --dense shows them", hint)


@dataclass(frozen=True, slots=True)
class Choice:
    """A group of options: how to descend."""

    optimizer: Annotated[
        Literal["sgd", "adam", "lbfgs"],
        Option("--optimizer", help="The optimizer, as PyTorch has it."),
    ] = "sgd"
    lr: Annotated[
        float | None,
        Option(
            "--lr",
            metavar="RATE",
            help="Learning rate; by default 0.1, for lbfgs 1, where its line search "
            "starts.",
        ),
    ] = None
    momentum: Annotated[
        float | None,
        Option("--momentum", metavar="M", help="Momentum of sgd."),
    ] = None
    steps: Annotated[
        int,
        Option("--steps", metavar="N", min=0, help="Steps to take."),
    ] = 100
    tolerance: Annotated[
        float | None,
        Option(
            "--tolerance",
            metavar="LENGTH",
            min=0,
            help="Stop when the gradient's norm is at most this.",
        ),
    ] = None
    batch: Annotated[
        str | None,
        Option(
            "--batch",
            metavar="NAMES:ROWS",
            help="Rows of inputs in each step, as in x,y:10. The last loss is that of "
            "all rows.",
        ),
    ] = None
    shuffle: Annotated[
        bool,
        Option("--shuffle", help="Shuffle the rows of batches in each round."),
    ] = False
    every: Annotated[
        int | None,
        Option(
            "--every",
            metavar="N",
            min=1,
            help="Print every Nth step; by default none in a terminal, each in a pipe, "
            "but 1,000 lines at most.",
        ),
    ] = None

    def check(self) -> None:
        """Refuse options that do not fit the optimizer or each other."""
        if self.momentum is not None and self.optimizer != "sgd":
            hint = "leave it out, or choose --optimizer sgd"
            raise wrong("E590", f"{self.optimizer} takes no --momentum", hint)
        if self.batch is not None and self.optimizer == "lbfgs":
            hint = "lbfgs compares gradients of one loss; choose sgd or adam"
            raise wrong("E590", "lbfgs takes no --batch", hint)
        if self.shuffle and self.batch is None:
            hint = "say which rows: --batch x,y:10"
            raise wrong("E590", "--shuffle needs --batch", hint)
