"""A line of a shell that is still being typed, as words.

Invariant: what cannot be read as a shell reads it is taken as it stands; a line that is
not finished is no error.

    begun('gradcli grad "sin(x)*ta')    # words ["gradcli", "grad"], text "sin(x)*ta"
"""

from __future__ import annotations

from typing import Final, NamedTuple

_ENDS: Final = "|&;("
"""What a new command begins behind, outside quotes."""


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


def begun(line: str, breaks: str = "") -> Begun:
    """Read a line up to the cursor.

    Args:
        line: the text before the cursor.
        breaks: characters behind which, outside quotes, the shell completes anew.
    """
    words: list[str] = []
    text, quote = "", ""
    inside = False
    start = at = 0
    while at < len(line):
        letter = line[at]
        at += 1
        if quote:
            if letter == quote:
                quote = ""
            elif letter == "\\" and quote == '"' and line[at : at + 1] in '"\\$`':
                text += line[at : at + 1]
                at += 1
            else:
                text += letter
        elif letter.isspace() or letter in _ENDS:
            if inside:
                words.append(text)
            if letter in _ENDS:
                words.clear()
            text, inside, start = "", False, at
        else:
            inside = True
            if letter in "'\"":
                quote, start = letter, at
            elif letter == "\\":
                text += line[at : at + 1]
                at += 1
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
