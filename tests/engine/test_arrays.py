"""Additions at positions of large arrays, and choices, are NumPy's."""

import operator as op
from itertools import product

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, arrays

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
    assert NUMPY.put_add((7, 3), (at,), g).tobytes() == wanted.tobytes()


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


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int64", "longdouble"]
)
@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_a_choice_between_numbers_and_0_is_numpys(dtype, zero):
    size = 4 * arrays.MIN_ENTRIES_BY_BITS
    x = np.resize([1.5, -0.0, 0.0, np.nan, np.inf, -np.inf, -3, 1e-7], size)
    with np.errstate(all="ignore"):
        x = x.astype(dtype).reshape(4, -1)
    condition = np.random.default_rng(0).random(x.shape) < 0.5
    for operands in ((condition, zero, x), (condition, x, zero),
                     (condition[:, ::2], x[:, 1::2], zero),
                     (condition[0], zero, x), (condition, x[:, :1], zero)):  # fmt: skip
        with np.errstate(all="ignore"):
            wanted, found = np.where(*operands), NUMPY.where(*operands)
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()
