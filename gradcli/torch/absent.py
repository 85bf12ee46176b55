"""The names that a module offers, and the error for a name that it does not have.

Invariant: the message begins as Python's own, then names what can be used instead.

    raise absent("gradcli.nn", "Lineer", nn.__all__)
    # module 'gradcli.nn' has no attribute 'Lineer': did you mean 'Linear'? ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from ..engine.errors import nearest
from ..engine.raw import Params


def absent(module: str, name: str, offered: Iterable[str]) -> AttributeError:
    """Return the error for an unknown name, which proposes the nearest offered one."""
    hint = f"{nearest(name, offered)}dir({module}) lists the names that there are"
    message = f"module {module!r} has no attribute {name!r}: {hint}"
    return AttributeError(message, name=name)


def offered(*files: ModuleType, kind: type = object) -> Params:
    """Return the public names that files define: their functions and classes.

    Args:
        kind: return only subclasses of this class; `object`: functions too.
    """
    return {
        name: value
        for file in files
        for name, value in vars(file).items()
        if getattr(value, "__module__", None) == file.__name__
        and not name.startswith("_")
        and callable(value)
        and (kind is object or (isinstance(value, type) and issubclass(value, kind)))
    }


def offer(
    module: str,
    *files: ModuleType,
    kind: type = object,
    also: Params | None = None,
    but: Iterable[str] = (),
    homes: Mapping[str, str] | None = None,
    modules: Iterable[str] = (),
) -> None:
    """Let a module, which is being imported, show the names that files define.

    Args:
        kind: as for `offered`.
        also: further names with their values.
        but: names in the files that the module does not show.
        homes: further names, separated by blanks, by the place of the module that has
            them, seen from the package; they are looked up when they are first used.
        modules: modules of the package that are imported when they are first used.
    """
    known = offered(*files, kind=kind) | (also or {})
    later = (homes or {}).items()
    home = {name: place for place, names in later for name in names.split()}
    shown = sorted({*known, *home, *modules} - {*but})
    here = vars(sys.modules[module])

    def find(name: str) -> Any:
        if name not in shown:
            raise absent(module, name, shown)
        place = home.get(name, f".{name}")
        found = import_module(place, here["__package__"])
        here[name] = getattr(found, name) if name in home else found
        return here[name]

    here.update({name: known[name] for name in shown if name in known})
    here.update(__all__=shown, __dir__=shown.copy, __getattr__=find)


class Path(ModuleType):
    """A module under a path of PyTorch's that shows the names of other modules."""

    files: tuple[ModuleType, ...]

    @classmethod
    def at(cls, path: str, *files: ModuleType) -> ModuleType:
        """Return a new module, importable under ``path``, with the names of others."""
        made = sys.modules[path] = cls(path)
        made.files = files
        return made

    def __dir__(self) -> list[str]:
        return sorted(offered(*self.files))

    def __getattr__(self, name: str) -> Any:
        for file in self.files if not name.startswith("__") else ():
            if hasattr(file, name):
                return getattr(file, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
