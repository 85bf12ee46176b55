"""A picture as boxes with texts and lines with labels; each fold is one box.

Invariant: every node of the picture belongs to one box, and every edge except those
inside a fold to one line; a box is as large as its texts.

    scene = scene_of(picture)
    scene.boxes[0].text, scene.lines[0].label       # ("L = 10 - d", "-1")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..answers.graph import edge_text, leaf_name, shape_text, shorten, source_text
from ..answers.html import squeezed
from ..answers.numbers import (
    ELLIPSIS,
    Brief,
    Extent,
    LargeArray,
    briefly,
    extent,
    inline,
    magnitude,
    six_digits,
)
from ..answers.textbook_rules import COTANGENT, letters
from ..lang.excerpt import printable
from .folds import Fold
from .picture import Picture, PictureNode

CHARACTER: Final = 7.25
"""Width of a character, in units of the picture."""

PADDING: Final = 12.0
MIN_WIDTH: Final = 92.0
BETWEEN: Final = 3
"""Number of characters between value and gradient."""

MAX_TEXT: Final = 34
"""Largest length of a text, of a number, of a line's label and of the name where it
leads."""
MAX_NUMBER: Final = 20
MAX_LABEL: Final = 34
MAX_HINT: Final = 16

ROW: Final = 16.0
"""Height of a line of text, in units of the picture; a box has two or three."""

TIMES: Final = "×"


@dataclass(frozen=True, slots=True)
class SceneBox:
    """One box of a picture: the nodes it stands for, and its texts.

    nodes     the ids of the nodes that it stands for
    fold      the number of the fold, if it is one
    title     the operation, or the input's name
    text      the program's text of the value; may be empty
    value     the value, at the lower left
    gradient  the gradient that arrives, at the lower right
    size      the size of the gradient's largest entry
    shape     the value's shape
    leaf      whether it is an input
    """

    nodes: tuple[int, ...]
    fold: int | None
    title: str
    text: str
    value: str
    gradient: str
    size: float | None
    shape: str
    leaf: bool

    @property
    def rows(self) -> int:
        return 2 + bool(self.text)

    @property
    def width(self) -> float:
        title = f"{self.title} {self.shape}".rstrip()
        below = len(self.value) + BETWEEN + len(self.gradient)
        columns = max(_cells(title), _cells(self.text), below)
        return max(MIN_WIDTH, columns * CHARACTER) + 2 * PADDING

    @property
    def height(self) -> float:
        return self.rows * ROW + PADDING


class SceneEdge(NamedTuple):
    """An edge of a node: its number there, and the node that it leads to."""

    node: int
    nr: int
    to: int


@dataclass(frozen=True, slots=True)
class Link:
    """A line from one box to another, for one edge or, at a fold, for several."""

    start: int
    end: int
    label: str
    rule: str
    edges: tuple[SceneEdge, ...]

    @property
    def worded(self) -> bool:
        """Whether the label is the rule."""
        return bool(self.rule) and self.label.startswith(_short(self.rule))

    @property
    def width(self) -> float:
        return label_width(self.label)

    def hint(self, boxes: Sequence[SceneBox]) -> str:
        """Return the label of a line that is cut off, which says where it leads."""
        end = boxes[self.end]
        where = end.title if end.leaf or not end.text else end.text
        where, _, _ = where.partition(" = ")
        return f"{self.label} ↓ {shorten(where, MAX_HINT)}".lstrip()


@dataclass(frozen=True, slots=True)
class Scene:
    """Boxes and links to be drawn; ``legend`` explains the signs."""

    boxes: tuple[SceneBox, ...]
    links: tuple[Link, ...]
    legend: tuple[str, ...]


def scene_of(picture: Picture) -> Scene:
    """Return the whole picture, its folds closed."""
    owner: dict[int, int] = {}
    boxes: list[SceneBox] = []
    folded = {n: nr for nr, fold in enumerate(picture.folds) for n in fold.nodes}
    for node in picture.nodes:
        id_ = node.node.id
        if id_ in owner:
            continue
        nr = folded.get(id_)
        box = _box(node) if nr is None else _fold_box(picture, nr)
        owner |= dict.fromkeys(box.nodes, len(boxes))
        boxes.append(box)
    links = tuple(_links(picture.nodes, owner, boxes))
    return Scene(tuple(boxes), links, tuple(_legend(picture, links)))


def inside(picture: Picture, fold: Fold) -> Scene:
    """Return the inside of a fold: its nodes and the edges among them."""
    nodes = [picture.nodes[n] for n in fold.nodes]
    owner = {node.node.id: at for at, node in enumerate(nodes)}
    boxes = [_box(node) for node in nodes]
    return Scene(tuple(boxes), tuple(_links(nodes, owner, boxes)), ())


def _legend(picture: Picture, links: Iterable[Link]) -> Iterator[str]:
    if not picture.nodes:
        yield "no graph: the output needs no gradient"
        return
    if any(node.value is not None for node in picture.nodes):
        yield "Each box shows the value (green) and the gradient (red)."
    yield "Each arrow shows the local derivative or, for vectors and matrices, the"
    yield "rule that turns the incoming gradient g into the outgoing one."
    meanings = letters({link.rule for link in links if link.worded}, picture.taken)
    meanings.pop(COTANGENT, None)
    if meanings:
        yield " · ".join(f"{letter}: {meant}" for letter, meant in meanings.items())
    if picture.folds:
        yield f"thick frame, {TIMES}: equal parts drawn once; → from end to end"


def _box(node: PictureNode) -> SceneBox:
    view = node.node
    name = leaf_name(view) if view.is_leaf else view.name
    return SceneBox(
        nodes=(view.id,),
        fold=None,
        title=squeezed(name, MAX_TEXT),
        text="" if view.is_leaf else squeezed(source_text(view), MAX_TEXT),
        value=_value_text("= ", node.value),
        gradient=_value_text("grad ", node.gradient),
        size=magnitude(node.gradient),
        shape=shape_text(view.shape),
        leaf=view.is_leaf,
    )


def _fold_box(picture: Picture, nr: int) -> SceneBox:
    """Return a box for equal parts: the last one's text, the first and the last value,
    and the gradient where it arrives and where it leaves."""
    fold = picture.folds[nr]
    place = _exit(picture, fold)
    first = picture.nodes[fold.parts[0][place]]
    last = picture.nodes[fold.parts[-1][place]]
    return replace(
        _box(last),
        nodes=fold.nodes,
        fold=nr,
        title=f"{TIMES}{fold.count:,} {shorten(last.node.name, MAX_TEXT)}",
        value=_value_text("= ", first.value, last.value),
        gradient=_value_text("grad ", last.gradient, first.gradient),
        size=magnitude(first.gradient),
    )


def _exit(picture: Picture, fold: Fold) -> int:
    """Return the place in a part of the node whose value is used outside the fold."""
    places = {n: at for at, n in enumerate(fold.parts[-1])}
    inner = set(fold.nodes)
    if picture.root in places:
        return places[picture.root]
    for node in picture.nodes:
        if node.node.id not in inner:
            for child, _ in node.node.next_functions:
                if child in places:
                    return places[child]
    return len(places) - 1


def _value_text(before: str, *values: Brief | None) -> str:
    """Return a value behind a text, or two that differ with an arrow between them."""
    texts = dict.fromkeys(brief(each) for each in values if each is not None)
    return before + " → ".join(texts) if texts else ""


def brief(value: Brief) -> str:
    """Return a number with six digits, a small array, or a larger one's range."""
    if isinstance(value, LargeArray):
        value = briefly(value.raw)
    if isinstance(value, Extent):
        return _range(value)
    if not isinstance(value, list):
        return _digits(value)
    text = inline(value, _digits)
    return text if len(text) <= MAX_NUMBER else _range(extent(value))


def _digits(value: float) -> str:
    """Return a number with six digits, a zero without a sign."""
    return six_digits(value + 0.0)


def _range(value: Extent) -> str:
    """Return the smallest and the largest entry with three digits; equal ones once."""
    if value.low == value.high and not value.nan:
        return f"each {_digits(value.low)}"
    known = f"{value.low + 0.0:.3g} {ELLIPSIS} {value.high + 0.0:.3g}"
    parts = [known] * (value.low <= value.high) + ["nan"] * value.nan
    return ", ".join(parts) or "[]"


def _links(
    nodes: Iterable[PictureNode], owner: Mapping[int, int], boxes: Sequence[SceneBox]
) -> Iterable[Link]:
    """Yield a link per edge; those of a fold are joined if they lead to the same
    box."""
    joined: dict[tuple[int, int], list[Link]] = {}
    for node in nodes:
        start = owner[node.node.id]
        for nr, (child, output) in enumerate(node.node.next_functions):
            if child is None or owner.get(child, start) == start:
                continue
            end, edge = owner[child], SceneEdge(node.node.id, nr, child)
            label, rule = _label(node, nr, output), node.rules[nr] or ""
            link = Link(start, end, label, rule, (edge,))
            if boxes[start].fold is None and boxes[end].fold is None:
                yield link
            else:
                joined.setdefault((start, end), []).append(link)
    for first, *others in joined.values():
        if others:
            edges = (*first.edges, *(edge for each in others for edge in each.edges))
            first = replace(first, label=f"{TIMES}{len(edges):,}", edges=edges)
        yield first


def _label(node: PictureNode, nr: int, output: int) -> str:
    """Return what an edge shows, shortened, and the number of a later output."""
    local = node.node.local_gradients[nr]
    text = edge_text(local, lambda: node.rules[nr], _digits)
    return shorten(text, MAX_LABEL) + (f" #{output}" if output else "")


def _short(rule: str) -> str:
    return shorten(printable(rule), MAX_LABEL)


def label_width(label: str) -> float:
    """Return the width of a line's label, in units of the picture."""
    return _cells(label) * CHARACTER + 8 if label else 0.0


def _cells(text: str) -> int:
    """Return the number of columns of a text; East Asian letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text.replace(ELLIPSIS, "."))
