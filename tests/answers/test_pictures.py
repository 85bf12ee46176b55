"""Trees, chains, DOT and Mermaid of graphs made by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gradcli.answers.graph import (
    _DOT,
    _MERMAID,
    MAX_TREE_LEVELS,
    dot,
    edge_text,
    mermaid,
    steps,
    tree,
)
from gradcli.answers.graph_view import GraphView, NodeView
from gradcli.answers.line import Layout, Line
from gradcli.answers.terminal import _wrapped


def node(
    number: int, name: str, *following: int | None, text: str = "", nr: int = 0
) -> NodeView:
    leaf = name == "AccumulateGrad"
    return NodeView(
        id=number,
        name=name,
        address=4096 + number,
        variable=text if leaf else None,
        output=None,
        shape=(),
        span=None,
        source=None if leaf else text,
        line=1,
        column=1,
        next_functions=tuple((f, nr) for f in following),
        local_gradients=(1.0,) * len(following),
    )


def graph(*nodes: NodeView) -> GraphView:
    return GraphView("", "y", (), 0, 0, nodes)


def texts(lines: object) -> list[str]:
    return [line.text for line in lines]  # type: ignore[attr-defined]


HOSTILE = 'a"b\\n[x]\n<b>|"]; n9 --> n0\x1b[31m#{}'


@pytest.mark.parametrize(
    ("draw", "node_line"),
    [
        (dot, r'  n0 \[label="(?:[^"\\]|\\.)*", fillcolor="#\w+"\];'),
        (mermaid, r'  n0\["(?:[^"<>|[\]{}`]|<br/>)*"\]'),
    ],
)
def test_no_text_leaves_its_label(draw: Any, node_line: str) -> None:
    view = graph(node(0, "AddBackward0", 1, text=HOSTILE),
                 node(1, "AccumulateGrad", text=HOSTILE))  # fmt: skip
    lines = texts(draw(view))
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert sum(bool(re.match(r"  n\d+ --?>", line)) for line in lines) == 1
    assert sum(bool(re.fullmatch(node_line, line)) for line in lines) == 1


def test_a_deep_branch_is_continued_at_the_margin_once() -> None:
    depth = 3 * MAX_TREE_LEVELS
    chain = [node(i, "SinBackward0", i + 1) for i in range(depth)]
    view = graph(*chain, node(depth, "AccumulateGrad", text="x"))
    lines = texts(tree(view, Layout()))
    assert sum("continued below" in line for line in lines) == 2
    drawn = [line for line in lines if "SinBackward0" in line and "below" not in line]
    assert len(drawn) == depth
    assert max(map(len, lines)) < 4 * MAX_TREE_LEVELS + 60


def test_every_function_node_is_drawn_exactly_once_in_a_diamond_ladder() -> None:
    """Each rung is used twice by the one above: as a tree it has 2**60 leaves."""
    rungs = [node(i, "MulBackward0", i + 1, i + 1) for i in range(60)]
    view = graph(*rungs, node(60, "AccumulateGrad", text="x"))
    lines = texts(tree(view, Layout()))
    assert len(lines) < 200
    for rung in range(1, 60):
        shown = [line for line in lines if f"({rung})" in line]
        drawn = [s for s in shown if "above" not in s and "below" not in s]
        assert len(drawn) == 1, rung


def test_an_output_number_and_a_missing_edge_are_shown() -> None:
    view = graph(
        node(0, "AddBackward0", 1, None, nr=1),
        node(1, "UnbindBackward0", 2),
        node(2, "AccumulateGrad", text="x"),
    )
    lines = texts(tree(view, Layout()))
    assert "#1" in lines[1]
    assert lines[-1].endswith("None")
    assert texts(steps(view, Layout()))[0].endswith("-> 2#1, None")


@pytest.mark.parametrize(
    ("local", "rule", "shown"),
    [
        (2.0, "g * w", "2.0"),
        ([1.0, 2.0], "g * w", "g * w"),
        (None, "A.T @ g", "A.T @ g"),
        (None, "a\x1b", "a\\x1b"),
        ([1.0, 2.0], None, "[1.0, 2.0]"),
        ([[0.5] * 3] * 2, None, "[2×3]"),
        (None, None, ""),
    ],
)
def test_an_edge_shows_a_number_or_else_the_rule(
    local: Any, rule: str | None, shown: str
) -> None:
    assert edge_text(local, lambda: rule) == shown
    tensor = node(0, "MulBackward0", 1)._replace(local_gradients=(local,))
    view = graph(tensor, node(1, "AccumulateGrad", text="x"))
    for form in (tree, dot, mermaid):
        words = (view, Layout()) if form is tree else (view,)
        found = " ".join(texts(form(*words, rule=lambda node, nr: rule)))
        label = shown.translate(_MERMAID) if form is mermaid else shown
        label = label.translate(_DOT) if form is dot else label
        assert label in found


def test_steps_are_summarised_for_a_terminal_and_whole_for_a_pipe() -> None:
    chain = [node(i, "SinBackward0", i + 1) for i in range(100)]
    view = graph(*chain, node(100, "AccumulateGrad", text="x"))
    assert len(texts(steps(view, Layout()))) == 100
    short = texts(steps(view, Layout(80, 12)))
    assert len(short) == 30
    assert short[-1].strip().startswith("… 71 more")


@pytest.mark.parametrize("width", [20, 40, 80])
def test_wrapping_keeps_every_word_and_the_width(width: int) -> None:
    text = "a 漢字漢字 bb  " + "c" * 50 + " dd " + "e f " * 20
    hang = "│  " * (width // 5)
    pieces = list(_wrapped(Line((text, "plain"), hang=hang), width))
    shown = ["".join(part for part, _ in piece) for piece in pieces]
    from rich.cells import cell_len

    assert all(cell_len(line) <= width and line.strip(" │") for line in shown)
    assert width < 40 or all(line.startswith(hang) for line in shown[1:])
    assert "".join("".join(shown).replace("│", "").split()) == "".join(text.split())
