"""Where the methods of tensors are put that come from the table.

Invariant: a method is the public function of its name with the tensor in front; it is
looked up when it is first used, so that a start costs nothing for methods nobody calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Methods:
    """The base of `Tensor`; `gradcli.engine.members.install` fills it."""

    __slots__ = ()


class Late:
    """A method that is found when it is first asked for, and then put in its place."""

    __slots__ = ("find", "name")

    def __init__(self, name: str, find: Callable[[], Any]) -> None:
        self.name = name
        self.find = find

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        found = self.find()
        setattr(Methods, self.name, found)
        return found.__get__(instance, owner)
