"""Slips at the shell: each is refused with its place, its reason and the way out."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from gradcli.cli.app import run
from gradcli.cli.command import command_of
from gradcli.cli.commands import COMMANDS
from gradcli.cli.group import HELP

Captured = pytest.CaptureFixture[str]

MAX_EXAMPLE = 76
"""Columns of a line of help on a terminal of eighty, without its margin."""

SQUARE = ("grad", "x^2")
PRODUCT = ("grad", "x*y", "x=3", "y=1")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        # The words stand in the wrong order, or not where they belong.
        (("grad", "x=3", "x^2"), 2, "write the program first: 'x^2' x=3"),
        (("plot", "x=-3:3", "x^2"), 2, "write the program first: 'x^2' x=-3:3"),
        (("grad", "grad", "x^2", "x=3"), 2, "leave one grad out"),
        (("grad", "--", "x^2", "x=3", "-q"), 2, "write options before --"),
        (("-q", *SQUARE, "x=3"), 2, "write it behind: gradcli grad -q"),
        (("--digits", "5", *SQUARE), 2, "--digits stands before the command"),
        (("gradient", "x^2"), 2, "it is called grad"),
        (("run",), 2, "gradcli run needs SCRIPT.py"),
        (("verify",), 2, "gradcli verify needs FILE.py:NAME"),
        (("value",), 2, "give one: gradcli grad"),
        # A value that is none.
        ((*SQUARE, "-x=3"), 2, "a value of an input has no dash: x=3"),
        ((*SQUARE, "--x", "3"), 2, "a value of an input has no dash: x=3"),
        ((*PRODUCT, "--wrt", "x", "y"), 2, "--wrt x,y"),
        ((*SQUARE, "x=0:1:5"), 3, "or --sweep x=0:1:101"),
        ((*SQUARE, "--sweep", "0:1:5"), 2, "'0:1:5' is not NAME=START:STOP:COUNT"),
        ((*SQUARE, "x=3", "--max-memory", "lots"), 2, "--max-memory: 'lots' is not"),
        (("descend", "x^2", "x=3", "--optimizer", "Adam"), 2, "did you mean 'adam'?"),
        (("graph", "x", "x=1", "--svg"), 2, "write a picture with -o g.svg"),
        (("graph", "x", "x=1", "-o", "g"), 2, "'g' has no ending that says which"),
        (("plot", "x", "x=0:1", "-o", "p.jpg"), 2, "end the name with one of .svg"),
        (("config", "theme=dark"), 2, "two words: gradcli config theme dark"),
        (("config", "--theme", "dark"), 2, "no dashes: gradcli config theme"),
        # What a shell makes of quotes and blanks.
        (("grad", "(x@y)", "x=[1,", "2]", "y=[3,", "4]"), 2, "blanks: 'x=[1, 2]'"),
        (("grad", "x", "x=[[1,", "2],", "[3,", "4]]"), 2, "'x=[[1, 2], [3, 4]]'"),
        (("grad", "“x^2”", "x=3"), 3, 'a shell knows straight quotes alone: type "'),
        (("grad", "x^2 x=3"), 3, "a value x=3 stands outside the quotes"),
        (("grad", "^2", "x=3"), 3, "a shell takes $x out of"),
        (("grad", "y = x^2\\nz = y", "x=3"), 3, "\\n ends no line"),
        (("grad", "\\nu*x", "x=3"), 3, "LaTeX is not read"),
        (("grad", "x %% 2", "x=3"), 3, "a remainder is one '%'"),
        (("grad", "x^2", "x", "y"), 2, "give it a value: x=3"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_slip_is_told_with_its_way_out(
    words: tuple[str, ...], status: int, said: str, capsys: Captured
) -> None:
    if words[0] == "grad":
        words = ("grad", "--no-verify", *words[1:])
    assert run([*words]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err


def test_names_of_files_in_the_place_of_a_star_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("y = x")
    assert run(["value", "a.txt", "x=2"]) == 2
    assert "to read it: -f a.txt" in capsys.readouterr().err
    assert run(["value", "x^2", "a.txt"]) == 2
    assert "to read the file as a value, write x=@a.txt" in capsys.readouterr().err
    (tmp_path / "data.csv").write_text("1\n")
    for words in (["a.txt", "data.csv", "x=2"], ["2", "a.txt", "data.csv", "x", "x=2"]):
        assert run(["value", *words]) == 2
        err = capsys.readouterr().err
        assert "a.txt and data.csv are names of files" in err
        assert "quote the program" in err


def test_a_name_that_a_file_lacks_is_told_with_those_it_has(
    tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "f.py").write_text("def half(x): return x/2\n")
    assert run(["verify", f"{tmp_path}/f.py:G"]) == 3
    assert "it has half" in capsys.readouterr().err


def test_an_option_behind_a_script_that_reads_none_is_told(
    tmp_path: Path, capsys: Captured
) -> None:
    script = tmp_path / "s.py"
    script.write_text("print(1)\n")
    assert run(["run", str(script), "--verify"]) == 0
    out, err = capsys.readouterr()
    assert out == "1\n"
    assert "--verify stands behind the script, which reads none" in err
    script.write_text("import sys; print(sys.argv[1])\n")
    assert run(["run", str(script), "--verify"]) == 0
    assert capsys.readouterr().err == ""


def test_a_session_without_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.cli.keyboard import typed

    monkeypatch.setattr(sys, "stdin", None)
    assert [*typed(lambda text: ("", []), lambda text: False)] == []
    monkeypatch.setattr(sys, "stdin", io.StringIO("x = 3\n"))
    assert [*typed(lambda text: ("", []), lambda text: False)] == ["x = 3"]


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_an_example_stands_on_one_line_of_help(name: str) -> None:
    text = command_of(name).help if name else HELP
    examples = [line for line in text.split("\n\n") if "Example:" in line]
    assert examples
    for each in examples:
        assert len(each.strip()) <= MAX_EXAMPLE, each


def test_a_program_with_a_mark_of_its_encoding_and_windows_line_ends(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "w.grad"
    file.write_bytes(b"\xef\xbb\xbfy = x^2\r\nif x > 0:\r\n\ty = y*2\r\ny\r\n")
    assert run(["grad", "-q", "--no-verify", "-f", str(file), "x=2"]) == 0
    assert capsys.readouterr().out == "8.0\n"
