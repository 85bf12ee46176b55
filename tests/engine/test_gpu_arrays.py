"""A GPU's arrays give what NumPy's give where CuPy's own functions do not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli import compile
from gradcli.engine import NUMPY
from gradcli.engine.errors import EngineError
from tests.cli.conftest import environment
from tests.cupy_stand_in.standing import is_real, search_path
from tests.random.on_a_device import (
    difference,
    differences,
    meant,
    overflows,
    signs_alike,
)
from tests.random.program import Line, Program

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

Run = Callable[..., Any]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 1)])
def test_an_empty_tensor_moves_between_devices(shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape, device="cuda", requires_grad=True)
    (torch.cat([x, x]) * 2).sum().backward()
    for there in (x.detach(), x.grad, x.detach().transpose(0, -1)):
        assert type(there.cpu().raw) is np.ndarray
        assert there.cpu().cuda().cpu().shape == there.shape


QUOTIENTS = ("floor_divide", "remainder", "fmod")


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_are_those_of_the_cpu_to_the_last_bit(
    name: str, dtype: str, cuda: Any
) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4000, 4000, (2, 5000)) / (1 if dtype == "int64" else 1000)
    b[b == 0] = 1
    if dtype != "int64":
        a[:4], b[:4] = [1e30, 1.0, -0.0, np.inf], [3.0, 0.0, 2.0, 2.0]
    a, b = a.astype(dtype), b.astype(dtype)
    found = getattr(cuda, name)(*map(cuda.np.asarray, (a, b))).get()
    with np.errstate(all="ignore"):
        here = getattr(NUMPY, name)(a, b)
    assert found.dtype == here.dtype
    lost = np.isnan(here)
    assert (np.isnan(found) == lost).all()
    assert found[~lost].tobytes() == here[~lost].tobytes()


def both(run: Run, *arrays: Any) -> tuple[Any, Any]:
    """What a function gives on the CPU and on a GPU, as arrays of NumPy's."""
    found = []
    for device in ("cpu", "cuda"):
        given = [torch.tensor(np.asarray(a), device=device) for a in arrays]
        with np.errstate(all="ignore"):
            found.append(run(*given).cpu().numpy())
    return found[0], found[1]


BAD = [[1.0, np.nan], [0.5, 1.0]], [[1.0, np.inf], [0.5, 1.0]]


@pytest.mark.parametrize("a", BAD)
@pytest.mark.parametrize("run", [
    torch.inverse, lambda a: torch.linalg.solve(a, a), torch.linalg.det,
])  # fmt: skip
def test_matrices_that_are_not_finite_have_results(run: Run, a: Any) -> None:
    here, there = both(run, a)
    np.testing.assert_allclose(there, here)


@pytest.mark.parametrize(("run", "words"), [
    (torch.inverse, "linalg.inv: The diagonal element 2 is zero"),
    (lambda a: torch.linalg.solve(a, a), "the input matrix is singular"),
    (torch.linalg.cholesky, "not positive-definite"),
])  # fmt: skip
def test_singular_matrices_are_refused_in_our_words(run: Run, words: str) -> None:
    a = torch.ones(2, 2, dtype=torch.float64, device="cuda")
    with pytest.raises(EngineError, match=words):
        run(a - torch.eye(2, device="cuda") * (0 if words[0] != "n" else 2))


def test_a_right_hand_side_is_broadcast() -> None:
    a, b = np.eye(3) + np.arange(18.0).reshape(2, 3, 3) ** 2, np.ones((3, 1))
    here, there = both(torch.linalg.solve, a, b)
    np.testing.assert_allclose(there, here)


def names(y: Any) -> list[str]:
    """The nodes of a graph, along its first edges."""
    found, node = [], y.grad_fn
    while node is not None:
        found.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def changed_diagonal(x: Any) -> Any:
    y = x.t() * 2
    y.diagonal().mul_(3)
    return y.reshape(-1)


@pytest.mark.parametrize("run", [
    lambda x: torch.inverse(x).reshape(-1),
    lambda x: torch.inverse(x.expand(2, 3, 3)).reshape(-1),
    lambda x: (torch.inverse(x) * 2).reshape(-1),
    lambda x: (x.t() * 2).exp().reshape(-1),
    lambda x: torch.nn.functional.gelu(x.t()).reshape(-1),
    lambda x: torch.linalg.cholesky(x @ x.t()).reshape(-1),
    changed_diagonal,
])  # fmt: skip
def test_graphs_are_those_of_the_cpu(run: Run) -> None:
    values = np.eye(3) + np.arange(9.0).reshape(3, 3) ** 2 / 9
    graphs = [
        names(run(torch.tensor(values, device=device, requires_grad=True)))
        for device in ("cpu", "cuda")
    ]
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("run", [
    lambda x: torch.nanmedian(x), lambda x: torch.quantile(x, 0.3),
    lambda x: torch.nanquantile(x, 0.3), lambda x: torch.sort(x)[0],
    lambda x: torch.sort(x, descending=True)[1], lambda x: torch.erfinv(x),
])  # fmt: skip
def test_nan_is_the_largest_number_and_erfinv_has_a_domain(run: Run) -> None:
    here, there = both(run, [0.5, np.nan, -2.0, np.inf, 2.0, np.nan, -1.0])
    np.testing.assert_allclose(there, here)


# derivatives of many entries

SPARSE = "sort(x)[0][1:]*x[:-1] + x[1:]/x[0]"


def test_a_sparse_jacobian_has_no_zeros() -> None:
    x = np.linspace(1, 2, 3000)
    here = compile(SPARSE).jacobian(x=x, sparse=None).blocks["x"]
    there = compile(SPARSE).jacobian(x=torch.tensor(x, device="cuda"), sparse=None)
    assert there.blocks["x"].nnz == here.nnz < 4 * x.size
    np.testing.assert_allclose(there.blocks["x"].toarray(), here.toarray())
    assert there.value.device.type == "cuda"


def command(words: list[str]) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "gradcli", *words, "--device", "cuda"],
        capture_output=True, text=True, check=False,
        env={**environment(), "PYTHONPATH": search_path()},
    )  # fmt: skip


def test_a_command_compiles_kernels_within_its_limit_on_memory() -> None:
    done = command(["jacobian", "x[1:]*tanh(x[:-1])", "x=linspace(0, 1, 300)", "-q",
                    "--no-verify"])  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_device_that_is_full_is_the_limit_on_memory() -> None:
    program = "(ones(2000, 3000)*2 + ones(2000, 3000)).sum()"
    done = command(["value", program, "--max-memory", "60MB"])
    assert done.returncode == 4
    assert "error[E403]" in done.stderr
    assert "Traceback" not in done.stderr


def test_operands_that_lie_differently_give_the_graph_of_the_cpu() -> None:
    text = "(linalg.qr(x)[1] + x).flatten()[:2].sum()"
    program = Program(
        (Line(text),), {"x": [[1.0, 2.0, 0.5], [0.3, 1.0, 2.0]]}, "float64"
    )
    assert not difference(program)


def test_a_list_of_tensors_is_an_operand_on_both_devices() -> None:
    for device in ("cpu", "cuda"):
        x, a = torch.ones(2, device=device), torch.tensor(3.0, device=device)
        total = torch.dot(x, [a, 2 * a])
        assert (total.item(), total.device.type) == (9.0, device)
        with pytest.raises(EngineError, match="requires grad"):
            torch.dot(x, [a, torch.tensor(1.0, device=device, requires_grad=True)])


VECTORS = [
    ("svd(x)[2]", [[1.0, 2.0, 0.5], [0.3, -1.0, 2.0]]),
    ("linalg.eigh(x @ x.mT)[1]", [[[2.0, 1.0], [1.0, 3.0]]]),
]


@pytest.mark.skipif(is_real(), reason="a GPU chooses the signs itself")
@pytest.mark.parametrize(("text", "x"), VECTORS)
def test_vectors_are_compared_with_the_same_signs(text: str, x: Any) -> None:
    program = Program((Line(text),), {"x": x}, "float64")
    assert difference(program).startswith("value")
    with signs_alike():
        assert not difference(program)


@pytest.mark.parametrize(("values", "meant_"), [([1e308, 1e308], True), ([1.0], False)])
def test_an_overflow_is_meant_only_beside_large_numbers(
    values: Any, meant_: bool
) -> None:
    program = Program((Line("x.sum()"),), {"x": values}, "float64")
    assert bool(meant(program, "an overflow in value: nan | inf")) == meant_
    assert not meant(program, "value: 1.0 | 2.0")
    assert overflows(np.array([1.0, np.inf]), np.array([1.0, np.nan]))
    assert not overflows(np.array([1.0, np.inf]), np.array([2.0, np.nan]))


def test_random_programs_do_what_they_do_on_the_cpu() -> None:
    found = [each for each in differences(range(40)) if not meant(*each[1:])]
    assert not found
