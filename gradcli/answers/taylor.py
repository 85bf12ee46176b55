"""The Taylor polynomial of a program at a point, with a verdict on each coefficient.

Invariant: the program is run as a function of steps away from the point, which are 0;
the point's own texts stand in it, so that a coefficient is exact where they are.

    taylor(question, 3).polynomial          # "x - 1/6*x**3", of sin(x)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import comb, factorial, isfinite, prod
from typing import TYPE_CHECKING, ClassVar, Final

from ..lang.bindings import read_binding
from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated, printable
from ..lang.run import Run
from .fields import FLAT, HIDDEN, IF_ANY
from .gradients import OutputView, output_of
from .line import BLANK, Layout, Line, plain
from .numbers import number, number_line
from .question import Question
from .verdict_lines import below
from .verdicts import Checked, Summary, checked, summary

if TYPE_CHECKING:
    from ..check.process.job import InputVerdict, Verification
    from ..check.taylor import RemainderBound
    from ..lang.run import Input

MAX_TERMS: Final = 300
"""Largest number of coefficients of a polynomial."""

Powers = tuple[int, ...]
"""Powers of a monomial, one for each input."""


@dataclass(frozen=True, slots=True)
class CenterView:
    """An input that the polynomial is in, and its value at the point.

    input  The input.
    value  Its value at the point.
    text   The value as it was written.
    """

    input: str
    value: float
    text: str

    @property
    def base(self) -> str:
        """Distance from the point as a formula: ``x``, or ``(x - 1/3)``."""
        if not self.value:
            return self.input
        if re.search(r"[-+]", self.text[1:]) and not re.search(r"\de-\d", self.text):
            return f"({self.input} - ({self.text}))"
        away = self.text.removeprefix("-")
        opposite = away != self.text
        bare = re.fullmatch(r"[\w.*/^()]+|[\d.]+e-?\d+", away)
        away = away if bare else f"({away})"
        return f"({self.input} {'+' if opposite else '-'} {away})"


@dataclass(frozen=True, slots=True)
class TermView:
    """A term of the polynomial.

    powers       The power of each input's distance from the point.
    coefficient  The coefficient; null if it depends on an input without a value.
    formula      The coefficient as an exact formula; null if there is no short one.
    """

    powers: Powers
    coefficient: float | None
    formula: str | None
    checked: Checked = field(default=Checked(), metadata=FLAT)


@dataclass(frozen=True, slots=True)
class Taylor:
    """Answer of `gradcli taylor`: the Taylor polynomial at a point.

    program     The program's text.
    order       The largest sum of powers.
    at          The inputs that the polynomial is in, with the point.
    polynomial  The polynomial as a formula, or with decimals where there is none.
    remainder   The size of what is left out, by its order.
    terms       The terms, those that are 0 included, lower orders first.
    within      With --within: the distance from the point that the bound is for.
    bound       With --within: a proven bound of what is left out.
    unbounded   With --within: the reason why there is no bound.
    """

    command: ClassVar = "taylor"

    program: str
    output: OutputView
    order: int
    at: tuple[CenterView, ...]
    polynomial: str
    remainder: str
    terms: tuple[TermView, ...]
    within: float | None = field(default=None, metadata=IF_ANY)
    bound: float | None = field(default=None, metadata=IF_ANY)
    unbounded: str | None = field(default=None, metadata=IF_ANY)
    verification: Summary = field(default=Summary())
    found: Verification | None = field(default=None, metadata=HIDDEN)

    @property
    def finite(self) -> bool:
        """Whether no coefficient is infinite or nan."""
        return all(isfinite(t.coefficient) for t in self.terms if t.coefficient)


def taylor(
    question: Question, order: int, verified: bool, within: float | None = None
) -> Taylor:
    """Return the Taylor polynomial of a program.

    It is in the inputs that have a value, or in those of ``wrt``; in all, at 0, if none
    has one. Other inputs without a value stay in the coefficients.

    Args:
        question: the program and the point.
        order: the largest sum of powers.
        verified: whether coefficients have formulas and verdicts.
        within: the distance from the point up to which the remainder is bounded.

    Raises:
        ProgramError: an input or the output is no number, or has no finite value there.
    """
    run = replace(question, tell=lambda text: None).run()
    at = _centers(question, run)
    steps = {each.input: _fresh(f"{each.input}_step", run.source) for each in at}
    moved = _moved(question, at, steps)
    there = moved.run()
    there.require_scalar()
    point = ", ".join(f"{each.input} = {each.text}" for each in at)
    value = float(there.output.item())
    if not isfinite(value):
        message = f"there is no Taylor polynomial at {point}: the value is {value!r}"
        hint = f"give another point: {at[0].input}=VALUE"
        raise ProgramError("E596", printable(message), hint=hint)
    numbers = _numbers(there, [*steps.values()], order)
    symbols = bool(there.prepared.missing)
    if symbols and not question.verified:
        named = enumerated(tuple(there.prepared.missing))
        message = f"without a value of {named} coefficients are formulas of the check"
        raise ProgramError("E590", printable(message), hint="leave --no-verify out")
    if within is not None and (symbols or len(at) > 1):
        message = "--within bounds the remainder of a polynomial in one number"
        hint = "give the other inputs a value, and name one with --wrt"
        raise ProgramError("E590", message, hint=hint)
    limit = None
    if within is not None:
        (step,) = steps.values()
        limit = _bounded(there, question.seconds, step, order, within)
    found = None
    if verified or symbols:
        found = _verified(there, question.seconds, [*steps.values()], numbers)
        found = found.in_symbols() if symbols else found
        found = _reworded(found, at, steps)
        if found.kinks:
            why = found.inputs[0].note
            message = (
                f"there is no Taylor polynomial of order {order} at {point}: {why}"
            )
            hint = f"give another point, {at[0].input}=VALUE, or a lower --order"
            raise ProgramError("E596", printable(message), hint=hint)
    by = dict(zip(numbers, found.inputs, strict=True)) if found else {}
    terms = tuple(
        _term(powers, None if symbols else given, by.get(powers))
        for powers, given in numbers.items()
    )
    output = output_of(there)
    return Taylor(
        program=question.program,
        output=replace(output, value=None) if symbols else output,
        order=order,
        at=at,
        polynomial=_polynomial(at, terms),
        remainder=_remainder(at, order),
        terms=terms,
        within=within,
        bound=None if limit is None else limit.bound,
        unbounded=None if limit is None else limit.reason,
        verification=summary(found),
        found=found,
    )


def _centers(question: Question, run: Run) -> tuple[CenterView, ...]:
    """Return the inputs that the polynomial is in, with the point."""
    if run.source != question.program:
        message = "a Taylor polynomial is in inputs, not in a variable of the program"
        raise ProgramError("E507", message, hint="name inputs in --wrt")
    wanted = [given for given in run.inputs if given.requires_grad]
    if question.wrt is None:
        wanted = [given for given in wanted if not given.sampled] or wanted
    run.require_graph()
    for given in wanted:
        if given.tensor.ndim:
            shape = list(given.tensor.shape)
            message = f"the polynomial is in numbers: {given.name} has shape {shape}"
            hint = "leave it out with --wrt, or write its entries as inputs"
            raise ProgramError("E596", message, hint=hint)
    at = tuple(_center(question, given) for given in wanted)
    origin = [each.input for each, given in zip(at, wanted, strict=True)
              if given.sampled]  # fmt: skip
    if origin:
        values = " ".join(f"{name}=VALUE" for name in origin)
        said = enumerated([f"{name} = 0" for name in origin])
        question.tell(f"the point is {said}; {values} gives another")
    return at


def _center(question: Question, given: Input) -> CenterView:
    if given.sampled:
        return CenterView(given.name, 0.0, "0")
    value = float(given.tensor.item())
    texts = {b.name: b.text.strip() for b in question.values if b.place is None}
    text = texts.get(given.name, repr(value))
    return CenterView(given.name, value, text if "\n" not in text else repr(value))


def _fresh(name: str, source: str) -> str:
    while name in source:
        name += "_"
    return name


def _moved(
    question: Question, at: Sequence[CenterView], steps: Mapping[str, str]
) -> Question:
    """Return the question on the program as a function of steps away from the point."""
    texts = [f"{each.input} = ({each.text}) + {steps[each.input]}\n" for each in at]
    values = [b for b in question.values if b.name not in steps]
    values += [read_binding(f"{step}=0.0") for step in steps.values()]
    shapes = {n: s for n, s in question.shapes.items() if n not in steps}
    return replace(
        question,
        program="".join(texts) + question.program,
        values=tuple(values),
        wrt=[*steps.values()],
        shapes=shapes,
        inferred=None,
        tell=lambda text: None,
    )


def _numbers(run: Run, steps: Sequence[str], order: int) -> dict[Powers, float]:
    """Return the engine's coefficients by their powers, lower orders first."""
    from ..large.blocks import mixed_derivatives

    powers = [
        each
        for each in product(range(order + 1), repeat=len(steps))
        if sum(each) <= order
    ]
    count = comb(len(steps) + order, order)
    if count > MAX_TERMS:
        message = f"a polynomial of {count} terms has more than {MAX_TERMS}"
        hint = "choose inputs with --wrt, or a lower --order"
        raise ProgramError("E403", message, hint=hint)
    powers.sort(key=lambda each: (sum(each), [-power for power in each]))
    leaves = {given.name: given.tensor for given in run.inputs}
    with run.explained():
        found = mixed_derivatives(run.output, [leaves[n] for n in steps], powers)
    return {
        each: float(found[each].item()) / prod(map(factorial, each)) for each in powers
    }


def _verified(
    run: Run, seconds: float, steps: Sequence[str], numbers: Mapping[Powers, float]
) -> Verification:
    from ..check.process.budget import load_sympy
    from ..check.process.job import NumberBlock
    from .jobs import job_for

    load_sympy()
    from ..check.taylor import expanded

    claims = {name: NumberBlock.of((), [0.0]) for name in steps}
    job = job_for(run, seconds, "gradient", claims)
    return expanded(job, steps, numbers)


def _bounded(
    run: Run, seconds: float, step: str, order: int, within: float
) -> RemainderBound:
    from ..check.process.budget import load_sympy
    from ..check.process.job import NumberBlock
    from .jobs import job_for

    load_sympy()
    from ..check.taylor import remainder_bound

    claims = {step: NumberBlock.of((), [0.0])}
    job = job_for(run, seconds, "gradient", claims)
    return remainder_bound(job, step, order, within)


def _reworded(
    found: Verification, at: Sequence[CenterView], steps: Mapping[str, str]
) -> Verification:
    """Return verdicts whose texts are about the inputs, not about steps."""

    def reworded(text: str | None) -> str | None:
        for each in at:
            text = text and text.replace(steps[each.input], each.base)
        return text

    inputs = tuple(
        replace(v, name=_monomial(at, powers_of(v.name)) or "1", note=reworded(v.note))
        for v in found.inputs
    )
    kinks = tuple(filter(None, map(reworded, found.kinks)))
    return replace(found, inputs=inputs, kinks=kinks)


def powers_of(name: str) -> Powers:
    """Return the powers in the text of a tuple, as ``(1, 0)``."""
    return tuple(map(int, re.findall(r"\d+", name)))


def _term(
    powers: Powers, given: float | None, verdict: InputVerdict | None
) -> TermView:
    form = None if verdict is None else verdict.closed_form
    said = checked(None if verdict is None else replace(verdict, closed_form=None))
    return TermView(powers, given, form, said)


def _monomial(at: Sequence[CenterView], powers: Powers) -> str:
    return "*".join(
        each.base if power == 1 else f"{each.base}**{power}"
        for each, power in zip(at, powers, strict=True)
        if power
    )


def _remainder(at: Sequence[CenterView], order: int) -> str:
    """Return the order of what is left out, as ``O(x**4)``."""
    if len(at) == 1:
        return f"O({_monomial(at, (order + 1,))})"
    return f"terms of order {order + 1}"


_SUM: Final = re.compile(r" [-+] ")


def _is_sum(text: str) -> bool:
    """Return whether a formula is a sum, outside of its brackets."""
    bare, before = text, ""
    while bare != before:
        before, bare = bare, re.sub(r"\([^()]*\)", "", bare)
    return bool(_SUM.search(bare))


def _polynomial(at: Sequence[CenterView], terms: Sequence[TermView]) -> str:
    """Return the polynomial as a formula that the language reads."""
    text = ""
    for term in terms:
        factor = term.formula
        if factor is None:
            factor = "?" if term.coefficient is None else number(term.coefficient)
        if factor in ("0", "0.0", "-0.0"):
            continue
        monomial = _monomial(at, term.powers)
        if monomial and _is_sum(factor):
            factor = f"({factor})"
        sign, factor = ("-", factor[1:]) if factor.startswith("-") else ("+", factor)
        one = factor in ("1", "1.0") and monomial
        made = monomial if one else "*".join(filter(None, (factor, monomial)))
        if not text:
            text = made if sign == "+" else f"-{made}"
        else:
            text += f" {sign} {made}"
    return text or "0"


def _upward(bound: float) -> str:
    """Return a number with three digits that is not less than ``bound``."""
    near = float(f"{bound:.2e}")
    return f"{near if near >= bound else float(f'{bound * 1.005:.2e}'):g}"


def lines(view: Taylor, layout: Layout) -> Iterator[Line]:
    """Yield the polynomial, and the verdicts on its coefficients."""
    name = printable(view.output.name)
    yield Line((name, "name"), (" = ", "plain"), (view.polynomial, "number"),
               (f" + {view.remainder}", "dim"))  # fmt: skip
    if view.within is not None:
        away = f"|{view.at[0].base.strip('()')}| <= {number(view.within)}"
        said = f"no bound where {away}: {view.unbounded}"
        if view.bound is not None:
            said = f"|remainder| <= {_upward(view.bound)} where {away}, certified"
        yield plain(printable(said))
    if view.found is None:
        return
    yield BLANK
    weak: dict[str, list[str]] = {}
    for verdict in view.found.inputs:
        if verdict.note and verdict.verdict not in ("certified", "sampled"):
            said = f"{verdict.verdict}  {verdict.note}"
            weak.setdefault(said, []).append(verdict.name)
    for said, names in weak.items():
        yield Line((enumerated(names), "name"), (f"  {printable(said)}", "fair"))
    yield from below(view.found, view.found.inputs, "coefficients")


def plain_lines(view: Taylor) -> Iterator[Line]:
    """Yield the coefficients alone, one a line; a formula where there is no number."""
    for term in view.terms:
        if term.coefficient is None:
            yield Line((term.formula or "null", "plain"))
        else:
            yield number_line(term.coefficient)
