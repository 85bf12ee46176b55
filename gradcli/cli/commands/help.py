"""``gradcli help``: the documentation's pages, an error's meaning, a command's options.

Invariant: the text on a command is that of its own ``--help``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from ..commands import COMMANDS
from ..exits import Exit
from ..options import Json
from ..problems import wrong

OF_COMMANDS = "commands"
"""Topic that holds the options of all commands."""


def topics() -> dict[str, str]:
    """Return all topics, each with a line that describes it."""
    from ...answers.pages import pages, schemas, sections

    return {
        **{each.name: each.about for each in pages()},
        OF_COMMANDS: "Every command with all its options.",
        **dict.fromkeys(COMMANDS, ""),
        **dict.fromkeys(sections(), ""),
        **dict.fromkeys(schemas(), ""),
    }


def main(
    context: typer.Context,
    topic: Annotated[
        str | None, {"autocompletion": lambda incomplete: list(topics())}
    ] = None,
    man: str | None = None,
    json: Json = False,
    debug: bool = False,
) -> int:
    """The documentation: a tutorial, the language, errors, verdicts.

    Example: gradcli help E101

    <topic> [TOPIC]: A page, a command, an error's code or a verdict; without one, all
        pages are listed.
    --man FOLDER: Write a manual page for every command into a folder:
        ~/.local/share/man/man1. Then: man gradcli-grad.
    """
    from ...render.jsons import answer
    from ..output import Printer

    group: Any = context.parent or context
    if man is not None:
        return _written(group, topic, man, json)
    text = _listing(group) if topic is None else _text(group, topic)
    printer = Printer()
    if json:
        printer.lines([answer("help", topic=topic, text=text)])
    elif topic in COMMANDS or (topic or "").endswith(".json"):
        from ...render.line import unbroken

        printer.lines(map(unbroken, text.splitlines()))
    else:
        printer.page(text)
    return Exit.DONE


def _written(group: typer.Context, topic: str | None, folder: str, json: bool) -> int:
    """Write the manual pages, tell how many, and return the exit status."""
    from ..manual import write
    from ..output import note

    for name, given in (("a topic", topic is not None), ("--json", json)):
        if given:
            message = f"--man writes all pages into a folder, without {name}"
            raise wrong("E590", message, "leave one of them out")
    count = len(write(folder, group))
    note(f"wrote {count} pages into {folder}")
    return Exit.DONE


def _text(group: typer.Context, topic: str) -> str:
    """Return the text on a topic: Markdown, a command's help or a JSON Schema."""
    from ...answers.pages import ORDER, schema, schemas, section, whole

    if topic in COMMANDS:
        return of_command(group, topic)
    if topic == OF_COMMANDS:
        return of_commands(group)
    if topic in ORDER:
        return whole(topic)
    if topic in schemas():
        return schema(topic)
    found = section(topic)
    if found is None:
        raise _unknown(topic)
    return found


def _unknown(topic: str) -> Exception:
    from ...answers.catalog import find
    from ...lang.suggest import did_you_mean

    hint = "gradcli help lists the topics"
    if find(topic) is not None:
        hint = f"of an operation: gradcli ops {topic}"
    near = did_you_mean(topic, topics())
    return wrong("E597", f"no help on {topic!r}", near or hint)


def _listing(group: typer.Context) -> str:
    """Return the topics as a list in Markdown."""
    from ...answers.pages import pages

    listed = [(each.name, each.about) for each in pages()]
    commands = [(name, _command(group, name).get_short_help_str()) for name in COMMANDS]
    return "\n".join(
        [
            "# Help\n",
            "`gradcli help TOPIC` shows one of these.\n",
            "## Pages\n",
            *_items([*listed, (OF_COMMANDS, topics()[OF_COMMANDS])]),
            "\n## Commands\n",
            *_items(commands),
            "\n## More\n",
            *_items(
                [
                    ("E101", "What an error's code means, and what to do; any code."),
                    ("proved", "What a verdict means; any verdict."),
                    ("grad.json", "The JSON Schema of `gradcli grad --json`."),
                ]
            ),
        ]
    )


def _items(named: Iterable[tuple[str, str]]) -> list[str]:
    return [f"- `{name}`: {about}" for name, about in named]


def of_commands(group: typer.Context) -> str:
    """Return the help of every command, as one page."""
    parts = ["# Commands\n", topics()[OF_COMMANDS] + "\n"]
    for name in COMMANDS:
        text = of_command(group, name)
        parts.append(f"## gradcli {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def of_command(group: typer.Context, name: str) -> str:
    """Return what ``gradcli NAME --help`` prints."""
    command = _command(group, name)
    with typer.Context(command, info_name=name, parent=group) as context:
        return str(command.get_help(context))


def _command(group: typer.Context, name: str) -> Any:
    commands: Any = group.command
    return commands.get_command(group, name)
