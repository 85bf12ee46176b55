"""What a program's names are called in another language.

Invariant: no two things have the same name, none has one that the language keeps for
itself, and a name is kept wherever that is possible.

    names = Names({"int"}, ascii=True)
    names.take("y"), names.take("y"), names.take("int"), names.take("λ")
    # ("y", "y_2", "int_", "lambda")
"""

from __future__ import annotations

from collections.abc import Collection
from unicodedata import name as described
from unicodedata import normalize


class Names:
    """A source of names that hands out each once, and no reserved one."""

    def __init__(self, reserved: Collection[str] = (), ascii: bool = False) -> None:
        self._reserved = frozenset(reserved)
        self._ascii = ascii
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Take the name itself; with an underscore where the language keeps it,
        with a number where another thing has it."""
        # Python takes names that look alike for the same.
        name = _plain(wanted) if self._ascii else normalize("NFKC", wanted)
        while name in self._reserved:
            name += "_"
        return self._free(name, name + "_", 1)

    def step(self) -> str:
        """Take the next of t1, t2, ..."""
        return self._free("", "t", 0)

    def _free(self, name: str, stem: str, number: int) -> str:
        """Take ``name``, or the stem with the first free number above ``number``."""
        number = max(number, self._last.get(stem, 0))
        while not name or name in self._taken or name in self._reserved:
            number += 1
            name = f"{stem}{number}"
        self._last[stem] = number
        self._taken.add(name)
        return name


def _plain(text: str) -> str:
    letters = "".join(_letter(each) for each in normalize("NFKD", text))
    if not letters.strip("_"):
        letters = f"v{letters}"
    return f"v{letters}" if letters[0].isdigit() else letters


def _letter(each: str) -> str:
    """Spell a letter of another alphabet: ``theta`` for θ; nothing for accents."""
    return each if each.isascii() else greek_letter(each)


def greek_letter(letter: str) -> str:
    """Spell a Greek letter: ``theta`` for θ, ``Omega`` for Ω; nothing for any other."""
    words = described(letter, "").lower().split()
    if words[:1] != ["greek"] or "letter" not in words:
        return ""
    name = words[words.index("letter") + 1].replace("lamda", "lambda")
    return name.capitalize() if "capital" in words else name
