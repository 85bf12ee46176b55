"""The number system whose numbers are text: a rule run on names gives its formula.

Invariant: a text keeps its meaning within a template, because each slot names the
precedence below which its argument gets brackets. What the language cannot say raises
`Unspeakable`; nothing is simplified but factors, divisors and exponents of one.

    partial_text(OPS["mul.Tensor"].partials[0], y, (Text("w3"), Text("b")), {})  # "b"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Final

from ..ops import FUNCTIONS
from ..ops.basis import COMPARISONS, NEUTRAL, put_on
from ..ops.checks import KindError
from ..ops.spellings import ATOM, SIGN, SPELLINGS, Precedence, Template


class Unspeakable(TypeError):
    """An error: the value has no text in the language."""


class Text:
    """An expression's text and precedence, with attributes that rules read."""

    __slots__ = ("rank", "written")
    brackets = "({})"
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(self, written: str, rank: Precedence = ATOM) -> None:
        self.written = written
        self.rank = rank

    def within(self, rank: Precedence) -> str:
        """Return the text, in brackets if its precedence is below ``rank``."""
        return self.written if self.rank >= rank else self.brackets.format(self.written)

    @property
    def is_name(self) -> bool:
        return self.written.isidentifier()

    def __format__(self, slot: str) -> str:
        return self.within(Precedence[slot]) if slot else self.written

    def __bool__(self) -> bool:
        raise Unspeakable("a text is neither true nor false")

    # Here ``==`` makes a text of a comparison, so that texts cannot be keys.
    __hash__ = None  # type: ignore[assignment]


class Nameless(Text):
    """A value that no text of the program stands for; reading it raises an error."""

    __slots__ = ()

    def __init__(self) -> None:
        self.rank = ATOM

    # The base has a slot of this name; here reading it raises, and nothing sets it.
    @property
    def written(self) -> str:  # type: ignore[override]
        raise Unspeakable("the value has no name")


@cache
def _slots(template: str) -> tuple[tuple[int, Precedence], ...]:
    """Return the positions of a template's arguments with the precedence they need."""
    return tuple(
        (int(name), Precedence[slot])
        for _, name, slot, _ in Formatter().parse(template)
        if slot and name and name.isdigit()
    )


def filled(
    template: Template, args: Sequence[Text],
    params: Mapping[str, object] | None = None,
    made: type[Text] | None = None,
) -> Text:  # fmt: skip
    """Return a filled template; its precedence is the lowest one outside brackets."""
    outside = [
        args[k].rank for k, need in _slots(template.text) if args[k].rank >= need
    ]
    written = template.text.format(*args, **(params or {}))
    return (made or Text)(written, min([template.rank, *outside]))


def repeated(template: Template) -> frozenset[int]:
    """Return the positions of arguments that a template writes more than once."""
    positions = [position for position, _ in _slots(template.text)]
    return frozenset(p for p in positions if positions.count(p) > 1)


def lift(value: object) -> Text:
    """Return a text as it is, and a number in the fewest digits that give it back."""
    if isinstance(value, Text):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unspeakable(f"no text for a {type(value).__name__}")
    text = repr(value)
    return Text(text, SIGN if text.startswith("-") else ATOM)


def _applied(name: str, *operands: object) -> Text:
    texts = [lift(operand) for operand in operands]
    neutral, positions = NEUTRAL.get(name, (0, ()))
    for position in positions if neutral else ():
        operand = texts[position]
        if not isinstance(operand, Nameless) and operand.written in ("1", "1.0"):
            return texts[1 - position]
    word = SPELLINGS[name].gradcli
    if not isinstance(word, Template):
        return TEXTS.call(name, *texts)
    return filled(word, texts)


put_on(Text, lambda name: lambda _, *both: _applied(name, *both))


class TextNamespace:
    """The namespace of texts, in which the language's functions become calls."""

    def as_type_of(self, mask: object, like: object) -> Text:
        return self.call("where", mask, 1, 0)

    def new_full(self, like: object, size: object, fill_value: object) -> Text:
        return lift(fill_value)

    def zeros_like(self, x: object) -> Text:
        return lift(0)

    def ones_like(self, x: object) -> Text:
        return lift(1)

    def call(self, name: str, *args: object, **keywords: object) -> Text:
        given = [_argument(arg) for arg in args]
        given += [f"{key}={_argument(value)}" for key, value in keywords.items()]
        return Text(f"{name}({', '.join(given)})")

    def __getattr__(self, name: str) -> Callable[..., Text]:
        if name in COMPARISONS:
            return lambda *operands: _applied(name, *operands)
        if name not in FUNCTIONS:
            raise Unspeakable(f"the language has no function {name!r}")
        return lambda *args, **keywords: self.call(name, *args, **keywords)


def _argument(value: object) -> str:
    return repr(value) if isinstance(value, str | bool) else lift(value).written


TEXTS: Final = TextNamespace()


def partial_text(
    partial: object, y: Text, inputs: Sequence[object], params: Mapping[str, object]
) -> Text | None:
    """Return the text of a row's partial, a formula ``(xp, y, *inputs, **params)`` or a
    number; None if there is none, or if the language cannot express it."""
    try:
        given = partial(TEXTS, y, *inputs, **params) if callable(partial) else partial
        found = lift(given)
        return None if isinstance(found, Nameless) else found
    except (Unspeakable, AttributeError, KindError, TypeError):
        return None
