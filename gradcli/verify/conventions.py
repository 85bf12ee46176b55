"""Rules of the table at kinks, for the notes of entries that have no derivative.

Invariant: a rule is named only if its terms meet at the point and its row says what it
gives there; for all other kinks the answer is None.

    Conventions(job).at((left, right))  # "abs(x): at 0 the derivative is 0"
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..numbers.terms import Term
from .conditions import shown
from .limits import MAX_QUOTED_CHARACTERS
from .process.budget import OutOfTime
from .process.job import Job

if TYPE_CHECKING:
    from .kinks.watch import Crossing


class Conventions:
    """The table's rules at the kinks of a job's point, found when first asked."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def at(self, involved: Sequence[Term]) -> str | None:
        """Return the function that compares these terms, with its rule where they meet;
        None if the table has none."""
        return self._rules.get(frozenset(map(shown, involved)))

    @cached_property
    def _rules(self) -> dict[frozenset[str | None], str]:
        """Rules by the texts of the two terms that meet, and by each text alone."""
        from .kinks.watch import watched

        found: dict[frozenset[str | None], str] = {}
        try:
            _, crossings = watched(self._job)
        except OutOfTime:
            raise
        except Exception:
            # A note without the rule still has its reason.
            return found
        for crossing in crossings:
            op, left, right = crossing.op, crossing.left, crossing.right
            if op is not None and op.kink and left.value.overlaps(right.value):
                texts = shown(left), shown(right)
                for key in (texts, texts[:1], texts[1:]):
                    found.setdefault(
                        frozenset(key), f"{self._called(crossing)}: {op.kink}"
                    )
        found.pop(frozenset({None}), None)
        return found

    def _called(self, crossing: Crossing) -> str:
        """Return the deciding text of the program if short, else the row's name."""
        span = crossing.span
        text = "" if span is None else self._job.source[span.start : span.end]
        short = 0 < len(text) <= MAX_QUOTED_CHARACTERS and "\n" not in text
        return text if short or crossing.op is None else crossing.op.base
