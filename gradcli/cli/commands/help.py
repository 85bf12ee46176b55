"""``gradcli help``: the documentation's pages, an error's meaning, a command's options.

Invariant: the text on a command is that of its own ``--help``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer
from typer import Argument

from ...answers.catalog import find, known_names
from ...answers.jsons import answer
from ...answers.line import Line, unbroken
from ...answers.pages import (
    ORDER,
    pages,
    schemas,
    section,
    sections,
    whole,
    whole_schema,
)
from ...answers.topics import Topic, best, listed, section_of
from ...answers.topics import topics as topics_of_pages
from ...lang.suggest import did_you_mean
from ..commands import COMMANDS
from ..group import command_of
from ..options import WHOLE, Debug, Json
from ..output import Printer
from ..problems import Exit, wrong
from . import ops

OF_COMMANDS, ABOUT = "commands", "Every command with all its options."
"""Topic that holds the options of all commands, and the line that describes it."""


def topics() -> dict[str, str]:
    """Return all topics, each with a line that describes it."""
    return {
        **{each.name: each.about for each in pages()},
        OF_COMMANDS: ABOUT,
        **dict.fromkeys(COMMANDS, ""),
        **dict.fromkeys(sections(), ""),
        **dict.fromkeys(schemas(), ""),
    }


def main(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[TOPIC]...",
            autocompletion=lambda incomplete: list(topics()),
            help="A page, a command, an error's code, a verdict or an operation; or "
            "words to search for in all of them. Without a topic all pages are listed.",
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """The documentation: a tutorial, the language, errors, verdicts.

    Words that name no topic are searched for in pages, commands, options, functions and
    errors.

    Example: gradcli help E101
    """
    topic = " ".join(words) if words else None
    group: Any = context.parent or context
    text = _listing() if topic is None else _text(group, topic)
    if text is None:
        return ops.main(topic, json)
    printer = Printer()
    if not isinstance(text, str):
        lines = [*text]
        if json:
            text = "\n".join(line.text for line in lines)
            lines = [answer("help", topic=topic, text=text)]
        printer.lines(lines)
    elif json:
        printer.lines([answer("help", topic=topic, text=text)])
    elif topic in COMMANDS or (topic or "").endswith(".json"):
        printer.lines(map(unbroken, text.splitlines()))
    else:
        printer.page(text)
    return Exit.DONE


def _text(group: typer.Context, topic: str) -> str | Iterable[Line] | None:
    """Return the text on a topic: Markdown, a command's help or a JSON Schema; None for
    an operation, which is no page. For other words return lines that list what fits."""
    if topic in COMMANDS:
        return of_command(group, topic, whole=False)
    if topic == OF_COMMANDS:
        return of_commands(group)
    if topic in ORDER:
        return whole(topic)
    if topic in schemas():
        return whole_schema(topic)
    found = section(topic)
    if found is not None:
        return found
    if find(topic) is not None:
        return None
    headed = section_of(topic)
    if headed is not None:
        return headed
    fitting = best([*_of_commands(), *topics_of_pages()], topic)
    if fitting:
        return listed(fitting)
    near = did_you_mean(topic, [*topics(), *known_names()])
    hint = near or "gradcli help lists the topics, gradcli ops the operations"
    raise wrong("E597", f"no help on {topic!r}", hint)


def _of_commands() -> Iterator[Topic]:
    """Yield the commands and their options as topics, an option of several commands
    once."""
    seen: set[tuple[str, str]] = set()
    for name in COMMANDS:
        command = command_of(name)
        about = command.get_short_help_str()
        yield Topic(f"gradcli help {name}", name, about, command.help or "")
        for param in command.params:
            text = " ".join((getattr(param, "help", None) or "").split())
            option = max(param.opts, key=len)
            if option.startswith("--") and text and (option, text) not in seen:
                seen.add((option, text))
                shown = f"{option}: {text}"
                yield Topic(f"gradcli {name} --help-all", option[2:], shown, "", 0.75)


def _listing() -> str:
    parts = {
        "Pages": {**{each.name: each.about for each in pages()}, OF_COMMANDS: ABOUT},
        "Commands": {n: command_of(n).get_short_help_str() for n in COMMANDS},
        "More": {
            "E101": "The meaning of an error, and the way out; any code.",
            "proved": "The meaning of a verdict; any verdict.",
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
