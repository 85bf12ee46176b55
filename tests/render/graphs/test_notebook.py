"""In a notebook, graphs and tensors show themselves."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.processes import ROOT

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


def test_a_notebook_shows_pictures_and_tables(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient executes notebooks")
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel")
    nbformat = pytest.importorskip("nbformat")
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    cells = [nbformat.v4.new_code_cell(text) for text in (first + CELLS[0], *CELLS[1:])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=120, resources=resources)
    client.execute()
    (graph,), (tensor,), (number,), (printed,) = (c.outputs for c in notebook.cells[1:])
    coded = re.search(r"base64,([^\"]+)", graph["data"]["text/html"])
    assert coded is not None
    svg = graph["data"]["image/svg+xml"]
    for picture in (svg, base64.b64decode(coded[1]).decode()):
        assert "SumBackward0" in "".join(ElementTree.fromstring(picture).itertext())
    assert graph["data"]["text/plain"].startswith("<graph of output:")
    assert tensor["data"]["text/plain"] == "tensor([18., 64.])"
    assert "<table" in tensor["data"]["text/html"]
    assert "SumBackward0" in number["data"]["text/plain"]
    assert (printed["output_type"], printed["name"]) == ("stream", "stdout")
    assert printed["text"].startswith("<graph of output:")
