"""A picture as GraphML, for programs that draw and analyse graphs.

Invariant: the document has a node per node and an edge per edge of the recorded graph,
in its order; numbers read back as the same numbers, arrays are nested lists.

    "\\n".join(graphml(picture))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...answers.picture import Picture, PictureNode
from ...lang.excerpt import printable
from ...views.briefly import Brief, Extent
from ...views.numbers import Entries
from ..labels import shape_text
from ..numbers import inline
from .svg import attribute, escaped

NODE_KEYS: Final = (
    "name", "variable", "output", "source", "shape", "value", "gradient", "formula",
)  # fmt: skip
EDGE_KEYS: Final = ("output_nr", "local_gradient", "rule")


def graphml(picture: Picture) -> Iterator[str]:
    """Yield the lines of a document."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    for kind, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for key in keys:
            number = "int" if key == "output_nr" else "string"
            yield (
                f'<key id="{kind[0]}_{key}" for="{kind}" attr.name="{key}" '
                f'attr.type="{number}"/>'
            )
    yield f"<graph id={attribute(picture.name)} edgedefault={attribute('directed')}>"
    for node in picture.nodes:
        yield f'<node id="n{node.node.id}">'
        yield from _data("n", _of_node(node))
        yield "</node>"
    for node in picture.nodes:
        for nr, (child, output) in enumerate(node.node.next_functions):
            if child is not None:
                yield (
                    f'<edge id="e{node.node.id}_{nr}" source="n{node.node.id}" '
                    f'target="n{child}">'
                )
                local = node.node.local_gradients[nr]
                told = {"output_nr": str(output), "rule": node.rules[nr]}
                yield from _data("e", told | {"local_gradient": _number(local)})
                yield "</edge>"
    yield "</graph>"
    yield "</graphml>"


def _of_node(node: PictureNode) -> Mapping[str, str | None]:
    view = node.node
    return {
        "name": view.name,
        "variable": view.variable,
        "output": view.output,
        "source": view.source,
        "shape": shape_text(view.shape) or "[]",
        "value": _number(node.value),
        "gradient": _number(node.gradient),
        "formula": node.formula or None,
    }


def _data(kind: str, told: Mapping[str, str | None]) -> Iterator[str]:
    for key, text in told.items():
        if text is not None:
            yield f'<data key="{kind}_{key}">{escaped(printable(text))}</data>'


def _number(value: Brief | None) -> str | None:
    if value is None or isinstance(value, Extent | Entries):
        return None
    return inline(value)
