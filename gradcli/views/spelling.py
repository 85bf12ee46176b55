"""The number system whose numbers are text: a rule run on names gives its formula.

Invariant: the text is an expression of gradcli's own language; whatever cannot be said
in it raises `Unspeakable`. Nothing is simplified but factors, summands and exponents
that change nothing.

    spell(OPS["mul.Tensor"].partials[0], y, (Text("w3"), Text("b")), {})     # "b"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ops import FUNCTIONS

CHOICE, SUM, PRODUCT, SIGN, POWER, ATOM = range(6)
"""How tightly a text holds together; below CHOICE is nothing, above ATOM neither."""

_INFIX = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}


class Unspeakable(TypeError):
    """The value has no text in the language."""


class Text:
    """An expression's text, with what a rule may ask of a number."""

    __slots__ = ("rank", "written")
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(self, written: str, rank: int = ATOM) -> None:
        self.written = written
        self.rank = rank

    def within(self, rank: int) -> str:
        """The text where something at least so tight is needed."""
        return self.written if self.rank >= rank else f"({self.written})"

    def __add__(self, other: Any) -> Text:
        return _sum(self, lift(other))

    def __radd__(self, other: Any) -> Text:
        return _sum(lift(other), self)

    def __sub__(self, other: Any) -> Text:
        return _difference(self, lift(other))

    def __rsub__(self, other: Any) -> Text:
        return _difference(lift(other), self)

    def __mul__(self, other: Any) -> Text:
        return _product(self, lift(other))

    def __rmul__(self, other: Any) -> Text:
        return _product(lift(other), self)

    def __truediv__(self, other: Any) -> Text:
        return _quotient(self, lift(other))

    def __rtruediv__(self, other: Any) -> Text:
        return _quotient(lift(other), self)

    def __pow__(self, other: Any) -> Text:
        return _power(self, lift(other))

    def __rpow__(self, other: Any) -> Text:
        return _power(lift(other), self)

    def __neg__(self) -> Text:
        return Text(f"-{self.within(SIGN)}", SIGN)

    def __bool__(self) -> bool:
        raise Unspeakable("a text is neither true nor false")

    def __eq__(self, other: object) -> bool:
        raise Unspeakable("texts are compared by `eq`")

    # What cannot be compared cannot be a key.
    __hash__ = None  # type: ignore[assignment]


class Nameless(Text):
    """A value that no text of the program stands for; a rule may ignore it."""

    __slots__ = ()

    def __init__(self) -> None:
        self.rank = ATOM

    # A slot of the base: reading it has to raise here, and nothing ever sets it.
    @property
    def written(self) -> str:  # type: ignore[override]
        raise Unspeakable("the value has no name")


def lift(value: Any) -> Text:
    """A text as it is; a number by shortest round trip."""
    if isinstance(value, Text):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unspeakable(f"no text for a {type(value).__name__}")
    text = repr(value)
    return Text(text, SIGN if text.startswith("-") else ATOM)


def _sum(a: Text, b: Text) -> Text:
    return Text(f"{a.within(SUM)} + {b.within(PRODUCT)}", SUM)


def _difference(a: Text, b: Text) -> Text:
    return Text(f"{a.within(SUM)} - {b.within(PRODUCT)}", SUM)


def _product(a: Text, b: Text) -> Text:
    if _is_one(a):
        return b
    if _is_one(b):
        return a
    return Text(f"{a.within(PRODUCT)} * {b.within(SIGN)}", PRODUCT)


def _quotient(a: Text, b: Text) -> Text:
    return a if _is_one(b) else Text(f"{a.within(PRODUCT)} / {b.within(SIGN)}", PRODUCT)


def _power(a: Text, b: Text) -> Text:
    return a if _is_one(b) else Text(f"{a.within(ATOM)}**{b.within(SIGN)}", POWER)


def _is_one(value: Text) -> bool:
    return not isinstance(value, Nameless) and value.written in ("1", "1.0")


class SpellingNamespace:
    """The vocabulary of rules on texts; functions of the language become calls."""

    def as_type_of(self, mask: Any, like: Any) -> Text:
        return Text(f"where({_argument(mask)}, 1, 0)")

    def new_full(self, like: Any, size: Any, fill_value: Any) -> Text:
        return lift(fill_value)

    def zeros_like(self, x: Any) -> Text:
        return lift(0)

    def ones_like(self, x: Any) -> Text:
        return lift(1)

    def __getattr__(self, name: str) -> Callable[..., Text]:
        sign = _INFIX.get(name)
        if sign is not None:
            return lambda a, b: Text(
                f"{lift(a).within(SUM)} {sign} {lift(b).within(SUM)}", CHOICE
            )
        if name not in FUNCTIONS:
            raise Unspeakable(f"the language has no function {name!r}")

        def call(*args: Any, **keywords: Any) -> Text:
            given = [_argument(arg) for arg in args]
            given += [f"{key}={_argument(value)}" for key, value in keywords.items()]
            return Text(f"{name}({', '.join(given)})")

        return call


def _argument(value: Any) -> str:
    return repr(value) if isinstance(value, str | bool) else lift(value).written


TEXTS = SpellingNamespace()


def spell(
    partial: Any, y: Text, inputs: Sequence[Any], params: Mapping[str, Any]
) -> Text | None:
    """The text of a row's partial; None if the language cannot say it.

    Args:
        partial: a formula ``(xp, y, *inputs, **params)`` or a number.
        y: the text of the operation's result.
        inputs: the texts of its inputs; numbers and None stand for themselves.
        params: its parameters.
    """
    try:
        given = partial(TEXTS, y, *inputs, **params) if callable(partial) else partial
        found = lift(given)
        return None if isinstance(found, Nameless) else found
    except (Unspeakable, AttributeError):
        return None
