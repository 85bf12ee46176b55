"""C99: trees of single entries as a function of C.

Invariant: the programs compile with ``-std=c99 -Wall -Wextra -Werror -pedantic`` and
need only the mathematical library. Functions that it lacks are copied from
``helpers.c``.

    C().text(tree, texts)       # sin(x[0]) * 2.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from .dialect import Dialect, Written
from .texts import Text

_DEFINED: Final = re.compile(r"^static double (\w+)\(", re.MULTILINE)

MAX_COLUMNS: Final = 80
"""Largest width of a line of a function's head, in characters."""


def _paragraphs(file: str) -> list[str]:
    return Path(__file__).with_name(file).read_text().strip().split("\n\n")


@cache
def helpers() -> dict[str, str]:
    """Return the functions of ``helpers.c`` by name, comments included."""
    parts = _paragraphs("helpers.c")
    found = [(_DEFINED.search(part), part) for part in parts]
    return {defined[1]: part for defined, part in found if defined}


def _reserved() -> Iterator[str]:
    """Yield C's keywords, the names that math.h declares or may declare, with the
    endings of their variants, its constants, and the helpers."""
    keywords, functions, constants = map(str.split, _paragraphs("c-names.txt"))
    yield from (*keywords, *constants, *helpers())
    for name in functions:
        yield from (name, f"{name}f", f"{name}l", f"{name}_r")


def needed(code: str) -> list[str]:
    """Return the helpers that code calls, those that they call before them."""
    wanted: list[str] = []
    for name, text in reversed(helpers().items()):
        if re.search(rf"\b{name}\(", code):
            wanted.insert(0, text)
            code += text
    return wanted


class C(Dialect):
    """The dialect of C: numbers are doubles, an array is a pointer to its entries."""

    column = "c"
    nan, inf = "NAN", "INFINITY"
    words = False
    ascii = True
    reserved = frozenset(_reserved())

    def decimal(self, value: Any) -> str:
        return repr(float(value))

    def index(
        self, value: Any, shape: tuple[int, ...], texts: Mapping[int, Text]
    ) -> str:
        position = 0
        for at, size in zip(value, shape, strict=True):
            position = position * size + at
        return str(position)

    def assigned(self, name: str, text: str) -> str:
        return f"const double {name} = {text};"

    def program(self, written: Written) -> Iterator[str]:
        lines = [self.assigned(*step) for step in written.steps]
        for result in written.results:
            texts = result.texts or ()
            if not result.shape:
                lines.append(f"*{result.name} = {texts[0]};")
                continue
            lines += [f"{result.name}[{at}] = {text};" for at, text in enumerate(texts)]
            lines += [] if texts else [f"(void){result.name};"]
        code = "\n".join(lines)
        unread = [n for n, _ in written.inputs if not re.search(rf"\b{n}\b", code)]
        about = list(written.description())
        if any(result.shape for result in written.results):
            about += ["", "Arrays are in C order; results may not overlap inputs."]
        yield "/*"
        yield from (f" * {_harmless(line)}".rstrip() for line in about)
        yield from (" */", "#include <math.h>", "")
        for text in needed(code):
            yield from (*text.split("\n"), "")
        yield from _head(written)
        yield "{"
        yield from (f"    (void){name};" for name in unread)
        yield from (f"    {line}" for line in lines)
        yield "}"


def _head(written: Written) -> Iterator[str]:
    """Yield the lines of a function's head, with as many parameters as have room."""
    parts = [f"{'const double *' if shape else 'double '}{name}"
             for name, shape in written.inputs]  # fmt: skip
    parts += [f"double *{result.name}" for result in written.results]
    line = before = f"void {written.function}("
    for part in [*(f"{part}," for part in parts[:-1]), f"{parts[-1]})"]:
        if len(line) + len(part) > MAX_COLUMNS:
            yield line.rstrip()
            line = " " * len(before)
        line += f"{part} "
    yield line.rstrip()


def _harmless(text: str) -> str:
    """Return the text with signs split that begin or end a comment, or form a
    trigraph."""
    for sign in ("*/", "/*", "??"):
        text = text.replace(sign, " ".join(sign))
    return text
