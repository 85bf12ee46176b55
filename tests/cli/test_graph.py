"""`gradcli graph` in each of its forms."""

from __future__ import annotations

import re

from .conftest import AT, FIVE, Run


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


def test_a_deep_graph_is_drawn_in_linear_size(gradcli: Run) -> None:
    program = "y = x\nfor i in range(5000): y = y*x"
    ended = gradcli("graph", program, "x=1")
    assert ended.status == 0
    assert ended.out.count("MulBackward0") < 3 * 5000
    assert max(map(len, ended.out.splitlines())) < 200
    assert len(ended.out) < 5000 * 400
