"""The shell lines of a page, and their words that a shell would read as patterns.

zsh refuses a word with an unquoted `[`, `*`, `?`, `^` or `(` that no file matches, so
an example that is to be copied quotes it.

    open_words("gradcli value x[0]")       # ["x[0]"]
    quoted("gradcli value x[0]")           # 'gradcli value "x[0]"'
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PATTERN = re.compile(r"[\[\]*?^()]")
"""Signs that zsh reads in a word: brackets, and the signs of patterns."""

_PART = (
    r"'[^']*'",
    r'"(?:\\.|[^"\\])*"',
    r"\\.",
    r"<<'END'.*?\nEND$",
    r"\$\?",
    r"[^\s'\"\\|;&<>]",
)
WORD = re.compile("(?ms)(?:" + "|".join(_PART) + ")+")
_SHELL = re.compile(r"(?ms)'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|<<'END'.*?\nEND$|\$\?|\$\(")
_BLOCK = re.compile(r"^```(?:sh|bash|shell)\n(.*?)^```$", re.S | re.M)
_INLINE = re.compile(r"(?<!`)`((?:GRADCLI_\w+=\S+ )?gradcli [^`]*)`(?!`)", re.S)


def other_lines(text: str) -> Iterator[str]:
    """The shell lines of a page outside its console blocks."""
    for block in _BLOCK.finditer(text):
        yield from block[1].splitlines()
    prose = re.sub(r"(?ms)^ *```.*?^ *```$", "", text)
    for inline in _INLINE.finditer(prose):
        yield " ".join(inline[1].split())


def open_words(line: str) -> list[str]:
    """The words of a shell line with an unquoted sign of a pattern."""
    return [word for word in WORD.findall(line) if _is_open(word, line)]


def _is_open(word: str, line: str) -> bool:
    bare = _SHELL.sub("", word)
    if "$(" in line:
        bare = bare.removesuffix(")")
    return not word.startswith("#") and PATTERN.search(bare) is not None


def quoted(line: str) -> str:
    """The line with quotes around its open words."""

    def mended(word: re.Match[str]) -> str:
        text = word[0]
        if not _is_open(text, line) or '"' in text or "$" in text:
            return text
        return f'"{text}"'

    return WORD.sub(mended, line)
