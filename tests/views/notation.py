"""A graph as one line of text, for comparing two graphs at a glance.

Invariant: two graphs have the same notation exactly if they unfold to the same tree of
node names, edges, output numbers and leaf names.

    notation(view)      # "MulBackward0(AccumulateGrad[x], SumBackward0(...))"

An edge that comes from the second output of its node reads ``UnbindBackward0(...)#1``,
an edge that needs no gradient ``None``.
"""

from __future__ import annotations

from gradcli.answers.graph_view import GraphView


def notation(view: GraphView) -> str:
    """The compact notation; a shared node is written out wherever it is used."""
    if view.root is None:
        return "None"
    pieces: list[str] = []
    stack: list[str | tuple[int | None, int]] = [(view.root, view.output_nr)]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        number, output_nr = item
        if number is None:
            pieces.append("None")
            continue
        node = view.nodes[number]
        pieces.append(node.name)
        if node.is_leaf:
            pieces.append(f"[{node.variable}]")
            continue
        pieces.append("(")
        stack.append(f")#{output_nr}" if output_nr else ")")
        for place, edge in reversed(list(enumerate(node.next_functions))):
            stack.append(edge)
            if place:
                stack.append(", ")
    return "".join(pieces)
