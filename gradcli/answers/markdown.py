"""Pages of the documentation in a terminal.

Invariants: only the terminal's own colours are used, so that a page is legible on light
and dark grounds; examples are not changed, so that they can be copied.
"""

from __future__ import annotations

from typing import ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, TableElement
from rich.table import Table
from rich.text import Text


class _Example(CodeBlock):
    """An example, whose lines are neither wrapped nor coloured."""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        for line in str(self.text).rstrip().splitlines():
            style = "bold" if line.startswith("$ ") else ""
            yield Text("  " + line, style=style, no_wrap=True, overflow="ignore")


class _Heading(Heading):
    """A heading at the left margin."""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        yield Text("")
        yield Text(str(self.text), style="bold underline")


class _MarkdownTable(TableElement):
    """A table whose long words go on in the next line, and lose nothing."""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        for each in super().__rich_console__(console, options):
            if isinstance(each, Table):
                for column in each.columns:
                    column.overflow = "fold"
            yield each


class _Page(Markdown):
    elements: ClassVar = {
        **Markdown.elements,
        "fence": _Example,
        "code_block": _Example,
        "heading_open": _Heading,
        "table_open": _MarkdownTable,
    }


def drawn(markdown: str) -> Markdown:
    """Return the page, to be printed by a rich console."""
    return _Page(markdown, inline_code_lexer=None, hyperlinks=False)
