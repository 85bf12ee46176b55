"""Side conditions and kinks as text.

Invariant: what is shown is short and complete in itself; what is left out is counted.
"""

from __future__ import annotations

from typing import Final

from .closed import formula
from .expressions import Expressions
from .terms import Decision, Term, Terms

SHOWN: Final = 12
LARGEST: Final = 24
LONGEST: Final = 60


def shown(term: Term) -> str | None:
    """A term in the language's syntax; None if that would be long."""
    if term.size > LARGEST:
        return None
    try:
        text = formula(Expressions().of(term))
    except (ValueError, RecursionError):
        return None
    return text if text is not None and len(text) <= LONGEST else None


def _sentence(decision: Decision) -> str | None:
    left, right = shown(decision.left), shown(decision.right)
    if left is None or right is None:
        return None
    return f"{left} {decision.relation} {right}"


def side_conditions(terms: Terms) -> tuple[str, ...]:
    """What was decided on the way, at most a dozen, and how many more there are."""
    decided = _listed(list(terms.conditions.values()))
    return (*decided, *[text for text in terms.assumed if text not in decided])


def kinks_shown(terms: Terms, any_matters: bool) -> tuple[str, ...]:
    """The ties and poles that the point lies on, if a derivative depends on them."""
    if not any_matters:
        return ()
    poles = [f"{k.what}: {shown(k.term) or 'a part of the program'} = "
             f"{float(k.term.value)!r}" for k in terms.kinks.values()]  # fmt: skip
    return (*poles[:SHOWN], *_listed(list(terms.ties.values())))


def _listed(decisions: list[Decision]) -> tuple[str, ...]:
    sentences: dict[str, None] = {}
    for seen, decision in enumerate(decisions):
        sentence = _sentence(decision)
        if sentence is not None:
            sentences.setdefault(sentence)
        if len(sentences) == SHOWN or seen == 8 * SHOWN:
            break
    hidden = len(decisions) - len(sentences)
    more = (f"and {hidden} more",) if hidden and len(decisions) > SHOWN else ()
    return (*sentences, *more)
