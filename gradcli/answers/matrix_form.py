"""Derivatives of programs of matrices as formulas in matrix notation, each proved.

The shapes of inputs without a value are inferred from the program, and the formulas
hold for all sizes. Each formula is a claim; the checking process proves it at small
sizes.

Invariant: no formula is shown that the checking process refuted.

    matrix_form(question, run).formulas.texts   # {("x",): "2 * A.T @ (A @ x - b)"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..check.process.job import (
    AGREES,
    LEFT_OUT,
    MAX_FORM_CHARACTERS,
    PROVED,
    REFUTED,
    UNKNOWN,
    InputVerdict,
    Verification,
)
from ..engine import Tensor
from ..engine.devices import host
from ..formulas.matrix_notation import By, MatrixFormulas, in_matrices
from ..formulas.tree import TooLong, Unwritable
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..lang.run import Run, Session, evaluate, prepare
from .check import claims_task
from .closed_forms import FIRST, FormulaView
from .inferred_sizes import InferredSizes, at_regular_point, infer_sizes, shapes_with
from .line import Line

if TYPE_CHECKING:
    from ..check.claims import ClaimsTask, Judgement
    from .question import Question

LARGE: Final = ((7, 11, 13, 17, 19, 23, 29, 31), (11, 13, 17, 19, 23, 29, 31, 37))
"""Two rows of sizes from which formulas for all sizes are read."""

ROUNDING: Final = 1e-4
"""Largest difference of a formula's number from the gradient, as a fraction of the
gradient's largest entry; more than rounding is a wrong formula."""

POINTS: Final = 4
"""Random points at which a formula is compared with the derivative."""


Derivatives = Callable[[By], Tensor | None]
"""Type of a function that returns a derivative by its inputs; None: it is zero."""


@dataclass(frozen=True, slots=True)
class MatrixForm:
    """Derivatives in matrix notation, and the claims that are to be proved."""

    formulas: MatrixFormulas
    inferred: InferredSizes | None
    task: ClaimsTask

    def verification(self, judgement: Judgement) -> Verification:
        """Return the verdicts on the formulas, one for each input."""
        rulings = judgement.rulings
        verdicts = [
            InputVerdict(
                _joined(by),
                ruling.verdict,
                closed_form=text if _holds(ruling) else None,
                note=ruling.note,
                checked=int(_holds(ruling)),
                of=1,
            )
            for (by, text), ruling in zip(
                self.formulas.texts.items(), rulings, strict=True
            )
        ]
        bound = any(ruling.side_conditions for ruling in rulings)
        holds = self.formulas.holds if bound else ()
        return Verification.about(
            verdicts, judgement.seconds, side_conditions=tuple(holds), done=True
        )

    def stated_with(self, found: Verification, judgement: Judgement) -> Verification:
        """Return the verdicts on numbers with the formulas that are proved and short,
        and the conditions under which these hold."""
        rulings = zip(self.formulas.texts.items(), judgement.rulings, strict=True)
        proved = {
            by[0]: text
            for (by, text), ruling in rulings
            if ruling.verdict == PROVED and len(text) <= MAX_FORM_CHARACTERS
        }
        if not proved:
            return found
        rows = tuple(
            replace(row, closed_form=proved.get(row.name, row.closed_form))
            if row.verdict not in (UNKNOWN, REFUTED)
            else row
            for row in found.inputs
        )
        stated = [c for c in found.side_conditions if not c.startswith(LEFT_OUT)]
        conditions = dict.fromkeys([*stated, *self.formulas.holds])
        return replace(found, inputs=rows, side_conditions=tuple(conditions))

    def views(self, name: str, found: Verification) -> Iterator[FormulaView]:
        """Yield the formulas of the derivatives of an output of this name."""
        for by, row in zip(self.formulas.texts, found.inputs, strict=True):
            first = name if len(by) == 1 else by[0]
            around = FIRST if len(by) == 1 else (f"d2{name}/d", " d")
            yield FormulaView(
                name, first, by[-1], around, ("",), ("",), (), (row.closed_form,),
                None if row.closed_form else row.note or row.verdict,
                (self.formulas.latex.get(by),),
            )  # fmt: skip

    def other_lines(self, name: str) -> Iterator[Line]:
        """Yield a line on the derivatives that are not in matrix notation."""
        others = [_title(by, name) for by in self.formulas.others]
        if others:
            shown = ", ".join(map(printable, others))
            yield Line((f"entry by entry with --entries: {shown}", "dim"))

    def shape_lines(self) -> Iterator[Line]:
        """Yield a line on the shapes that were inferred."""
        if self.inferred is None:
            return
        names = {n: " × ".join(s) for n, s in self.inferred.names.items() if s}
        sizes = ", ".join(f"{n} = {k}" for n, k in self.inferred.sizes.items())
        shown = ", ".join(f"{name}: {shape}" for name, shape in names.items())
        proved = "any sizes" if self.formulas.general else "these sizes"
        checked = f"; checked at {sizes}" if sizes else ""
        yield Line((f"for {proved}: {shown}{checked}", "dim"))


def _holds(ruling: Any) -> bool:
    return ruling.verdict in (PROVED, AGREES)


def _joined(by: By) -> str:
    """Return ``x``, or ``x dy`` for a second derivative."""
    return " d".join(by)


def _title(by: By, output: str = "") -> str:
    """Return ``d/dx``, or ``d2/dx dy`` for a second derivative."""
    return f"d{'2' if len(by) > 1 else ''}{output}/d{_joined(by)}"


def matrix_form(
    question: Question, run: Run, kind: str = "gradient"
) -> MatrixForm | None:
    """Return the gradients, the ``jacobian`` or the ``hessian`` of a run in matrix
    notation; None if they cannot be written so, or if all inputs are numbers."""
    if not any(i.tensor.shape for i in run.inputs):
        return None
    if run.output.shape and kind == "gradient":
        return None
    try:
        regular = Session(at_regular_point(run.prepared), question.of).run()
        formulas = in_matrices(regular, _others(question), kind)
        if not formulas.texts:
            return None
        task = claims_task(
            replace(question, strict=False, tell=lambda text: None),
            [f"{_title(by)} = {text}" for by, text in formulas.claims.items()],
            None,
            POINTS,
        )
    except (Unwritable, TooLong, ProgramError):
        return None
    return MatrixForm(formulas, question.inferred, task)


def form_at_values(
    question: Question, run: Run, computed: Derivatives, kind: str = "gradient"
) -> MatrixForm | None:
    """Return derivatives of a run with values in matrix notation, as formulas for all
    sizes; None without a matrix among the values, and where the formulas do not give
    the numbers that were computed."""
    shapes = {i.name: tuple(i.tensor.shape) for i in run.inputs}
    if run.output.shape and kind != "jacobian":
        return None
    if all(len(shape) < 2 for shape in shapes.values()):
        return None
    numbers = {name: shape for name, shape in shapes.items() if not shape}
    scalar = kind != "jacobian"
    inferred = infer_sizes(run.source, (), numbers, question.of, scalar, like=shapes)
    if inferred is None or not _fits(inferred, shapes):
        return None
    asked = replace(
        question, program=run.source, values=(), shapes={**numbers, **inferred.shapes},
        wrt=[i.name for i in run.differentiated], inferred=inferred, symbols=True,
        strict=False, tell=lambda text: None,
    )  # fmt: skip
    try:
        symbolic = asked.run()
        asked.refuse_decisions(symbolic)
        form = matrix_form(asked, symbolic, kind)
    except ProgramError:
        return None
    return form if form is not None and _gives(form, run, computed) else None


def _fits(inferred: InferredSizes, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether shapes have one number for each size."""
    sizes: dict[str, int] = {}
    for name, named in inferred.names.items():
        for size, number in zip(named, shapes[name], strict=True):
            known = int(size) if size.isdigit() else sizes.setdefault(size, number)
            if known != number:
                return False
    return True


def _gives(form: MatrixForm, run: Run, computed: Derivatives) -> bool:
    """Return whether the conditions of the formulas hold at the point of a run, and the
    formulas give the numbers that were computed."""
    prepared = run.prepared
    known = dict(prepared.environment)
    if form.inferred is not None:
        for name, named in form.inferred.names.items():
            sizes = zip(named, known[name].shape, strict=True)
            known |= {n: prepared.factory.constant(k) for n, k in sizes}
    with np.errstate(all="ignore"):
        for text in form.formulas.holds:
            if not evaluate(text, known)[0].raw.all():
                return False
        for by, text in form.formulas.texts.items():
            value = np.asarray(host(evaluate(text, known)[0].raw), float)
            found = computed(by)
            true = np.zeros(value.shape)
            if found is not None:
                true = np.asarray(host(found.raw), float)
            near = ROUNDING * float(abs(true).max(initial=0.0))
            if value.shape != true.shape or not np.allclose(value, true, 0, near):
                return False
    return True


def _others(question: Question) -> list[tuple[Run, Mapping[str, int]]]:
    """Return runs of the program with two rows of large sizes."""
    if question.inferred is None or not question.inferred.sizes:
        return []
    runs: list[tuple[Run, Mapping[str, int]]] = []
    for row in LARGE:
        names, small = question.inferred.names, question.inferred.sizes
        ordered = sorted(small, key=lambda name: small[name])
        sizes = dict(zip(ordered, row, strict=False))
        sizes = {name: sizes[name] for name in small}
        prepared = prepare(
            question.program, question.values, wrt=question.wrt,
            shapes={**question.shapes, **shapes_with(names, sizes)},
        )  # fmt: skip
        runs.append((Session(at_regular_point(prepared), question.of).run(), sizes))
    return runs
