"""The text and the JSON of one question state the same: over the pages' examples."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.cli.schemas import validator
from tests.processes import ROOT
from tests.processes.here import run_here

from .blocks import PAGES, README, examples

COMMANDS = ("grad", "jacobian", "hessian", "kinks")

TEXT_ONLY = {
    "-q",
    "--json",
    "--code",
    "--digits",
    "--out",
    "--sweep",
    "--table",
    "-f",
    "--spy",
}
"""Options that ask for something else than text beside which there is an object."""

MORE = [
    ["grad", "detach(x)*x", "--box", "x=0..1.5"],
    ["grad", "x*y - x**3", "y=2", "--box", "x=-1..1"],
    ["grad", "x^200", "x=1e3"],
    ["grad", "max(x, y)*x", "x=2", "y=2"],
    ["grad", "floor(x)*y", "x=1.5", "y=2"],
    ["jacobian", "relu(x)**2", "x=[0,1]"],
    ["kinks", "abs(x - 1) + relu(x)", "x=1"],
]

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)(?![\w.])")

FEWEST_DIGITS = 3
"""Digits that a number which is rounded for the reader still has."""


def questions() -> Iterator[list[str]]:
    """The words behind ``gradcli`` of the pages' examples whose answer is a text."""
    for page in (README, *PAGES):
        for example in examples(page.read_text()):
            refused = example.shown.startswith("error")
            if refused or re.search(r"[|<>@&;$]", example.command):
                continue
            words = shlex.split(example.command)[1:]
            if words[:1] and words[0] in COMMANDS and TEXT_ONLY.isdisjoint(words):
                yield words
    yield from MORE


def numbers(value: object) -> Iterator[float]:
    """The numbers of a nested list, or of one that is no finite number."""
    if isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif value is not None:
        yield float(value)  # type: ignore[arg-type]


def answers(told: dict[str, Any]) -> Iterator[float]:
    """The numbers that an object answers with."""
    for part in told.get("inputs", []):
        bounds = part.get("range") or {}
        for value in (part["grad"], part.get("derivative"), bounds.get("least"),
                      bounds.get("most")):  # fmt: skip
            yield from numbers(value)
    for part in [*told.get("blocks", []), *told.get("products", [])]:
        yield from numbers(part["value"])
    for place in told.get("places", []):
        for side in place["sides"]:
            yield from numbers([side["below"], side["above"], side["engine"]])


def shows(token: str, number: float) -> bool:
    """Whether a text is a number, or what is left of it by rounding."""
    if float(token) == number or token == "nan" == str(number):
        return True
    digits = len(re.sub(r"e.*|[-.]", "", token).lstrip("0"))
    return digits >= FEWEST_DIGITS and float(f"{number:.{digits}g}") == float(token)


def verdicts(told: dict[str, Any]) -> Iterator[str]:
    """The verdicts that an object gives, one for each input."""
    parts = told.get("inputs") or told.get("blocks") or told.get("products") or []
    yield from dict.fromkeys(part["verdict"] for part in parts)


@pytest.mark.parametrize("words", [*questions()], ids=" ".join)
def test_the_text_and_the_object_of_a_question_state_the_same(
    words: Sequence[str],
) -> None:
    patience = () if "--no-verify" in words else ("--verify-seconds", "600")
    _, text, _ = run_here([*words, *patience], ROOT, os.environ)
    _, told, _ = run_here([*words, *patience, "--json"], ROOT, os.environ)
    answer = json.loads(told)
    validator(f"{words[0]}.json").validate(answer)
    tokens = NUMBER.findall(text)
    for number in answers(answer):
        assert any(shows(token, number) for token in tokens), (number, text)
    found = [*answers(answer), *numbers(answer["output"]["value"])]
    for line in re.findall(r"^(?:d|Hv)\S* +=(.*)$", text, re.M):
        for token in NUMBER.findall(line):
            assert any(shows(token, number) for number in found), (token, found)
    verification = answer.get("verification", {})
    if "--no-verify" not in words and verification:
        assert f"\n{verification['verdict']}: " in text
        for verdict in verdicts(answer):
            assert re.search(rf"^\S+(?: \S+)?  {verdict}\b", text, re.M)
        for condition in verification["side_conditions"]:
            assert re.search(rf"^where .*{re.escape(condition)}", text, re.M)
        for part in answer.get("inputs", []):
            assert (part["closed_form"] or "") in text
            bounds = part.get("range") or {}
            assert (bounds.get("sign") or "") in text
