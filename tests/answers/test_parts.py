"""A formula of one part of the domain names a place of another part, if any."""

from __future__ import annotations

import pytest

from gradcli.answers.parts import elsewhere
from gradcli.answers.question import Question


@pytest.mark.parametrize(
    ("program", "conditions", "place"),
    [
        ("x^2 if x < 1 else 2*x", ["x < 1"], "x=2.3"),
        ("relu(x)*y", ["x > 0"], "x=-1.3 y=2.3"),
        ("log(x)", ["x > 0"], None),  # the program has no value elsewhere
        ("abs(x)", ["x != 0"], None),  # a kink is no part of the domain
        ("x + y + z", ["x > 0"], None),
        ("relu(x)", ["conditions too long to show: 3 > 2"], None),
    ],
)
def test_a_place_of_another_part_has_a_value(
    program: str, conditions: list[str], place: str | None
) -> None:
    assert elsewhere(Question(program, symbols=True).run(), conditions) == place
