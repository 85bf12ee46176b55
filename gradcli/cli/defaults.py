"""Defaults that people set once: environment variables and a file of settings.

Invariants: the command line comes first, then `GRADCLI_*` variables, then the file,
then the built-in values. A default never makes a command line wrong that is right
without it. This module is imported only where something was set.

    GRADCLI_DIGITS=30 gradcli grad "sin(x)" x=0.1
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from stat import S_ISREG
from typing import Any, Final, NamedTuple

from ..answers.line import THEMES
from ..lang.errors import ProgramError
from ..lang.suggest import did_you_mean, nearest
from . import PREFIX, settings_path
from .limits import MAX_DIGITS, MAX_SETTABLE_SECONDS, bytes_of
from .problems import wrong

MIN_COLUMNS: Final = 20
MAX_COLUMNS: Final = 1000

ENVIRONMENT, FILE, BUILT_IN = "environment", "file", "built in"
"""Sources of a value."""


class SettingKind(NamedTuple):
    """A kind of values: its description, and the function that reads a text as one.

    ``read`` raises ValueError, LookupError or ProgramError for a text of another kind;
    ``choices`` are the values, if they are words.
    """

    wanted: str
    read: Callable[[str], object]
    choices: tuple[str, ...] = ()


def _within(value: float, least: float, most: float) -> float:
    if not least <= value <= most:
        raise ValueError
    return value


def _whole(least: int, most: int) -> SettingKind:
    wanted = f"an integer from {least:,} to {most:,}"
    return SettingKind(
        wanted, lambda t: _within(int(t) if t.isdecimal() else -1, least, most)
    )


def _words(*words: str) -> SettingKind:
    known = {word: word for word in words}
    return SettingKind(f"one of {', '.join(words)}", lambda t: known[t.lower()], words)


_SECONDS: Final = SettingKind(
    f"a number of seconds from 0 to {MAX_SETTABLE_SECONDS:g}",
    lambda text: _within(float(text), 0, MAX_SETTABLE_SECONDS),
)
_SIZE: Final = SettingKind(
    "a size in bytes, such as 500MB or 2GiB", lambda text: (bytes_of(text), text)[1]
)
_SWITCHES: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_SWITCH: Final = SettingKind(
    "true or false", lambda text: _SWITCHES[text.lower()], ("true", "false")
)


class Setting(NamedTuple):
    """An option that can have a default, and where the default is used.

    ``commands`` use the default: none of them for the looks of output, which all have;
    with None it is every command that takes the option. The default is not used beside
    the options of ``unless``, and by a command of ``beside`` only with the option named
    there. ``inverted`` says that the option says the opposite.
    """

    key: str
    about: str
    values: SettingKind
    built_in: str
    commands: tuple[str, ...] | None = None
    unless: tuple[str, ...] = ()
    beside: Mapping[str, str] = {}
    parameter: str = ""
    inverted: bool = False

    @property
    def name(self) -> str:
        """Parameter that the setting is a default of."""
        return self.parameter or self.key.replace("-", "_")

    @property
    def option(self) -> str:
        """The option as it is typed."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Environment variable of the setting."""
        return PREFIX + self.key.upper().replace("-", "_")

    def counts(self, command: str, accepted: Collection[str]) -> bool:
        """Return whether a command, with the options that it takes by their parameters'
        names, uses the default."""
        if self.commands is None:
            return self.name in accepted
        return command in self.commands

    def fits(self, command: str, typed: Collection[str]) -> bool:
        """Return whether the default may stand beside the options that were typed."""
        beside = self.beside.get(command) in (None, *typed)
        return beside and not {*self.unless} & {*typed}


_DERIVATIVES: Final = ("grad", "jacobian", "hessian")
_MANY: Final = ("--table", "--sweep")

SETTINGS: Final = (
    Setting("digits", "certified digits that grad adds",
            _whole(1, MAX_DIGITS), "none",
            unless=(*_MANY, "--order", "--code", "--symbolic", "--latex")),
    Setting("dtype", "the precision of all numbers",
            _words("float64", "float32"), "float64"),
    Setting("device", "where to compute", _words("auto", "cpu", "cuda"), "auto"),
    Setting("precision", "digits of shown numbers",
            _whole(1, MAX_DIGITS), "none"),
    Setting("seed", "the seed of random numbers", _whole(0, 2**32 - 1), "0"),
    Setting("strict", "whether a missing value is an error", _SWITCH, "false"),
    Setting("draw", "whether missing values are drawn", _SWITCH, "false",
            unless=("--strict",)),
    Setting("verify", "whether results are verified",
            _SWITCH, "true", (*_DERIVATIVES, "graph", "plot"), ("--require",),
            parameter="no_verify", inverted=True),
    Setting("require", "the weakest verdict with exit status 0",
            _words("proved", "certified", "sampled", "finite"), "none",
            unless=("--no-verify",)),
    Setting("verify-seconds", "seconds for verifying",
            _SECONDS, "5",
            (*_DERIVATIVES, "check", "kinks", "verify", "run"),
            (*_MANY, "--no-verify"), {"run": "--verify"}),
    Setting("max-seconds", "seconds of processor time for a run", _SECONDS, "8"),
    Setting("max-memory", "memory for a run", _SIZE, "450MB"),
    Setting("max-program", "the longest text of a program", _SIZE, "2MB"),
    Setting("colour", "colours; NO_COLOR comes first",
            _words("auto", "always", "never"), "auto", ()),
    Setting("theme", "colours for a light or dark ground",
            _words(*THEMES), "auto", ()),
    Setting("width", "columns; COLUMNS comes first",
            _whole(MIN_COLUMNS, MAX_COLUMNS), "the terminal's", ()),
)  # fmt: skip
"""All settings, in the order in which they are listed."""

BY_KEY: Final = {each.key: each for each in SETTINGS}


class ChosenDefault(NamedTuple):
    """A default that somebody set: its source, and the variable or the file for
    messages."""

    setting: Setting
    value: object
    text: str
    source: str
    place: str


def chosen_defaults() -> dict[str, ChosenDefault]:
    """Return the defaults that are set, by key."""
    where = settings_path()
    found = parsed(content(where), where)
    for each in SETTINGS:
        text = os.environ.get(each.variable, "")
        if text:
            hint = f"give the variable another value, or unset {each.variable}"
            value = read(each, text, each.variable, hint)
            found[each.key] = ChosenDefault(
                each, value, text, ENVIRONMENT, each.variable
            )
    return found


def setting_of(key: str, where: str = "") -> Setting:
    """Return the setting of a key, or raise the error for one that there is not."""
    found = BY_KEY.get(key.lower().replace("_", "-"))
    if found is not None:
        return found
    hint = did_you_mean(key, BY_KEY) or f"the settings are {', '.join(BY_KEY)}"
    name, equals, value = key.partition("=")
    if equals and name in BY_KEY and not where:
        hint = f"write it as two words: gradcli config {name} {value}"
    raise wrong("E591", f"{where}there is no setting {key!r}", hint)


def read(setting: Setting, text: str, place: str, hint: str) -> object:
    """Return the value that a text means for a setting."""
    try:
        return setting.values.read(text.strip())
    except (ValueError, LookupError, ProgramError):
        message = f"{place}: {text!r} is not {setting.values.wanted}"
        raise wrong("E595", message, hint) from None


MARK = "\ufeff"
"""Mark of the encoding, with which some editors begin a file."""


def shown(where: str) -> str:
    """Return a path with ``~`` for the home folder."""
    home = os.path.expanduser("~")
    inside = where.startswith(home + os.sep)
    return "~" + where[len(home) :] if inside else where


def content(where: str) -> str:
    """Return the text of the file of settings with its line ends; nothing if there is
    none. What is no regular file is refused, because reading it might never end."""
    reason = "it is no file"
    try:
        if os.path.realpath(where) == os.devnull:
            return ""
        if not os.path.exists(where) or S_ISREG(os.stat(where).st_mode):
            with open(where, "rb") as file:
                return file.read().decode()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
    hint = "make it readable, or move it away"
    raise wrong("E595", f"cannot read {shown(where)}: {reason}", hint)


def table_of(text: str, where: str) -> dict[str, object]:
    """Return what a file's text sets, whatever it is."""
    import tomllib

    try:
        return tomllib.loads(text.removeprefix(MARK))
    except Exception as error:  # a reader of TOML raises more than its own errors
        hint = 'a line is KEY = VALUE, and a word has quotes: colour = "never"'
        raise wrong("E595", f"{shown(where)} is not TOML: {error}", hint) from error


def parsed(text: str, where: str) -> dict[str, ChosenDefault]:
    """Return the settings in a file's text, by key."""
    table, where = table_of(text, where), shown(where)
    found = {}
    for key, value in table.items():
        setting = setting_of(key, f"{where}: ")
        try:
            text = str(value).lower() if isinstance(value, bool) else str(value)
        except ValueError:
            text = "a number of thousands of digits"
        hint = f"gradcli config --unset {setting.key} takes it out"
        made = read(setting, text, f"{where}: {key}", hint)
        found[setting.key] = ChosenDefault(setting, made, text, FILE, where)
    return found


_applied: Final[list[ChosenDefault]] = []
"""Defaults that are used for options of the command that runs."""


def for_command(
    command: str, typed: Collection[str], accepted: Collection[str]
) -> dict[str, object]:
    """Return the defaults of a command's options, by parameter: of those that it
    accepts, by their parameters' names, and that fit what was typed, by long names."""
    _note_unused(command, typed, accepted)
    if command != "config":  # which notes all of them
        note_unknown_variables(False)
    if not any(each.counts(command, accepted) for each in SETTINGS):
        return {}
    counting = [
        each
        for each in chosen_defaults().values()
        if each.setting.counts(command, accepted) and each.setting.fits(command, typed)
    ]
    _applied[:] = [each for each in counting if each.setting.option not in typed]
    return {
        each.setting.name: not each.value if each.setting.inverted else each.value
        for each in counting
    }


def _note_unused(
    command: str, typed: Collection[str], accepted: Collection[str]
) -> None:
    """Note that a requirement which is set does not count for a command on programs, or
    beside what was typed."""
    if "max_program" not in accepted or "--require" in typed:
        return
    required = chosen_defaults().get("require")
    if required is None:
        return
    setting, text = required.setting, f"require = {required.text}"
    if not setting.counts(command, accepted):
        reason = f"gradcli {command} gives no verdict"
    elif not setting.fits(command, typed):
        reason = f"{next(iter({*setting.unless} & {*typed}))} was typed"
    else:
        return
    from .output import note

    note(f"note: {text}, set by {required.place}, has no effect: {reason}")


def note_unknown_variables(all_of_them: bool) -> None:
    """Note variables that look like settings and are none: those whose name is almost
    that of a setting, or all."""
    from .output import note

    for name in sorted(name for name in os.environ if name.startswith(PREFIX)):
        key = name.removeprefix(PREFIX).lower().replace("_", "-")
        near = None if key in BY_KEY else nearest(key, BY_KEY)
        if near is not None:
            hint = f"did you mean {BY_KEY[near].variable}?"
            note(f"note: the variable {name} is no setting: {hint}")
        elif all_of_them and key not in BY_KEY:
            note(f"note: the variable {name} is no setting: it changes nothing")


def explained(text: str) -> list[str]:
    """Return notes on the settings that an error message is about and nobody typed."""
    return [
        f"note: {each.setting.key} = {each.text} is set by {each.place}"
        for each in _applied
        if each.setting.option in text or each.setting.key in text.split()
    ]


def unverified() -> bool:
    """Return True if a default says that results are not verified."""
    found = chosen_defaults().get("verify")
    return found is not None and not found.value


def looks() -> Mapping[str, Any]:
    """Return the settings of how output looks, by key."""
    return {
        each.setting.key: each.value
        for each in chosen_defaults().values()
        if each.setting.commands == ()
    }
