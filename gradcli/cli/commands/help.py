"""``gradcli help``: the documentation's pages, an error's meaning, a command's options;
manual pages for ``man``.

Invariants: the text on a command is that of its own ``--help``, and a manual page adds
nothing to it; its text is never read as an instruction of the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from .. import version
from ..commands import COMMANDS
from ..group import accepted_by, command_of
from ..options import WHOLE, Debug, Json
from ..output import Printer, note
from ..problems import Exit, put, wrong
from . import ops

PURPOSE: Final = "gradients, Jacobians and autograd graphs in the shell"
"""Purpose of ``gradcli`` itself, in one line."""

_SETTINGS: Final = "Defaults of options, which gradcli config shows and sets."
FILES: Final = {"$XDG_CONFIG_HOME/gradcli/config.toml": _SETTINGS}
"""Files that ``gradcli`` reads, each with what it holds."""

_EXAMPLE: Final = re.compile(r"^Example: (.*)$", re.M)

OF_COMMANDS, ABOUT = "commands", "Every command with all its options."
"""Topic that holds the options of all commands, and the line that describes it."""


def topics() -> dict[str, str]:
    """Return all topics, each with a line that describes it."""
    from ...answers.pages import pages, schemas, sections

    return {
        **{each.name: each.about for each in pages()},
        OF_COMMANDS: ABOUT,
        **dict.fromkeys(COMMANDS, ""),
        **dict.fromkeys(sections(), ""),
        **dict.fromkeys(schemas(), ""),
    }


def main(
    context: typer.Context,
    topic: Annotated[
        str | None,
        Argument(
            metavar="[TOPIC]",
            autocompletion=lambda incomplete: list(topics()),
            help="A page, a command, an error's code, a verdict or an operation; "
            "without one, all pages are listed.",
        ),
    ] = None,
    man: Annotated[
        str | None,
        Option(
            "--man",
            metavar="FOLDER",
            help="Write a manual page for every command into a folder: "
            "~/.local/share/man/man1. Then: man gradcli-grad.",
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """The documentation: a tutorial, the language, errors, verdicts.

    Example: gradcli help E101
    """
    from ...answers.jsons import answer

    group: Any = context.parent or context
    if man is not None:
        for name, given in (("a topic", topic is not None), ("--json", json)):
            if given:
                message = f"--man writes all pages into a folder, without {name}"
                raise wrong("E590", message, "leave one of them out")
        note(f"wrote {write(man, group)} pages into {man}")
        return Exit.DONE
    text = _listing() if topic is None else _text(group, topic)
    if text is None:
        return ops.main(topic, json)
    printer = Printer()
    if json:
        printer.lines([answer("help", topic=topic, text=text)])
    elif topic in COMMANDS or (topic or "").endswith(".json"):
        from ...answers.line import unbroken

        printer.lines(map(unbroken, text.splitlines()))
    else:
        printer.page(text)
    return Exit.DONE


def _text(group: typer.Context, topic: str) -> str | None:
    """Return the text on a topic: Markdown, a command's help or a JSON Schema; None for
    an operation, which is no page."""
    from ...answers.pages import ORDER, schema, schemas, section, whole

    if topic in COMMANDS:
        return of_command(group, topic, whole=False)
    if topic == OF_COMMANDS:
        return of_commands(group)
    if topic in ORDER:
        return whole(topic)
    if topic in schemas():
        return schema(topic)
    found = section(topic)
    if found is not None:
        return found
    from ...answers.catalog import find, known_names
    from ...lang.suggest import did_you_mean

    if find(topic) is not None:
        return None
    near = did_you_mean(topic, [*topics(), *known_names()])
    hint = near or "gradcli help lists the topics, gradcli ops the operations"
    raise wrong("E597", f"no help on {topic!r}", hint)


def _listing() -> str:
    from ...answers.pages import pages

    parts = {
        "Pages": {**{each.name: each.about for each in pages()}, OF_COMMANDS: ABOUT},
        "Commands": {n: command_of(n).get_short_help_str() for n in COMMANDS},
        "More": {
            "E101": "What an error's code means, and what to do; any code.",
            "proved": "What a verdict means; any verdict.",
            "grad.json": "The JSON Schema of `gradcli grad --json`.",
        },
    }
    lines = ["# Help", "", "`gradcli help TOPIC` shows one of these."]
    for title, items in parts.items():
        lines += ["", f"## {title}", ""]
        lines += [f"- `{name}`: {about}" for name, about in items.items()]
    return "\n".join(lines)


def of_commands(group: typer.Context) -> str:
    """Return the help of every command, as one page."""
    parts = ["# Commands\n", f"{ABOUT}\n"]
    for name in COMMANDS:
        text = of_command(group, name)
        parts.append(f"## gradcli {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def of_command(group: typer.Context, name: str, whole: bool = True) -> str:
    """Return the help of a command: whole, or in brief, as ``--help`` prints it."""
    command = command_of(name)
    with typer.Context(command, info_name=name, parent=group) as context:
        context.meta[WHOLE] = whole
        return str(command.get_help(context))


def write(folder: str, group: typer.Context) -> int:
    """Write every page into a folder, which is made if needed; return their number."""
    pages = {"gradcli.1": page(group)}
    for name in COMMANDS:
        command = command_of(name)
        with typer.Context(command, info_name=name, parent=group) as context:
            pages[f"gradcli-{name}.1"] = page(context)
    for name, text in pages.items():
        hint = "name a folder that can be written to: ~/.local/share/man/man1"
        put(f"{folder}/{name}", text.encode(), hint, folders=True)
    return len(pages)


def page(context: Any) -> str:
    """Return the manual page of a command, or that of ``gradcli``, which lists all."""
    from ..defaults import SETTINGS

    command = context.command
    whole = isinstance(command, TyperGroup)
    title = context.command_path
    called = _plain(title.replace(" ", "-"))
    about = PURPOSE if whole else str(command.get_short_help_str()).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    text = command.help or ""
    paragraphs = (" ".join(p.split()) for p in _EXAMPLE.sub("", text).split("\n\n"))
    records = (each.get_help_record(context) for each in command.get_params(context))
    options = {each[0]: " ".join(each[1].split()) for each in records if each}
    names = COMMANDS if whole else ()
    variables = {
        each.variable: f"{each.about[0].upper()}{each.about[1:]}."
        for each in SETTINGS
        if whole or each.counts(context.info_name, accepted_by(command))
    }
    examples = "".join(f".PP\n.nf\n{_line(e)}\n.fi\n" for e in _EXAMPLE.findall(text))
    listed = {f"gradcli {n}": command_of(n).get_short_help_str() for n in names}
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
    parts = (f".SH {n}\n{body.rstrip()}\n" for n, body in sections.items() if body)
    return head + "".join(parts)


def _items(texts: Mapping[str, str]) -> str:
    pairs = texts.items()
    return "".join(f".TP\n.B {_plain(name)}\n{_line(text)}\n" for name, text in pairs)


def _line(text: str) -> str:
    """Return a line of text that is not read as an instruction."""
    plain = _plain(text)
    return "\\&" + plain if plain[:1] in (".", "'") else plain


def _plain(text: str) -> str:
    """Return text whose backslashes and minuses are printed unchanged."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
