"""What a program's names are called in another language.

Invariant: no two things have the same name, none has one that the language keeps for
itself, and a name is kept wherever that is possible.

    names = Names(C)
    names.claim("theta"), names.claim("int"), names.claim("λ")
    # ("theta", "int_", "lambda")
"""

from __future__ import annotations

from unicodedata import name as described
from unicodedata import normalize

from .code_spelling import Language


class Names:
    """The names in use in one function."""

    def __init__(self, language: Language) -> None:
        self._ascii = language.ascii
        self._taken = set(language.reserved)

    def claim(self, wanted: str) -> str:
        """The nearest name that is still free."""
        # Python takes names that look alike for the same.
        plain = _plain(wanted) if self._ascii else normalize("NFKC", wanted)
        found = plain
        while found in self._taken:
            found += "_"
        self._taken.add(found)
        return found


def _plain(text: str) -> str:
    letters = "".join(_letter(each) for each in normalize("NFKD", text))
    if not letters.strip("_"):
        letters = f"v{letters}"
    return f"v{letters}" if letters[0].isdigit() else letters


def _letter(each: str) -> str:
    """A letter of another alphabet by its name: ``theta`` of θ; nothing of accents."""
    if each.isascii():
        return each
    words = described(each, "").lower().split()
    if words[:1] != ["greek"] or "letter" not in words:
        return ""
    name = words[words.index("letter") + 1].replace("lamda", "lambda")
    return name.capitalize() if "capital" in words else name
