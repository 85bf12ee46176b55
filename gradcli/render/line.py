"""A line of output: stretches of text, each in a role that a terminal may colour.

Invariant: the text alone says everything; colour only repeats it. A line too wide for
a terminal goes on below under ``hang``; without one it is the terminal that breaks it,
so that it can be copied whole.

    Line((("dL/da", "name"), (" = ", "plain"), ("-1.125", "number")))
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal[
    "plain", "name", "number", "node", "dim", "title", "good", "fair", "bad"
]
Part: TypeAlias = tuple[str, Role]


class Line(NamedTuple):
    """One line, without its end."""

    parts: tuple[Part, ...] = ()
    hang: str = "    "

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.parts])


BLANK = Line()


class Layout(NamedTuple):
    """How much room there is; None: as much as it takes, which is what a pipe gets."""

    width: int | None = None
    rows: int | None = None


def title(text: str) -> Line:
    """A heading."""
    return Line(((text, "title"),))
