"""Every scalar function in every language, against its value to 50 digits."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from gradcli.check.balls import FUNCTIONS as SCALARS
from gradcli.check.balls import STEPS, ball, to_float, working
from gradcli.check.decided import LOGIC, MASKS, NUMERIC
from gradcli.check.system import Balls
from gradcli.formulas.entries import EntryNamespace, EntrySystem
from gradcli.formulas.namespace import TreeNamespace
from gradcli.formulas.programs import DIALECTS
from gradcli.formulas.texts import Text, filled, repeated
from gradcli.formulas.tree import Tree, Unwritable
from gradcli.ops.spellings import SUM, Template

from .written import Library, function_of, run_python

CHOICE = "where"
FUNCTIONS = {*SCALARS, *NUMERIC, *MASKS, *LOGIC, CHOICE} - {*STEPS}
"""What an entry can be made by."""

ORDINARY = [(-2.5,), (-0.75,), (-0.0078125,), (0.0,), (0.3,), (1.0,), (2.0,), (40.25,)]
WITHIN = [(-0.999,), (-0.5,), (0.0,), (1e-9,), (0.3,), (0.75,), (1 - 2**-40,)]
POSITIVE = [(1e-12,), (0.3,), (1.0,), (7.5,), (1e8,)]
OVER_ZERO = [(1e-9,), (0.3,), (1.0,), (7.5,), (40.25,)]
PAIRS = [(2.5, 1.5), (-2.5, 1.5), (2.5, -1.5), (-7.0, 3.5), (0.5, 0.5), (1.0, 0.1)]
TRUE_OR_NOT = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]

POINTS: dict[str, Sequence[tuple[float, ...]]] = {
    **dict.fromkeys(("sqrt", "log", "log2", "log10"), POSITIVE),
    **dict.fromkeys(("asin", "acos", "atanh", "erfinv"), WITHIN),
    **dict.fromkeys(("add", "sub", "mul", "div", "atan2", "hypot", "logaddexp"), PAIRS),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), PAIRS),
    **dict.fromkeys(("remainder", "fmod", "floor_divide"), PAIRS),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), PAIRS),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), TRUE_OR_NOT),
    **dict.fromkeys(
        (name for name in FUNCTIONS if re.search("bessel_[ky]", name)), OVER_ZERO
    ),
    **dict.fromkeys(("Ci", "Chi"), OVER_ZERO),
    "expi": [(-2.5,), (-0.75,), (0.3,), (1.0,), (40.25,)],
    "lambertw": [(-0.3,), (-0.0078125,), (0.0,), (0.3,), (2.0,), (40.25,)],
    **dict.fromkeys(("erfi", "fresnels", "fresnelc"), ORDINARY[:-1]),
    "log1p": [(-0.75,), (1e-12,), (3.0,)],
    "acosh": [(1.0,), (1.5,), (1e6,)],
    "pow": [(2.0, 3.0), (0.5, -1.5), (3.0, 0.0), (-2.0, 3.0)],
    "xlogy": [(2.0, 3.0), (0.0, 0.0), (-1.5, 0.25)],
    "lgamma": [(0.3,), (1.5,), (20.25,), (-1.5,)],
    "gamma": [(-1.5,), (-0.75,), (0.3,), (1.0,), (7.0,), (20.25,)],
    "binom": [
        (5.0, 2.0),
        (2.5, 1.25),
        (-1.5, 0.75),
        (0.75, -2.5),
        (3.0, 5.0),
        (-0.25, -1.75),
        (40.25, 12.5),
    ],
    "digamma": [(-7.75,), (-0.3,), (0.001,), (0.3,), (1.0,), (2.5,), (9.0,), (1e5,)],
    "polygamma": [(-3.25,), (-0.3,), (0.01,), (0.3,), (1.0,), (12.5,), (300.0,)],
    "igamma": [(0.5, 0.3), (2.5, 1.0), (2.5, 30.0), (12.25, 10.0), (1.0, 0.0)],
    "igammac": [(0.5, 0.3), (2.5, 1.0), (2.5, 30.0), (12.25, 15.0), (1.0, 0.0)],
    "zeta": [(1.5, 0.25), (2.0, 1.0), (3.25, 7.5), (12.0, 40.0)],
    # Off the zeros, where the rounding of pi is all there is.
    "sinc": [(-2.5,), (-0.75,), (0.0,), (1e-9,), (0.3,), (40.25,)],
    CHOICE: [(1.0, 2.0, 3.0), (0.0, 2.0, 3.0)],
    "logical_not": [(0.0,), (1.0,)],
    "logsigmoid": [(-40.0,), (-1.0,), (0.0,), (3.0,), (40.0,)],
    "sigmoid": [(-40.0,), (-1.0,), (0.0,), (3.0,), (40.0,)],
}

ORDERS = {"polygamma": (0, 1, 2, 5), "polylog": (-1, 1, 2, 5)}


def cases(name: str) -> list[tuple[str, int | None]]:
    """The function, a time for each order where it has one."""
    return [(name, order) for order in ORDERS.get(name, (None,))]


CASES = [case for name in sorted(FUNCTIONS) for case in cases(name)]


def of_language(language: str) -> list[tuple[str, int | None]]:
    """The cases of functions that a language has."""
    dialect = DIALECTS[language]()
    return [case for case in CASES if dialect.spelled(case[0]) is not None]


IN_C = of_language("c")


def points(name: str) -> Sequence[tuple[float, ...]]:
    return POINTS.get(name, ORDINARY)


def tree(name: str, order: int | None, system: EntrySystem) -> Tree:
    """The function of its arguments."""
    inputs = [system.trees.named(letter, 0.5) for letter in letters(name)]
    if order is not None:
        return system.apply(name, system.lift(order), *inputs)
    if name == CHOICE:
        return system.select(*inputs)
    make = system.combined if name in LOGIC else system.apply
    return make(name, *inputs)


def letters(name: str) -> str:
    return "abc"[: len(points(name)[0])]


def text(name: str, order: int | None, language: str) -> str:
    """A program of the function, and nothing else."""
    trees = TreeNamespace(words=False, zeros_vanish=True)
    found = tree(name, order, EntryNamespace(trees).system)
    root = trees.as_type_of(found, None)
    inputs = [(letter, ()) for letter in letters(name)]
    return function_of([("value", (), [root])], inputs, language)


BITS = 400


def exact(name: str, order: int | None, point: tuple[float, ...]) -> float:
    numbers = Balls()
    with working(BITS):
        given = [ball(x) for x in point]
        given = given if order is None else [numbers.lift(order), *given]
        if name == CHOICE:
            return to_float(given[2] if given[0].is_zero() else given[1])
        if name in LOGIC:
            return float(LOGIC[name](*[not x.is_zero() for x in given]))
        rule = NUMERIC.get(name) or MASKS.get(name)
        found = rule(numbers, *given) if rule else numbers.apply(name, *given)
        return float(found) if isinstance(found, bool) else to_float(found)


def close(found: float, expected: float, digits: float = 1e-12) -> bool:
    if isnan(expected) or isnan(found):
        return isnan(expected) and isnan(found)
    return bool(np.isclose(found, expected, rtol=digits, atol=1e-300))


OF_INTEGRALS = {"erfi", "expi", "Si", "Ci", "Shi", "Chi", "fresnels", "fresnelc",
                "lambertw", "polylog"}  # fmt: skip

LACKING = {
    "numpy": {"polylog"},
    "torch": {*OF_INTEGRALS, "airy_ai_prime"},
    "c": OF_INTEGRALS,
}
"""What a language has no function for."""


@pytest.mark.parametrize("language", ["numpy", "torch", "c"])
def test_every_function_has_a_spelling_or_is_told_to_lack_one(language: str) -> None:
    written = {name for name, _ in of_language(language)}
    assert FUNCTIONS - written == LACKING[language]
    for name in LACKING[language]:
        with pytest.raises(Unwritable, match=f"has no function '{name}'"):
            text(name, 2 if name == "polylog" else None, language)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("functions")
    return Library([text(*case, "c") for case in IN_C], folder)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("case", IN_C, ids=str)
def test_c_has_the_functions_value(
    library: Library, case: tuple[str, int | None]
) -> None:
    for point in points(case[0]):
        given = [np.array(x) for x in point]
        (found,) = library.run(IN_C.index(case), "gradient", [()], given)
        assert close(float(found), exact(*case, point)), (point, found)


TRIGAMMA = ("polygamma", 1)
"""PyTorch's own function has ten digits, not twelve."""

FEW_DIGITS = dict.fromkeys(
    ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "airy_ai"), 1e-4
)
"""What PyTorch's own are off by where they swing."""


@pytest.mark.parametrize("case", of_language("numpy"), ids=str)
def test_numpy_has_the_functions_value(case: tuple[str, int | None]) -> None:
    in_python(case, "numpy", 1e-12)


@pytest.mark.peers
@pytest.mark.parametrize("case", of_language("torch"), ids=str)
def test_torch_has_the_functions_value(case: tuple[str, int | None]) -> None:
    pytest.importorskip("torch")
    digits = 1e-9 if case == TRIGAMMA else FEW_DIGITS.get(case[0], 1e-12)
    in_python(case, "torch", digits)


def in_python(case: tuple[str, int | None], language: str, digits: float) -> None:
    for point in points(case[0]):
        given = [np.array(x) for x in point]
        (found,) = run_python(text(*case, language), "gradient", given)
        assert close(float(found), exact(*case, point), digits), (point, found)


def test_a_text_is_bracketed_where_it_binds_too_loosely() -> None:
    sum_, atom = Text("a + b", SUM), Text("c")
    product = filled(Template("{0:PRODUCT} * {1:SIGN}"), [sum_, atom])
    assert product.written == "(a + b) * c"
    difference = Template("{0:SUM} - {1:PRODUCT}", SUM)
    assert filled(difference, [sum_, sum_]).written == "a + b - (a + b)"
    assert repeated(Template("{0:ATOM} * {0:ATOM} + {1:SUM}")) == {0}
