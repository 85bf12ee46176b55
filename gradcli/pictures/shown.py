"""The graph below a tensor as a picture, in a notebook and in files.

import gradcli

picture = gradcli.graph(loss)       # shows itself in a notebook
picture.save("g.html")
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Mapping
from html import escape
from os import PathLike, fspath
from pathlib import PurePath
from typing import Any, Final

from ..answers.callers import is_pytorchs, named_parameters, outside, variables
from ..answers.explanation import rehearse
from ..answers.graph import dot, mermaid, tree
from ..answers.graph_view import GraphView, NameCollector, NodeView, graph_view
from ..answers.jsons import as_json
from ..answers.line import Layout, Line, Theme
from ..answers.numbers import briefly
from ..answers.pytorch_graph import PyTorchGraph
from ..answers.textbook_rules import RuleRecorder, Rules
from ..engine import Tensor
from ..engine.errors import EngineError, GradError, naming
from ..tables.filesystem import replacing
from .folds import folds
from .picture import Picture, PictureNode, picture_of, values

ENDINGS: Final = (
    ".svg", ".html", ".png", ".dot", ".gv", ".mmd", ".json"
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

    def __str__(self) -> str:
        return self.tree()

    def tree(self) -> str:
        """Return the graph as a tree of text, as ``gradcli graph`` prints it."""
        rule = self.rules()
        lines = [*tree(self.view, Layout(), rule), *rule.legend()]
        return "\n".join(line.text for line in lines)

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
            path: ends with .svg, .html, .png, .dot, .gv, .mmd or .json.
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
        texts = {".dot": dot, ".gv": dot, ".mmd": mermaid}
        lines: list[Line] = []
        if suffix == ".json":
            lines = list(as_json(self.view))
        elif suffix in texts:
            lines = list(texts[suffix](self.view, self._rule))
        if lines:
            return "".join(line.text + "\n" for line in lines).encode()
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

    def rules(self) -> RuleRecorder:
        """Return the rules along the edges, which record what was shown of them."""
        return RuleRecorder(self._rule, lambda: self.picture.taken)

    def _rule(self, node: NodeView, nr: int) -> str | None:
        return self.picture.nodes[node.id].rules[nr]

    def _refuse_crowd(self) -> None:
        folded = sum(len(fold.nodes) - 1 for fold in self.picture.folds)
        count = len(self.picture.nodes) - folded
        if count > MAX_BOXES:
            raise ValueError(
                f"a picture of {count:,} boxes would be too large to look at; "
                ".dot holds any"
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
        fits = "max-width:100%;height:auto"
        return (
            f'<img alt="{said}" style="{fits}" src="data:image/svg+xml;base64,{coded}">'
        )


@naming
def graph(
    output: Any,
    names: Mapping[str, Any] | None = None,
    *,
    grad_output: Any = None,
    fold: bool = True,
) -> ShownGraph:
    """Return the autograd graph below a tensor, as a picture with values and gradients.

    Nothing is changed: no leaf's ``grad`` is added to and nothing is freed. Hooks that
    the graph has are called, as in any backward pass.

    Args:
        output: the tensor that the graph belongs to, gradcli's or PyTorch's own.
        names: names for leaves and for values in between, or a module, whose parameters
            have names. Other tensors are called as the caller's variables are.
        grad_output: the cotangent of an output of several numbers; without one no
            gradients are shown there.
        fold: whether equal parts one behind another are drawn once.

    Returns:
        A picture that shows itself in a notebook; `ShownGraph.save` writes it.

    Raises:
        TypeError: ``output`` is no tensor.
        GradError: a backward pass has freed the graph.
    """
    foreign = is_pytorchs(output)
    if not foreign and not isinstance(output, Tensor):
        raise TypeError(f"graph() takes a tensor, not {type(output).__name__}")
    given = dict(named_parameters(names)) or dict(names or {})
    known = given | {
        name: tensor
        for name, tensor in variables(outside(sys._getframe(1))).items()
        if name not in given and is_pytorchs(tensor) == foreign
    }
    if foreign:
        return graph_of_pytorch(output, known, grad_output, fold)
    return graph_of(output, known, grad_output, fold)


def graph_of(
    output: Tensor,
    names: Mapping[str, Tensor],
    grad_output: Tensor | None = None,
    fold: bool = True,
) -> ShownGraph:
    """Return the graph below a tensor, as `graph` does, with these names alone."""
    own = next((n for n, t in names.items() if t is output), "output")
    try:
        view = graph_view(output, source="", name=own, variables=names)
    except GradError:
        raise GradError(FREED) from None
    known = NameCollector()
    known.settle((), names, frozenset())
    made = values(output, {}) if view.nodes else {}
    picture = picture_of(output, view, made, Rules(known, view), fold)
    return ShownGraph(view, _passed(output, grad_output, known, view, picture))


def graph_of_pytorch(
    output: Any,
    names: Mapping[str, Any],
    grad_output: Any = None,
    fold: bool = True,
) -> ShownGraph:
    """Return the graph below a tensor of PyTorch, as `graph` does."""
    recorded = PyTorchGraph(output, names)
    view, known = recorded.view, recorded.values()
    nodes = tuple(
        PictureNode(
            node=node,
            value=known.get(node.id),
            gradient=None,
            formula=formula,
            rules=(None,) * len(node.next_functions),
            verdict=None,
        )
        for node, formula in zip(view.nodes, recorded.formulas, strict=True)
    )
    parts = folds(view) if fold else ()
    picture = Picture(view.program, view.name, view.root, nodes, (), parts)
    steps = recorded.steps(grad_output)
    return ShownGraph(view, picture.after(steps, {}) if steps else picture)


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
