"""The table of operations as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..answers.catalog import FunctionView, RowView
from .line import BLANK, Line, title

_WORD = {True: "formula", False: "meaning"}
"""Labels of a formula: one that can be read as a program, and one that cannot."""


def listing(functions: Sequence[FunctionView]) -> Iterator[Line]:
    """Yield a line for every function, family by family."""
    width = max(len(f.name) for f in functions)
    families = groupby(sorted(functions, key=lambda f: f.family), lambda f: f.family)
    for nr, (family, members) in enumerate(families):
        if nr:
            yield BLANK
        yield title(family)
        for function in members:
            nodes = ", ".join(function.nodes)
            yield Line(
                (function.name.ljust(width), "name"),
                (f"  {function.formula or function.doc}", "plain"),
                (f"  {nodes}" if nodes else "", "node"),
            )


def page(function: FunctionView) -> Iterator[Line]:
    """Yield everything about one function."""
    yield title(f"{function.name}({_parameters(function)})")
    yield from _facts(
        ("", function.doc),
        (_WORD[function.readable], function.formula),
        ("aliases", ", ".join(function.aliases)),
        ("family", function.family),
        ("smooth where", function.domain),
        ("at a kink", function.kink),
        ("its slope", function.slope),
        *((f"is {value}", why) for value, why in function.not_finite.items()),
        *function.spellings.items(),
    )
    for row in function.rows:
        yield BLANK
        node = row.node or "not differentiable"
        yield Line((row.name, "name"), (f"  {node}", "node"))
        derivatives = row.derivatives.items()
        yield from _facts(
            (_WORD[row.readable], row.formula),
            ("parameters", _parameters(row)),
            *((f"derivative by {x}", text or "") for x, text in derivatives),
            ("at a kink", row.kink),
            ("its slope", row.slope),
            ("jumps where", row.jumps),
        )


def _parameters(view: FunctionView | RowView) -> str:
    """Return the parameters as they are called, with their defaults."""
    given = view.defaults
    return ", ".join(
        f"{name}={given[name]!r}" if name in given else name for name in view.parameters
    )


def _facts(*facts: tuple[str, str]) -> Iterator[Line]:
    """Yield a line ``name: value`` for each fact that is not empty."""
    for name, value in facts:
        if value:
            lead = f"{name}: " if name else ""
            yield Line(("  " + lead, "dim"), (value, "plain"))
