"""In a notebook, graphs and tensors show themselves."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.processes import HANGS, ROOT

pytestmark = pytest.mark.peers

CELLS = (
    "import gradcli\n"
    "w = gradcli.tensor([1.0, 2.0], requires_grad=True)\n"
    "x = gradcli.tensor([3.0, 4.0])\n"
    "loss = ((w * x) ** 2).sum()",
    "gradcli.graph(loss, {'w': w})",
    "loss.backward()\nw.grad",
    "loss",
    "print(gradcli.graph(w * 2))",
)


def executed(folder: Path, texts: Sequence[str]) -> Any:
    """Return a notebook whose cells were executed."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient executes notebooks")
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel")
    nbformat = pytest.importorskip("nbformat")
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    cells = [nbformat.v4.new_code_cell(text) for text in (first + texts[0], *texts[1:])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=HANGS, resources=resources)
    client.execute()
    return notebook


def test_a_notebook_shows_pictures_and_tensors(tmp_path: Path) -> None:
    notebook = executed(tmp_path, CELLS)
    (graph,), (tensor,), (number,), (printed,) = (c.outputs for c in notebook.cells[1:])
    coded = re.search(r"base64,([^\"]+)", graph["data"]["text/html"])
    assert coded is not None
    svg = graph["data"]["image/svg+xml"]
    for picture in (svg, base64.b64decode(coded[1]).decode()):
        assert "SumBackward0" in "".join(ElementTree.fromstring(picture).itertext())
    assert graph["data"]["text/plain"].startswith("<graph of loss:")
    assert tensor["data"]["text/plain"] == "tensor([18., 64.])"
    assert "SumBackward0" in number["data"]["text/plain"]
    assert (printed["output_type"], printed["name"]) == ("stream", "stdout")
    assert printed["text"].startswith("MulBackward0")


ANSWERS = (
    "import gradcli",
    "gradcli.grad('x^2', x=3, seconds=600)",
    "gradcli.jacobian('[x*y, x^2]', x=2, y=3, seconds=600)",
    "gradcli.check('x^2', 'd/dx = 3*x', seconds=600)",
    "gradcli.compile('x^2').grad(x=3.0)",
)


def test_a_notebook_shows_answers_as_tables_and_formulas(tmp_path: Path) -> None:
    notebook = executed(tmp_path, ANSWERS)
    grad, jacobian, check, point = (c.outputs[0]["data"] for c in notebook.cells[1:])
    for shown in (grad, jacobian, check, point):
        assert ElementTree.fromstring(shown["text/html"]).tag == "table"
    assert r"\frac{\partial f}{\partial x} &= 2 x" in grad["text/latex"]
    assert "d/dx = 6.0" in grad["text/plain"]
    assert r"\begin{pmatrix}" in jacobian["text/latex"]
    assert "refuted" in check["text/html"]
    assert point["text/plain"] == "value  9.0\nd/dx   6.0"


TORCH = (
    "import gradcli, torch",
    "model = torch.nn.Linear(2, 1)\nloss = model(torch.ones(1, 2)).sum()",
    "gradcli.graph(loss)",
)


def test_a_notebook_shows_a_graph_of_pytorch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (graph,) = executed(tmp_path, TORCH).cells[2].outputs
    assert graph["data"]["text/plain"] == "<graph of loss: 5 nodes>"
    drawn = "".join(ElementTree.fromstring(graph["data"]["image/svg+xml"]).itertext())
    assert "model.weight" in drawn
    assert "AddmmBackward0" in drawn
