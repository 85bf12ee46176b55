"""Random scalar programs, whose numbers mpmath knows by formulas of its own.

Nothing of gradcli takes part in what is right here: a program is drawn as a tree, which
is written in the language and evaluated by mpmath with 200 digits, constants included.

    python -m tests.verify.stranger_trial --programs 3000 --digits 300 --boxes 300 \
        --claims 700 --seed 5000000

Printed is every verdict that is not true: a bound that the error exceeds, a number that
is called refuted though it is right, a digit that is wrong, a slope outside its range,
a right claim refuted and a wrong one proved; and how many verdicts of each kind came.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import signal
import subprocess
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import mpmath
from mpmath import mp

from gradcli.verify.process.job import InputVerdict
from tests.processes import warm

from .jobs import checked, job, no_proofs

DIGITS = 200
"""Digits of what is called true."""

FAR = mpmath.mpf(10) ** 250
"""Numbers up to which, and down to whose inverse, mpmath's functions end."""

SECONDS = 3
"""Seconds that mpmath may take for one program."""

MEMORY = 4 << 30
"""Bytes that a trial may take."""

BEND = mpmath.mpf(10) ** -20
"""Largest second difference of a function, as a share of its first."""

NOTHING = mpmath.mpf(10) ** -450
"""Size of a difference quotient that is made of its rounding alone."""

STRONG = ("proved", "certified")

LAST = mpmath.mpf(10) ** -60
"""Share of a derivative that mpmath's own rounding, or a difference quotient, may make
of it."""

Value = Any
"""A number of mpmath."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A formula: how it is written, what mpmath makes of it, and its operands."""

    text: str
    rule: Callable[..., Value]
    parts: tuple[Tree, ...] = ()

    def names(self) -> set[str]:
        if not self.parts:
            return {self.text} & {"x", "y"}
        return set().union(*[part.names() for part in self.parts])

    def at(self, point: dict[str, Value]) -> Value:
        values = [part.at(point) for part in self.parts]
        if not self.parts:
            return self.rule(point)
        found = self.rule(*values)
        if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
            raise ArithmeticError(f"{self.text} is no finite real number")
        if abs(found) > FAR or 0 < abs(found) < 1 / FAR:
            raise ArithmeticError(f"{self.text} is too large or too small for mpmath")
        return found


def constant(text: str, value: Callable[[], Value]) -> Tree:
    return Tree(text, lambda point: value())


def name(letter: str) -> Tree:
    return Tree(letter, lambda point: point[letter])


def digamma_like(order: int) -> Callable[[Value], Value]:
    return lambda x: mp.psi(order, x)


def cbrt(x: Value) -> Value:
    return mp.sign(x) * mp.cbrt(abs(x))


def normal(x: Value) -> Value:
    return mp.ncdf(x)


def _positive_only(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda x: function(_positive(x))


def entropy(x: Value) -> Value:
    if x < 0:
        raise ArithmeticError("entr of a negative number is -inf")
    return -x * mp.log(x) if x else mp.mpf(0)


UNARY: dict[str, Callable[[Value], Value]] = {
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "exp": mp.exp, "log": mp.log,
    "sqrt": mp.sqrt, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh,
    "acosh": mp.acosh, "atanh": mp.atanh, "erf": mp.erf, "erfc": mp.erfc,
    "expm1": mp.expm1, "log1p": mp.log1p, "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10, "exp2": lambda x: mp.power(2, x), "cbrt": cbrt,
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))), "digamma": digamma_like(0),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "softplus": lambda x: x if x > 20 else mp.log1p(mp.exp(x)),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "i0": lambda x: mp.besseli(0, x), "i1": lambda x: mp.besseli(1, x),
    "bessel_j0": lambda x: mp.besselj(0, x), "bessel_j1": lambda x: mp.besselj(1, x),
    "Si": mp.si, "Ci": _positive_only(mp.ci), "Shi": mp.shi,
    "Chi": _positive_only(mp.chi),
    "Ei": mp.ei, "li": _positive_only(mp.li), "erfi": mp.erfi, "fresnels": mp.fresnels,
    "fresnelc": mp.fresnelc, "lambertw": lambda x: mp.lambertw(x).real
    if x > -mp.exp(-1) else mp.nan, "airy_ai": mp.airyai,
    "bessel_y0": _positive_only(lambda x: mp.bessely(0, x)),
    "modified_bessel_k1": _positive_only(lambda x: mp.besselk(1, x)),
    "spherical_bessel_j0": lambda x: mp.sin(x) / x if x else mp.mpf(1),
    "erfinv": mp.erfinv, "logit": lambda x: mp.log(x / (1 - x)), "entr": entropy,
    "ndtr": normal, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / mp.sqrt(x), "abs": abs,
    "sinc": lambda x: mp.sincpi(x), "gelu": lambda x: x * normal(x),
    "logsigmoid": lambda x: -mp.log1p(mp.exp(-x)), "mish":
    lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), "erfcx":
    lambda x: mp.exp(x * x) * mp.erfc(x),
}  # fmt: skip
"""Functions of one number, as mpmath has them."""

DECIMALS = ("0.1", "0.3", "1.1", "2.5", "0.7", "1e-3", "12.34", "3.0", "0.01")


class Draw:
    """Trees drawn by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.letters = ["x", "y"][: self.random.choice((1, 2))]

    def number(self) -> Tree:
        r = self.random
        decimal, p, q = r.choice(DECIMALS), r.randint(1, 9), r.randint(2, 9)
        kinds: list[Tree] = [
            constant(decimal, lambda: mp.mpf(decimal)),
            constant(str(p), lambda: mp.mpf(p)),
            constant(f"({p}/{q})", lambda: mp.mpf(p) / q),
            constant("pi", lambda: +mp.pi), constant("e", lambda: +mp.e),
            constant(f"{p}^0.5", lambda: mp.sqrt(p)),
            constant(f"log({p + 1})", lambda: mp.log(p + 1)),
            constant(f"log({p + 1}, {q})", lambda: mp.log(p + 1) / mp.log(q)),
            constant(f"({decimal}*{p} - 1/{q})",
                     lambda: mp.mpf(decimal) * p - mp.mpf(1) / q),
            constant(f"root({p + 1}, {q})", lambda: mp.root(p + 1, q)),
            constant("pi^2/6", lambda: mp.pi**2 / 6),
        ]  # fmt: skip
        return r.choice(kinds)

    def tree(self, depth: int) -> Tree:
        r = self.random
        if depth <= 0:
            return name(r.choice(self.letters)) if r.random() < 0.75 else self.number()
        kind = r.random()
        if kind < 0.42:
            word = r.choice(list(UNARY))
            part = self.tree(depth - 1)
            return Tree(f"{word}({part.text})", UNARY[word], (part,))
        a = self.tree(depth - 1)
        if kind < 0.5:
            k = r.randint(2, 7)
            if r.random() < 0.5:
                return Tree(
                    f"log({a.text}, {k})", lambda v: mp.log(v) / mp.log(k), (a,)
                )
            return Tree(f"root({a.text}, {k})", _root(k), (a,))
        if kind < 0.56:
            text = r.choice(("2.3", "0.5", "1.1", "4"))
            rule = lambda v: mp.gammainc(
                mp.mpf(text), 0, _positive(v), regularized=True
            )
            return Tree(f"igamma({text}, {a.text})", rule, (a,))
        b = self.tree(r.randint(0, depth - 1))
        if r.random() < 0.5:
            a, b = b, a
        sign, rule = r.choice(BINARY)
        if sign == "**" and r.random() < 0.6:
            b = self.number()
        return Tree(f"({a.text}) {sign} ({b.text})", rule, (a, b))

    def point(self) -> dict[str, float]:
        r = self.random
        spread = r.choice((1.0, 1.0, 1.0, 5.0, 30.0))
        return {k: r.choice((1, 1, -1)) * r.uniform(0.01, spread) for k in self.letters}


def _positive(v: Value) -> Value:
    if v < 0:
        raise ArithmeticError("outside the domain")
    return v


def _root(k: int) -> Callable[[Value], Value]:
    def rule(v: Value) -> Value:
        return mp.sign(v) * mp.root(abs(v), k) if k % 2 else mp.root(v, k)

    return rule


def _power(a: Value, b: Value) -> Value:
    if a < 0 and b != mp.floor(b):
        raise ArithmeticError("no real power")
    return mp.power(a, b)


BINARY: list[tuple[str, Callable[[Value, Value], Value]]] = [
    ("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b),
    ("/", lambda a, b: a / b), ("**", _power),
]  # fmt: skip


STEP = mpmath.mpf(10) ** (-DIGITS // 3)
"""Step of the difference quotient, relative to the point."""


def slope(tree: Tree, point: dict[str, Value], letter: str) -> Value:
    """Return the derivative, by a central difference, with half of the digits.

    Raises:
        ArithmeticError: the function bends too much within the step.
    """
    x, middle = point[letter], tree.at(point)
    h = STEP * abs(x)

    def differences() -> list[Value]:
        return [tree.at({**point, letter: x + s}) - middle for s in (h, -h)]

    above, below = differences()
    if abs(above - below) > abs(middle) * STEP**2:
        if abs(above + below) > abs(above - below) * BEND:
            raise ArithmeticError("it bends too much to be told")
        return (above - below) / (2 * h)
    # Next to nothing of the value changes: more digits show it.
    with mp.workdps(4 * DIGITS):
        middle = tree.at(point)
        above, below = differences()
    found = (above - below) / (2 * h)
    return found if abs(found) > NOTHING else mp.mpf(0)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Give up a program that mpmath takes too long for."""

    def give_up(*_: object) -> None:
        raise ArithmeticError("too long")

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


@dataclass(frozen=True, slots=True)
class Program:
    """A tree at a point at which it and its derivatives are finite numbers."""

    tree: Tree
    point: dict[str, float]
    value: Value
    slopes: dict[str, Value]


def program(seed: int) -> Program | None:
    draw = Draw(seed)
    tree, point = draw.tree(draw.random.randint(1, 4)), draw.point()
    exact = {k: mp.mpf(v) for k, v in point.items()}
    used = sorted(tree.names())
    if not used:
        return None
    try:
        with at_most(SECONDS):
            value = tree.at(exact)
            slopes = {k: slope(tree, exact, k) for k in used}
    except (ArithmeticError, ValueError, TypeError, NotImplementedError, OverflowError,
            mp.NoConvergence):  # fmt: skip
        return None
    if any(
        isinstance(s, mpmath.mpc) or not mpmath.isfinite(s) for s in slopes.values()
    ):
        return None
    return Program(tree, {k: point[k] for k in used}, value, slopes)


def programs(seed: int, count: int) -> Iterator[tuple[int, Program]]:
    """So many programs, from the first seed on."""
    while count:
        found = program(seed)
        if found is not None:
            yield seed, found
            count -= 1
        seed += 1


def false(said: InputVerdict, found: float, true: Value | None) -> str | None:
    """Why a strong verdict is none; None where it is true.

    Args:
        true: the derivative; None where there is none.
    """
    if said.verdict not in STRONG:
        return None
    if true is None:
        return "there is no derivative"
    if not math.isfinite(found):
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


def try_programs(seed: int, count: int, kinds: Counter[str]) -> Iterator[str]:
    for nr, each in programs(seed, count):
        text = each.tree.text
        try:
            given = job(text, each.point)
            verification = checked(given)
        except Exception as error:
            yield f"{nr} FAILED {text} {each.point}: {type(error).__name__}: {error}"
            continue
        for asked, said in zip(given.inputs, verification.inputs, strict=True):
            (number,) = asked.claim.values()
            kinds[f"gradient {said.verdict}"] += 1
            told = f"{text} {each.point} d/d{asked.name} = {number!r}, true " + mp.nstr(
                each.slopes[asked.name], 20
            )
            why = false(said, number, each.slopes[asked.name])
            if why is not None:
                yield (f"{nr} FALSE {said.verdict} {told}: max_error {said.max_error}: "
                       f"{why}")  # fmt: skip
            elif said.verdict == "refuted":
                yield f"{nr} REFUTED {told}: {said.note}"


Ask = Callable[..., dict[str, Any]]


def asking(command: Sequence[str]) -> Ask:
    def ask(*words: str) -> dict[str, Any]:
        done = subprocess.run(
            [*command, *words, "--json"], capture_output=True, text=True, timeout=120
        )
        try:
            return {"status": done.returncode, **json.loads(done.stdout)}
        except ValueError:
            return {"status": done.returncode, "error": done.stderr[:300]}

    return ask


def values(point: dict[str, float]) -> list[str]:
    return [f"{k}={v!r}" for k, v in point.items()]


def decimal(point: dict[str, float]) -> dict[str, Value]:
    """A value that is typed is the decimal that stands there."""
    return {k: mp.mpf(repr(v)) for k, v in point.items()}


def agree(shown: str, true: Value) -> bool:
    """Whether a decimal is the number, to the last place but one."""
    return bool(abs(mp.mpf(shown) - true) <= abs(true) * mp.mpf(10) ** -39)


def try_digits(seed: int, count: int, kinds: Counter[str], ask: Ask) -> Iterator[str]:
    for nr, each in programs(seed, count):
        text = each.tree.text
        told = ask("grad", text, *values(each.point), "--digits", "40")
        if "inputs" not in told:
            kinds["digits: refused"] += 1
            yield f"{nr} NO DIGITS {text} {each.point}: {told.get('error')}"
            continue
        for given in told["inputs"]:
            shown = given.get("grad_digits")
            if shown is None:
                kinds["digits: none"] += 1
                continue
            try:
                both = [slope(each.tree, at, given["name"]) for at in
                        (decimal(each.point), {k: mp.mpf(v) for k, v in
                                               each.point.items()})]  # fmt: skip
            except (ArithmeticError, ValueError):
                continue
            right = any(agree(shown, true) for true in both)
            kinds["digits: right" if right else "digits: WRONG"] += 1
            if not right:
                yield (f"{nr} WRONG DIGITS {text} {each.point} d/d{given['name']}: "
                       f"{shown}, true {mp.nstr(both[0], 45)}")  # fmt: skip


def try_boxes(seed: int, count: int, kinds: Counter[str], ask: Ask) -> Iterator[str]:
    for nr, each in programs(seed, count):
        text, r = each.tree.text, Random(nr)
        letter = r.choice(list(each.point))
        low = each.point[letter]
        high = low + r.uniform(0.1, 2)
        others = {k: v for k, v in each.point.items() if k != letter}
        told = ask(
            "grad", text, *values(others), "--box", f"{letter}={low!r}..{high!r}"
        )
        ranged = next(
            (i["range"] for i in told.get("inputs", ()) if i["name"] == letter), None
        )
        if ranged is None:
            kinds["box: none"] += 1
            continue
        lower, upper = (
            mp.mpf(ranged[k]) if ranged[k] is not None else None
            for k in ("lower", "upper")
        )
        kinds["box"] += 1
        for k in range(21):
            at = decimal(others) | {letter: mp.mpf(low) + (mp.mpf(high) - low) * k / 20}
            try:
                true = slope(each.tree, at, letter)
            except (ArithmeticError, ValueError):
                continue
            if isinstance(true, mpmath.mpc):
                continue
            if (lower is not None and true < lower * (1 - mp.sign(lower) * 1e-12)) or (
                upper is not None and true > upper * (1 + mp.sign(upper) * 1e-12)
            ):
                kinds["box: FALSE"] += 1
                yield (f"{nr} OUTSIDE {text} {others} {letter}={low!r}..{high!r}: "
                       f"{mp.nstr(true, 20)} not in {ranged}")  # fmt: skip
                break


def right_claim(r: Random) -> tuple[str, str, str]:
    """A program of x, its derivative as people write it, and a wrong one."""
    a, b = r.choice(CONSTANTS), r.choice(CONSTANTS)
    n = r.randint(2, 6)
    shapes = [
        (f"{a}*x^{n}", f"{n}*{a}*x^{n - 1}"),
        (f"sin({a}*x)", f"{a}*cos({a}*x)"),
        (f"exp({a}*x) + {b}*x", f"{a}*exp({a}*x) + {b}"),
        (f"log(x, {n})", f"1/(x*log({n}))"),
        (f"x*log({2**n}, 2)", f"{n}"),
        (f"x*{a}*{b}", f"{b}*{a}"),
        (f"root(x, {n})", f"x^(1/{n} - 1)/{n}"),
        (f"{n}^x", f"{n}^x*log({n})"),
        (f"x/{a} - {b}*x", f"1/{a} - {b}"),
        (f"atan({a}*x)", f"{a}/(1 + ({a}*x)^2)"),
        (f"x^{a}", f"{a}*x^({a} - 1)"),
        (f"erf(x/{a})", f"2/sqrt(pi)*exp(-(x/{a})^2)/{a}"),
        (f"sqrt({a} + x^2)", f"x/sqrt({a} + x^2)"),
        (f"tanh({a}*x)*{b}", f"{b}*{a}*(1 - tanh({a}*x)^2)"),
        (f"x*log({a}*x)", f"log({a}*x) + 1"),
        (f"1/(x + {a})", f"-1/(x + {a})^2"),
        (f"lgamma({a}*x)", f"{a}*digamma({a}*x)"),
    ]
    text, claim = r.choice(shapes)
    tiny = r.choice(("1.0000001", "(1 + 1e-9)", "0.999", "(-1)", "2"))
    wrong = r.choice(
        (f"({claim})*{tiny}", f"{claim} + {r.choice(('1e-7', '0.5', 'x'))}")
    )
    return text, claim, wrong


CONSTANTS = (
    "pi", "e", "2", "3", "0.1", "1.1", "(1/3)", "2^0.5", "sqrt(3)", "log(2)",
    "log(8,2)", "e**2", "(pi**2/6)", "(0.1+0.2)", "(1.1*1.1)", "root(5, 3)", "(2/7)",
    "0.30000001",
)  # fmt: skip


def try_claims(seed: int, count: int, kinds: Counter[str], ask: Ask) -> Iterator[str]:
    for nr in range(seed, seed + count):
        text, right, wrong = right_claim(Random(nr))
        for claim, bad in ((right, ("refuted",)), (wrong, STRONG)):
            told = ask("check", f"y = {text}", "--claim", f"dy/dx = {claim}")
            found = [c["verdict"] for c in told.get("claims", ())] or ["no answer"]
            which = "right claim" if claim is right else "wrong claim"
            kinds[f"{which} {found[0]}"] += 1
            if found[0] in bad or found[0] == "no answer":
                said = f"{which.upper()} {found[0]}"
                yield f"{nr} {said}: {text} | {claim} {told.get('error')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for what in ("programs", "digits", "boxes", "claims"):
        parser.add_argument(f"--{what}", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    kinds: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    with mp.workdps(DIGITS):
        # SymPy may take minutes for a proof; what is bounded here are the numbers.
        with no_proofs():
            for line in try_programs(given.seed, given.programs, kinds):
                print(line, flush=True)
        if given.digits or given.boxes or given.claims:
            with warm() as command:
                ask = asking(command)
                for trial, n in ((try_digits, given.digits), (try_boxes, given.boxes),
                                 (try_claims, given.claims)):  # fmt: skip
                    for line in trial(given.seed, n, kinds, ask):
                        print(line, flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())))


if __name__ == "__main__":
    main()
