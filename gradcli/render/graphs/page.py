"""A picture as an interactive page: one file, which loads nothing.

The script reads its data from JSON in the page and inserts text of the user only as
text. A policy in the page allows the script and the style sheet by their hashes, and
nothing else.

    "\\n".join(page(picture))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from ...answers.explanation import StepView
from ...answers.picture import Picture, PictureNode
from ...lang.excerpt import printable
from ...views.briefly import Brief
from ..html import begun
from ..jsons import dumps
from ..labels import leaf_name, shape_text, source_text
from ..numbers import inline
from ..theme import Theme, sheet_for
from . import heat
from .layers import Placed, Point
from .scene import Box, Edge, Scene, brief, inside, scene_of
from .svg import (
    NOTE,
    SWATCH,
    TIP,
    drawn,
    escaped,
    place_scene,
    style,
    swatches,
    whole,
)

INSET: Final = 18.0
"""Distance between an open fold's frame and what is inside, in units of the picture."""

HANDLE: Final = 26.0
"""Height of the handle that closes an open fold, in units of the picture."""

MAX_WHOLE_CHARACTERS: Final = 600
"""Largest length of an array that the page writes out, in characters."""


def page(picture: Picture, theme: Theme = "auto") -> Iterator[str]:
    """Yield the lines of a page.

    Args:
        picture: the picture to draw.
        theme: the colours; a dark theme is printed light.

    Raises:
        ImportError: igraph is missing.
    """
    scene = scene_of(picture)
    placed = place_scene(scene)
    insides = [inside(picture, fold) for fold in picture.folds]
    rooms = [place_scene(each) for each in insides]
    boxes = [box for each in (scene, *insides) for box in each.boxes]
    used = {box.decade for box in boxes if box.decade}
    script = file("page.js")
    light, dark, grey = map(file, ("page.css", "page-dark.css", "page-grey.css"))
    styles = style(sorted(used), theme, True)
    styles += sheet_for(theme, light, dark, grey, printed=True)
    title = escaped(picture.program.strip().split("\n")[-1] or picture.name)
    yield from begun(f"Graph of {title}", styles, script)
    shown = list(drawn(scene, placed, heated=True, live=True))
    for nr, (each, room) in enumerate(zip(insides, rooms, strict=True)):
        shown += _open_fold(nr, each, room, picture.folds[nr].count)
    body = file("page.html").format(
        title=title,
        steps=len(picture.steps),
        tip=TIP,
        picture=whole(shown),
        legend=whole(_legend(heat.listed(used))),
        data=embedded(_data(picture, scene, placed, insides, rooms)),
        script=script,
    )
    yield body.rstrip("\n")


def file(name: str) -> str:
    """Return the text of a file of this folder."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def embedded(data: object) -> str:
    """Return data as JSON that cannot end the element it stands in."""
    text = dumps(data)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _open_fold(nr: int, scene: Scene, room: Placed, count: int) -> Iterator[str]:
    width, height = _size(room)
    yield f'<g class="off" id="f{nr}">'
    yield f'<rect class="frame" width="{width:.1f}" height="{height:.1f}" rx="9"/>'
    yield (
        f'<g class="shut" role="button" tabindex="0" data-fold="{nr}" '
        f'aria-label="Fold {count} parts again">'
        f'<rect width="{min(width, 150.0):.1f}" height="{HANDLE}" rx="9"/>'
        f'<text x="12" y="{HANDLE - 8:.1f}">×{count:,} fold up</text></g>'
    )
    yield f'<g transform="translate({INSET} {INSET + HANDLE})">'
    yield from drawn(scene, room, heated=True, live=True, prefix=f"f{nr}-")
    yield "</g></g>"


def _size(room: Placed) -> tuple[float, float]:
    """Return the width and the height of an open fold."""
    return room.width + 2 * INSET, room.height + 2 * INSET + HANDLE


def _legend(decades: Sequence[str]) -> Iterator[str]:
    width = SWATCH * max(1, len(decades)) + 4
    yield '<div id="legend" hidden><span class="quiet">the largest gradient at a node'
    yield (
        f'</span><svg class="heated" width="{width:.0f}" height="{NOTE:.0f}" '
        'role="img" aria-label="Colours by decade">'
    )
    yield from swatches(decades, 2.0, 2.0)
    yield "</svg></div>"


def _data(
    picture: Picture,
    scene: Scene,
    placed: Placed,
    insides: Sequence[Scene],
    rooms: Sequence[Placed],
) -> Mapping[str, object]:
    """Return the data that the page's script works with."""
    box_of = {n: at for at, box in enumerate(scene.boxes) for n in box.nodes}
    inner = {
        n: at
        for fold in picture.folds
        for at, n in enumerate(fold.nodes)
    }  # fmt: skip
    fold_of = {n: nr for nr, fold in enumerate(picture.folds) for n in fold.nodes}
    return {
        "program": printable_lines(picture.program),
        "width": placed.width,
        "height": placed.height,
        "nodes": [
            _node(n, box_of[n.node.id], inner.get(n.node.id), fold_of.get(n.node.id))
            for n in picture.nodes
        ],
        "boxes": [
            _box(box, at) for box, at in zip(scene.boxes, placed.boxes, strict=True)
        ],
        "links": [
            {
                "points": [_point(p) for p in points],
                "label": _point(label),
                "edges": _edges(link.edges),
            }
            for link, points, label in zip(
                scene.links, placed.bends, placed.labels, strict=True
            )
        ],
        "folds": [
            {
                "width": _size(room)[0],
                "height": _size(room)[1],
                "links": [_edges(link.edges) for link in each.links],
            }
            for each, room in zip(insides, rooms, strict=True)
        ],
        "steps": [_step(step) for step in picture.steps],
    }


def printable_lines(text: str) -> str:
    """Return text of several lines with each control character replaced by one sign."""
    return "".join(
        letter
        if letter == "\n" or letter.isprintable()
        else "\N{REPLACEMENT CHARACTER}"
        for letter in text
    )


def _point(point: Point) -> list[float]:
    return [round(point.x, 1), round(point.y, 1)]


def _edges(edges: Iterable[Edge]) -> list[list[int]]:
    return [[edge.node, edge.nr, edge.to] for edge in edges]


def _box(box: Box, middle: Point) -> dict[str, tuple[int, ...] | float | int | None]:
    x, y = _point(middle)
    size = {"w": round(box.width, 1), "h": round(box.height, 1)}
    return {"x": x, "y": y, **size, "fold": box.fold, "nodes": box.nodes}


def _node(
    node: PictureNode, box: int, inner: int | None, fold: int | None
) -> Mapping[str, object]:
    view = node.node
    title = leaf_name(view) if view.is_leaf else view.name
    return {
        "id": view.id,
        "name": view.name,
        "title": title,
        "text": "" if view.is_leaf else source_text(view),
        "line": view.line,
        "column": view.column,
        "span": view.span,
        "shape": shape_text(view.shape),
        "value": _whole(node.value),
        "gradient": _whole(node.gradient),
        "formula": node.formula,
        "verdict": node.verdict,
        "box": box,
        "inner": inner,
        "fold": fold,
        "edges": [
            [nr, child, _whole(local), rule and printable(rule), output]
            for nr, ((child, output), local, rule) in enumerate(
                zip(view.next_functions, view.local_gradients, node.rules, strict=True)
            )
            if child is not None
        ],
    }


def _whole(value: Brief | None) -> str | None:
    """Return a number with all its digits; of a large array its range."""
    if value is None:
        return None
    if isinstance(value, float | int):
        return inline(value)
    if isinstance(value, list):
        text = inline(value)
        if len(text) <= MAX_WHOLE_CHARACTERS:
            return text
    return brief(value)


def _step(step: StepView) -> Mapping[str, object]:
    """Return the data of one step: the gradient that arrives at a node, and each edge's
    share of it."""
    sends = [
        [send.edge, send.id, brief(send.gradient), brief(send.total)]
        for send in step.sends
    ]
    arrived = [g for g in step.incoming if g is not None]
    return {
        "id": step.id,
        "incoming": ", ".join(map(brief, arrived)),
        "sends": sends,
    }
