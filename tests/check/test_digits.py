"""As many digits as are asked for, all of them right, of the decimals as typed."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import mpmath
import pytest

from gradcli.check.digits import Precisely, precise
from gradcli.lang.nested import nested
from gradcli.ops import FUNCTIONS

from .jobs import job


def computed(
    source: str, typed: dict[str, str], digits: int, cotangent: str | None = None
) -> Precisely:
    values: dict[str, Any] = {n: _floats(t) for n, t in typed.items()}
    given = job(source, values, cotangent=cotangent and _floats(cotangent))
    return precise(given, typed, cotangent, digits)


def _floats(text: str) -> Any:
    if text.startswith("["):
        return [float(part) for part in text.strip("[]").split(",")]
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or 1)


# With x the decimal itself, by mpmath alone.
KNOWN = {
    "sin(x)": (lambda m, x: m.sin(x), lambda m, x: m.cos(x)),
    "0.1*x**3": (lambda m, x: x**3 / 10, lambda m, x: 3 * x**2 / 10),
    "(0.1 + 0.2)*x": (lambda m, x: 3 * x / 10, lambda m, x: m.mpf(3) / 10),
    "x/3001 + 1/7*x": (lambda m, x: x / 3001 + x / 7,
                       lambda m, x: m.mpf(1) / 3001 + m.mpf(1) / 7),
    "pi*exp(x)": (lambda m, x: m.pi * m.exp(x), lambda m, x: m.pi * m.exp(x)),
    "x**0.1": (lambda m, x: x ** (m.mpf(1) / 10),
               lambda m, x: x ** (m.mpf(1) / 10 - 1) / 10),
    "sin(0.1)*x": (lambda m, x: m.sin(m.mpf(1) / 10) * x,
                   lambda m, x: m.sin(m.mpf(1) / 10)),
    "sum(x*tensor([0.1, pi]))": (lambda m, x: x * (m.mpf(1) / 10 + m.pi),
                                 lambda m, x: m.mpf(1) / 10 + m.pi),
    "gelu(x)": (lambda m, x: x * (1 + m.erf(x / m.sqrt(2))) / 2,
                lambda m, x: (1 + m.erf(x / m.sqrt(2))) / 2
                + x * m.exp(-x * x / 2) / m.sqrt(2 * m.pi)),
    "1.00000000000000000000000000000000001*x": (
        lambda m, x: m.mpf("1.00000000000000000000000000000000001") * x,
        lambda m, x: m.mpf("1.00000000000000000000000000000000001")),
    "y = x\nfor i in range(3): y = sin(y) + 0.3": (
        lambda m, x: m.sin(m.sin(m.sin(x) + m.mpf("0.3")) + m.mpf("0.3"))
        + m.mpf("0.3"),
        lambda m, x: m.cos(m.sin(m.sin(x) + m.mpf("0.3")) + m.mpf("0.3"))
        * m.cos(m.sin(x) + m.mpf("0.3")) * m.cos(x)),
}  # fmt: skip


@pytest.mark.parametrize("digits", [1, 15, 50, 300])
@pytest.mark.parametrize("source", KNOWN)
def test_every_digit_is_that_of_the_exact_number(source: str, digits: int) -> None:
    context = mpmath.mp.clone()
    context.dps = digits + 30
    value, derivative = KNOWN[source]
    x = context.mpf("0.7")
    found = computed(source, {"x": "0.7"}, digits)
    assert found.doubtful == ()
    gradient = found.gradients["x"]
    assert gradient is not None
    for numerals, exact in (
        (found.output, value(context, x)),
        (gradient, derivative(context, x)),
    ):
        assert not numerals.unsettled
        error = abs(context.mpf(numerals.texts[0]) - exact)
        assert error <= context.mpf(10) ** (1 - digits) * abs(exact)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("0.1", "0.1"), ("1/3", "0." + "3" * 30), ("[0.1, -2e-3]", ["0.1", "-0.002"]),
     ("0.1000000000000000055511151231257827",
      "0.100000000000000005551115123126")],
)  # fmt: skip
def test_input_is_the_decimal_that_was_typed(text: str, shown: Any) -> None:
    cotangent = "[1, 1]" if text.startswith("[") else None
    found = computed("x + 0", {"x": text}, 30, cotangent).output
    assert nested(found.texts, found.shape) == shown


def test_cotangent_is_the_decimal_that_was_typed() -> None:
    found = computed("2*x", {"x": "[1, 2]"}, 25, "[0.1, 0.7]").gradients["x"]
    assert found is not None
    assert nested(found.texts, found.shape) == ["0.2", "1.4"]


def test_cancellation_to_nothing_is_zero() -> None:
    assert computed("sin(pi*x)", {"x": "1"}, 40).output.texts == ("0.0",)


def test_cancellation_takes_no_digit() -> None:
    (text,) = computed("(1 - cos(x)) / x**2", {"x": "1e-30"}, 40).output.texts
    context = mpmath.mp.clone()
    context.dps = 80
    exact = context.mpf("0.5") - context.mpf("1e-60") / 24
    assert abs(context.mpf(text) - exact) < context.mpf("1e-40")


def test_constant_known_to_17_digits_is_named() -> None:
    assert computed("x*randn(2).sum()", {"x": "1"}, 30).doubtful


def test_poles_and_undefined_values_are_told_as_they_are() -> None:
    assert computed("x/0", {"x": "1"}, 20).output.texts == ("inf",)
    assert computed("sqrt(x)", {"x": "-1"}, 20).output.texts == ("nan",)


STEP = Decimal("1e-30")
"""Step of a difference quotient that has as many digits as its square says."""


def slopes_of_a_call(call: str, at: str) -> tuple[Any, Any] | None:
    """The gradient and a difference quotient of values; None where one has none."""
    here = Decimal(at)
    try:
        found = computed(call, {"x": at}, 50)
        above = computed(call, {"x": str(here + STEP)}, 110).output
        below = computed(call, {"x": str(here - STEP)}, 110).output
    except Exception:
        # A function of matrices, or one that takes more.
        return None
    slope = found.gradients["x"]
    if slope is None or found.output.shape:
        return None
    found = (above, below, slope)
    top, bottom, here_too = (mpmath.mpf(each.texts[0]) for each in found)
    quotient = (top - bottom) / (2 * mpmath.mpf(str(STEP)))
    pair = here_too, quotient
    return pair if all(map(mpmath.isfinite, pair)) else None


def test_a_gradient_has_the_digits_of_a_difference_of_values() -> None:
    told = 0
    names = [name for name, entry in FUNCTIONS.items() if name == entry.name]
    places = {"x": ("0.31", "1.3"), "x, 2": ("0.31",), "2, x": ("1.3",)}
    calls = [
        (f"{name}({args})", several)
        for name in names
        for args, several in places.items()
    ]
    with localcontext(prec=60), mpmath.workdps(120):
        for call, several in calls:
            pairs = (slopes_of_a_call(call, at) for at in several)
            if (pair := next(filter(None, pairs), None)) is not None:
                slope, quotient = pair
                assert abs(quotient - slope) <= 1e-44 * (1 + abs(slope)), call
                told += 1
    assert told > 180


@pytest.mark.parametrize(
    ("source", "x", "slopes"),
    [("where(x > 0, x, 1)", "0", "0.0 from below, 1.0 from above, where the value"),
     ("abs(x)", "0", "-1.0 from below, 1.0 from above"), ("relu(x)**2", "0", None),
     ("where(3*x == 0.3, x, 2*x)", "0.1", "2.0 from below, 2.0 from above, where"),
     ("floor(x)*x", "1", "0.0 from below, 1.0 from above"), ("sin(x)", "0", None)],
)  # fmt: skip
def test_digits_of_no_derivative_are_told(
    source: str, x: str, slopes: str | None
) -> None:
    said = computed(source, {"x": x}, 20).kinked.get("x")
    assert said is None if slopes is None else slopes in (said or "")
