"""Two graphs of one computation, side by side: the nodes that both have, in the order
of discovery, and those where they differ.

Invariants: graphs without a difference are equal node for node and edge for edge: names
of nodes, shapes, and where each edge leads. Of equal nodes in both graphs as many as a
line-by-line comparison pairs are pairs.

    [*lines(compare(ours, theirs), Layout())]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from .graph import leaf_name, shape_text, shorten
from .graph_view import GraphView, NodeView
from .line import Layout, Line, Role, dim

SAME: Final = " "
OURS: Final = "<"
THEIRS: Final = ">"
OTHER: Final = "|"
EDGES: Final = "~"
"""Signs of a pair of equal nodes, of a node that only one graph has, of two different
nodes, and of equal nodes whose edges lead elsewhere."""

CONTEXT: Final = 1
"""Number of equal nodes that are shown before and after a difference."""

MAX_COMPARED: Final = 800
"""Largest number of nodes, without the equal ones at both ends, that are paired: the
time grows with its square and with the number of differences."""

COLUMN: Final = 44
"""Largest width of the left column, in columns."""

REASONS: Final = {
    "EinsumBackward0": "einsum is one node in gradcli; PyTorch writes it as products "
    "of batches of matrices",
    "ScaledDotProductFlashAttentionForCpuBackward0": "PyTorch has one kernel for "
    "attention; gradcli records its steps",
    "MkldnnRnnLayerBackward0": "PyTorch runs a layer of an LSTM in one kernel; gradcli "
    "records each step",
    "CopySlices": "PyTorch hides the change of a part inside CopySlices; gradcli shows "
    "its nodes",
    "TanhBackwardBackward0": "gradcli's rule of tanh's rule has more steps that "
    "carry a gradient",
    "MulBackward1": "PyTorch's rule of the first pass multiplies by a number; gradcli "
    "multiplies by a tensor",
}
"""Reasons for differences, by the node that shows them."""


class Pair(NamedTuple):
    """A node of each graph, or of one of them, and the sign of how they differ."""

    ours: NodeView | None
    theirs: NodeView | None
    sign: str


@dataclass(frozen=True, slots=True)
class GraphComparison:
    """A comparison of gradcli's graph with PyTorch's.

    pairs  the nodes of both
    left   the number of nodes of gradcli's graph
    right  the number of nodes of PyTorch's graph
    whole  whether all nodes were paired; else the graphs are too large
    """

    pairs: tuple[Pair, ...]
    left: int
    right: int
    whole: bool

    @property
    def differing(self) -> int:
        """Return the number of pairs that differ."""
        return sum(pair.sign != SAME for pair in self.pairs)

    @property
    def reasons(self) -> list[str]:
        """Return the known reasons for the differences."""
        ends = [end for pair in self.pairs if pair.sign != SAME for end in pair[:2]]
        names = dict.fromkeys(end.name for end in ends if end is not None)
        return [REASONS[name] for name in names if name in REASONS]


def compare(ours: GraphView, theirs: GraphView) -> GraphComparison:
    """Return how gradcli's graph and PyTorch's of the same computation differ."""
    left, right = ours.nodes, theirs.nodes
    a, b = [*map(_key, left)], [*map(_key, right)]
    first = _alike(a, b)
    tail = _alike(a[first:][::-1], b[first:][::-1])
    ends = len(a) - tail, len(b) - tail
    whole = max(ends) - first <= MAX_COMPARED
    stop = None if whole else MAX_COMPARED
    inner_a, inner_b = a[first : ends[0]][:stop], b[first : ends[1]][:stop]
    pairs = list(zip(left[:first], right[:first], strict=True))
    rows: list[tuple[NodeView | None, NodeView | None]] = [*pairs]
    matcher = SequenceMatcher(None, inner_a, inner_b, autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        ours_here = left[first + i : first + i_end]
        theirs_here = right[first + j : first + j_end]
        if tag == "equal":
            rows += zip(ours_here, theirs_here, strict=True)
            continue
        rows += _side_by_side(ours_here, theirs_here)
    if whole:
        rows += zip(left[ends[0] :], right[ends[1] :], strict=True)
    known = {x.id: y.id for x, y in rows if x is not None and y is not None}
    return GraphComparison(
        tuple(Pair(x, y, _sign(x, y, known)) for x, y in rows),
        len(left),
        len(right),
        whole,
    )


def _alike(a: Sequence[object], b: Sequence[object]) -> int:
    """Return how many entries of both are equal, from the first one on."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((nr for nr, (x, y) in pairs if x != y), min(len(a), len(b)))


def _key(node: NodeView) -> tuple[str, tuple[int, ...]]:
    return node.name, node.shape


def _side_by_side(
    ours: Sequence[NodeView], theirs: Sequence[NodeView]
) -> Iterator[tuple[NodeView | None, NodeView | None]]:
    """Yield nodes of both graphs beside each other, the rest of the longer alone."""
    for nr in range(max(len(ours), len(theirs))):
        yield (
            ours[nr] if nr < len(ours) else None,
            theirs[nr] if nr < len(theirs) else None,
        )


def _sign(x: NodeView | None, y: NodeView | None, known: dict[int, int]) -> str:
    if x is None or y is None:
        return THEIRS if x is None else OURS
    if _key(x) != _key(y):
        return OTHER
    ours = [(known.get(c, -1) if c is not None else None, nr) for c, nr in
            x.next_functions]  # fmt: skip
    there = {*known.values()}
    theirs = [(c if c is None or c in there else -1, nr) for c, nr in y.next_functions]
    return SAME if ours == theirs else EDGES


def lines(found: GraphComparison, layout: Layout) -> Iterator[Line]:
    """Yield the differences side by side, with the nodes around them and the
    reasons."""
    count = found.differing
    if not count:
        yield dim(f"  gradcli and PyTorch record the same {_nodes(found.left)}")
        return
    numbers = f"gradcli records {_nodes(found.left)}, PyTorch {found.right:,}"
    yield dim(f"  {numbers}; {count:,} of {len(found.pairs):,} lines differ")
    shown = {
        at
        for nr, pair in enumerate(found.pairs)
        if pair.sign != SAME
        for at in range(nr - CONTEXT, nr + CONTEXT + 1)
    }
    rows = {nr: found.pairs[nr] for nr in sorted(shown) if 0 <= nr < len(found.pairs)}
    width = max(len("gradcli"), *(len(_text(pair.ours)) for pair in rows.values()))
    width = min(width, COLUMN if layout.width is None else (layout.width - 7) // 2)
    yield Line(("  " + "gradcli".ljust(width) + "     PyTorch", "title"))
    before = -1
    for nr, pair in rows.items():
        if nr != before + 1:
            yield dim("  …")
        before = nr
        left, right = shorten(_text(pair.ours), width), _text(pair.theirs)
        role: Role = "dim" if pair.sign == SAME else "plain"
        yield Line(
            ("  " + left.ljust(width) + "  ", role),
            (pair.sign, "bad"),
            ("  " + right, role),
            hang=" " * (width + 7),
        )
    if before + 1 < len(found.pairs) or not found.whole:
        yield dim("  …")
    if not found.whole:
        yield dim(
            f"  only {MAX_COMPARED:,} nodes from the first difference on are compared"
        )
    for reason in found.reasons:
        yield dim(f"  {reason}")


def _nodes(count: int) -> str:
    return f"{count:,} node{'s' * (count != 1)}"


def _text(node: NodeView | None) -> str:
    """Return a node in words; an empty text for none."""
    if node is None:
        return ""
    name = f"AccumulateGrad {leaf_name(node)}" if node.variable else node.name
    return f"{name}  {shape_text(node.shape)}".rstrip()
