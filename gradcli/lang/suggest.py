"""Suggestions of names that are similar to a misspelt one: "did you mean 'tanh'?".

They are searched for only when an error is being worded, so the search may be slow.

    did_you_mean("tahn", ["tanh", "sin"])     # "did you mean 'tanh'?"
    did_you_mean("lg", ["log10", "sin"])      # "did you mean 'log10'?"
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from itertools import takewhile

from .lexicon import LOOKALIKES, SYNONYMS
from .maxima import MAX_NAME_CHARACTERS, MAX_PARTED_CHARACTERS

_CLOSE_ENOUGH = 0.6
_LETTERS_A_SLIP = 3
_LATIN = str.maketrans(LOOKALIKES)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that `name` most likely means; None if none is similar."""
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

    # A candidate with the same letters in another order is the most likely one.
    shuffled = [c for c in known if len(name) > 2 and sorted(c) == sorted(name)]
    most = max(1, len(name) // _LETTERS_A_SLIP)
    near = [c for c in known if _slips(name, c) <= most]
    close = shuffled or difflib.get_close_matches(name, near, 1, _CLOSE_ENOUGH)
    return close[0] if close else None


def _slips(name: str, other: str) -> int:
    """Return how many letters have to be changed, added or taken out."""
    row = list(range(len(other) + 1))
    for count, letter in enumerate(name, 1):
        above, row = row, [count]
        for at, each in enumerate(other):
            changed = above[at] + (letter != each)
            row.append(min(changed, above[at + 1] + 1, row[at] + 1))
    return row[-1]


def synonym(name: str) -> str | None:
    """Return the name in the language of a function or constant known by another word;
    None if the word is unknown."""
    return SYNONYMS.get(name) or _spoken().get(name)


def other_spelling(name: str, is_function: Callable[[str], bool]) -> str | None:
    """Return the function that other notations call `name`, such as `tg` or `Sin`; None
    if there is none."""
    lowered = name.lower() if len(name) > 1 else ""
    found = (synonym(name), synonym(lowered), lowered)
    return next((f for f in found if f and is_function(f)), None)


def written_together(
    name: str, values: Collection[str], is_function: Callable[[str], bool]
) -> str | None:
    """Return the product that is meant by names of values and functions written without
    signs: `w*x` for `wx`, `sin(x)` for `sinx`, `sin(2x)*cos(x)` for `sin2xcosx`; None
    if `name` is not made of such names."""
    if len(name) > MAX_PARTED_CHARACTERS:
        return None
    behind: list[list[str] | None] = [None] * len(name) + [[]]
    for start in reversed(range(len(name))):
        for end in range(len(name), start, -1):
            part, rest = name[start:end], behind[end]
            if rest is None:
                continue
            if part in values:
                behind[start] = [part, *rest]
            elif rest and part.isdecimal() and rest[0] in values:
                # A number is a factor only after a function: `x2` is a name.
                behind[start] = [part + rest[0], *rest[1:]]
            elif rest and len(part) > 1 and is_function(part):
                plain = list(takewhile(lambda factor: "(" not in factor, rest))
                if plain:
                    called = f"{part}({'*'.join(plain)})"
                    behind[start] = [called, *rest[len(plain) :]]
            if behind[start] is not None:
                break
    found = behind[0]
    counted = found is None or any(re.match(r"\d", each) for each in found)
    return None if found is None or counted else "*".join(found)


def before_function(
    name: str, values: Collection[str], is_function: Callable[[str], bool]
) -> str | None:
    """Return the product that is meant by a called name made of factors and a function:
    `x*sin` for `xsin`; None for any other name."""
    for end in range(1, len(name) - 1):
        factors = written_together(name[:end], values, is_function)
        if factors is not None and is_function(name[end:]):
            return f"{factors}*{name[end:]}"
    return None


_SIGNS_READ_AS_NAMES = {
    "T": "a transpose is written x.T",
    "Σ": "a sum is written sum(x)",
    "Π": "a product of entries is written prod(x)",
}
"""Hints by letters that denote an operation in books."""


def other_reading(
    name: str,
    values: Collection[str],
    constants: Collection[str],
    is_function: Callable[[str], bool],
) -> str | None:
    """Return a hint for an input's name that may mean something else, as `PI`, `xe` or
    `T`; None if it does not."""
    if name in _SIGNS_READ_AS_NAMES:
        return _SIGNS_READ_AS_NAMES[name]
    constant = next((c for c in (synonym(name), name.lower()) if c in constants), None)
    if constant is not None:
        return f"the constant is written {constant}"
    parts = written_together(name, values, is_function)
    return f"a product is written {parts}" if parts and parts != name else None


@cache
def _spoken() -> dict[str, str]:
    """Return the names of the table's functions by their synonyms."""
    from ..ops import FUNCTIONS

    return {word: entry.name for entry in FUNCTIONS.values() for word in entry.also}


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a hint that names the nearest candidate, or None if none is near."""
    found = nearest(name, candidates)
    if found and lookalike(name, [found]):
        return f"did you mean '{found}'? {letters_apart(name, found)}"
    return f"did you mean '{found}'?" if found else None


def lookalike(name: str, others: Collection[str]) -> str | None:
    """Return another name that looks the same in letters of another script, or None."""
    if name.isascii() and all(map(str.isascii, others)):
        return None
    latin = name.translate(_LATIN)
    return next((o for o in others if o != name and o.translate(_LATIN) == latin), None)


def letters_apart(name: str, other: str) -> str:
    """Return in words the first letters in which two names that look alike differ."""
    one, two = next(p for p in zip(name, other, strict=True) if p[0] != p[1])
    return f"'{one}' is U+{ord(one):04X}, '{two}' is U+{ord(two):04X}"
