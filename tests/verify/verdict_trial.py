"""Many verdicts, counted: right gradients of random programs, and wrong rules.

Invariant: a gradient is right here if the engine gave it, with the table as it stands;
a rule is wrong if its row's own laws find a difference, or if it was made to be.

    python -m tests.verify.verdict_trial --right 5000 --wrong 500

What can refute a right gradient are its numbers, so SymPy's proofs are left out there;
wrong rules get all that a check does.
"""

from __future__ import annotations

import argparse
import gc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import inf
from random import Random
from time import perf_counter
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import evaluate
from gradcli.ops.checks import KindError
from gradcli.verify import whole
from gradcli.verify.process.job import (
    CERTIFIED,
    PROVED,
    REFUTED,
    SAMPLED,
    Block,
    Job,
)
from gradcli.verify.process.job import Input as Asked
from gradcli.verify.process.worker import spare_the_collector
from tests.laws.mutants import planted
from tests.random.generate import random_program

from .excuses import Excuse, excuses
from .jobs import checked
from .mutant_programs import differ, in_programs, programs

SHOWN = (PROVED, CERTIFIED, SAMPLED)

FAILED = "the engine failed"
REFUSED = "the program is refused"
WITHOUT = "no gradient"
"""Counted beside the verdicts, so that every program is accounted for."""

MOST_STEPS = 2_000
"""Steps in loops of a drawn program."""


@dataclass(frozen=True, slots=True)
class Text:
    """A program with its values, in a type of number."""

    source: str
    values: dict[str, Any]
    dtype: str = "float64"

    def job(self, seconds: float = inf) -> Job | None:
        """What the engine says of its gradient; None where it says nothing."""
        leaves = {
            name: Tensor(np.array(value, self.dtype), NUMPY, True)
            for name, value in self.values.items()
        }
        inputs = list(leaves.values())
        output = evaluate(self.source, leaves, dtype=self.dtype, max_steps=MOST_STEPS)[
            0
        ]
        if not isinstance(output, Tensor) or output.edge is None:
            return None
        found = grad([output], inputs, [Tensor(np.ones_like(output.raw), NUMPY)])
        asked = tuple(
            Asked(name, _block(leaf.raw), _block(_or_zeros(g, leaf)))
            for (name, leaf), g in zip(leaves.items(), found, strict=True)
        )
        return Job(self.source, asked, _block(output.raw), dtype=self.dtype,
                   seconds=seconds)  # fmt: skip


def _or_zeros(g: Tensor | None, leaf: Tensor) -> Any:
    return np.zeros(leaf.shape) if g is None else g.raw


def _block(array: Any) -> Block:
    return Block.of(np.shape(array), np.ravel(np.asarray(array, float)).tolist())


def drawn(seed: int, wild: bool) -> Text:
    """The program of a number; ``wild`` values are infinite, huge and tiny as well."""
    program = random_program(seed, wild=wild, has=_has_derivative)
    values = {
        name: np.reshape([float(v) for v in np.ravel(np.array(given, object))],
                         np.shape(given))
        for name, given in program.inputs.items()
    }  # fmt: skip
    return Text(program.text, values, program.dtype)


WITHOUT_DERIVATIVE = {
    "as_type_of": "it makes numbers of masks and indices, which carry no derivative",
    "as_strided": "it reads memory beside its operand, whose derivative is lost, as it "
                  "is in PyTorch",
}  # fmt: skip
"""Functions of right values whose gradients are not those of the program."""


def _has_derivative(name: str, method: bool) -> bool:
    return name not in WITHOUT_DERIVATIVE


KINDS: dict[str, Callable[[int], Text]] = {
    "tame": partial(drawn, wild=False),
    "wild": partial(drawn, wild=True),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict on one gradient, with what it says."""

    what: str
    verdict: str
    note: str


def right(kind: str, seeds: range, seconds: float = inf) -> Iterator[Found]:
    """The verdicts on the gradients of random programs that have one."""
    for seed in seeds:
        text = KINDS[kind](seed)
        try:
            given = text.job(seconds)
        except ProgramError as error:
            yield Found(f"{kind} {seed}", REFUSED, f"{error.code}: {error.message}")
            continue
        except KindError as error:
            # As PyTorch, the engine has no derivative by this operand.
            yield Found(f"{kind} {seed}", WITHOUT, str(error))
            continue
        except Exception as error:
            yield Found(f"{kind} {seed}", FAILED, f"{type(error).__name__}: {error}")
            continue
        if given is None:
            yield Found(f"{kind} {seed}", WITHOUT, "")
        else:
            yield _judged(f"{kind} {seed}", given)


@contextmanager
def no_proofs() -> Iterator[None]:
    """Numbers alone are looked at."""
    before, whole.MAX_SYMPY_TREE_NODES = whole.MAX_SYMPY_TREE_NODES, 0
    try:
        yield
    finally:
        whole.MAX_SYMPY_TREE_NODES = before


def _judged(what: str, given: Job) -> Found:
    verification = checked(given)
    notes = "; ".join(v.note or "" for v in verification.inputs)
    return Found(what, verification.verdict, notes)


def wrong(count: int) -> Iterator[Found]:
    """The verdicts on the gradients of wrong rules: half of them slips, half excuses,
    drawn by a seed. Who gives the same numbers as the right rule is passed over."""
    draw = Random(0)
    slips = draw.sample(in_programs(), len(in_programs()))
    made = draw.sample(excuses(), len(excuses()))
    for rules in (slips, made):
        left = count // 2
        for rule in rules:
            if not left:
                break
            for found in _of_rule(rule):
                left -= found.verdict != WITHOUT
                yield found


def _of_rule(rule: Any) -> Iterator[Found]:
    for program in programs(rule.row):
        right_one = program.job()
        with planted(rule):
            try:
                given = program.job()
            except Exception as error:
                # No gradient comes out, so there is none to verify.
                yield Found(str(rule), WITHOUT, f"{type(error).__name__}: {error}")
                continue
            if differ(right_one, given) and (
                isinstance(rule, Excuse) or _far(right_one, given)
            ):
                yield _judged(str(rule), given)
                return


def _far(a: Job, b: Job) -> bool:
    """Whether two gradients differ by more than rounding might."""
    for one, other in zip(a.inputs, b.inputs, strict=True):
        assert one.claim is not None
        assert other.claim is not None
        if not np.allclose(one.claim.values(), other.claim.values(), 1e-6, 1e-12):
            return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--right", type=int, default=5000)
    parser.add_argument("--wrong", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--notes", action="store_true", help="of what is not shown")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    spare_the_collector()
    kinds = asked.kind or list(KINDS)
    with np.errstate(all="ignore"):
        for kind in kinds:
            seeds = range(asked.first, asked.first + asked.right // len(kinds))
            with no_proofs():
                title = f"right gradients of {kind} programs"
                found = right(kind, seeds, asked.seconds)
                _table(title, found, [REFUTED, FAILED], asked.notes)
        with default_dtype("float64"):
            _table("wrong rules", wrong(asked.wrong), SHOWN, asked.notes)
    gc.unfreeze()


def _table(title: str, verdicts: Iterator[Found], untrue: Any, notes: bool) -> None:
    began, counts, bad = perf_counter(), Counter[str](), []
    for found in verdicts:
        counts[found.verdict] += 1
        if found.verdict in untrue:
            bad.append(found)
        elif notes and found.verdict not in SHOWN:
            print(f"  {found.what}: {found.verdict}: {found.note[:300]}")
    print(f"{title}: {counts.total()}, {dict(counts.most_common())}, "
          f"{perf_counter() - began:.0f} s", flush=True)  # fmt: skip
    for found in bad:
        print(f"  UNTRUE {found.what}: {found.verdict}: {found.note[:300]}", flush=True)


if __name__ == "__main__":
    main()
