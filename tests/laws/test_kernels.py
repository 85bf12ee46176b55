"""On a GPU the formula of an elementwise row is one kernel: its value, and each partial
times a cotangent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY
from gradcli.engine.rules import placed, times
from gradcli.ops import OPS, Op
from tests.cupy_stand_in.counts import counting
from tests.cupy_stand_in.standing import is_real

from .draw import draw, is_differentiated

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(is_real(), reason="the stand-in counts, a GPU does not"),
]

Run = Callable[[], Any]
Formula = tuple[str, str]
"""A row's name, and what is computed: ``value``, or the number of a partial."""


def formulas() -> Iterator[Formula]:
    """Yield the formulas of all elementwise rows."""
    for name, op in OPS.items():
        if op.partials is None or not is_differentiated(op):
            continue
        yield name, "value"
        for slot, partial in enumerate(op.partials):
            if callable(partial) and partial.__name__ != "partial":  # an unknown slope
                yield name, str(slot)


POLYNOMIALS = ("chebyshev_polynomial_t", "chebyshev_polynomial_u",
               "hermite_polynomial_h", "hermite_polynomial_he",
               "laguerre_polynomial_l", "legendre_polynomial_p")  # fmt: skip

SEVERAL: dict[Formula, str] = {
    (f"{name}.default", what): "the number of steps is the largest degree"
    for name in POLYNOMIALS
    for what in ("value", "0")
}
"""Formulas of more than one kernel, or that wait for the GPU, and why."""

LEAST = 326
"""Fewest formulas that are one kernel."""


def ready(xp: Any, op: Op, what: str, arrays: list[Any], params: Any) -> Run:
    """Return a function that computes a formula in a namespace of arrays."""
    fwd = placed(op)
    there = [xp.np.asarray(a) if hasattr(a, "dtype") else a for a in arrays]
    if what == "value":
        if xp is NUMPY:
            return lambda: fwd(xp, *there, **params)
        return lambda: xp.whole_row(op, tuple(there), params)
    assert op.partials is not None
    rule: Any = times(op.partials[int(what)], op.masks)
    y = fwd(NUMPY, *arrays, **params)
    g = np.linspace(0.5, 1.5, y.size).reshape(y.shape).astype(y.dtype)
    given = [xp.np.asarray(g), xp.np.asarray(y), *there]
    if xp is NUMPY:
        return lambda: rule(xp, *given, **params)
    key = op.name, what
    return lambda: xp.pending.run_elementwise(key, "Rule", rule, given, params)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_formula_of_an_elementwise_row_is_one_kernel(cuda: Any, dtype: str) -> None:
    several: dict[Formula, str] = {}
    for name, what in formulas():
        op, spot = OPS[name], draw(OPS[name], 0)
        arrays = [a.astype(dtype) if getattr(a, "dtype", "") == "float64" else a
                  for a in spot.arrays]  # fmt: skip
        params = spot.case.params
        expected = ready(NUMPY, op, what, arrays, params)()
        run = ready(cuda, op, what, arrays, params)
        run()
        with counting() as asked:
            found = run()
        close = 1e-12 if dtype == "float64" else 2e-5
        np.testing.assert_allclose(
            found.get(), expected, close, close * 1e-3, err_msg=f"{name} {what}"
        )
        assert found.dtype == expected.dtype, (name, what)
        if asked.kernels > 1 or asked.waits:
            several[name, what] = str(dict(asked.names))
    assert several.keys() == SEVERAL.keys(), several
    assert len([*formulas()]) - len(several) >= LEAST
