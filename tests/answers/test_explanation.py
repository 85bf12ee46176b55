"""The backward pass as it happened: the engine's own order, and its sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.answers.explanation import StepView, explain, rehearse
from tests.reference.recorded_programs import RECORDS

from .recorded import Named, ran, ran_known


def steps_of(named: Named) -> tuple[StepView, ...]:
    run, names, view = named
    return explain(run.output, named.cotangent, names, view)


@pytest.mark.parametrize("known", RECORDS, ids=lambda known: str(known["name"]))
def test_what_leaves_accumulate_is_pytorchs_gradient(known: Any) -> None:
    leaves = {s.name: s for s in steps_of(ran_known(known)) if s.is_leaf}
    for name, expected in known["grads"].items():
        if expected is None:
            assert name not in leaves
            continue
        step = leaves[name]
        assert step.grad_before is None
        for told in (step.incoming[0], step.grad_after):
            np.testing.assert_allclose(
                np.array(told, float), expected, rtol=1e-12, atol=1e-12
            )


@pytest.mark.parametrize("known", RECORDS, ids=lambda known: str(known["name"]))
def test_what_arrives_is_what_was_sent_added_up_in_order(known: Any) -> None:
    named = ran_known(known)
    steps = steps_of(named)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    for place, step in enumerate(steps):
        for send in step.sends:
            if send.held is None:
                assert send.total == send.gradient
            else:
                np.testing.assert_array_equal(
                    np.add(send.held, send.gradient), np.array(send.total)
                )
        if not place or len(step.incoming) > 1 or step.name is None:
            continue
        sent = [s for one in steps[:place] for s in one.sends if s.name == step.name]
        if sent and sent[-1].output_nr == 0:
            np.testing.assert_array_equal(sent[-1].total, step.incoming[0])
        # Nothing is sent to a step that has run.
        later = [s for one in steps[place:] for s in one.sends]
        assert all(s.name != step.name for s in later) or "for" in known["program"]


@pytest.mark.parametrize("known", RECORDS, ids=lambda known: str(known["name"]))
def test_every_node_is_one_step(known: Any) -> None:
    named = ran_known(known)
    names = sorted(node.name for node in named.view.nodes)
    assert sorted(step.node for step in steps_of(named)) == names


def test_a_loop_of_ten_thousand_steps_is_told_whole() -> None:
    steps = steps_of(ran("y = x\nfor i in range(10000): y = y*1.0", "x=2"))
    assert len(steps) == 10_001


def test_a_rehearsed_pass_adds_to_no_leaf_and_calls_none_of_its_hooks() -> None:
    run, names, view = named = ran("(x*x).sum()", "x=[1,2]")
    called: list[object] = []
    leaf = named.inputs["x"]
    leaf.edge.register_hook(lambda *given: called.append(given))
    steps = rehearse(run.output, named.cotangent, names, view)
    assert steps[-1].grad_after == [2.0, 4.0]
    assert (leaf.grad, called) == (None, [])
