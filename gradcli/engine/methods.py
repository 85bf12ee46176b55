"""Where the methods of tensors and nodes are put that other modules define.

Invariant: a method is looked up when it is first used, so that a start costs nothing
for methods nobody calls; what stands below a module need not know it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Methods:
    """The base of `Tensor`; `gradcli.engine.members.install` fills it."""

    __slots__ = ()


class NodeMethods:
    """The base of nodes; `gradcli.engine.members.install` fills it."""

    __slots__ = ()


def named(run: object, name: str, doc: str) -> Any:
    """Return a made function under its name, with its documentation."""
    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


class Late:
    """A method that is found when it is first asked for, and then put in its place."""

    __slots__ = ("find", "home", "name")

    def __init__(self, home: type, name: str, find: Callable[[], Any]) -> None:
        self.home = home
        self.name = name
        self.find = find

    def __get__(self, instance: object, owner: object = None) -> Any:
        found = self.find()
        setattr(self.home, self.name, found)
        return found.__get__(instance, owner)
