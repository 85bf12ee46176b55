"""A sum of sparse parts is the matrix that SciPy adds up, recorded or not."""

import numpy as np
import pytest
from scipy.sparse import coo_array

from gradcli.engine import NUMPY
from gradcli.engine.entries import SparsePart, SparseSum
from gradcli.large.recording import CallRecorder, Replay
from gradcli.large.tracing import Trace

SHAPE = (5, 7)


def parts(seed):
    """Return the places and the values of a few parts; some places repeat."""
    rng = np.random.default_rng(seed)
    made = []
    for size in rng.integers(1, 12, rng.integers(1, 4)):
        rows, columns = rng.integers(0, SHAPE[0], size), rng.integers(0, SHAPE[1], size)
        if seed % 2:
            rows, columns = np.arange(SHAPE[0]), np.arange(SHAPE[0]) + rng.integers(3)
        made.append((rows, columns, rng.standard_normal(rows.size)))
    return made


def summed(made):
    rows, columns, values = (np.concatenate(each) for each in zip(*made, strict=True))
    return coo_array((values, (rows, columns)), SHAPE).toarray()


def matrix(made, xp, values):
    places = [(rows, columns) for rows, columns, _ in made]
    pairs = zip(places, values, strict=True)
    each = [SparsePart(*where, held) for where, held in pairs]
    return SparseSum(each, SHAPE, np.dtype("f8"), xp)


@pytest.mark.parametrize("seed", range(20))
def test_a_joined_matrix_has_each_place_once_and_the_sum(seed):
    made = parts(seed)
    xp = CallRecorder(NUMPY, Trace())
    joined = matrix(made, xp, [values for *_, values in made]).joined()
    rows, columns, _ = joined.flat()
    assert len({*zip(rows, columns, strict=True)}) == rows.size
    assert np.allclose(joined.toarray(), summed(made))


@pytest.mark.parametrize("seed", range(20))
def test_a_recorded_sum_is_made_again_of_other_values(seed):
    made = parts(seed)
    trace = Trace()
    xp = CallRecorder(NUMPY, trace)
    held = [xp.input(values) for *_, values in made]
    joined = matrix(made, xp, held).joined()
    again = Replay(trace, [joined.flat().values])
    others = [values * 3 + 1 for *_, values in made]
    (values,) = again(others)
    known = zip(made, others, strict=True)
    wanted = summed([(rows, columns, v) for (rows, columns, _), v in known])
    assert np.allclose(joined.places().filled(values).toarray(), wanted)


def test_a_power_of_0_needs_no_call():
    trace = Trace()
    x = CallRecorder(NUMPY, trace).input(np.array([2.0, -np.inf, np.nan, 0.0]))
    assert (x**0).tolist() == [1, 1, 1, 1]
    numbers = CallRecorder(NUMPY, trace).input(np.arange(3))
    assert (numbers**0.0).dtype == np.float64
    assert not trace.steps
