"""No verdict is strong where a number is off by more than is said: random programs
with overflow, underflow and edges of domains, against mpmath with 200 digits.

Nothing of gradcli takes part in what is right here: a program is drawn as a tree, which
is written in the language and evaluated by mpmath, constants included.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import isfinite
from random import Random
from typing import Any

import mpmath
import pytest
from mpmath import mp

from gradcli.check.process.job import InputVerdict, Job
from gradcli.ops import FUNCTIONS
from tests.grouped import nightly

from .jobs import checked, job, no_proofs

DIGITS = 200
"""Digits of what is called true."""

STRONG = ("proved", "certified")

LAST = mpmath.mpf(10) ** -60
"""Share of a derivative that mpmath's own rounding, or a difference quotient, may make
of it."""

Value = Any
"""A number of mpmath."""


def _entropy(x: Value) -> Value:
    if x < 0:
        raise ArithmeticError("entr of a negative number is -inf")
    return -x * mp.log(x) if x else mp.mpf(0)


def _power(a: Value, b: Value) -> Value:
    if a < 0 and b != mp.floor(b):
        raise ArithmeticError("no real power")
    return mp.power(a, b)


UNARY: dict[str, Callable[[Value], Value]] = {
    "exp": mp.exp, "exp2": lambda x: mp.power(2, x), "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "sinh": mp.sinh, "cosh": mp.cosh,
    "expm1": mp.expm1, "log": mp.log, "sqrt": mp.sqrt, "log1p": mp.log1p,
    "asin": mp.asin, "acosh": mp.acosh, "atanh": mp.atanh,
    "rsqrt": lambda x: 1 / mp.sqrt(x), "entr": _entropy,
    "logit": lambda x: mp.log(x / (1 - x)), "tanh": mp.tanh, "erfc": mp.erfc,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: x if x > 20 else mp.log1p(mp.exp(x)), "abs": abs,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
}  # fmt: skip
"""Functions that leave the range of floats, and such as have an edge."""

BINARY: list[tuple[str, Callable[[Value, Value], Value]]] = [
    ("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b),
    ("/", lambda a, b: a / b), ("**", _power),
]  # fmt: skip

EDGES = (0.0, 1.0, -1.0, 0.5)
"""Numbers at which domains end."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A formula: how it is written, what mpmath makes of it, and its operands."""

    text: str
    rule: Callable[..., Value]
    parts: tuple[Tree, ...] = ()

    def at(self, point: dict[str, Value]) -> Value:
        if not self.parts:
            return self.rule(point)
        found = self.rule(*[part.at(point) for part in self.parts])
        if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
            raise ArithmeticError("no finite real number")
        if abs(found) > mpmath.mpf(10) ** 5000:
            raise ArithmeticError("too large for mpmath's exponents")
        return found


def tree(r: Random, depth: int) -> Tree:
    if depth <= 0:
        if r.random() < 0.75:
            letter = r.choice("xy")
            return Tree(letter, lambda point: point[letter])
        text = r.choice(("1e200", "1e-200", "1e160", "2", "0.5", "3", "1e-310"))
        return Tree(text, lambda point: mp.mpf(text))
    if r.random() < 0.55:
        word, part = r.choice([*UNARY]), tree(r, depth - 1)
        return Tree(f"{word}({part.text})", UNARY[word], (part,))
    a, b = tree(r, depth - 1), tree(r, r.randint(0, depth - 1))
    sign, rule = r.choice(BINARY)
    return Tree(f"({a.text}) {sign} ({b.text})", rule, (a, b))


def number(r: Random) -> float:
    kind = r.random()
    if kind < 0.2:
        return r.choice(EDGES)
    if kind < 0.5:
        return r.choice((1, -1)) * r.uniform(1, 9) * 10.0 ** r.randint(-320, 300)
    if kind < 0.8:
        return r.choice((1, 1, -1)) * r.uniform(0.1, 800)
    return r.choice(EDGES) + r.choice((1, -1)) * 10.0 ** -r.randint(3, 16)


def slope(node: Tree, point: dict[str, Any], letter: str) -> Any:
    """Return the derivative from both sides: ArithmeticError where they differ."""
    x = point[letter]
    h = mpmath.mpf(10) ** -400 * (abs(x) or 1)
    with mp.workdps(4 * DIGITS + 400):
        middle = node.at(point)
        above, below = (
            (node.at({**point, letter: x + s}) - middle) / s for s in (h, -h)
        )
    if abs(above - below) > abs(above) * mpmath.mpf(10) ** -100:
        raise ArithmeticError("the sides differ, or it bends too much to be told")
    if not x and abs(above) <= h:
        raise ArithmeticError("0, or what it bends by within the step")
    return (above + below) / 2


def false(said: InputVerdict, found: float, true: Value | None) -> str | None:
    """Why a strong verdict is none; None where it is true. ``true`` is the derivative,
    or None where there is none."""
    if said.verdict not in STRONG:
        return None
    if true is None:
        return "there is no derivative"
    if not isfinite(found):
        return f"{found} is shown"
    off = abs(mpmath.mpf(found) - true)
    if said.max_error is not None:
        allowed = mpmath.mpf(said.max_error) * abs(true) * (1 + mpmath.mpf(10) ** -9)
    else:
        _, _, least = (said.note or "").partition("an absolute error of at most ")
        if not least:
            return "no error is shown"
        allowed = mpmath.mpf(least.partition(";")[0])
    return None if off <= allowed + LAST * abs(true) else f"off by {mp.nstr(off, 5)}"


def draws(seed: int, count: int) -> Iterator[tuple[int, Tree, dict[str, float]]]:
    for nr in range(seed, seed + count):
        r = Random(nr)
        node = tree(r, r.randint(1, 3))
        point = {k: number(r) for k in "xy" if re.search(rf"\b{k}\b", node.text)}
        if point:
            yield nr, node, point


def tried(seed: int, count: int, kinds: Counter[str]) -> Iterator[str]:
    for nr, node, point in draws(seed, count):
        exact = {k: mp.mpf(v) for k, v in point.items()}
        told = f"{nr} {node.text} {point}"
        try:
            given = job(node.text, point)
        except Exception as error:
            kinds[f"refused {type(error).__name__}"] += 1
            continue
        verdicts = checked(given).inputs
        for asked, said in zip(given.inputs, verdicts, strict=True):
            assert asked.claim is not None
            (found,) = asked.claim.values()
            kinds[said.verdict] += 1
            if said.verdict not in (*STRONG, "refuted"):
                continue
            try:
                true = slope(node, exact, asked.name)
            except ArithmeticError as error:
                # What mpmath cannot tell is no excuse where it has no value either.
                try:
                    with mp.workdps(DIGITS):
                        node.at(exact)
                    kinds["not told"] += 1
                    continue
                except OverflowError:
                    continue
                except (ArithmeticError, ValueError):
                    if "too large" in str(error):
                        continue
                    true = None
            except (ValueError, OverflowError, mp.NoConvergence):
                kinds["not told"] += 1
                continue
            if said.verdict == "refuted":
                yield f"REFUTED {told} {asked.name} {found!r}: {said.note}"
                continue
            why = false(said, found, true)
            if why is not None:
                shown = "none" if true is None else mp.nstr(true, 20)
                yield (f"FALSE {said.verdict} {told} d/d{asked.name} = {found!r}, true "
                       f"{shown}, max_error {said.max_error}: {why}")  # fmt: skip


WITHOUT_VALUE = ("{}*z", "z/{}", "z*exp(-{})", "z*exp({})", "0*{} + z")
"""Programs of a function's value, some of which hide that it is infinite."""

AT = (-3.3, -2.0, -0.3, 0.0, 1.3)
"""Numbers of which some lie outside a function's domain, or are its poles."""


PARTS = 6


def without_value(part: int) -> Iterator[Job]:
    """Yield programs with a function that has no finite value where it is asked, for
    one function of so many parts."""
    every = [word for word, entry in FUNCTIONS.items() if word == entry.name]
    words = every[part::PARTS]
    for word, letters in product(words, ("x", "xy")):
        called = f"{word}({', '.join(letters)})"
        for numbers in product(AT, repeat=len(letters)):
            point = dict(zip(letters, numbers, strict=True))
            # Functions of matrices, and such as take more, refuse numbers.
            with suppress(Exception):
                alone = job(called, point)
                if alone.output.count > 1:
                    break
                if not isfinite(alone.output.values()[0]):
                    for text in WITHOUT_VALUE:
                        yield job(text.format(called), {**point, "z": 1.7})
                    break


@pytest.mark.parametrize("part", [0, *nightly(range(1, PARTS))])
def test_nothing_is_shown_where_a_function_of_the_table_has_no_value(part: int) -> None:
    told: Counter[str] = Counter()
    with no_proofs():
        for given in without_value(part):
            for said in checked(given).inputs:
                told[said.verdict] += 1
                assert said.verdict not in (*STRONG, "rounded"), (given, said)
    assert told["unknown"] > 300 // PARTS // 2


COUNT = 150
"""Programs of one test."""


@pytest.mark.parametrize(
    "first", [6_000_000, *nightly(range(6_100_000, 6_103_000, COUNT))]
)
def test_no_strong_verdict_is_false_at_the_edges_of_range_and_domain(
    first: int,
) -> None:
    kinds: Counter[str] = Counter()
    with mp.workdps(DIGITS), no_proofs():
        lines = list(tried(first, COUNT, kinds))
    assert lines == []
    assert kinds["rounded"] >= 10
    assert kinds["certified"] >= 30
    assert kinds["unknown"] >= 30
