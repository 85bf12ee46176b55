"""The rows of a worked solution: the gradient that arrives at a node, the gradients
that it sends on, and the rules by which they are computed.

moves_of(step, rules)[0].rule        # "product rule: d(a * b)/da = b"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...answers.explanation import Send, StepView
from ...views.numbers import Entries, Plain, Shown, flat
from ..code.stated import Stated
from ..labels import made, shape_text, size_text
from ..numbers import inline, six_digits

MAX_ENTRIES: Final = 9
"""Largest number of entries of an array that is written out."""

ROUNDED: Final = "Numbers are shown to six digits."

Rules = Mapping[tuple[int, int], Stated | None]
"""Rules by the node's id and the number of its edge."""


@dataclass(frozen=True, slots=True)
class Move:
    """The gradient that goes on along one edge.

    to       the name or the node that it goes to
    factors  the two factors of the product; empty if it is no product
    result   the gradient that this edge carries
    held     the gradient that had arrived at ``to`` before; None: none had
    total    the sum of all gradients that have arrived at ``to`` with this one
    reduced  the shape that the product was summed to; empty: it was not summed
    rule     the rule that it is computed by
    """

    to: str
    factors: tuple[Plain, ...]
    result: Plain
    held: Plain | None
    total: Plain
    reduced: str
    rule: Stated | None


def text_of(step: StepView) -> str:
    """Return the program's text that makes the value of a step's node."""
    return made(step.name, step.source)


def moves_of(step: StepView, rules: Rules) -> list[Move]:
    """Return the gradients that a step sends along its edges, one for each edge."""
    return [_move(send, step, rules.get((step.id, send.edge))) for send in step.sends]


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
    """Return a number with six digits, a small array, or the shape of a larger one."""
    if value is None:
        return "None"
    if isinstance(value, Entries) or len(flat(value)) > MAX_ENTRIES:
        return size_text(value)
    return inline(value, six_digits)
