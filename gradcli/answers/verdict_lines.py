"""Verdicts as text: on gradients, on claims, on Python functions; and kinks with the
derivatives from both sides.

d/dw = X.t() @ r  refuted
  at X = [[1.0]], w = [1.0], y = [0.0]
  entry [0]: claimed 1.0, true 2.0
  the factor 2 is missing: multiply by 2
  the derivative is 2*X.t() @ r

Invariant: nothing is added to what the checking process reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING

from ..lang.excerpt import printable
from .gradients import at_point, derived
from .line import BLANK, Layout, Line, Part, Role, aligned, dim, plain, title
from .numbers import Plain, flat, inline, number, sizes

if TYPE_CHECKING:
    from ..check.kinks import KinkPlace, Side
    from ..check.process.job import InputVerdict, Verification
    from .check import CheckAnswer, ClaimCounterexample, Judged
    from .closed_forms import FormulaView
    from .kinks import Kinks, KinkView

ROLES: Mapping[str, Role] = {
    "proved": "good",
    "certified": "good",
    "sampled": "fair",
    "rounded": "fair",
    "unknown": "fair",
    "refuted": "bad",
}

EXCEPTIONS = ("refuted", "unknown", "rounded")
"""Verdicts for which the summary counts only the derivatives that have them."""

SAYS: Mapping[str, tuple[str, Role]] = {
    "gradient": ("both sides agree, and on it", "good"),
    "subgradient": ("between the sides of a convex kink", "good"),
    "supergradient": ("between the sides of a concave kink", "good"),
    "one-sided": ("the slope of the only side there is", "fair"),
    "step": ("the slope on both sides of a jump", "fair"),
    "pole": ("the infinity that both sides tend to", "fair"),
    "neither": ("no gradient and no subgradient", "bad"),
}
"""Meanings of the verdicts on what the engine gives at a kink."""

LARGE, FEW = 16, 4
"""Largest number of entries of an array that is always written out; largest number of
nonzero entries of a larger one that is written as these alone."""

MAX_VALUES = 8
"""Largest number of a place's values that are shown."""


def verdict_lines(
    verification: Verification, labels: Mapping[str, str], what: str
) -> Iterator[Line]:
    """Yield the verdict on each gradient with its evidence, conditions and a summary;
    ``labels`` names the derivative by each input, ``what`` is "gradients" or
    "blocks"."""
    rows = verification.inputs
    if rows:
        yield BLANK
        yield from aligned((_row(row, labels) for row in rows), 2)
    yield from below(verification, rows, what)


def below(
    verification: Verification, rows: Sequence[InputVerdict], what: str
) -> Iterator[Line]:
    """Yield the conditions and kinks of all verdicts, and the summary of the ``rows``
    that are shown."""
    if verification.side_conditions:
        conditions = ", ".join(map(printable, verification.side_conditions))
        yield Line(("where ", "dim"), (conditions, "plain"))
    for kink in verification.kinks:
        yield Line(("kink: ", "fair"), (printable(kink), "plain"))
    verdicts = [row.verdict for row in rows]
    total = len(verdicts) or verification.of
    yield _summary(verification.verdict, verdicts, total, what, verification.seconds)


def formula_lines(
    views: Sequence[FormulaView],
    verification: Verification,
    labels: Mapping[str, str],
    what: str,
    layout: Layout,
) -> Iterator[Line]:
    """Yield derivatives as formulas with the verdicts on them: beside them if all are
    of numbers, and else below them."""
    rows_of = [*verification.inputs]
    if len(rows_of) != len(views):
        by = {row.name: row for row in rows_of}
        rows_of = [by[view.by] for view in views if view.by in by]
    if any(len(view.texts) != 1 for view in views) or len(rows_of) != len(views):
        from .closed_forms import formulas

        yield from islice(formulas(views, layout), 1, None)
        rows = (replace(row, closed_form=None) for row in verification.inputs)
        yield from verdict_lines(replace(verification, inputs=(*rows,)), labels, what)
        return
    shown: list[list[Part]] = []
    for view, row in zip(views, rows_of, strict=True):
        text = view.text(0, 0)
        said = f"no formula: {view.missing or row.note}" if text is None else text
        known = text is not None
        shown.append([
            (printable(view.label(0, 0)), "name"),
            (f" = {printable(said)}" if known else f"  {printable(said)}", "plain"),
            (f"  {row.verdict}" * known, ROLES.get(row.verdict, "plain")),
            (f"  ({printable(row.note)})" if known and row.note else "", "dim"),
        ])  # fmt: skip
    yield from aligned(shown, 1)
    yield from below(verification, rows_of, what)


def _row(row: InputVerdict, labels: Mapping[str, str]) -> list[Part]:
    parts: list[Part] = [
        (printable(labels.get(row.name, row.name)), "name"),
        ("  " + row.verdict, ROLES.get(row.verdict, "plain")),
    ]
    if row.closed_form:
        parts.append((f"  {printable(row.closed_form)}", "plain"))
    if row.max_error is not None:
        ulps = f" ({row.max_ulps:.2g} ulp)" if row.max_ulps else ""
        parts.append((f"  max_error {row.max_error:.2g}{ulps}", "dim"))
    if row.note:
        parts.append((f"  ({printable(row.note)})", "dim"))
    return parts


def _summary(
    overall: str, verdicts: Sequence[str], total: int, what: str, seconds: float
) -> Line:
    """Return ``proved: 2 of 3 gradients (2 proved, 1 unknown), 0.25 s``."""
    counts = Counter(verdicts)
    said = counts[overall] if overall in EXCEPTIONS and counts else total
    text = f": 1 {what[:-1]}" if total == 1 else f": {said} of {total} {what}"
    if len(counts) > 1:
        text += f" ({', '.join(f'{n} {verdict}' for verdict, n in counts.items())})"
    role = ROLES.get(overall, "plain")
    return Line((overall, role), (text, "plain"), (f", {seconds:.2f} s", "dim"))


def proof_lines(shown: Sequence[str], verdict: str) -> Iterator[Line]:
    """Yield the lines of a verdict on a Python function, coloured in the first one."""
    head, *rest = map(printable, shown)
    before, found, behind = head.rpartition(verdict)
    role = ROLES.get(verdict, "plain")
    yield Line((before, "title"), (found, role), (behind, "plain"))
    for each in rest:
        yield Line((each, "plain"), hang="      ")


def claims(answer: CheckAnswer) -> Iterator[Line]:
    """Yield every claim, then how many have the verdict on all of them."""
    for each in answer.claims:
        yield from _claim(each)
    verdicts, whole = [each.verdict for each in answer.claims], answer.verification
    yield _summary(whole.verdict, verdicts, whole.of, "claims", whole.seconds)


def plain_claims(answer: CheckAnswer) -> Iterator[Line]:
    """Yield the verdicts alone, one a line, in the order of the claims."""
    for each in answer.claims:
        yield Line((each.verdict, ROLES.get(each.verdict, "plain")))


def _claim(each: Judged) -> Iterator[Line]:
    points = "1 point" if each.points == 1 else f"{each.points} points"
    remarks = [f"at {points}"] if each.verdict == "agrees" else []
    remarks += [each.note] if each.note else []
    remark = f"  ({printable('; '.join(remarks))})" if remarks else ""
    verdict: Part = (f"  {each.verdict}", ROLES.get(each.verdict, "plain"))
    yield Line((printable(each.claim), "name"), verdict, (remark, "dim"))
    if each.side_conditions:
        conditions = ", ".join(map(printable, each.side_conditions))
        yield Line(("  where ", "dim"), (conditions, "plain"))
    if each.counterexample is not None:
        yield from _counterexample(each.counterexample)
    if each.diagnosis is not None:
        repair = "" if each.repair is None else f": {each.repair}"
        yield Line((f"  {printable(each.diagnosis + repair)}", "bad"))
        lead = "  the derivative is "
        for piece in each.pieces:
            parts: list[Part] = [(lead, "dim"), (printable(piece.formula), "plain")]
            if piece.where:
                where = ", ".join(map(printable, piece.where))
                parts += [(" where ", "dim"), (where, "plain")]
            yield Line(*parts)
            lead = "  and "


def _counterexample(found: ClaimCounterexample) -> Iterator[Line]:
    values = [_input(printable(name), value) for name, value in found.inputs.items()]
    yield Line(("  at ", "dim"), (", ".join(values), "plain"), hang="     ")
    claimed, true = (
        "too large to show" if side is None else inline(side)
        for side in (found.claimed, found.true)
    )
    if found.entry is None:
        yield Line(("  claimed ", "dim"), (claimed, "number"))
        yield Line(("  true ", "dim"), (true, "number"))
        return
    place = f"  entry {list(found.entry)}: " if found.entry else "  "
    said: list[Part] = [(f"{place}claimed ", "dim"), (claimed, "number")]
    yield Line(*said, (", true ", "dim"), (true, "number"))


def _input(name: str, value: Plain) -> str:
    """Return text for an input; for a large array with few nonzero entries only
    those."""
    numbers = flat(value)
    indices = product(*map(range, sizes(value)))
    others = [(index, n) for index, n in zip(indices, numbers, strict=True) if n]
    if len(numbers) <= LARGE or len(others) > FEW:
        return f"{name} = {inline(value)}"
    zeros = f"{name} = 0 everywhere"
    named = [f"{name}{list(index)} = {number(entry)}" for index, entry in others]
    return f"{zeros} but {', '.join(named)}" if named else zeros


def kinks(answer: Kinks) -> Iterator[Line]:
    """Yield the kinks, place by place, nearest first.

    at the point
      relu(x)  line 1, column 1  x == 0  distance 0.0  at 0 the derivative is 0
      d/dx  from below 0.0  from above 1.0  engine 0.0  subgradient: between the sides
    """
    if not answer.kinks:
        within = f"within {number(answer.radius)} of" if answer.radius else "at"
        further = "" if answer.radius else " (--radius R looks around it)"
        yield plain(f"no kink {within} the point{further}")
    before = f"d{derived(answer.output)}/d"
    for nr, place in enumerate(answer.places):
        if nr:
            yield BLANK
        yield title("at the point" if place.here else f"at {_values(place)}")
        here = [_kink(kink) for kink in answer.kinks if kink.place == nr]
        yield from aligned(here, 3, "      ")
        yield from aligned((_side(before, side) for side in place.sides), 1, "      ")
        if place.left_out:
            more = f"  … the sides by {place.left_out} more entries were not examined"
            yield dim(more)
    if answer.left_out:
        yield dim(f"{answer.left_out} farther places were not examined")
    if answer.unsearched:
        text = "conditions only the nearest place was found"
        yield dim(f"of {answer.unsearched} {text}")


def kink_conditions(answer: Kinks) -> Iterator[Line]:
    """Yield the conditions under which a program with symbols has a kink, a line for
    each part of its text.

    abs(x-a)  line 1, column 1  x - a == 0  at 0 the derivative is 0
    """
    if not answer.kinks:
        within = number(answer.radius)
        yield plain(f"no kink within {within} of the numbers that were tried")
    found: dict[tuple[str, int | None, int | None, str], list[str]] = {}
    for kink in answer.kinks:
        where = kink.source, kink.line, kink.column, kink.rule
        text = kink.condition or "two parts of the program meet"
        known = found.setdefault(where, [])
        if text not in known:
            known.append(text)
    rows: list[list[Part]] = []
    for (source, line, column, rule), texts in found.items():
        more = ", …" if len(texts) > FEW else ""
        rows.append([
            (printable(source), "node"),
            (f"  line {line}, column {column}" if line is not None else "", "dim"),
            (f"  {', '.join(map(printable, texts[:FEW]))}{more}", "plain"),
            (f"  {rule}", "dim"),
        ])  # fmt: skip
    yield from aligned(rows, 3, "      ")


def _values(place: KinkPlace) -> str:
    shown = dict([*place.values.items()][:MAX_VALUES])
    return at_point(shown) + ", …" * (len(place.values) > MAX_VALUES)


def _kink(kink: KinkView) -> list[Part]:
    known = kink.line is not None
    place = f"line {kink.line}, column {kink.column}" if known else ""
    condition = printable(kink.condition or "two parts of the program meet")
    condition += f" (and {kink.more} more)" * bool(kink.more)
    return [
        ("  " + printable(kink.source), "node"),
        ("  " + place, "dim"),
        ("  " + condition, "plain"),
        (f"  distance {number(kink.distance)}", "number"),
        (f"  {kink.rule}", "dim"),
    ]


def _side(before: str, side: Side) -> list[Part]:
    parts: list[Part] = [
        (f"  {before}{printable(side.entry)}", "name"),
        (f"  from below {number(side.below)}", "number"),
        (f"  from above {number(side.above)}", "number"),
    ]
    if side.jumps:
        parts.append(("  the value jumps", "fair"))
    if side.engine is not None and side.verdict is not None:
        said, role = SAYS[side.verdict]
        both = number(side.below)
        agreed = not side.jumps and both == number(side.above) != "nan"
        if side.verdict == "neither" and agreed:
            said = f"both sides agree on {both}"
        parts.append((f"  engine {number(side.engine)}", "number"))
        parts.append((f"  {side.verdict}: {said}", role))
    return parts
