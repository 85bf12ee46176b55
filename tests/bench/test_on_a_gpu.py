"""What is compared on a GPU runs; where there is none, on the stand-in for CuPy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gradcli
from tests.cupy_stand_in.standing import is_real

from . import on_a_gpu

HERE = [each for each in on_a_gpu.COMPARISONS if each.name != "gpu-start"]


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", [each.name for each in HERE])
def test_what_is_timed_on_a_gpu_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in ("COUNT", "NODES", "DENSE", "STENCIL"):
        monkeypatch.setattr(on_a_gpu, size, 100)
    (comparison,) = [each for each in HERE if each.name == name]
    try:
        first = comparison.ours()()
    finally:
        gradcli.set_default_device(None)
    assert all(np.isfinite(on_a_gpu.on_the_host(x)).all() for x in first)


@pytest.mark.skipif(is_real(), reason="there is a GPU")
def test_without_a_gpu_its_bench_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--device", "cuda"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "CuPy" in done.stderr
