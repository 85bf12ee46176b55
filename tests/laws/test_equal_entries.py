"""Equal entries have no variance: not the last digit of one, and no slope."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, AccumulateGrad, Tensor, function, grad


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("count", [2, 3, 6, 7, 10])
def test_equal_entries_have_no_variance(name: str, count: int) -> None:
    x = Tensor(np.full((2, count), 0.1), NUMPY)
    x.edge = AccumulateGrad(x)
    y = function(name)(x, 1)
    spread = y[0] if isinstance(y, tuple) else y
    (slope,) = grad([spread], [x], [Tensor(np.ones(2), NUMPY)])
    assert slope is not None
    assert not spread.raw.any()
    if name.startswith("std"):
        assert not slope.raw.any()
