"""Names that are like a misspelt one: "did you mean 'tanh'?".

Looked up only when an error is being worded, so a slow search costs nobody anything.

    did_you_mean("tahn", ["tanh", "sin"])     # "did you mean 'tanh'?"
    did_you_mean("lg", ["log10", "sin"])      # "did you mean 'log10'?"
"""

from collections.abc import Callable, Collection, Iterable
from functools import cache

from gradcli.lang.lexicon import LOOKALIKES, SYNONYMS
from gradcli.lang.limits import MAX_NAME_CHARACTERS, MAX_PARTED_CHARACTERS

_CLOSE_ENOUGH = 0.6
_LATIN = str.maketrans(LOOKALIKES)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` most likely stands for, or None."""
    if len(name) > MAX_NAME_CHARACTERS:
        return None
    known = sorted(set(candidates))
    meant = synonym(name)
    if meant in known:
        return meant
    twin = lookalike(name, known)
    if twin:
        return twin
    by_case = [candidate for candidate in known if candidate.lower() == name.lower()]
    if by_case:
        return by_case[0]
    import difflib

    # A candidate with the same letters in another order is the likelier mistake.
    shuffled = [c for c in known if len(name) > 2 and sorted(c) == sorted(name)]
    alike = [c for c in known if abs(len(c) - len(name)) <= max(2, len(name) // 3)]
    close = shuffled or difflib.get_close_matches(name, alike, 1, _CLOSE_ENOUGH)
    return close[0] if close else None


def synonym(name: str) -> str | None:
    """What another word for a function or a constant means here."""
    return SYNONYMS.get(name) or _spoken().get(name)


def written_together(
    name: str, values: Collection[str], is_function: Callable[[str], bool]
) -> str | None:
    """`w*x` of `wx`, `sin(x)` of `sinx`: what a name is if the values' names were
    written together; None if it is none of these."""
    if len(name) > MAX_PARTED_CHARACTERS:
        return None
    behind: list[str | None] = [None] * (len(name) + 1)
    for start in reversed(range(len(name))):
        for end in range(len(name), start, -1):
            part, rest = name[start:end], behind[end]
            if end < len(name) and rest is None:
                continue
            if part in values:
                behind[start] = f"{part}*{rest}" if rest else part
            elif rest and len(part) > 1 and is_function(part):
                behind[start] = f"{part}({rest})"
            else:
                continue
            break
    return behind[0]


@cache
def _spoken() -> dict[str, str]:
    """The functions of the table by their synonyms."""
    from gradcli.ops import FUNCTIONS

    return {word: entry.name for entry in FUNCTIONS.values() for word in entry.also}


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the nearest candidate, or None if none is near."""
    found = nearest(name, candidates)
    if found and lookalike(name, [found]):
        return f"did you mean '{found}'? {letters_apart(name, found)}"
    return f"did you mean '{found}'?" if found else None


def lookalike(name: str, others: Collection[str]) -> str | None:
    """Another name that looks the same, with letters of another script."""
    if name.isascii() and all(map(str.isascii, others)):
        return None
    latin = name.translate(_LATIN)
    return next((o for o in others if o != name and o.translate(_LATIN) == latin), None)


def letters_apart(name: str, other: str) -> str:
    """Where two names that look alike differ."""
    one, two = next(p for p in zip(name, other, strict=True) if p[0] != p[1])
    return f"'{one}' is U+{ord(one):04X}, '{two}' is U+{ord(two):04X}"
