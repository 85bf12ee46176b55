"""What is written at positions is whole; what is not finite stays in its place.

The numbers are PyTorch 2.13's, but for digamma's and the incomplete gamma functions',
which are mpmath's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, function, grad

ALONE = ((2, 3), -1, ())
ONE_OF_TWO = ((2, 3), 0, (1,))


def leaf(values: Any) -> Tensor:
    return Tensor(np.array(values, dtype=float), NUMPY, True)


@pytest.mark.parametrize(
    ("shape", "dim", "source", "words"),
    [
        (
            *ALONE,
            "_(): Indexing dim 1 is out of bounds of the source tensor with dim 0",
        ),
        (*ONE_OF_TWO, "source tensor shape must match self tensor shape"),
        ((2, 3), 0, (2, 3), "_(): Number of indices (1) should be equal to source."),
        ((3,), 0, (), "source tensor shape must match self tensor shape"),
        ((), 0, (1,), "source tensor shape must match self tensor shape"),
    ],
)
def test_slices_are_whole(
    shape: tuple[int, ...], dim: int, source: tuple[int, ...], words: str
) -> None:
    index = Tensor(np.array([0]), NUMPY)
    given = leaf(np.ones(shape)), dim, index, leaf(np.ones(source))
    said = "index_add" + words if words.startswith("_") else words
    with pytest.raises(RuntimeError) as error:
        function("index_add")(*given)
    assert said in str(error.value)


def test_a_slope_that_is_not_used_passes_no_infinity() -> None:
    x, weight = leaf([[2.0, -2.0]]), leaf([0.25])
    g = Tensor(np.array([[np.inf, 1.0]]), NUMPY)
    found = grad([function("prelu")(x, weight)], [x, weight], [g])
    assert [t.raw.tolist() for t in found if t is not None] == [
        [[np.inf, 0.25]],
        [-2.0],
    ]


def test_digamma_has_its_digits_beside_poles() -> None:
    at = [-0.9944, -1.0056, -2.003, -49.9999, -1.24999, -0.504]
    expected = [
        -178.1338385763946, 178.97939457350992, 334.2474321147953,
        -9996.077682987927, 3.714330945196334, 7.420716047053968e-4,
    ]  # fmt: skip
    y = function("digamma")(leaf(at)).raw
    np.testing.assert_allclose(y, expected, rtol=1e-15)


def test_incomplete_gamma_functions_of_orders_near_a_half_have_their_digits() -> None:
    a, x = leaf([0.5, 0.5, 0.46, 0.5]), leaf([1.0, 0.8123, 0.02, 1.05])
    above = [
        0.15729920705028513,
        0.20245157431373909,
        0.8144311731756207,
        0.14729913862267605,
    ]
    below = [
        0.8427007929497149,
        0.7975484256862609,
        0.18556882682437922,
        0.8527008613773239,
    ]
    np.testing.assert_allclose(function("igammac")(a, x).raw, above, rtol=1e-15)
    np.testing.assert_allclose(function("igamma")(a, x).raw, below, rtol=1e-15)


@pytest.mark.parametrize("name", ["std", "std_mean"])
def test_no_infinity_passes_a_deviation_of_0(name: str) -> None:
    x = leaf([2.0, 2.0])
    y = function(name)(x)
    root = function("sqrt")(y if name == "std" else y[0])
    (found,) = grad([root], [x], [Tensor(np.array(1.0), NUMPY)])
    assert found is not None
    assert found.raw.tolist() == [0.0, 0.0]
