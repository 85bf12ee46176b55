"""A claim as it is typed: which derivative of what, and the expression that it is
said to be.

Invariant: an error in a claim points into the claim's own text; nothing is evaluated
here.

    claim = read_claim("d2L/dw dv = outer(w, v)")
    claim.output, claim.by, claim.expression      # "L", ("w", "v"), " outer(w, v)"
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from ..lang.errors import ProgramError, Span

_NAME: Final = r"[^\W\d²][^\W²]*"
_TARGET: Final = re.compile(
    rf"\s*[d∂]\s*(?P<second>(?:\^|\*\*)?2|²)?\s*(?P<output>{_NAME})?\s*"
    rf"/\s*[d∂]\s*(?P<first>{_NAME})\s*"
    rf"(?:(?P<twice>(?:\^|\*\*)2|²)|[d∂]\s*(?P<last>{_NAME}))?\s*"
)
_HINT: Final = 'write "d/dw = EXPR", "dL/dw = EXPR" or "d2L/dw dv = EXPR"'


@dataclass(frozen=True, slots=True)
class Claim:
    """One equation to judge.

    output      the variable that is differentiated; None: the program's output
    by          one input for a gradient or a Jacobian, two for a Hessian, none where
                the values themselves are compared
    expression  what it is said to be; None: what the other program gives
    offset      where the expression begins in ``text``
    """

    text: str
    output: str | None = None
    by: tuple[str, ...] = ()
    expression: str | None = None
    offset: int = 0

    @property
    def label(self) -> str:
        """The left-hand side, in one spelling."""
        if not self.by:
            return "value"
        power = "2" if len(self.by) > 1 else ""
        below = " ".join(f"d{name}" for name in self.by)
        return f"d{power}{self.output or ''}/{below}"

    def placed(self, error: ProgramError) -> ProgramError:
        """An error in the expression, as one in the whole claim."""
        if error.span is None or error.source != self.expression:
            return error
        start, end = error.span
        return ProgramError(
            error.code, error.message, Span(start + self.offset, end + self.offset),
            self.text, hint=error.hint, exit_status=error.exit_status,
        )  # fmt: skip


def read_claim(text: str) -> Claim:
    """The claim that a text makes.

    Raises:
        ProgramError: it is no equation, or its left-hand side is no derivative.
    """
    left, equals, right = text.partition("=")
    if not equals:
        _refuse(text, Span(0, max(1, len(text))), "a claim is an equation")
    offset = len(left) + 1
    if not right.strip():
        _refuse(text, Span(offset - 1, offset), "nothing is claimed behind '='")
    found = _TARGET.fullmatch(left)
    if found is None:
        span = Span(0, max(1, len(left.rstrip())))
        _refuse(text, span, "the left-hand side is no derivative")
    first, last = found["first"], found["last"]
    if found["second"] and not last and not found["twice"] and first.endswith("2"):
        first, last = first[:-1], first[:-1]
    elif found["twice"]:
        last = first
    if bool(found["second"]) != (last is not None):
        span = Span(0, max(1, len(left.rstrip())))
        _refuse(text, span, "a second derivative is by two inputs, a first by one")
    by = (first,) if last is None else (first, last)
    return Claim(text, found["output"], by, right, offset)


def _refuse(text: str, span: Span, message: str) -> NoReturn:
    raise ProgramError("E595", message, span, text, hint=_HINT, exit_status=2)
