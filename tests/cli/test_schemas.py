"""The JSON Schema files describe what the commands print, every key of it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import referencing

from gradcli.cli.commands import COMMANDS, ON_PROGRAMS
from gradcli.views.pages import schema, schemas
from tests.processes import ROOT

from .conftest import Run
from .examples import example

SAMPLES = ROOT / "samples"

NO_JSON = {"repl", "tour", "run"}

PRINTED = {
    'grad "x**2*y" x=3': "grad",
    'grad "sqrt(x)" x=0': "grad",
    'grad "x*y" --box x=2..3 y=1 --condition --digits 20': "grad",
    'grad "sum(A @ x)" A=[[1,2],[3,4]] x=[1,2] --symbolic --latex': "grad",
    'grad "x**2" x=1 --code c --no-verify': "grad",
    'graph "u = sin(x); exp(u)*u + w@w" x=1 w=[1,2]': "graph",
    'jacobian "x*y" x=[1,2] y=[1,2] --symbolic --latex': "jacobian",
    'jacobian "x[1:]**2" "x=ones(40)" --sparse --spy --no-verify': "jacobian",
    'jacobian "x**2" x=[1,2] --out J.npz --code numpy': "jacobian",
    'hessian "x*y" x=1 y=2 --symbolic': "hessian",
    'hessian "x*y" x=1 y=2 --times x=1': "hessian",
    'jacobian "x*y" x=[1,2] y=[1,2] --times x=[1,0]': "jacobian",
    'grad "sum(x*y)" x=[1,2] y=[1,2] --trace --no-verify': "grad",
    'check "x**2" --claim "d/dx = x" --claim "d/dx = 2*x"': "check",
    'check "x + x" --same "2*x"': "check",
    'explain "L = sum(x*y + x)" x=[2,4] y=3': "explain",
    'kinks "abs(x)" x=0.01 --radius 0.1': "kinks",
    'value "y = x/0" x=[[1,0]]': "value",
    'plot "abs(x)" x=-1:1:3': "plot",
    'plot "abs(x)*y" x=-1:1:3 y=-1:1:3': "plot",
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


def closed(description: Any) -> Any:
    """The schema that allows no keys but those that it describes."""
    if isinstance(description, list):
        return [closed(each) for each in description]
    if not isinstance(description, dict):
        return description
    found = {key: closed(each) for key, each in description.items()}
    if description.get("type") == "object" and "properties" in description:
        found["additionalProperties"] = False
    return found


def validator(name: str) -> Any:
    files = {each: closed(json.loads(schema(each))) for each in schemas()}
    assert name in files, f"describe it in gradcli/documents/schemas/{name}"
    registry = referencing.Registry().with_resources(
        (each, referencing.Resource.from_contents(text)) for each, text in files.items()
    )
    return jsonschema.Draft202012Validator(files[name], registry=registry)


@pytest.mark.parametrize("words", PRINTED)
def test_a_schema_describes_what_is_printed(gradcli: Run, words: str) -> None:
    name = PRINTED[words]
    ended = gradcli(*shlex.split(words), "--json")
    printed = ended.err if name == "error" else ended.out
    validator(f"{name}.json").validate(json.loads(printed))


def objects(text: str) -> Iterator[Any]:
    """The JSON objects of a text, one after the other."""
    while text := text.strip():
        found, end = json.JSONDecoder().raw_decode(text)
        yield found
        text = text[end:]


@pytest.mark.parametrize("command", ON_PROGRAMS)
def test_a_schema_describes_what_the_example_prints(gradcli: Run, command: str) -> None:
    """And who looks for no verdict and no kink takes no time to look for them."""
    words = [*example(command), "--json"]
    ended = gradcli(*words, "--verify-seconds", "600")
    idle = "--verify-seconds does nothing" in ended.err
    if idle:
        ended = gradcli(*words)
    answers = [*objects(ended.out)]
    assert answers, ended.err
    for answer in answers:
        validator(f"{command}.json").validate(answer)
    assert idle != ('"verdict"' in ended.out or '"kinks"' in ended.out), (
        "@without(VERIFIES_NOTHING) is for commands that verify nothing"
    )


def test_every_command_has_a_schema_that_is_tried() -> None:
    printing = {*COMMANDS} - NO_JSON
    expected = {f"{name}.json" for name in (*printing, "error", "common")}
    assert {*schemas()} == expected, "gradcli/documents/schemas holds them"
    untried = {*printing, "error"} - {*PRINTED.values(), *ON_PROGRAMS}
    assert not untried, "PRINTED needs a command line of each"


@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema(name)))


def test_what_is_missing_or_of_another_kind_is_noticed() -> None:
    good = {"schema": "gradcli/1", "command": "help", "topic": None, "text": ""}
    check = validator("help.json")
    assert check.is_valid(good)
    assert not check.is_valid({**good, "text": 1})
    assert not check.is_valid({**good, "more": 1})
    assert not check.is_valid({k: v for k, v in good.items() if k != "text"})
