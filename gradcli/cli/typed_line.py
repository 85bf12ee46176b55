"""A line of a shell that is still being typed, as words.

Invariant: what cannot be read as a shell reads it is taken as it stands; a line that is
not finished is no error.

    begun('gradcli grad "sin(x)*ta')    # words ["gradcli", "grad"], text "sin(x)*ta"
"""

from __future__ import annotations

from typing import Final, NamedTuple

_KEPT: Final = "@$"
"""Of what bash breaks words at, what it leaves with the word."""


class Begun(NamedTuple):
    """The words before the cursor, and the one that it stands behind."""

    words: list[str]
    text: str
    """The word, without its quotes."""

    raw: str
    """As it was typed, from where a shell puts a completion in its place."""

    quote: str
    """The quote that is open, or nothing."""


class Quoting(NamedTuple):
    """How a shell reads letters that mean something to it."""

    ends: str
    """What a new command begins behind, outside quotes."""

    escape: str
    """What takes the next letter as it is, but not inside single quotes."""

    escaped: str | None = None
    """The letters that it is read before inside double quotes; None: all."""

    doubled: bool = False
    """Whether a quote that is doubled inside itself stands for itself."""

    opened: bool = False
    """Whether a completion is put behind the quote that is open."""

    def escapes(self, letter: str, quote: str, after: str) -> bool:
        """Whether a letter takes the one after it as it is."""
        taken = not quote or self.escaped is None or after in self.escaped
        return letter == self.escape and quote != "'" and taken


POSIX: Final = Quoting("|&;(", "\\", escaped='"\\$`', opened=True)
"""How bash, zsh and fish read a line."""


def begun(line: str, breaks: str = "", shell: Quoting = POSIX) -> Begun:
    """Read a line up to the cursor.

    Args:
        line: the text before the cursor.
        breaks: characters behind which, outside quotes, the shell completes anew.
        shell: how its shell reads letters.
    """
    words: list[str] = []
    text, quote = "", ""
    inside = False
    start = at = 0
    while at < len(line):
        letter, after = line[at], line[at + 1 : at + 2]
        at += 1
        taken = shell.doubled and quote == letter == after
        if taken or shell.escapes(letter, quote, after):
            text += after
            inside = True
            at += 1
        elif quote:
            if letter == quote:
                quote = ""
            else:
                text += letter
        elif letter.isspace() or letter in shell.ends:
            if inside:
                words.append(text)
            if letter in shell.ends:
                words.clear()
            text, inside, start = "", False, at
        else:
            inside = True
            if letter in "'\"":
                quote, start = letter, at if shell.opened else start
            else:
                text += letter
                if letter in breaks:
                    start = at - 1 if letter in _KEPT else at
    return Begun(words, text, line[start:], quote)


def continued(given: Begun, rest: str) -> str:
    """What is typed of the word, and behind it a rest in the same quotes."""
    if given.quote == "'":
        return given.raw + rest
    plain = '"\\$`' if given.quote else None
    escaped = [
        "\\" + letter
        if (letter in plain if plain else not (letter.isalnum() or letter in _PLAIN))
        else letter
        for letter in rest
    ]
    return given.raw + "".join(escaped)


_PLAIN: Final = "_@%+=:,./-~"
"""What a shell leaves alone outside quotes."""
