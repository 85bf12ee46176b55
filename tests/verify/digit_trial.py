"""Random programs of constants and special functions, digit by digit against mpmath.

What a program means is composed beside its text, of mpmath's functions; a derivative
is mpmath's difference quotient in four times the digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import mpmath

from gradcli.verify.digits import precise

from .jobs import job

DIGITS = 40
"""Digits that are asked for."""

WORKING_DIGITS = 260
"""Digits that mpmath computes with."""

Meaning = Callable[[Any], Any]


class Part(NamedTuple):
    """A text of the language, and the function of ``x`` that it is in mpmath."""

    text: str
    meaning: Meaning


def _constant(text: str, value: Callable[[], Any]) -> Part:
    return Part(text, lambda x: value())


def _number(draw: Random) -> Part:
    mp = mpmath.mp
    n, k = draw.randint(2, 30), draw.randint(2, 9)
    tenths = f"{draw.randint(1, 40) / 10:.1f}"
    return draw.choice([
        _constant(tenths, lambda: mp.mpf(tenths)),
        _constant(f"({n}/{k * 701})", lambda: mp.mpf(n) / (k * 701)),
        _constant(f"({tenths} + 0.1*{k})", lambda: mp.mpf(tenths) + mp.mpf(k) / 10),
        _constant(f"(pi/{k})", lambda: mp.pi / k),
        _constant("e", lambda: mp.e),
        _constant(f"log({n}, {k})", lambda: mp.log(n) / mp.log(k)),
        _constant(f"{n}^0.5", lambda: mp.sqrt(n)),
        _constant(f"root({n}, {k})", lambda: mp.root(n, k)),
        _constant(f"(tau - {tenths}**2)", lambda: 2 * mp.pi - mp.mpf(tenths) ** 2),
        _constant(f"sqrt({n})", lambda: mp.sqrt(n)),
        _constant(f"lgamma({tenths})", lambda: mp.loggamma(mp.mpf(tenths))),
    ])  # fmt: skip


def _everywhere(draw: Random, u: Part) -> Part:
    """A function that is smooth on the whole line, of a part."""
    mp, f = mpmath.mp, u.meaning
    name, meaning = draw.choice([
        ("sin({})", lambda t: mp.sin(t)),
        ("atan({})", lambda t: mp.atan(t)),
        ("tanh({})", lambda t: mp.tanh(t)),
        ("erf({})", lambda t: mp.erf(t)),
        ("ndtr({})", lambda t: mp.ncdf(t)),
        ("gelu({})", lambda t: t * mp.ncdf(t)),
        ("sigmoid({})", lambda t: 1 / (1 + mp.exp(-t))),
        ("softplus({}, 0.7)", lambda t: mp.log1p(mp.exp(t * 7 / 10)) * 10 / 7),
        ("asinh({})", lambda t: mp.asinh(t)),
        ("gelu({}, approximate='tanh')", _gelu_by_tanh),
    ])  # fmt: skip
    return Part(name.format(u.text), lambda x: meaning(f(x)))


def _gelu_by_tanh(t: Any) -> Any:
    mp = mpmath.mp
    inner = mp.sqrt(2 / mp.pi) * (t + mp.mpf("0.044715") * t**3)
    return t / 2 * (1 + mp.tanh(inner))


def _of_positives(draw: Random, u: Part, c: Part) -> Part:
    """A function of a positive number, which is made of a part."""
    mp, f, k = mpmath.mp, u.meaning, c.meaning
    n = draw.randint(3, 13)
    name, meaning = draw.choice([
        ("log({})", lambda t: mp.log(t)),
        (f"log({{}}, {n})", lambda t: mp.log(t) / mp.log(n)),
        ("log10({})", lambda t: mp.log10(t)),
        ("sqrt({})", lambda t: mp.sqrt(t)),
        (f"root({{}}, {n})", lambda t: mp.root(t, n)),
        ("({})**0.3", lambda t: t ** (mp.mpf(3) / 10)),
        ("lgamma({})", lambda t: mp.loggamma(t)),
        ("digamma({})", lambda t: mp.digamma(t)),
        ("igamma(2.3, {})", lambda t: mp.gammainc(mp.mpf("2.3"), 0, t, True)),
        ("xlogy({}, 0.7)", lambda t: t * mp.log(mp.mpf("0.7"))),
        ("2.5**({})", lambda t: mp.mpf("2.5") ** t),
        ("log1p({})", lambda t: mp.log1p(t)),
        ("zeta(2.5, {})", lambda t: mp.zeta(mp.mpf("2.5"), t)),
        (f"nCr({{}} + {n}, {{}})", lambda t: mp.binomial(t + n, t)),
    ])  # fmt: skip
    positive = f"({u.text})**2 + 0.4"
    square = lambda t: t**2 + mp.mpf("0.4")
    text = name.format(*[positive] * name.count("{}"))
    return Part(f"{c.text}*{text}", lambda x: k(x) * meaning(square(f(x))))


def part(draw: Random, depth: int) -> Part:
    """Draw a part of a program."""
    if depth == 0:
        return Part("x", lambda x: x) if draw.random() < 0.7 else _number(draw)
    kind = draw.randint(0, 3)
    u = part(draw, depth - 1)
    if kind == 0:
        return _everywhere(draw, u)
    if kind == 1:
        return _of_positives(draw, u, _number(draw))
    v, f = part(draw, depth - 1), u.meaning
    g = v.meaning
    if kind == 2:
        return Part(f"({u.text} + {v.text})", lambda x: f(x) + g(x))
    return Part(f"({u.text})*({v.text})", lambda x: f(x) * g(x))


def program(seed: int) -> tuple[Part, str]:
    """Draw a program that reads ``x``, and a decimal to run it at."""
    draw = Random(seed)
    while True:
        found = part(draw, draw.randint(1, 3))
        if re.search(r"\bx\b", found.text):
            return found, f"{draw.randint(3, 17) / 10:.1f}"


def wrong(seeds: range) -> Iterator[str]:
    """The programs that have a wrong digit, or fewer than were asked for."""
    for seed in seeds:
        drawn, at = program(seed)
        given = job(drawn.text, {"x": float(at)})
        found = precise(given, {"x": at}, None, DIGITS)
        gradient = found.gradients["x"]
        with mpmath.workdps(WORKING_DIGITS):
            x = mpmath.mpf(at)
            true = drawn.meaning(x), mpmath.diff(drawn.meaning, x)
            shown = found.output, gradient
            pairs = [(n, t) for n, t in zip(shown, true, strict=True) if n is not None]
            far = [
                numerals.texts[0]
                for numerals, exactly in pairs
                if abs(mpmath.mpf(numerals.texts[0]) - exactly)
                > mpmath.mpf(10) ** (1 - DIGITS) * abs(exactly) + mpmath.mpf(10) ** -90
            ]
        if far or found.doubtful or found.output.unsettled:
            yield f"{seed}: {drawn.text} at {at}: {far} {found.doubtful}"
