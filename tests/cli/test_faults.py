"""What happens when gradcli itself is wrong: refuted gradients and internal errors."""

from __future__ import annotations

import re
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
    checkers = ("gradcli.check.",)
    assert not any(m.startswith(checkers) for m in imported)


def test_version_is_the_packages(gradcli: Run) -> None:
    assert gradcli("--version").out.startswith("gradcli ")


HUGE = (
    ("check", "y = u*v; u = 1", "--claim", "dy/dv = u", "u=2", "v=3"),
    ("check", "z = 1e308*10; w = z*x", "--claim", "dw/dx = z"),
    ("check", "k = 3; y = k*x", "--claim", "dy/dx = k"),
    ("check", "where(3 > 0.5, x, y)", "--claim", "d/dx = y"),
    ("check", "sign(1e300**2)*x", "--claim", "d/dx = -1e300"),
    ("check", "x*(1e308*10)/10", "--claim", "d/dx = 1e308"),
    ("check", "3//(-inf)", "--same", "clamp(x, trunc(1e308*10)*x, 1)"),
    ("grad", "min(x, 1e300)", "x=1"),
    ("grad", "x*(1e308*10)/10", "x=1"),
    ("grad", "tanh(1e200*1e200*x)", "x=1e300", "--digits", "20"),
    ("grad", "pow(1/1e-320, x)", "x=-1"),
    ("grad", "ceil(x*x)", "x=1e300", "--order", "2"),
    ("grad", "int(exp(1000))*x", "x=1"),
    ("kinks", "min(x, 1e308*10)", "x=1", "--radius", "1"),
    ("hessian", "x*x*(1e308*10)/10", "x=1e-320"),
)
"""Command lines with numbers at or beyond the ends of the range, and with claims that
name what the program computes."""

PYTHONS = re.compile(
    "too large to convert|integer ratio|[a-z]Error|attribute|operand|float NaN"
)


@pytest.mark.parametrize("words", HUGE)
def test_huge_numbers_are_told_of_in_our_own_words(
    gradcli: Run, words: tuple[str, ...]
) -> None:
    done = gradcli(*words)
    assert done.status in (0, 1, 2, 3, 4)
    assert not PYTHONS.search(done.out + done.err)


def test_a_claim_reads_an_input_by_the_name_of_the_input(gradcli: Run) -> None:
    claim = "--claim", "dy/dv = u"
    assert gradcli("check", "y = u*v; u = 1", "--of", "y", *claim).status == 0
