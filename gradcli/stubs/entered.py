"""Makes the text of `gradcli.ops.entered`, which lists the names that a family enters.

Invariant: functions stand family by family, in the order in which they are entered, and
each is followed by its other spellings.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from ..engine.public import has_in_place, is_public
from ..ops import ALIASES, FUNCTIONS, OPS, Composite, Op
from ..ops.entered import NAMES

DOC = '''"""The names that each family enters; a function stands for its own rows too,
and ``base.`` for all rows of a base. A family that is part of a module stands behind a
point: ``normalise.grouped``.

Written by ``python -m gradcli.stubs``, but for the names of families; of a new one the
key is entered by hand. `gradcli.ops.families` imports a module when one of its names is
asked for.
"""
'''
WIDTH = 88


def in_order(family: str) -> Iterator[str]:
    """Yield a family's names: its functions, each with its other spellings, then its
    other rows; ``base.`` stands for all rows of a base that is no function."""
    for name, entry in FUNCTIONS.items():
        if entry.family == family:
            yield name
            yield from (alias for alias in entry.aliases if ALIASES[alias] == name)
    rows = [op for op in OPS.values() if op.family == family]
    further = [op for op in rows if op.name not in FUNCTIONS]
    others = [op for op in further if getattr(_base(op), "family", "") != family]
    yield from dict.fromkeys(op.name if _base(op) else f"{op.base}." for op in others)


def _base(op: Op) -> Op | Composite | None:
    """Return the function that a row belongs to, or None."""
    return FUNCTIONS.get(op.base)


def words(names: list[str], indent: str) -> str:
    """Return names as a literal of Python: a string of several lines."""
    lines = wrap(" ".join(names), WIDTH - len(indent), break_on_hyphens=False)
    return "\n".join(['"""', *(indent + line for line in lines), indent[4:] + '"""'])


def listed(name: str) -> str:
    """Return a name, followed by ``_`` if the function has an in-place form."""
    return f"{name}_" if is_public(name) and has_in_place(name) else name


def texts() -> dict[str, str]:
    """Return the text of `gradcli.ops.entered`, by its path in the package."""
    families = {key: [*in_order(key.rpartition(".")[2])] for key in NAMES}
    undotted = [n for names in families.values() for n in names if "." not in n]
    offered = [name for name in undotted if is_public(name)]
    text = "\n".join([
        DOC,
        "NAMES = {",
        *(
            f'    "{f}": {words([*map(listed, names)], " " * 8)},'
            for f, names in families.items()
        ),
        "}",
        '"""Names of functions and of rows, other spellings among them; those of an\n'
        'in-place form end in ``_``."""',
        "",
        f"INNER = {words([n for n in undotted if n not in offered], ' ' * 4)}",
        '"""Names without a dot that users are not offered."""',
        "",
    ])  # fmt: skip
    return {"ops/entered.py": text}
