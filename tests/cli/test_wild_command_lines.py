"""What is typed ends with an answer or an error that says why, never inside."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes import HANGS, ROOT

from .conftest import environment


@pytest.mark.parametrize("seed", [20, 21])
def test_no_command_line_ends_inside(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.wild", "60", str(seed)],
        capture_output=True, text=True, timeout=HANGS, cwd=ROOT, env=environment(),
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "{" in done.stdout
