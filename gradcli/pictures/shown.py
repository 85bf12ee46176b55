"""The graph below a tensor as a picture, in a notebook and in files.

import gradcli

picture = gradcli.graph(loss)       # shows itself in a notebook
picture.save("g.html")
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from html import escape
from os import PathLike, fspath
from pathlib import PurePath
from typing import Final

from ..answers.briefly import briefly
from ..answers.explanation import rehearse
from ..answers.graph import dot, mermaid
from ..answers.graph_view import GraphView, graph_view
from ..answers.jsons import as_json
from ..answers.line import Line
from ..answers.names import NameCollector
from ..answers.picture import Picture, picture_of, values
from ..answers.textbook_rules import Rules
from ..answers.theme import Theme
from ..engine import Tensor
from ..engine.absent import naming
from ..engine.errors import EngineError, GradError
from ..lang.filesystem import replacing

ENDINGS: Final = (
    ".svg", ".html", ".png", ".dot", ".gv", ".mmd", ".graphml", ".json"
)  # fmt: skip
"""Suffixes of the files that a picture can be written to."""

MAX_BOXES: Final = 5000
"""Largest number of boxes of a picture."""

FREED: Final = (
    "the graph was freed by a backward pass: take its picture before, or call "
    "backward(retain_graph=True)"
)


class ShownGraph:
    """A graph that shows itself in a notebook; `graph` makes it."""

    def __init__(self, view: GraphView, picture: Picture) -> None:
        self.view = view
        self.picture = picture

    def __repr__(self) -> str:
        count = len(self.picture.nodes)
        nodes = "1 node" if count == 1 else f"{count:,} nodes"
        return f"<graph of {self.view.name}: {nodes}>"

    def svg(self, heat: bool = False, theme: Theme = "auto") -> str:
        """Return the picture as SVG.

        Args:
            heat: colour each node by the size of its gradient.
            theme: "auto", as the reader's screen is, "light", "dark", or "none" for
                greys.

        Raises:
            ValueError: the graph is too large to be drawn.
        """
        from .svg import svg, whole

        self._refuse_crowd()
        return whole(svg(self.picture, heat, theme))

    def html(self, theme: Theme = "auto") -> str:
        """Return a page to click through that loads nothing; raise what `svg` does."""
        from .page import page
        from .svg import whole

        self._refuse_crowd()
        return whole(page(self.picture, theme))

    def save(
        self, path: str | PathLike[str], heat: bool = False, theme: Theme = "auto"
    ) -> None:
        """Write a file in the format of the name's suffix.

        Args:
            path: ends with .svg, .html, .png, .dot, .gv, .mmd, .graphml or .json.
            heat: colour each node of an .svg or a .png by the size of its gradient.
            theme: the colours of an .svg, a .png or an .html.

        Raises:
            ValueError: the name ends with none of these.
            OSError: the file cannot be written.
        """
        content = self.content(PurePath(path).suffix.lower(), heat, theme)
        with replacing(fspath(path)) as file:
            file.write(content)

    def content(
        self,
        suffix: str,
        heat: bool = False,
        theme: Theme = "auto",
        tell: Callable[[str], object] = lambda text: None,
    ) -> bytes:
        """Return the content of a file with this suffix; raise what `save` does.

        Args:
            tell: called with a sentence on what the file lacks.
        """
        texts = {".dot": dot, ".gv": dot, ".mmd": mermaid, ".json": as_json}
        if suffix in texts:
            lines: list[Line] = list(texts[suffix](self.view))
            return "".join(line.text + "\n" for line in lines).encode()
        if suffix == ".graphml":
            from .svg import graphml, whole

            return whole(graphml(self.picture)).encode()
        if suffix == ".html":
            return self.html(theme).encode()
        if suffix not in ENDINGS:
            known = ", ".join(ENDINGS)
            raise ValueError(f"a picture's name ends with {known}, not {suffix!r}")
        document = self.svg(heat, theme)
        if suffix == ".svg":
            return document.encode()
        from .pixels import to_png

        return to_png(document, tell)

    def _refuse_crowd(self) -> None:
        folded = sum(len(fold.nodes) - 1 for fold in self.picture.folds)
        count = len(self.picture.nodes) - folded
        if count > MAX_BOXES:
            raise ValueError(
                f"a picture of {count:,} boxes would be too large to look at; "
                ".dot and .graphml hold any"
            )

    def _repr_svg_(self) -> str | None:
        """Return the picture that a notebook shows; None if it cannot be drawn, and the
        notebook shows the repr."""
        try:
            return self.svg()
        except ValueError:
            return None

    def _repr_html_(self) -> str | None:
        """Return the picture for a notebook's cell as an image, whose style and names
        cannot collide with those of the page."""
        found = self._repr_svg_()
        if found is None:
            return None
        coded = base64.b64encode(found.encode()).decode()
        said = f"graph of {escape(self.view.name, quote=True)}"
        return f'<img alt="{said}" src="data:image/svg+xml;base64,{coded}">'


@naming
def graph(
    output: Tensor,
    names: Mapping[str, Tensor] | None = None,
    *,
    grad_output: Tensor | None = None,
    fold: bool = True,
) -> ShownGraph:
    """Return the autograd graph below a tensor, as a picture with values and gradients.

    Nothing is changed: no leaf's ``grad`` is added to and nothing is freed. Hooks that
    the graph has are called, as in any backward pass.

    Args:
        output: the tensor that the graph belongs to.
        names: names for leaves and for values in between.
        grad_output: the cotangent of an output of several numbers; without one no
            gradients are shown there.
        fold: whether equal parts one behind another are drawn once.

    Returns:
        A picture that shows itself in a notebook; `ShownGraph.save` writes it.

    Raises:
        TypeError: ``output`` is no tensor.
        GradError: a backward pass has freed the graph.
    """
    if not isinstance(output, Tensor):
        raise TypeError(f"graph() takes a tensor, not {type(output).__name__}")
    called = dict(names or {})
    own = next((n for n, t in called.items() if t is output), "output")
    try:
        view = graph_view(output, source="", name=own, variables=called)
    except GradError as error:
        raise GradError(FREED) from error
    known = NameCollector()
    known.settle((), called, frozenset())
    made = values(output, {}) if view.nodes else {}
    picture = picture_of(output, view, made, Rules(known, view), fold)
    return ShownGraph(view, _passed(output, grad_output, known, view, picture))


def _passed(
    output: Tensor,
    grad_output: Tensor | None,
    names: NameCollector,
    view: GraphView,
    picture: Picture,
) -> Picture:
    """Return the picture with its gradients, if a backward pass can be made."""
    if view.root is None or (grad_output is None and output.numel() != 1):
        return picture
    start = grad_output
    if start is None:
        start = Tensor(output.xp.ones_like(output.raw), output.xp)
    try:
        return picture.after(rehearse(output, start, names, view, briefly), {})
    except EngineError:
        return picture
