"""Claims about programs of constants, right ones and ones that are slightly off.

A constant is drawn in two spellings of one number; a program has the one, a claim on
its derivative the other. Nothing here computes in floats: that the spellings are one
number is an identity of real numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from gradcli.verify.claims.text import Ruling

from .asking import ruled

Spellings = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """A program in ``x``, what is claimed of its derivative, and whether that is so."""

    program: str
    claim: str
    right: bool

    def ruling(self) -> Ruling:
        inputs: dict[str, tuple[int, ...]] = {"x": ()}
        return ruled(self.program, inputs, f"d/dx = {self.claim}")


def _decimal(draw: Random) -> Spellings:
    places = draw.randint(1, 9)
    digits = draw.randint(1, 10**places)
    text = f"{digits / 10**places:.{places}f}"
    return text, f"{digits}/{10**places}"


def _sum_of_decimals(draw: Random) -> Spellings:
    parts = [Fraction(draw.randint(1, 999), 1000) for _ in range(draw.randint(2, 4))]
    text = " + ".join(f"{float(p):.3f}" for p in parts)
    return text, f"{sum(parts)}"


def _product_of_decimals(draw: Random) -> Spellings:
    one, count = Fraction(draw.randint(2, 99), 10), draw.randint(2, 5)
    factors = "*".join([f"{float(one):.1f}"] * count)
    return factors, f"{one**count}"


def _quotient(draw: Random) -> Spellings:
    p, q, k = draw.randint(1, 99), draw.randint(2, 5000), draw.randint(2, 9)
    return f"{p}/{q}", f"{k * p}/{k * q}"


def _pi(draw: Random) -> Spellings:
    p, q, n = draw.randint(1, 9), draw.randint(1, 9), draw.randint(1, 3)
    return f"{p}*pi**{n}/{q}", f"{p}/{q}*(4*atan(1))**{n}"


def _e(draw: Random) -> Spellings:
    n = draw.randint(2, 5)
    return f"e**{n}", f"exp({n})"


def _logarithm(draw: Random) -> Spellings:
    base, top = draw.sample(range(2, 30), 2)
    return f"log({top}, {base})", f"log({top})/log({base})"


def _power(draw: Random) -> Spellings:
    base, n = draw.randint(2, 12), draw.randint(2, 6)
    return f"log({base**n}, {base})", f"{n}"


def _root(draw: Random) -> Spellings:
    square, rest = draw.randint(2, 9), draw.choice((2, 3, 5, 6, 7))
    return f"{square * square * rest}^0.5", f"{square}*sqrt({rest})"


def _higher_root(draw: Random) -> Spellings:
    number, order = draw.randint(2, 50), draw.choice((3, 4, 5, 7, 11))
    return f"root({number}, {order})", f"{number}**(1/{order})"


CONSTANTS: tuple[Callable[[Random], Spellings], ...] = (
    _decimal, _sum_of_decimals, _product_of_decimals, _quotient, _pi, _e, _logarithm,
    _power, _root, _higher_root,
)  # fmt: skip

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


def said(seed: int) -> Said:
    """Draw a claim; those of odd seeds are wrong."""
    draw = Random(seed)
    right = seed % 2 == 0
    program, derivative = draw.choice(FORMS)
    pairs = [draw.choice(CONSTANTS)(draw) for _ in range(2)]
    shuffled = [[f"({text})" for text in draw.sample(pair, 2)] for pair in pairs]
    ours, (a, b) = zip(*shuffled, strict=True)
    if not right:
        a = f"({a}{draw.choice(SLIGHTLY)})"
    return Said(
        program.format(a=ours[0], b=ours[1]), derivative.format(a=a, b=b), right
    )


def untrue(seeds: range, counts: Counter[str]) -> Iterator[str]:
    """Right claims that are not confirmed and wrong ones that are proved."""
    for seed in seeds:
        each = said(seed)
        ruling = each.ruling()
        counts[f"{'right' if each.right else 'wrong'}: {ruling.verdict}"] += 1
        good = ("proved", "agrees") if each.right else ("refuted", "agrees")
        if ruling.verdict not in good:
            yield f"{seed}: {each}: {ruling.verdict} {ruling.note or ''}"
