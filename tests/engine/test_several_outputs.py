"""Nodes with several outputs: every output's gradient finds its place."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, function, grad
from gradcli.engine.forward import jvp

split = function("split")
sort = function("sort")
SIZES = (2, 3, 1)
STARTS = (0, 2, 5)


def leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), NUMPY, True)


def six() -> Tensor:
    return leaf(3.0, -1.0, 4.0, 1.5, -5.0, 9.0)


def cubes(*parts: Tensor) -> Any:
    total = None
    for part in parts:
        term = function("sum")(part * part * part)
        total = term if total is None else total + term
    return total


def inside(chosen: tuple[int, ...]) -> Any:
    """1 where a chosen piece stands, else 0."""
    mask = np.zeros(6)
    for k in chosen:
        mask[STARTS[k] : STARTS[k] + SIZES[k]] = 1
    return mask


CHOICES = [c for n in (1, 2, 3) for c in combinations(range(3), n)]


@pytest.mark.parametrize("chosen", CHOICES, ids=str)
def test_gradient_is_zero_in_outputs_that_are_not_used(chosen: tuple[int, ...]) -> None:
    x = six()
    parts = split(x, list(SIZES))
    (g,) = grad([cubes(*[parts[k] for k in chosen])], [x], create_graph=True)
    np.testing.assert_allclose(g.raw, 3 * x.raw**2 * inside(chosen))
    (h,) = grad([function("sum")(g * g)], [x])
    np.testing.assert_allclose(h.raw, 36 * x.raw**3 * inside(chosen))
    t = np.arange(1.0, 7.0)
    y = cubes(*[split(x, list(SIZES))[k] for k in chosen])
    (pushed,) = jvp([y], [x], [Tensor(t, NUMPY)])
    np.testing.assert_allclose(pushed.raw, (g.raw * t).sum())


def test_gradient_with_respect_to_one_output() -> None:
    x = six()
    a, b = split(x, 3)
    ga, gb, gx = grad([cubes(a, b)], [a, b, x])
    np.testing.assert_allclose(ga.raw, 3 * a.raw**2)
    np.testing.assert_allclose(gb.raw, 3 * b.raw**2)
    np.testing.assert_allclose(gx.raw, 3 * x.raw**2)


def test_an_output_used_twice_keeps_both_edges() -> None:
    x = six()
    a, _ = split(x, 3)
    product = a * a
    assert [nr for _, nr in product.grad_fn.next_functions] == [0, 0]
    (g,) = grad([function("sum")(product)], [x])
    np.testing.assert_allclose(g.raw, [*2 * x.raw[:3], 0, 0, 0])
