"""Claims as text and as an object: the verdict, and of a false one the counterexample,
the slip and its repair.

d/dw = X.t() @ r  refuted
  at X = [[1.0]], w = [1.0], y = [0.0]
  entry [0]: claimed 1.0, true 2.0
  the factor 2 is missing: multiply by 2
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ..lang.excerpt import printable
from ..views.claims import ClaimsView, ClaimView, CounterexampleView
from ..views.numbers import Plain, flat, sizes
from .jsons import answer, entries
from .line import Line, Part
from .numbers import inline, number
from .verdicts import ROLES, summary

NO_CAUSE = "no simple cause was found"

LARGE, FEW = 16, 4
"""Of arrays with more entries than the first, all of them zero but so few, these few
are shown."""


def claims(view: ClaimsView) -> Iterator[Line]:
    """Every claim, then how many have the verdict of the whole."""
    for claim in view.claims:
        yield from _claim(claim)
    verdicts = [claim.verdict for claim in view.claims]
    yield summary(view.verdict, verdicts, len(verdicts), "claims", view.seconds)


def bare(view: ClaimsView) -> Iterator[Line]:
    """The verdicts alone, one a line, in the order of the claims."""
    for claim in view.claims:
        yield Line(((claim.verdict, ROLES.get(claim.verdict, "plain")),))


def _claim(claim: ClaimView) -> Iterator[Line]:
    head: list[Part] = [
        (printable(claim.text), "name"),
        (f"  {claim.verdict}", ROLES.get(claim.verdict, "plain")),
    ]
    said = _remark(claim)
    if said:
        head.append((f"  ({printable(said)})", "dim"))
    yield Line((*head,))
    if claim.side_conditions:
        conditions = ", ".join(map(printable, claim.side_conditions))
        yield Line((("  where ", "dim"), (conditions, "plain")))
    if claim.counterexample is not None:
        yield from _counterexample(claim.counterexample)
    if claim.verdict == "refuted":
        yield Line((("  " + printable(_cause(claim)), "bad"),))


def _remark(claim: ClaimView) -> str:
    """How much was looked at where there is no proof, and what else is to be said."""
    parts = []
    if claim.verdict == "agrees":
        points = "1 point" if claim.points == 1 else f"{claim.points} points"
        parts.append(f"at {points}")
    if claim.note:
        parts.append(claim.note)
    return "; ".join(parts)


def _counterexample(found: CounterexampleView) -> Iterator[Line]:
    values = [_input(printable(name), value) for name, value in found.inputs.items()]
    yield Line((("  at ", "dim"), (", ".join(values), "plain")), hang="     ")
    claimed, true = (
        "too large to show" if side is None else inline(side)
        for side in (found.claimed, found.true)
    )
    if found.entry is None:
        yield Line((("  claimed ", "dim"), (claimed, "number")))
        yield Line((("  true ", "dim"), (true, "number")))
        return
    place = f"entry {list(found.entry)}: " if found.entry else ""
    yield Line(
        (
            (f"  {place}claimed ", "dim"), (claimed, "number"),
            (", true ", "dim"), (true, "number"),
        )
    )  # fmt: skip


def _input(name: str, value: Plain) -> str:
    """An input's numbers, of a large array that is nearly all zeros the others."""
    numbers = flat(value)
    indices = product(*map(range, sizes(value)))
    others = [(index, n) for index, n in zip(indices, numbers, strict=True) if n]
    if len(numbers) <= LARGE or len(others) > FEW:
        return f"{name} = {inline(value)}"
    zeros = f"{name} = 0 everywhere"
    named = [f"{name}{list(index)} = {number(entry)}" for index, entry in others]
    return f"{zeros} but {', '.join(named)}" if named else zeros


def _cause(claim: ClaimView) -> str:
    found = claim.diagnosis
    return NO_CAUSE if found is None else f"{found.text}: {found.repair}"


def as_object(view: ClaimsView) -> Line:
    """One object for all claims."""
    return answer(
        "check",
        program=view.program,
        same=view.other,
        seed=view.seed,
        claims=[_as_object(claim) for claim in view.claims],
        verification={
            "verdict": view.verdict,
            "checked": sum(claim.verdict != "unknown" for claim in view.claims),
            "of": len(view.claims),
            "seconds": round(view.seconds, 3),
        },
    )


def _as_object(claim: ClaimView) -> dict[str, Any]:
    slip, refuted = claim.diagnosis, claim.verdict == "refuted"
    found = {"claim": claim.text, "derivative": claim.label}
    return {
        **found,
        **entries(claim, "text", "label"),
        "diagnosis": slip.text if slip else NO_CAUSE if refuted else None,
        "cause": slip.cause if slip else None,
        "repair": slip.repair if slip else None,
    }
