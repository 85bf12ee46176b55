"""Values and derivatives of functions that PyTorch has no derivative of, by mpmath."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, function, grad
from gradcli.ops import FUNCTIONS
from tests.grouped import nightly

from .slopes import DIGITS, OF_ONE_NUMBER, OF_ORDERS, Function

UNITS = (64, 64, 2000)
"""What a value and its first two derivatives may be off by, in the units of
`units_off`."""

ROUNDOFF = 2.0**-53
LARGEST = 1e300
SMALLEST = 1e-290

CASES: dict[str, tuple[Callable[[Tensor], Tensor], Function, Sequence[float]]] = {
    **{name: (function(name), f, at) for name, (f, at) in OF_ONE_NUMBER.items()},
    **{
        f"{name}({order})": (
            partial(lambda f, n, x: f(n, x), function(name), order)
            if name == "polylog"
            else partial(lambda f, n, x: f(x, n), function(name), float(order)),
            partial(f, order),
            at,
        )
        for name, (f, at, orders) in OF_ORDERS.items()
        for order in orders
    },
}


def derivatives(run: Callable[[Tensor], Tensor], at: Sequence[float]) -> list[Any]:
    """The values and the first two derivatives at many points, each for itself."""
    leaf = Tensor(np.asarray(at), NUMPY, True)
    ones = Tensor(np.ones(len(at)), NUMPY)
    y = run(leaf)
    (first,) = grad([y], [leaf], [ones], create_graph=True)
    if first.edge is None:
        return [y.raw, first.raw, np.zeros(len(at))]
    (second,) = grad([first], [leaf], [ones])
    return [y.raw, first.raw, np.zeros(len(at)) if second is None else second.raw]


def true_derivatives(f: Function, x: float) -> list[Any]:
    """The value and the first three derivatives."""
    with mpmath.workdps(DIGITS):
        return [mpmath.re(d) for d in mpmath.diffs(f, mpmath.mpf(x), 3)]


def units_off(found: float, true: list[Any], x: float, order: int) -> float:
    """How far a derivative is off, in units of rounding: of itself, of what that of the
    argument makes of it, and of those below."""
    value, beside = true[order : order + 2]
    if not abs(value) < LARGEST:
        return 0.0
    size = abs(value) + abs(beside * x) + SMALLEST + sum(map(abs, true[:order]))
    return float(abs(mpmath.mpf(float(found)) - value) / (size * ROUNDOFF))


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("share", [5, *nightly([1])])
def test_a_function_and_its_derivatives_are_mpmaths(name: str, share: int) -> None:
    """In every run at one point of so many, at night at all."""
    run, f, points = CASES[name]
    at = points[::share]
    with np.errstate(all="ignore"):
        found = derivatives(run, at)
    true = [true_derivatives(f, x) for x in at]
    for order, numbers in enumerate(found):
        every = zip(numbers, true, at, strict=True)
        worst = max((units_off(y, known, x, order), x) for y, known, x in every)
        assert worst[0] <= UNITS[order], (order, worst)


def test_every_function_that_pytorch_has_no_derivative_of_is_looked_at() -> None:
    families = {FUNCTIONS[name].family for name in OF_ONE_NUMBER | OF_ORDERS}
    of_them = {name for name, e in FUNCTIONS.items() if e.family in families}
    recorded = {"i0", "i1", "i0e", "i1e"}
    assert of_them - recorded == OF_ONE_NUMBER.keys() | OF_ORDERS.keys()
