"""The gradient of a convolution's input is the same by rows of the turned window as by
sums of its entries."""

from itertools import product

import numpy as np
import pytest

from gradcli.engine import NUMPY
from gradcli.ops import convolution

KERNELS = [(3, 2), (2, 3), (2, 2, 2), (3, 1, 2)]


def spread(x, weight, **how):
    return convolution.spread(NUMPY, x, weight, None, **how)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("groups", [1, 2])
def test_turned_windows_give_what_sums_give(kernel, groups, monkeypatch):
    draw, rank = np.random.default_rng(0), len(kernel)
    weight = draw.normal(size=(6, 4 // groups, *kernel))
    size = (2, 4, 5, 6, 7)[: 2 + rank]
    taken = []
    for padding, gap in product((0, 1), (1, 2)):
        how = {"stride": (1,) * rank, "padding": (padding,) * rank,
               "dilation": (gap,) * rank}  # fmt: skip
        windows = convolution.Windows(kernel, *how.values())
        x = draw.normal(size=(2, 6, *windows.counts(size[2:])))
        taken.append(convolution.is_turnable(NUMPY, weight, windows, groups))
        found = spread(x, weight, size=size, groups=groups, **how)
        with monkeypatch.context() as patch:
            patch.setattr(convolution, "is_turnable", lambda *_: False)
            wanted = spread(x, weight, size=size, groups=groups, **how)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        assert found.flags.c_contiguous
    assert any(taken)


def test_an_infinite_weight_reaches_only_the_entries_that_it_meets():
    weight = np.ones((1, 1, 2, 2))
    weight[0, 0, 0, 0] = np.inf
    found = spread(np.ones((1, 1, 2, 2)), weight, size=(1, 1, 3, 3), stride=(1, 1),
                   padding=(0, 0), dilation=(1, 1))  # fmt: skip
    assert np.isinf(found[0, 0, :2, :2]).all()
    assert np.isfinite(found[0, 0, 2]).all()
    assert np.isfinite(found[0, 0, :, 2]).all()
