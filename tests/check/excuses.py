"""Wrong rules that would be explained by their own rounding.

Each takes a row's right rule, makes it wrong by a thousandth, and then loses digits on
purpose, so that who measures what rounding does to the rule finds that it does much.

    with planted(Excuse("sin", 0, "+ and - 1e12")): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from gradcli.ops import OPS, Op

from .mutant_programs import Program, programs

WRONG: Final = 1.0009


def _between(c: float) -> Callable[[Any, Any], Any]:
    return lambda xp, g: (g * WRONG + c) - c


FORMS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **{f"+ and - 1e{k}": _between(10.0**k) for k in (6, 12, 13, 20, 50, 90)},
    "times and by 1e200": lambda xp, g: g * WRONG * 1e200 / 1e200,
    "exp and log": lambda xp, g: xp.log(xp.exp(g * WRONG)),
    "exp and log, far out": lambda xp, g: xp.log(xp.exp(g * WRONG + 30)) - 30,
    "square and root": lambda xp, g: xp.sqrt((g * WRONG) * (g * WRONG)) * xp.sign(g),
    "a thousandth more": lambda xp, g: ((g + 1e12) + 1e-3) - 1e12,
    "a thousandth lost": lambda xp, g: g + ((g * 0 + 1e-3 + 1e40) - 1e40),
    "a difference of squares": lambda xp, g: (
        (g * WRONG + 1e6) * (g * WRONG + 1e6) - 1e12) / (g * WRONG + 2e6),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Excuse:
    """A row with such a rule for one of its inputs; for `planted`."""

    row: str
    slot: int
    form: str

    def __str__(self) -> str:
        return f"{self.row}[{self.slot}]: {self.form}"

    def op(self) -> Op:
        """The spoilt row, under another name."""
        given = OPS[self.row]
        rules = list(given.partials or ())
        rules[self.slot] = _spoilt(rules[self.slot], FORMS[self.form])
        name = f"{self.row} with {self}"
        return replace(given, name=name, partials=tuple(rules), vjp=None)

    def programs(self) -> tuple[Program, ...]:
        return programs(self.row)[:1]


def _spoilt(rule: Any, form: Callable[[Any, Any], Any]) -> Any:
    def spoilt(xp: Any, y: Any, *inputs: Any, **params: Any) -> Any:
        right = rule(xp, y, *inputs, **params) if callable(rule) else rule
        return form(xp, right + xp.zeros_like(y))

    return spoilt


def excuses(rows: Iterable[str] | None = None) -> list[Excuse]:
    """All that some rows, or else all elementwise ones, have."""
    named = [n for n, op in OPS.items() if op.elementwise] if rows is None else rows
    return [
        Excuse(row, slot, form)
        for row in named
        for slot, rule in enumerate(OPS[row].partials or ())
        if rule is not None and OPS[row].vjp is None
        for form in FORMS
    ]
