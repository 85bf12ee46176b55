"""Help pages in narrow terminals: what is explained above its explanation.

Invariant: where there is room for two columns, a page is as typer writes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from shutil import get_terminal_size
from typing import Any, Final

MIN_TABLE_COLUMNS: Final = 72
"""Of a terminal in which names and explanations stand side by side."""

MIN_COLUMNS: Final = 20
"""That a page takes in any terminal."""


MAX_SHORT_HELP: Final = 200
"""Longest first sentence of a page, in characters."""


class NarrowHelp:
    """A command or a group whose help page fits narrow terminals."""

    def get_short_help_str(self, limit: int = MAX_SHORT_HELP) -> str:
        """Return its first sentence."""
        return str(super().get_short_help_str(limit))  # type: ignore[misc]

    def get_help(self, ctx: Any) -> str:
        """Return the page."""
        columns = get_terminal_size().columns
        if columns >= MIN_TABLE_COLUMNS:
            page: str = super().get_help(ctx)  # type: ignore[misc]
            return page
        formatter = _stacked(ctx.formatter_class)(width=max(columns - 1, MIN_COLUMNS))
        self.format_help(ctx, formatter)
        return str(formatter.getvalue()).rstrip("\n")

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        super().format_help(ctx, formatter)  # type: ignore[misc]


def _stacked(base: Any) -> Any:
    """A formatter that writes an explanation below what it explains."""

    class Stacked(base):  # type: ignore[misc]
        def write_dl(self, rows: Iterable[tuple[str, str]], *_: object) -> None:
            for name, explanation in rows:
                self.write_text(name)
                with self.indentation(), self.indentation():
                    self.write_text(explanation)

    return Stacked
