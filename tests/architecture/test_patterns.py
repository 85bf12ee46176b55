"""Every regular expression of the package takes time that grows with its text alone.

For each, texts are made that repeat what it repeats: characters that it tells apart,
pieces that match a part of it, behind what begins a match, and before an end at which
the match fails. A child process, which has a share of the processor time of a
quadratic search for each text, is ended by the system where a search is not linear.
"""

from __future__ import annotations

import ast
import os
import re
import signal
import struct
from collections.abc import Iterable, Iterator
from functools import cache, partial
from importlib import import_module
from mmap import mmap
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from time import process_time
from typing import Any, NamedTuple, NoReturn

from test_rooms import MODULES, dotted, where

from gradcli.lang import lexicon, marks, wording
from gradcli.lang.grammars import GRAMMARS

LENGTH = 20_000
"""Length of a text, in characters."""

SHARE = 1 / 4
"""Processor time that the search of one text may take, as a share of that of the
shortest quadratic search, on the machine at hand; a linear one takes a hundredth."""

METHODS = (
    "match", "fullmatch", "search", "sub", "subn", "split", "finditer", "findall",
)  # fmt: skip
ALPHABET = "aZ0_ \n\té.:(\"'="
"""Characters among which every pattern has some that it does not match."""

SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


class Use(NamedTuple):
    """A pattern, and the method of it that the package calls."""

    text: str | bytes
    flags: int
    method: str


def parts(kind: str, value: Any) -> list[Any]:
    """Return the sequences of items that lie inside an item of a parsed pattern."""
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return [value[2]]
        case "SUBPATTERN":
            return [value[3]]
        case "ATOMIC_GROUP":
            return [value]
        case "BRANCH":
            return [*value[1]]
        case "ASSERT" | "ASSERT_NOT":
            return [value[1]]
    return []


def items_of(items: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the items of a sequence and those inside them."""
    for kind, value in items:
        yield kind, value
        for inside in parts(str(kind), value):
            yield from items_of(inside)


class Texts:
    """Texts that a pattern may take long for."""

    def __init__(self, use: Use) -> None:
        self.bytes = isinstance(use.text, bytes)
        flags = use.flags & ~re.UNICODE if self.bytes else use.flags
        self.parsed = _parser.parse(use.text, flags)
        single = [i for i in items_of(self.parsed) if str(i[0]) in SINGLE]
        self.matchers = {repr(i): self._compiled(i) for i in single}
        letters = {*ALPHABET, *map(chr, self._bounds(single))}
        # Of letters that neither an item nor an anchor tells apart, one is enough.
        groups = {self._matched(letter): letter for letter in sorted(letters)}
        self.letters = sorted(groups.values())
        self.foreign = groups[min(groups, key=sum)]

    def _compiled(self, item: Any) -> Any:
        alone = _parser.SubPattern(self.parsed.state, [item])
        return _compiler.compile(alone, self.parsed.state.flags)

    def _bounds(self, items: list[Any]) -> Iterator[int]:
        for kind, value in items:
            for inner, known in value if str(kind) == "IN" else [(kind, value)]:
                if str(inner) in ("LITERAL", "NOT_LITERAL"):
                    yield known
                elif str(inner) == "RANGE":
                    yield from known

    def _encoded(self, text: str) -> Any:
        return text.encode("latin-1", "replace") if self.bytes else text

    def _matched(self, letter: str) -> tuple[bool, ...]:
        given = self._encoded(letter)
        matches = [each.match(given) is not None for each in self.matchers.values()]
        return (*matches, letter.isalnum(), letter == "\n")

    def sample(self, items: Any) -> str:
        """Return a text that a sequence of items may match."""
        found = ""
        for kind, value in items:
            if str(kind) in SINGLE:
                matches = self.matchers[repr((kind, value))].match
                found += next(
                    (c for c in self.letters if matches(self._encoded(c))), ""
                )
            elif str(kind) in REPEATS:
                found += self.sample(value[2]) * max(1, min(value[0], 9))
            elif inside := parts(str(kind), value):
                found += "" if "ASSERT" in str(kind) else self.sample(inside[0])
        return found

    def _repeated(self, items: Any, before: str) -> Iterator[tuple[str, Any]]:
        """Yield the parts that are repeated without end, and what stands before."""
        for nr, (kind, value) in enumerate(items):
            begun = before + self.sample(items[:nr])
            if str(kind) in REPEATS and value[1] is _constants.MAXREPEAT:
                yield begun, value[2]
            for inside in parts(str(kind), value):
                yield from self._repeated(inside, begun)

    def __iter__(self) -> Iterator[Any]:
        pieces = {("", letter) for letter in self.letters}
        for begun, repeated in self._repeated(self.parsed, ""):
            each = self.sample(repeated)
            pieces |= {("", begun), (begun, each), ("", begun + each)}
            own = [
                self.matchers[repr(i)]
                for i in items_of(repeated)
                if str(i[0]) in SINGLE
            ]
            pieces |= {
                (begun, letter) for letter in self.letters
                if any(matcher.match(self._encoded(letter)) for matcher in own)
            }  # fmt: skip
        for begun, piece in sorted(pieces):
            if piece:
                long = piece * (LENGTH // len(piece))
                yield self._encoded(begun + long + self.foreign)


MAY_USE = re.compile(rf"import re\n|[A-Z]\.(?:{'|'.join(METHODS)})\b")
"""Pattern of the text of a module that uses patterns."""

HANDED = {"SPELLINGS": "fullmatch"}
"""Methods used of patterns that are called by another name, by their own."""

OURS = {"_LINE", "_SECTION", "_PARAMETER"}
"""Names of patterns that only text of the package itself is given to."""


class Module:
    """The patterns of one module, and what is called of them."""

    def __init__(self, path: Path) -> None:
        self.place, text = where(path), path.read_text()
        tree = ast.parse(text)
        self.nodes = [*ast.walk(tree)]
        self.at_import = {
            id(node) for statement in tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for node in ast.walk(statement)
        }  # fmt: skip
        self.known = vars(import_module(dotted(path))) if "import re\n" in text else {}
        self.assigned = {
            node.targets[0].id: node.value for node in self.nodes
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }  # fmt: skip

    def text(self, node: ast.expr) -> Any:
        """Return the text of an expression, or None if it is not known; an unknown part
        of a text stands for a word."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.known:
                return self.known[name]
            case ast.Name(id=name) if name in self.assigned:
                return self.text(self.assigned[name])
            case ast.FormattedValue(value=value):
                return self.text(value)
            case ast.JoinedStr(values=values):
                return "".join(self.text(value) or "name" for value in values)
        return None

    def given(self) -> Iterator[tuple[ast.expr, int, str]]:
        """Yield the patterns that functions of `re` are given, the flags, and the
        functions."""
        for node in self.nodes:
            match node:
                case ast.Call(
                    ast.Attribute(ast.Name("re"), method), [pattern, *more], keywords
                ) if method in METHODS or (
                    method == "compile" and id(node) not in self.at_import
                ):
                    inside = [*more, *(each.value for each in keywords)]
                    names = {
                        each.attr for one in inside for each in ast.walk(one)
                        if isinstance(each, ast.Attribute) and each.attr.isupper()
                    }  # fmt: skip
                    flags = sum(getattr(re, name, 0) for name in names)
                    yield pattern, flags, "sub" if method == "compile" else method

    def compiled(self) -> Iterator[tuple[str, re.Pattern[Any]]]:
        """Yield the compiled patterns of the module, with their names."""
        for name, value in self.known.items():
            for each in value if isinstance(value, list | tuple) else [value]:
                if isinstance(each, re.Pattern):
                    yield name, each

    def called(self) -> Iterator[tuple[str, str]]:
        """Yield names, of compiled patterns among others, and a method used of each; a
        match at a place of the text may be one of many, each where the last ended."""
        calls = {id(n.func): n for n in self.nodes if isinstance(n, ast.Call)}
        for node in self.nodes:
            match node:
                case ast.Attribute(ast.Name(name) | ast.Attribute(attr=name), method):
                    call = calls.get(id(node))
                    inside = call is None or len(call.args) > 1
                    if method in METHODS:
                        yield name, "tokens" if method == "match" and inside else method


def tables() -> dict[str, list[str]]:
    """Return the patterns that stand in tables, by the places where they are used."""
    grammars = GRAMMARS.values()
    read = ("comment", "names", "suffix")
    return {
        "lang/grammars.py": ["|".join(getattr(g, n) for n in read) for g in grammars],
        "lang/marks.py pattern": [pattern for _, pattern in marks.MARKS],
        "lang/tokens.py pattern": [each for each, *_ in lexicon.FOREIGN_PHRASES],
        "lang/wording.py said": [*wording.WAYS_OUT],
        "lang/wording.py of": ["to Scalar|to Python scalars"],
    }


def uses() -> dict[Use, str]:
    """Return every pattern and method that the package uses, with their places."""
    modules = [Module(path) for path in MODULES if MAY_USE.search(path.read_text())]
    methods = {name: {method} for name, method in HANDED.items()}
    for name, method in (each for module in modules for each in module.called()):
        methods.setdefault(name, set()).add(method)
    known, found = tables(), {}
    for module in modules:
        for name, pattern in module.compiled():
            for method in methods.get(name, {"search"}):
                use = Use(pattern.pattern, pattern.flags, method)
                found[use] = f"{module.place} {name}"
        for node, flags, method in module.given():
            place = f"{module.place} {ast.unparse(node)}"
            if ast.unparse(node) in OURS:
                continue
            for text in known.pop(place, [module.text(node)]):
                if not isinstance(text, re.Pattern):
                    assert isinstance(text, str | bytes), f"{place}: not known"
                    found[Use(text, flags, method)] = place
    for place, texts in known.items():
        found |= {Use(text, 0, "sub"): place for text in texts}
    return found


@cache
def longest_seconds() -> float:
    """Return the processor time that a search may take, in seconds."""
    start = process_time()
    re.search(".*x", LENGTH * "a")
    return SHARE * (process_time() - start)


def slow(all_uses: Iterable[Use]) -> Iterator[tuple[Use, str]]:
    """Yield the uses that take too long, with the text that shows it, shortened."""
    rest, at = [*all_uses], mmap(-1, 16)
    while rest:
        at[:] = bytes(16)
        child = os.fork()
        if child == 0:
            searched(rest, at)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            return
        assert os.WTERMSIG(status) == signal.SIGVTALRM
        nr, text = struct.unpack("QQ", at[:])
        yield rest[nr], repr([*Texts(rest[nr])][text][:40])
        del rest[: nr + 1]


def searched(all_uses: list[Use], at: mmap) -> NoReturn:
    """Search all texts of all patterns and end this process; write the numbers of the
    use and of the text that is searched."""
    try:
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        for nr, use in enumerate(all_uses):
            pattern = re.compile(use.text, use.flags)
            match use.method:
                case "tokens":
                    method = partial(tokens, pattern)
                case "sub" | "subn" | "finditer":
                    method = pattern.findall
                case _:
                    method = getattr(pattern, use.method)
            for text_nr, text in enumerate(Texts(use)):
                at[:] = struct.pack("QQ", nr, text_nr)
                signal.setitimer(signal.ITIMER_VIRTUAL, longest_seconds())
                method(text)
        os._exit(0)
    finally:
        os._exit(1)


def tokens(pattern: re.Pattern[Any], text: Any) -> None:
    """Match a text piece by piece, each where the last one ended."""
    end = 0
    while found := pattern.match(text, end):
        if found.end() == end:
            return
        end = found.end()


PLANTED = [r"(a+)+b", r"\w*\d*:", r"(a|a)*b", r"\(.*?\)", r"\s+$", r".*x", r"(?m)^\s*%"]


def test_patterns_that_take_too_long_are_caught() -> None:
    planted = [Use(text, 0, "search") for text in PLANTED]
    assert [use for use, _ in slow(planted)] == planted


def test_every_pattern_takes_time_that_grows_with_its_text() -> None:
    found = uses()
    assert len(found) > 150
    assert [f"{found[use]} {use}: {text}" for use, text in slow(found)] == []
