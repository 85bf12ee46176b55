"""Recorded facts of PyTorch's public face: reading, running and comparing them.

Invariant: a fact is its ``code`` and what that code did under PyTorch; the same `run`
makes the record and repeats it with another module in PyTorch's place, so that the two
differ in nothing but the module.

    outcome = run("print(torch.ones(2))", torch)
    outcome.printed          # 'tensor([1., 1.])\\n'
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from dataclasses import asdict, dataclass
from decimal import Decimal
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FACTS = HERE / "facts"
NAMES = HERE / "names.txt"

# What a fact may name besides `torch` and `np`, and where in `torch` that lives.
SHORT_NAMES = {"nn": "nn", "F": "nn.functional", "optim": "optim"}

ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
LINK = re.compile(r"https?://[^\s'\")]+")
# A column's padding belongs to the number: -0.0000 may stand where 0.0000 is recorded.
NUMBER = re.compile(r"((?<![\w.])[ -]?\d+(?:\.\d*)?(?:e[+-]?\d+)?(?!\w))")
END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
UNITS_IN_THE_LAST_PLACE = 2


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended a fact: its class's public name and its message."""

    type: str
    message: str

    @property
    def first_sentence(self) -> str:
        return END_OF_SENTENCE.split(self.message, maxsplit=1)[0]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of ``facts/*.jsonl``; ``name`` begins with the API it is about."""

    name: str
    code: str
    printed: str
    raises: Raised | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a fact's code printed, and the exception that ended it, if any."""

    printed: str
    error: Exception | None

    @property
    def raises(self) -> Raised | None:
        if self.error is None:
            return None
        kind = public_name(type(self.error))
        return Raised(kind, without_addresses(str(self.error)))


def public_name(kind: type) -> str:
    return kind.__name__.lstrip("_")


def without_addresses(text: str) -> str:
    """A text without what differs from run to run, and without links."""
    return LINK.sub("…", ADDRESS.sub("0x…", text))


def files() -> list[Path]:
    """The files of facts, one for each family."""
    return sorted(FACTS.glob("*.jsonl"))


def load(*chosen: Path) -> list[Fact]:
    """The facts of the files given, or of all."""
    return [
        fact_of(json.loads(line))
        for file in chosen or files()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]


def fact_of(entry: dict[str, Any]) -> Fact:
    """A fact from its line; one that was never recorded has printed nothing."""
    raises = entry.get("raises")
    return Fact(
        entry["name"],
        entry["code"],
        entry.get("printed", ""),
        Raised(**raises) if raises else None,
    )


def save(file: Path, facts: list[Fact]) -> None:
    lines = [json.dumps(asdict(fact), ensure_ascii=False) for fact in facts]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def promised_names() -> list[str]:
    """The names that at least one fact has to use."""
    return NAMES.read_text(encoding="utf-8").split()


def namespace(code: str, torch: Any) -> dict[str, Any]:
    """The globals of a fact: a short name is looked up only where it is used."""
    bound: dict[str, Any] = {"__name__": "fact", "torch": torch, "np": np}
    for name, path in SHORT_NAMES.items():
        if re.search(rf"\b{name}\b", code):
            bound[name] = attrgetter(path)(torch)
    return bound


def run(code: str, torch: Any) -> Outcome:
    """Run a fact's code with ``torch`` as the module of that name."""
    out = io.StringIO()
    error = None
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, "<fact>", "exec"), namespace(code, torch))
        except Exception as raised:
            error = raised
    return Outcome(without_addresses(out.getvalue()), error)


def decimals(token: str) -> int:
    return len(token.partition("e")[0].partition(".")[2])


def equal_as_printed(got: str, recorded: str) -> bool:
    """Whether two numbers differ by at most 2 units in the last printed place.

    Integers (``3``, ``3.``, ``-0.``) have to be equal, and so have the widths and
    the numbers of decimals.
    """
    if got == recorded:
        return True
    places = decimals(recorded)
    if not places or decimals(got) != places or len(got) != len(recorded):
        return False
    exponent = int(recorded.partition("e")[2] or 0)
    allowed = UNITS_IN_THE_LAST_PLACE * Decimal(1).scaleb(exponent - places)
    return abs(Decimal(got) - Decimal(recorded)) <= allowed


def align(got: str, recorded: str) -> str:
    """``got``, with each number that equals the recorded one written as recorded, and
    without the keywords that our refusals of other ones list."""
    got = re.sub(r"(unexpected keyword argument '\w+'): .*", r"\1", got)
    ours, theirs = NUMBER.split(got), NUMBER.split(recorded)
    if len(ours) != len(theirs):
        return got
    for i in range(1, len(ours), 2):
        if equal_as_printed(ours[i], theirs[i]):
            ours[i] = theirs[i]
    return "".join(ours)
