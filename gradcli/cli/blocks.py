"""What `jacobian` and `hessian` share: from the run of a program to its output.

Invariants: numbers are printed before the check is waited for. The checking process is
handed the numbers of the blocks; of a large block a seeded choice of them, half among
those that are stored and half among all, so that zeros that should be none are found,
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..autograd.blocks import check_size
from ..engine.devices import host
from ..engine.jacobian import Block, TooManyEntries
from ..verify.process.job import Block as Numbers
from ..views.derivatives import DerivativeView, block_view
from .checking import Check, exit_status, job_for, require_check
from .code import as_json, code_lines, code_of
from .forms import Forms
from .matrices import Matrices
from .options import Request
from .output import Printer
from .problems import wrong
from .session import output_of_run, run_program

if TYPE_CHECKING:
    from ..engine.raw import Host
    from ..lang.run import Run
    from ..verify.process.job import Verification

MAX_HANDED: Final = 1 << 20
"""Entries that are all handed over."""

DRAWN: Final = 1 << 10
"""Entries that are drawn of more, among the stored ones and among all."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a command computed.

    by       each block by the names of its inputs
    columns  by input the blocks whose rows, one under the other, are its claim
    """

    mode: str
    passes: int
    by: Mapping[tuple[str, ...], Block]
    columns: Mapping[str, Sequence[Block]]


def derivative(
    command: str,
    request: Request,
    forms: Forms,
    matrices: Matrices,
    require: str | None,
    compute: Callable[[Run], Blocks],
) -> int:
    """Run the program, compute the blocks and print them; the exit status."""
    forms.check(request, **matrices.asked)
    matrices.check()
    require_check(request, require)
    check = Check.start(request, needed=forms.formulas or require is not None)
    run = run_program(request)
    found = compute(run)
    if check.wanted:
        claims = {name: claim(own, run.seed) for name, own in found.columns.items()}
        if forms.formulas:
            _check_formulas(claims.values())
        check.submit(job_for(run, request, command, claims, formulas=forms.formulas))
    with run.explained():
        if matrices.dense:
            _check_dense(found.by.values())
        blocks = [block_view(by, b, matrices.form) for by, b in found.by.items()]
        files = matrices.paths(blocks)
        if files is not None:
            from .array_files import write_block

            for path, block in zip(files, found.by.values(), strict=True):
                write_block(path, block)
    view = DerivativeView(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        mode=found.mode,
        passes=found.passes,
        output=output_of_run(run),
        blocks=tuple(blocks),
    )
    return present(request, run, view, check, forms, matrices, files, require)


def _check_dense(blocks: Iterable[Block]) -> None:
    """See that the blocks can be shown with their zeros.

    Raises:
        ProgramError: there are too many.
    """
    try:
        check_size(sum(block.output.numel() * block.x.numel() for block in blocks))
    except TooManyEntries as error:
        raise wrong(
            "E403", str(error), "leave out --dense, or write --out J.npz"
        ) from None


def _check_formulas(claims: Iterable[Numbers]) -> None:
    """See that all entries can be shown as formulas.

    Raises:
        ProgramError: there are too many.
    """
    entries = sum(claim.count for claim in claims)
    if entries > MAX_HANDED:
        message = f"{entries:,} entries are too many to be shown as formulas"
        raise wrong("E406", message, "restrict the inputs with --wrt, or shorten them")


def present(
    request: Request,
    run: Run,
    view: DerivativeView,
    check: Check,
    forms: Forms,
    matrices: Matrices,
    files: Sequence[str] | None = None,
    require: str | None = None,
) -> int:
    """Print the blocks, then what could be shown of them; the exit status."""
    from ..render import derivatives, jsons
    from ..views.closed_forms import of_blocks

    printer = Printer()
    alone = forms.alone(request)
    code = code_of(run, forms.code, view.command)
    shown = derivatives.Shown(matrices.spy, files)
    if alone:
        printer.lines(code_lines(code or ()))
    elif request.quiet and not request.json:
        printer.lines(derivatives.bare(view, shown))
    elif not request.json:
        printer.lines(derivatives.blocks(view, printer.layout, shown))
    printer.flush()
    verification = check.finish()
    if request.json:
        answer = jsons.derivative(
            view, verification, forms.formulas, forms.latex, as_json(code), shown
        )
        printer.lines([answer])
    elif verification is not None:
        if not (request.quiet or alone):
            _show_verdicts(printer, view, verification)
        if forms.formulas and (alone or not request.quiet):
            found = of_blocks(view, verification.inputs)
            forms.show(printer, found, verification.side_conditions, alone)
    printer.flush()
    return exit_status(verification, require)


def _show_verdicts(
    printer: Printer, view: DerivativeView, verification: Verification
) -> None:
    from ..render.derivatives import verdict_label
    from ..render.verdicts import verdict_lines

    labels = {block.by[-1]: verdict_label(view, block) for block in view.blocks}
    printer.lines(verdict_lines(verification, labels, "blocks"))


def claim(blocks: Sequence[Block], seed: int) -> Numbers:
    """The numbers of blocks by one input, one block under the other.

    Args:
        blocks: with equally many columns.
        seed: of the choice.
    """
    columns = blocks[0].x.numel()
    starts = [0, *accumulate(block.output.numel() for block in blocks)]
    shape = (starts[-1], *blocks[0].x.shape)
    if starts[-1] * columns <= MAX_HANDED:
        parts = [_host(block.dense().raw).ravel() for block in blocks]
        return Numbers(shape, _bytes(np.concatenate(parts)))
    random = Random(seed)
    places, numbers = [], []
    for block, start in zip(blocks, starts[:-1], strict=True):
        rows, across = _drawn(block, random, len(blocks))
        places.append((rows + start) * columns + across)
        numbers.append(_at(block.matrix, rows, across))
    where, first = np.unique(np.concatenate(places), return_index=True)
    values = np.concatenate(numbers)[first]
    return Numbers(shape, _bytes(values), where.astype(np.int64).tobytes())


def _drawn(block: Block, random: Random, among: int) -> tuple[Host, Host]:
    """Rows and columns of a block's share of what is drawn."""
    rows, columns = block.output.numel(), block.x.numel()
    share, every = max(1, DRAWN // among), rows * columns
    some = random.sample(range(every), min(share, every))
    anywhere = np.array(some, dtype=np.int64)
    found, across = anywhere // max(1, columns), anywhere % max(1, columns)
    if block.sparse:
        stored = block.matrix.nnz
        chosen = np.sort(random.sample(range(stored), min(share, stored)))
        chosen = chosen.astype(np.int64)
        line = np.searchsorted(block.matrix.indptr, chosen, side="right") - 1
        found = np.concatenate([found, line])
        across = np.concatenate([across, block.matrix.indices[chosen]])
    return found, across


def _at(matrix: Any, rows: Host, columns: Host) -> Host:
    """The entries of a matrix at some places."""
    if matrix is None:
        return np.zeros(len(rows))
    return _host(matrix[rows, columns])


def _host(array: object) -> Host:
    """An array where the processor can read it, dense."""
    array = host(array)
    return array.toarray().ravel() if hasattr(array, "toarray") else np.asarray(array)


def _bytes(numbers: object) -> bytes:
    found: bytes = np.ascontiguousarray(numbers, dtype=np.float64).tobytes()
    return found
