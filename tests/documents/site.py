"""The site: the pages of the package, every command's options, the pages for
contributors, and what the pages' own commands draw, as HTML by Sphinx.

    python -m tests.documents.site build/site

Invariant: a page of the site is the page of `gradcli help`. It has, beside that, links
where it names another page, and pictures behind the blocks that draw them.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.main import get_command

from gradcli.answers.pages import (
    ORDER,
    page,
    parts,
    schemas,
    sections,
    whole,
    whole_schema,
)
from gradcli.cli.commands.help import OF_COMMANDS, of_commands
from gradcli.cli.group import app

from .blocks import BLOCK, ROOT, examples, shell

COLUMNS = 80

GROUPS = {
    "Learn": ("tutorial", "pytorch", "sympy"),
    "Use": ("formulas", "products", "pictures", "precision", "proofs", "python",
            "settings", "gpu"),
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

IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
"""Pattern of a picture in the README."""

VERDICTS = Path(__file__).with_name("verdicts.html")

SETTINGS = r"""
project = "gradcli"
html_title = "gradcli"
author = "The gradcli maintainers"
extensions = ["myst_parser", "sphinx_copybutton"]
html_theme = "furo"
html_copy_source = False
html_show_copyright = False
html_extra_path = ["extra"]
html_domain_indices = html_use_index = False
highlight_language = "none"
myst_heading_anchors = 3
# Of a block with prompts what is typed is copied, without them and without the output.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "END"
"""
"""Settings of Sphinx."""


def build(folder: Path) -> int:
    """Write the site to a folder; a warning is an error. Return Sphinx's status."""
    from sphinx.cmd.build import main

    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / "pages"
        write_pages(source)
        words = ["-W", "--keep-going", "-q", "-b", "html", "-d", f"{place}/trees"]
        return main([*words, str(source), str(folder)])


def write_pages(source: Path) -> None:
    """Write what Sphinx reads: its settings, the pages, and what they show."""
    assert {*ORDER} <= {name for names in GROUPS.values() for name in names}
    extra = source / "extra"
    extra.mkdir(parents=True)
    (source / "conf.py").write_text(SETTINGS)
    for name, text in pages():
        (source / f"{name}.md").write_text(text)
    for path in IMAGE.findall((ROOT / "README.md").read_text()):
        target = source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    (extra / "schemas").mkdir()
    for name in schemas():
        (extra / "schemas" / name).write_text(whole_schema(name))
    (extra / "drawn").mkdir()
    for name, text in pictures().items():
        (extra / "drawn" / name).write_text(text)


def pages() -> Iterator[tuple[str, str]]:
    """Yield every page by its name, with links and pictures."""
    group = get_command(app)
    with typer.Context(group, info_name="gradcli", terminal_width=COLUMNS) as context:
        commands = of_commands(context)
    yield "index", start() + menu()
    yield OF_COMMANDS, commands
    for name, path in WRITTEN.items():
        yield name, linked((ROOT / path).read_text())
    for name in ORDER:
        text = BLOCK.sub(_with_pictures, whole(name))
        if name == "verdicts":
            text = text.replace("\n## ", f"\n{VERDICTS.read_text()}\n## ", 1)
        yield name, linked(text)


def start() -> str:
    """The README, whose links to the pages are to those of the site."""
    text = (ROOT / "README.md").read_text()
    text = re.sub(r"(?<!\!)(\[[^\]]+\]\()gradcli/documents/", r"\1", text)
    # What is not of the site has no page there.
    return linked(
        re.sub(r"(?<!\!)\[([^\]]+)\]\((?:tests|samples)/[^)]*\)", r"\1", text)
    )


def menu() -> str:
    """The menu beside each page."""
    found = []
    for title, names in GROUPS.items():
        lines = ["```{toctree}", ":hidden:", f":caption: {title}", "", *names, "```"]
        found.append("\n".join(lines))
    return "\n\n" + "\n\n".join(found) + "\n"


def pictures() -> dict[str, str]:
    """What the commands of the pages draw, on a light ground and on a dark one."""
    drawn = {}
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
                    drawn[f"{theme}-{name}"] = text
    return drawn


def _with_pictures(block: re.Match[str]) -> str:
    """A block of commands, and what they draw."""
    shown = [block[0]]
    for each in examples(block[0]):
        drawn = DRAWS.search(each.command)
        if drawn is None:
            continue
        if drawn[1].endswith(".svg"):
            shown += [
                f'<img class="only-{g}" src="drawn/{g}-{drawn[1]}" alt="{drawn[1]}">'
                for g in GROUNDS
            ]
        else:
            link = f'<a href="drawn/light-{drawn[1]}">Open {drawn[1]}</a>'
            shown.append(f"<p>{link}</p>")
    return "\n\n".join(shown) + "\n"


def linked(text: str) -> str:
    """The text with links in place of the commands that would show another page."""
    return re.sub(r"`gradcli help ([\w.]+)`", _link, text)


def _link(named: re.Match[str]) -> str:
    topic = named[1]
    if topic in (*ORDER, OF_COMMANDS):
        return f"[{named[0]}]({topic}.md)"
    if topic in schemas():
        return f'<a href="schemas/{topic}"><code>{named[0][1:-1]}</code></a>'
    if topic in sections() and topic in page("verdicts").text:
        return f"[{named[0]}](verdicts.md#{topic})"
    return named[0]


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
