"""Every recorded fact of PyTorch's public face, with gradcli in PyTorch's place.

Printed text is compared exactly, except that a number with decimals may differ by two
units in its last printed place: the two libraries add in different orders. An exception
has to be of the recorded class, and its message has to begin with the first sentence of
the recorded one.
"""

from __future__ import annotations

import re
from operator import attrgetter

import pytest
import torch_facts
from torch_facts import Fact

import gradcli
from tests.grouped import by_row

FACTS = torch_facts.load()
FEWEST_FACTS = 350


def family(name: str) -> str:
    return name.partition("/")[0]


@by_row("fact", FACTS, attrgetter("name"), family)
def test_gradcli_does_what_pytorch_does(fact: Fact) -> None:
    outcome = torch_facts.run(fact.code, gradcli)
    if outcome.error is not None and fact.raises is None:
        raise outcome.error
    assert torch_facts.align(outcome.printed, fact.printed) == fact.printed
    if fact.raises is not None:
        assert outcome.error is not None, f"nothing raised, not {fact.raises}"
        kinds = {torch_facts.public_name(c) for c in type(outcome.error).__mro__}
        assert fact.raises.type in kinds, repr(outcome.error)
        message = torch_facts.without_addresses(str(outcome.error))
        assert message.startswith(fact.raises.first_sentence)


def test_there_are_at_least_350_facts_each_under_its_own_name() -> None:
    assert len(FACTS) >= FEWEST_FACTS
    assert len({fact.name for fact in FACTS}) == len(FACTS)


def test_every_promised_name_is_used_by_a_fact() -> None:
    words = {name: re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
             for name in torch_facts.promised_names()}  # fmt: skip
    code = "\n".join(fact.code for fact in FACTS)
    assert words
    assert [name for name, word in words.items() if not word.search(code)] == []


@pytest.mark.parametrize(
    ("got", "recorded", "same"),
    [
        ("tensor(0.8415)", "tensor(0.8413)", True),
        ("tensor(0.8415)", "tensor(0.8412)", False),
        ("1.2346e-05", "1.2345e-05", True),
        ("1.2345e-06", "1.2345e-05", False),
        ("0.84", "0.8415", False),
        ("tensor(3.)", "tensor(2.)", False),
        ("tensor(-0.)", "tensor(0.)", False),
        ("<AddBackward1>", "<AddBackward0>", False),
        ("[1, 2]", "[1, 2, 3]", False),
        ("tensor([-1.5000, -0.0000])", "tensor([-1.5000,  0.0000])", True),
        ("tensor([ 1.5000])", "tensor([1.5000])", False),
        ("tensor([1.5,  2.5])", "tensor([1.5, 2.5])", False),
    ],
)
def test_numbers_may_differ_in_the_last_printed_place_and_nothing_else(
    got: str, recorded: str, same: bool
) -> None:
    assert (torch_facts.align(got, recorded) == recorded) is same
