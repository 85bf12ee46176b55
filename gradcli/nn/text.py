"""How modules are shown.

Invariant: a child is shown as it shows itself, one step further in; nothing is cut.
"""

from __future__ import annotations

from typing import Any, Protocol


class Described(Protocol):
    """What a module's text is made of."""

    _modules: Any

    def extra_repr(self) -> str: ...


INDENT = "  "


def describe(module: Described) -> str:
    """``Name(extra)``, or the children below it, each on lines of its own."""
    children = [
        f"({name}): {indented(repr(child))}" for name, child in module._modules.items()
    ]
    return framed(type(module).__name__, module.extra_repr(), children)


def framed(name: str, extra: str, children: list[str]) -> str:
    """A module's text from its name, what it says of itself, and its children's."""
    said = extra.split("\n") if extra else []
    lines = [*said, *children]
    if not lines:
        return f"{name}()"
    if len(said) == 1 and not children:
        return f"{name}({said[0]})"
    return f"{name}(\n{INDENT}" + f"\n{INDENT}".join(lines) + "\n)"


def indented(text: str) -> str:
    """All lines but the first moved in by one step."""
    return text.replace("\n", f"\n{INDENT}")


def grouped(texts: list[str]) -> list[tuple[str, str]]:
    """Labels and texts where equal neighbours stand together: ``(0-1): 2 x Linear``."""
    runs: list[tuple[int, int, str]] = []
    for i, text in enumerate(texts):
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], i, text)
        else:
            runs.append((i, i, text))
    return [
        (f"({a})", text) if a == b else (f"({a}-{b})", f"{b - a + 1} x {text}")
        for a, b, text in runs
    ]
