"""The table of operations as pages: what a function is, and what it records.

Invariant: everything shown stands in the function's row; nothing is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ops import ALIASES, FUNCTIONS, Composite, Op, offered, overloads, parameters


@dataclass(frozen=True, slots=True)
class RowView:
    """One row behind a function: an overload and the node that it records."""

    name: str
    formula: str
    node: str | None
    parameters: tuple[str, ...]
    elementwise: bool
    kink: str


@dataclass(frozen=True, slots=True)
class FunctionView:
    """A public function. Its rows are its overloads; a function without rows of its
    own name is made of others."""

    name: str
    family: str
    doc: str
    formula: str
    kink: str
    parameters: tuple[str, ...]
    aliases: tuple[str, ...]
    rows: tuple[RowView, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the rows record, each once."""
        return tuple(dict.fromkeys(row.node for row in self.rows if row.node))


def catalog() -> tuple[FunctionView, ...]:
    """Every public function, in the table's order."""
    behind: dict[str, list[str]] = {}
    for alias, name in ALIASES.items():
        behind.setdefault(name, []).append(alias)
    return tuple(_function(name, tuple(behind.get(name, ()))) for name in offered())


def find(name: str) -> FunctionView | None:
    """The function of this name or alias; None if there is none."""
    name = ALIASES.get(name, name)
    if name not in FUNCTIONS or FUNCTIONS[name].internal:
        return None
    aliases = tuple(alias for alias, meant in ALIASES.items() if meant == name)
    return _function(name, aliases)


def known_names() -> tuple[str, ...]:
    """Names and aliases, for suggestions."""
    return (*offered(), *ALIASES)


def _function(name: str, aliases: tuple[str, ...]) -> FunctionView:
    entry = FUNCTIONS[name]
    formula = entry.build if isinstance(entry, Composite) else entry.fwd
    return FunctionView(
        name=name,
        family=formula.__module__.rpartition(".")[2],
        doc=entry.doc,
        formula=entry.formula,
        kink=entry.kink,
        parameters=parameters(entry),
        aliases=aliases,
        rows=tuple(_row(op) for op in overloads(name)),
    )


def _row(op: Op) -> RowView:
    return RowView(
        op.name, op.formula, op.node, parameters(op), op.elementwise, op.kink
    )
