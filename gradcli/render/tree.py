"""A graph as an indented tree, each edge with its local gradient.

Invariants: every function node is drawn once; where a shared one is met again its id is
given instead. A branch that gets deep is continued below, at the left margin, so the
text grows with the graph and not with its depth squared.

    RsubBackward1  L = 10 - d
    └─ -1.0 ─ AddBackward0  d = w3*b + w4*c
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from ..views.graph import GraphView, NodeView
from .labels import gradient_text, leaf_name, shape_text, shared, source_text
from .line import BLANK, Layout, Line, Part

DEEPEST = 24
"""Levels drawn before a branch is continued below."""

WIDEST_GRADIENT = 4
"""Entries of a local gradient that are written out on its edge."""


class _Place(NamedTuple):
    """An edge to draw: where it leads, what stands before it, and how deep it is."""

    child: int | None
    gradient: str
    prefix: str
    last: bool
    depth: int


def tree(view: GraphView, layout: Layout) -> Iterator[Line]:
    """The tree, line by line."""
    if view.root is None:
        yield Line((("no graph: the output needs no gradient", "dim"),))
        return
    deepest = DEEPEST
    if layout.width is not None:
        deepest = max(3, min(DEEPEST, (layout.width - 16) // 3))
    tags = set(shared(view))
    drawn: set[int] = set()
    roots = deque([view.root])
    first = True
    while roots:
        root = roots.popleft()
        if root in drawn:
            continue
        if not first:
            yield BLANK
        first = False
        yield from _branch(view, root, deepest, tags, drawn, roots)


def _branch(
    view: GraphView,
    root: int,
    deepest: int,
    tags: set[int],
    drawn: set[int],
    roots: deque[int],
) -> Iterator[Line]:
    drawn.add(root)
    node = view.nodes[root]
    nr = view.output_nr if root == view.root else 0
    yield Line((*_described(node, root in tags, nr),))
    stack = _edges(node, "", 1)
    while stack:
        place = stack.pop()
        fork = "└─" if place.last else "├─"
        below = place.prefix + ("   " if place.last else "│  ")
        edge: list[Part] = [(place.prefix + fork, "dim")]
        if place.gradient:
            edge.append((f" {place.gradient} ", "number"))
            edge.append(("─ ", "dim"))
        else:
            edge.append((" ", "dim"))
        if place.child is None:
            yield Line((*edge, ("None", "dim")), below)
            continue
        child = view.nodes[place.child]
        if place.child in drawn and not child.is_leaf:
            yield Line((*edge, *_referred(child, "drawn above")), below)
            continue
        if place.depth >= deepest and any(
            end is not None for end, _ in child.next_functions
        ):
            tags.add(place.child)
            roots.append(place.child)
            yield Line((*edge, *_referred(child, "continued below")), below)
            continue
        drawn.add(place.child)
        yield Line((*edge, *_described(child, place.child in tags, 0)), below)
        stack.extend(_edges(child, below, place.depth + 1))


def _edges(node: NodeView, prefix: str, depth: int) -> list[_Place]:
    """The node's edges, the first one last, as a stack wants them."""
    count = len(node.next_functions)
    pairs = zip(node.next_functions, node.local_gradients, strict=True)
    places = [
        _Place(
            child,
            gradient_text(gradient, WIDEST_GRADIENT) + (f" #{nr}" if nr else ""),
            prefix,
            i == count - 1,
            depth,
        )
        for i, ((child, nr), gradient) in enumerate(pairs)
    ]
    return places[::-1]


def _described(node: NodeView, tagged: bool, nr: int) -> list[Part]:
    if node.is_leaf:
        parts: list[Part] = [("AccumulateGrad ", "dim"), (leaf_name(node), "name")]
    else:
        parts = [(node.name, "node")]
    if nr:
        parts.append((f" #{nr}", "dim"))
    if tagged:
        parts.append((f" ({node.id})", "title"))
    text = source_text(node)
    if text and not node.is_leaf:
        parts.append((f"  {text}", "plain"))
    shape = shape_text(node.shape)
    if shape:
        parts.append((f"  {shape}", "dim"))
    return parts


def _referred(node: NodeView, where: str) -> list[Part]:
    return [(node.name, "node"), (f" ({node.id})", "title"), (f"  {where}", "dim")]
