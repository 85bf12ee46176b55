"""Manual pages for ``man``, made from the text of ``--help``.

Invariant: nothing is added to a command's own help; text is never read as an
instruction of the page.

    gradcli help --man ~/.local/share/man/man1
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

import typer
from typer.core import TyperGroup

from ..lang.filesystem import replacing
from . import defaults, version
from .commands import COMMANDS
from .options import accepted_by
from .problems import unwritable

ABOUT: Final = "gradients, Jacobians and autograd graphs in the shell"
"""Purpose of ``gradcli`` itself, in one line."""

FILES: Final = {
    "$XDG_CONFIG_HOME/gradcli/config.toml": (
        "Defaults of options, which gradcli config shows and sets."
    )
}
"""Files that ``gradcli`` reads, each with what it holds."""

_EXAMPLE: Final = re.compile(r"^Example: (.*)$", re.M)


def write(folder: str, group: typer.Context) -> list[str]:
    """Write every page into a folder, which is made if needed; return the files' names.

    Raises:
        ProgramError: a page cannot be written.
    """
    commands: Any = group.command
    pages = {"gradcli.1": page(group)}
    for name in COMMANDS:
        command = commands.get_command(group, name)
        with typer.Context(command, info_name=name, parent=group) as context:
            pages[f"gradcli-{name}.1"] = page(context)
    try:
        os.makedirs(folder, exist_ok=True)
        for name, text in pages.items():
            with replacing(os.path.join(folder, name)) as file:
                file.write(text.encode())
    except OSError as error:
        hint = "name a folder that can be written to: ~/.local/share/man/man1"
        raise unwritable(folder, error, hint) from None
    return list(pages)


def page(context: Any) -> str:
    """Return the page of a command, or that of ``gradcli`` with a line for each
    command."""
    command = context.command
    whole = isinstance(command, TyperGroup)
    title = context.command_path
    called = _plain(title.replace(" ", "-"))
    about = ABOUT if whole else str(command.get_short_help_str()).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    text = command.help or ""
    paragraphs = (" ".join(p.split()) for p in _EXAMPLE.sub("", text).split("\n\n"))
    records = (each.get_help_record(context) for each in command.get_params(context))
    options = {each[0]: " ".join(each[1].split()) for each in records if each}
    names = COMMANDS if whole else ()
    subcommands = {name: command.get_command(context, name) for name in names}
    variables = {
        each.variable: f"{each.about[0].upper()}{each.about[1:]}."
        for each in defaults.SETTINGS
        if whole or each.counts(context.info_name, accepted_by(command))
    }
    examples = "".join(f".PP\n.nf\n{_line(e)}\n.fi\n" for e in _EXAMPLE.findall(text))
    listed = {f"gradcli {n}": c.get_short_help_str() for n, c in subcommands.items()}
    others = [f"gradcli-{name}" for name in names] or ["gradcli"]
    sections = {
        "NAME": f"{called} \\- {_plain(about)}",
        "SYNOPSIS": f".B {_plain(title)}\n{_plain(usage)}",
        "DESCRIPTION": "\n.PP\n".join(map(_line, filter(None, paragraphs))),
        "OPTIONS": _items(options),
        "COMMANDS": _items(listed),
        "ENVIRONMENT": _items(variables),
        "FILES": _items(FILES if whole else {}),
        "EXAMPLES": examples.removeprefix(".PP\n"),
        "SEE ALSO": " ,\n".join(f".BR {_plain(each)} (1)" for each in others),
    }
    head = f'.TH {called.upper()} 1 "{date.today()}" "gradcli {_plain(version())}"\n'
    return head + "".join(
        f".SH {name}\n{body.rstrip()}\n" for name, body in sections.items() if body
    )


def _items(texts: Mapping[str, str]) -> str:
    """Return a list of names, each with a text."""
    return "".join(
        f".TP\n.B {_plain(name)}\n{_line(text)}\n" for name, text in texts.items()
    )


def _line(text: str) -> str:
    """Return a line of text that is not read as an instruction."""
    plain = _plain(text)
    return "\\&" + plain if plain[:1] in (".", "'") else plain


def _plain(text: str) -> str:
    """Return text whose backslashes and minuses are printed unchanged."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
