"""The option ``--shape``: how large the inputs are that have no value.

shapes_of(["X=3,2", "x=()"])        # {"X": (3, 2), "x": ()}
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..lang.errors import ProgramError, Span
from .problems import wrong

_SIZES = re.compile(r"[(\[]?\s*(\d{1,100}(\s*[,x]\s*\d{1,100})*)?\s*,?\s*[)\]]?")


def shapes_of(words: Sequence[str] | None) -> dict[str, tuple[int, ...]]:
    """Read ``X=3,2``, ``X=(3,2)`` or ``X=3x2``; ``x=()`` is a single number."""
    found: dict[str, tuple[int, ...]] = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier() or not _SIZES.fullmatch(text.strip()):
            span = Span(0, max(1, len(word)))
            message = "this is not a shape"
            raise ProgramError(
                "E595", message, span, word,
                hint="write --shape X=3,2", exit_status=2,
            )  # fmt: skip
        if name in found:
            raise wrong("E595", f"--shape: '{name}' has two shapes", "keep one")
        found[name] = tuple(int(n) for n in re.findall(r"\d+", text))
    return found
