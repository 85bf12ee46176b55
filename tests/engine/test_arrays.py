"""Reductions, choices and additions on large arrays are NumPy's."""

from __future__ import annotations

import operator as op
from itertools import product
from math import fsum

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, arrays
from gradcli.engine.parts import chosen

SPECIAL = [np.nan, np.inf, -np.inf, 1.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 2, 7, arrays.MAX_LINE_TO_TURN, 40])
@pytest.mark.parametrize("keepdim", [True, False])
def test_the_largest_and_the_least_of_short_lines_are_numpys(dtype, length, keepdim):
    draw = np.random.default_rng(length)
    x = draw.normal(size=(arrays.MIN_SIZE_TO_TURN // 2, 2, length)).astype(dtype)
    x.flat[: len(SPECIAL)] = SPECIAL
    for dim in (2, (2,)):
        for extreme, numpys in ((NUMPY.amax, np.max), (NUMPY.amin, np.min)):
            found, wanted = extreme(x, dim, keepdim), numpys(x, 2, keepdims=keepdim)
            assert found.dtype == wanted.dtype
            assert found.flags.c_contiguous
            assert np.array_equal(found, wanted, equal_nan=True)


def lines(length, dtype):
    draw = np.random.default_rng(length)
    return draw.normal(size=(arrays.MIN_SIZE_TO_TURN // 2, 2, length)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "length", [2, 7, arrays.MIN_LINE_TO_SPLIT, 33, arrays.MAX_LINE_TO_ADD, 200]
)
@pytest.mark.parametrize("keepdim", [True, False])
def test_a_sum_of_a_short_line_errs_no_more_than_numpys(dtype, length, keepdim):
    x = lines(length, dtype)
    found, wanted = NUMPY.sum(x, 2, keepdim), np.add.reduce(x, 2, keepdims=keepdim)
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    exact = np.array([fsum(line) for line in x.reshape(-1, length)])
    size = np.abs(x).sum(2).reshape(-1) * np.finfo(dtype).eps
    error, allowed = (
        np.abs(sums.reshape(-1) - exact) / size for sums in (found, wanted)
    )
    assert np.sqrt(np.mean(error**2)) <= 1.2 * np.sqrt(np.mean(allowed**2))
    if length < arrays.MIN_LINE_TO_SPLIT:
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("length", [3, 20])
def test_a_sum_of_a_short_line_keeps_what_is_not_finite(length):
    x = lines(length, "float64")
    x[0, 0, 0], x[1, 0, 1], x[2, 0, :2] = np.nan, np.inf, (np.inf, -np.inf)
    with np.errstate(invalid="ignore"):
        found, wanted = NUMPY.sum(x, 2), np.add.reduce(x, 2)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(np.isinf(found), np.isinf(wanted))
    assert found[1, 0] == np.inf


def test_a_sum_of_half_floats_is_numpys():
    x = lines(5, "float16")
    assert np.array_equal(NUMPY.sum(x, 2), np.add.reduce(x, 2))


@pytest.mark.parametrize("length", [2, 10, 11, 33])
def test_the_largest_of_lines_beyond_the_cache_is_numpys(monkeypatch, length):
    monkeypatch.setattr(arrays, "MAX_SIZE_IN_CACHE", arrays.MIN_SIZE_TO_TURN)
    x = lines(length, "float32")
    assert np.array_equal(NUMPY.amax(x, 2), np.max(x, 2))


def test_other_dimensions_and_orders_are_numpys():
    x = np.random.default_rng(0).normal(size=(90, 40, 4))
    for dim in (0, 1, (1, 2), None):
        assert np.array_equal(NUMPY.amax(x, dim), np.max(x, dim))
    assert np.array_equal(NUMPY.amax(x.T, 2), np.max(x.T, 2))


ALL = slice(None)


def positions(*shape, n=4):
    return np.random.default_rng(sum(shape)).integers(0, n, shape)


INDICES = {
    "all dimensions": (positions(9), positions(9), positions(9)),
    "the first": (positions(9),),
    "a matrix at the first": (positions(3, 5),),
    "the last": (..., positions(9)),
    "the last, of all": (ALL, ALL, positions(9)),
    "the middle": (ALL, positions(9)),
    "the middle, two": (ALL, positions(3, 1), positions(5)),
    "the first two": (positions(9), positions(9), ...),
    "apart": (positions(9), ALL, positions(9)),
    "from the end": (positions(9) - 4,),
    "some of a dimension": (slice(1, 3), positions(9)),
    "one row": (np.array(2),),
    "a mask": (positions(4, n=2) == 1,),
    "a slice": (slice(1, 3),),
    "nothing": (positions(0),),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=list(INDICES))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_adding_is_numpys(monkeypatch, index, dtype):
    monkeypatch.setattr("gradcli.engine.arrays.MIN_SIZE_TO_FLATTEN", 0)
    shape = (4, 5, 6)
    wanted = np.zeros(shape, dtype)
    g = np.random.default_rng(0).normal(size=wanted[index].shape) * 100
    g = g.astype(dtype)
    np.add.at(wanted, index, g)
    assert NUMPY.put_add(shape, index, g).tobytes() == wanted.tobytes()


def test_rows_of_a_table_are_added_by_their_numbers():
    count = arrays.MIN_SIZE_TO_FLATTEN
    at, wanted = positions(count, n=7), np.zeros((7, 3))
    g = np.random.default_rng(0).normal(size=(count, 3))
    np.add.at(wanted, at, g)
    assert NUMPY._numbers_of(wanted, (at,)) is not None
    assert NUMPY.put_add((7, 3), (at,), g).tobytes() == wanted.tobytes()


VALUES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]
SHAPES = [(100, 100), (5000,), (70, 80, 3)]


def operands(shape, dtype):
    draw = np.random.default_rng(0)
    a, b = (draw.normal(size=shape).astype(dtype) for _ in "ab")
    a.flat[:6] = b.flat[3:9] = VALUES
    return draw.random(shape) < 0.5, a, b


def same(found, wanted):
    return (
        found.dtype == wanted.dtype
        and found.strides == wanted.strides
        and found.tobytes() == wanted.tobytes()
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_where_of_large_arrays_is_numpys(shape, dtype):
    mask, a, b = operands(shape, dtype)
    for choice in ((mask, a, b), (mask, 0, b), (mask, a, 0), (mask, 1, b)):
        assert same(NUMPY.where(*choice), np.where(*choice))
    turned = (mask.T, a.T, b.T)
    assert same(NUMPY.where(*turned), np.where(*turned))
    assert same(NUMPY.where(mask[0], a, b), np.where(mask[0], a, b))


def test_only_arrays_of_one_type_and_shape_are_chosen_by_bits():
    mask, a, b = operands((100, 100), "float64")
    assert chosen(np, mask, a, b) is not None
    assert chosen(np, mask, a, b.astype("float32")) is None
    assert chosen(np, mask, a, b[:1]) is None
    assert chosen(np, mask, a, 0.5) is None
    assert chosen(np, mask.T, a.T, b.T) is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("run", [op.add, op.sub, op.mul, op.truediv])
def test_a_number_alone_gives_the_bits_that_it_gives_in_an_array(dtype, run):
    for pair in product((0.1, -0.0, 3.0, np.inf, np.nan), (0.7, -2.5, 1e-3, np.inf)):
        found = []
        for shape in ((), (1,)):
            a, b = (Tensor(np.full(shape, v, dtype), NUMPY, True) for v in pair)
            y = run(run(a, b), b)
            y.backward(Tensor(np.ones(shape, dtype), NUMPY))
            found.append([np.asarray(t.raw).tobytes() for t in (y, a.grad, b.grad)])
        assert found[0] == found[1]
