"""Style sheets of pictures and pages, and the beginning of every page of HTML, which is
one file and loads nothing.

Invariant: a policy in the page allows its own style sheet and its own script, by their
hashes, and nothing else.

    [*begun("The backward pass", sheet("worked", "auto")), "</body></html>"]
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files

from ..lang.excerpt import printable
from .line import Theme
from .numbers import ELLIPSIS

SCREEN = "screen and (prefers-color-scheme:dark)"

MAX_TITLE = 60
"""Largest length of a program in the title of a page or a picture, in characters."""

COMMENT = re.compile(r"(?<!\S)#.*")
"""Pattern of a comment that a title leaves out."""

NOWHERE = "base-uri 'none'; form-action 'none'"


def sheet(
    name: str,
    theme: Theme,
    more: Sequence[str] = ("", "", ""),
    *,
    printed: bool = False,
) -> str:
    """Return a style sheet in a theme.

    Args:
        name: the sheet: ``NAME.css`` holds all rules for a white ground, ``-dark`` and
            ``-grey`` those that differ on a dark ground and without hues.
        theme: the theme; "auto" is light, or dark where the reader's screen is dark.
        more: further rules for these three grounds.
        printed: whether a dark page is printed light.
    """
    light, dark, grey = (
        "".join(map(str.strip, text(f"{name}{kind}.css").splitlines())) + further
        for kind, further in zip(("", "-dark", "-grey"), more, strict=True)
    )
    if theme == "auto":
        return f"{light}@media {SCREEN}{{{dark}}}"
    if theme == "dark":
        return light + (f"@media screen{{{dark}}}" if printed else dark)
    return light + (grey if theme == "none" else "")


def text(name: str) -> str:
    """Return the text of a style sheet, a script or a template."""
    return (files(__package__.rpartition(".")[0]) / "pictures" / name).read_text(
        encoding="utf-8"
    )


def program_title(program: str, room: int = MAX_TITLE) -> str:
    """Return a program on one line, without comments; the middle of a long one is
    replaced by an ellipsis, because its end is its output."""
    lines = (COMMENT.sub("", line).strip().rstrip(";") for line in program.splitlines())
    text = " ".join("; ".join(filter(None, lines)).replace(":; ", ": ").split())
    return squeezed(printable(text), room)


def squeezed(text: str, room: int) -> str:
    """Return the text, its middle replaced by an ellipsis if it is longer than
    ``room``, because long names often differ only at their ends."""
    if len(text) <= room:
        return text
    end = (room - 1) // 2
    return text[: room - 1 - end] + ELLIPSIS + text[-end:]


def begun(title: str, styles: str, script: str = "") -> Iterator[str]:
    """Yield the lines of a page up to the opening of its body; the title is escaped,
    and an empty script is none."""
    runs = f"script-src '{_hash(script)}'; " if script else ""
    policy = f"default-src 'none'; {runs}style-src '{_hash(styles)}'; {NOWHERE}"
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>"
    yield f"<style>{styles}</style></head><body>"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
