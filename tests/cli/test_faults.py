"""What happens when gradcli itself is wrong: refuted gradients and internal errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.cli import app

from .conftest import Run, environment

PLANTED = """
import sys
import gradcli.ops
row = gradcli.ops.OPS["sin"]
object.__setattr__(row, "partials", (lambda xp, y, x: -xp.cos(x),))
from gradcli.cli.app import main
sys.argv = ["gradcli", "grad", "z = y*sin(x)", "x=1", "y=2", *sys.argv[1:]]
main()
"""


def planted(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A process whose engine has a sine with a wrong sign; the checker's is right."""
    return subprocess.run(
        [sys.executable, "-c", PLANTED, *options],
        capture_output=True, text=True, cwd=tmp_path, env=environment(), check=False,
    )  # fmt: skip


def test_a_refuted_gradient_is_status_1_and_named_on_both_streams(
    tmp_path: Path,
) -> None:
    done = planted(tmp_path)
    assert done.returncode == 1
    assert "dz/dx  refuted" in done.stdout
    assert "dz/dy  proved" in done.stdout
    assert "\nrefuted: 1 of 2 gradients (" in done.stdout
    assert done.stderr.startswith("refuted: x: ")


def test_quiet_with_a_verdict_required_says_that_something_is_refuted(
    tmp_path: Path,
) -> None:
    done = planted(tmp_path, "-q", "--require", "certified")
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.startswith("refuted: x: ")


def test_without_the_check_the_planted_fault_goes_unseen(tmp_path: Path) -> None:
    """So it is the check that finds it, and nothing else."""
    assert planted(tmp_path, "--no-verify").returncode == 0


def test_an_internal_error_is_one_block_and_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(argv: list[str]) -> int:
        raise ZeroDivisionError("a slip of ours")

    monkeypatch.setattr(app, "_dispatch", broken)
    assert app.run(["grad", "x"]) == 70
    assert capsys.readouterr().err.startswith(
        "error[E599]: internal error: ZeroDivisionError: a slip of ours\n  = help: "
    )


def test_running_out_of_memory_is_a_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def greedy(argv: list[str]) -> int:
        raise MemoryError

    monkeypatch.setattr(app, "_dispatch", greedy)
    assert app.run(["grad", "x"]) == 4
    assert capsys.readouterr().err.startswith("error[E403]: not enough memory")


def test_a_short_run_imports_nothing_it_does_not_need(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gradcli", "grad", "x**3 + b",
         "x=2", "b=1", "--no-verify"],
        capture_output=True, text=True, cwd=tmp_path, env=environment(), check=True,
    )  # fmt: skip
    imported = {line.split("|")[-1].strip() for line in done.stderr.splitlines()}
    roots = {module.partition(".")[0] for module in imported}
    assert "numpy" in roots
    heavy = {"rich", "sympy", "flint", "mpmath", "scipy", "cupy", "pygments"}
    assert roots.isdisjoint(heavy)
    own = {m for m in imported if m.startswith("gradcli.cli.")}
    assert {"gradcli.cli.commands.graph", "gradcli.cli.commands.ops"}.isdisjoint(own)
    checkers = "gradcli.numbers.", "gradcli.verify."
    assert not any(m.startswith(checkers) for m in imported)


def test_version_is_the_packages(gradcli: Run) -> None:
    assert gradcli("--version").out.startswith("gradcli ")
