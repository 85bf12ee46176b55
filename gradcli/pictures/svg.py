"""A scene as SVG: boxes with values on the left and gradients on the right, lines with
local gradients, and colours for light and dark screens and for paper.

Invariant: the picture is a complete XML document that refers to nothing outside itself.

    "\\n".join(svg(picture))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from math import isfinite, log, sqrt
from typing import Final

from ..answers.html import program_title, sheet
from ..answers.line import Theme
from ..lang.excerpt import printable
from .layers import LABEL_HEIGHT, Connector, PicturePoint, Placed, place
from .picture import Picture
from .scene import PADDING, ROW, Link, Scene, SceneBox, label_width, scene_of

MARGIN: Final = 24.0
NOTE: Final = 22.0
"""Height of a line of the legend, in units of the picture."""

TIP: Final = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="{0}" '
    'markerHeight="{0}" markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="tip" d="M0 0.8 8 4 0 7.2z"/></marker></defs>'
)
"""Definition of the tip of a line, of a size in units of the picture."""

HEATED: Final = "colour: the largest gradient at the node"

MIN_LEGEND: Final = 470.0
"""Smallest width of the legend, in units of the picture."""

SWATCH: Final = 28.0
BETWEEN: Final = 16.0
"""Width of a shade in the legend, and distance from the bar of shades to a colour
beside it, in units of the picture."""

HEAT: Final = 9 * SWATCH + 2 * BETWEEN
"""Largest width of a legend's shades, in units of the picture."""

SHADES: Final = 7
"""Number of shades from the smallest gradient of a picture to its largest one."""

NOTHING: Final = "none"
STRANGE: Final = "nan"
"""Names of the shades of a gradient that is 0 and of one that is not finite."""

COLD: Final = (128, 178, 250), (24, 78, 170), (255, 255, 255)
HOT: Final = (250, 140, 120), (160, 44, 32), (150, 150, 150)
NEUTRAL: Final = (250, 250, 250), (38, 43, 51), (215, 215, 215)
OTHER: Final = {
    NOTHING: ("#d9dde3", "#4b535e", "#ffffff"),
    STRANGE: ("#e7a1ee", "#86308f", "#8c8c8c"),
}
"""Colours of a picture's smallest gradient, its largest, those half way between, by
their logarithms, and other ones: on a light ground, on a dark one and without hues,
where the larger gradient is the darker one."""


class Heat:
    """Shades for the sizes of a picture's gradients, from the smallest to the largest.

    low, high  their sizes
    used       the names of the shades that occur
    """

    def __init__(self, boxes: Iterable[SceneBox]) -> None:
        sizes = {box.size for box in boxes if box.size is not None}
        known = [size for size in sizes if size and isfinite(size)]
        self.low, self.high = min(known, default=0.0), max(known, default=0.0)
        self.used = set(map(self.shade, sizes))

    def shade(self, size: float) -> str:
        """Return the name of the shade of a gradient's size."""
        if not isfinite(size):
            return STRANGE
        if not size:
            return NOTHING
        low, high = log(self.low), log(self.high)
        share = (log(size) - low) / (high - low) if low < high else 0.5
        return str(round(share * (SHADES - 1)))


def svg(picture: Picture, heated: bool = False, theme: Theme = "auto") -> Iterator[str]:
    """Yield the lines of a document, its boxes coloured by the size of their gradients
    if ``heated``."""
    scene = scene_of(picture)
    placed = place_scene(scene)
    heat = Heat(scene.boxes) if heated else None
    width = max(placed.width, MIN_LEGEND) + 2 * MARGIN
    below = MARGIN + placed.height + MARGIN
    height = below + NOTE * (len(scene.legend) + 3 * heated) + MARGIN / 2
    styles = style(theme, heat)
    title = f"Graph of {program_title(picture.program) or picture.name}"
    kind = heated * ' class="heated"'
    yield from opened(width, height, title, styles, kind, TIP.format(9))
    left = (width - placed.width) / 2
    yield f'<g transform="translate({left:.1f} {MARGIN:.1f})">'
    yield from drawn(scene, placed, heat)
    yield "</g>"
    y = below + NOTE / 2
    for text in (*scene.legend, *[HEATED] * heated):
        yield f'<text class="note" x="{MARGIN}" y="{y:.1f}">{escaped(text)}</text>'
        y += NOTE
    if heat is not None:
        yield from swatches(heat, MARGIN, y - NOTE / 2)
    yield "</svg>"


SHRINKS = "max-width:100%;height:auto"
"""Style of a picture in a column that may be narrower."""


def opened(
    width: float,
    height: float,
    title: str,
    styles: str,
    kind: str = "",
    defined: str = "",
) -> Iterator[str]:
    """Yield the beginning of a document: its name, its style sheet, what it defines,
    and its ground. In a column that is narrower than the picture, it shrinks."""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-labelledby="name" style="{SHRINKS}"{kind}>'
    )
    yield f'<title id="name">{escaped(title)}</title>'
    yield f"<style>{styles}</style>"
    if defined:
        yield defined
    yield '<rect class="paper" width="100%" height="100%"/>'


def place_scene(scene: Scene) -> Placed:
    """Return places for the boxes of a scene."""
    sizes = [(box.width, box.height) for box in scene.boxes]
    hints = [label_width(link.hint(scene.boxes)) for link in scene.links]
    links = zip(scene.links, hints, strict=True)
    return place(sizes, [Connector(e.start, e.end, e.width, hint) for e, hint in links])


def style(theme: Theme, heat: Heat | None, printed: bool = False) -> str:
    """Return the style sheet of a graph; `sheet` explains ``printed``."""
    names = [] if heat is None else [*map(str, range(SHADES)), *OTHER]
    shades = [
        "".join(f".heated .h{n} .box{{fill:{colour_of(n, nr)}}}" for n in names)
        for nr in range(len(HOT))
    ]
    return sheet("graph", theme, shades, printed=printed)


def colour_of(shade: str, ground: int) -> str:
    """Return the fill colour of a shade on a light ground, on a dark one or without
    hues."""
    if shade in OTHER:
        return OTHER[shade][ground]
    share = 2 * int(shade) / (SHADES - 1) - 1
    end = (COLD if share < 0 else HOT)[ground]
    parts = zip(NEUTRAL[ground], end, strict=True)
    mixed = [round(a + (b - a) * abs(share)) for a, b in parts]
    return "#" + "".join(f"{part:02x}" for part in mixed)


def drawn(
    scene: Scene,
    placed: Placed,
    heat: Heat | None,
    live: bool = False,
    prefix: str = "",
) -> Iterator[str]:
    """Yield the lines, their labels and the boxes, in this order. A reader of the page
    can select boxes that are ``live``; ``prefix`` begins every name, so that names
    differ in one document."""
    for nr, (link, points) in enumerate(zip(scene.links, placed.bends, strict=True)):
        yield from _line(link, points, placed.labels[nr], f"{prefix}e{nr}", scene, live)
    for nr, (box, middle) in enumerate(zip(scene.boxes, placed.boxes, strict=True)):
        yield from _box(box, middle, heat, live, f"{prefix}b{nr}")


def _line(
    link: Link,
    points: Sequence[PicturePoint],
    label: PicturePoint,
    name: str,
    scene: Scene,
    live: bool,
) -> Iterator[str]:
    hinted = len(points) == 3
    yield f'<g class="edge" id="{name}">'
    said = f"to {scene.boxes[link.end].title}" + (f": {link.rule}" * bool(link.rule))
    if not live:
        yield f"<title>{escaped(said)}</title>"
    tip = "" if hinted else ' marker-end="url(#tip)"'
    dashed = ' stroke-dasharray="3 3"' if hinted else ""
    yield f'<path class="line" d="{path(points)}"{tip}{dashed}/>'
    text = link.hint(scene.boxes) if hinted else link.label
    if text:
        x, y = label
        width = label_width(text)
        left, top = x - width / 2, y - LABEL_HEIGHT / 2
        yield (
            f'<rect class="back" x="{left:.1f}" y="{top:.1f}" '
            f'width="{width:.1f}" height="{LABEL_HEIGHT}"/>'
        )
        yield text_at(x, y + 4, "middle", text, "label")
    yield "</g>"


def path(points: Sequence[PicturePoint]) -> str:
    """Return an SVG path that is vertical where it leaves or enters a layer."""
    (x, y), *others = points
    drawn = [f"M{x:.1f} {y:.1f}"]
    for nr, (to_x, to_y) in enumerate(others):
        if nr % 2 or abs(to_x - x) < 0.1:
            drawn.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            half = (y + to_y) / 2
            curve = f"{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
            drawn.append(f"C{curve}")
        x, y = to_x, to_y
    return "".join(drawn)


def _box(
    box: SceneBox, middle: PicturePoint, heat: Heat | None, live: bool, name: str
) -> Iterator[str]:
    kinds = ["node", *["leaf"] * box.leaf, *["fold"] * (box.fold is not None)]
    if heat is not None and box.size is not None:
        kinds.append(f"h{heat.shade(box.size)}")
    left, top = middle.x - box.width / 2, middle.y - box.height / 2
    right = left + box.width - PADDING
    round_ = box.height / 2 if box.leaf else 7.0
    role = f' role="button" tabindex="-1" aria-label={attribute(described(box))}'
    role += ' aria-expanded="false"' * (box.fold is not None)
    yield f'<g class="{" ".join(kinds)}" id="{name}"{role * live}>'
    if not live:
        yield f"<title>{escaped(described(box))}</title>"
    yield (
        f'<rect class="box" x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{round_:.1f}"/>'
    )
    title = f"{box.title} {box.shape}".rstrip()
    y = top + PADDING / 2 + ROW - 4
    yield text_at(middle.x, y, "middle", title, "title")
    if box.text:
        y += ROW
        yield text_at(middle.x, y, "middle", box.text, "text")
    y += ROW
    if box.value:
        yield text_at(left + PADDING, y, "start", box.value, "value")
    if box.gradient:
        yield text_at(right, y, "end", box.gradient, "grad")
    yield "</g>"


def text_at(x: float, y: float, anchor: str, text: str, kind: str = "") -> str:
    """Return a text that starts, ends or has its middle at a point; ``kind`` is its CSS
    class."""
    own = f' class="{kind}"' if kind else ""
    return (
        f'<text{own} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escaped(text)}</text>"
    )


def described(box: SceneBox) -> str:
    """Return a box in words."""
    said = [f"{box.title} {box.shape}".rstrip(), box.text, box.value, box.gradient]
    return ", ".join(filter(None, said))


def swatches(heat: Heat, left: float, top: float) -> Iterator[str]:
    """Yield the shades, rising, with the sizes of the first, the middle and the last of
    them below."""
    ends = {"0": heat.low, str(SHADES - 1): heat.high} if heat.low < heat.high else {}
    sizes = ends | {str(SHADES // 2): sqrt(heat.low) * sqrt(heat.high)}
    said = {name: f"{size:.3g}" for name, size in sizes.items()}
    said |= {NOTHING: "0", STRANGE: "inf, nan"}
    x = left
    for name in (NOTHING, *map(str, range(SHADES)), STRANGE):
        if name in OTHER and name not in heat.used:
            continue
        x += BETWEEN * (name == STRANGE)
        yield (
            f'<g class="h{name}"><rect class="box" x="{x:.1f}" y="{top:.1f}" '
            f'width="{SWATCH}" height="{NOTE - 4}"/></g>'
        )
        if name in said:
            middle = x + SWATCH / 2
            yield text_at(middle, top + NOTE + 8, "middle", said[name], "note")
        x += SWATCH + BETWEEN * (name == NOTHING)


def escaped(text: str) -> str:
    """Return the user's text escaped for the content of an element."""
    return escape(printable(text), quote=False)


def attribute(text: str) -> str:
    """Return the user's text as a quoted attribute."""
    return f'"{escape(printable(text))}"'


def whole(lines: Iterable[str]) -> str:
    """Return the lines as one text."""
    return "".join(f"{line}\n" for line in lines)
