"""What is typed ends with an answer or an error that says why, never inside."""

from __future__ import annotations

import subprocess
import sys

from tests.processes import HANGS, ROOT

from .conftest import environment


def test_no_command_line_ends_inside() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.wild", "80", "20"],
        capture_output=True, text=True, timeout=HANGS, cwd=ROOT, env=environment(),
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "{" in done.stdout
