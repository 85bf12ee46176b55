"""Constants are exact in claims, however they are written: of claims about programs of
constants right ones are confirmed, and slightly wrong ones are not.

A constant is drawn in two spellings of one number; a program has the one, a claim on
its derivative the other. Nothing here computes in floats: that the spellings are one
number is an identity of real numbers.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from tests.grouped import nightly

from .asking import X, ruled

COUNT = 100
"""Claims of one test, half of them right."""

SLIGHTLY: tuple[str, ...] = (
    "*(1 + 1e-11)", "*(1 - 1e-15)", "*(1 + 3e-19)", "*(1 - 1e-22)", "*1.000000001",
)  # fmt: skip
"""What makes a constant another one, some of which no float tells."""

FORMS: tuple[tuple[str, str], ...] = (
    ("{a}*x", "{a}"),
    ("{a}*x**2 - x*{b}", "2*{a}*x - {b}"),
    ("sin({a}*x)", "{a}*cos({a}*x)"),
    ("{b}*exp({a}*x)", "{a}*{b}*exp({a}*x)"),
    ("log(x + 9)*{a} + {b}", "{a}/(x + 9)"),
    ("x/{a} + {b}*cos(x)", "1/{a} - {b}*sin(x)"),
    ("y = {a}\nfor i in range(2): y = y*{b}\ny*x", "{a}*{b}**2"),
)
"""Programs, and their derivatives on paper, in two constants."""


def spellings(draw: Random) -> tuple[str, str]:
    """Draw two texts of one number."""
    p, q, n = draw.randint(1, 9), draw.randint(2, 9), draw.randint(2, 5)
    k, places = draw.randint(2, 30), draw.randint(1, 9)
    digits = draw.randint(1, 10**places)
    parts = [Fraction(draw.randint(1, 999), 1000) for _ in range(n)]
    one, large = Fraction(draw.randint(2, 99), 10), draw.randint(2, 5000)
    rest, order = draw.choice((2, 3, 5, 6, 7)), draw.choice((3, 4, 5, 7, 11))
    return draw.choice([
        (f"{digits / 10**places:.{places}f}", f"{digits}/{10**places}"),
        (" + ".join(f"{float(part):.3f}" for part in parts), f"{sum(parts)}"),
        ("*".join([f"{float(one):.1f}"] * n), f"{one**n}"),
        (f"{k}/{large}", f"{q * k}/{q * large}"),
        (f"{p}*pi**{n}/{q}", f"{p}/{q}*(4*atan(1))**{n}"),
        (f"e**{n}", f"exp({n})"),
        (f"log({k}, {k + p})", f"log({k})/log({k + p})"),
        (f"log({q**n}, {q})", f"{n}"),
        (f"{q * q * rest}^0.5", f"{q}*sqrt({rest})"),
        (f"root({k}, {order})", f"{k}**(1/{order})"),
    ])  # fmt: skip


@pytest.mark.parametrize("first", [0, *nightly(range(COUNT, 1_000, COUNT))])
def test_a_claim_with_constants_is_refuted_only_if_it_is_wrong(first: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, first + COUNT):
        draw, right = Random(seed), seed % 2 == 0
        form, derivative = draw.choice(FORMS)
        shuffled = [draw.sample(spellings(draw), 2) for _ in range(2)]
        (ours, a), (own, b) = ([f"({text})" for text in pair] for pair in shuffled)
        a = a if right else f"({a}{draw.choice(SLIGHTLY)})"
        program, claim = form.format(a=ours, b=own), derivative.format(a=a, b=b)
        ruling = ruled(program, X, f"d/dx = {claim}")
        counts[f"{'right' if right else 'wrong'}: {ruling.verdict}"] += 1
        good = ("proved", "agrees") if right else ("refuted", "agrees")
        assert ruling.verdict in good, (seed, program, claim, ruling)
    assert counts["right: proved"] > 0.9 * COUNT / 2
    assert counts["wrong: refuted"] > 0.9 * COUNT / 2


SMALL = {
    "1e-300*x**2": ("2e-300*x", "3e-300*x"),
    "sin(x)": ("cos(x)", "cos(x) + 1e-22", "cos(x) + 1e-30", "cos(x)*(1 + 1e-200)"),
    "x + 1e-30*x**2": ("1 + 2e-30*x", "1", "1 + 3e-30*x"),
    "1e300*x + 1e-300*x**2": ("1e300 + 2e-300*x", "1e300 + 2.0001e-300*x"),
    "7.5*x**2 + 94*where(x > 0, x, 2*x)": (
        "15*x + 94*where(x > 0, 1, 2)",
        "15*x + 94*(1 + 2e-39)*where(x > 0, 1, 2)",
    ),
    "x**3": ("3*x**2", "3*(1 + 1e-40)*x**2", "3*x**2 - 1e-300"),
}
"""Programs, their derivatives, and claims that differ from these by very little."""


@pytest.mark.parametrize("program", SMALL)
def test_of_two_claims_that_differ_at_most_one_is_proved(program: str) -> None:
    right, *wrong = SMALL[program]
    assert ruled(program, X, f"d/dx = {right}").verdict == "proved"
    for claim in wrong:
        assert ruled(program, X, f"d/dx = {claim}").verdict == "refuted"


def test_the_size_of_a_difference_that_floats_do_not_tell_is_told() -> None:
    found = ruled("sin(x)", X, "d/dx = cos(x)*(1 + 1e-40)")
    assert found.note == "the two differ by 1.0e-40 of their size"


def test_a_claim_without_a_proof_says_in_how_many_digits_it_was_compared() -> None:
    found = ruled("sin(x)", X, "d/dx = cos(x)", prove=False)
    assert (found.verdict, found.note) == ("agrees", "compared in 1233 digits")
