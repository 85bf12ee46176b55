"""The JSON Schema files describe what the commands print, every key of it."""

from __future__ import annotations

import json
import shlex

import jsonschema
import pytest

from gradcli.answers.pages import schema, schemas
from gradcli.cli.commands import COMMANDS
from tests.processes import ROOT
from tests.tools.schemas import texts

from .conftest import Run
from .examples import ON_PROGRAMS, example
from .schemas import NO_JSON, answered, validator

SAMPLES = ROOT / "samples"

PRINTED = {
    'grad "x**2*y" x=3 --draw': "grad",
    'grad "sqrt(x)" x=0': "grad",
    'grad "x*sin(y)" --symbolic --latex': "grad",
    'grad "a*x@x" a=2 --shape x=2 --symbolic': "grad",
    'grad "x*sin(y)" --code c': "grad",
    'jacobian "[x*y, y]" --symbolic': "jacobian",
    'hessian "x*y**2" x=2 --latex': "hessian",
    'graph "x*sin(y) + 1"': "graph",
    'grad "x**5*y" x=2 y=1 --order 3': "grad",
    'grad "x**5*y" x=2 y=1 --wrt y --order 2 --no-verify': "grad",
    'grad "sqrt(x)" x=0 --order 2': "grad",
    'grad "igamma(2.0, x)" x=2 --no-verify': "grad",
    'graph "igamma(x, y)" x=1 y=2': "graph",
    'grad "x*y" --box x=2..3 y=1 --condition --digits 20': "grad",
    'grad "sum(A @ x)" A=[[1,2],[3,4]] x=[1,2] --symbolic --latex': "grad",
    'grad "x**2" x=1 --code c --no-verify': "grad",
    'graph "u = sin(x); exp(u)*u + w@w" x=1 w=[1,2]': "graph",
    'jacobian "x*y" x=[1,2] y=[1,2] --symbolic --latex': "jacobian",
    'jacobian "x[1:]**2" "x=ones(40)" --sparse --spy --no-verify': "jacobian",
    'jacobian "x**2*y" x=[1,2] y=1 --stack --sparse --spy': "jacobian",
    'jacobian "x**2" x=[1,2] --out J.npz --code numpy': "jacobian",
    'hessian "x*y" x=1 y=2 --symbolic': "hessian",
    'hessian "x*y" x=1 y=2 --times x=1': "hessian",
    'hessian "x*y" x=1 y=2 --times x=1 -q': "hessian",
    'jacobian "x*y" x=[1,2] y=1 -q': "jacobian",
    'grad "x*y" x=2 y=1 -q --order 2': "grad",
    'graph "x*y" x=2 --draw -o g.svg': "graph",
    'graph "x*y" x=2 --draw -o g.json': "graph",
    'jacobian "x*y" x=[1,2] y=[1,2] --times x=[1,0]': "jacobian",
    'grad "sum(x*y)" x=[1,2] y=[1,2] --no-verify': "grad",
    'check "x**2" --claim "d/dx = x" --claim "d/dx = 2*x"': "check",
    'check "x + x" --same "2*x"': "check",
    'explain "L = sum(x*y + x)" x=[2,4] y=3': "explain",
    'kinks "abs(x)" x=0.01 --radius 0.1': "kinks",
    'value "y = x/0" x=[[1,0]]': "value",
    'value "a*x" --symbolic': "value",
    'value "a*x" x=[1,2] a=2 --symbolic': "value",
    'taylor "exp(x)*y" x=0 --order 2': "taylor",
    'taylor "exp(x)" x=0 --order 1 --no-verify': "taylor",
    'plot "abs(x)" x=-1..1:3': "plot",
    'plot "abs(x)*y" x=-1..1:3 y=-1..1:3': "plot",
    f"verify {SAMPLES}/losses.py:Scale": "verify",
    "ops": "ops",
    "config": "config",
    "config digits": "config",
    "help E101": "help",
    "help": "help",
    'value "tahn(x)" x=1': "error",
    'value "x" y=1': "error",
    "value --wrong": "error",
}
"""Command lines beside the examples of commands on programs, and whose schema they
have."""


@pytest.mark.parametrize("words", PRINTED)
def test_what_is_printed_fits_its_schema_and_has_the_notes(
    gradcli: Run, words: str
) -> None:
    """With an object nothing else is printed; without one notes are on stderr."""
    told = gradcli(*shlex.split(words)).err
    ended = gradcli(*shlex.split(words), "--json")
    (found,) = answered(ended.out, ended.err)
    failed = PRINTED[words] == "error"
    assert found.get("command", "error") == PRINTED[words]
    assert (ended.out if failed else ended.err) == ""
    notes = [line for line in told.splitlines() if line.startswith("note: ")]
    if not failed:
        assert [f"note: {text}" for text in found["notes"]] == notes


def test_an_error_has_the_notes_that_came_before_it(gradcli: Run) -> None:
    ended = gradcli("grad", "x/y", "x=1", "y=0", "--grad-output", "[1,2]", "--json")
    (found,) = answered(ended.out, ended.err)
    assert found["error"]["code"] == "E596"
    assert found["notes"] == ["x/y is inf: a division by zero (line 1, column 1)"]


def test_a_schema_describes_each_row(gradcli: Run) -> None:
    ended = gradcli("grad", "x**-1*y[0]", "--sweep", "x=0..1:3", "y=1,5", "--json")
    assert len(answered(ended.out, ended.err)) == len(ended.out.splitlines()) == 3
    assert ended.err.startswith("note: ")


@pytest.mark.parametrize("command", ON_PROGRAMS)
def test_a_schema_describes_what_the_example_prints(gradcli: Run, command: str) -> None:
    """And who looks for no verdict and no kink takes no time to look for them."""
    words = [*example(command), "--json"]
    ended = gradcli(*words, "--verify-seconds", "600")
    idle = "--verify-seconds does nothing" in ended.err
    if idle:
        ended = gradcli(*words)
    answers = answered(ended.out, ended.err)
    assert {each.get("command", command) for each in answers} == {command}
    assert idle != ('"verdict"' in ended.out or '"kinks"' in ended.out), (
        "@without(VERIFIES_NOTHING) is for commands that verify nothing"
    )


def test_every_command_has_a_schema_that_is_tried() -> None:
    printing = {*COMMANDS} - NO_JSON
    expected = {f"{name}.json" for name in (*printing, "error", "row", "common")}
    assert {*schemas()} == expected, "gradcli/documents/schemas holds them"
    untried = {*printing, "error"} - {*PRINTED.values(), *ON_PROGRAMS}
    assert not untried, "PRINTED needs a command line of each"


def test_schemas_of_answers_say_what_their_classes_say() -> None:
    for name, text in texts().items():
        assert schema(name) == text, "run python -m tests.tools.schemas"


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema(name)))


def test_what_is_missing_or_of_another_kind_is_noticed() -> None:
    head = {"schema": "gradcli/1", "command": "help", "notes": []}
    good = {**head, "topic": None, "text": ""}
    check = validator("help.json")
    assert check.is_valid(good)
    assert not check.is_valid({**good, "text": 1})
    assert not check.is_valid({**good, "more": 1})
    assert not check.is_valid({k: v for k, v in good.items() if k != "text"})
