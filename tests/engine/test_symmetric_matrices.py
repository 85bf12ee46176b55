"""Functions of symmetric matrices read one triangle, as NumPy's and PyTorch's do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradcli as ours

NOT_SYMMETRIC = [[4.0, 9.0], [1.0, 3.0]]

READERS = {
    "cholesky": lambda t, a: t.linalg.cholesky(a),
    "cholesky upper": lambda t, a: t.linalg.cholesky(a.mT, upper=True),
    "cholesky_ex": lambda t, a: t.linalg.cholesky_ex(a)[0],
    "eigvalsh": lambda t, a: t.linalg.eigvalsh(a),
    "eigvalsh upper": lambda t, a: t.linalg.eigvalsh(a, UPLO="U"),
    "eigh": lambda t, a: t.linalg.eigh(a)[1].abs(),
    "pinv": lambda t, a: t.linalg.pinv(a, hermitian=True),
}


def leaf(torch: Any, data: Any) -> Any:
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize(
    ("name", "mirrored"),
    [(n, [[4.0, 9.0], [9.0, 3.0]] if "eigvalsh upper" in n else [[4, 1], [1, 3]])
     for n in READERS],
)  # fmt: skip
def test_the_other_triangle_changes_no_value(name: str, mirrored: Any) -> None:
    read, whole = leaf(ours, NOT_SYMMETRIC), leaf(ours, mirrored)
    np.testing.assert_allclose(
        READERS[name](ours, read).detach().numpy(),
        READERS[name](ours, whole).detach().numpy(),
        rtol=1e-14,
    )


@pytest.mark.peers
@pytest.mark.parametrize("name", [name for name in READERS if name != "pinv"])
def test_values_and_gradients_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    both = []
    for library in (ours, torch):
        a = leaf(library, NOT_SYMMETRIC)
        y = READERS[name](library, a)
        (y * (1 + library.arange(y.numel()).reshape(y.shape))).sum().backward()
        both.append((y.detach().numpy(), a.grad.numpy()))
    for found, wanted in zip(*both, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def verdict_of(matrix: list[list[float]]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "grad", "linalg.cholesky(a).sum()",
         f"a={matrix}", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (found,) = json.loads(done.stdout)["inputs"]
    return dict(found)


def test_the_gradient_is_that_of_symmetric_matrices() -> None:
    assert verdict_of([[4.0, 1.0], [1.0, 3.0]])["verdict"] == "proved"
    found = verdict_of(NOT_SYMMETRIC)
    assert found["verdict"] == "unknown"
    assert "not symmetric" in found["note"]
