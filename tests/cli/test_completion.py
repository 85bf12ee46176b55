"""What a shell is offered when a line has been begun.

The scripts of bash, zsh and fish are tried in those shells where they are installed;
that of PowerShell is read, and what it would be answered.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pexpect
import pytest

from gradcli.cli.completion import (
    SHELLS,
    ZSH_ALIAS,
    answer,
    begun,
    continued,
    offers,
    print_script,
)
from tests.processes import HANGS

from .conftest import Run, environment

NETWORK = "b = w1*alpha; c = w2*b; L = c^2"


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ([], "jac", ["jacobian"]),
        ([], "--ins", ["--install-completion"]),
        (["nosuch"], "x", []),
        (["grad", "x**2"], "--verify-", ["--verify-seconds"]),
        (["grad", "x**2", "--device"], "", ["auto", "cpu", "cuda"]),
        (["grad", "x**2"], "--device=c", ["--device=cpu", "--device=cuda"]),
        (["grad", NETWORK, "--wrt"], "", ["w1", "alpha", "w2", "b", "c"]),
        (["grad", NETWORK], "--wrt=w1,w", ["--wrt=w1,w2"]),
        (["grad", NETWORK, "--of"], "c", ["c"]),
        (["paths", NETWORK, "--to"], "al", ["alpha"]),
        (["grad", NETWORK, "w1=3"], "", ["alpha=", "w2="]),
        (["grad", NETWORK, "-q", "--box"], "w", ["w1=", "w2="]),
        (["grad", "--seed", "3", NETWORK, "w1=3"], "w", ["w2="]),
        (["grad"], "b = w1*a; 2*tanhs", ["b = w1*a; 2*tanhshrink"]),
        (["grad"], "tango = 3; tang", ["tango = 3; tango"]),
        (["grad"], "x.logsumex", ["x.logsumexp"]),
        (["grad"], "-tanhs", ["-tanhshrink"]),
        (["grad"], "3*", []),
        (["grad", "x"], "x=arang", ["x=arange"]),
        (["check", NETWORK, "--same"], "alph", ["alpha"]),
        (["grad", "x = ("], "x", []),
        (["help"], "verd", ["verdicts"]),
        (["ops"], "tanhs", ["tanhshrink"]),
        (["config"], "verify-", ["verify-seconds"]),
        (["config", "theme"], "", ["auto", "light", "dark", "none"]),
        (["config", "strict"], "t", ["true"]),
        (["config", "digits"], "", []),
        (["config", "none"], "", []),
        (["grad"], "y = alpha*x\nz = y*alph", ["y = alpha*x\nz = y*alpha"]),
        (["grad"], "# kappa\nfor kk in x:\n  kk", ["# kappa\nfor kk in x:\n  kk"]),
        (["grad"], "# kappa\nkap", []),
        (["grad", "a, b = x, y\nc = a\nc", "--of"], "", ["a", "b", "c", "x", "y"]),
    ],
)
def test_offers_begin_with_what_was_typed(
    words: list[str], text: str, found: list[str]
) -> None:
    assert [each.value for each in offers(["gradcli", *words], text)] == found


def test_files_are_offered_behind_an_at_and_where_a_file_belongs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.grad").write_text("loss = (weight*x)^2")
    (tmp_path / "nets").mkdir()
    (tmp_path / ".hidden").touch()
    # A terminal would obey the names of these, which are not offered.
    (tmp_path / "ne\x1b[2J.csv").touch()
    (tmp_path / "ne\u202evsc.csv").touch()

    def found(words: list[str], text: str) -> list[str]:
        return [each.value for each in offers(["gradcli", "grad", *words], text)]

    assert found(["x"], "x=@ne") == ["x=@net.grad", "x=@nets/"]
    assert found(["-f"], "") == ["net.grad", "nets/"]
    assert found(["x", "--out"], "./.h") == ["./.hidden"]
    assert found(["-f", "net.grad"], "w") == ["weight="]
    assert found(["-f", "none.grad"], "w") == []
    (tmp_path / "lines.grad").write_text(
        "# two layers\r\nhidden = tanh(win*x)\r\nif hidden > 0:\r\n  out = wout*hidden"
    )
    assert found(["-f", "lines.grad"], "w") == ["win=", "wout="]
    assert found(["-f", "lines.grad", "--of"], "hi") == ["hidden"]
    assert found(["-f", "lines.grad", "--wrt"], "x,") == ["x,win", "x,wout", "x,hidden"]
    verify = offers(["gradcli", "verify"], "net")
    assert [each.value for each in verify] == ["net.grad", "nets/"]


LINES = [
    ("gradcli grad", ["gradcli"], "grad"),
    ('gradcli grad "a; b', ["gradcli", "grad"], "a; b"),
    ("gradcli grad 'it''s' ", ["gradcli", "grad", "its"], ""),
    ('gradcli grad "a\\"b\\n" x', ["gradcli", "grad", 'a"b\\n'], "x"),
    ("gradcli grad a\\ b", ["gradcli", "grad"], "a b"),
    ("cat f | gradcli grad -f", ["gradcli", "grad"], "-f"),
    ("", [], ""),
]
"""Lines as a shell reads them: the words before the cursor, and the word there."""


@pytest.mark.parametrize(("line", "words", "text"), LINES)
def test_a_line_is_read_as_a_shell_reads_it(
    line: str, words: list[str], text: str
) -> None:
    given = begun(line)
    assert (given.words, given.text) == (words, text)


def test_what_follows_stands_in_the_same_quotes() -> None:
    assert continued(begun("a b", ""), "(c d)") == "b\\(c\\ d\\)"
    assert continued(begun('x="a', "="), '$b "') == 'a\\$b \\"'
    assert continued(begun("x='a b", "="), "$c") == "a b$c"
    assert continued(begun("x=@da", "=@"), "ta.csv") == "@data.csv"


def told(shell: str, line: str) -> str:
    return answer(f"offers_{shell}", {"COMP_TEXT": line})


def test_a_lone_operation_is_offered_once_and_with_its_parenthesis() -> None:
    line = 'gradcli grad "x*tanhs'
    assert told("bash", line) == "+x*tanhshrink\0+x*tanhshrink(\0"
    both = "x*tanhshrink\tx minus its tanh.\0x*tanhshrink(\ttanhshrink(x)\0"
    assert told("fish", line) == both
    assert told("zsh", line) == "+x*tanhshrink\0tanhshrink\0x minus its tanh.\0"
    assert told("fish", "gradcli ops tanhs") == "tanhshrink\tx minus its tanh.\0"
    assert told("bash", "gradcli grad tanhs") == "+tanhshrink\0"


@pytest.mark.parametrize("asked", ["offer_bash", "complete_bash", "source_zsh", "1"])
def test_another_question_has_no_answer(asked: str) -> None:
    assert answer(asked, {"COMP_TEXT": "gradcli jaco"}) == ""


@pytest.fixture
def in_shell(
    tmp_path: Path, warm_command: list[str]
) -> Iterator[Callable[[str], Shell]]:
    """Types into a shell that has a command which prints the words it is given."""
    command = tmp_path / "bin" / "gradcli"
    command.parent.mkdir()
    command.write_text(
        "#!/bin/sh\n"
        f'[ -z "$_GRADCLI_COMPLETE" ] || exec {shlex.join(warm_command)} "$@"\n'
        "printf '<%s>' \"$@\"; echo ENDED\n"
    )
    command.chmod(0o755)
    (tmp_path / "data.csv").write_text("1\n")
    for shell in SHELLS:
        script = print_script(shell)
        (tmp_path / shell).write_text(script)
    shells: list[Shell] = []

    def started(name: str) -> Shell:
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        shells.append(Shell(name, tmp_path))
        return shells[-1]

    yield started
    for shell in shells:
        shell.child.close(force=True)


class Shell:
    """An interactive shell, with the script and nothing of the user's."""

    STARTS: ClassVar = {
        "bash": ["bash", "--norc", "--noprofile", "-i"],
        "zsh": ["zsh", "-f", "-i"],
        "fish": ["fish", "--no-config", "-i"],
    }

    LINE_ENDS: ClassVar = {"bash": "\x16\n", "zsh": "\x1b\r", "fish": "\r"}
    """What ends a line inside quotes, and goes on in the next."""

    def __init__(self, name: str, folder: Path) -> None:
        command, *words = self.STARTS[name]
        wishes = {"TERM": "xterm", "PS1": "$ ", "HOME": str(folder)}
        env = environment(**wishes)
        env["PATH"] = f"{folder / 'bin'}:{env['PATH']}"
        self.child = pexpect.spawn(
            command, words, env=env, cwd=str(folder), encoding="utf-8",
            dimensions=(40, 120), timeout=HANGS,
        )  # fmt: skip
        init = "autoload -U compinit; compinit -u -D; " if name == "zsh" else ""
        self.child.sendline(f"{init}source ./{name}; echo RE''ADY")
        self.child.expect("READY")

    def words(self, line: str) -> str:
        """What the command is given by a line with a tab in it."""
        before, _, after = line.partition("\t")
        self.child.send(f"{before}\t")
        self.child.send(f"{after}\r")
        self.child.expect(r"(<grad>.*>|<jaco[^\r\n]*>)ENDED")
        return str(self.child.match[1])


@pytest.mark.parametrize("name", Shell.STARTS)
def test_a_shell_completes_each_kind_of_word(
    in_shell: Callable[[str], Shell], name: str
) -> None:
    shell = in_shell(name)
    assert shell.words("gradcli jaco\tx") == "<jacobian><x>"
    assert shell.words("gradcli grad x --verify-s\t3") == (
        "<grad><x><--verify-seconds><3>"
    )
    assert shell.words("gradcli grad 'x*y' x=@da\ty=2") == (
        "<grad><x*y><x=@data.csv><y=2>"
    )
    assert shell.words('gradcli grad "b = alpha; b*y" --wrt al\t-q') == (
        "<grad><b = alpha; b*y><--wrt><alpha><-q>"
    )
    assert shell.words('gradcli grad "alpha*y" al\t3') == ("<grad><alpha*y><alpha=3>")


@pytest.mark.parametrize("name", Shell.STARTS)
@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_shell_completes_operations_inside_a_program(
    in_shell: Callable[[str], Shell], name: str, quote: str
) -> None:
    shell = in_shell(name)
    typed = f"gradcli grad {quote}b = w1*a; L = tanhs\t(b){quote} a=2"
    assert shell.words(typed) == "<grad><b = w1*a; L = tanhshrink(b)><a=2>"


@pytest.mark.parametrize("name", Shell.STARTS)
def test_a_shell_completes_inside_a_program_of_several_lines(
    in_shell: Callable[[str], Shell], name: str
) -> None:
    shell = in_shell(name)
    end = Shell.LINE_ENDS[name]
    typed = f"gradcli grad 'beta1 = w1*a{end}L = tanhs\t"
    assert shell.words(f"{typed}(beta1)' w1=3") == (
        "<grad><beta1 = w1*a\r\nL = tanhshrink(beta1)><w1=3>"
    )
    typed = f'gradcli grad "beta1 = w1*a{end}L = 2*beta\t'
    assert shell.words(f'{typed}" w1=3') == "<grad><beta1 = w1*a\r\nL = 2*beta1><w1=3>"


@pytest.mark.parametrize("name", Shell.STARTS)
def test_a_script_is_installed_where_its_shell_looks(
    gradcli: Run, tmp_path: Path, name: str
) -> None:
    ended = gradcli("--install-completion", name, env={"HOME": str(tmp_path)})
    assert (ended.status, ended.out) == (0, "")
    (path,) = [word for word in ended.err.split() if word.startswith(str(tmp_path))]
    shown = gradcli("--show-completion", name).out
    assert Path(path).read_text().strip() == shown.strip() == print_script(name)


def test_zsh_gets_an_alias_once(gradcli: Run, tmp_path: Path) -> None:
    zshrc = tmp_path / ".zshrc"
    zshrc.write_text("export A=1\n")
    for _ in range(2):
        ended = gradcli("--install-completion", "zsh", env={"HOME": str(tmp_path)})
        assert "without quotes" in ended.err
    lines = zshrc.read_text().splitlines()
    assert lines[0] == "export A=1"
    assert lines.count(ZSH_ALIAS) == 1
