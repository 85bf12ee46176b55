"""Shared parts of `jacobian` and `hessian`: from the blocks of a derivative to output.

Invariants: importing this module is cheap; what cannot be done is refused before any
work; numbers are printed before the check is waited for.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from .checking import Check, show_checked
from .forms import Forms, joined
from .options import Request
from .output import Printer, form
from .problems import typed, wrong
from .sources import question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..answers.derivatives import Blocks, Form
    from ..answers.question import Question
    from ..engine.jacobian import Block
    from ..lang.run import Run
    from ..render.line import Line


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

    def write(self, blocks: Mapping[tuple[str, ...], Block]) -> list[str] | None:
        """Write the blocks; return the file of each, or None if none was asked for."""
        if self.out is None:
            return None
        from .array_files import NAME, write_block

        names = ["-".join(by) for by in blocks]
        if len(names) > 1 and NAME not in self.out:
            stem, dot, suffix = self.out.rpartition(".")
            raise wrong(
                "E590",
                f"--out writes one block, and there are {len(names)}: "
                f"{', '.join(names)}",
                f"choose one input with --wrt, or let {{}} stand for the names: "
                f"--out {stem}-{{}}{dot}{suffix}",
            )
        files = [self.out.replace(NAME, name) for name in names]
        for path, block in zip(files, blocks.values(), strict=True):
            write_block(path, block)
        return files


def answer(
    request: Request,
    forms: Forms,
    matrices: Matrices,
    times: Sequence[str] | None,
    require: str | None,
    command: str,
    compute: Callable[[Run], Blocks],
    **further: object,
) -> int:
    """Print blocks or a product with them, and verdicts; return the exit status.

    Args:
        request: the program and its point.
        forms: the forms that are shown beside the numbers.
        matrices: how the blocks are shown.
        times: the vector of a product, as texts; None: the blocks are wanted.
        require: the weakest verdict that is not a failure.
        command: ``jacobian`` or ``hessian``.
        compute: returns the blocks of a run.
        further: options that need a matrix, by name.
    """
    if times:
        extra = typed(**further, **asdict(forms), **asdict(matrices))
        if extra:
            hint = "leave out one of the two"
            raise wrong("E590", f"{extra[0]} is for a matrix, --times gives none", hint)
        return _multiplied(question_of(request), times, command, require)
    forms.check(**asdict(matrices))
    matrices.check()
    question = question_of(request)
    check = Check(question, forms.formulas or require is not None)
    from ..answers.derivatives import judged
    from ..render import derivatives as draw
    from ..render.line import unbroken

    layout = Printer().layout
    run = question.run()
    found = compute(run)
    if check.wanted:
        check.submit(found.job(question.seconds, forms.formulas))
    if matrices.form == "dense":
        found.refuse_too_many()
    with run.explained():
        files = matrices.write(found.by)
        view = found.view(matrices.form, files, matrices.spy)
    code = forms.code_of(run, view.command)
    labels = {block.by[-1]: draw.verdict_label(view, block) for block in view.blocks}
    numbers: Iterable[Line]
    if forms.alone:
        numbers, labels = map(unbroken, code or ()), {}
    else:
        numbers = draw.bare(view) if form.quiet else draw.blocks(view, layout)
    return show_checked(
        [numbers],
        check.finish,
        require,
        lambda found: judged(view, found, forms.written(view, found), joined(code)),
        labels,
        "blocks",
        lambda found: forms.lines(view, found, layout),
    )


def _multiplied(
    question: Question, times: Sequence[str], command: str, require: str | None
) -> int:
    """Print a product with a derivative, then its verdicts; return the exit status."""
    check = Check(question, require is not None)
    from ..answers.products import product
    from ..render import derivatives as draw

    layout = Printer().layout
    found = product(question, command, times, check.wanted)
    if found.job is not None:
        check.submit(found.job, found.unasked, found.reworded)
    numbers = draw.bare_products(found) if form.quiet else draw.products(found, layout)
    labels = draw.product_labels(found)
    return show_checked(
        [numbers], check.finish, require, found.judged, labels, "products"
    )
