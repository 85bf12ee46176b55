"""Jacobians and Hessians as labelled blocks.

Invariants: a block's shape is the shape of what is differentiated, followed by that of
the input. ``structure`` describes the numbers at this point only. A block has all its
numbers or, if most of them are zero, only those that are stored.

    block_view(("x",), block, "auto").structure     # "diagonal"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np

from ..check.process.job import STRENGTH, entry_name
from ..engine.devices import host
from ..engine.jacobian import JacobianBlock, TooManyEntries, joined
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..lang.run import Run, all_finite
from ..large.blocks import Mode, check_size
from .definiteness import Definiteness, definiteness_of
from .definiteness import lines as lines_on_eigenvalues
from .fields import FLAT, HIDDEN, IF_ANY, Device, DType, Shape
from .gradients import OutputView, derivative_label, derived, output_of, size_of
from .jobs import MAX_HANDED, claim, job_for
from .line import BLANK, Layout, Line, dim
from .line import plain as plain_line
from .numbers import (
    SHORTENED,
    Shown,
    array_lines,
    number,
    number_line,
    plain,
    shown,
    value_lines,
    without_signs,
)
from .pattern import Pattern, colours_of, nothing_in, pattern_of, spy
from .products import Product
from .verdicts import Checked, Formulas, Summary, by_name, checked, summary

if TYPE_CHECKING:
    from ..check.process.job import Job, Verification


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
    entries    With --stack: the entry of an input that each column belongs to.
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
    entries: tuple[str, ...] | None = field(default=None, metadata=IF_ANY)
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
    by: Mapping[tuple[str, ...], JacobianBlock]
    columns: Mapping[str, Sequence[JacobianBlock]]

    @property
    def finite(self) -> bool:
        """Whether neither the value nor a derivative is infinite or nan."""
        there = [block for block in self.by.values() if block.matrix is not None]
        parts = (b.matrix.data if b.sparse else b.matrix for b in there)
        finite = all(bool((abs(p) < float("inf")).all()) for p in parts)
        return finite and all_finite(self.run.output)

    def stacked(self) -> Blocks:
        """Return the blocks side by side as one matrix, with a row for each entry of
        the output."""
        blocks = [*self.by.values()]
        if not any(block.sparse for block in blocks):
            check_size(sum(b.output.numel() * b.x.numel() for b in blocks))
        names = ", ".join(self.columns)
        return replace(self, by={(f"({names})",): joined(blocks)})

    def entries(self) -> tuple[str, ...]:
        """Return the entries of the inputs, in the order of a matrix's columns."""
        return tuple(
            entry_name(name, index)
            for name, (first, *_) in self.columns.items()
            for index in np.ndindex(*first.x.shape)
        )

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
            definiteness=self._definiteness(),
        )

    def _definiteness(self) -> Definiteness | None:
        if self.command != "hessian" or not self.finite:
            return None
        return definiteness_of(self.by, [*self.columns], self.run.dtype)


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
    definiteness: Definiteness | None = field(default=None, metadata=FLAT)
    code: str | None = field(default=None, metadata=IF_ANY)
    verification: Summary = field(default=Summary())

    def with_entries(self, names: tuple[str, ...]) -> Derivative:
        """Return the derivative, whose only block is a matrix with these columns."""
        (block,) = self.blocks
        return replace(self, blocks=(replace(block, entries=names),))

    def in_symbols(self) -> Derivative:
        """Return the derivative without the numbers that depend on drawn ones."""
        blocks = tuple(
            replace(block, value=None, stored=None, structure=None)
            for block in self.blocks
        )
        output = replace(self.output, value=None)
        return replace(self, output=output, blocks=blocks, definiteness=None)


def judged(
    found: Derivative,
    verification: Verification | None,
    formulas: Sequence[Formulas] | None,
    code: str | None,
) -> Derivative:
    """Return the derivative with its verdicts, and with the formulas of each block and
    the code if they were asked for."""
    verdicts = by_name(verification)
    if verification is not None and found.blocks and found.blocks[0].entries:
        weakest = max(verification.inputs, key=lambda v: STRENGTH.index(v.verdict))
        verdicts = {found.blocks[0].input: weakest}
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
    block: JacobianBlock,
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


MAX_TERMINAL_ENTRIES = 12
"""Number of entries of a sparse block that a terminal shows."""


def block_label(view: Derivative, block: BlockView) -> str:
    """Return a block's label: ``dy/dx``, or ``d2L/dx dz`` in a Hessian."""
    if len(block.by) == 1:
        return derivative_label(view.output, block.by[0])
    by = " ".join(f"d{printable(name)}" for name in block.by)
    return f"d2{derived(view.output)}/{by}"


def verdict_label(view: Derivative, block: BlockView) -> str:
    """Return the label of the verdict on a block; in a Hessian there is one verdict on
    all blocks with the same last input."""
    if len(block.by) == 1:
        return block_label(view, block)
    return f"d2{derived(view.output)}/d* d{printable(block.by[-1])}"


def blocks(view: Derivative, layout: Layout) -> Iterator[Line]:
    """Yield the blocks, and how they were computed."""
    for nr, block in enumerate(view.blocks):
        if nr:
            yield BLANK
        shape = f"  {size_of(block.shape)}  {block.structure}"
        yield Line((block_label(view, block), "name"), (shape, "dim"))
        if block.entries is not None:
            yield from _columns(block.entries, layout)
        if block.is_sparse:
            yield dim(f"  {_summary(block)}")
        if block.colours is not None:
            yield from spy(block.pattern, block.colours, layout, "  ")
        if block.file is not None:
            yield plain_line(f"  written to {printable(block.file)}")
        elif block.colours is None:
            yield from _entries(block, layout)
    if layout.cut:
        yield SHORTENED
    yield BLANK
    if view.definiteness is not None:
        yield from lines_on_eigenvalues(view.definiteness)
    kind = {"rev": "backward", "fwd": "forward"}[view.mode]
    if not any(block.is_sparse for block in view.blocks):
        passes = "pass" if view.passes == 1 else "passes"
        yield dim(f"{view.passes} {kind} {passes}")
        return
    lines = "rows" if view.mode == "rev" else "columns"
    count = view.passes - (view.command == "hessian")
    yield dim(f"one {kind} pass" + (f" for all {count:,} {lines}" if count > 1 else ""))


def _columns(names: Sequence[str], layout: Layout) -> Iterator[Line]:
    """Yield the names of a matrix's columns; a terminal shows the first ones."""
    most = len(names) if layout.rows is None else MAX_TERMINAL_ENTRIES
    more = ", ..." if len(names) > most else ""
    yield dim(f"  columns {', '.join(map(printable, names[:most]))}{more}")


def _summary(block: BlockView) -> str:
    """Return text on how many entries are stored, and how far from the diagonal."""
    pattern = block.pattern
    share = 100 * pattern.stored / max(1, pattern.entries)
    part = "100" if share == 100 else f"{share:.2g}"
    said = f"{pattern.stored:,} of {pattern.entries:,} entries stored ({part}%)"
    if block.structure == "block diagonal":
        height, width = (side // pattern.blocks for side in pattern.shape)
        return f"{said}, {pattern.blocks:,} blocks of {height} × {width}"
    if block.structure != "banded":
        return said
    ends = map(_diagonal_text, (-pattern.below, pattern.above))
    return f"{said}, from {' to '.join(ends)}"


def _diagonal_text(columns: int) -> str:
    """Return text on where a diagonal lies, relative to the main one."""
    if not columns:
        return "the diagonal"
    return f"{abs(columns)} {'above' if columns > 0 else 'below'}"


def _entries(block: BlockView, layout: Layout) -> Iterator[Line]:
    """Yield the numbers of a block."""
    pattern = block.pattern
    if block.value is not None:
        value = without_signs(block.value, *pattern.shape)
        yield from array_lines(value, "  ", layout)
    elif block.structure == "diagonal":
        along = np.zeros(pattern.shape[0], pattern.values.dtype)
        along[pattern.rows] = pattern.values
        yield from value_lines("  diagonal", plain(along), layout)
    elif block.structure == "block diagonal" and layout.rows is not None:
        height, width = (side // pattern.blocks for side in pattern.shape)
        inside = pattern.rows < height
        first = np.zeros((height, width), pattern.values.dtype)
        first[pattern.rows[inside], pattern.columns[inside]] = pattern.values[inside]
        yield from value_lines("  the first", plain(first), layout)
        layout.cut = True
    elif block.structure not in ("zero", "identity"):
        yield from _coordinates(block, layout)


def _coordinates(block: BlockView, layout: Layout) -> Iterator[Line]:
    """Yield a line per stored entry, with its index in the block's shape."""
    pattern = block.pattern
    most = pattern.stored if layout.rows is None else MAX_TERMINAL_ENTRIES
    places = pattern.rows[:most] * pattern.shape[1] + pattern.columns[:most]
    values: Any = plain(pattern.values[:most])
    # A derivative of a number by a number has one entry, whose index is empty.
    axes = np.unravel_index(places, block.shape) if block.shape else ()
    indices = zip(*map(np.ndarray.tolist, axes), strict=True) if axes else [()]
    for index, value in zip(indices, values, strict=False):
        label = ", ".join(map(str, index))
        yield Line((f"  [{label}] = ", "name"), (number(value), "number"))
    layout.cut = layout.cut or most < pattern.stored


def plain_blocks(view: Derivative) -> Iterator[Line]:
    """Yield each block on one line, without a label: its numbers or, if it is sparse,
    its rows, columns and values; where ``--spy`` is given, a picture instead."""
    for block in view.blocks:
        stored = block.stored
        if block.colours is not None:
            yield from spy(block.pattern, block.colours, Layout())
        elif stored is not None:
            lists = [stored.rows, stored.columns, stored.values]
            yield Line((repr(lists), "number"))
        elif block.file is None:
            yield number_line(block.value)


def product_labels(view: Product) -> dict[str, str]:
    """Return the label of each part: ``Hv[x]`` for an input, or ``Jv``."""
    if view.command == "jacobian":
        return {part.name: "Jv" for part in view.products}
    return {part.name: f"Hv[{printable(part.name)}]" for part in view.products}


def products(view: Product, layout: Layout) -> Iterator[Line]:
    """Yield the product, and how it was computed; the verdicts come later."""
    called = product_labels(view)
    pad = max(map(len, called.values()))
    if view.command == "jacobian":
        output = view.output
        pad = max(pad, len(printable(output.name)))
        yield from value_lines(printable(output.name), output.value, layout, pad=pad)
    for part in view.products:
        yield from value_lines(called[part.name], part.value, layout, pad=pad)
    if layout.cut:
        yield SHORTENED
    yield BLANK
    through = "backward pass through the gradient"
    yield dim(f"one {'forward pass' if view.command == 'jacobian' else through}")


def plain_products(view: Product) -> Iterator[Line]:
    """Yield the product alone, a line for each part."""
    for part in view.products:
        yield number_line(part.value)
