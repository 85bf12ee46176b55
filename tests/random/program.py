"""A program of gradcli's language as data: statements, the inputs' values, the dtype.

Invariant: the text is a program of gradcli's language and, with PyTorch's functions as
bare names, of Python; the last statement stands on a line of its own.

    program = Program((Line("v0 = x*2", "v0"), Line("v0")), {"x": [1.0]}, "float64")
    program.text                      # "v0 = x*2\\nv0"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """One statement; ``name`` is the variable that it gives a value, if any."""

    text: str
    name: str | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.text,)


@dataclass(frozen=True, slots=True)
class Block:
    """A head such as ``if x.sum() > 0:`` with its body, and perhaps another one."""

    head: str
    body: tuple[Line, ...]
    otherwise: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        last = ("else:", *self._in(self.otherwise)) if self.otherwise else ()
        return (self.head, *self._in(self.body), *last)

    @staticmethod
    def _in(body: tuple[Line, ...]) -> tuple[str, ...]:
        return tuple(f"    {line.text}" for line in body)


Statement = Line | Block


@dataclass(frozen=True, slots=True)
class Program:
    """Statements, the inputs' values by name, and the type that it is computed in."""

    statements: tuple[Statement, ...]
    inputs: dict[str, Any]
    dtype: str

    @property
    def text(self) -> str:
        return "\n".join(line for s in self.statements for line in s.lines)

    @property
    def command(self) -> str:
        """The program as one types it."""
        values = " ".join(f"{k}={v}" for k, v in self.inputs.items())
        single = "; ".join(s.lines[0] for s in self.statements)
        whole = all(isinstance(s, Line) for s in self.statements)
        text = single if whole else self.text
        dtype = "" if self.dtype == "float64" else f" --dtype {self.dtype}"
        return f'"{text}" {values}{dtype}'.replace(", ", ",")
