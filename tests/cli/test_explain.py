"""`gradcli explain` and `paths --latex`: the pass step by step, one key at a time, and
as a worked solution, which readers and compilers of its form can read."""

from __future__ import annotations

import re
import signal
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pexpect
import pytest

from gradcli.cli.app import run
from tests.processes import HANGS

from .conftest import AT, FIVE, Run, environment
from .test_terminal import ESCAPE, in_terminal


def test_the_json_lists_the_steps(gradcli: Run) -> None:
    told = gradcli("explain", FIVE, *AT, "--json").json
    assert (told["schema"], told["command"]) == ("gradcli/1", "explain")
    assert told["grad_output"] == 1.0
    assert [step["step"] for step in told["steps"]] == list(range(1, 12))
    keys = {
        "step", "node", "name", "source", "line", "column", "incoming",
        "local_gradients", "sends", "grad_before", "grad_after",
    }  # fmt: skip
    assert all(keys <= step.keys() for step in told["steps"])
    eighth = told["steps"][7]
    assert eighth["sends"][1] == {
        "edge": 1, "id": 6, "to": "AccumulateGrad", "name": "a", "output_nr": 0,
        "gradient": -1.5, "held": 0.375, "total": -1.125,
    }  # fmt: skip
    leaf = told["steps"][8]
    assert (leaf["grad_before"], leaf["grad_after"]) == (None, -1.125)


def test_large_arrays_are_whole_in_a_pipe_and_short_in_a_terminal(
    gradcli: Run, tmp_path: Path
) -> None:
    args = ("explain", "(x*x).sum()", "x=arange(100.)")
    piped = gradcli(*args).out
    assert "…" not in piped
    assert "198.0]" in piped
    seen = in_terminal(tmp_path, *args, NO_COLOR="1")
    assert "[100] from 0 to 198" in seen
    assert "150.0" not in seen


def stepping(tmp_path: Path, **wishes: str) -> Any:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "gradcli", "explain", FIVE, *AT, "--step"],
        env=environment(TERM="xterm-256color", **wishes),
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=HANGS,
        dimensions=(50, 80),
    )
    child.expect_exact("(1 of 11: any key for the next, q ends)")
    return child


def test_any_key_goes_on_and_q_ends(tmp_path: Path) -> None:
    child = stepping(tmp_path)
    assert "AddBackward0" not in child.before
    child.send("x")
    child.expect_exact("(2 of 11: any key for the next, q ends)")
    assert "AddBackward0" in child.before
    child.send("\x1b[B")
    child.expect_exact("(3 of 11: any key for the next, q ends)")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "AccumulateGrad" not in child.before


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    child = pexpect.spawn(
        "/bin/sh", env=environment(TERM="dumb", PS1="ready$ "),
        encoding="utf-8", timeout=HANGS, cwd=str(tmp_path),
    )  # fmt: skip
    child.sendline("stty -a > before")
    child.sendline(f'{sys.executable} -m gradcli explain "x*x" x=3 --step')
    child.expect_exact("any key for the next")
    child.sendintr()
    child.sendline("echo status=$?; stty -a > after")
    child.expect("status=(\\d+)")
    assert child.match.group(1) == str(128 + signal.SIGINT)
    child.sendline("exit")
    child.expect(pexpect.EOF)
    child.close()
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()


Captured = pytest.CaptureFixture[str]


def told(capsys: Captured, *words: str) -> str:
    assert run([*words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def assert_balanced(latex: str) -> None:
    depth = 0
    for sign in re.sub(r"\\[{}]", "", latex):
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert len(re.findall(r"\\left\W", latex)) == len(re.findall(r"\\right\W", latex))
    begun, ended = (re.findall(rf"\\{w}{{(\w+\*?)}}", latex) for w in ("begin", "end"))
    assert sorted(begun) == sorted(ended)


def test_matrix_rules_and_sums_over_broadcast_inputs(capsys: Captured) -> None:
    words = ["explain", "(X@W + b).sum()", "X=[[1,2],[3,4]]", "W=[[1,2],[3,4]]",
             "b=[1,2]"]  # fmt: skip
    latex = told(capsys, *words, "--latex")
    assert_balanced(latex)
    assert r"\bar{a} = g \, b^{\top}" in latex
    assert r"= 1\text{, summed to } [2]" in latex
    assert r"\begin{pmatrix} 4 & 4 \\ 6 & 6 \end{pmatrix}" in latex
    text = told(capsys, *words, "--markdown")
    assert "- to `b`: [[1, 1], [1, 1]] × 1 = **[2, 2]** (summed to [2])" in text
    assert "`a @ b: b gets a.T @ g`" in text


MARKDOWN = """\
## The backward pass

```
L = tanh(x)*y + x
```

`L` = 4.89208. The pass starts with
dL/dL = 1. Numbers are shown to six digits.

1. AddBackward0 `L = tanh(x)*y + x`: **1** arrives
    - to `tanh(x)*y`: 1 × 1 = **1** — sum rule, `d(a + b)/da = 1`
    - to `x`: 1 × 1 = **1** — sum rule, `d(a + b)/db = 1`
2. MulBackward0 `tanh(x)*y`: **1** arrives
    - to `tanh(x)`: 1 × 3 = **3** — product rule, `d(a * b)/da = b`
    - to `y`: 1 × 0.964028 = **0.964028** — product rule, `d(a * b)/db = a`
3. AccumulateGrad `y`: **0.964028** arrives
    - `y.grad` = **0.964028**
4. TanhBackward0 `tanh(x)`: **3** arrives
    - to `x`: 3 × 0.0706508 = **0.211952**; 1 had arrived: together **1.21195** — \
`d tanh(x)/dx = 1 - tanh(x)**2`
5. AccumulateGrad `x`: **1.21195** arrives
    - `x.grad` = **1.21195**

"""


def test_markdown(capsys: Captured) -> None:
    words = ["explain", "L = tanh(x)*y + x", "x=2", "y=3", "--markdown"]
    assert told(capsys, *words) == MARKDOWN


@pytest.mark.parametrize("form", ["--markdown", "--html", "--latex"])
def test_small_matrices_are_written_out(form: str, capsys: Captured) -> None:
    words = ["explain", "(X*X/3).sum()", "X=[[1,2,3],[4,5,6],[7,8,9]]", form]
    assert "4.66667" in told(capsys, *words)
    assert "2.66667" in told(capsys, *words)


def test_backticks_stay_inside(capsys: Captured) -> None:
    text = told(capsys, "explain", "x*x # ```` `", "x=2", "--markdown")
    assert "\n`````\nx*x # ```` `\n`````\n" in text


class Tags(HTMLParser):
    """The elements of a page, and the text in its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open:
            self.cells[-1] += data


def test_html(capsys: Captured) -> None:
    page = told(capsys, "explain", "x*y # </pre><script>x</script>", "x=2", "y=3",
                "--html")  # fmt: skip
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert not {"script", "link", "img"} & set(tags.seen)
    assert "1 × 3 = 3" in tags.cells
    assert "product rule d(a * b)/da = b" in tags.cells
    assert "default-src 'none'; style-src 'sha256-" in page


@pytest.mark.parametrize("program", [FIVE, "y = sin(x)*x; L = (y+x)*y+1"])
def test_a_path_has_a_factor_for_each_derivative(
    program: str, capsys: Captured
) -> None:
    words = AT if program == FIVE else ["x=0.5"]
    latex = told(capsys, "paths", program, *words, "--latex")
    for target in latex.split(r"\begin{align*}")[1:]:
        rows = [row for row in target.splitlines() if "&=" in row]
        chains = re.split(r" \+ (?=\\frac)", rows[0].split("&= ")[1])
        factors = rows[1].split("&= ")[1].split(" + ")
        for chain, product in zip(chains, factors, strict=True):
            flat = product
            while r"\left(" in flat:
                flat = re.sub(r"\\left\([^()]*\\right\)", "n", flat)
            steps = re.split(r" \\, (?=\\frac)", chain)
            assert len(steps) == len(flat.split(r" \cdot "))


@pytest.mark.parametrize("program", ["lgamma(x)", "digamma(x)", "igamma(2.0, x)"])
def test_a_special_function_of_the_array_library_is_called_not_spelled(
    gradcli: Run, program: str
) -> None:
    for words in (["explain", "--latex"], ["hessian", "--code", "numpy"]):
        ended = gradcli(words[0], program, "x=0.5", *words[1:])
        assert ended.status == 0, ended.err


def test_a_narrow_terminal_names_the_rules_that_the_page_names(
    gradcli: Run, tmp_path: Path
) -> None:
    words = ("explain", "L = sum(A@x)*c", "A=[[1,2],[3,4]]", "x=[1,2]", "c=2")
    shown = ESCAPE.sub("", in_terminal(tmp_path, *words, columns=60))
    seen = " ".join(shown.split())
    page = gradcli(*words, "--html").out
    assert "<title>The backward pass of L = sum(A@x)*c</title>" in page
    for rule in re.findall(r'<td class="by">(?:<i>.*?</i> )?<code>(.*?)</code>', page):
        assert rule in seen
    assert "A.T @ g = [8.0, 12.0] (a @ v: v gets a.T @ g)" in seen
    assert "(product rule: d(a * b)/da = b)" in seen
    assert "g: the incoming gradient" in seen


TYPESET = {
    "sin(x)*x^2": [r"\sin x \cdot x^{2}", r"\sin x", "x^{2}"],
    "exp(-x)/(1 + x)": [r"\frac{e^{-x}}{x + 1}", "e^{-x}", "x + 1"],
    "a_1 = 2*x; sqrt(a_1)*a_1": [r"\sqrt{a_{1}}"],
    "y = x[0]*x[1]; y^2": ["x_{1}", "x_{2}"],
    "norm(W@x)": [r"W \, x"],
}


@pytest.mark.parametrize("program", TYPESET)
def test_formulas_are_typeset_as_mathematics(program: str, capsys: Captured) -> None:
    words = ["x=1"]
    if "[" in program or "@" in program:
        words = ["x=[1,2]"]
    words += ["W=[[1,2],[3,4]]"] * ("@" in program)
    latex = told(capsys, "explain", program, *words, "--latex")
    assert r"\mathtt" not in latex
    for text in TYPESET[program]:
        assert rf"\partial \left({text}\right)" in latex


def test_a_text_that_reads_values_is_written_letter_by_letter(capsys: Captured) -> None:
    latex = told(capsys, "explain", "2*(x**2 if x > 0 else x)", "x=1", "--latex")
    assert r"\partial \left(x^{2}\right)" in latex
    long = "+".join(f"sin({k}*x)" for k in range(2, 30))
    latex = told(capsys, "explain", f"exp({long})", "x=1", "--latex")
    assert r"\text{exp(sin(2*x)" in latex or r"\mathtt{exp(sin(2*x)" in latex
