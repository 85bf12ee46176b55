"""What the site has beside the pages of the package: a first page, every command's
options, the conventions of the table, links where a page names another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.main import get_command

from gradcli.answers.pages import ORDER, page, schemas, sections, whole
from gradcli.cli.commands.help import OF_COMMANDS, of_commands
from gradcli.cli.group import app

README = Path(__file__).parents[2] / "README.md"
COLUMNS = 80


def on_config(config: Any) -> Any:
    """The pages in the order of `gradcli help`."""
    listed = [{page(name).title: f"{name}.md"} for name in ORDER]
    config["nav"] = [{"Start": "index.md"}, *listed, {"Commands": f"{OF_COMMANDS}.md"}]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages that are made, and not written."""
    group = get_command(app)
    with typer.Context(group, info_name="gradcli", terminal_width=COLUMNS) as context:
        commands = of_commands(context)
    made = {"index.md": start(), f"{OF_COMMANDS}.md": commands}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def start() -> str:
    """The README, whose links to the pages are to those of the site."""
    text = README.read_text().replace("](gradcli/documents/", "](")
    # What is not of the site has no page there.
    return re.sub(r"\[([^\]]+)\]\(tests/[^)]*\)", r"\1", text)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with links in place of the commands that would show another one."""
    name = page.file.src_uri.removesuffix(".md")
    text = whole(name) if name in ORDER else markdown
    return re.sub(r"`gradcli help ([\w.]+)`", _linked, text)


def _linked(named: re.Match[str]) -> str:
    topic = named[1]
    if topic in (*ORDER, OF_COMMANDS):
        return f"[{named[0]}]({topic}.md)"
    if topic in schemas():
        return f"[{named[0]}](schemas/{topic})"
    if topic in sections() and topic in page("verdicts").text:
        return f"[{named[0]}](verdicts.md#{topic})"
    return named[0]
