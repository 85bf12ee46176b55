"""Names that someone may have meant: "did you mean 'tanh'?".

Looked up only when an error is being worded, so a slow search costs nobody anything.

    did_you_mean("tahn", ["tanh", "sin"])     # "did you mean 'tanh'?"
    did_you_mean("ln", ["log", "sin"])        # "did you mean 'log'?"
"""

from collections.abc import Iterable

from gradcli.lang.lexicon import SYNONYMS

_CLOSE_ENOUGH = 0.6


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` most likely stands for, or None."""
    known = sorted(set(candidates))
    synonym = SYNONYMS.get(name)
    if synonym in known:
        return synonym
    by_case = [candidate for candidate in known if candidate.lower() == name.lower()]
    if by_case:
        return by_case[0]
    import difflib

    # A candidate with the same letters in another order is the likelier slip.
    shuffled = [c for c in known if len(name) > 2 and sorted(c) == sorted(name)]
    close = shuffled or difflib.get_close_matches(name, known, 1, _CLOSE_ENOUGH)
    return close[0] if close else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the nearest candidate, or None if none is near."""
    found = nearest(name, candidates)
    return f"did you mean '{found}'?" if found else None
