"""What the site has beside the pages of the package: a first page, every command's
options, the pages for contributors, a menu; the pictures that the pages' own commands
write; links where a page names another one; and blocks that copy their commands alone.
"""

from __future__ import annotations

import re
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File, Files
from typer.main import get_command

from gradcli.answers.pages import ORDER, page, parts, schemas, sections, whole
from gradcli.cli.commands.help import OF_COMMANDS, of_commands
from gradcli.cli.group import app

sys.path.append(str(Path(__file__).parents[2]))
from tests.documents.blocks import BLOCK, ROOT, examples, shell

COLUMNS = 80

GROUPS = {
    "Learn": ("index", "tutorial", "pytorch", "sympy"),
    "Use": ("formulas", "products", "pictures", "precision", "proofs", "python",
            "settings"),
    "Look up": ("language", "verdicts", "conventions", "errors", "json", OF_COMMANDS),
    "Extend": ("built", "contributing", "security", "changes"),
}  # fmt: skip
"""The menu: every page, in groups."""

WRITTEN = {
    "built": "gradcli/README.md", "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md", "changes": "CHANGELOG.md",
}  # fmt: skip
"""Pages that lie elsewhere in the repository."""

GROUNDS = ("light", "dark")

DRAWS = re.compile(r"(?:-o|>) (\w+\.(?:svg|html))$")
"""Pattern of a command that writes a picture or a page."""

TYPED = re.compile(r"^```(?:console|pycon)\n(.*?)^```$", re.S | re.M)
"""Pattern of a block with what is typed and what is printed."""

VERDICTS = Path(__file__).with_name("verdicts.html")


def on_config(config: Any) -> Any:
    """The menu, in which every page of `gradcli help` has its place."""
    assert {*ORDER} <= {name for names in GROUPS.values() for name in names}
    titles = {name: page(name).title for name in ORDER}
    titles |= {"index": "Start", "built": "How it is built"}
    config["nav"] = [
        {title: [{titles.get(name, name.title()): f"{name}.md"} for name in names]}
        for title, names in GROUPS.items()
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Pages that are made, and not written, and the pictures."""
    group = get_command(app)
    with typer.Context(group, info_name="gradcli", terminal_width=COLUMNS) as context:
        commands = of_commands(context)
    made = {"index.md": start(), f"{OF_COMMANDS}.md": commands, **pictures()}
    made |= {f"{n}.md": (ROOT / path).read_text() for n, path in WRITTEN.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def start() -> str:
    """The README, whose links to the pages are to those of the site."""
    text = (ROOT / "README.md").read_text().replace("](gradcli/documents/", "](")
    # What is not of the site has no page there.
    return re.sub(r"\[([^\]]+)\]\(tests/[^)]*\)", r"\1", text)


def pictures() -> dict[str, str]:
    """What the commands of the pages draw, on a light ground and on a dark one."""
    found = {}
    for part in (part for name in ORDER for part in parts(page(name).text)):
        commands = [each.command for each in examples(part)]
        names = [match[1] for each in commands if (match := DRAWS.search(each))]
        for theme in GROUNDS if names else ():
            with tempfile.TemporaryDirectory() as folder:
                own = f'gradcli() {{ {sys.executable} -m gradcli "$@"; }}'
                script = "\n".join(["set -e", own, *commands])
                run = shell(
                    script, Path(folder), GRADCLI_THEME=theme, PYTHONPATH=str(ROOT)
                )
                assert run.returncode == 0, run.stderr
                for name in names:
                    text = (Path(folder) / name).read_text()
                    found[f"drawn/{theme}-{name}"] = text
    return found


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page with the pictures behind the blocks that draw them, and with links in
    place of the commands that would show another page."""
    name = page.file.src_uri.removesuffix(".md")
    text = whole(name) if name in ORDER else markdown
    text = BLOCK.sub(_with_pictures, text)
    if name == "verdicts":
        text = text.replace("\n`--require", f"\n{VERDICTS.read_text()}\n`--require", 1)
    return re.sub(r"`gradcli help ([\w.]+)`", _linked, text)


def _with_pictures(block: re.Match[str]) -> str:
    """A block of commands, and what they draw."""
    shown = [block[0]]
    for each in examples(block[0]):
        drawn = DRAWS.search(each.command)
        if drawn is None:
            continue
        if drawn[1].endswith(".svg"):
            images = [f"![{drawn[1]}](drawn/{g}-{drawn[1]}#only-{g})" for g in GROUNDS]
            shown.append("".join(images))
        else:
            shown.append(f"[Open {drawn[1]}](drawn/light-{drawn[1]})")
    return "\n\n".join(shown)


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """The page, whose blocks copy what is typed, without prompts and output."""
    copied = map(_commands, TYPED.finditer(page.markdown))
    opened = r'<div class="language-(?:console|pycon) highlight"'
    return re.sub(opened, lambda m: f'{m[0]} data-copy="{escape(next(copied))}"', html)


def _commands(block: re.Match[str]) -> str:
    """What is typed in a block: at a shell's prompt, or at Python's."""
    lines = block[1].splitlines()
    python = [line[4:] for line in lines if line[:4].strip() in (">>>", "...")]
    return "\n".join(python or [each.command for each in examples(block[0])])


def _linked(named: re.Match[str]) -> str:
    topic = named[1]
    if topic in (*ORDER, OF_COMMANDS):
        return f"[{named[0]}]({topic}.md)"
    if topic in schemas():
        return f"[{named[0]}](schemas/{topic})"
    if topic in sections() and topic in page("verdicts").text:
        return f"[{named[0]}](verdicts.md#{topic})"
    return named[0]
