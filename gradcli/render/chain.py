"""A graph line by line: the steps of `grad_fn` and its `next_functions`.

Invariant: one line per node, in order of the ids. `chain` prints `next_functions` as
PyTorch does; `steps` numbers the function nodes and names the leaves.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..views.graph import GraphView, NodeView
from .labels import leaf_name, shorten, source_text
from .line import Layout, Line

TEXT_WIDTH = 40
"""Columns that the program's text takes at most; a longer one moves what follows."""

TERMINAL_STEPS = 30
"""Steps that a terminal shows under the gradients; `gradcli graph` shows all."""


def chain(view: GraphView) -> Iterator[Line]:
    """``name  source  next_functions`` per node."""
    if view.root is None:
        yield Line((("no graph: the output needs no gradient", "dim"),))
        return
    name_width = max(len(node.name) for node in view.nodes)
    texts = [leaf_name(n) if n.is_leaf else source_text(n) for n in view.nodes]
    text_width = min(TEXT_WIDTH, max(map(len, texts)))
    for node, text in zip(view.nodes, texts, strict=True):
        yield Line(
            (
                (node.name.ljust(name_width), "node"),
                ("  " + text.ljust(text_width), "name" if node.is_leaf else "plain"),
                ("  " + _next_functions(view, node), "dim"),
            )
        )


def _next_functions(view: GraphView, node: NodeView) -> str:
    """The tuple as Python shows it, the comma of a single entry included."""
    entries = [
        f"({None if child is None else _as_object(view.nodes[child])}, {nr})"
        for child, nr in node.next_functions
    ]
    return "(" + ", ".join(entries) + ("," if len(entries) == 1 else "") + ")"


def _as_object(node: NodeView) -> str:
    return f"<{node.name} object at {node.address:#x}>"


def steps(view: GraphView, layout: Layout) -> Iterator[Line]:
    """``1  AddBackward0  b + c  -> 2, a`` per function node."""
    functions = [node for node in view.nodes if not node.is_leaf]
    if not functions:
        return
    numbers = {node.id: str(i) for i, node in enumerate(functions, 1)}
    shown = functions
    if layout.rows is not None and len(functions) > TERMINAL_STEPS:
        shown = functions[: TERMINAL_STEPS - 1]
    places = len(str(len(shown)))
    name_width = max(len(node.name) for node in shown)
    room = None if layout.width is None else max(TEXT_WIDTH, layout.width // 2)
    texts = [shorten(source_text(node), room) for node in shown]
    text_width = min(TEXT_WIDTH, max(map(len, texts)))
    for node, text in zip(shown, texts, strict=True):
        following = ", ".join(
            "None" if child is None else _called(view.nodes[child], numbers, nr)
            for child, nr in node.next_functions
        )
        yield Line(
            (
                ("  " + numbers[node.id].rjust(places), "dim"),
                ("  " + node.name.ljust(name_width), "node"),
                ("  " + text.ljust(text_width), "plain"),
                ("  -> " + following, "dim"),
            ),
            "        ",
        )
    if len(shown) < len(functions):
        more = len(functions) - len(shown)
        yield Line(((f"  … {more:,} more: see gradcli graph --chain", "dim"),))


def _called(node: NodeView, numbers: dict[int, str], nr: int) -> str:
    name = leaf_name(node) if node.is_leaf else numbers[node.id]
    return f"{name}#{nr}" if nr else name
