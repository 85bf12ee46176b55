"""Constants are exact in claims, however they are written."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.grouped import nightly

from .asking import X, ruled
from .constants import untrue

COUNT = 100
"""Claims of one test, half of them right."""


@pytest.mark.parametrize("first", [0, *nightly(range(COUNT, 1_000, COUNT))])
def test_a_claim_with_constants_is_refuted_only_if_it_is_wrong(first: int) -> None:
    counts: Counter[str] = Counter()
    assert list(untrue(range(first, first + COUNT), counts)) == []
    assert counts["right: proved"] > 0.9 * COUNT / 2
    assert counts["wrong: refuted"] > 0.9 * COUNT / 2


@pytest.mark.parametrize(
    ("program", "claim"),
    [
        ("log(x, 2)", "1/(x*log(2))"),
        ("log(x, 10)", "1/(x*log(10))"),
        ("log(7, x + 2)", "-log(7)/((x + 2)*log(x + 2)^2)"),
        ("x*pi**2/6", "pi**2/6"),
        ("x*e**2", "exp(2)"),
        ("x*log(8, 2)", "3"),
        ("x*(1.1*1.1*1.1)", "1.331"),
        ("(0.1 + 0.2 - 0.3)*x", "0"),
        ("0.1*x + 0.2*x - 0.3*x", "0"),
        ("x*pow(3, -7)", "1/2187"),
        ("x*float(1/3)", "1/3"),
        ("x*nCr(5, 1/2)", "nCr(5, 0.5)"),
        ("x*sum([0.1, 0.2])", "0.3"),
        ("x*arange(0, 1, 0.1)[3]", "0.3"),
        ("x*linspace(0, 1, 8)[3]", "3/7"),
        ("x*full((2,), 0.1 + 0.2)[0]", "3/10"),
        ("x*tensor([1/3, 0.7])[0]", "1/3"),
        ("x*(0.7 % 0.2)", "0.1"),
        ("x*abs(-2.2 + 0.1)", "2.1"),
        ("s = 0\nfor i in range(10): s += 0.1\nx*s", "1"),
        ("x**(2*pi - tau + 2)", "2*x"),
    ],
)
def test_what_is_right_on_paper_is_proved(program: str, claim: str) -> None:
    assert ruled(program, X, f"d/dx = {claim}").verdict == "proved"


@pytest.mark.parametrize(
    ("program", "claim"),
    [
        ("x*pi", "3.14159265358979323"),
        ("x/3", "0.33333333333333333333"),
        ("x*2^0.5", "1.414213562373095049"),
        ("(0.1 + 0.2)*x", "0.30000000000000004"),
        ("x*e**2", "7.3890560989306502"),
    ],
)
def test_a_decimal_is_no_more_than_it_says(program: str, claim: str) -> None:
    assert ruled(program, X, f"d/dx = {claim}").verdict == "refuted"
