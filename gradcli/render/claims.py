"""Claims as text and as an object: the verdict, and of a false one the counterexample,
the slip and its repair.

d/dw = X.t() @ r  refuted
  at X = [[1.0]], w = [1.0], y = [0.0]
  entry [0]: claimed 1.0, true 2.0
  the factor 2 is missing: multiply by 2
  the derivative is 2*X.t() @ r
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from typing import TYPE_CHECKING

from ..lang.excerpt import printable
from ..views.claims import ClaimsView, CounterexampleView, Judged
from ..views.numbers import Plain, flat, sizes
from .jsons import answer, entries
from .line import Line, Part
from .numbers import inline, number
from .verdicts import ROLES, summary

if TYPE_CHECKING:
    from ..verify.claims.task import Ruling

NO_CAUSE = "no simple cause was found"

LARGE, FEW = 16, 4
"""Of arrays with more entries than the first, all of them zero but so few, these few
are shown."""


def claims(view: ClaimsView) -> Iterator[Line]:
    """Every claim, then how many have the verdict on all of them."""
    for each in view.claims:
        yield from _claim(each)
    verdicts = view.verdicts
    yield summary(view.verdict, verdicts, len(verdicts), "claims", view.seconds)


def bare(view: ClaimsView) -> Iterator[Line]:
    """The verdicts alone, one a line, in the order of the claims."""
    for verdict in view.verdicts:
        yield Line(((verdict, ROLES.get(verdict, "plain")),))


def _claim(each: Judged) -> Iterator[Line]:
    ruling = each.ruling
    head: list[Part] = [
        (printable(each.claim.text.strip()), "name"),
        (f"  {ruling.verdict}", ROLES.get(ruling.verdict, "plain")),
    ]
    remark = _remark(ruling)
    if remark:
        head.append((f"  ({printable(remark)})", "dim"))
    yield Line((*head,))
    if ruling.side_conditions:
        conditions = ", ".join(map(printable, ruling.side_conditions))
        yield Line((("  where ", "dim"), (conditions, "plain")))
    if each.counterexample is not None:
        yield from _counterexample(each.counterexample)
    if ruling.verdict == "refuted":
        slip = each.diagnosis
        cause = NO_CAUSE if slip is None else f"{slip.text}: {slip.repair}"
        yield Line((("  " + printable(cause), "bad"),))
        for number, piece in enumerate(each.pieces):
            lead = "  and " if number else "  the derivative is "
            yield Line(
                (
                    (lead, "dim"), (printable(piece.formula), "plain"),
                    *_where(piece.where),
                ), hang="    ",
            )  # fmt: skip


def _where(conditions: tuple[str, ...]) -> Iterator[Part]:
    if conditions:
        yield " where ", "dim"
        yield ", ".join(map(printable, conditions)), "plain"


def _remark(ruling: Ruling) -> str:
    """How much was looked at where there is no proof, and what else is to be said."""
    parts = []
    if ruling.verdict == "agrees":
        points = "1 point" if ruling.points == 1 else f"{ruling.points} points"
        parts.append(f"at {points}")
    if ruling.note:
        parts.append(ruling.note)
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


def as_object(view: ClaimsView) -> Line:
    """One object for all claims."""
    return answer(
        "check",
        program=view.program,
        same=view.other,
        seed=view.seed,
        claims=[*map(_as_object, view.claims)],
        verification={
            "verdict": view.verdict,
            "checked": sum(verdict != "unknown" for verdict in view.verdicts),
            "of": len(view.claims),
            "seconds": round(view.seconds, 3),
        },
    )


def _as_object(each: Judged) -> dict[str, CounterexampleView | str | None]:
    slip, refuted = each.diagnosis, each.ruling.verdict == "refuted"
    return {
        "claim": each.claim.text.strip(),
        "derivative": each.claim.label,
        **entries(each.ruling),
        "counterexample": each.counterexample,
        "diagnosis": slip.text if slip else NO_CAUSE if refuted else None,
        "cause": slip.cause if slip else None,
        "repair": slip.repair if slip else None,
        "right": each.right,
        "pieces": [asdict(piece) for piece in each.pieces],
    }
