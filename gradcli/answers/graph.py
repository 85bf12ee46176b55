"""A graph as text: line by line, as an indented tree, for Graphviz and for Mermaid.

Invariants: text of the user is shown with its control characters escaped, and inside a
label quotes, brackets and line ends are escaped in each language's own way. In a tree
every function node is shown once, and its id where it is met again; a deep branch is
continued below, at the left margin, so that the text grows with the graph and not with
its depth squared.

    RsubBackward1  L = 10 - d
    └─ -1.0 ─ AddBackward0  d = w3*b + w4*c
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from math import inf, prod

from ..lang.excerpt import printable
from .graph_view import GraphView, NodeView
from .line import BLANK, Layout, Line, Part, dim, plain
from .numbers import ELLIPSIS, LargeArray, Shown, inline, number, sizes

MAX_TEXT_COLUMNS = 40
"""Largest width of the column of the program's text, in columns; a longer text moves
what follows."""

MAX_TERMINAL_STEPS = 30
"""Number of steps that a terminal shows under the gradients; `gradcli graph` shows
all."""

MAX_TREE_LEVELS = 24
"""Number of levels of a tree before a branch is continued below."""

MAX_EDGE_ENTRIES = 4
"""Largest number of entries of a local gradient that are written out on its edge."""

MAX_LABEL_CHARACTERS = 60
"""Largest length of the program's text in a node of a picture, in characters."""

CHANGE = re.compile(r"\s*+[^\w\s=<>!]+=")
"""Pattern of an assignment like ``*=`` after a name, which changes it in place."""

_DOT = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_MERMAID = str.maketrans(
    {c: f"#{ord(c)};" for c in '"#&<>`\\|[](){}*_~$%;'} | {"\n": "<br/>"}
)


def source_text(node: NodeView) -> str:
    """Return ``b = w1*a``, ``w1*a`` or nothing, depending on what the program says."""
    return assignment_text(node.output, node.source)


def assignment_text(name: str | None, source: str | None) -> str:
    """Return the text that makes a value: ``b = w1*a``, ``b *= a``, ``w1*a`` or
    ``b``."""
    text, shown = printable(source or ""), printable(name or "")
    complete = text.startswith(shown) and CHANGE.match(text, len(shown))
    if shown and text and text != shown and not complete:
        return f"{shown} = {text}"
    return text or shown


def leaf_name(node: NodeView) -> str:
    """Return the input's name; for an unnamed leaf its node's name."""
    return printable(node.variable or node.name)


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape as ``[2, 3]``; an empty text for a scalar."""
    return f"[{', '.join(map(str, shape))}]" if shape else ""


def size_text(value: Shown) -> str:
    """Return ``[2×3]``, the shape of an array that is not written out."""
    return f"[{'×'.join(map(str, sizes(value)))}]"


def shorten(text: str, room: int | None) -> str:
    """Return the text, its end replaced by an ellipsis if it is longer than
    ``room``."""
    if room is None or len(text) <= room:
        return text
    return text[: max(0, room - 1)] + ELLIPSIS


Rule = Callable[[NodeView, int], str | None]
"""Function that gives the rule along an edge of a node, in the program's names."""


def edge_text(
    local: Shown | None,
    rule: Callable[[], str | None],
    text: Callable[[float], str] = number,
) -> str:
    """Return what an edge shows everywhere: the local derivative if it is one number,
    else the rule that turns the incoming gradient into the outgoing one; where there is
    no rule, a small array's entries or a larger one's shape."""
    if local is not None and not isinstance(local, list | LargeArray):
        return text(local)
    found = rule()
    if found is not None:
        return printable(found)
    if local is None:
        return ""
    if not isinstance(local, LargeArray) and prod(sizes(local)) <= MAX_EDGE_ENTRIES:
        entries = inline(local, text)
        if len(entries) <= 4 * MAX_EDGE_ENTRIES:
            return entries
    return size_text(local)


def no_rule(node: NodeView, nr: int) -> None:
    """Return None: the rules are not known."""


def _edges(node: NodeView, rule: Rule) -> Iterator[tuple[int | None, str]]:
    """Yield where each edge leads, and its label, with the number of an output that is
    not the first."""
    pairs = zip(node.next_functions, node.local_gradients, strict=True)
    for edge, ((child, nr), local) in enumerate(pairs):
        label = "" if child is None else edge_text(local, partial(rule, node, edge))
        yield child, label + (f" #{nr}" if nr else "")


def steps(view: GraphView, layout: Layout) -> Iterator[Line]:
    """Yield a line ``1  AddBackward0  b + c  -> 2, a`` per function node."""
    # There may be a million nodes, so they are walked twice and none is kept.
    numbers = array("q")
    count = name_width = text_width = 0
    most = inf if layout.rows is None else MAX_TERMINAL_STEPS
    room = None if layout.width is None else max(MAX_TEXT_COLUMNS, layout.width // 2)
    for node in view.nodes:
        count += not node.is_leaf
        numbers.append(0 if node.is_leaf else count)
        if not node.is_leaf and count <= most:
            name_width = max(name_width, len(node.name))
            text_width = max(text_width, len(shorten(source_text(node), room)))
    text_width = min(MAX_TEXT_COLUMNS, text_width)
    shown = count if count <= most else MAX_TERMINAL_STEPS - 1
    places = len(str(shown))
    for node in view.nodes:
        step = numbers[node.id]
        if step > shown:
            break
        if not step:
            continue
        following = ", ".join(
            "None" if child is None else _called(view, child, numbers[child], nr)
            for child, nr in node.next_functions
        )
        yield Line(
            ("  " + str(step).rjust(places), "dim"),
            ("  " + node.name.ljust(name_width), "node"),
            ("  " + shorten(source_text(node), room).ljust(text_width), "plain"),
            ("  -> " + following, "dim"),
            hang="        ",
        )
    if shown < count:
        yield dim(f"  … {count - shown:,} more: see gradcli graph")


def _called(view: GraphView, child: int, number: int, nr: int) -> str:
    name = str(number) if number else leaf_name(view.nodes[child])
    return f"{name}#{nr}" if nr else name


def tree(view: GraphView, layout: Layout, rule: Rule = no_rule) -> Iterator[Line]:
    """Yield the tree, line by line."""
    if view.root is None:
        yield dim("no graph: the output needs no gradient")
        return
    deepest = MAX_TREE_LEVELS
    if layout.width is not None:
        deepest = max(3, min(MAX_TREE_LEVELS, (layout.width - 16) // 3))
    nodes, shown = view.nodes, set[int]()
    # A function node that several edges lead to is referred to by its id.
    tags = {n for n, c in enumerate(view.uses()) if c > 1 and not nodes[n].is_leaf}
    roots = deque([view.root])
    while roots:
        root = roots.popleft()
        if root in shown:
            continue
        if shown:
            yield BLANK
        shown.add(root)
        nr = view.output_nr if root == view.root else 0
        yield Line(*_described(nodes[root], root in tags, nr))
        stack = _branches(nodes[root], rule, "", 1)
        while stack:
            child, label, prefix, last, depth = stack.pop()
            below = prefix + ("   " if last else "│  ")
            edge: list[Part] = [(prefix + ("└─" if last else "├─"), "dim")]
            edge += [(f" {label} ", "number"), ("─ ", "dim")] if label else []
            edge += [] if label else [(" ", "dim")]
            if child is None:
                yield Line(*edge, ("None", "dim"), hang=below)
                continue
            node = nodes[child]
            goes_on = any(end is not None for end, _ in node.next_functions)
            told = _described(node, child in tags, 0)
            if child in shown and not node.is_leaf:
                told = _referred(node, "drawn above")
            elif depth >= deepest and goes_on:
                tags.add(child)
                roots.append(child)
                told = _referred(node, "continued below")
            else:
                shown.add(child)
                stack.extend(_branches(node, rule, below, depth + 1))
            yield Line(*edge, *told, hang=below)


_Branch = tuple[int | None, str, str, bool, int]
"""An edge: where it leads, its label, the text before it, whether it is its node's last
one, and its depth."""


def _branches(node: NodeView, rule: Rule, prefix: str, depth: int) -> list[_Branch]:
    """Return the node's edges in reverse, so that a stack gives the first one first."""
    count = len(node.next_functions)
    edges = enumerate(_edges(node, rule), 1)
    found = [(child, label, prefix, nr == count, depth) for nr, (child, label) in edges]
    return found[::-1]


def _described(node: NodeView, tagged: bool, nr: int) -> list[Part]:
    parts: list[Part] = [(node.name, "node")]
    if node.is_leaf:
        parts = [("AccumulateGrad ", "dim"), (leaf_name(node), "name")]
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


def dot(view: GraphView, rule: Rule = no_rule) -> Iterator[Line]:
    """Yield the graph in Graphviz's language; gradients flow downwards."""
    yield plain("digraph gradcli {")
    yield plain("  rankdir=TB;")
    yield plain('  node [fontname="Helvetica", style="rounded,filled", shape=box];')
    yield plain('  edge [fontname="Helvetica", fontsize=10];')
    for node in view.nodes:
        fill = "#fff3d6" if node.is_leaf else "#e8eefc"
        label = _label(node).translate(_DOT)
        yield plain(f'  n{node.id} [label="{label}", fillcolor="{fill}"];')
    for start, end, text in _arrows(view, rule):
        label = f' [label="{text.translate(_DOT)}"]' if text else ""
        yield plain(f"  n{start} -> n{end}{label};")
    yield plain("}")


def mermaid(view: GraphView, rule: Rule = no_rule) -> Iterator[Line]:
    """Yield the graph in Mermaid's language; gradients flow downwards."""
    yield plain("flowchart TD")
    for node in view.nodes:
        opening, closing = ('(["', '"])') if node.is_leaf else ('["', '"]')
        label = _label(node).translate(_MERMAID)
        yield plain(f"  n{node.id}{opening}{label}{closing}")
    for start, end, text in _arrows(view, rule):
        label = f'|"{text.translate(_MERMAID)}"|' if text else ""
        yield plain(f"  n{start} -->{label} n{end}")


def _label(node: NodeView) -> str:
    shape = shape_text(node.shape)
    if node.is_leaf:
        return f"{leaf_name(node)} {shape}".rstrip() + "\nAccumulateGrad"
    text = shorten(source_text(node), MAX_LABEL_CHARACTERS)
    return "\n".join(filter(None, (node.name, text, shape)))


def _arrows(view: GraphView, rule: Rule) -> Iterator[tuple[int, int, str]]:
    for node in view.nodes:
        for child, text in _edges(node, rule):
            if child is not None:
                yield node.id, child, text
