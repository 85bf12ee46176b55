"""Writes `gradcli.ops.entered`: which family enters which names.

Invariant: names stand family by family, in the order in which they are entered, each
function's other spellings behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from ..engine.public import has_in_place, is_public
from ..ops import ALIASES, FAMILIES, FUNCTIONS, OPS

DOC = '''"""The names that each family of the table enters.

Written by ``python -m gradcli.stubs``; `gradcli.ops.families` imports a family when one
of its names is asked for.
"""
'''
WIDTH = 88


def in_order(family: str) -> Iterator[str]:
    """Yield the names of a family's rows and functions, as far as that is known in the
    order in which they are entered."""
    rows = iter([name for name, op in OPS.items() if op.family == family])
    for name, entry in FUNCTIONS.items():
        if entry.family != family:
            continue
        if name in OPS:
            for row in rows:
                yield row
                if row == name:
                    break
        else:
            yield name
        yield from (alias for alias in entry.aliases if ALIASES[alias] == name)
    yield from rows


def words(names: list[str], indent: str) -> str:
    """Return names as a text of several lines."""
    lines = wrap(" ".join(names), WIDTH - len(indent), break_on_hyphens=False)
    return "\n".join(['"""', *(indent + line for line in lines), indent[4:] + '"""'])


def texts() -> dict[str, str]:
    """Return the module's path and its text."""
    families = {family: [*in_order(family)] for family in FAMILIES}
    undotted = [n for names in families.values() for n in names if "." not in n]
    offered = [name for name in undotted if is_public(name)]
    overwriting = [name for name in offered if has_in_place(name)]
    text = "\n".join([
        DOC,
        "NAMES = {",
        *(f'    "{f}": {words(names, " " * 8)},' for f, names in families.items()),
        "}",
        '"""All names, other spellings among them."""',
        "",
        f"INNER = {words([n for n in undotted if n not in offered], ' ' * 4)}",
        '"""Names without a dot that users are not offered."""',
        "",
        f"IN_PLACE = {words(overwriting, ' ' * 4)}",
        '"""Names of functions that have an in-place form."""',
        "",
    ])  # fmt: skip
    return {"ops/entered.py": text}
