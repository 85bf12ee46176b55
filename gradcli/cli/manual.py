"""Manual pages for ``man``, made of what ``--help`` says.

Invariant: nothing is said here that a command's own help does not say; user text is
never read as an instruction of the page.

    gradcli help --man ~/.local/share/man/man1
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

import typer

from ..lang.filesystem import replacing
from . import defaults
from .commands import COMMANDS
from .problems import unwritable

_EXAMPLE = re.compile(r"^Example: (.*)$", re.M)


def write(folder: str, group: typer.Context) -> list[str]:
    """Write every page into a folder, which is made if it is not there; return their
    names.

    Raises:
        ProgramError: they cannot be written.
    """
    pages = {"gradcli.1": group_page(group)}
    commands: Any = group.command
    for name in COMMANDS:
        command = commands.get_command(group, name)
        with typer.Context(command, info_name=name, parent=group) as context:
            pages[f"gradcli-{name}.1"] = command_page(name, context)
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in pages.items():
            with replacing(os.path.join(folder, name)) as file:
                file.write(text.encode())
    except OSError as error:
        hint = "name a folder that can be written to: ~/.local/share/man/man1"
        raise unwritable(folder, error, hint) from None
    return list(pages)


def group_page(group: typer.Context) -> str:
    """Return the page of ``gradcli`` itself, with a line for each command."""
    commands: Any = group.command
    about = commands.help or ""
    listed = [
        (
            f"gradcli {name}",
            str(commands.get_command(group, name).get_short_help_str()),
        )
        for name in COMMANDS
    ]
    return _page(
        "gradcli",
        "gradients, Jacobians and autograd graphs in the shell",
        "[OPTIONS] COMMAND [ARGS]...",
        about,
        _records(group),
        [
            _section("COMMANDS", _items(listed)),
            _section("ENVIRONMENT", _items(_variables(None))),
            _section(
                "FILES", _items([("$XDG_CONFIG_HOME/gradcli/config.toml", _FILE)])
            ),
        ],
        [f"gradcli-{name}" for name in COMMANDS],
    )


_FILE = "Defaults of options, which gradcli config shows and sets."


def command_page(name: str, context: Any) -> str:
    """Return the page of a command."""
    command = context.command
    variables = [*_variables(name)]
    more = [_section("ENVIRONMENT", _items(variables))] if variables else []
    return _page(
        f"gradcli {name}",
        str(command.get_short_help_str()).rstrip("."),
        " ".join(command.collect_usage_pieces(context)),
        command.help or "",
        _records(context),
        more,
        ["gradcli"],
    )


def _variables(command: str | None) -> Iterator[tuple[str, str]]:
    """Yield the variables that set what a command does, or all."""
    for each in defaults.SETTINGS:
        if command is None or command in each.commands:
            yield each.variable, f"{each.about[0].upper()}{each.about[1:]}."


def _records(context: Any) -> list[tuple[str, str]]:
    """Return arguments and options, as the help of the command lists them."""
    command = context.command
    found = (each.get_help_record(context) for each in command.get_params(context))
    return [(record[0], " ".join(record[1].split())) for record in found if record]


def _page(
    name: str,
    about: str,
    usage: str,
    text: str,
    options: list[tuple[str, str]],
    more: Iterable[str],
    see: list[str],
) -> str:
    from . import version

    called, release = name.replace(" ", "-"), _plain(version())
    examples = _EXAMPLE.findall(text)
    paragraphs = [
        " ".join(each.split()) for each in _EXAMPLE.sub("", text).split("\n\n")
    ]
    parts = [
        f'.TH {_plain(called).upper()} 1 "{date.today()}" "gradcli {release}"\n',
        _section("NAME", f"{_plain(called)} \\- {_plain(about)}\n"),
        _section("SYNOPSIS", f".B {_plain(name)}\n{_plain(usage)}\n"),
        _section("DESCRIPTION", "\n.PP\n".join(map(_line, filter(None, paragraphs)))),
        _section("OPTIONS", _items(options)),
        *more,
    ]
    if examples:
        shown = "".join(f".PP\n.nf\n{_line(each)}\n.fi\n" for each in examples)
        parts.append(_section("EXAMPLES", shown.removeprefix(".PP\n")))
    pages = ",\n".join(f".BR {_plain(each)} (1)" for each in see)
    parts.append(_section("SEE ALSO", pages.replace(",\n", " ,\n")))
    return "".join(parts)


def _section(title: str, body: str) -> str:
    return f".SH {title}\n" + (body if body.endswith("\n") else body + "\n")


def _items(named: Iterable[tuple[str, str]]) -> str:
    return "".join(f".TP\n.B {_plain(name)}\n{_line(text)}\n" for name, text in named)


def _line(text: str) -> str:
    """Return a line of text that begins no instruction."""
    plain = _plain(text)
    return "\\&" + plain if plain[:1] in (".", "'") else plain


def _plain(text: str) -> str:
    """Return text whose backslashes and minuses are printed as they are."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
