"""The options that show a derivative as formulas, as LaTeX or as code.

Invariants: options that exclude each other are refused before any work is done; code is
made from the program and the point, without the engine's numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from typer import Option

from ..lang.errors import ProgramError
from .output import form, note
from .problems import typed, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..answers.closed_forms import ProgramView
    from ..answers.derivatives import Derivative
    from ..answers.gradients import Gradients, GradView
    from ..answers.line import Layout, Line
    from ..answers.verdicts import Formulas
    from ..check.process.job import Verification
    from ..engine import Tensor
    from ..lang.run import Run


MAX_SHOWN_ENTRIES: Final = 12
"""Largest number of a cotangent's entries that are written out."""


@dataclass(frozen=True, slots=True)
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
    code: Annotated[
        Literal["gradcli", "numpy", "torch", "c", "latex"] | None,
        Option(
            "--code",
            help="Print only code for value and derivatives: a program of gradcli, a "
            "function of NumPy, PyTorch or C, or equations in LaTeX.",
        ),
    ] = None

    @property
    def formulas(self) -> bool:
        """Whether formulas are computed."""
        return self.symbolic or self.latex

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
            message = f"--code prints the code alone, without {extra[0]}"
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

    def lines(
        self, view: GradView | Derivative, found: Verification | None, layout: Layout
    ) -> Iterator[Line]:
        """Yield the formulas, if they were asked for; where only they are printed, the
        conditions under which they hold go to stderr as a note."""
        if found is None or not self.formulas:
            return
        from ..answers.closed_forms import formulas_of
        from ..answers.formula_lines import formulas, latex_lines, plain_formulas
        from ..answers.line import BLANK

        views, conditions = formulas_of(view, found.inputs), found.side_conditions
        known = any(text for view in views for text in view.texts)
        if self.code_only and conditions and known:
            note(f"note: what is shown holds where {', '.join(conditions)}")
        if self.symbolic:
            yield from (
                plain_formulas(views) if self.code_only else formulas(views, layout)
            )
        if self.latex:
            yield from () if self.code_only else (BLANK,)
            yield from latex_lines(views)

    def written(
        self, view: GradView | Derivative, found: Verification | None
    ) -> list[Formulas] | None:
        """Return the formulas of each block for an object; None if not asked for."""
        if not self.formulas:
            return None
        from ..answers.closed_forms import formulas_of
        from ..answers.formula_lines import as_formulas

        views = formulas_of(view, () if found is None else found.inputs)
        return as_formulas(views, self.latex)


def program_of_gradients(found: Gradients) -> ProgramView | None:
    """Return the adjoint program; None for scalars, whose formulas say the same, and if
    it cannot be written."""
    from ..answers.closed_forms import ProgramView
    from ..formulas.programs import program
    from ..formulas.tree import TooLong, Unwritable

    if not any(given.tensor.shape for given in found.run.differentiated):
        return None
    try:
        made = program(found.run, found.cotangent)
    except (TooLong, Unwritable):
        return None
    return ProgramView(made.lines, made.repeats(found.run, found.by_name))


def _notes(run: Run, cotangent: Tensor | None) -> Iterator[str]:
    """Yield comments on numbers in the code: a cotangent, random numbers."""
    from ..lang.factory import RANDOM
    from ..lang.parser import parse
    from ..lang.syntax import Call, walk

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
