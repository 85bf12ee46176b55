"""The type stubs say what is there, and a user's program passes the strictest check."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.stubs.__main__ import main, stubs

from . import user_program

ROOT = Path(__file__).parents[2]
STUBS = stubs()


@pytest.mark.parametrize("path", STUBS, ids=lambda p: p.name)
def test_a_stub_is_what_the_package_writes(path: Path) -> None:
    assert path.read_text() == STUBS[path], "run python -m tests.tools.stubs"


def test_plain_values_are_no_operands_and_have_their_defaults() -> None:
    face = ("gradcli", "__init__.pyi")
    text = next(t for p, t in STUBS.items() if p.parts[-2:] == face)
    for line in (
        "softplus(input: Any, beta: builtins.float = 1.0, threshold: builtins.float =",
        "add(input: Any, other: Operand, alpha: builtins.float = 1)",
        "quantile(input: Any, q: Any, dim: Dims = None,",
        "trapezoid(y: Any, x: Any = None,",
    ):
        assert f"def {line}" in text


def test_the_check_names_the_stubs_that_are_not_as_they_should_be(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"]) == 0
    path = next(iter(STUBS))
    wrong = {**STUBS, path: "another text"}
    monkeypatch.setattr("tests.tools.stubs.__main__.stubs", lambda: wrong)
    assert main(["--check"]) == 1
    assert str(path) in capsys.readouterr().out


def test_a_users_program_passes_mypy_strict() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
               "tests/tools/user_program.py"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_users_program_runs() -> None:
    losses = user_program.losses
    assert losses == sorted(losses, reverse=True)
    assert user_program.out.shape == (2,)
