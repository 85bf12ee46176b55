"""How a tree is written: operators and names alike, calls as a dialect spells them.

Invariant: a dialect is a table from heads to spellings and a rule for all others;
precedence is kept here, once.

    LANGUAGE.text(xp.sin(x) * 2, {x.serial: Text("x")})       # 2 * sin(x)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isnan
from typing import Any, Final

import numpy as np

from ..engine.arrays import SPECIAL, UFUNCS
from ..views.spelling import CHOICE, PRODUCT, SIGN, SUM, Text
from .tree import CALLED, FILLED, LITERAL, NAME, NUMBER, Tree, below

_OPERATORS: Final[Mapping[str, Callable[..., Text]]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "div": operator.truediv, "pow": operator.pow, "neg": operator.neg,
}  # fmt: skip
_SIGNS: Final = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}

_ELEMENTWISE: Final = {*_OPERATORS, "matmul", *UFUNCS, *SPECIAL} - {"where"}

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

    def kind_of(self, tree: Tree) -> dict[str, str]:
        """What says of which kind a constructor's numbers are, if it has to be said."""
        return {}

    def returned(self, value: Any) -> str:
        """A number that is a result."""
        return self.plain(value).written

    def taken(self, names: Sequence[str]) -> list[str]:
        """The lines by which a function makes its arguments what it reads."""
        return []

    # what they have in common

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        """The tree's text, from those of its parts."""
        head = tree.head
        if head in _ELEMENTWISE and tree.dtype.kind == "f":
            texts = self._in_numbers(tree, texts)
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
        if head == "matmul":
            left, right = (texts[t.serial] for t in tree.args)
            # A chain needs no brackets; a product of another kind would be misread.
            rank = PRODUCT if tree.args[0].head == "matmul" else SIGN
            return Text(f"{left.within(rank)} @ {right.within(SIGN)}", PRODUCT)
        if head in _OPERATORS:
            return _OPERATORS[head](*[texts[t.serial] for t in tree.args])
        if head in _SIGNS:
            a, b = (texts[t.serial].within(SUM) for t in tree.args)
            return Text(f"{a} {_SIGNS[head]} {b}", CHOICE)
        return Text(self._call(tree, texts))

    def _in_numbers(self, tree: Tree, texts: Mapping[int, Text]) -> Mapping[int, Text]:
        """The operands' texts; if none is of the result's kind, made so.

        Of truth values and whole numbers a library makes numbers of some other kind.
        """
        operands = [part for part in below(tree) if part.head != NUMBER]
        if any(part.dtype.kind == "f" for part in operands):
            return texts
        as_numbers = self.words["as_numbers"]
        made = {}
        for part in operands:
            text = texts[part.serial]
            made[part.serial] = Text(as_numbers(Receiver(text.written, primary(text))))
        return {**texts, **made}

    def _call(self, tree: Tree, texts: Mapping[int, Text]) -> str:
        if tree.head == "getitem":
            x, index = tree.args
            return f"{primary(texts[x.serial])}[{self.index(index, texts)}]"
        args = [self.argument(a, texts) for a in tree.args]
        params = {k: self.argument(v, texts) for k, v in tree.params.items()}
        first = tree.args[0] if tree.args else None
        if isinstance(first, Tree):
            args[0] = Receiver(args[0], primary(texts[first.serial]))
        params |= self.kind_of(tree)
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


def primary(text: Text) -> str:
    """The text as what a method or an index may stand behind."""
    return text.within(Text("").rank)


def listed(args: list[str], params: Mapping[str, str]) -> str:
    """Arguments as they stand in a call."""
    return ", ".join([*args, *(f"{k}={v}" for k, v in params.items())])


_LONE: Final = {"where": 1, "index_put": 2}
"""Functions that take their result's kind from the arguments from this one on."""


class Language(Dialect):
    """gradcli's own language."""

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        """With a point where a whole number would make a result of its own kind."""
        kinds = tree.args[_LONE[tree.head] :] if tree.head in _LONE else ()
        if kinds and tree.dtype.kind == "f" and all(a.head == NUMBER for a in kinds):
            pointed = {a.serial: self.plain(a.args[0]) for a in kinds}
            for serial, text in pointed.items():
                if text.written.lstrip("-").isdecimal():
                    pointed[serial] = Text(f"{text.written}.0", text.rank)
            texts = {**texts, **pointed}
        return super().text(tree, texts)

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
