"""Answers of the calculator for programs of Python: numbers to compute with, and the
same lines, verdicts and formulas that the command line prints.

Invariants: what a result shows is what the command of its name answers at the same
point; the check runs in the checking process, within its seconds, and none runs if it
is not wanted. An input without a value is a symbol, and the answer is the formula.

    result = grad("x^2", x=3)
    result["x"], result.verdicts["x"]       # (6.0, "proved")
    grad("x^2").formulas["x"]               # "2*x"
    bool(check("x^2", "d/dx = 3*x"))        # False
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..check.process.client import Checker
from ..check.process.job import REFUTED, UNKNOWN, Verification
from ..lang import compiled as programs
from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.shown_results import ShownRows, text_of_numbers
from . import check as claims
from . import derivatives, verdict_lines
from .closed_forms import FormulaView, equations, formulas_of
from .grad import judged
from .gradients import answer, gradients, labels
from .inferred_sizes import infer_sizes
from .line import Layout, Line
from .matrix_form import matrix_form
from .question import Question

SECONDS: Final = 5.0
"""Seconds of work that a check may take, unless others are asked for."""

MAX_FORMULAS: Final = 64
"""Largest number of derivatives for which each formula is asked for, for LaTeX."""

MAX_TYPED: Final = 4096
"""Largest number of entries of a value beside symbols."""

POINTS: Final = 8
"""Number of random points at which a claim is compared."""


@dataclass(frozen=True, eq=False, repr=False)
class CalculatedResult(ShownRows):
    """A value with its derivatives by input, verdicts and formulas.

    answer       the answer of the command, as its JSON has it
    value        the value; None if an input has none
    derivatives  the derivative by each input's name; None if there are only formulas
    checks       what was shown of them; None: they were not checked
    views        the formulas of whole derivatives
    lines        the lines that the command prints
    """

    answer: Any
    value: Any
    derivatives: Mapping[str, Any]
    checks: Verification | None
    views: Sequence[FormulaView]
    lines: Sequence[Line] = field(default=())

    def __getitem__(self, name: str) -> Any:
        """Return the derivative by the input of this name."""
        return self.derivatives[name]

    @property
    def verdicts(self) -> dict[str, str]:
        """Return the verdict on the derivative by each input."""
        rows = self.checks.inputs if self.checks is not None else ()
        known = {row.name: row.verdict for row in rows}
        return {name: known.get(name, UNKNOWN) for name in self.derivatives}

    @property
    def verdict(self) -> str:
        """Return the weakest of the verdicts."""
        return UNKNOWN if self.checks is None else self.checks.verdict

    @property
    def formulas(self) -> dict[str, Any]:
        """Return the derivative by each input as a formula, nested like its numbers;
        None where none is known."""
        rows = self.checks.inputs if self.checks is not None else ()
        known: dict[str, Any] = {view.by: view.nested() for view in self.views}
        short = {row.name: row.closed_form for row in rows if row.closed_form}
        return {name: short.get(name, known.get(name)) for name in self.derivatives}

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the value and each derivative: label, numbers, formula, verdict."""
        output = self.answer.output
        if self.value is not None:
            yield output.name, text_of_numbers(self.value), "", ""
        over = output.name if output.named else ""
        for name, numbers in self.derivatives.items():
            formula = self.formulas[name]
            shown = "" if numbers is None else text_of_numbers(numbers)
            text = formula if isinstance(formula, str) else ""
            yield f"d{over}/d{name}", shown, text, self.verdicts[name]

    def __repr__(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def _repr_latex_(self) -> str | None:
        """Return the formulas as equations; None if there is none."""
        known = [each for each in equations(self.views) if each is not None]
        if not known:
            return None
        lines = r" \\ ".join(each.replace(" = ", " &= ", 1) for each in known)
        return rf"$$\begin{{aligned}} {lines} \end{{aligned}}$$"


class GradResult(CalculatedResult):
    """A program's value and gradients; `gradcli.grad` returns it."""

    @property
    def grads(self) -> Mapping[str, Any]:
        """Return the gradient by each input's name."""
        return self.derivatives


class JacobianResult(CalculatedResult):
    """A program's value and Jacobian; `gradcli.jacobian` returns it."""

    @property
    def blocks(self) -> Mapping[str, Any]:
        """Return the block by each input's name."""
        return self.derivatives


@dataclass(frozen=True, eq=False, repr=False)
class CheckResult(ShownRows):
    """Claims with their verdicts; it is true if none is refuted or unknown.

    answer  the answer of the command, as its JSON has it
    """

    answer: claims.CheckAnswer

    def __bool__(self) -> bool:
        return self.verdict not in (REFUTED, UNKNOWN)

    @property
    def verdict(self) -> str:
        """Return the weakest of the verdicts."""
        return self.answer.verification.verdict

    @property
    def claims(self) -> Sequence[claims.Judged]:
        """Return the claims, each with its verdict and the diagnosis of a false one."""
        return self.answer.claims

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield each claim: its text, its verdict, its mistake, what is right."""
        for each in self.claims:
            wrong = each.diagnosis or each.note or ""
            yield each.claim, each.verdict, wrong, each.right or ""

    def __repr__(self) -> str:
        return "\n".join(line.text for line in verdict_lines.claims(self.answer))


def grad(
    program: str,
    values: Mapping[str, Any] | None = None,
    /,
    *,
    wrt: str | Iterable[str] | None = None,
    of: str | None = None,
    verify: bool = True,
    seconds: float = SECONDS,
    **inputs: Any,
) -> GradResult:
    """Return a program's value and gradients with their verdicts, as ``gradcli grad``
    gives them; without values, the formulas.

    Args:
        program: the text of the program.
        values: values by name, for names that are arguments here too.
        wrt: the inputs that derivatives are taken for; None: all.
        of: the variable that is the value; None: the last statement's value.
        verify: whether the gradients are checked; formulas always are.
        seconds: the seconds of work that the check may take.
        inputs: a number, a list, an array or a tensor for each input.

    Raises:
        ProgramError: the program or a value is wrong, or the value is not one number.
    """
    given = _values("grad", program, values, inputs)
    compiled = programs.compile(program, wrt=wrt, of=of)
    if {*compiled.reading(given).names} - {*given}:
        return _gradients_in_symbols(program, given, wrt, of, seconds)
    run, back = _run(compiled, given)
    run.require_scalar("or take gradcli.jacobian")
    known = gradients(run, None, with_graph=False)
    count = sum(g.numel() for g in known.by_name.values() if g is not None)
    checks = None
    if verify:
        checks = _checked(*known.job(seconds, count <= MAX_FORMULAS))
    shown = [*answer(known.view, Layout())]
    if checks is not None:
        names = labels(known.view)
        shown += verdict_lines.verdict_lines(checks, names, "gradients")
    derived = {n: None if g is None else back(g, n) for n, g in known.by_name.items()}
    views = () if checks is None else formulas_of(known.view, checks.inputs)
    whole = judged(known.view, checks)
    return GradResult(whole, back(run.output), derived, checks, views, shown)


def jacobian(
    program: str,
    values: Mapping[str, Any] | None = None,
    /,
    *,
    wrt: str | Iterable[str] | None = None,
    of: str | None = None,
    verify: bool = True,
    seconds: float = SECONDS,
    **inputs: Any,
) -> JacobianResult:
    """Return a program's value and Jacobian with verdicts, as ``gradcli jacobian``
    gives them; the arguments are those of `grad`."""
    given = _values("jacobian", program, values, inputs)
    compiled = programs.compile(program, wrt=wrt, of=of)
    if {*compiled.reading(given).names} - {*given}:
        return _blocks_in_symbols(program, given, wrt, of, seconds)
    run, back = _run(compiled, given)
    found = derivatives.jacobian(run, "auto")
    found.refuse_too_many()
    count = sum(b.output.numel() * b.x.numel() for b in found.by.values())
    checks = None
    if verify:
        checks = _checked(found.job(seconds, count <= MAX_FORMULAS))
    with run.explained():
        view = found.view("auto")
    shown = [*derivatives.blocks(view, Layout())]
    if checks is not None:
        names = _block_labels(view)
        shown += verdict_lines.verdict_lines(checks, names, "blocks")
    blocks = {by[0]: back(block.dense(), by[0]) for by, block in found.by.items()}
    views = () if checks is None else formulas_of(view, checks.inputs)
    whole = derivatives.judged(view, checks, None, None)
    return JacobianResult(whole, back(run.output), blocks, checks, views, shown)


def check(
    program: str,
    *equations: str,
    values: Mapping[str, Any] | None = None,
    same: str | None = None,
    of: str | None = None,
    points: int = POINTS,
    seconds: float = SECONDS,
    **inputs: Any,
) -> CheckResult:
    """Return verdicts on derivatives that were worked out by hand, as ``gradcli check``
    gives them.

    Args:
        program: the text of the program.
        equations: claims such as ``d/dx = 2*x``.
        values: values by name, for names that are arguments here too.
        same: another program, to be compared in values and gradients.
        of: the variable that is the value; None: the last statement's value.
        points: the number of random points at which a claim is compared.
        seconds: the seconds of work that the check may take.
        inputs: a number, a list or an array for each input that has a value.

    Raises:
        ProgramError: the program, a value or a claim is wrong.
    """
    given = _values("check", program, values, inputs)
    if not equations and same is None:
        hint = f"as in gradcli.check({program!r}, 'd/dx = ...')"
        raise ProgramError("E590", "there is nothing to check", hint=hint)
    question = _question(program, given, None, of, seconds, True)
    task = claims.claims_task(question, equations, same, points)
    return CheckResult(claims.check(task, _checked(task)))


def _values(
    name: str, program: object, values: Mapping[str, Any] | None, inputs: Any
) -> dict[str, Any]:
    """Return all values by name; refuse a function, which other functions take."""
    if not isinstance(program, str):
        ways = {
            "grad": "gradcli.func.grad takes functions, gradcli.autograd.grad tensors",
            "jacobian": "gradcli.autograd.functional.jacobian takes functions",
            "check": "gradcli.autograd.verify takes functions",
        }
        kind = type(program).__name__
        raise TypeError(f"{name}() takes a program's text, not {kind}: {ways[name]}")
    return {**(values or {}), **inputs}


def _run(compiled: programs.Compiled, given: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the run at a point, and the function that gives its tensors back as the
    inputs are."""
    point = compiled.at(given)
    run = point.session().run()
    run.require_graph()
    return run, point.back


def _checked(task: Any, reason: str | None = None) -> Any:
    """Return what the checking process showed; a ``reason`` says why it is not
    asked."""
    if reason is not None:
        return task.unanswered().ended(reason)
    with Checker.start() as checker:
        checker.submit(task)
        return [*checker.results()][-1]


def _question(
    program: str,
    given: Mapping[str, Any],
    wrt: str | Iterable[str] | None,
    of: str | None,
    seconds: float,
    scalar: bool,
) -> Question:
    """Return the question of a program some of whose inputs are symbols."""
    bindings = read_bindings(f"{name}={_typed(name, x)}" for name, x in given.items())
    names = [n.strip() for n in wrt.split(",")] if isinstance(wrt, str) else wrt
    inferred = infer_sizes(program, bindings, {}, of, scalar)
    return Question(
        program,
        bindings,
        of=of,
        wrt=None if names is None else [*names],
        shapes=inferred.shapes if inferred is not None else {},
        inferred=inferred,
        symbols=True,
        seconds=seconds,
    )


def _typed(name: str, value: Any) -> str:
    """Return a value as text of the language."""
    array = np.asarray(value.detach() if hasattr(value, "detach") else value)
    if array.dtype.kind not in "fiub" or array.size > MAX_TYPED:
        message = f"{name} holds {array.size:,} entries of {array.dtype}"
        hint = "beside symbols there is room for small arrays of numbers"
        raise ProgramError("E595", message, hint=hint)
    return repr(array.tolist())


def _gradients_in_symbols(
    program: str,
    given: Mapping[str, Any],
    wrt: str | Iterable[str] | None,
    of: str | None,
    seconds: float,
) -> GradResult:
    """Return gradients as formulas, each of them checked."""
    question = _question(program, given, wrt, of, seconds, True)
    run = question.run()
    run.require_graph()
    matrices = matrix_form(question, run)
    known = gradients(run, None, with_graph=False)
    view = known.view.in_symbols()
    more: list[Line] = []
    if matrices is not None:
        checks = matrices.verification(_checked(matrices.task))
        name = view.output.name if view.output.named else ""
        views = [*matrices.views(name, checks)]
        more = [*matrices.other_lines(name), *matrices.shape_lines()]
    else:
        checks = _checked(*known.job(seconds, True)).in_symbols()
        views = [*formulas_of(view, checks.inputs)]
    names = labels(view)
    shown = verdict_lines.formula_lines(views, checks, names, "gradients", Layout())
    unknown = dict.fromkeys(known.by_name)
    lines = [*shown, *more]
    return GradResult(judged(view, checks), None, unknown, checks, views, lines)


def _blocks_in_symbols(
    program: str,
    given: Mapping[str, Any],
    wrt: str | Iterable[str] | None,
    of: str | None,
    seconds: float,
) -> JacobianResult:
    """Return a Jacobian as formulas, each of them checked."""
    question = _question(program, given, wrt, of, seconds, False)
    run = question.run()
    run.require_graph()
    matrices = matrix_form(question, run, "jacobian")
    found = derivatives.jacobian(run, "auto")
    view = found.view("auto")
    names = _block_labels(view)
    view = view.in_symbols()
    more: list[Line] = []
    if matrices is not None:
        checks = matrices.verification(_checked(matrices.task))
        name = view.output.name if view.output.named else ""
        views = [*matrices.views(name, checks)]
        more = [*matrices.other_lines(name), *matrices.shape_lines()]
    else:
        checks = _checked(found.job(seconds, True)).in_symbols()
        views = [*formulas_of(view, checks.inputs)]
    shown = verdict_lines.formula_lines(views, checks, names, "blocks", Layout())
    lines = [*shown, *more]
    unknown = dict.fromkeys(names)
    whole = derivatives.judged(view, checks, None, None)
    return JacobianResult(whole, None, unknown, checks, views, lines)


def _block_labels(view: derivatives.Derivative) -> dict[str, str]:
    """Return the label of the block by each input, by the input's name."""
    label = derivatives.verdict_label
    return {block.by[-1]: label(view, block) for block in view.blocks}
