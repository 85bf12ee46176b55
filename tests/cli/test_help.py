"""`gradcli help`: pages, codes, verdicts, commands and schemas; the nearest topic;
manual pages that say what `--help` says, which `man` reads without a complaint."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated

import pytest
import typer
from rich.console import Console
from typer.main import get_command

from gradcli.answers.markdown import drawn
from gradcli.answers.pages import ORDER, page, schema, schemas, section, whole
from gradcli.answers.theme import for_rich
from gradcli.cli.commands import COMMANDS
from gradcli.cli.commands import help as manual
from gradcli.cli.group import command_of
from gradcli.cli.options import PANELS

from .conftest import Run
from .examples import ON_PROGRAMS

SCREEN = 24
"""Lines of a small terminal."""


def test_without_a_topic_every_page_and_command_has_a_line(gradcli: Run) -> None:
    lines = gradcli("help").out.splitlines()
    for name in ORDER:
        assert f"- `{name}`: {page(name).about}" in lines
    for name in COMMANDS:
        (line,) = [each for each in lines if each.startswith(f"- `{name}`: ")]
        assert line.endswith(".")


@pytest.mark.parametrize("name", ORDER)
def test_a_page_is_printed_as_it_is(gradcli: Run, name: str) -> None:
    assert gradcli("help", name).out == whole(name)


@pytest.mark.parametrize("topic", ["E101", "e101", "proved"])
def test_a_code_and_a_verdict_have_a_section(gradcli: Run, topic: str) -> None:
    text = section(topic)
    assert text is not None
    assert gradcli("help", topic).out == text.rstrip("\n") + "\n"


@pytest.mark.parametrize("command", ["grad", "help"])
def test_a_command_s_help_is_its_own(gradcli: Run, command: str) -> None:
    ended = gradcli("help", command)
    assert (ended.status, ended.out) == (0, gradcli(command, "--help").out)
    whole = gradcli(command, "--help-all").out
    assert whole in gradcli("help", "commands").out.replace("```\n\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_in_brief_is_one_screen_that_names_every_option(
    gradcli: Run, command: str
) -> None:
    brief = gradcli(command, "--help", env={"COLUMNS": "80"}).out
    assert len(brief.splitlines()) <= SCREEN
    assert f"More, with gradcli {command} --help-all:" in brief
    assert "Example: gradcli " in brief
    for param in command_of(command).params:
        if param.opts[0].startswith("--") and not param.hidden:
            assert re.search(rf"{param.opts[0]}\b", brief)


@pytest.mark.parametrize("option", ["--help", "--help-all"])
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_help_page_fits_a_narrow_terminal(
    gradcli: Run, command: str, option: str
) -> None:
    words = [command, option] if command else [option]
    narrow = gradcli(*words, env={"COLUMNS": "30"}).out
    prose = [line for line in narrow.splitlines() if "gradcli" not in line]
    assert max(map(len, prose)) <= 30
    wide = gradcli(*words, env={"COLUMNS": "80"}).out
    assert "".join(narrow.split()) == "".join(wide.split())


def test_a_schema_is_printed_as_it_lies_there(gradcli: Run) -> None:
    assert "grad.json" in schemas()
    assert gradcli("help", "grad.json").out == schema("grad.json")


def test_json_holds_the_text(gradcli: Run) -> None:
    found = gradcli("help", "E101", "--json").json
    assert found == {
        "schema": "gradcli/1", "command": "help", "topic": "E101",
        "text": section("E101"), "notes": [],
    }  # fmt: skip


def test_a_terminal_gets_a_drawn_page_whose_examples_can_be_copied(
    gradcli: Run,
) -> None:
    plain = gradcli("help", "E101").out
    drawn = gradcli("help", "E101", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[" in drawn
    assert "```" not in drawn
    (command,) = [line for line in plain.splitlines() if "tahn" in line and "$" in line]
    assert command in drawn
    assert json.dumps(drawn)


@pytest.mark.parametrize("name", ORDER)
def test_a_narrow_terminal_cuts_no_word_of_a_page(name: str) -> None:
    console = Console(file=io.StringIO(), width=40)
    with console.use_theme(for_rich()), console.capture() as captured:
        console.print(drawn(whole(name)))
    assert captured.get().count("…") == whole(name).count("…")


@pytest.mark.parametrize("command", ON_PROGRAMS)
def test_shared_options_stand_below_headings_behind_those_of_the_command(
    gradcli: Run, command: str
) -> None:
    parts = gradcli(command, "--help-all").out.split("\n\n")
    below = {part.partition(":\n")[0]: part for part in parts}
    shared = [title for title in PANELS if title in below]
    assert [*below][-len(shared) :] == shared
    for param in command_of(command).params:
        titles = [title for title in shared if param.name in PANELS[title]]
        for title in titles if not param.hidden else ():
            assert f"{max(param.opts, key=len)} " in below[title]


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

    written = manual.page(typer.Context(get_command(app), info_name="gradcli x"))
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
