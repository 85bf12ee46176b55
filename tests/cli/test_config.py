"""`gradcli config`: defaults, where they come from, and what comes before what."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gradcli.answers.writer import prefer, terminal_width, wants_colour
from gradcli.cli.commands.config import _listing
from gradcli.cli.defaults import SETTINGS, Setting
from gradcli.cli.group import command_of
from gradcli.cli.options import Request

from .conftest import Ended, Run
from .examples import users_of

FORMULA = ("grad", "-q", "sin(x)", "x=1")
FLOAT = "0.5403023058681398\n"
FIVE_DIGITS = "0.5403\n"

OTHERS = {
    "digits": "7", "dtype": "float32", "device": "cpu", "precision": "4", "seed": "3",
    "strict": "true", "draw": "true", "verify": "false", "require": "sampled",
    "verify-seconds": "9",
    "max-seconds": "20", "max-memory": "400MB", "max-program": "1MB",
    "colour": "never", "theme": "dark", "width": "90",
}  # fmt: skip
"""A value of each setting that is not the built-in one."""


def written(folder: Path, text: str) -> dict[str, str]:
    """The environment in which the file of settings holds this text."""
    (folder / "gradcli").mkdir(exist_ok=True)
    (folder / "gradcli" / "config.toml").write_text(text)
    return {"XDG_CONFIG_HOME": str(folder)}


def option(command: str, setting: Setting) -> Any:
    return next(p for p in command_of(command).params if p.name == setting.name)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.key)
def test_a_setting_is_an_option_of_its_commands(setting: Setting) -> None:
    for command in users_of(setting):
        found = option(command, setting)
        assert setting.option in found.opts
        assert not setting.inverted or found.secondary_opts == [f"--{setting.key}"]
        if setting.built_in == "none":
            assert found.default is None
        elif (command, setting.key) != ("verify", "verify-seconds"):
            value = setting.values.read(setting.built_in)
            assert found.type.convert(found.default, found, None) == (
                found.type.convert(
                    not value if setting.inverted else value, found, None
                )
            )


@pytest.mark.parametrize("key", OTHERS)
def test_every_setting_is_read_alike_from_both_places(
    gradcli: Run, tmp_path: Path, key: str
) -> None:
    (setting,) = [each for each in SETTINGS if each.key == key]
    quoted = f'{key} = "{OTHERS[key]}"\n'
    by_file = gradcli("config", key, "--json", env=written(tmp_path, quoted))
    by_variable = gradcli("config", key, "--json", env={setting.variable: OTHERS[key]})
    (of_file,), (of_variable,) = by_file.json["settings"], by_variable.json["settings"]
    assert (of_file["source"], of_variable["source"]) == ("file", "environment")
    assert of_file["value"] == of_variable["value"] == setting.values.read(OTHERS[key])
    assert str(of_file["built_in"]) != OTHERS[key]


def test_every_setting_has_another_value_here() -> None:
    assert [*OTHERS] == [each.key for each in SETTINGS]
    fields = inspect.signature(Request).parameters
    assert {each.name for each in SETTINGS if "value" in users_of(each)} <= {*fields}


def test_a_default_refuses_nothing_that_is_right_without_it(gradcli: Run) -> None:
    env = {
        "GRADCLI_DIGITS": "5", "GRADCLI_REQUIRE": "sampled",
        "GRADCLI_VERIFY_SECONDS": "9", "GRADCLI_DTYPE": "float64",
    }  # fmt: skip
    for words in (
        ("grad", "x**2", "--sweep", "x=0..1:2"),
        ("grad", "x**2", "x=1", "--order", "2"),
        ("grad", "x**2", "x=1", "--code", "numpy"),
        ("grad", "x**2", "x=1", "--no-verify"),
        ("graph", "x**2", "x=1"),
        ("value", "x**2", "x=1"),
        ("check", "x**2", "--claim", "d/dx = 2*x"),
        ("jacobian", "x**2", "x=1", "--times", "x=1"),
    ):
        assert gradcli(*words, env=env).status == 0, words


def test_what_is_set_is_listed_with_where(gradcli: Run, tmp_path: Path) -> None:
    env = {**written(tmp_path, "seed = 4\n"), "GRADCLI_DTYPE": "float32"}
    lines = gradcli("config", env=env).out.splitlines()
    assert lines[0] == f"file  {tmp_path}/gradcli/config.toml"
    found = {line.split()[0]: line.split()[1:4] for line in lines[2:]}
    assert [*found] == [each.key for each in SETTINGS]
    assert found["seed"] == ["4", "the", "file"]
    assert found["dtype"][:2] == ["float32", "GRADCLI_DTYPE"]
    assert found["device"] == ["auto", "built", "in"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_setting_has_one_line_in_any_terminal(width: int) -> None:
    lines = [line.text for line in _listing({}, width)]
    assert len(lines) == len(SETTINGS) + 2
    assert all(len(line) <= width for line in lines[1:])
    assert any("certified digits" in line for line in lines) == (width >= 80)


def setting(gradcli: Run, folder: Path, *words: str) -> Ended:
    return gradcli("config", *words, env={"XDG_CONFIG_HOME": str(folder)})


@pytest.mark.parametrize(
    "words", [("grad", "--help"), ("run", "-h"), ("help", "E101"), ("--version",)]
)
def test_what_is_set_wrong_stops_no_help(gradcli: Run, words: tuple[str, ...]) -> None:
    ended = gradcli(*words, env={"GRADCLI_VERIFY": "maybe", "GRADCLI_WIDTH": "no"})
    assert (ended.status, ended.err) == (0, "")


def test_colour_and_width_count_where_the_environment_wishes_nothing() -> None:
    try:
        prefer(colour="always", width=50)
        assert wants_colour(False, {})
        assert not wants_colour(True, {"NO_COLOR": "1"})
        assert terminal_width(sys.stdout, {}) == 50
        assert terminal_width(sys.stdout, {"COLUMNS": "70"}) == 70
        prefer(colour="never")
        assert not wants_colour(True, {})
        assert wants_colour(False, {"FORCE_COLOR": "1"})
    finally:
        prefer()


def test_the_theme_that_is_set_is_that_of_text_and_of_pictures(
    gradcli: Run, tmp_path: Path
) -> None:
    env = {"GRADCLI_THEME": "light", "FORCE_COLOR": "1"}
    assert "\x1b[38;5;90m" in gradcli("graph", "x*2", "x=1", env=env).out
    assert "\x1b[1;38;5;124merror" in gradcli("value", "xx y", env=env).err
    none = gradcli("graph", "x*2", "x=1", env={**env, "GRADCLI_THEME": "none"}).out
    assert "\x1b[38" not in none
    assert "\x1b" not in gradcli("graph", "x", "x=1", env={**env, "NO_COLOR": "1"}).out
    assert "\x1b" not in gradcli("graph", "x", "x=1", env={"GRADCLI_THEME": "dark"}).out
    dark = {"GRADCLI_THEME": "dark"}
    assert gradcli("graph", "x", "x=1", "-o", "g.svg", env=dark).status == 0
    assert gradcli("plot", "x^2", "x=0..1", "-o", "p.svg", env=dark).status == 0
    worked = gradcli("explain", "x^2", "x=1", "--html", env=dark).out
    for text in (worked, *((tmp_path / n).read_text() for n in ("g.svg", "p.svg"))):
        assert "#14181e" in text
        assert "prefers-color-scheme" not in text


def test_without_a_file_nothing_is_imported_to_read_one(gradcli: Run) -> None:
    ended = gradcli("value", "x", "x=1", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert "gradcli.cli.options" in ended.err
    assert not any(name in ended.err for name in ("cli.defaults", "tomllib"))


KINDS = ["zeros", "pipe", "folder", "bytes", "brackets", "digits"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_settings_is_told_and_never_waited_for(
    gradcli: Run, tmp_path: Path, kind: str
) -> None:
    env = written(tmp_path, "")
    file = tmp_path / "gradcli" / "config.toml"
    file.unlink()
    if kind == "zeros":
        file.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_bytes({
            "bytes": b"width = \xff", "brackets": b"width = " + b"[" * 200_000,
            "digits": b"width = " + b"9" * 5000,
        }[kind])  # fmt: skip
    for words in (FORMULA, ("config", "digits"), ("config", "digits", "5")):
        ended = gradcli(*words, env=env)
        assert (ended.status, ended.out) == (2, "")
        assert ended.err.startswith("error[E595]: ")


def test_a_file_of_settings_that_is_nothing_sets_nothing(
    gradcli: Run, tmp_path: Path
) -> None:
    file = tmp_path / "gradcli" / "config.toml"
    file.parent.mkdir()
    file.symlink_to(os.devnull)
    env = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert gradcli(*FORMULA, env=env).status == 0
