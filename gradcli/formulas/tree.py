"""Trees: expressions of the language that know their value at the point; and names for
a program's values in another language.

Invariants: a tree is its head applied to its arguments; equal trees of one namespace
are one object, so that repeated parts are found by identity. The value decides shapes
and branches, and is written as a constant only under a condition that is kept. No two
values get the same name, none gets a name that the language reserves, and a name of the
program is kept wherever that is possible.

    xp = TreeNamespace(words=True)
    x = xp.named("x", 2.0)
    xp.sin(x) * 2 is xp.sin(x) * 2      # True
    names = Names({"int"}, ascii=True)
    names.take("y"), names.take("y"), names.take("int"), names.take("λ")
    # ("y", "y_2", "int_", "lambda")
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from operator import attrgetter
from typing import Any, Final, Protocol
from unicodedata import name as described
from unicodedata import normalize

import numpy as np

from ..engine.errors import EngineError
from ..ops.basis import put_on

NAME: Final = "a name"
NUMBER: Final = "a number"
FILLED: Final = "one number everywhere"
LITERAL: Final = "an array"
LEAVES: Final = frozenset({NAME, NUMBER, FILLED, LITERAL})
"""Heads of trees that are no calls of functions; their argument is not a tree."""
CALLED: Final = "()"
"""Ending of the head of a function's call, where the name alone is an operator's."""


class TooLong(EngineError):
    """An error: a program would take too many trees, or too large values in them."""


class Unwritable(ValueError):
    """An error: a part of a program cannot be written in the language asked for."""


class Tree:
    """The expression ``head(*args, **params)``; arguments may have trees in tuples."""

    __slots__ = ("args", "head", "params", "serial", "value", "xp")
    shape: tuple[int, ...]
    ndim: int
    size: int
    dtype: Any

    # With this, NumPy's arrays leave every operator to this class.
    __array_ufunc__ = None

    def __init__(
        self, head: str, args: tuple[Any, ...], params: Mapping[str, object],
        value: Any, serial: int, xp: TreeMaker,
    ) -> None:  # fmt: skip
        self.head = head
        self.args = args
        self.params = params
        self.value = value
        self.serial = serial
        self.xp = xp

    @property
    def T(self) -> Tree:
        found: Tree = self.xp.permute(self, tuple(reversed(range(self.ndim))))
        return found

    def reshape(self, *shape: Any) -> Any:
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.xp.reshape(self, tuple(sizes))

    def copy(self, order: str = "C") -> Tree:
        return self

    def astype(self, dtype: object) -> Any:
        return self.xp.to_copy(self, dtype, None)

    @property
    def __gradcli_namespace__(self) -> TreeMaker:
        return self.xp

    # The engine reads bounds to refuse an index, which needs no condition.

    def min(self) -> object:
        return self.value.min()

    def max(self) -> object:
        return self.value.max()

    # Reading plain numbers keeps the condition that the value is equal to them.

    def tolist(self) -> Any:
        return self.xp.read(self).tolist()

    def item(self) -> Any:
        return self.xp.read(self).item()

    def __getitem__(self, index: object) -> Any:
        return self.xp.getitem(self, index)

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return self.xp.decide(self)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.xp.integer(self))

    def __repr__(self) -> str:
        return f"Tree({self.head}, {self.value!r})"

    __hash__ = object.__hash__


class TreeMaker(Protocol):
    """A namespace as the rules that shorten trees see it: it makes trees."""

    zeros_vanish: bool

    def decide(self, tree: Tree) -> bool: ...
    def read(self, tree: Tree) -> Any: ...
    def integer(self, x: Tree) -> int: ...
    def __getattr__(self, name: str) -> Callable[..., Tree]: ...


def constant(tree: Tree) -> bool:
    """Tell whether the tree is a number, or one number everywhere."""
    return tree.head in (NUMBER, FILLED)


def known(tree: Tree) -> bool:
    """Tell whether the tree is a number or an array of numbers, written out."""
    return tree.head in (NUMBER, FILLED, LITERAL)


def parts(value: object) -> Iterator[Tree]:
    """Yield the trees in an argument."""
    if isinstance(value, Tree):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from parts(each)
    elif isinstance(value, slice):
        yield from parts((value.start, value.stop, value.step))


def below(tree: Tree) -> list[Tree]:
    """Return the trees that a tree is made of directly, each as often as it occurs."""
    if tree.head in LEAVES:
        return []
    return [*parts(tree.args), *parts(tuple(tree.params.values()))]


def frozen(value: object) -> Hashable:
    """Return a key that is equal for equal arguments and differs for others."""
    if isinstance(value, Tree):
        return value.serial, Tree
    if isinstance(value, tuple | list):
        return tuple(map(frozen, value))
    if isinstance(value, slice):
        return slice, frozen((value.start, value.stop, value.step))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((key, frozen(each)) for key, each in value.items())
    return type(value), repr(value)


def valued(value: object) -> Any:
    """Return an argument with the trees' values in place of the trees."""
    if isinstance(value, Tree):
        return value.value
    if isinstance(value, tuple | list):
        return type(value)([valued(each) for each in value])
    if isinstance(value, slice):
        return slice(*map(valued, (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {key: valued(each) for key, each in value.items()}
    return value


for _name in ("shape", "ndim", "size", "dtype"):
    setattr(Tree, _name, property(attrgetter(f"value.{_name}")))
put_on(Tree, lambda name: lambda tree, *both: tree.xp.operate(name, *both))


# names of a program's values in another language


class FreshNames:
    """A source of names that hands out each once, and no reserved one."""

    def __init__(self, reserved: Collection[str] = (), ascii: bool = False) -> None:
        self._reserved = frozenset(reserved)
        self._ascii = ascii
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return the wanted name and take it; a reserved name gets an underscore, and
        one that is taken a number."""
        # Python compares names in the form NFKC, in which different ones may be equal.
        name = _plain(wanted) if self._ascii else normalize("NFKC", wanted)
        while name in self._reserved:
            name += "_"
        return self._free(name, name + "_", 1)

    def step(self) -> str:
        """Return the next free name of t1, t2, ..."""
        return self._free("", "t", 0)

    def _free(self, name: str, stem: str, number: int) -> str:
        """Return ``name`` if it is free, else ``stem`` with the next free number."""
        number = max(number, self._last.get(stem, 0))
        while not name or name in self._taken or name in self._reserved:
            number += 1
            name = f"{stem}{number}"
        self._last[stem] = number
        self._taken.add(name)
        return name


def _plain(text: str) -> str:
    letters = "".join(_letter(each) for each in normalize("NFKD", text))
    if not letters.strip("_"):
        letters = f"v{letters}"
    return f"v{letters}" if letters[0].isdigit() else letters


def _letter(each: str) -> str:
    """Return a letter in ASCII: ``theta`` for θ, an empty text for an accent."""
    return each if each.isascii() else greek_letter(each)


def greek_letter(letter: str) -> str:
    """Return a Greek letter's name: ``theta`` for θ, ``Omega`` for Ω; else nothing."""
    words = described(letter, "").lower().split()
    if words[:1] != ["greek"] or "letter" not in words:
        return ""
    name = words[words.index("letter") + 1].replace("lamda", "lambda")
    return name.capitalize() if "capital" in words else name
