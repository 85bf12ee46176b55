"""`gradcli help`: pages, codes, verdicts, commands and schemas; the nearest topic."""

from __future__ import annotations

import io
import json
import re

import jsonschema
import pytest
from rich.console import Console

from gradcli.answers.line import for_rich
from gradcli.answers.markdown import drawn
from gradcli.answers.pages import (
    ORDER,
    page,
    schemas,
    section,
    whole,
    whole_schema,
)
from gradcli.answers.topics import topics
from gradcli.cli.commands import COMMANDS
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


@pytest.mark.parametrize("name", schemas())
def test_a_printed_schema_needs_no_other_file(name: str) -> None:
    text = whole_schema(name)
    found = json.loads(text)
    assert found["$id"] == f"urn:gradcli:1:{name}"
    targets = re.findall(r'"\$ref": "([^"]*)"', text)
    places = {f"#/$defs/{each}" for each in found.get("$defs", ())}
    assert {*targets} <= places
    validator = jsonschema.Draft202012Validator
    validator.check_schema(found)
    # Only what is referred to is carried along.
    assert name == "common.json" or places == {*targets}


def test_a_printed_schema_describes_what_its_command_prints(gradcli: Run) -> None:
    words = ["x*sin(y)", "x=2", "y=[0,1]", "--grad-output", "[1,2]", "--json"]
    known = json.loads(gradcli("help", "grad.json").out)
    found = gradcli("grad", *words, "--no-verify").json
    jsonschema.Draft202012Validator(known).validate(found)
    for wrong in ({**found, "inputs": 3}, {**found, "output": {}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(known).validate(wrong)


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


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("jvp", "gradcli help products with a vector"),
        ("chain rule", "gradcli help paths"),
        ("jupyter", "gradcli help pictures of graphs"),
        ("csv", "gradcli help many points at once"),
        ("rows of a table", "gradcli grad --help-all"),
        ("hyperbolic tangents", "gradcli ops tanh"),
    ],
)
def test_words_are_searched_for_in_all_topics(
    gradcli: Run, words: str, command: str
) -> None:
    ended = gradcli("help", *words.split())
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert len(lines) <= 10
    assert command in [re.split("  +", line)[0] for line in lines]
    assert gradcli("help", words, "--json").json["text"] == ended.out.rstrip("\n")


def test_the_command_of_each_topic_shows_it(gradcli: Run) -> None:
    for topic in [*topics()][::5]:
        ended = gradcli(*topic.command.split()[1:])
        assert ended.status == 0, topic.command


def test_a_heading_shows_its_section(gradcli: Run) -> None:
    shown = gradcli("help", "many", "points", "at", "once").out
    assert shown.startswith("## Many points at once\n")


def test_words_that_nothing_has_name_what_there_is(gradcli: Run) -> None:
    ended = gradcli("help", "qqqq", "xyzzy")
    assert (ended.status, ended.out) == (2, "")
    assert "gradcli help lists the topics" in ended.err
