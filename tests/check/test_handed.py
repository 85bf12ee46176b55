"""Of a large block a seeded choice of numbers is handed to the checker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.answers import jobs
from gradcli.answers.jobs import claim, job_for
from gradcli.check.process.job import REFUTED, SAMPLED, Job, NumberBlock
from gradcli.check.subject import program_of
from gradcli.check.verify import verify
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, prepare

PROGRAMS = {
    "sparse": ("jacobian", "x[1:]^2 - sin(x[:-1])"),
    "dense": ("jacobian", "cumsum(x, 0)^2"),
    "hessian": ("hessian", "(x[1:]^2*x[:-1]).sum()"),
}
SIZE = 70


def columns_of(run: Run, kind: str) -> list[Any]:
    if kind == "jacobian":
        return [run.jacobian().blocks[0]]
    return [row[0] for row in run.hessian()]


@pytest.fixture(params=sorted(PROGRAMS))
def handed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job of whose claim not all numbers are handed over."""
    monkeypatch.setattr(jobs, "MAX_HANDED", 100)
    monkeypatch.setattr(jobs, "DRAWN", 20)
    kind, source = PROGRAMS[request.param]
    run = Session(prepare(source, read_bindings([f"x=linspace(1,2,{SIZE})"]))).run()
    blocks = columns_of(run, kind)
    return job_for(run, float("inf"), kind, {"x": claim(blocks, 0)})


def claimed(job: Job) -> NumberBlock:
    block = job.inputs[0].claim
    assert block is not None
    return block


def test_what_is_handed_over_are_numbers_of_the_block(handed: Job) -> None:
    block = claimed(handed)
    assert block.places is not None
    places = np.frombuffer(block.places, dtype=np.int64)
    run = Session(
        prepare(handed.source, read_bindings([f"x=linspace(1,2,{SIZE})"]))
    ).run()
    dense = columns_of(run, handed.kind)[0].dense().raw.ravel()
    assert (np.diff(places) > 0).all()
    assert block.count == dense.size
    assert block.values() == dense[places].tolist()
    assert sum(value != 0 for value in block.values()) >= 10


def test_numbers_that_are_right_are_sampled(handed: Job) -> None:
    job = Job.from_json(handed.to_json())
    assert job == handed
    found = verify(job, program_of(job))
    assert found.verdict == SAMPLED
    assert 0 < found.checked <= len(claimed(job).values())
    assert found.of == claimed(job).count


@pytest.mark.parametrize("zero", [True, False])
def test_a_wrong_number_is_refuted(handed: Job, zero: bool) -> None:
    given, block = handed.inputs[0], claimed(handed)
    wrong = [0.5 if (v == 0) == zero else v for v in block.values()]
    assert wrong != block.values()
    assert block.places is not None
    false = replace(NumberBlock.of(block.shape, wrong), places=block.places)
    job = replace(handed, inputs=(replace(given, claim=false),))
    assert verify(job, program_of(job)).verdict == REFUTED


def test_the_seed_decides_what_is_handed_over(handed: Job) -> None:
    run = Session(
        prepare(handed.source, read_bindings([f"x=linspace(1,2,{SIZE})"]))
    ).run()
    blocks = columns_of(run, handed.kind)
    again, other = claim(blocks, 0), claim(blocks, 1)
    assert again == claimed(handed)
    assert other.places != again.places


def test_small_blocks_are_handed_over_whole() -> None:
    run = Session(prepare("x*x", read_bindings(["x=[1,2,3]"]))).run()
    block = claim([run.jacobian().blocks[0]], 0)
    assert block.places is None
    assert block.values() == [2, 0, 0, 0, 4, 0, 0, 0, 6]
