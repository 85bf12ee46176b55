"""``gradcli.graph`` and tensors in a notebook."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gradcli as torch
from gradcli.pictures import shown


def network() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    x = torch.tensor([1.0, 2.0])
    h = torch.tanh(w @ x)
    return (h * h).sum(), {"w": w, "h": h}


def test_a_graph_has_names_values_and_gradients() -> None:
    loss, names = network()
    found = torch.graph(loss, {**names, "loss": loss})
    assert repr(found) == "<graph of loss: 5 nodes>"
    assert str(found) == found.tree()
    nodes = {n.node.variable or n.node.output: n for n in found.picture.nodes}
    assert nodes["loss"].value == pytest.approx(loss.item())
    (g,) = torch.autograd.grad(loss, names["w"])
    rows = zip(nodes["w"].gradient, g.tolist(), strict=True)
    assert all(found == pytest.approx(true) for found, true in rows)


def test_looking_changes_nothing_and_a_freed_graph_is_told_with_the_way_out() -> None:
    loss, names = network()
    torch.graph(loss)
    assert names["w"].grad is None
    loss.backward()
    assert names["w"].grad is not None
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        torch.graph(loss)


def test_a_vector_needs_a_cotangent() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert torch.graph(x * x).picture.nodes[0].gradient is None
    drawn = torch.graph(torch.tensor(1.0)).svg()
    assert "no graph: the output needs no gradient" in drawn
    given = torch.graph(x * x, grad_output=torch.tensor([1.0, 0.0]))
    assert given.picture.nodes[1].gradient == [2.0, 0.0]


def test_layers_of_a_network_fold() -> None:
    layers = [m for _ in range(6) for m in (torch.nn.Linear(3, 3), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers)
    (fold,) = torch.graph(model(torch.ones(1, 3)).sum()).picture.folds
    assert fold.count == 6
    assert torch.graph(model(torch.ones(1, 3)).sum(), fold=False).picture.folds == ()


def test_a_notebook_shows_an_image_of_its_own(tmp_path: Path) -> None:
    found = torch.graph(network()[0])
    html = found._repr_html_()
    assert html is not None
    coded = html.split("base64,")[1].split('"')[0]
    assert ElementTree.fromstring(base64.b64decode(coded)).tag.endswith("svg")
    found.save(tmp_path / "g.html")
    found.save(str(tmp_path / "g.json"))
    assert json.loads((tmp_path / "g.json").read_text())["root"] == 0
    with pytest.raises(ValueError, match=r"not '\.gif'"):
        found.save(tmp_path / "g.gif")


def test_a_crowd_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = torch.graph(network()[0])
    monkeypatch.setattr(shown, "MAX_BOXES", 3)
    with pytest.raises(ValueError, match="too large to look at"):
        found.svg()
    assert found._repr_html_() is None


def test_what_is_no_tensor() -> None:
    with pytest.raises(TypeError, match="takes a tensor, not float"):
        torch.graph(1.0)  # type: ignore[arg-type]
