"""Makes the text of ``ops/entered.txt``, which lists the names that a family enters.

Invariant: functions stand family by family, in the order in which they are entered, and
each is followed by its other spellings.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.public import has_in_place, is_public
from ..ops import ALIASES, FUNCTIONS, OPS, Composite, Op
from ..ops.families import NAMES


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


def listed(name: str) -> str:
    """Return a name with its mark: ``_`` if the function has an in-place form, ``!`` if
    it is a function that users are not offered."""
    if "." not in name and not is_public(name):
        return f"{name}!"
    return f"{name}_" if is_public(name) and has_in_place(name) else name


def texts() -> dict[str, str]:
    """Return the text of the list, by its path in the package."""
    lines = [
        f"{key}: {' '.join(map(listed, in_order(key.rpartition('.')[2])))}\n"
        for key in NAMES
    ]
    return {"ops/entered.txt": "".join(lines)}
