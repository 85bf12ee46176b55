"""Every mutant of every rule is refuted by a law, or is the same function."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from gradcli.ops import OPS, Op
from tests.grouped import nightly

from .measure import cotangents, directions, pull, push
from .mutant_slips import Survey, wrapped
from .mutant_trial import FAILED, excuse, table, tried
from .mutants import SIGN, TWICE, Mutant, all_mutants, mutants_of, planted, spots_of

# Mutants leave the domains of functions; what they give there is looked at.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

ROWS = [op for op in OPS.values() if op.node is not None]

everyone = cache(all_mutants)


SHARE = 40
"""One mutant of so many is tried in every run, and all are at night."""


@pytest.mark.parametrize("share", [SHARE, *nightly([1])])
def test_every_mutant_is_refuted_or_is_the_same_function(
    share: int, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = [tried(mutant) for mutant in everyone()[::share]]
    with capsys.disabled():
        print("", *table(outcomes)[: 1 if share > 1 else None], sep="\n")
    assert [str(o.mutant) for o in outcomes if not o.explained] == []


@pytest.mark.nightly
def test_no_excuse_is_found_for_a_mutant_that_a_law_refutes() -> None:
    """One of 23 is tried: the excuse is sharp."""
    refuted = [m for m in everyone()[::23] if tried(m).law not in (None, FAILED)]
    assert len(refuted) > 100
    assert [str(m) for m in refuted if excuse(m)] == []


def rules_of(op: Op) -> set[tuple[str, int | None]]:
    """The formulas of a row: the field and the input, None where it serves all."""
    found: set[tuple[str, int | None]] = set()
    for part in ("partials", "vjp"):
        rules = getattr(op, part)
        if callable(rules):
            found.add((part, None))
        else:
            found |= {(part, i) for i, r in enumerate(rules or ()) if callable(r)}
    return found | ({("jvp", None)} if callable(op.jvp) else set())


@pytest.mark.nightly
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_every_rule_has_mutants(op: Op) -> None:
    mutants = mutants_of(op)
    for slip in (SIGN, TWICE):
        spoilt = {(m.part, m.slot) for m in mutants if m.slip == slip and not m.site}
        assert rules_of(op) <= spoilt
    assert len(set(map(str, mutants))) == len(mutants)


@pytest.mark.nightly
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_a_watched_rule_gives_what_the_rule_gives(op: Op) -> None:
    for plain, seen in zip(spots_of(op), spots_of(watching(op)), strict=True):
        v, t = cotangents(plain), directions(plain)
        pairs = [(pull(plain, v), pull(seen, v)), (push(plain, t), push(seen, t))]
        for ours, theirs in pairs:
            for a, b in zip(ours, theirs, strict=True):
                assert np.array_equal(a, b)


def watching(op: Op) -> Op:
    """A copy whose rules are all watched."""
    fields: dict[str, Any] = {}
    for part in ("partials", "vjp", "jvp"):
        rules = getattr(op, part)
        if callable(rules):
            fields[part] = wrapped(rules, Survey())
        elif isinstance(rules, tuple):
            traced = [wrapped(r, Survey()) if callable(r) else r for r in rules]
            fields[part] = tuple(traced)
    return replace(op, name=f"{op.name} with all rules watched", **fields)


def test_a_planted_fault_is_gone_afterwards() -> None:
    for mutant in (
        Mutant("neg", "partials", 0, SIGN),
        Mutant("tanh", "partials", 0, TWICE),
        Mutant("mm", "vjp", 0, SIGN),
    ):
        (spot, *_) = spots_of(OPS[mutant.row])
        v = cotangents(spot)
        before = pull(spot, v)
        with planted(mutant):
            assert not np.array_equal(pull(spot, v)[0], before[0])
        assert np.array_equal(pull(spot, v)[0], before[0])
