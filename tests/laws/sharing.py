"""How outputs lie in memory, and in that of which inputs, for every function and case.

Invariant: the same arrays, in the same layouts, go to PyTorch when the record is made
and to gradcli when it is compared, so that both answer the same question.

    for trial in trials():
        answer(run(trial), inputs, memory)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.ops import FUNCTIONS, OPS, Composite, Op

from .draw import draw
from .recorded import Records

RECORD = Path(__file__).parent / "sharing.jsonl"

LAYOUTS = ("C", "F")
"""The orders of the inputs' entries in memory; a result may depend on them."""

Answer = list[tuple[int, int, list[int], int]]
"""Per output: its number, that of each input whose memory it shares, the output's
strides and the place of its first entry, both in entries; once with the number -1 and
the place 0 where it shares none and has more than one entry."""

OWN_MEMORY = -1


@dataclass(frozen=True, slots=True)
class Trial:
    """A row or a function of the table on the inputs of one of its cases."""

    name: str
    number: int
    layout: str

    @property
    def entry(self) -> Op | Composite:
        return OPS.get(self.name) or FUNCTIONS[self.name]

    @property
    def ident(self) -> str:
        return f"{self.name}-{self.number}-{self.layout}"

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.entry.cases[self.number].params)

    @property
    def is_written(self) -> bool:
        """Whether the row gives what a change in place writes."""
        entry = self.entry
        change = isinstance(entry, Op) and entry.owns
        return change and entry.base.endswith("_")

    def inputs(self) -> list[Any]:
        """Arrays on memory of their own, and what else the case gives."""
        given: Any = self.entry
        return [self._laid_out(a) for a in draw(given, self.number).arrays]

    def _laid_out(self, value: Any) -> Any:
        array = hasattr(value, "dtype")
        return np.array(value, order=self.layout) if array else value


def name_of(ident: str) -> str:
    """The name in what a trial is called."""
    return ident.rsplit("-", 2)[0]


def trials() -> Iterator[Trial]:
    """Every case of every row and of every function, in every layout that differs."""
    for name, entry in {**OPS, **FUNCTIONS}.items():
        if isinstance(entry, Op) and entry.query:
            continue
        for number, case in enumerate(entry.cases):
            wide = any(_is_matrix(value) for value in case.inputs)
            for layout in LAYOUTS if wide else LAYOUTS[:1]:
                yield Trial(name, number, layout)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, tuple) and sum(n != 1 for n in value) > 1


def answer(outputs: Any, inputs: list[Any], memory: Callable[[Any], Any]) -> Answer:
    """Who shares with whom, and in what order the entries lie.

    Args:
        memory: what names the memory of a tensor; None for what has none.
    """
    parts = outputs if isinstance(outputs, tuple | list) else (outputs,)
    held = [memory(x) for x in inputs]
    found: Answer = []
    for nr, part in enumerate(parts):
        here = memory(part)
        if here is None:
            continue
        lenders = [i for i, mine in enumerate(held) if mine == here]
        if lenders:
            place = part.storage_offset()
            found += [(nr, i, steps(part), place) for i in lenders]
        elif steps(part):
            found.append((nr, OWN_MEMORY, steps(part), 0))
    return found


def steps(x: Any) -> list[int]:
    """The strides of the dimensions of more than one entry: the others mean nothing."""
    return [s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1]


def load() -> Records[Answer | None]:
    """What was recorded; None: PyTorch has no such function, or refuses the case."""
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    found = {entry["trial"]: entry["shares"] for entry in map(json.loads, lines)}
    return Records("record_sharing", found)
