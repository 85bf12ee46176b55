"""Text of strangers on its way to a terminal: names, values, cells, variables."""

from __future__ import annotations

import ast
import csv
import json
import os
import pty
import re
import subprocess
import threading
from pathlib import Path

import pytest

import gradcli
from tests.processes import HANGS

from .conftest import Run, environment

STEERING = "\x1b]0;t\x07\x1b[2J\u202ea\u2066\u200f\x9b2J\x7f\u2028\x85\rb\x08"
"""Text that a terminal obeys: a title, an empty screen, directions, lines anew."""

S = STEERING

HEADING = S.replace("\r", "")
"""The same without a line break, as it may stand in a cell."""


def shown(
    command: list[str], folder: Path, words: list[str], stdin: str = "", **wishes: str
) -> str:
    """What a terminal receives of a command whose standard input is a pipe."""
    ours, theirs = pty.openpty()
    received: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(ours, 1 << 16):
                received.append(piece)
        except OSError:  # as Linux says that the terminal is closed
            pass

    own = {"XDG_CONFIG_HOME": str(folder / "settings"), **wishes}
    reader = threading.Thread(target=read)
    reader.start()
    try:
        subprocess.run(
            [*command, *words], input=stdin.encode(), stdout=theirs, stderr=theirs,
            cwd=folder, env=environment(**own), timeout=HANGS, check=False,
        )  # fmt: skip
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)
    return b"".join(received).decode()


def write(folder: Path) -> None:
    """Write files and folders with strange names, and with strange text in them."""
    (folder / f"{S}.grad").write_text("y = tahn(x)")
    for place in (folder / f"{S}.csv", folder / "t.csv", folder / S / f"{S}.csv"):
        place.parent.mkdir(exist_ok=True)
        with place.open("w", newline="") as file:
            rows = [["x", HEADING], ["1", HEADING], [HEADING, "b"], ["1e400", "a"]]
            csv.writer(file).writerows(rows)
    (folder / "t.jsonl").write_text(json.dumps({"x": 1, S: S}) + "\n")
    (folder / "t.json").write_text(json.dumps({S: S}))
    (folder / f"{S}.py").write_text(
        f"text = {S!r}\n"
        "def f(x): raise ValueError(text)\n"
        "def g(x): return text\n"
        "def h(x): return (x*x).sum()\n"
    )
    (folder / "raises.py").write_text(f"raise ValueError({S!r})\n")
    (folder / "leaves.py").write_text(f"import sys\nsys.exit({S!r})\n")
    (folder / f"{S}p.py").write_text(
        "import torch\nx = torch.ones(2, requires_grad=True)\n(x*x).sum().backward()\n"
    )
    (folder / "bad" / "gradcli").mkdir(parents=True)
    (folder / "bad" / "gradcli" / "config.toml").write_text(json.dumps(S) + " = 1\n")
    (folder / f"{S}c" / "gradcli").mkdir(parents=True)
    (folder / f"{S}c" / "gradcli" / "config.toml").write_text('theme = "dark"\n')


POINT = ["x=2", "--no-verify"]
TABLE = ["grad", "x^2", "--table"]
LINES: dict[str, list[str]] = {
    "command": [S],
    "option": ["grad", "x^2", f"--a{S}"],
    "program": ["grad", S],
    "comment": ["graph", f"y = x^2 # {S}", "x=2"],
    "string": ["grad", f"x^2 + '{S}'", "x=2"],
    "name": ["grad", "x^2", f"{S}=1"],
    "value": ["grad", "x^2", f"x={S}"],
    "value's file": ["grad", "x^2", f"x=@{S}.csv:y"],
    "value's missing file": ["grad", "x^2", f"x=@{S}"],
    "column": ["grad", "x^2", f"x=@t.csv:{S}"],
    "key": ["grad", "x^2", f"x=@t.json:{S}"],
    "key that is missing": ["grad", "x^2", "x=@t.json:y"],
    "file": ["grad", "-f", f"{S}.grad", "x=2"],
    "missing file": ["grad", "-f", S, "x=2"],
    "table": [*TABLE, f"{S}.csv"],
    "folder of tables": [*TABLE, S],
    "missing table": [*TABLE, f"{S}{S}.csv"],
    "cell": [*TABLE, "t.csv", "--keep", HEADING],
    "cell as JSON": [*TABLE, "t.jsonl", "--keep", S],
    "kept by a wrong name": [*TABLE, "t.csv", "--keep", f"{S}x"],
    "renamed": [*TABLE, "t.csv", "--rename", f"{S}=y"],
    "columns": [*TABLE, "t.csv", "--columns", f"x,{S}"],
    "out": [*TABLE, "t.csv", "--out", f"{S}.jsonl"],
    "out in no folder": [*TABLE, "t.csv", "--out", f"{S}{S}/x.csv"],
    "picture": ["graph", "x^2", "x=2", "-o", f"{S}.svg"],
    "no picture": ["graph", "x^2", "x=2", "-o", f"x.{S}"],
    "plot": ["plot", "x^2", "x=0..1:5", "-o", f"{S}.svg"],
    "blocks": ["jacobian", "x^2", *POINT, "--out", f"{S}.npz"],
    "gradients": ["grad", "x^2", *POINT, "--out", f"{S}.npz"],
    "cluster": [*TABLE, "t.csv", "--cluster", f"local:{S}"],
    "sweep": ["grad", "x^2", "--sweep", f"x={S}"],
    "shape": ["grad", "x^2", "--shape", S],
    "wrt": ["grad", "x^2", *POINT, "--wrt", S],
    "of": ["grad", "x^2", *POINT, "--of", S],
    "seed": ["grad", "x^2", *POINT, "--seed", S],
    "size": ["grad", "x^2", *POINT, "--max-memory", S],
    "choice": ["grad", "x^2", *POINT, "--code", S],
    "traceback": ["grad", f"x^2 + {S}", "x=2", "--debug"],
    "claim": ["check", "x^2", "x=2", "--claim", S],
    "object": ["grad", S, "--json"],
    "topic": ["help", S],
    "operation": ["ops", S],
    "setting": ["config", S],
    "setting's value": ["config", "seed", S],
    "script": ["run", S],
    "script that raises": ["run", "raises.py"],
    "script that leaves": ["run", "leaves.py"],
    "script with passes": ["run", "--graph", f"{S}p.py"],
    "function that raises": ["verify", f"{S}.py:f", "x=[1,2]"],
    "function of text": ["verify", f"{S}.py:g", "x=[1,2]"],
    "function's file": ["verify", f"{S}.py:h", "x=[1,2]"],
    "function's name": ["verify", f"{S}.py:{S}"],
    "function's file as JSON": ["verify", f"{S}.py:h", "x=[1,2]", "--json"],
    "shell": ["--show-completion", S],
}
"""Command lines with text of strangers, by its place."""

WISHES = {
    "settings' folder": {"XDG_CONFIG_HOME": f"{S}c"},
    "unknown variable": {f"GRADCLI_{S}": "1"},
    "variable": {"GRADCLI_SEED": S},
    "settings": {"XDG_CONFIG_HOME": "bad"},
}
SESSION = [
    f"x = {S}", f"{S} = 3", S, "x = 3", f"y = x^2 # {S}", "%names", f"%save {S}.txt",
    f"%{S}", f"grad --of {S}", f"help {S}", f"x = @{S}.csv", f"z = '{S}", f"grad {S}=1",
]  # fmt: skip


def harmless(text: str) -> bool:
    """Whether a terminal that receives this only shows it."""
    return all(each.isprintable() or each in "\r\n" for each in text) and (
        "\r" not in text.replace("\r\n", "")
    )


@pytest.mark.parametrize("where", LINES)
def test_no_text_of_strangers_controls_a_terminal(
    tmp_path: Path, warm_command: list[str], where: str
) -> None:
    write(tmp_path)
    seen = shown(warm_command, tmp_path, LINES[where], NO_COLOR="1")
    assert harmless(seen)
    assert seen


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("words", [["config"], ["config", "seed", "3"], ["grad", "x"]])
def test_no_variable_controls_a_terminal(
    tmp_path: Path, warm_command: list[str], wish: str, words: list[str]
) -> None:
    write(tmp_path)
    wishes = {"XDG_CONFIG_HOME": "fresh", **WISHES[wish]}
    wishes["XDG_CONFIG_HOME"] = str(tmp_path / wishes["XDG_CONFIG_HOME"])
    seen = shown(warm_command, tmp_path, words, NO_COLOR="1", **wishes)
    assert harmless(seen)
    assert seen


def test_no_line_of_a_session_controls_a_terminal(
    tmp_path: Path, warm_command: list[str]
) -> None:
    write(tmp_path)
    typed = "".join(f"{line}\n".replace("\r", "") for line in SESSION)
    seen = shown(warm_command, tmp_path, ["repl"], stdin=typed, NO_COLOR="1")
    assert harmless(seen)
    assert seen.count("error[") >= 6


def test_colours_are_gradclis_own(tmp_path: Path, warm_command: list[str]) -> None:
    write(tmp_path)
    wishes = {"TERM": "xterm-256color"}
    for where in ("comment", "folder of tables", "cell", "picture"):
        seen = shown(warm_command, tmp_path, LINES[where], **wishes)
        assert harmless(re.sub(r"\x1b\[[0-9;]*m", "", seen))


def test_pipes_and_files_keep_the_data_as_it_is(gradcli: Run, tmp_path: Path) -> None:
    write(tmp_path)
    for table, kept, out in (("t.csv", HEADING, "o.csv"), ("t.jsonl", S, "o.jsonl")):
        words = ["grad", "x^2", "--table", table, "--keep", kept]
        piped = gradcli(*words).out
        assert not gradcli(*words, "--out", out).out
        assert (tmp_path / out).read_text() == piped
    rows = list(csv.reader((tmp_path / "o.csv").read_text().split("\n")[:1]))
    assert rows[0][0] == HEADING
    assert json.loads((tmp_path / "o.jsonl").read_text())[S] == S


WRITERS = {
    "cli/app.py": "a first page of our own; an error where reporting fails, in ascii",
    "cli/completion.py": "what a shell's script reads; a script of our own",
    "cli/group.py": "versions",
    "cli/keyboard.py": "questions of our own",
    "cli/options.py": "nothing: it asks whether there is a terminal",
    "cli/output.py": "lines, notes and rows, escaped",
    "cli/at_points.py": "a bar, of counts",
    "cli/commands/descend.py": "a bar, of counts",
    "cli/commands/run.py": "lines, which are escaped where they are made",
    "cli/workspace.py": "flushes alone",
    "lang/process.py": "nothing: it asks whether there is a stream",
    "answers/writer.py": "no stream but the one that is given",
    "answers/terminal.py": "lines, which are escaped where they are made",
    "check/process/client.py": "a pipe to the process that asks",
}
"""Files that name a stream of the process or print, each with what it writes."""


def test_few_files_write_to_the_streams() -> None:
    root = Path(gradcli.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", getattr(node, "id", ""))
            if name in ("stdout", "stderr", "__stdout__", "__stderr__", "print", "echo",
                        "print_exception", "print_exc"):  # fmt: skip
                found.add(str(path.relative_to(root)))
    assert found <= {*WRITERS}
