"""The stand-in differs from NumPy where CuPy does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from . import limits
from .counts import counting
from .modules import MODULES
from .standing import is_real, search_path

pytestmark = pytest.mark.skipif(is_real(), reason="there is CuPy itself")

cupy: Any = MODULES["cupy"]
special: Any = MODULES["cupyx.scipy.special"]
errstate: Any = MODULES["cupyx"].errstate


def there(values: Any, dtype: str = "float64") -> Any:
    return cupy.asarray(np.array(values, dtype))


def test_quotients_are_rounded_before_they_are_cut() -> None:
    a, b = there([1.0]), there([0.1])
    assert cupy.floor_divide(a, b).tolist() == [10] != [np.floor_divide(1.0, 0.1)]
    assert cupy.remainder(a, b).tolist() == [0] != [np.remainder(1.0, 0.1)]
    assert (there([7, -7], "int64") // 2).tolist() == [3, -4]
    assert (there([7, -7], "int64") % 4).tolist() == [3, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrices_that_are_not_finite_are_refused_by_cusolver(bad: float) -> None:
    a = there([[1.0, bad], [0.0, 1.0]])
    with errstate(linalg="raise"):
        for run in (cupy.linalg.inv, lambda x: cupy.linalg.solve(x, x)):
            with pytest.raises(np.linalg.LinAlgError, match="cuSOLVER"):
                run(a)


def test_singular_matrices_are_refused_in_cusolvers_words() -> None:
    with (
        errstate(linalg="raise"),
        pytest.raises(np.linalg.LinAlgError, match="cuSOLVER"),
    ):
        cupy.linalg.inv(there([[1.0, 1.0], [1.0, 1.0]]))


def test_a_right_hand_side_is_not_broadcast() -> None:
    a, b = there(np.ones((2, 3, 3)) + np.eye(3)), there(np.ones((3, 1)))
    with pytest.raises(ValueError, match="multidimensional b"):
        cupy.linalg.solve(a, b)


def test_vectors_have_other_signs() -> None:
    a = np.array([[2.0, 1.0], [1.0, 3.0]])
    _, vectors = cupy.linalg.eigh(there(a))
    turned = vectors.get() / np.linalg.eigh(a)[1]
    assert set(np.sign(turned).ravel()) == {1.0, -1.0}
    u, s, vh = (part.get() for part in cupy.linalg.svd(there(a)))
    assert (np.sign(u / np.linalg.svd(a)[0]) != 1).any()
    np.testing.assert_allclose(u * s @ vh, a)


def test_results_of_linear_algebra_lie_by_columns() -> None:
    for shape in ((3, 3), (2, 3, 3)):
        found = cupy.linalg.inv(there(np.eye(3) + np.zeros(shape)))
        assert not found.flags.c_contiguous
        assert found.swapaxes(-1, -2).flags.c_contiguous


def test_results_of_functions_lie_by_rows() -> None:
    x = there([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).T
    assert not x.flags.c_contiguous
    assert (x + 1).flags.c_contiguous


def test_a_position_written_twice_keeps_another_value() -> None:
    x = there([0.0, 0.0])
    x[there([1, 1], "int64")] = there([5.0, 6.0])
    assert x.tolist() == [0.0, 5.0]


def test_sorting_has_nan_elsewhere() -> None:
    assert cupy.argsort(there([2.0, np.nan, 1.0])).tolist()[0] == 1


def test_erfinv_is_no_nan_outside() -> None:
    assert special.erfinv(there([2.0])).tolist() == [np.inf]


# kernels of several calls

Body = Callable[..., Any]


def fused(body: Body, *args: Any, name: str = "Body") -> Any:
    return cupy.fuse(kernel_name=name)(body)(*args)


def test_a_function_of_elementwise_calls_is_one_kernel() -> None:
    x, y = there([[1.0], [2.0]]), there([3.0, 4.0])
    with counting() as asked:
        found = fused(lambda a, b, c: cupy.tanh(a * b) + c, x, y, 2.0)
    assert asked.names == {"Body": 1}
    np.testing.assert_allclose(found.get(), np.tanh(x.get() * y.get()) + 2)


def test_a_kernel_gives_several_results_and_changes_its_operands() -> None:
    x, y = there([1.0, 2.0]), there([3.0, 4.0])

    def body(a: Any, b: Any) -> Any:
        a += b
        b[...] = a * 2
        return a, b - 1

    one, other = fused(body, x, y)
    assert (x.tolist(), y.tolist()) == ([4.0, 6.0], [8.0, 12.0])
    assert (one.tolist(), other.tolist()) == ([4.0, 6.0], [7.0, 11.0])


def test_plain_numbers_alone_are_halves_inside_of_a_kernel() -> None:
    x = there([1.0], "float32")
    found = fused(lambda a, b: cupy.where(a > 0, b, 0.1), x, 0.1)
    assert found.dtype == "float16"
    assert fused(lambda a: a * 0.1, x).dtype == "float32"
    assert fused(lambda a: a * np.float64(0.1), x).dtype == "float64"


REFUSED: dict[str, Body] = {
    "keywords of calls": lambda x: cupy.subtract(x, 1, dtype="float64"),
    "shapes": lambda x: x + x.shape[0],
    "sums": lambda x: x - cupy.sum(x),
    "sums by a method": lambda x: x - x.sum(),
    "other entries": lambda x: x[::-1],
    "an array of a number": lambda x: x * cupy.asarray(2.0),
    "an array that it was not given": lambda x: x * OUTSIDE,
    "a function of NumPy's": lambda x: np.tanh(x),
    "a function made of calls": lambda x: cupy.nan_to_num(x),
    "a number to the power of an array": lambda x: 2**x,
    "abs": lambda x: abs(x),
    "a truth value": lambda x: x if x[...] is None or bool(x > 0) else -x,
    "a number as its result": lambda x: 2.0,
}
OUTSIDE = there([1.0])


@pytest.mark.parametrize("what", REFUSED)
def test_a_kernel_refuses(what: str) -> None:
    kernel = cupy.fuse(kernel_name="Body")(REFUSED[what])
    # CuPy's errors are of all classes.
    with pytest.raises(Exception):  # noqa: B017, PT011
        kernel(there([1.0, 2.0]))
    assert kernel.new_fusion is not None


def test_a_kernel_takes_arrays_and_numbers_in_order_alone() -> None:
    kernel = cupy.fuse(kernel_name="Body")(lambda x, a: x * a)
    with pytest.raises(TypeError):
        kernel(there([1.0]), a=2.0)
    with pytest.raises(TypeError, match="Invalid argument type"):
        kernel(there([1.0]), "2")
    for name in ("<lambda>", "exp"):
        with pytest.raises(RuntimeError, match="no name of a kernel"):
            fused(lambda x: x * 2, there([1.0]), name=name)


# memory


@pytest.fixture
def bounded() -> Iterator[Any]:
    pool = cupy.get_default_memory_pool()
    yield pool
    pool.set_limit(size=0)


def test_the_pool_has_a_limit(bounded: Any) -> None:
    bounded.set_limit(size=bounded.used_bytes() + 1000)
    kept = there(np.zeros(100))
    with pytest.raises(limits.OutOfMemoryError, match="limit set to"):
        there(np.zeros(100))
    del kept
    there(np.zeros(100))


COMPILED = """
import resource, numpy, cupy
x = cupy.asarray(numpy.ones(2))
resource.setrlimit(resource.RLIMIT_AS, (1 << 40, resource.RLIM_INFINITY))
try: x + 1
except Exception as error: print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_nothing_is_compiled_in_a_bounded_address_space() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": search_path()},
    )  # fmt: skip
    assert done.stdout == "catastrophic error: out of memory\n"


def test_a_child_looks_where_its_parent_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    assert search_path().split(os.pathsep)[-1] == "/elsewhere"
