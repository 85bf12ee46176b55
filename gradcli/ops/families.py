"""The families of the table, each imported when one of its names is asked for.

Invariant: a mapping of the table answers as if every family were imported. Iteration
yields the names family by family, whichever was imported first. ``entered.txt`` says
only where a name is looked for first: a name that it lacks, or has in the wrong family,
is looked for in all families.

    OPS["tanh"]         # imports the family "trigonometric", if nobody did before
    [*OPS]              # imports all
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from importlib import import_module
from os.path import dirname, join
from typing import Any, Final, TypeVar

from .locks import forkable

INDEX: Final = join(dirname(__file__), "entered.txt")
"""Path of the file of the names that each family enters, a line for each family:
functions, rows and aliases. A function stands for its own rows too, and ``base.`` for
all rows ``base.overload``. A name ends in ``_`` if it has an in-place form, in ``!`` if
it has no dot and users are not offered it. A family that is part of a module comes
behind a point: ``normalise.grouped``.

``python -m tests.tools.stubs`` writes the names; that of a new family is entered by
hand.
"""

with open(INDEX, encoding="utf-8") as _file:
    NAMES: Final = {key: names.split() for key, names in (
        line.split(":") for line in _file)}  # fmt: skip
"""Names as in `INDEX`, by family."""

FAMILIES: Final = tuple(dict.fromkeys(key.partition(".")[0] for key in NAMES))
"""The modules that enter rows, in the order in which they are listed."""

_HOMES: Final = {
    name.rstrip("_!"): key.partition(".")[0]
    for key, names in NAMES.items()
    for name in names
}
"""Modules by the names that they enter, in the order of listings."""


_PLACES: Final = {name: place for place, name in enumerate(_HOMES)}
"""Positions of names in listings."""


def _listed(name: str) -> str:
    """Return the key of `_HOMES` for a name: the name, its base, or ``base.``."""
    if name in _HOMES:
        return name
    base = name.partition(".")[0]
    return base if base in _HOMES else f"{base}."


def offered_names() -> dict[str, bool]:
    """Return the names of all functions that users are offered, each with whether it
    has an in-place form; nothing is imported."""
    names = [name for each in NAMES.values() for name in each]
    return {
        name.rstrip("_"): name.endswith("_")
        for name in names
        if "." not in name and not name.endswith("!")
    }


Value = TypeVar("Value")


class Table(MutableMapping[str, Value]):
    """A mapping by name that imports a family when one of its names is asked for."""

    __slots__ = ("_sorted", "entered")

    def __init__(self) -> None:
        self.entered: dict[str, Value] = {}
        self._sorted: tuple[list[str], dict[str, list[str]]] | None = None
        _TABLES.append(self)

    def __getitem__(self, name: str) -> Value:
        if name not in self.entered and isinstance(name, str):
            _seek(name)
        return self.entered[name]

    def __setitem__(self, name: str, value: Value) -> None:
        if name not in self.entered:
            self._sorted = None
        self.entered[name] = value

    def __delitem__(self, name: str) -> None:
        self._sorted = None
        del self.entered[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._in_order()[0])

    def overloads(self, base: str) -> list[Value]:
        """Return what is entered as ``base`` or ``base.overload``, in order."""
        return [self.entered[name] for name in self._in_order()[1].get(base, ())]

    def _in_order(self) -> tuple[list[str], dict[str, list[str]]]:
        """Return all names in order, and by base."""
        _import_all()
        if self._sorted is None:
            last, by_base = len(_PLACES), dict[str, list[str]]()
            place = lambda name: _PLACES.get(_listed(name), last)
            order = sorted(self.entered, key=place)
            for name in order:
                by_base.setdefault(name.partition(".")[0], []).append(name)
            self._sorted = order, by_base
        return self._sorted

    def __len__(self) -> int:
        _import_all()
        return len(self.entered)


_TABLES: Final[list[Table[Any]]] = []

_waiting: Final = [*FAMILIES]
"""Families that have not been imported yet."""

_lock: Final = forkable()
"""Lock of ``_waiting``; reentrant, because a family may read the table on import."""

_none: Final[set[str]] = set()
"""Names that no family enters."""


def enters_none(names: Iterable[str]) -> None:
    """Mark names that no family enters, so that looking for one imports nothing; names
    that are known to be entered are left out."""
    _none.update(name for name in names if _listed(name) not in _HOMES)


def _seek(name: str) -> None:
    """Import the family listed for a name; import all if the name is then not found."""
    if name in _none:
        return
    with _lock:
        if _listed(name) in _HOMES:
            _import(_HOMES[_listed(name)])
        if not any(name in table.entered for table in _TABLES):
            _import_all()


def _import_all() -> None:
    with _lock:
        while _waiting:
            _import(_waiting[0])


def _import(family: str) -> None:
    if family in _waiting:
        _waiting.remove(family)
        import_module(f"{__package__}.{family}")
