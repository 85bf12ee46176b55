"""Every scalar function in every language, against its value to 50 digits."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from gradcli.numbers.open_terms import FUNCTIONS, TRUTHS, OpenTerms
from gradcli.render.code_spelling import ATOM, Piece, repeated, spell
from gradcli.verify.straight_line import Listing, Result, Step

from gradcli.render.code import LANGUAGES, code

from .written import Library, run_python

ORDINARY = [(-2.5,), (-0.75,), (-0.0078125,), (0.0,), (0.3,), (1.0,), (2.0,), (40.25,)]
WITHIN = [(-0.999,), (-0.5,), (0.0,), (1e-9,), (0.3,), (0.75,), (1 - 2**-40,)]
POSITIVE = [(1e-12,), (0.3,), (1.0,), (7.5,), (1e8,)]
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
    "log1p": [(-0.75,), (1e-12,), (3.0,)],
    "acosh": [(1.0,), (1.5,), (1e6,)],
    "pow": [(2.0, 3.0), (0.5, -1.5), (3.0, 0.0), (-2.0, 3.0)],
    "xlogy": [(2.0, 3.0), (0.0, 0.0), (-1.5, 0.25)],
    "lgamma": [(0.3,), (1.5,), (20.25,), (-1.5,)],
    "digamma": [(-7.75,), (-0.3,), (0.001,), (0.3,), (1.0,), (2.5,), (9.0,), (1e5,)],
    "polygamma": [(-3.25,), (-0.3,), (0.01,), (0.3,), (1.0,), (12.5,), (300.0,)],
    # Off the zeros, where the rounding of pi is all there is.
    "sinc": [(-2.5,), (-0.75,), (0.0,), (1e-9,), (0.3,), (40.25,)],
    "select": [(1.0, 2.0, 3.0), (0.0, 2.0, 3.0)],
    "logical_not": [(0.0,), (1.0,)],
    "logsigmoid": [(-40.0,), (-1.0,), (0.0,), (3.0,), (40.0,)],
    "sigmoid": [(-40.0,), (-1.0,), (0.0,), (3.0,), (40.0,)],
}

ORDERS = (0, 1, 2, 5)


def cases(name: str) -> list[tuple[str, int | None]]:
    """The function, a time for each order where it has one."""
    return [(name, order) for order in (ORDERS if name == "polygamma" else (None,))]


CASES = [case for name in sorted(FUNCTIONS) for case in cases(name)]


def points(name: str) -> Sequence[tuple[float, ...]]:
    return POINTS.get(name, ORDINARY)


def listing(name: str, order: int | None) -> Listing:
    """The function of its arguments, and nothing else."""
    count = len(points(name)[0])
    steps = [Step("input", entry=(k, 0)) for k in range(count)]
    args = tuple(range(count))
    if name == "select" or name.startswith("logical"):
        truths = 1 if name == "select" else count
        steps.append(Step("number", number=0.0))
        steps += [Step("ne", (k, count), truth=True) for k in range(truths)]
        args = (*range(count + 1, count + 1 + truths), *range(truths, count))
    if order is not None:
        args = (len(steps), *args)
        steps.append(Step("number", number=float(order)))
    steps.append(Step(name, args, truth=name in TRUTHS))
    inputs = tuple((letter, ()) for letter in "abc"[:count])
    result = Result((), (), (len(steps) - 1,))
    return Listing("gradient", inputs, tuple(steps), (result,), ())


def exact(name: str, order: int | None, point: tuple[float, ...]) -> float:
    terms = OpenTerms(1000)
    symbols = [terms.symbol(letter, x) for letter, x in zip("abc", point, strict=False)]
    given = symbols if order is None else [terms.lift(order), *symbols]
    return float(terms.apply(name, *given).value)


def close(found: float, expected: float, digits: float = 1e-12) -> bool:
    if isnan(expected) or isnan(found):
        return isnan(expected) and isnan(found)
    return bool(np.isclose(found, expected, rtol=digits, atol=1e-300))


def text(name: str, order: int | None, language: str) -> str:
    return "\n".join(code(listing(name, order), name, "", language)) + "\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_function_has_a_spelling(language: str) -> None:
    assert LANGUAGES[language].spelled.keys() == FUNCTIONS


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder: Path = tmp_path_factory.mktemp("functions")
    return Library([text(*case, "c") for case in CASES], folder)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_c_has_the_functions_value(
    library: Library, case: tuple[str, int | None]
) -> None:
    for point in points(case[0]):
        given = [np.array(x) for x in point]
        (found,) = library.run(CASES.index(case), listing(*case), given)
        assert close(float(found), exact(*case, point)), (point, found)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_numpy_has_the_functions_value(case: tuple[str, int | None]) -> None:
    for point in points(case[0]):
        given = [np.array(x) for x in point]
        (found,) = run_python(text(*case, "numpy"), "gradient", given)
        assert close(float(found), exact(*case, point)), (point, found)


TRIGAMMA = ("polygamma", 1)
"""PyTorch's own function has ten digits, not twelve."""


@pytest.mark.peers
@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_has_the_functions_value(case: tuple[str, int | None]) -> None:
    pytest.importorskip("torch")
    digits = 1e-9 if case == TRIGAMMA else 1e-12
    for point in points(case[0]):
        given = [np.array(x) for x in point]
        (found,) = run_python(text(*case, "torch"), "gradient", given)
        assert close(float(found), exact(*case, point), digits), (point, found)


def test_a_piece_is_bracketed_where_it_binds_too_loosely() -> None:
    sum_, atom = Piece("a + b", 3), Piece("c", ATOM)
    assert spell("{0.product} * {1.unary}", [sum_, atom]) == "(a + b) * c"
    assert spell("{0.sum} - {1.product}", [sum_, sum_]) == "a + b - (a + b)"
    assert repeated("{0.atom} * {0.atom} + {1}") == {0}
