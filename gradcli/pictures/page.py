"""A picture as an interactive page: one file, which loads nothing.

The script reads its data from JSON in the page and inserts text of the user only as
text. A policy in the page allows the script and the style sheet by their hashes, and
nothing else.

    "\\n".join(page(picture))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from ..answers.graph import leaf_name, shape_text, source_text
from ..answers.html import begun, program_title, sheet, text
from ..answers.jsons import dumps
from ..answers.line import Layout, Theme
from ..answers.numbers import Brief, draw, inline
from ..lang.excerpt import printable
from .layers import PicturePoint, Placed
from .picture import Picture, PictureNode
from .scene import Scene, brief, inside, scene_of
from .svg import (
    HEAT,
    HEATED,
    NOTE,
    TIP,
    Heat,
    drawn,
    place_scene,
    style,
    swatches,
    whole,
)

INSET: Final = 18.0
"""Distance between an open fold's frame and what is inside, in units of the picture."""

HANDLE: Final = 26.0
"""Height of the handle that closes an open fold, in units of the picture."""

PANEL: Final = 40
"""Width of the page's panel, in characters."""

MAX_WHOLE_CHARACTERS: Final = 600
"""Largest length of an array that the page writes out, in characters."""


def page(picture: Picture, theme: Theme = "auto") -> Iterator[str]:
    """Yield the lines of a page, a dark one printed light."""
    scene = scene_of(picture)
    placed = place_scene(scene)
    insides = [inside(picture, fold) for fold in picture.folds]
    rooms = [place_scene(each) for each in insides]
    heat = Heat(box for each in (scene, *insides) for box in each.boxes)
    script = text("page.js")
    styles = style(theme, heat, True) + sheet("page", theme, printed=True)
    title = escape(program_title(picture.program) or printable(picture.name))
    yield from begun(f"Graph of {title}", styles, script)
    shown = list(drawn(scene, placed, heat, live=True))
    for nr, (each, room) in enumerate(zip(insides, rooms, strict=True)):
        shown += _open_fold(nr, each, room, heat, picture.folds[nr].count)
    body = text("page.html").format(
        title=title,
        steps=len(picture.steps),
        tip=TIP.format(9),
        picture=whole(shown),
        legend=whole(_legend(heat)),
        data=embedded(_data(picture, scene, placed, insides, rooms)),
        script=script,
    )
    yield body.rstrip("\n")


def embedded(data: object) -> str:
    """Return data as JSON that cannot end the element it stands in."""
    made = dumps(data)
    for letter in "<>&":
        made = made.replace(letter, f"\\u{ord(letter):04x}")
    return made


def _open_fold(
    nr: int, scene: Scene, room: Placed, heat: Heat, count: int
) -> Iterator[str]:
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
    yield from drawn(scene, room, heat, live=True, prefix=f"f{nr}-")
    yield "</g></g>"


def _size(room: Placed) -> tuple[float, float]:
    """Return the width and the height of an open fold."""
    return room.width + 2 * INSET, room.height + 2 * INSET + HANDLE


def _legend(heat: Heat) -> Iterator[str]:
    yield f'<div id="legend" hidden><span class="quiet">{HEATED}</span>'
    yield (
        f'<svg class="heated" viewBox="-14 0 {HEAT + 28} {2 * NOTE}" '
        f'width="{HEAT + 28}" role="img" aria-label="{HEATED}">'
    )
    yield from swatches(heat, 0.0, 2.0)
    yield "</svg></div>"


def _data(
    picture: Picture,
    scene: Scene,
    placed: Placed,
    insides: Sequence[Scene],
    rooms: Sequence[Placed],
) -> Mapping[str, object]:
    """Return the data that the page's script works with."""
    # Places in the program count letters, so one sign stands for one.
    strange = "\N{REPLACEMENT CHARACTER}"
    letters = (n if n.isprintable() or n == "\n" else strange for n in picture.program)
    program = "".join(letters)
    box_of = {n: at for at, box in enumerate(scene.boxes) for n in box.nodes}
    folds = [(nr, fold.nodes) for nr, fold in enumerate(picture.folds)]
    inner = {n: (at, nr) for nr, nodes in folds for at, n in enumerate(nodes)}
    nodes = []
    for each in picture.nodes:
        n = each.node.id
        at, nr = inner.get(n, (None, None))
        nodes.append(_node(each) | {"box": box_of[n], "inner": at, "fold": nr})
    boxes = []
    for box, middle in zip(scene.boxes, placed.boxes, strict=True):
        (x, y), (w, h) = _point(middle), _point(PicturePoint(box.width, box.height))
        own = {"x": x, "y": y, "w": w, "h": h}
        boxes.append(own | {"fold": box.fold, "nodes": box.nodes})
    lines = zip(scene.links, placed.bends, placed.labels, strict=True)
    links = [
        {"points": [*map(_point, points)], "label": _point(label), "edges": link.edges}
        for link, points, label in lines
    ]
    opened = []
    for each_scene, room in zip(insides, rooms, strict=True):
        width, height = _size(room)
        edges = [link.edges for link in each_scene.links]
        opened.append({"width": width, "height": height, "links": edges})
    steps = []
    for step in picture.steps:
        arrived = [brief(g) for g in step.incoming if g is not None]
        sends = [
            [send.edge, send.id, brief(send.gradient), brief(send.total)]
            for send in step.sends
        ]
        steps.append({"id": step.id, "incoming": ", ".join(arrived), "sends": sends})
    return {
        "program": program,
        "width": placed.width,
        "height": placed.height,
        "nodes": nodes,
        "boxes": boxes,
        "links": links,
        "folds": opened,
        "steps": steps,
    }


def _point(point: PicturePoint) -> list[float]:
    return [round(point.x, 1), round(point.y, 1)]


def _node(node: PictureNode) -> dict[str, Any]:
    view = node.node
    edges = zip(view.next_functions, view.local_gradients, node.rules, strict=True)
    return {
        "id": view.id,
        "name": view.name,
        "title": leaf_name(view) if view.is_leaf else view.name,
        "text": "" if view.is_leaf else source_text(view),
        "line": view.line,
        "column": view.column,
        "span": view.span,
        "shape": shape_text(view.shape),
        "value": _whole(node.value),
        "gradient": _whole(node.gradient),
        "formula": node.formula,
        "verdict": node.verdict,
        "saved": [f"{n} = {printable(text)}" for n, text in (view.saved or {}).items()],
        "edges": [
            [nr, child, _whole(local), rule and printable(rule), output]
            for nr, ((child, output), local, rule) in enumerate(edges)
            if child is not None
        ],
    }


def _whole(value: Brief | None) -> str | None:
    """Return a number with all its digits, an array row by row, of a large one its
    range."""
    if value is None:
        return None
    if isinstance(value, float | int):
        return inline(value)
    if isinstance(value, list) and len(inline(value)) <= MAX_WHOLE_CHARACTERS:
        return "\n".join(draw(value, Layout(PANEL), whole=True))
    return brief(value)
