"""The options that show a derivative as formulas, as LaTeX or as code.

Invariants: options that exclude each other are refused before any work is done; code is
made from the program and the point, without the engine's numbers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from typer import Option

from ..answers.line import BLANK
from ..lang.errors import ProgramError
from ..lang.factory import RANDOM
from ..lang.parser import parse
from ..lang.syntax import Call, walk
from ..ops.records import record
from .output import form, note
from .problems import typed, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..answers.closed_forms import ProgramView
    from ..answers.derivatives import Derivative
    from ..answers.gradients import Gradients, GradView
    from ..answers.line import Layout, Line
    from ..answers.matrix_form import MatrixForm
    from ..answers.verdicts import Formulas
    from ..check.process.job import Verification
    from ..engine import Tensor
    from ..lang.run import Run


MAX_SHOWN_ENTRIES: Final = 12
"""Largest number of a cotangent's entries that are written out."""


@record
class Forms:
    """A group of options: the forms that are shown beside the numbers."""

    TITLE: ClassVar = "Formulas"

    symbolic: Annotated[
        bool,
        Option(
            "--symbolic",
            help="Show the derivatives as formulas, in full (with -q: only them).",
        ),
    ] = False
    latex: Annotated[
        bool,
        Option("--latex", help="Show the formulas as LaTeX (with -q: only them)."),
    ] = False
    entries: Annotated[
        bool,
        Option(
            "--entries",
            help="Show the formulas entry by entry, not in matrix notation.",
        ),
    ] = False
    code: Annotated[
        Literal["gradcli", "numpy", "torch", "c", "latex"] | None,
        Option(
            "--code",
            help="Print only code for value and derivatives: a program of gradcli, a "
            "function of NumPy, PyTorch or C, or equations in LaTeX.",
        ),
    ] = None

    def settled(self) -> Forms:
        """Return the forms, in which entries are those of formulas in the language
        unless LaTeX is asked for."""
        plain = self.entries and not self.latex
        return replace(self, symbolic=True) if plain else self

    @property
    def formulas(self) -> bool:
        """Whether formulas are computed."""
        return self.symbolic or self.latex or self.entries

    def in_symbols(self, **numbers: object) -> bool:
        """Return whether no number is asked for: a person reads the answer, or it is
        code or formulas; ``numbers`` are options that ask for some."""
        asked = self.formulas or self.code is not None
        return not typed(**numbers) and (asked or form.read)

    @property
    def code_only(self) -> bool:
        """Whether only code or formulas are printed, without numbers."""
        if form.json:
            return False
        return self.code is not None or (self.formulas and form.quiet)

    def check(self, **others: object) -> None:
        """Refuse options that exclude each other; ``others``, by name, are further ones
        that add to the output."""
        if self.code is None or form.json:
            return
        extra = typed(symbolic=self.symbolic, latex=self.latex, **others)
        if extra:
            message = f"--code prints only the code, without {extra[0]}"
            raise wrong("E590", message, "drop one of them, or add --json")

    def code_of(
        self, run: Run, kind: str, cotangent: Tensor | None = None
    ) -> list[str] | None:
        """Return the lines of a program that computes value and derivatives; None if no
        language was asked for."""
        if self.code is None:
            return None
        from ..formulas.programs import WantedCode
        from ..formulas.tree import TooLong, Unwritable

        output = run.output_name if run.names_output else ""
        try:
            notes = list(_notes(run, cotangent))
            return WantedCode(run, self.code, kind, cotangent, notes, output).lines()
        except TooLong as problem:
            hint = (
                "use fewer loop iterations, smaller arrays, or fewer inputs with --wrt"
            )
            raise ProgramError("E406", str(problem), hint=hint) from None
        except Unwritable as problem:
            message = f"the {kind} cannot be written as a program: {problem}"
            raise ProgramError("E398", message) from None

    def of_symbols(self) -> Forms:
        """Return the forms of an answer without numbers: formulas in the language, if
        no other form is asked for."""
        asked = self.formulas or self.code is not None
        return self if asked else replace(self, symbolic=True)

    def closing(
        self,
        view: GradView | Derivative,
        found: Verification | None,
        labels: Mapping[str, str],
        what: str,
        layout: Layout,
        symbols: bool,
    ) -> Iterator[Line]:
        """Yield what follows the numbers: the verdicts, then the formulas; in an answer
        in ``symbols`` the formulas, with the verdicts beside or below them. Where only
        formulas are printed, the conditions under which they hold go to stderr."""
        if found is None:
            return
        from ..answers.verdict_lines import formula_lines, verdict_lines

        if not symbols and labels and form.full and not self.code_only:
            yield from verdict_lines(found, labels, what)
        if not self.formulas:
            return
        from ..answers.closed_forms import (
            formulas,
            formulas_of,
            latex_lines,
            plain_formulas,
        )

        views, conditions = formulas_of(view, found.inputs), found.side_conditions
        bare = self.code_only
        known = any(text for view in views for text in view.texts)
        if bare and conditions and known:
            note(f"note: this holds where {', '.join(conditions)}")
        if self.symbolic and symbols and not bare:
            yield from formula_lines(views, found, labels, what, layout)
        elif self.symbolic:
            yield from plain_formulas(views) if bare else formulas(views, layout)
        if self.latex:
            yield from () if bare or (symbols and not self.symbolic) else (BLANK,)
            yield from latex_lines(views)
            if symbols and not bare and not self.symbolic:
                yield from verdict_lines(found, labels, what)

    def without_formulas(self) -> Forms:
        """Return the forms without formulas."""
        return replace(self, symbolic=False, latex=False)

    def after_numbers(
        self, matrices: MatrixForm, name: str, found: Verification, layout: Layout
    ) -> Iterator[Line]:
        """Yield formulas on whole arrays behind the numbers that they give; alone, they
        have the conditions under which they hold on stderr."""
        from ..answers.closed_forms import formulas, latex_lines, plain_formulas

        views, bare = [*matrices.views(name, found)], self.code_only
        if bare and found.side_conditions:
            note(f"note: this holds where {', '.join(found.side_conditions)}")
        if self.symbolic:
            yield from plain_formulas(views) if bare else formulas(views, layout)
        if self.latex:
            yield from () if bare else (BLANK,)
            yield from latex_lines(views)

    def in_matrices(
        self, matrices: MatrixForm, name: str, found: Verification, layout: Layout,
        what: str,
    ) -> Iterator[Line]:  # fmt: skip
        """Yield formulas on whole arrays of an output of this name, with the verdicts
        and the shapes unless only formulas are printed."""
        from ..answers.closed_forms import latex_lines, plain_formulas
        from ..answers.verdict_lines import formula_lines, verdict_lines

        views = [*matrices.views(name, found)]
        bare, latex = self.code_only, self.latex and not self.symbolic
        if bare and found.side_conditions:
            note(f"note: this holds where {', '.join(found.side_conditions)}")
        if not latex:
            plain = plain_formulas(views)
            full = formula_lines(views, found, {}, what, layout)
            yield from plain if bare else full
        if self.latex:
            yield from () if bare or latex else (BLANK,)
            yield from latex_lines(views)
            if latex and not bare:
                labels = {
                    row.name: view.title
                    for view, row in zip(views, found.inputs, strict=True)
                }
                yield from verdict_lines(found, labels, what)
        if form.full and not bare:
            yield from matrices.shape_lines()
            yield from matrices.other_lines(name)

    def lacking(
        self, view: GradView | Derivative, found: Verification | None
    ) -> ProgramError | None:
        """Return the error for the first derivative that has no formula; None if all
        have one or no formulas are shown."""
        if found is None or not self.formulas:
            return None
        from ..answers.closed_forms import formulas_of
        from ..check.process.job import lacked_time

        for each in formulas_of(view, found.inputs):
            why = each.missing
            if why is not None:
                late = lacked_time(why)
                hint = "give values, NAME=VALUE, or draw them with --draw"
                if late:
                    hint = f"--verify-seconds N gives more time; or {hint}"
                message = f"no formula for {each.title}: {why}"
                code = "E405" if late else "E398"
                return ProgramError(code, message, hint=hint)
        return None

    def written(
        self, view: GradView | Derivative, found: Verification | None
    ) -> list[Formulas] | None:
        """Return the formulas of each block for an object; None if not asked for."""
        if not self.formulas:
            return None
        from ..answers.closed_forms import as_formulas, formulas_of

        views = formulas_of(view, () if found is None else found.inputs)
        return as_formulas(views, self.latex)


def program_of_gradients(found: Gradients) -> ProgramView | None:
    """Return the adjoint program; None for scalars, whose formulas say the same, and if
    it cannot be written."""
    if not any(given.tensor.shape for given in found.run.differentiated):
        return None
    from ..answers.closed_forms import ProgramView
    from ..formulas.programs import program
    from ..formulas.tree import TooLong, Unwritable

    try:
        made = program(found.run, found.cotangent)
    except (TooLong, Unwritable):
        return None
    return ProgramView(made.lines, made.repeats(found.run, found.by_name))


def _notes(run: Run, cotangent: Tensor | None) -> Iterator[str]:
    """Yield comments on numbers in the code: a cotangent, random numbers."""
    if cotangent is not None:
        numbers = cotangent.raw.reshape(-1).tolist()
        shown = ", ".join(map(repr, numbers[:MAX_SHOWN_ENTRIES]))
        more = ", ..." if len(numbers) > MAX_SHOWN_ENTRIES else ""
        yield f"The gradient is contracted with --grad-output [{shown}{more}]."
    program = parse(run.source, [given.name for given in run.inputs])
    called = {node.function for node in walk(program) if isinstance(node, Call)}
    if called & RANDOM:
        yield f"Random numbers are those that seed {run.seed} gives."


def joined(lines: Sequence[str] | None) -> str | None:
    """Return the lines as one text; None without lines."""
    return None if lines is None else "".join(f"{line}\n" for line in lines)
