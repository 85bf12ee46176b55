"""What is printed for LaTeX and for Graphviz, compiled and drawn by them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gradcli.cli.app import run

from .conftest import AT, FIVE

Captured = pytest.CaptureFixture[str]

HOSTILE = 'x_max = relu(x)^2; y = x_max*2 # "quoted" \\ [b] {c} <d> & % $ _'
MATRICES = ["(X@W + b).sum()", "X=[[1,2],[3,4]]", "W=[[1,2],[3,4]]", "b=[1,2]"]

LONG = ("--verify-seconds", "600")
"""Time enough for SymPy on any machine."""

FORMULAS = (
    ("explain", FIVE, *AT, "--latex"),
    ("explain", HOSTILE, "x=3", "--latex"),
    ("explain", *MATRICES, "--latex"),
    ("explain", "θ = 1/x; (θ*x)^2 * 1e300", "x=3", "--latex"),
    ("paths", FIVE, *AT, "--latex"),
    ("grad", "L = exp(-w1*x)/theta", "w1=1", "x=2", "theta=3", "--latex", "-q", *LONG),
    ("jacobian", "[sin(x)*y, abs(x)]", "x=1", "y=2", "--latex", "-q", *LONG),
    ("grad", *MATRICES, "--code", "latex", *LONG),
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_pdflatex_compiles_every_formula(tmp_path: Path, capsys: Captured) -> None:
    parts = [r"\documentclass{article}", r"\usepackage{amsmath,amssymb}"]
    parts.append(r"\begin{document}")
    for words in FORMULAS:
        assert run([*words]) == 0
        text = capsys.readouterr().out.strip()
        parts.append(text if r"\begin{align" in text else rf"\[ {text} \]")
    (tmp_path / "all.tex").write_text("\n\n".join([*parts, r"\end{document}"]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    wrong = [line for line in done.stdout.splitlines() if line.startswith(b"!")]
    assert (done.returncode, wrong) == (0, [])


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize(("words", "edges"), [((FIVE, *AT), 11), ((HOSTILE, "x=3"), 3)])
def test_graphviz_draws_every_edge(
    words: tuple[str, ...], edges: int, capsys: Captured
) -> None:
    assert run(["graph", *words, "--dot"]) == 0
    text = capsys.readouterr().out.encode()
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, check=True)
    assert done.stderr == b""
    drawn = ElementTree.fromstring(done.stdout)
    kinds = [each.get("class") for each in drawn.iter("{http://www.w3.org/2000/svg}g")]
    assert kinds.count("edge") == edges
