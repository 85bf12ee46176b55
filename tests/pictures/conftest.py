"""Programs as pictures, run in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradcli.answers.explanation import explain
from gradcli.answers.graph_view import NameCollector, graph_view
from gradcli.answers.numbers import briefly
from gradcli.answers.textbook_rules import Rules
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Session, prepare
from gradcli.pictures.picture import Listener, Picture, picture_of, values

FIVE = "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d"
AT = ["a=2", "w1=0.5", "w2=-1.5", "w3=3", "w4=0.25"]
LOOP = "for i in range(200):\n    x = sin(x)*w\nL = x**2"
MATRIX = "h = tanh(X@W + b); L = (h@v).sum()"
MATRIX_AT = ["X=[[1,2],[3,4]]", "W=[[0.1,-0.2],[0.3,0.4]]", "b=[0,0.1]", "v=[1,-1]"]

Make = Callable[..., Picture]


def picture(program: str, *words: str, folded: bool = True) -> Picture:
    prepared = prepare(program, read_bindings(words))
    names, library = NameCollector(), Listener(prepared.factory)
    run = Session(prepared, trace=names.record_statement, library=library).run()
    names.settle(run.inputs, run.variables, run.prepared.code.assigned)
    view = graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables=run.variables,
        inputs=prepared.environment,
    )
    made = values(run.output, library.heard)
    found = picture_of(run.output, view, made, Rules(names, view), folded)
    start = run.first_cotangent(None)
    told = explain(run.output, start, names, view, briefly)
    return found.after(told, {"a": "proved"})


@pytest.fixture(scope="session")
def five() -> Picture:
    return picture(FIVE, *AT)


@pytest.fixture(scope="session")
def loop() -> Picture:
    return picture(LOOP, "x=1", "w=0.9")


@pytest.fixture(scope="session")
def matrix() -> Picture:
    return picture(MATRIX, *MATRIX_AT)
