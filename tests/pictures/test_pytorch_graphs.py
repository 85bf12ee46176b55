"""`gradcli.graph` of tensors of PyTorch itself: node for node what PyTorch says."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import gradcli
from gradcli.answers.graph_comparison import compare, lines
from gradcli.answers.line import Layout

from .models import LOSSES

pytestmark = pytest.mark.peers

DIFFERING = {
    "einsum": "einsum is one node in gradcli",
    "gradient_penalty": "rule of tanh's rule",
    "heat_equation": "rule of tanh's rule",
    "lstm": "gradcli records each step",
    "maml": "gradcli multiplies by a tensor",
    "squared_gradient": "gradcli multiplies by a tensor",
    "third_derivative": "SinBackward0",
    "transformer_layer": "one kernel for attention",
    "written_into_a_view": "inside CopySlices",
}
"""Losses whose graphs differ in gradcli and PyTorch, and a text of the comparison."""


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def discovered(root: Any, nr: int) -> Iterator[tuple[Any, int]]:
    """Yield PyTorch's nodes in the order of discovery, each with an output's number."""
    stack, met = [(root, nr)], set()
    while stack:
        node, nr = stack.pop()
        if node is None or node in met:
            continue
        met.add(node)
        yield node, nr
        stack += reversed(node.next_functions)


@pytest.mark.parametrize("name", LOSSES)
def test_a_graph_is_pytorchs_node_for_node(name: str, torch: Any) -> None:
    loss = LOSSES[name](torch)
    picture = gradcli.graph(loss)
    nodes = [*discovered(loss.grad_fn, loss.output_nr)]
    ids = {node: nr for nr, (node, _) in enumerate(nodes)}
    assert len(picture.view.nodes) == len(nodes)
    for view, (node, nr) in zip(picture.view.nodes, nodes, strict=True):
        assert view.name == type(node).__name__
        edges = [(end and ids[end], nr) for end, nr in node.next_functions]
        assert [*view.next_functions] == edges
        assert view.shape == tuple(node._input_metadata[nr].shape)
    steps = {step.id for step in picture.picture.steps}
    assert steps == {*ids.values()}
    assert picture._repr_html_() is not None


@pytest.mark.parametrize("name", sorted({*LOSSES} - {*DIFFERING}))
def test_gradcli_records_the_same_graph(name: str, torch: Any) -> None:
    ours, theirs = (gradcli.graph(LOSSES[name](each)).view for each in (gradcli, torch))
    told = [line.text for line in lines(compare(ours, theirs), Layout())]
    assert told == [f"  gradcli and PyTorch record the same {len(ours.nodes):,} nodes"]


@pytest.mark.parametrize("name", DIFFERING)
def test_differences_are_named(name: str, torch: Any) -> None:
    ours, theirs = (gradcli.graph(LOSSES[name](each)).view for each in (gradcli, torch))
    compared = compare(ours, theirs)
    told = "\n".join(line.text for line in lines(compared, Layout()))
    assert f"gradcli records {len(ours.nodes)} nodes, PyTorch" in told
    assert DIFFERING[name] in told
    paired = [pair for pair in compared.pairs if pair.ours]
    assert len(paired) == len(ours.nodes)


def test_large_graphs_are_compared_from_the_first_difference_on() -> None:
    """Needs no PyTorch: both graphs are gradcli's."""
    x = gradcli.tensor(0.5, requires_grad=True)
    plain, other = x, x
    for step in range(600):
        plain = gradcli.sin(plain) * x
        other = gradcli.sin(other) * x
        other = other.exp() if step % 7 == 0 else other
    views = [gradcli.graph(y.tanh()).view for y in (plain, other)]
    compared = compare(*views)
    assert not compared.whole
    assert 0 < compared.differing < len(compared.pairs)
    told = [line.text for line in lines(compared, Layout())]
    assert "only 800 nodes from the first difference on are compared" in told[-1]


def network(torch: Any) -> tuple[Any, dict[str, Any]]:
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    h = torch.tanh(w @ torch.tensor([1.0, 2.0]))
    return (h * h).sum(), {"w": w, "h": h}


def test_values_gradients_and_partials_are_as_in_gradcli(torch: Any) -> None:
    both = [gradcli.graph(*network(each)) for each in (gradcli, torch)]
    for ours, theirs in zip(*(p.picture.nodes for p in both), strict=True):
        for pair in (
            (ours.gradient, theirs.gradient),
            (ours.node.local_gradients, theirs.node.local_gradients),
        ):
            left, right = (json.dumps(each, default=str) for each in pair)
            assert rounded(left) == rounded(right)
        if theirs.value is not None and ours.value is not None:
            assert rounded(json.dumps(theirs.value)) == rounded(json.dumps(ours.value))
    # The rules of PyTorch's nodes are not known.
    rules = re.compile("(?<=[├└]─) .* ─(?= )|\ng: .*")
    assert len({rules.sub("", each.tree()) for each in both}) == 1


def rounded(text: str) -> Any:
    """Return nested lists of numbers with five digits."""
    return json.loads(text, parse_float=lambda digits: f"{float(digits):.5g}")


def test_names_come_from_the_caller_or_from_a_module(torch: Any) -> None:
    model = torch.nn.Linear(2, 1)
    ws = [torch.ones(1, requires_grad=True)]
    loss = (model(torch.ones(1, 2)) * ws[0]).sum()
    picture = gradcli.graph(loss)
    leaves = {node.variable for node in picture.view.nodes if node.is_leaf}
    assert repr(picture) == f"<graph of loss: {len(picture.view.nodes)} nodes>"
    assert leaves == {"model.weight", "model.bias", "ws[0]"}
    for names in (model, dict(model.named_parameters())):
        given = gradcli.graph(loss, names).view.nodes
        assert {"weight", "bias"} < {node.variable for node in given}


def test_what_nodes_saved_is_in_files(torch: Any, tmp_path: Path) -> None:
    loss, names = network(torch)
    picture = gradcli.graph(loss, names)
    for suffix in ("json", "html", "svg", "dot"):
        picture.save(tmp_path / f"g.{suffix}")
    nodes = json.loads((tmp_path / "g.json").read_text())["nodes"]
    saved = {node["name"]: node["saved"] for node in nodes}
    assert saved["TanhBackward0"] == {"result": "float32 [2]"}
    assert "result = float32 [2]" in (tmp_path / "g.html").read_text()
    drawn = base64.b64decode(picture._repr_html_().split("base64,")[1].split('"')[0])
    assert ElementTree.fromstring(drawn).tag.endswith("svg")
    ours = gradcli.graph(*network(gradcli))
    ours.save(tmp_path / "o.json")
    nodes = json.loads((tmp_path / "o.json").read_text())["nodes"]
    assert all("saved" not in node for node in nodes)


def test_looking_changes_nothing(torch: Any) -> None:
    loss, names = network(torch)
    before = len(names["w"]._backward_hooks or ())
    gradcli.graph(loss)
    assert names["w"].grad is None
    assert len(names["w"]._backward_hooks or ()) == before
    loss.backward()
    # What a pass has freed is not known, and the graph is drawn without it.
    freed = gradcli.graph(loss)
    assert freed.view.nodes[0].name == "SumBackward0"
    assert freed.picture.steps == ()


def test_a_vector_a_leaf_and_a_tensor_without_a_graph(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert gradcli.graph(x * x).picture.nodes[0].gradient is None
    given = gradcli.graph(x * x, grad_output=torch.tensor([1.0, 0.0]))
    assert given.picture.nodes[1].gradient == [2.0, 0.0]
    assert [node.variable for node in gradcli.graph(x).view.nodes] == ["x"]
    assert "needs no gradient" in gradcli.graph(torch.tensor(1.0)).svg()


def test_numbers_that_numpy_lacks(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    assert gradcli.graph((x * x).sum()).picture.nodes[-1].gradient == [2.0, 2.0]
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    picture = gradcli.graph((z * z).abs().sum())
    assert [node.name for node in picture.view.nodes][-1] == "AccumulateGrad"


def test_a_backward_that_fails_leaves_the_graph(torch: Any) -> None:
    class Broken(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ValueError("no")

    x = torch.ones(2, requires_grad=True)
    picture = gradcli.graph(Broken.apply(x).sum())
    assert [node.name for node in picture.view.nodes][1] == "BrokenBackward"
    assert picture.picture.steps == ()
