"""Lists in a claim: on paper ``[[2*x, 0], [0, 1]]`` is a matrix.

In a program a list is no array, and arrays of tensors are joined by ``stack``. A claim
may say it shorter: its lists are read as if ``stack`` stood before each of them.

Invariant: a list that a function is given stays a list, and every position in the text
that is run leads back to the text that was typed.

    stacked = with_arrays("2*[x, 1]")
    stacked.text, stacked.typed(9)            # "2*stack([x, 1])", 3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...lang.errors import ProgramError, Span
from ...lang.parser import parse
from ...lang.syntax import (
    Call,
    Expression,
    Index,
    Keyword,
    MethodCall,
    Node,
    Sequence,
    children,
)

_BEFORE = "stack("
_AFTER = ")"


@dataclass(frozen=True, slots=True)
class Stacked:
    """A text to run; ``inserted`` has what it has more than the text that was typed:
    positions in that text, in order, with the number of letters put there."""

    text: str
    inserted: tuple[tuple[int, int], ...] = ()

    def typed(self, position: int) -> int:
        """The position in the text that was typed."""
        shift = 0
        for at, length in self.inserted:
            if position < at + shift + length:
                return min(position - shift, at)
            shift += length
        return position - shift

    def located(self, error: ProgramError, source: str) -> ProgramError:
        """An error in the text that was run, as one in ``source``, as it was typed."""
        if error.span is None or error.source != self.text:
            return error
        span = Span(*map(self.typed, error.span))
        return ProgramError(
            error.code, error.message, span, source,
            hint=error.hint, exit_status=error.exit_status,
        )  # fmt: skip


def with_arrays(expression: str) -> Stacked:
    """The claim's expression with arrays for its lists.

    Raises:
        ProgramError: it is no expression.
    """
    edits = sorted(
        edit
        for found in _lists(parse(expression))
        for edit in ((found.span.start, _BEFORE), (found.span.end, _AFTER))
    )
    text, done = [], 0
    for at, more in edits:
        text += [expression[done:at], more]
        done = at
    inserted = tuple((at, len(more)) for at, more in edits)
    return Stacked("".join([*text, expression[done:]]), inserted)


def _lists(root: Node) -> Iterator[Expression]:
    """The lists that stand for values, and those in them."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Sequence) and node.kind is list and node.items:
            yield node
        given = isinstance(node, Call | MethodCall | Keyword | Index)
        waiting += [
            part for part in children(node)
            if not (given and isinstance(part, Sequence | Keyword))
        ]  # fmt: skip
