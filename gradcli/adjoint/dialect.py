"""How a tree is written: operators and names alike, calls as a dialect spells them.

Invariant: a dialect is a table from heads to spellings and a rule for all others;
precedence is kept here, once.

    LANGUAGE.text(xp.sin(x) * 2, {x.serial: Text("x")})       # 2 * sin(x)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from typing import Any, Final

import numpy as np

from ..views.spelling import CHOICE, PRODUCT, SIGN, SUM, Text
from .tree import CALLED, FILLED, LITERAL, NAME, NUMBER, Tree

_OPERATORS: Final[Mapping[str, Callable[..., Text]]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "div": operator.truediv, "pow": operator.pow, "neg": operator.neg,
    "matmul": lambda a, b: Text(f"{a.within(PRODUCT)} @ {b.within(SIGN)}", PRODUCT),
}  # fmt: skip
_SIGNS: Final = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}

Spelling = Callable[..., str]

PLAIN: Final[Mapping[float, str]] = {0: "zeros", 1: "ones"}
"""Constructors of arrays of one number."""


class Unwritable(ValueError):
    """The dialect has no word for a part of the program."""


class Dialect:
    """One way to write trees.

    Args:
        words: per head, a function of its arguments' texts and its parameters' texts
            by name, for what ``call`` would spell wrongly.
    """

    def __init__(self, words: Mapping[str, Spelling]) -> None:
        self.words = words

    # what dialects differ in

    def call(self, name: str, args: list[Any], params: dict[str, str]) -> str:
        """A function's call."""
        raise NotImplementedError

    def number(self, value: float) -> str:
        """A number that is not finite."""
        raise NotImplementedError

    def filled(self, value: Any, shape: tuple[int, ...]) -> str:
        """An array of one number, or truth value."""
        raise NotImplementedError

    def literal(self, array: Any) -> Text:
        """An array's numbers or truth values."""
        raise NotImplementedError

    # what they have in common

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        """The tree's text, from those of its parts."""
        head = tree.head
        if head == NAME:
            return Text(tree.args[0])
        if head == NUMBER:
            return self.plain(tree.args[0])
        if head == FILLED:
            return Text(self.filled(tree.args[0], tree.shape))
        if head == LITERAL:
            return self.literal(tree.value)
        if head == "neg" and tree.args[0].head in ("mul", "div"):
            product = texts[tree.args[0].serial]
            return Text(f"-{product.within(PRODUCT)}", min(product.rank, SIGN))
        if head in _OPERATORS:
            return _OPERATORS[head](*[texts[t.serial] for t in tree.args])
        if head in _SIGNS:
            a, b = (texts[t.serial].within(SUM) for t in tree.args)
            return Text(f"{a} {_SIGNS[head]} {b}", CHOICE)
        return Text(self._call(tree, texts))

    def _call(self, tree: Tree, texts: Mapping[int, Text]) -> str:
        if tree.head == "getitem":
            x, index = tree.args
            return f"{_primary(texts[x.serial])}[{self.index(index, texts)}]"
        args = [self.argument(a, texts) for a in tree.args]
        params = {k: self.argument(v, texts) for k, v in tree.params.items()}
        first = tree.args[0] if tree.args else None
        if isinstance(first, Tree):
            args[0] = Receiver(args[0], _primary(texts[first.serial]))
        name = tree.head.removesuffix(CALLED)
        word = self.words.get(name)
        if word is None:
            return self.call(name, args, params)
        return word(*args, **params)

    def argument(self, value: Any, texts: Mapping[int, Text]) -> str:
        """An argument of a call: a tree, a number, a text, a list of these."""
        if isinstance(value, Tree):
            return texts[value.serial].written
        if isinstance(value, np.ndarray):
            return self.literal(value).written
        if isinstance(value, tuple | list):
            inside = ", ".join([self.argument(v, texts) for v in value])
            return f"[{inside}]"
        if isinstance(value, bool | str) or value is None:
            return repr(value)
        return self.plain(value).written

    def index(self, value: Any, texts: Mapping[int, Text]) -> str:
        """What stands between the brackets of an index."""
        items = list(value) if isinstance(value, tuple) else [value]
        while len(items) > 1 and items[-1] is ...:
            items.pop()
        return ", ".join([self._item(item, texts) for item in items])

    def _item(self, item: Any, texts: Mapping[int, Text]) -> str:
        if item is ...:
            return "..."
        if isinstance(item, Tree) and item.head == LITERAL and item.ndim == 1:
            item = item.value
        if isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind != "b":
            return self.nested(item)
        if isinstance(item, slice):
            start = (
                None if isinstance(item.start, int) and not item.start else item.start
            )
            ends = [self._end(e, texts) for e in (start, item.stop)]
            step = item.step not in (None, 1)
            return ":".join([*ends, self._end(item.step, texts)] if step else ends)
        return self.argument(item, texts)

    def _end(self, value: Any, texts: Mapping[int, Text]) -> str:
        return "" if value is None else self.argument(value, texts)

    def nested(self, array: Any) -> str:
        """An array's numbers as a nested list."""
        if array.ndim == 0:
            return self.plain(array.item()).written
        return f"[{', '.join([self.nested(part) for part in array])}]"

    def plain(self, value: Any) -> Text:
        """A number by itself."""
        plain = value.item() if hasattr(value, "item") else value
        if isinstance(plain, float) and not isfinite(plain):
            word = self.number(nan_or_inf(plain))
            return Text(f"-{word}", SIGN) if plain == -inf else Text(word)
        if isinstance(plain, float) and plain == int(plain) and abs(plain) < 1e15:
            plain = int(plain)
        written = repr(plain)
        return Text(written, SIGN) if written.startswith("-") else Text(written)


class Receiver(str):
    """A first argument's text; ``primary`` is it as a method's receiver."""

    primary: str

    def __new__(cls, text: str, primary: str) -> Receiver:
        made = super().__new__(cls, text)
        made.primary = primary
        return made


def nan_or_inf(value: float) -> float:
    return value if isnan(value) else inf


def _primary(text: Text) -> str:
    return text.within(Text("").rank)


def listed(args: list[str], params: Mapping[str, str]) -> str:
    """Arguments as they stand in a call."""
    return ", ".join([*args, *(f"{k}={v}" for k, v in params.items())])


class Language(Dialect):
    """gradcli's own language."""

    def call(self, name: str, args: list[Any], params: dict[str, str]) -> str:
        return f"{name}({listed(args, params)})"

    def number(self, value: float) -> str:
        return "nan" if isnan(value) else "inf"

    def filled(self, value: Any, shape: tuple[int, ...]) -> str:
        sizes = ", ".join(map(str, shape))
        if isinstance(value, bool):
            return f"full([{sizes}], {int(value)}) > 0"
        plain = PLAIN.get(value)
        if plain:
            return f"{plain}({sizes})"
        return f"full([{sizes}], {self.plain(value).written})"

    def literal(self, array: Any) -> Text:
        if array.dtype.kind == "b":
            return Text(f"tensor({self.nested(array.astype(int))}) > 0", CHOICE)
        return Text(f"tensor({self.nested(array)})")


LANGUAGE: Final = Language({
    "mT": lambda x: f"{x.primary}.mT",
    "T": lambda x: f"{x.primary}.T",
    "detach": lambda x: f"{x.primary}.detach()",
    "as_numbers": lambda x: f"{x.primary}.float()",
    "as_index": lambda x: x,
    "part": lambda x, i: f"{x.primary}[{i}]",
})  # fmt: skip
