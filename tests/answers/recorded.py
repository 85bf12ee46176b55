"""PyTorch's recorded programs, and runs with the names of their values."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from gradcli.answers.graph_view import GraphView, NameCollector, graph_view
from gradcli.engine import Tensor
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, prepare


class Named(NamedTuple):
    """A run, the names of its values, and the graph below its output."""

    run: Run
    names: NameCollector
    view: GraphView

    @property
    def inputs(self) -> dict[str, Tensor]:
        return {given.name: given.tensor for given in self.run.inputs}

    @property
    def cotangent(self) -> Tensor:
        output = self.run.output
        return Tensor(output.xp.ones_like(output.raw), output.xp)


def ran(program: str, *bindings: str) -> Named:
    prepared = prepare(program, read_bindings(bindings))
    names = NameCollector()
    run = Session(prepared, trace=names.record_statement).run()
    names.settle(run.inputs, run.variables, prepared.code.assigned)
    named = {i.name: i.tensor for i in run.inputs}
    view = graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables={**named, **run.variables},
        local_gradients=False,
    )
    return Named(run, names, view)


def ran_known(known: dict[str, Any]) -> Named:
    bindings = [f"{name}={json.dumps(v)}" for name, v in known["inputs"].items()]
    return ran(known["program"], *bindings)
