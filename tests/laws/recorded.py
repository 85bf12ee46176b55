"""What was recorded of PyTorch for cases of the table, and what is said where cases and
records, or two arrays, do not agree.

Invariants: no record is written by hand. The same arrays go to PyTorch when a record is
made and to gradcli when it is compared. Whoever finds that something is not recorded is
told what records it.

    RECORDED = Records("forward")
    RECORDED["abs-0"]             # or: run `python -m tests.laws.record forward`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gradcli.engine import NUMPY, Tensor, function
from gradcli.engine.record import apply
from gradcli.ops import FUNCTIONS, OPS, Composite, Op

from .draw import draw, handed, is_shape
from .own import OWN

MOST_NAMED = 6
"""Cases that a message names."""

MOST_ENTRIES = 24
"""Entries of an array that a message shows."""

MOST_LEAVES = 3
"""Of so many inputs at most every choice of leaves is tried; of more, all or one."""

ENTRIES: dict[str, Op | Composite] = {**OPS, **FUNCTIONS}


@dataclass(frozen=True, slots=True)
class Trial:
    """A row or a function on the inputs of one of its cases; ``how`` names what else is
    chosen, such as the numbers of the inputs that are leaves."""

    name: str
    number: int
    how: str = ""

    @property
    def entry(self) -> Op | Composite:
        return ENTRIES[self.name]

    @property
    def case(self) -> str:
        return f"{self.name}-{self.number}"

    @property
    def ident(self) -> str:
        return f"{self.case}-{self.how}" if self.how else self.case

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(map(int, self.how))

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.entry.cases[self.number].params)

    def arrays(self) -> list[Any]:
        """Return what was drawn for the case, on memory of its own."""
        entry: Any = self.entry
        return list(draw(entry, self.number).arrays)

    def inputs(self, module: Any) -> list[Any]:
        """Return the inputs as tensors of a module, the chosen ones leaves."""
        made = [
            module.from_numpy(np.array(a)) if hasattr(a, "dtype") else a
            for a in self.arrays()
        ]
        for i in self.leaves:
            made[i].requires_grad_()
        return made

    def run(self, inputs: Sequence[Any]) -> Any:
        """Return what the row or the function gives for tensors of gradcli."""
        if isinstance(self.entry, Op):
            return apply(self.entry, tuple(inputs), self.params)
        return function(self.name)(*handed(self.entry, inputs), **self.params)


def by_leaves(entry: Op | Composite, cases: int | None = None) -> Iterator[Trial]:
    """Yield trials of an entry's cases, or of the first of them, with every choice of
    leaves."""
    for number, case in enumerate(entry.cases[:cases]):
        drawn = [i for i, value in enumerate(case.inputs) if is_shape(value)]
        for count in range(1, len(drawn) + 1):
            if len(drawn) <= MOST_LEAVES or count in (1, len(drawn)):
                for chosen in combinations(drawn, count):
                    yield Trial(entry.name, number, "".join(map(str, chosen)))


def tensors(arrays: Iterable[Any]) -> list[Any]:
    """Return arrays as tensors of gradcli, and anything else as it is."""
    return [Tensor(a, NUMPY) if isinstance(a, np.ndarray) else a for a in arrays]


def name_of(ident: str) -> str:
    """Return the name in what a trial with a choice is called."""
    return ident.rsplit("-", 2)[0]


def told_apart(trial: Trial, untold: Mapping[str, object]) -> bool:
    """Tell whether PyTorch has no function for a trial, or a pattern of names or cases
    says that it is not asked."""
    return trial.name in OWN or any(
        fnmatchcase(each, pattern) for pattern in untold
        for each in (trial.name, trial.case)
    )  # fmt: skip


class Records(dict[str, Any]):
    """What PyTorch was seen to do, by trial; None: it has no such function, or refuses.

    Args:
        kind: the name of the record's file and of the module that makes it.
        lines: what was seen, where it is not read from the file.
    """

    def __init__(self, kind: str, lines: Mapping[str, Any] | None = None) -> None:
        self.kind = kind
        self.path = Path(__file__).parent / f"{kind}.jsonl"
        if lines is None:
            found = map(json.loads, self.path.read_text(encoding="utf-8").splitlines())
            lines = {line["at"]: line["seen"] for line in found}
        super().__init__(lines)

    @property
    def told(self) -> dict[str, Any]:
        """The trials of which PyTorch told something."""
        return {at: seen for at, seen in self.items() if seen is not None}

    @property
    def way_out(self) -> str:
        return (
            f"with PyTorch installed, run `python -m tests.laws.record {self.kind}` "
            "and look at what it changes"
        )

    def __missing__(self, at: str) -> NoReturn:
        raise AssertionError(f"nothing is recorded of {at}: {self.way_out}")

    def demand(self, trials: Iterable[Trial]) -> None:
        """Raise where other trials are recorded than these, or in another order."""
        demanded = [trial.ident for trial in trials]
        if demanded == list(self):
            return
        missing = [at for at in demanded if at not in self]
        gone = sorted({*self} - {*demanded})
        said = [
            f"{words} {named(found)}"
            for words, found in (("nothing is recorded of", missing),
                                 ("there is no case any more of", gone))
            if found
        ]  # fmt: skip
        order = "the cases come in another order than the record"
        raise AssertionError(f"{'; '.join(said) or order}: {self.way_out}")


def named(cases: list[str]) -> str:
    """The first cases, and how many more there are."""
    more = len(cases) - MOST_NAMED
    shown = ", ".join(cases[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def apart(found: Any, true: Any, by: str, at: Mapping[str, Any]) -> str:
    """What is said of values that should agree.

    Args:
        by: what gave the ones that are held to be true.
        at: the inputs and the parameters.
    """
    point = ", ".join(f"{name}={shown(value)}" for name, value in at.items())
    return f"{shown(found)}, but {shown(true)} by {by}, at {point}"


def shown(value: Any) -> str:
    """A value on one line; of many entries the first."""
    if isinstance(value, list | tuple):
        return f"({', '.join(map(shown, value))})"
    if not hasattr(value, "dtype"):
        return repr(value)
    array = np.asarray(getattr(value, "raw", value))
    flat = array.ravel()[:MOST_ENTRIES].tolist()
    cut = f"... ({array.size} entries)" if array.size > MOST_ENTRIES else ""
    if not array.ndim:
        return f"{flat[0]!r}"
    beside = f" of shape {list(array.shape)}" if array.ndim > 1 else ""
    return f"[{', '.join(map(repr, flat))}{cut}]{beside}"
