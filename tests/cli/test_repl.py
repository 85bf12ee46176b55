"""A session: names stay, commands work on what was typed, errors leave nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest

from gradcli.cli import keyboard
from gradcli.cli.commands.repl import HELP, OWN, ReplSession
from gradcli.cli.workspace import Workspace, goes_on, parted
from gradcli.lang.errors import ProgramError
from tests.processes import HANGS

from .conftest import Run, environment


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["x = 3"], ["value", "x", "x=3", "--of", "x"]),
        (["x = 3", "y = x^2"], ["value", "y = x^2", "x=3"]),
        (["x = 3", "y = x^2", "y*2"], ["value", "y = x^2\ny*2", "x=3"]),
        (["x = 3", "y = x^2", "y*2", "grad"], ["grad", "y = x^2\ny*2", "x=3"]),
        (["x = 3", "y = x^2", "x = 4"], ["value", "x", "x=4", "--of", "x"]),
        (["x = 3", "y = x^2", "y = 5"], ["value", "y = x^2\ny = 5", "x=3"]),
        (["x = 3", "y = x^2", "grad z * y z=2 --wrt z"],
         ["grad", "y = x^2\nz * y", "x=3", "z=2", "--wrt", "z"]),
        (["x = 3", 'grad "-x + 1" x=5 -q'], ["grad", "-x + 1", "x=5", "-q"]),
        (["grad (w-3)^2 w=0"], ["grad", "(w-3)^2", "w=0"]),
        (["ops tanh"], ["ops", "tanh"]),
        (["x = 3", 'gradcli grad "x" -q'], ["grad", "x", "x=3", "-q"]),
        (["x = 3", "gradcli x"], ["value", "x", "x=3"]),
        (["E101"], ["help", "E101"]),
        (["x = 3", "y = x^2", "plot x=-1..1"], ["plot", "y = x^2", "x=-1..1"]),
        (["y = x^2", "plot x*y x=-1..1:9 -o p.svg"],
         ["plot", "y = x^2\nx*y", "x=-1..1:9", "-o", "p.svg"]),
        (["value = 2"], ["value", "value", "value=2", "--of", "value"]),
        (["x = @data.npy"], ["value", "x", "x=@data.npy", "--of", "x"]),
    ],
)  # fmt: skip
def test_a_line_is_read_as_it_is_typed_or_copied(
    lines: list[str], words: list[str]
) -> None:
    typed = Workspace()
    assert [typed.take(line) for line in lines][-1] == words


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("x = 3; y = x^2; grad", ["x = 3", " y = x^2", " grad"]),
        ("x = 3;", ["x = 3"]),
        ("for i in range(2): x = 1; y = 2", None),
        ("if x > 0: y = 1; z = 2", None),
        ("while: x; y", None),
        ('check --claim "a; b"', None),
        ("check y; z", None),
        ("x = 1  # one; two", None),
        ("y = x\nz = x; w = z", None),
        ("%save a;b", None),
        ("# one; two", None),
    ],
)
def test_statements_of_a_line_are_shown_one_by_one(
    line: str, parts: list[str] | None
) -> None:
    assert parted(line) == ([line] if parts is None else parts)


def test_a_line_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(ProgramError, match="found '='"):
        Workspace().take("x = = 3")
    with pytest.raises(ProgramError, match="did you mean 'grad'"):
        Workspace().take("grda y")


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("x = [1,", True),
        ("x = 1 + \\", True),
        ("x = 1 + \\\n2", False),
        ("x = [1,\n2]", False),
        ("for i in range(3):", True),
        ("for i in range(3):\n  y = y*x", True),
        ("for i in range(3):\n  y = y*x\n", False),
        ("for i in range(3): y = y*x", False),
        ("grad x --wrt [", False),
        ("y = einsum('(:', x)", False),
    ],
)
def test_a_block_ends_with_an_empty_line_and_a_bracket_where_it_closes(
    text: str, more: bool
) -> None:
    assert goes_on(text) is more


@pytest.mark.parametrize(
    ("before", "word", "among"),
    [
        ("gr", "gr", {"grad", "graph"}),
        ("y = wid", "wid", {"width"}),
        ("y = tan", "tan", {"tan", "tanh"}),
        ("grad y --ver", "--ver", {"--verify-seconds"}),
        ("y = 2*wid", "wid", {"width"}),
        ("y = wid-wid", "wid", {"width"}),
        ("y = 3%ta", "ta", {"tan"}),
        ("%s", "%s", {"%save"}),
        ("x = @da", "da", {"data.csv"}),
        ("%save da", "da", {"data.csv"}),
    ],
)
def test_words_are_completed(
    before: str, word: str, among: set[str],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").touch()
    session = ReplSession()
    session.typed.take("width = 2")
    begun, words = session.complete(before)
    assert begun == word
    assert among <= set(words)
    assert all(each.startswith(word) for each in words)


def test_lines_are_read_by_readline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(keyboard, "terminal", lambda: True)
    kept: list[Callable[[], None]] = []
    monkeypatch.setattr(keyboard, "before_exit", kept)
    assert keyboard._with_readline(lambda before: ("", [])) is keyboard._input
    (keep,) = kept
    keep()
    assert (tmp_path / "gradcli" / "readline").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminal")
def test_a_session_in_a_terminal(tmp_path: Path) -> None:
    """Lines, a block, an interrupted loop, and the end by Ctrl-D."""
    child = pexpect.spawn(
        sys.executable, ["-m", "gradcli", "repl"], cwd=str(tmp_path), encoding="utf-8",
        env=environment(TERM="xterm", NO_COLOR="1",
                        XDG_STATE_HOME=str(tmp_path)),
        timeout=HANGS, dimensions=(40, 80),
    )  # fmt: skip
    child.expect("Ctrl-D ends")
    for line, shown in (("x = 3", "x = 3.0"), ("y = x^2", "y = 9.0")):
        child.send(f"{line}\r")
        child.expect_exact(shown)
    child.send("for i in range(2):\r  y = y*x\r\r")
    child.expect_exact("y = 81.0")
    child.send("value 2*x-tanhs\t(x)\r")
    child.expect_exact("output = 3.995")
    child.send("while True: y = y*1\r")
    child.expect_exact("True: y = y*1")
    child.send("\x03")
    child.send("grad --no-verify -q\r")
    child.expect_exact("108.0")
    child.send("\x04")
    child.expect(pexpect.EOF)
    assert "y = x^2" in (tmp_path / "gradcli" / "readline").read_text()


def test_each_example_of_the_help_runs(gradcli: Run, tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("1,2\n")
    typed = [re.split(r" (?= |the same)", line)[0] for line in HELP.splitlines()]
    ended = gradcli("repl", stdin="\n".join(["%help", *typed]))
    assert (ended.status, "error[" in ended.err) == (0, False), ended.err
    assert all(name in HELP for name in OWN if name != "%help")
    assert ("d/dx = 96.0" in ended.out, "sin(x)\n  Sine." in ended.out) == (True, True)


def test_a_tour_shows_eight_steps(gradcli: Run) -> None:
    ended = gradcli("tour")
    assert ended.status == 0
    assert ended.err == ""
    assert "1 of 8" in ended.out
    assert "8 of 8" in ended.out
    assert "proved: 5 of 5 gradients" in ended.out
    assert "dL/da = -w3*w1 + w4*w2  refuted" in ended.out


def test_gradcli_alone_in_a_terminal_shows_what_to_type(tmp_path: Path) -> None:
    shown = pexpect.run(
        f"{sys.executable} -m gradcli", cwd=str(tmp_path), env=environment(TERM="dumb"),
        encoding="utf-8", timeout=HANGS,
    )  # fmt: skip
    lines = shown.splitlines()
    assert any("gradcli tour" in line for line in lines)
    assert max(map(len, lines)) <= 80
