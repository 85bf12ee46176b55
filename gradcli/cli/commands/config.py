"""``gradcli config``: defaults of options, where they come from, and their file.

Invariant: the file is only written if it can be read again; its other lines, such as
comments, stay.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .. import defaults
from ..exits import Exit
from ..options import ExpressionCommand, Json
from ..preset import path
from ..problems import unwritable, wrong

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...render.line import Line, Part, Role

MIN_TABLE_COLUMNS: Final = 80
"""Smallest width of a terminal with room for descriptions, in columns."""


class SettingCommand(ExpressionCommand):
    """A command whose arguments are settings, which are written without dashes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for word in args:
            key = word.removeprefix("--")
            if key != word and key in defaults.BY_KEY and not ctx.resilient_parsing:
                hint = f"a setting has no dashes: gradcli config {key}"
                raise wrong("E591", f"no such option: {word}", hint)
        return super().parse_args(ctx, args)


COMMAND = SettingCommand


def _choices(context: typer.Context, incomplete: str) -> list[str]:
    """Return the values that the setting before the cursor can have."""
    setting = defaults.BY_KEY.get(context.params["key"])
    return list(setting.values.choices) if setting else []


def main(
    key: Annotated[
        str | None, {"autocompletion": lambda incomplete: list(defaults.BY_KEY)}
    ] = None,
    value: Annotated[str | None, {"autocompletion": _choices}] = None,
    unset: bool = False,
    json: Json = False,
    debug: bool = False,
) -> int:
    """Defaults of options: show them, set them.

    An option of the command line comes first, then a variable such as GRADCLI_DIGITS,
    then the file, then what is built in. The file is gradcli/config.toml below
    $XDG_CONFIG_HOME, or else below ~/.config.

    Example: gradcli config verify-seconds 20

    <key> [KEY]: A setting; without one, all are listed.
    <value> [VALUE]: What it is from now on; without one, it is shown.
    --unset: Take the setting out of the file.
    """
    from ...lang.excerpt import printable
    from ...render.line import Line
    from ..output import Printer, note

    printer = Printer()
    if key is None:
        if unset:
            raise wrong("E590", "--unset needs a setting", "gradcli config --unset KEY")
        _tell_strangers()
        found = defaults.given()
        printer.lines(
            [_as_json(found)] if json else _listing(found, printer.layout.width)
        )
    elif unset or value is not None:
        if unset and value is not None:
            hint = "leave out the value, or --unset"
            raise wrong("E590", "--unset takes a setting without a value", hint)
        if json:
            raise wrong("E590", "--json shows settings, it sets none", "leave it out")
        setting = defaults.setting_of(key)
        for text in _changed(setting, None if unset else value):
            note(text)
    else:
        setting = defaults.setting_of(key)
        found = defaults.given()
        text = found[key].text if (key := setting.key) in found else setting.built_in
        printer.lines(
            [_as_json(found, key)] if json else [Line((printable(text), "plain"))]
        )
    return Exit.DONE


def _tell_strangers() -> None:
    from ...lang.suggest import did_you_mean
    from ..output import note

    known = [each.variable for each in defaults.SETTINGS]
    for name in defaults.strangers():
        hint = did_you_mean(name, known) or "it changes nothing"
        note(f"note: the variable {name} is no setting: {hint}")


def _listing(found: dict[str, defaults.Given], width: int | None) -> Iterator[Line]:
    """Yield the file, and every setting with its value and its source; in a wide enough
    terminal also its description."""
    from ...lang.excerpt import printable
    from ...render.line import BLANK, Line, aligned

    where = path()
    there = "" if os.path.exists(where) else " (there is none yet)"
    yield Line(("file  ", "dim"), (printable(defaults.shown(where)) + there, "plain"))
    yield BLANK
    rows: list[tuple[Part, ...]] = []
    for each in defaults.SETTINGS:
        given = found.get(each.key)
        text = each.built_in if given is None else printable(given.text)
        source = defaults.BUILT_IN if given is None else "the file"
        if given is not None and given.source == defaults.ENVIRONMENT:
            source = given.place
        role: Role = "dim" if given is None else "number"
        rows.append(
            (
                (each.key, "name"), ("  ", "plain"), (text, role), ("  ", "plain"),
                (source, "dim"), ("  ", "plain"), (each.about, "dim"),
            )
        )  # fmt: skip
    narrow = width is not None and width < MIN_TABLE_COLUMNS
    yield from aligned([row[:5] if narrow else row for row in rows], 5 if narrow else 6)


def _as_json(found: dict[str, defaults.Given], only: str | None = None) -> Line:
    from ...render.jsons import answer

    settings = [
        {
            "key": each.key,
            "value": found[each.key].value if each.key in found else None,
            "source": found[each.key].source if each.key in found else "built in",
            "variable": each.variable,
            "built_in": each.built_in,
        }
        for each in defaults.SETTINGS
        if only in (None, each.key)
    ]
    return answer("config", file=path(), settings=settings)


def _changed(setting: defaults.Setting, text: str | None) -> Iterator[str]:
    """Write the file with a setting's new value, or without it; yield notes on that."""
    where = path()
    before = _content(where)
    key = setting.key.replace("-", "[-_]")
    spelled = rf"\s*[\"']?{key}[\"']?\s*="
    kept = [line for line in before.splitlines() if not re.match(spelled, line)]
    if text is None:
        if len(kept) == len(before.splitlines()):
            yield f"note: {defaults.shown(where)} does not set {setting.key}"
            return
    else:
        value = defaults.read(setting, text, setting.key)
        kept.append(f"{setting.key} = {_toml(value)}")
    after = "".join(f"{line}\n" for line in kept)
    defaults.parsed(after.encode(), where)
    _write(where, after)
    now = kept[-1].replace('"', "") if text is not None else f"without {setting.key}"
    yield f"wrote {defaults.shown(where)}: {now}"
    if os.environ.get(setting.variable):
        yield f"note: {setting.variable} is set, and comes first"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _content(where: str) -> str:
    """Return the text of the file."""
    try:
        return defaults.content(where).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "it is a file of text: mend it, or move it away"
        raise wrong("E598", f"cannot read {where}: {error}", hint) from None


def _write(where: str, text: str) -> None:
    """Replace the file by a new one at once."""
    from ...lang.filesystem import replacing

    try:
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with replacing(where) as file:
            file.write(text.encode())
    except OSError as error:
        hint = "XDG_CONFIG_HOME names another folder for it"
        raise unwritable(where, error, hint) from None
