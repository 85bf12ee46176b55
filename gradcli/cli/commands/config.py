"""``gradcli config``: defaults of options, where they come from, and their file.

Invariant: the file is only written if it can be read again; its other lines, such as
comments, stay.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ...answers.jsons import answer
from ...answers.line import BLANK, Line, aligned
from .. import defaults, settings_path
from ..options import Debug, Json
from ..output import Printer, note
from ..problems import Exit, put, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...answers.line import Line, Part

MIN_TABLE_COLUMNS: Final = 80
"""Smallest width of a terminal with room for descriptions, in columns."""


def _choices(context: typer.Context, incomplete: str) -> list[str]:
    """Return the values that the setting before the cursor can have."""
    setting = defaults.BY_KEY.get(context.params["key"])
    return list(setting.values.choices) if setting else []


def main(
    key: Annotated[
        str | None,
        Argument(
            metavar="[KEY]",
            autocompletion=lambda incomplete: list(defaults.BY_KEY),
            help="A setting; without one, all are listed.",
        ),
    ] = None,
    value: Annotated[
        str | None,
        Argument(
            metavar="[VALUE]",
            autocompletion=_choices,
            help="The new value. Without one the setting is shown.",
        ),
    ] = None,
    unset: Annotated[
        bool,
        Option("--unset", help="Take the setting out of the file."),
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Defaults of options: show them, set them.

    An option on the command line comes first, then a variable such as GRADCLI_DIGITS,
    then the file, then what is built in. The file is gradcli/config.toml below
    $XDG_CONFIG_HOME, or else below ~/.config.

    Example: gradcli config verify-seconds 20
    """
    if key is None and unset:
        raise wrong("E590", "--unset needs a setting", "gradcli config --unset KEY")
    if unset and value is not None:
        hint = "leave out the value, or --unset"
        raise wrong("E590", "--unset takes a setting without a value", hint)
    if json and (unset or value is not None):
        raise wrong("E590", "--json shows settings, it sets none", "leave it out")
    setting = None if key is None else defaults.setting_of(key)
    if setting is not None and (unset or value is not None):
        for text in _changed(setting, value):
            note(text)
        return Exit.DONE
    if setting is None:
        defaults.note_unknown_variables(True)
    printer, found = Printer(), defaults.chosen_defaults()
    if json:
        printer.lines([_as_json(found, setting)])
    elif setting is None:
        printer.lines(_listing(found, printer.layout.width))
    else:
        given = found.get(setting.key)
        text = setting.built_in if given is None else given.text
        printer.lines([Line((text, "plain"))])
    return Exit.DONE


def _listing(
    found: dict[str, defaults.ChosenDefault], width: int | None
) -> Iterator[Line]:
    """Yield the file, and every setting with its value and its source; in a wide enough
    terminal also its description."""
    where = settings_path()
    there = "" if os.path.exists(where) else " (there is none yet)"
    yield Line(("file  ", "dim"), (defaults.shown(where) + there, "plain"))
    yield BLANK
    rows: list[tuple[Part, ...]] = []
    for each in defaults.SETTINGS:
        given = found.get(each.key)
        value: Part = (each.built_in, "dim")
        source = defaults.BUILT_IN
        if given is not None:
            value = given.text, "number"
            by_variable = given.source == defaults.ENVIRONMENT
            source = given.place if by_variable else "the file"
        gap: Part = ("  ", "plain")
        row: tuple[Part, ...] = (each.key, "name"), gap, value, gap, (source, "dim")
        rows.append((*row, gap, (each.about, "dim")))
    narrow = width is not None and width < MIN_TABLE_COLUMNS
    yield from aligned([row[:5] if narrow else row for row in rows], 5 if narrow else 6)


def _as_json(
    found: dict[str, defaults.ChosenDefault], only: defaults.Setting | None
) -> Line:
    settings = []
    for each in defaults.SETTINGS if only is None else (only,):
        given = found.get(each.key)
        settings.append({
            "key": each.key,
            "value": None if given is None else given.value,
            "source": defaults.BUILT_IN if given is None else given.source,
            "variable": each.variable,
            "built_in": each.built_in,
        })  # fmt: skip
    return answer("config", file=settings_path(), settings=settings)


def _changed(setting: defaults.Setting, text: str | None) -> Iterator[str]:
    """Write the file with a setting's new value, or without it; yield notes on that."""
    where = settings_path()
    # Only these two end a line of TOML: other breaks stand in comments.
    text_before = defaults.content(where)
    mark = defaults.MARK if text_before.startswith(defaults.MARK) else ""
    before = re.findall(r"[^\n]*\n|[^\n]+", text_before.removeprefix(mark))
    key = setting.key.replace("-", "[-_]")
    spelled = rf"[ \t]*[\"']?{key}[\"']?[ \t]*="
    kept = [line for line in before if not re.match(spelled, line)]
    if text is None and len(kept) == len(before):
        yield f"note: {defaults.shown(where)} does not set {setting.key}"
        return
    now = f"without {setting.key}"
    if text is not None:
        hint = f"gradcli config {setting.key} shows what it is now"
        value = defaults.read(setting, text, setting.key, hint)
        end = "\r\n" if before and before[0].endswith("\r\n") else "\n"
        if kept and not kept[-1].endswith("\n"):
            kept[-1] += end
        line = f"{setting.key} = {_toml(value)}"
        kept.append(line + end)
        now = line.replace('"', "")
    after = mark + "".join(kept)
    # A setting is taken out even beside others that are wrong.
    (defaults.table_of if text is None else defaults.parsed)(after, where)
    hint = "XDG_CONFIG_HOME names another folder for it"
    put(where, after.encode(), hint, folders=True)
    yield f"wrote {defaults.shown(where)}: {now}"
    if os.environ.get(setting.variable):
        yield f"note: {setting.variable} is set, and comes first"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f'"{value}"' if isinstance(value, str) else repr(value)
