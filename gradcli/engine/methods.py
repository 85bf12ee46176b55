"""Base classes into which other modules put methods of tensors and of nodes.

Invariant: a method's module is imported when it is first used, so that methods nobody
calls cost nothing at the start, and the classes need not import modules above them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Methods:
    """The base of `Tensor`; `gradcli.engine.operators.install` fills it."""

    __slots__ = ()


class NodeMethods:
    """The base of nodes; `gradcli.engine.operators.install` fills it."""

    __slots__ = ()


def named(run: object, name: str, doc: str) -> Any:
    """Return the function ``run`` with a name and a docstring set on it."""
    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


class _Late:
    """A descriptor that finds a method on its first use, and is replaced by it."""

    __slots__ = ("find", "home", "name")

    def __init__(self, home: type, name: str, find: Callable[[], Any]) -> None:
        self.home = home
        self.name = name
        self.find = find

    def __get__(self, instance: object, owner: object = None) -> Any:
        found = self.find()
        setattr(self.home, self.name, found)
        return found.__get__(instance, owner)


def late(home: type, name: str, find: Callable[[], Any]) -> None:
    """Give a class a method that ``find`` returns, asked when it is first used."""
    setattr(home, name, _Late(home, name, find))
