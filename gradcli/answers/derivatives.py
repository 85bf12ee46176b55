"""Jacobians and Hessians as labelled blocks.

Invariants: a block's shape is the shape of what is differentiated, followed by that of
the input. ``structure`` describes the numbers at this point only. A block has all its
numbers or, if most of them are zero, only those that are stored.

    block_view(("x",), block, "auto").structure     # "diagonal"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from ..autograd.blocks import Mode, check_size
from ..engine.devices import host
from ..engine.jacobian import Block, TooManyEntries
from ..lang.errors import ProgramError
from ..lang.run import Run, all_finite
from ..views.fields import FLAT, HIDDEN, IF_ANY, Device, DType, Shape
from ..views.numbers import Shown, plain, shown
from ..views.pattern import Pattern, colours_of, nothing_in, pattern_of
from .gradients import OutputView, output_of
from .jobs import MAX_HANDED, claim, job_for
from .verdicts import Checked, Formulas, Summary, by_name, checked, summary

if TYPE_CHECKING:
    from ..verify.process.job import Job, Verification

Form: TypeAlias = Literal["auto", "dense", "sparse"]
"""Whether a block is shown with its zeros; ``auto``: unless it is large and sparse."""

MIN_SPARSE_ENTRIES = 1 << 12
"""Number of entries of the smallest block that ``auto`` may show without its zeros."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A block without its zeros.

    size       Rows and columns of the matrix, indices flattened in C order.
    stored     The number of entries that are given.
    bandwidth  The largest distances of entries below and above the diagonal.
    rows       The row of each entry.
    columns    The column of each entry.
    values     The number of each entry.
    """

    size: tuple[int, int]
    stored: int
    bandwidth: tuple[int, int]
    rows: list[int]
    columns: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block with its verdict and its formulas.

    input      The input; in a Hessian the first of the two.
    inputs     In a Hessian: the two inputs.
    pattern    its stored entries as a matrix with a row for each entry of what is
               differentiated, and a column for each entry of the input
    is_sparse  whether it is shown without its zeros
    value      The numbers; a block without its zeros has the next keys instead.
    file       With --out: the file that holds the numbers.
    colours    With --spy: the number of colours that its columns need.
    structure  The structure, such as diagonal, banded, dense or zero, of the numbers.
    """

    input: str
    inputs: tuple[str, ...] | None = field(metadata=IF_ANY)
    shape: Shape
    pattern: Pattern = field(metadata=HIDDEN)
    is_sparse: bool = field(metadata=HIDDEN)
    value: Shown | None = field(metadata=IF_ANY)
    stored: Stored | None = field(metadata=FLAT)
    file: str | None = field(metadata=IF_ANY)
    colours: int | None = field(metadata=IF_ANY)
    structure: str | None = field(metadata=IF_ANY)
    checked: Checked = field(default=Checked(), metadata=FLAT)
    formulas: Formulas | None = field(default=None, metadata=FLAT)

    @property
    def by(self) -> tuple[str, ...]:
        """Names of the inputs that it is differentiated by."""
        return self.inputs or (self.input,)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a derivative, as the engine computed them.

    by       the blocks, by the names of their inputs
    columns  for each input, the blocks that make its claim, one under the other
    """

    command: str
    run: Run
    mode: str
    passes: int
    by: Mapping[tuple[str, ...], Block]
    columns: Mapping[str, Sequence[Block]]

    @property
    def finite(self) -> bool:
        """Whether neither the value nor a derivative is infinite or nan."""
        there = [block for block in self.by.values() if block.matrix is not None]
        parts = (b.matrix.data if b.sparse else b.matrix for b in there)
        finite = all(bool((abs(p) < float("inf")).all()) for p in parts)
        return finite and all_finite(self.run.output)

    def job(self, seconds: float, formulas: bool) -> Job:
        """Return the job that checks the blocks; refuse ``formulas`` of too many
        entries."""
        claims = {name: claim(own, self.run.seed) for name, own in self.columns.items()}
        entries = sum(claim.count for claim in claims.values())
        if formulas and entries > MAX_HANDED:
            message = f"{entries:,} entries are too many to be shown as formulas"
            hint = "restrict the inputs with --wrt, or shorten them"
            raise ProgramError("E406", message, hint=hint)
        return job_for(self.run, seconds, self.command, claims, formulas=formulas)

    def refuse_too_many(self) -> None:
        """Refuse to show the blocks with all their zeros if those are too many."""
        blocks = self.by.values()
        try:
            check_size(sum(b.output.numel() * b.x.numel() for b in blocks))
        except TooManyEntries as error:
            hint = "leave out --dense, or write --out J.npz"
            raise ProgramError("E403", str(error), hint=hint) from None

    def view(
        self, form: Form, files: Sequence[str] | None = None, spied: bool = False
    ) -> Derivative:
        """Return the blocks in plain numbers, or by the ``files`` that hold them; if
        they are ``spied``, the colours of each are counted."""
        places: Sequence[str | None] = files or [None] * len(self.by)
        return Derivative(
            command=self.command,
            program=self.run.source,
            device=self.run.device,
            dtype=self.run.dtype,
            mode=self.mode,
            passes=self.passes,
            output=output_of(self.run),
            blocks=tuple(
                block_view(by, block, form, file, spied)
                for (by, block), file in zip(self.by.items(), places, strict=True)
            ),
        )


def jacobian(run: Run, mode: Mode) -> Blocks:
    """Return one block per input; its rows are the entries of the output."""
    found = run.jacobian(mode)
    names = [given.name for given in run.differentiated]
    by_name = dict(zip(names, found.blocks, strict=True))
    return Blocks(
        "jacobian",
        run,
        found.mode,
        found.passes,
        {(name,): block for name, block in by_name.items()},
        {name: [block] for name, block in by_name.items()},
    )


def hessian(run: Run) -> Blocks:
    """Return one block per pair of inputs; an input's column of blocks is one claim."""
    rows = run.hessian()
    names = [given.name for given in run.differentiated]
    return Blocks(
        "hessian",
        run,
        "rev",
        1 + sum(given.tensor.numel() for given in run.differentiated),
        {
            (first, second): block
            for first, row in zip(names, rows, strict=True)
            for second, block in zip(names, row, strict=True)
        },
        dict(zip(names, zip(*rows, strict=True), strict=True)),
    )


@dataclass(frozen=True, slots=True)
class Derivative:
    """Answer of `gradcli jacobian` and `hessian`: a block per input or pair of inputs.

    program  The program's text.
    mode     The direction of the passes: reverse or forward.
    passes   The number of passes.
    blocks   The blocks.
    code     With --code: the program that computes the derivatives.
    """

    command: Annotated[str, ("hessian", "jacobian")]
    program: str
    device: Device
    dtype: DType
    mode: Annotated[str, ("rev", "fwd")]
    passes: int
    output: OutputView
    blocks: tuple[BlockView, ...]
    code: str | None = field(default=None, metadata=IF_ANY)
    verification: Summary = field(default=Summary())

    def in_symbols(self) -> Derivative:
        """Return the derivative without the numbers that depend on drawn ones."""
        blocks = tuple(
            replace(block, value=None, stored=None, structure=None)
            for block in self.blocks
        )
        return replace(self, output=replace(self.output, value=None), blocks=blocks)


def judged(
    found: Derivative,
    verification: Verification | None,
    formulas: Sequence[Formulas] | None,
    code: str | None,
) -> Derivative:
    """Return the derivative with its verdicts, and with the formulas of each block and
    the code if they were asked for."""
    verdicts = by_name(verification)
    blocks = tuple(
        replace(
            block,
            checked=checked(verdicts.get(block.by[-1])),
            formulas=None if formulas is None else formulas[nr],
        )
        for nr, block in enumerate(found.blocks)
    )
    whole = summary(verification)
    return replace(found, blocks=blocks, code=code, verification=whole)


def block_view(
    by: tuple[str, ...],
    block: Block,
    form: Form = "auto",
    file: str | None = None,
    spied: bool = False,
) -> BlockView:
    """Return a block in plain numbers, or by the file that holds them."""
    matrix = block.matrix
    if matrix is None:
        pattern = nothing_in(block.output.numel(), block.x.numel())
    else:
        pattern = pattern_of(host(matrix))
    large = pattern.entries >= MIN_SPARSE_ENTRIES and pattern.is_sparse
    sparse = form == "sparse" or (form == "auto" and large)
    stored = None
    if sparse and file is None:
        values: Any = plain(pattern.values)
        stored = Stored(
            pattern.shape,
            pattern.stored,
            (pattern.below, pattern.above),
            pattern.rows.tolist(),
            pattern.columns.tolist(),
            values,
        )
    return BlockView(
        input=by[0],
        inputs=by if len(by) > 1 else None,
        shape=block.shape,
        pattern=pattern,
        is_sparse=sparse,
        value=None if sparse or file is not None else shown(block.dense().raw),
        stored=stored,
        file=file,
        colours=colours_of(pattern) if spied else None,
        structure=pattern.sparse_structure() if large else pattern.structure(),
    )
