"""Manual pages say what `--help` says, and `man` reads them without a complaint."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.main import get_command

from gradcli.cli.commands import COMMANDS
from gradcli.cli.commands.help import page
from gradcli.cli.options import command_of

from .conftest import Run

CHECKS = {
    "groff": ["groff", "-man", "-ww", "-z", "-K", "utf8"],
    "mandoc": ["mandoc", "-T", "lint", "-W", "warning"],
}
"""What reads a page, and prints what is wrong with it."""


@pytest.fixture
def folder(gradcli: Run, tmp_path: Path) -> Path:
    ended = gradcli("help", "--man", "man1")
    assert (ended.status, ended.out) == (0, "")
    assert f"wrote {len(COMMANDS) + 1} pages into man1" in ended.err
    return tmp_path / "man1"


def shown(text: str) -> str:
    """A page's text as it is read."""
    for written, meant in (("\\-", "-"), ("\\(dq", '"'), ("\\&", ""), ("\\e", "\\")):
        text = text.replace(written, meant)
    return text


def test_a_page_has_every_option_with_its_help(folder: Path) -> None:
    names = {"gradcli.1", *(f"gradcli-{name}.1" for name in COMMANDS)}
    assert {path.name for path in folder.iterdir()} == names
    for name in COMMANDS:
        text = shown((folder / f"gradcli-{name}.1").read_text())
        for parameter in command_of(name).params:
            if getattr(parameter, "hidden", False):
                continue
            for option in parameter.opts if parameter.opts[0][0] == "-" else ():
                assert re.search(rf"(?m)^\.B .*{re.escape(option)}\b", text), option
            assert " ".join((getattr(parameter, "help", "") or "").split()) in text
    listed = shown((folder / "gradcli.1").read_text())
    assert all(f".B gradcli {name}\n" in listed for name in COMMANDS)


@pytest.mark.parametrize("tool", CHECKS)
def test_a_page_is_read_without_a_complaint(folder: Path, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    for path in sorted(folder.iterdir()):
        run = subprocess.run([*CHECKS[tool], str(path)], capture_output=True, text=True)
        assert (run.returncode, run.stdout + run.stderr) == (0, ""), path.name


def test_man_shows_a_page(folder: Path) -> None:
    if shutil.which("man") is None or shutil.which("groff") is None:
        pytest.skip("there is no man")
    run = subprocess.run(
        ["man", "-l", str(folder / "gradcli-grad.1")],
        capture_output=True, text=True,
        env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat"},
    )  # fmt: skip
    if "system has been minimized" in run.stdout + run.stderr:
        pytest.skip("man was taken out of this system")
    assert run.returncode == 0, run.stderr
    assert "--verify-seconds SECONDS" in run.stdout
    assert 'gradcli grad "y = x**3 + b" x=2 b=1' in run.stdout


def test_text_begins_no_instruction() -> None:
    text = '.SH no section\n\n\'nor this \\fB\n\nExample: .x "y"'
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command(help=text)
    def main(o: Annotated[str, typer.Option("-o", help=".svg")] = "") -> None: ...

    written = page(typer.Context(get_command(app), info_name="gradcli x"))
    assert [line for line in written.splitlines() if line.startswith(".SH no")] == []
    assert "\\fB" not in written
    assert "\\&.svg" in written


def test_pages_go_into_a_folder_alone(gradcli: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for words in (("grad", "--man", "m"), ("--man", "m", "--json")):
        assert gradcli("help", *words).status == 2
    ended = gradcli("help", "--man", "file")
    assert ended.status == 74
    assert "cannot write file" in ended.err
