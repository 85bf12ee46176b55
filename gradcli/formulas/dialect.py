"""Dialects: how a tree is written. Each is a column of the table of spellings.

Invariant: a function's name stands in `gradcli.ops.spellings` alone. A dialect adds how
numbers, arrays and indices are written, and the frame around a program's steps.

    LANGUAGE.text(xp.sin(x) * 2, {x.serial: Text("x")})       # 2 * sin(x)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from textwrap import wrap
from typing import Any, Final

import numpy as np

from ..engine.raw import Host
from ..lang.nested import is_number
from ..ops import FUNCTIONS
from ..ops.basis import ARITHMETIC, SPECIAL, UFUNCS
from ..ops.op import parameters
from ..ops.spellings import ATOM, RELATION, SIGN, Template, Word, spelling
from .texts import Text, filled, repeated
from .tree import CALLED, FILLED, LITERAL, NAME, NUMBER, Tree, Unwritable, below

_ELEMENTWISE: Final = {*ARITHMETIC, "matmul", *UFUNCS, *SPECIAL} - {"where"}

PLAIN: Final[Mapping[float, str]] = {0: "zeros", 1: "ones"}
"""Names of the functions that make an array of one number, by that number."""

MAX_SHOWN_CONDITIONS: Final = 12
"""Largest number of conditions that a function's comment writes out."""

MAX_RESULT_CHARACTERS: Final = 72
"""Largest length of an array of entries on one line, in characters."""

INDENT: Final = "    "

MAX_COMMENT_COLUMNS: Final = 80
"""Largest width of a comment line on where a function holds, in characters."""

MAX_EXACT_INTEGER: Final = 1e15
"""Largest integer that is written without a decimal point."""


@dataclass(frozen=True, slots=True)
class ReturnedArray:
    """An array that a program returns.

    texts  its entries in C order; None: it is the step of the same name
    by     the names of the inputs that it is a derivative by; none: it is the value
    """

    name: str
    shape: tuple[int, ...]
    texts: tuple[str, ...] | None = None
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A program's steps in a dialect, with the comments on them.

    function  the name of the function that computes it
    about     lines for the function's comment which say what the program computes
    notes     remarks on its numbers
    holds     the conditions under which its results hold, in gradcli's language
    renamed   comments on results whose names do not say what they are
    inputs    names, as they are in the steps, and shapes
    on_arrays whether the steps compute on arrays, rather than on their entries
    """

    function: str
    about: tuple[str, ...]
    notes: tuple[str, ...]
    holds: tuple[str, ...]
    renamed: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    steps: tuple[tuple[str, str], ...]
    results: tuple[ReturnedArray, ...]
    on_arrays: bool

    def comments(self) -> Iterator[str]:
        """Yield the lines of comment above a program not written as a function."""
        yield from self.notes
        yield from (f"where {text}" for text in self.holds)
        yield from self.renamed

    def description(self) -> Iterator[str]:
        """Yield the lines of a function's comment."""
        yield from self.about
        if self.notes:
            yield from ("", *self.notes)
        if self.holds:
            yield ""
        known = [text for text in self.holds if "..." not in text]
        shown = known[:MAX_SHOWN_CONDITIONS]
        for text in shown:
            yield from wrap(f"Holds where {text}.", MAX_COMMENT_COLUMNS,
                            subsequent_indent="    ", break_long_words=False,
                            break_on_hyphens=False)  # fmt: skip
        if len(shown) < len(self.holds):
            yield f"{len(self.holds) - len(shown)} more conditions have to hold."


class Dialect:
    """One way to write trees as text.

    column    the field of `Spelling` that has its spellings
    nan, inf  what stands for these numbers
    number    the template of a number that is a result
    words     whether it has the language's functions, not only those of the basis
    entries   the function that makes an array of its entries
    reserved  names that inputs and steps must not have
    ascii     whether names are limited to ASCII
    """

    column = "gradcli"
    nan, inf = "nan", "inf"
    number = "{0}"
    words = True
    entries = "stack"
    reserved: frozenset[str] = frozenset()
    ascii = False
    made: type[Text] = Text

    def __init__(self, like: str = "") -> None:
        """Start a text; constants get the type of the input named ``like``."""
        self.like = like

    # The methods below are what dialects override.

    @classmethod
    def lacks(cls) -> frozenset[str]:
        """Return the functions of the language that the dialect lacks."""
        return frozenset()

    def called(self, name: str, args: Sequence[str], params: Mapping[str, str]) -> str:
        """Return a function's call."""
        return f"{name}({listed(args, params)})"

    def filled(self, value: float, shape: tuple[int, ...]) -> Text:
        """Return the text of an array filled with one number or truth value."""
        raise Unwritable(f"an array in {self.column}")

    def literal(self, array: Host) -> Text:
        """Return the text of an array's numbers or truth values."""
        raise Unwritable(f"an array in {self.column}")

    def kind_of(self, tree: Tree) -> dict[str, str]:
        """Return the arguments that give a constructor the type of its numbers."""
        return {}

    def named(self, name: str) -> Text:
        """Return the text of an input or a step, which is its name."""
        return self.made(name)

    def spelled(self, name: str) -> Word | None:
        """Return the spelling of an operation, a tree's head; None if it has none."""
        return getattr(spelling(name), self.column)  # type: ignore[no-any-return]

    def assigned(self, name: str, text: str) -> str:
        """Return the statement that gives a step its name."""
        return f"{name} = {text}"

    def gathered(self, result: ReturnedArray) -> Iterator[str]:
        """Yield the statement that makes a result of its entries, in several lines if
        it is long."""
        if result.texts is None:
            return
        if not result.shape or not result.texts:
            empty = "" if result.texts else self.filled(0.0, result.shape).written
            yield self.assigned(result.name, "".join(result.texts) or empty)
            return
        behind = f".reshape({', '.join(map(str, result.shape))})"
        ending = behind if len(result.shape) > 1 else ""
        # A stack of plain numbers is not a tensor, so these are given to `tensor`.
        made = "tensor" if all(map(is_number, result.texts)) else "stack"
        made = made if self.entries == "stack" else self.entries
        line = f"{made}([{', '.join(result.texts)}]){ending}"
        if len(line) <= MAX_RESULT_CHARACTERS:
            yield self.assigned(result.name, line)
            return
        yield f"{result.name} = {made}(["
        yield from (f"{INDENT}{text}," for text in result.texts)
        yield f"]){ending}"

    def program(self, written: Written) -> Iterator[str]:
        """Yield the lines of a complete program."""
        raise NotImplementedError

    # The methods below are the same in most dialects.

    def returned(self, value: object) -> str:
        """Return the text of a number that is a result."""
        return self.number.format(self.plain(value), like=self.like)

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        """Return the text of a tree from the texts of its parts."""
        head = tree.head
        if head == NAME:
            return self.named(tree.args[0])
        if head == NUMBER:
            return self.plain(tree.args[0])
        if head == FILLED:
            return self.filled(tree.args[0], tree.shape)
        if head == LITERAL:
            return self.literal(tree.value)
        if head in _ELEMENTWISE and tree.dtype.kind == "f":
            texts = self._in_numbers(tree, texts)
        return self._function(tree, texts)

    def _function(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        word = self.spelled(tree.head)
        if word is None:
            name = spelling(tree.head).gradcli
            raise Unwritable(f"{self.column} has no function {name!r}")
        if isinstance(word, Template):
            args = [self._operand(tree, k, texts) for k in range(len(tree.args))]
            return filled(word, args, {"like": self.like}, self.made)
        word = word.removesuffix(CALLED)
        rest = [self.argument(a, texts) for a in tree.args]
        params = {k: self.argument(v, texts) for k, v in tree.params.items()}
        params |= self.kind_of(tree)
        if word.startswith("."):
            receiver = texts[tree.args[0].serial].within(ATOM)
            return self.made(f"{receiver}{word}({listed(rest[1:], params)})")
        return self.made(self.called(word, rest, params))

    def _operand(self, tree: Tree, position: int, texts: Mapping[int, Text]) -> Text:
        """Return the text of an operand in a template's slot."""
        value = tree.args[position]
        if isinstance(value, Tree):
            return texts[value.serial]
        if position and tree.head == "getitem":
            return self.made(self.index(value, tree.args[0].shape, texts))
        return self.made(self.argument(value, texts))

    def repeated(self, tree: Tree) -> list[Tree]:
        """Return the parts that the tree's text writes more than once."""
        word = self.spelled(tree.head)
        positions = repeated(word) if isinstance(word, Template) else ()
        return [tree.args[position] for position in positions]

    def _in_numbers(self, tree: Tree, texts: Mapping[int, Text]) -> Mapping[int, Text]:
        """Return the operands' texts, converted to floats if no operand is one.

        From integers or truth values libraries may compute another type than floats.
        """
        operands = [part for part in below(tree) if part.head != NUMBER]
        if any(part.dtype.kind == "f" for part in operands):
            return texts
        word = self.spelled("as_numbers")
        made = {**texts}
        if isinstance(word, Template):
            for part in operands:
                own = [texts[part.serial]]
                made[part.serial] = filled(word, own, {"like": self.like}, self.made)
        return made

    def argument(self, value: object, texts: Mapping[int, Text]) -> str:
        """Return an argument of a call: a tree, a number, a text, or a list of
        these."""
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

    def index(
        self, value: object, shape: tuple[int, ...], texts: Mapping[int, Text]
    ) -> str:
        """Return the text between the brackets of an index into an array of a shape."""
        items = list(value) if isinstance(value, tuple) else [value]
        while len(items) > 1 and items[-1] is ...:
            items.pop()
        return ", ".join([self._item(item, texts) for item in items])

    def _item(self, item: object, texts: Mapping[int, Text]) -> str:
        if item is ...:
            return "..."
        if isinstance(item, Tree) and item.head == LITERAL and item.ndim == 1:
            item = item.value
        if isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind != "b":
            return self.nested(item)
        if not isinstance(item, slice):
            return self.argument(item, texts)
        first = isinstance(item.start, int) and not item.start
        ends = [None if first else item.start, item.stop]
        ends += [] if item.step in (None, 1) else [item.step]
        return ":".join("" if e is None else self.argument(e, texts) for e in ends)

    def nested(self, array: Host) -> str:
        """Return an array's numbers as a nested list."""
        if array.ndim == 0:
            return self.plain(array.item()).written
        return f"[{', '.join([self.nested(part) for part in array])}]"

    def plain(self, value: object) -> Text:
        """Return the text of a number, negative and infinite ones included."""
        plain = value.item() if hasattr(value, "item") else value
        if isinstance(plain, float) and not isfinite(plain):
            if plain == -inf:
                return self.made(f"-{self.inf}", SIGN)
            return self.made(self.inf if plain == inf else self.nan)
        written = self.decimal(plain)
        return self.made(written, SIGN if written.startswith("-") else ATOM)

    def decimal(self, value: Any) -> str:
        """Return the text of a finite number; an integer has no point."""
        integer = isinstance(value, float) and value == int(value)
        return repr(int(value) if integer and abs(value) < MAX_EXACT_INTEGER else value)


def listed(args: Iterable[str], params: Mapping[str, str]) -> str:
    """Return arguments as they stand between the brackets of a call."""
    return ", ".join([*args, *(f"{k}={v}" for k, v in params.items())])


def with_point(written: str) -> str:
    """Return the text of a number; that of an integer with a decimal point."""
    return f"{written}.0" if written.lstrip("-").isdecimal() else written


_LONE: Final = {"where": 1, "index_put": 2}
"""Index of the first argument that decides the result's type, by function."""


class Language(Dialect):
    """The dialect of gradcli's own language."""

    def called(self, name: str, args: Sequence[str], params: Mapping[str, str]) -> str:
        """Return a call; its later arguments are named where one without a name could
        select another function, as `max(x, 0)` means `maximum`."""
        entry = FUNCTIONS.get(name)
        if entry is not None and entry.of_number and len(args) > 1:
            first, *rest = args
            _, *names = parameters(entry)
            args, params = (first,), {**dict(zip(names, rest, strict=False)), **params}
        return super().called(name, args, params)

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        """Return the tree's text, with a decimal point where an integer would change
        the result's type."""
        kinds = tree.args[_LONE[tree.head] :] if tree.head in _LONE else ()
        if kinds and tree.dtype.kind == "f" and all(a.head == NUMBER for a in kinds):
            for each in kinds:
                text = self.plain(each.args[0])
                pointed = Text(with_point(text.written), text.rank)
                texts = {**texts, each.serial: pointed}
        return super().text(tree, texts)

    def filled(self, value: float, shape: tuple[int, ...]) -> Text:
        sizes = ", ".join(map(str, shape))
        if isinstance(value, bool):
            return Text(f"full([{sizes}], {int(value)}) > 0", RELATION)
        if value in PLAIN:
            return Text(f"{PLAIN[value]}({sizes})")
        return Text(f"full([{sizes}], {self.plain(value)})")

    def literal(self, array: Host) -> Text:
        if array.dtype.kind == "b":
            return Text(f"tensor({self.nested(array.astype(int))}) > 0", RELATION)
        return Text(f"tensor({self.nested(array)})")

    def program(self, written: Written) -> Iterator[str]:
        yield from (f"# {comment}" for comment in written.comments())
        yield from (self.assigned(*step) for step in written.steps)
        for result in written.results:
            yield from self.gathered(result)


LANGUAGE: Final = Language()
