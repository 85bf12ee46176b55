"""Suggestions of names that are similar to a misspelt one: "did you mean 'tanh'?".

They are searched for only when an error is being worded, so the search may be slow.

    did_you_mean("tahn", ["tanh", "sin"])     # "did you mean 'tanh'?"
    did_you_mean("lg", ["log10", "sin"])      # "did you mean 'log10'?"
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable
from functools import cache
from itertools import pairwise

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
    near = [c for c in known if abs(len(c) - len(name)) <= most]
    near = [c for c in near if _slips(name, c) <= most]
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


@cache
def greek(word: str) -> str:
    """Return the letter that a word names, as `theta`; an empty text for another."""
    size = "CAPITAL" if word[:1].isupper() else "SMALL"
    name = {"lambda": "lamda", "lam": "lamda"}.get(word, word.removeprefix("var"))
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return ""


def names_letter(name: str) -> bool:
    """Return whether a name that is not called stands for a value, though functions are
    called so: `t`, `gamma`."""
    return len(name) == 1 or bool(greek(name))


def other_spelling(name: str, is_function: Callable[[str], bool]) -> str | None:
    """Return the function that other notations call `name`, such as `tg` or `Sin`; None
    if there is none."""
    lowered = name.lower() if len(name) > 1 else ""
    if name[:1].isupper() and name[1:].islower() and is_function(name[1:]):
        return None  # a factor and a function, as in `Asin(x)`
    found = (lowered, synonym(name), synonym(lowered))
    # What begins with the function's name is a variant of it: `diagonal_copy`.
    known = (f for f in found if f and is_function(f) and not name.startswith(f"{f}_"))
    return next(known, None)


def parted(
    name: str, is_known: Callable[[str], bool], is_function: Callable[[str], object]
) -> list[str] | None:
    """Return the known words that a name is made of, as few as there can be from the
    end, and numbers behind functions; None if it is not made of such words."""
    if len(name) > MAX_PARTED_CHARACTERS:
        return None
    behind: list[list[str] | None] = [None] * len(name) + [[]]
    for start in reversed(range(len(name))):
        for end in range(len(name), start, -1):
            part, rest = name[start:end], behind[end]
            if rest is not None and (is_known(part) or (start and part.isdecimal())):
                behind[start] = [part, *rest]
                break
    found = behind[0] or []
    for one, two in pairwise([*found, ""]):
        # A number is a factor only after a function: `x2` is a name, `xx` a slip.
        if one == two or (one.isdecimal() and not two):
            return None
        if two.isdecimal() and not is_function(one):
            return None
    return behind[0]


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
    known = lambda part: part in values or (len(part) > 1 and is_function(part))
    parts = parted(name, known, is_function) or []
    if len(parts) < 2 or is_function(parts[-1]):
        return None
    return f"a product is written {' '.join(parts)}"


@cache
def _spoken() -> dict[str, str]:
    """Return the names of the table's functions by their synonyms, and by NumPy's
    names for them."""
    from ..ops import FUNCTIONS
    from ..ops.spellings import SPELLINGS

    words = ((s.numpy, name) for name, s in SPELLINGS.items() if name in FUNCTIONS)
    found = {w.rpartition(".")[2]: name for w, name in words if isinstance(w, str)}
    also = {word: entry.name for entry in FUNCTIONS.values() for word in entry.also}
    return found | also


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a hint that names the nearest candidate, or None if none is near."""
    found = nearest(name, candidates)
    if found and lookalike(name, [found]):
        return f"did you mean '{found}'? {describe_difference(name, found)}"
    return f"did you mean '{found}'?" if found else None


def lookalike(name: str, others: Collection[str]) -> str | None:
    """Return another name that looks the same in letters of another script, or None."""
    if name.isascii() and all(map(str.isascii, others)):
        return None
    latin = name.translate(_LATIN)
    return next((o for o in others if o != name and o.translate(_LATIN) == latin), None)


def describe_difference(name: str, other: str) -> str:
    """Return in words the first letters in which two names that look alike differ."""
    one, two = next(p for p in zip(name, other, strict=True) if p[0] != p[1])
    return f"'{one}' is U+{ord(one):04X}, '{two}' is U+{ord(two):04X}"
