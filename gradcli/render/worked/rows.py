"""A backward pass as rows: what arrives at a node, and what goes on by which rule.

rows_of(explanation, rules)[0].moves[0].rule        # "product rule: d(a * b)/da = b"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...answers.explanation import Explanation, Send, StepView
from ...views.numbers import Entries, Plain, Shown, flat
from ..code.stated import Stated
from ..labels import made, shape_text, size_text
from ..numbers import inline, six_digits

MAX_ENTRIES: Final = 9
"""Entries of an array that is written out."""

ROUNDED: Final = "Numbers are shown to six digits."

Rules = Mapping[tuple[int, int], Stated | None]
"""Rules by node and by the number of its edge."""


@dataclass(frozen=True, slots=True)
class Move:
    """Product that goes on along one edge.

    to       what the program calls where it goes
    factors  what is multiplied; fewer than two where it is no product
    result   what arrives there by this edge
    held     what had arrived before, and what is there now; or nothing
    reduced  the shape that the product was summed to, if it was
    rule     the rule that it goes by
    """

    to: str
    factors: tuple[Plain, ...]
    result: Plain
    held: Plain | None
    total: Plain
    reduced: str
    rule: Stated | None


@dataclass(frozen=True, slots=True)
class Row:
    """A node's row in the worked pass: its number, its text and what arrives there."""

    number: int
    node: str
    name: str
    text: str
    arrives: tuple[Plain | None, ...]
    moves: tuple[Move, ...]
    is_leaf: bool
    grad: Plain | None


def rows_of(explanation: Explanation, rules: Rules) -> list[Row]:
    """Return the pass, a row for each node."""
    return [_row(step, rules) for step in explanation.steps]


def _row(step: StepView, rules: Rules) -> Row:
    moves = [_move(send, step, rules.get((step.id, send.edge))) for send in step.sends]
    text = made(step.name, step.source)
    called = step.name or text
    return Row(
        step.number, step.node, called, text, step.incoming, tuple(moves),
        step.is_leaf, step.grad_after,
    )  # fmt: skip


def _move(send: Send, step: StepView, rule: Stated | None) -> Move:
    arrived = step.incoming[0] if len(step.incoming) == 1 else None
    local = send.local_gradient
    product = arrived is not None and local is not None
    return Move(
        to=(send.name or send.to) + (f" #{send.output_nr}" if send.output_nr else ""),
        factors=(arrived, local) if product else (),  # type: ignore[arg-type]
        result=send.gradient,
        held=send.held,
        total=send.total,
        reduced="" if send.reduced is None else shape_text(send.reduced) or "[]",
        rule=rule,
    )


def shown(value: Shown | None) -> str:
    """Return a number by six digits, a small array, or the size of a larger one."""
    if value is None:
        return "None"
    if isinstance(value, Entries) or len(flat(value)) > MAX_ENTRIES:
        return size_text(value)
    return inline(value, six_digits)
