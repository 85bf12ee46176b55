"""In a notebook, graphs and tensors show themselves."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any
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


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """What stands below each cell of a notebook that was executed."""
    nbclient = pytest.importorskip("nbclient", reason="nbclient executes notebooks")
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel")
    pytest.importorskip("igraph", reason="igraph places the boxes")
    nbformat = pytest.importorskip("nbformat")
    folder: Path = tmp_path_factory.mktemp("notebook")
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    cells = [nbformat.v4.new_code_cell(text) for text in (first + CELLS[0], *CELLS[1:])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return [list(cell.outputs) for cell in notebook.cells]


def test_a_graph_is_a_picture(shown: list[list[dict[str, Any]]]) -> None:
    (output,) = shown[1]
    data = output["data"]
    coded = re.search(r"base64,([^\"]+)", data["text/html"])
    assert coded is not None
    for picture in (data["image/svg+xml"], base64.b64decode(coded[1]).decode()):
        root = ElementTree.fromstring(picture)
        words = "".join(root.itertext())
        assert "SumBackward0" in words
        assert "w" in words
    assert data["text/plain"].startswith("<graph of output:")


def test_a_tensor_is_a_table(shown: list[list[dict[str, Any]]]) -> None:
    (output,) = shown[2]
    assert output["data"]["text/plain"] == "tensor([18., 64.])"
    table = output["data"]["text/html"]
    assert "<table" in table
    assert "18" in table
    assert "64" in table


def test_a_number_is_shown_with_its_node(shown: list[list[dict[str, Any]]]) -> None:
    (output,) = shown[3]
    assert "SumBackward0" in output["data"]["text/plain"]


def test_printing_draws_nothing(shown: list[list[dict[str, Any]]]) -> None:
    (output,) = shown[4]
    assert (output["output_type"], output["name"]) == ("stream", "stdout")
    assert output["text"].startswith("<graph of output:")
