"""Every recorded PyTorch program, through the command line's ``--json``."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.processes import HANGS
from tests.reference.recorded_programs import RECORDS

TOLERANCE = 1e-12


Record = dict[str, Any]


@pytest.fixture
def gradcli(warm_command: list[str]) -> Callable[[str, Record], dict[str, Any]]:
    """Gives the JSON that ``gradcli command`` prints for a record."""

    def printed(command: str, record: Record) -> dict[str, Any]:
        bindings = [f"{name}={json.dumps(v)}" for name, v in record["inputs"].items()]
        options = ["--json", *(["--no-verify"] if command == "grad" else [])]
        words = [command, record["program"], *bindings, *options]
        command = [*warm_command, *words]
        run = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
        assert run.returncode == 0, run.stderr
        read: dict[str, Any] = json.loads(run.stdout)
        return read

    return printed


def far(a: Any, b: Any) -> bool:
    """Whether two nested lists differ by more than the tolerance, or in shape."""
    if isinstance(a, list) or isinstance(b, list):
        same_kind = isinstance(a, list) and isinstance(b, list) and len(a) == len(b)
        return not same_kind or any(far(p, q) for p, q in zip(a, b, strict=True))
    if a is None or b is None:
        return a is not b
    return not math.isclose(float(a), float(b), rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def notation(graph: dict[str, Any]) -> str:
    """The recorded notation of a graph, from the nodes that ``--json`` lists."""
    nodes = {node["id"]: node for node in graph["nodes"]}

    def write(ident: Any, nr: int) -> str:
        if ident is None:
            return "None"
        node = nodes[ident]
        if node["name"] == "AccumulateGrad":
            return f"AccumulateGrad[{node['variable']}]"
        inner = ", ".join(write(i, n) for i, n in node["next_functions"])
        return node["name"] + (f"#{nr}" if nr else "") + f"({inner})"

    return write(graph["root"], 0)


@pytest.mark.parametrize("record", RECORDS, ids=[r["name"] for r in RECORDS])
def test_values_and_gradients_are_pytorchs(record: Record, gradcli: Any) -> None:
    printed = gradcli("grad", record)
    assert printed["output"]["name"] == record["output"]["name"]
    assert not far(printed["output"]["value"], record["output"]["value"])
    grads = {i["name"]: i["grad"] for i in printed["inputs"]}
    assert grads.keys() == record["grads"].keys()
    for name, expected in record["grads"].items():
        assert not far(grads[name], expected), (name, grads[name], expected)


@pytest.mark.parametrize("record", RECORDS, ids=[r["name"] for r in RECORDS])
def test_graph_is_pytorchs_node_for_node(record: Record, gradcli: Any) -> None:
    assert notation(gradcli("graph", record)) == record["graph"]


def test_all_records_are_there() -> None:
    assert len(RECORDS) == 74
    assert len({r["name"] for r in RECORDS}) == 74
