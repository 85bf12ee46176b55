"""Single commands as people and scripts meet them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.cli import head_start
from gradcli.cli.app import run
from gradcli.engine import Tensor
from gradcli.large import blocks
from tests.processes import HANGS

from .conftest import Run
from .test_terminal import in_terminal


def test_a_large_result_is_never_cut_in_a_pipe(gradcli: Run) -> None:
    ended = gradcli("grad", "(x**2).sum()", "x=linspace(0,1,5000)", "--no-verify")
    line = next(text for text in ended.out.splitlines() if text.startswith("d/dx"))
    assert len(json.loads(line.partition(" = ")[2])) == 5000
    assert "…" not in ended.out


def test_the_time_of_a_check_is_bounded(gradcli: Run) -> None:
    program = "y = X\nfor i in range(600): y = tanh(y @ X)\ny.sum()"
    ended = gradcli(
        "check", program, "--shape", "X=12,12", "--claim", "d/dX = X",
        "--verify-seconds", "1", timeout=HANGS,
    )  # fmt: skip
    assert ended.status == 4
    assert "unknown" in ended.out


Capture = pytest.CaptureFixture[str]

PATIENCE = ["--verify-seconds", "600"]


def test_a_wrong_product_is_refuted(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = blocks.hessian_product

    def wrong(*given: Any) -> Any:
        return [Tensor(2 * t.raw, t.xp) for t in right(*given)]

    monkeypatch.setattr(blocks, "hessian_product", wrong)
    assert run(["hessian", "x^3", "x=2", "--times", "1", *PATIENCE]) == 1
    out, err = capsys.readouterr()
    assert "Hv[x]  refuted" in out
    assert err.endswith("the engine gave 24.0, the true value is 12.0\n")


def test_no_matrix_is_made(capsys: Capture) -> None:
    """It would have ten thousand million entries that are not zero."""
    count = 100_000
    words = ["sum(x)^2", f"x=linspace(0,1,{count})", f"--times=x=ones({count})"]
    assert run(["hessian", *words, "--no-verify", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == [2.0 * count] * count


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_printed_c_compiles_as_it_is(
    gradcli: Run, command: str, tmp_path: Path
) -> None:
    ended = gradcli(command, "L = sum(sigmoid(x)*w)", "x=[1,2]", "w=3", "--code", "c")
    (tmp_path / "it.c").write_text(ended.out)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    subprocess.run(["cc", *flags, "-c", "it.c"], cwd=tmp_path, check=True)


def test_a_loop_too_long_for_a_text_is_refused(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradcli.formulas.namespace.MAX_TREES", 500)
    words = ["for i in range(200): y = sin(y)*y", "y=1", "--no-verify"]
    assert run(["grad", *words, "--code", "gradcli"]) == 4
    assert capsys.readouterr().err.startswith(
        "error[E406]: the adjoint program would be made of more than 500 parts\n"
    )


def test_a_deep_graph_is_drawn_in_linear_size(gradcli: Run) -> None:
    program = "y = x\nfor i in range(5000): y = y*x"
    ended = gradcli("graph", program, "x=1")
    assert ended.status == 0
    assert ended.out.count("MulBackward0") < 3 * 5000
    assert max(map(len, ended.out.splitlines())) < 200
    assert len(ended.out) < 5000 * 400


def test_only_the_heaviest_of_many_paths_are_listed(gradcli: Run) -> None:
    program = "y = x\nfor i in range(100): y = y + y*x"
    ended = gradcli("paths", program, "x=1", "--most", "2")
    assert f"{2**101 - 1} paths" in ended.out
    assert "the heaviest are listed; the sum over all paths is dy/dx\n" in ended.out
    assert ended.out.count("\n1  ") + ended.out.count("\n2  ") == 2
    assert gradcli("paths", program, "x=1", "--json").json["count"] == 2**101 - 1


def test_a_count_of_thousands_of_digits_is_whole_in_a_pipe(gradcli: Run) -> None:
    program = "y = x\nfor i in range(20000): y = y + y"
    first = gradcli("paths", program, "x=0", "--most", "1").out.splitlines()[0]
    digits = first.split()[-2]
    assert len(digits) == 6021
    assert int(digits[-9:]) == pow(2, 20000, 10**9)
    told = gradcli("paths", program, "x=0", "--most", "1", "--json").json
    assert told["count"] == digits


def test_a_terminal_shortens_long_paths_and_says_so(
    gradcli: Run, tmp_path: Path
) -> None:
    steps = [f"y{i + 1} = {('sin', 'cos')[i % 2]}(y{i})" for i in range(40)]
    program = "; ".join(["y0 = x*1", *steps])
    seen = in_terminal(tmp_path, "paths", program, "x=1", NO_COLOR="1")
    assert "…" in seen
    assert "shortened to fit" in seen
    assert "…" not in gradcli("paths", program, "x=1").out


def test_two_ranges(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "field.svg"
    words = ["x=-2..2:9", "y=-1..3:11"]
    assert run(["plot", "(1-x)^2 + 5*(y-x^2)^2", *words, "-o", str(path)]) == 0
    assert path.read_text().count('class="level') > 5
    assert run(["plot", "x - 2*y", *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["value"][10][8] == 2 - 2 * 3
    assert told["grads"][1][0] == [-2.0] * 9
    assert run(["plot", "x - 2*y", *words, "--json", "--wrt", "y"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["grads"][0][0] == ["nan"] * 9
    assert told["grads"][1][0] == [-2.0] * 9


def test_ops_lists_every_function_and_shows_its_page(gradcli: Run) -> None:
    from gradcli.ops import offered

    listed = {line.split("  ")[0].strip() for line in gradcli("ops").out.splitlines()}
    assert set(offered()) <= listed
    page = gradcli("ops", "mul").out
    assert page.startswith("mul(a, b)\n")
    assert "MulBackward0" in page
    assert "  derivative by a: b\n" in page
    assert "  C: a * b\n" in page


def test_the_version_names_the_libraries_that_are_there(gradcli: Run) -> None:
    ended = gradcli("-V")
    assert (ended.status, ended.err) == (0, "")
    found = rf"with NumPy {np.__version__}, SymPy {sympy.__version__}, python-flint \d"
    assert re.fullmatch(rf"gradcli \S.*\n{found}\S*, CuPy \S.*\n", ended.out)


def test_a_program_that_is_not_utf8_is_2(gradcli: Run) -> None:
    ended = gradcli("grad", "-", "x=1", stdin=b"y = x\n# \xff\n")
    assert ended.status == 2
    assert "not UTF-8: byte 0xff in line 2" in ended.err


def test_debug_shows_the_traceback_of_a_program_error(gradcli: Run) -> None:
    ended = gradcli("grad", "tahn(x)", "x=1", "--debug", "--no-verify")
    assert ended.status == 3
    assert "Traceback" in ended.err
    assert "error[E101]" in ended.err


def test_a_message_names_no_more_inputs_than_can_be_read(gradcli: Run) -> None:
    program = " + ".join(f"x{i}" for i in range(500))
    for draws in ([], ["--draw"]):
        ended = gradcli("grad", "-", "--no-verify", "-q", *draws, stdin=program)
        assert "x11 and 488 more" in ended.err
        assert not {"x12=VALUE", "x12,"} & {*ended.err.split()}


def no_check() -> None:
    raise AssertionError("a checking process was started")


@pytest.mark.parametrize("command", ["grad", "jacobian", "hessian"])
def test_only_what_is_shown_or_asked_of_the_check_is_checked(
    capsys: Capture, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_start, "_start", no_check)
    assert run([command, "x^3", "x=2", "-q"]) == 0
    assert float(capsys.readouterr().out.strip("[]\n")) == 12.0
    for more in (["--require", "certified"], ["--json"]):
        assert run([command, "x^3", "x=2", "-q", *more, "--debug"]) == 70
        assert "a checking process was started" in capsys.readouterr().err
