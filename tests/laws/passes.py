"""A second backward pass, and the graph of a pass: what PyTorch allows and connects.

Invariant: the same arrays go to PyTorch when the record is made and to gradcli when it
is compared, by the same lines: `witness` calls what both of them have.

    witness(torch, call, arrays, (0,))      # only the first input requires a gradient
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.ops import FUNCTIONS, OPS, Composite, Op

from .draw import draw, is_shape
from .recorded import Records

RECORD = Path(__file__).parent / "passes.jsonl"

MOST_LEAVES = 3
"""Of so many inputs at most every choice of leaves is tried; of more, all or one."""

SECOND_TIME = "second time"
"""What the message says of a second pass that finds nothing saved."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A row or a function on the inputs of one of its cases, some of them leaves."""

    name: str
    number: int
    leaves: tuple[int, ...]

    @property
    def entry(self) -> Op | Composite:
        return OPS.get(self.name) or FUNCTIONS[self.name]

    @property
    def ident(self) -> str:
        return f"{self.name}-{self.number}-{''.join(map(str, self.leaves))}"

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.entry.cases[self.number].params)

    def arrays(self) -> list[Any]:
        entry: Any = self.entry
        return list(draw(entry, self.number).arrays)


@dataclass(frozen=True, slots=True)
class Seen:
    """What passes through a graph do.

    again      a second pass is allowed where the first did not retain the graph
    requires   per leaf whether its gradient requires one where the pass is recorded;
               None: there is no gradient
    reaches    per leaf, and per leaf again, whether the gradient's own pass reaches it
    """

    again: bool
    requires: list[bool | None]
    reaches: list[list[bool]]


def trials() -> Iterator[Trial]:
    """Every case of every row with a gradient and of every function."""
    for name, entry in {**OPS, **FUNCTIONS}.items():
        if isinstance(entry, Op) and (entry.query or entry.node is None):
            continue
        for number, case in enumerate(entry.cases):
            drawn = [i for i, value in enumerate(case.inputs) if is_shape(value)]
            for chosen in choices(drawn):
                yield Trial(name, number, chosen)


def choices(places: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for count in range(1, len(places) + 1):
        if len(places) <= MOST_LEAVES or count in (1, len(places)):
            yield from combinations(places, count)


def witness(
    module: Any,
    call: Callable[[list[Any]], Any],
    arrays: Sequence[Any],
    leaves: Sequence[int],
) -> Seen | None:
    """What the passes of a module do; None where there is nothing to differentiate."""
    _, outputs = _run(module, call, arrays, leaves)
    if not outputs:
        return None
    ones = [module.ones_like(y) for y in outputs]
    module.autograd.backward(outputs, ones)
    again = True
    try:
        module.autograd.backward(outputs, ones)
    except RuntimeError as error:
        if SECOND_TIME not in str(error):
            raise
        again = False
    found, outputs = _run(module, call, arrays, leaves)
    options = {"create_graph": True, "allow_unused": True}
    gradients = module.autograd.grad(outputs, found, ones, **options)
    return Seen(
        again,
        [None if g is None else bool(g.requires_grad) for g in gradients],
        [_reached(module, g, found) for g in gradients],
    )


def _reached(module: Any, g: Any, leaves: list[Any]) -> list[bool]:
    if g is None or not g.requires_grad:
        return [False] * len(leaves)
    options = {"retain_graph": True, "allow_unused": True}
    second = module.autograd.grad([g], leaves, [module.ones_like(g)], **options)
    return [s is not None for s in second]


def _run(
    module: Any,
    call: Callable[[list[Any]], Any],
    arrays: Sequence[Any],
    leaves: Sequence[int],
) -> tuple[list[Any], list[Any]]:
    inputs = [
        module.from_numpy(np.array(a)) if hasattr(a, "dtype") else a for a in arrays
    ]
    found = [inputs[i].requires_grad_() for i in leaves]
    y = call(inputs)
    parts = list(y) if isinstance(y, tuple | list) else [y]
    return found, [part for part in parts if part.requires_grad]


def as_line(trial: Trial, seen: Seen | None) -> str:
    return json.dumps({"trial": trial.ident, "seen": seen and asdict(seen)})


def load() -> Records[Seen | None]:
    """What was recorded; None: PyTorch has no such function, or refuses the case."""
    lines = map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())
    seen = {line["trial"]: line["seen"] and Seen(**line["seen"]) for line in lines}
    return Records("record_passes", seen)
