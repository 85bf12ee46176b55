"""No verdict is strong where a number is off by more than is said: random programs
with overflow, underflow and edges of domains, against mpmath with 200 digits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from math import isfinite
from random import Random
from typing import Any

import mpmath
import pytest
from mpmath import mp

from gradcli.ops import FUNCTIONS
from gradcli.verify.process.job import Job
from tests.grouped import nightly

from .jobs import checked, job, no_proofs
from .strangers import (
    BINARY,
    DIGITS,
    STRONG,
    UNARY,
    Tree,
    constant,
    false,
    name,
)

WORDS = (
    "exp", "exp2", "square", "reciprocal", "sinh", "cosh", "expm1", "log", "sqrt",
    "log1p", "asin", "acosh", "atanh", "rsqrt", "entr", "logit", "tanh", "erfc",
    "sigmoid", "softplus", "abs", "cbrt",
)  # fmt: skip
"""Functions that leave the range of floats, and such as have an edge."""

EDGES = (0.0, 1.0, -1.0, 0.5)
"""Numbers at which domains end."""


@dataclass(frozen=True, slots=True)
class _Unbounded:
    """A rule of mpmath, and that a value is real and finite."""

    rule: Any

    def __call__(self, *values: Any) -> Any:
        found = self.rule(*values)
        if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
            raise ArithmeticError("no finite real number")
        if abs(found) > mpmath.mpf(10) ** 5000:
            raise ArithmeticError("too large for mpmath's exponents")
        return found


def _softplus(x: Any) -> Any:
    """Return what the language calls softplus: beyond 20 it is the identity."""
    return x if x > 20 else UNARY["softplus"](x)


def tree(r: Random, depth: int) -> Tree:
    if depth <= 0:
        if r.random() < 0.75:
            return name(r.choice("xy"))
        text = r.choice(("1e200", "1e-200", "1e160", "2", "0.5", "3", "1e-310"))
        return constant(text, lambda: mp.mpf(text))
    if r.random() < 0.55:
        word, part = r.choice(WORDS), tree(r, depth - 1)
        rule = _softplus if word == "softplus" else UNARY[word]
        return Tree(f"{word}({part.text})", _Unbounded(rule), (part,))
    a, b = tree(r, depth - 1), tree(r, r.randint(0, depth - 1))
    sign, rule = r.choice(BINARY)
    return Tree(f"({a.text}) {sign} ({b.text})", _Unbounded(rule), (a, b))


def number(r: Random) -> float:
    kind = r.random()
    if kind < 0.2:
        return r.choice(EDGES)
    if kind < 0.5:
        return r.choice((1, -1)) * r.uniform(1, 9) * 10.0 ** r.randint(-320, 300)
    if kind < 0.8:
        return r.choice((1, 1, -1)) * r.uniform(0.1, 800)
    return r.choice(EDGES) + r.choice((1, -1)) * 10.0 ** -r.randint(3, 16)


def value(node: Tree, point: dict[str, Any]) -> Any:
    values = [value(part, point) for part in node.parts]
    return node.rule(*values) if node.parts else node.rule(point)


def slope(node: Tree, point: dict[str, Any], letter: str) -> Any:
    """Return the derivative from both sides: ArithmeticError where they differ."""
    x = point[letter]
    h = mpmath.mpf(10) ** -400 * (abs(x) or 1)
    with mp.workdps(4 * DIGITS + 400):
        middle = value(node, point)
        above, below = (
            (value(node, {**point, letter: x + s}) - middle) / s for s in (h, -h)
        )
    if abs(above - below) > abs(above) * mpmath.mpf(10) ** -100:
        raise ArithmeticError("the sides differ, or it bends too much to be told")
    if not x and abs(above) <= h:
        raise ArithmeticError("0, or what it bends by within the step")
    return (above + below) / 2


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
                        value(node, exact)
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
