"""Programs of strangers do nothing but compute, and what SECURITY.md says is tested."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.processes import COLD as COMMAND
from tests.processes import HANGS

from .conftest import Run, environment

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "SECURITY.md").read_text()

STRANGER = """
import os, sys
from contextlib import redirect_stderr, redirect_stdout
from gradcli.cli.app import run
from gradcli.cli.completion import functions

SECRET = "of_the_user.csv"
happened = []

def heard(event, args):
    if event.startswith(("subprocess.", "os.system", "os.exec", "os.posix_spawn",
                         "os.fork", "os.remove", "os.rename", "socket.", "urllib.")):
        happened.append((event, args))
    elif event == "open" and SECRET in str(args[0]):
        happened.append((event, args))

programs = [
    f"open('{SECRET}')", f"load('{SECRET}')", f"torch.load('{SECRET}')",
    f"@{SECRET}", f"y = @{SECRET}", f"fromfile('{SECRET}')", f"np.load('{SECRET}')",
    "__import__('os').system('id')", "eval('1+1')", "exec('1')", "x.__class__",
    "x.tofile('a')", "import os", "`id`", "$(id)", "!id", "|id",
]
for name in functions():
    programs += [f"{name}('{SECRET}')"]
run(["value", "x", "x=1"])
sys.addaudithook(heard)
with open(os.devnull, "w") as nothing:
    with redirect_stdout(nothing), redirect_stderr(nothing):
        for program in programs:
            run(["value", program, "x=0.5"])
        assert len(programs) > 400, len(programs)
        assert not happened, happened[:3]
        # What a command line names is read, and seen here.
        run(["value", "x", f"x=@{SECRET}"])
        assert happened
"""


def test_a_program_opens_no_file_starts_no_process_and_connects_to_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "of_the_user.csv").write_text("1 2 3\n")
    done = subprocess.run(
        [sys.executable, "-c", STRANGER], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, timeout=HANGS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["of_the_user.csv"]


WRITES = "from pathlib import Path\nPath('mark').touch()\n"


@pytest.mark.parametrize(
    "words", [["run", "f.py"], ["verify", "f.py:g"], ["graph", "f.py:g"]]
)
def test_a_file_of_python_is_run_with_the_users_rights(
    gradcli: Run, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "f.py").write_text(WRITES)
    gradcli(*words)
    assert (tmp_path / "mark").exists()


def test_a_line_of_a_session_may_write_and_run_files(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(WRITES)
    lines = "plot x^2 x=0..1 -o a.svg\nrun f.py\n"
    subprocess.run(
        [*COMMAND, "repl"], input=lines, text=True, cwd=tmp_path, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"f.py", "mark", "a.svg"}


@pytest.mark.parametrize("command", ["run", "verify"])
def test_a_file_of_python_has_no_limit_on_its_own_time(
    gradcli: Run, tmp_path: Path, command: str
) -> None:
    (tmp_path / "f.py").write_text("")
    ended = gradcli(command, "--max-seconds", "1", "f.py")
    assert ended.status == 2
    assert "--max-seconds" in ended.err


@cache
def named_in(path: str) -> set[str]:
    """Return the names of the functions in a file of tests."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_each_test_that_security_names_is_there() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", SECURITY)
    assert len(named) > 20
    assert [each for each in named if each[1] not in named_in(each[0])] == []


def test_each_row_of_security_names_a_test() -> None:
    rows = SECURITY.partition("| statement | test |")[2].splitlines()[2:]
    rows = [row for row in rows if row.startswith("|")]
    assert rows
    assert all("`tests/" in row for row in rows)
