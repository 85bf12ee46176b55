"""`gradcli graph` in each of its forms."""

from __future__ import annotations

import re

import pytest

from .conftest import AT, FIVE, Run

TREE = """\
RsubBackward1  L = 10 - d
└─ -1.0 ─ AddBackward0  d = w3*b + w4*c
   ├─ 1.0 ─ MulBackward0  w3*b
   │  ├─ 1.0 ─ AccumulateGrad w3
   │  └─ 3.0 ─ MulBackward0  b = w1*a
   │     ├─ 2.0 ─ AccumulateGrad w1
   │     └─ 0.5 ─ AccumulateGrad a
   └─ 1.0 ─ MulBackward0  w4*c
      ├─ -3.0 ─ AccumulateGrad w4
      └─ 0.25 ─ MulBackward0  c = w2*a
         ├─ 2.0 ─ AccumulateGrad w2
         └─ -1.5 ─ AccumulateGrad a
"""

SHARED = """\
MulBackward0  z = y*y
├─ 4.0 ─ PowBackward0 (1)  y = x**2
│  └─ 4.0 ─ AccumulateGrad x
└─ 4.0 ─ PowBackward0 (1)  drawn above
"""


def test_the_tree_of_the_five_neurons(gradcli: Run) -> None:
    assert gradcli("graph", FIVE, *AT).out == TREE
    assert gradcli("graph", FIVE, *AT, "--tree").out == TREE


def test_a_shared_node_is_drawn_once(gradcli: Run) -> None:
    assert gradcli("graph", "y = x**2; z = y*y", "x=2").out == SHARED


def test_the_chain_prints_next_functions_as_pytorch_does(gradcli: Run) -> None:
    lines = gradcli("graph", "y = x*w + 1", "x=2", "w=3", "--chain").out.splitlines()
    place = r"0x[0-9a-f]+"
    assert re.fullmatch(
        rf"AddBackward0 +y = x\*w \+ 1 +\(\(<MulBackward0 object at {place}>, 0\), "
        r"\(None, 0\)\)",
        lines[0],
    )
    assert re.fullmatch(
        rf"MulBackward0 +x\*w +\(\(<AccumulateGrad object at {place}>, 0\), "
        rf"\(<AccumulateGrad object at {place}>, 0\)\)",
        lines[1],
    )
    assert [line.split()[:2] for line in lines[2:]] == [
        ["AccumulateGrad", "x"],
        ["AccumulateGrad", "w"],
    ]


def test_json_describes_every_node_and_edge(gradcli: Run) -> None:
    told = gradcli("graph", FIVE, *AT, "--json").json
    assert (told["schema"], told["command"], told["root"]) == ("gradcli/1", "graph", 0)
    nodes = told["nodes"]
    assert [node["id"] for node in nodes] == list(range(11))
    keys = {
        "id", "name", "variable", "output", "shape", "source", "line", "column",
        "next_functions", "local_gradients",
    }  # fmt: skip
    assert all(keys <= node.keys() for node in nodes)
    product = nodes[2]
    assert product["source"] == "w3*b"
    assert (product["line"], product["column"]) == (1, 25)
    assert product["next_functions"] == [[3, 0], [4, 0]]
    assert product["local_gradients"] == [1.0, 3.0]


def test_a_node_that_is_not_elementwise_has_no_local_gradient(gradcli: Run) -> None:
    told = gradcli("graph", "(x**2).sum()", "x=[1,2]", "--json").json
    assert told["nodes"][0]["local_gradients"] == [None]
    assert told["nodes"][1]["local_gradients"] == [[2.0, 4.0]]
    assert told["nodes"][1]["shape"] == [2]


@pytest.mark.parametrize("form", ["--dot", "--mermaid"])
def test_pictures_have_every_node_and_edge(gradcli: Run, form: str) -> None:
    out = gradcli("graph", FIVE, *AT, form).out
    assert len(re.findall(r"^  n\d+[\[(]| n\d+ \[label", out, re.M)) >= 11
    assert len(re.findall(r"^  n\d+ --?>", out, re.M)) == 11


def test_forms_exclude_each_other(gradcli: Run) -> None:
    ended = gradcli("graph", "x", "x=1", "--dot", "--json")
    assert ended.status == 2
    assert "--dot and --json exclude each other" in ended.err


def test_a_leaf_and_a_constant_are_graphs_too(gradcli: Run) -> None:
    assert gradcli("graph", "x", "x=1").out == "AccumulateGrad x\n"
    assert gradcli("graph", "2+3").out.startswith("no graph")
    assert gradcli("graph", "2+3", "--json").json["root"] is None


def test_a_deep_graph_is_drawn_in_linear_size(gradcli: Run) -> None:
    program = "y = x\nfor i in range(5000): y = y*x"
    ended = gradcli("graph", program, "x=1")
    assert ended.status == 0
    assert ended.out.count("MulBackward0") < 3 * 5000
    assert max(map(len, ended.out.splitlines())) < 200
    assert len(ended.out) < 5000 * 400
