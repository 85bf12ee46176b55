"""The pages of the documentation, which lie in `gradcli/documents` as Markdown.

Invariants: a page begins with a heading and a paragraph on its subject. A section
begins with a heading of the second level; the text before its colon, if it is one word,
is the name that the section can be asked for by.

    page("errors").title          # 'Errors'
    section("E101")               # '## E101: a name that nothing defines ...'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

ORDER = (
    "tutorial", "language", "verdicts", "precision", "conventions", "formulas",
    "products", "pictures", "proofs", "settings", "gpu", "errors", "json", "python",
    "pytorch", "sympy",
)  # fmt: skip
"""The pages in the order in which they are listed."""

CONVENTIONS = "<!-- conventions -->"
"""Mark of the place where the page on kinks lists the operations' conventions."""

_FOLDER = files("gradcli") / "documents"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the documentation; its name is what is typed to see it."""

    name: str
    title: str
    about: str
    """Subject of the page, in one sentence."""
    text: str
    """The page as Markdown; `whole` replaces its marks with text from the table."""


@cache
def page(name: str) -> Page:
    """Return the page of this name."""
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    title, about, *_ = text.split("\n\n", 2)
    return Page(name, title.removeprefix("# "), " ".join(about.split()), text)


def whole(name: str) -> str:
    """Return the text of a page, with the conventions of the operations in place of
    their mark."""
    text = page(name).text
    return text.replace(CONVENTIONS, conventions()) if CONVENTIONS in text else text


def conventions() -> str:
    """Return a list in Markdown of the functions with a convention at a kink, or with a
    slope that is not that of their value."""
    from .catalog import catalog

    stated = {
        each.name: each.kink or (each.slope and f"the slope is {each.slope}")
        for each in catalog()
    }
    return "\n".join(
        f"- `{name}`: {stated[name]}" for name in sorted(stated) if stated[name]
    )


def pages() -> tuple[Page, ...]:
    """Return all pages, in the order of `ORDER`."""
    return tuple(map(page, ORDER))


@cache
def sections() -> dict[str, str]:
    """Return the sections named by one word, as ``E101``, as Markdown by name."""
    found: dict[str, str] = {}
    for each in pages():
        for text in parts(each.text)[1:]:
            name = text.splitlines()[0].removeprefix("## ").partition(":")[0]
            if " " not in name:
                found.setdefault(name.strip("`"), text)
    return found


def parts(text: str) -> list[str]:
    """Return a page cut before each heading of the second level."""
    found: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            found.append([])
        found[-1].append(line)
    return ["".join(lines) for lines in found]


def section(name: str) -> str | None:
    """Return the section of a name, whatever its case; None if there is none."""
    known = {each.lower(): text for each, text in sections().items()}
    return known.get(name.lower())


def schemas() -> list[str]:
    """Return the names of the JSON Schema files."""
    folder = _FOLDER / "schemas"
    return sorted(each.name for each in folder.iterdir())


def schema(name: str) -> str:
    """Return the text of a JSON Schema file."""
    return (_FOLDER / "schemas" / name).read_text(encoding="utf-8")


_COMMON = "common.json"
"""Name of the file with the definitions that schemas share."""

_REFERENCE = re.compile(r'"\$ref": "#/\$defs/(\w+)"')


def whole_schema(name: str) -> str:
    """Return a JSON Schema that needs no other file: the definitions that it refers to
    stand in it, and its ``$id`` is an address of its own."""
    import json

    def read(file: str) -> Any:
        return json.loads(schema(file).replace(f'"{_COMMON}#', '"#'))

    whole, shared = read(name), read(_COMMON)["$defs"]
    named, looked_at = [whole], dict[str, object]()
    while named:
        text = json.dumps(named.pop())
        for each in _REFERENCE.findall(text):
            if each not in looked_at:
                looked_at[each] = shared[each]
                named.append(shared[each])
    if looked_at:
        whole["$defs"] = {**looked_at, **whole.get("$defs", {})}
    whole["$id"] = f"urn:gradcli:1:{name}"
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
