"""Products in one thread, and the other way round, are the products they are."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, parts


@pytest.mark.parametrize(
    "shape", [(8, 300, 64), (64, 300, 8), (16, 256, 64), (130, 200, 30)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_with_a_transposed_matrix(shape, dtype):
    rows, inner, columns = shape
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(rows, inner)), draw.normal(size=(columns, inner))
    y = NUMPY.matmul(a.astype(dtype), b.astype(dtype).T)
    assert y.dtype == dtype
    assert y.flags.c_contiguous
    np.testing.assert_allclose(y, a @ b.T, rtol=1e-3, atol=1e-3)


def test_a_small_product_runs_in_one_thread_and_the_number_stands_again(monkeypatch):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    a, large = np.ones((3, 100, 100)), np.ones((200, 200))
    parts.product(a, a)
    assert said == [4, 1, 4]
    parts.product(large, large)
    assert said == [4, 1, 4]


def test_products_in_several_threads_put_the_number_back_once():
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    with bound:
        with bound:
            assert said[-1] == 1
        assert said[-1] == 1
    assert said == [4, 1, 4]


def test_threads_are_those_that_stood_before(monkeypatch):
    said = [4]
    bound = parts._Bound(lambda: said[-1], said.append)
    monkeypatch.setattr(parts, "library", lambda: bound)
    with bound:
        assert parts.threads() == 4
    assert parts.threads() == 4
    monkeypatch.setattr(parts, "library", lambda: None)
    assert parts.threads() == 1
