"""Functions of other libraries and programs, and what they are in the language.

The table ``ops/foreign.txt`` has a section for each library, with the prefixes that it
has. What stands there is computed as that library does, and all else is refused.

Invariant: a name behind a prefix never becomes a function only because one here is
called the same.

    path_of(("np",))                        # "NumPy"
    [m.text for m in meanings("NumPy", "ptp")]   # ["amax(a, axis) - amin(a, axis)"]
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise, takewhile
from os.path import dirname, join
from typing import Any, NamedTuple, TypeVar

from .. import ops
from . import syntax
from .errors import ProgramError, Span
from .excerpt import shortened
from .lexicon import DOTTED, KEYWORDS
from .tokens import Token

OWN = "PyTorch"
"""Title of the library whose functions are the language's own."""

ARRAYS = frozenset({"NumPy", "JAX"})
"""Titles of libraries whose arrays have their functions as methods."""

_SPELLED = {"NumPy": "np.", "scipy.special": "special."}
"""Prefixes in the table of spellings, by titles."""

Given = TypeVar("Given")

_SECTION = r"(?m)^\[(.+?)\] ([^:\n]+)(?:: (.+))?\n((?:(?!\[).*\n)*)"
_LINE = r"([\w.]+(?: [\w.]+)*)(?:\((.*?)\))?(?: = (.+?)(?: only if (.+))?)?"
_PARAMETER = r"\s*(\*{0,2})([\w.+-]*)(: int)?(?:=(\([^)]*\)|[^,]+))?(?:,|$)"

_INTEGERS = re.compile(
    r"(?=.*\d)(?:[-+\s\d_\[\](),]|\b\w+\.(?:array|asarray|arange)\b)+"
)
"""Pattern of integers as they are written: alone, in lists, in arrays of a library."""


class Meaning(NamedTuple):
    """A meaning of a function: a formula, or a function of the language.

    text        the formula; empty if the function ``own`` takes the arguments as given
    parameters  names in the source's order; a number has to be given as it stands
    defaults    texts of values of parameters that a call may leave out, by name
    positional  how many of the parameters can be given without their name
    rest        the parameter that takes all further arguments as a list, or none
    joined      whether these are joined, entry by entry, in one vector
    constant    whether it is no function
    conditions  what has to hold of the arguments; elsewhere the call is refused
    integers    the parameters that have to be given as integers
    """

    text: str
    own: str = ""
    parameters: tuple[str, ...] = ()
    defaults: Mapping[str, str] = {}
    positional: int = 0
    rest: str = ""
    joined: bool = False
    constant: bool = False
    conditions: str = ""
    integers: frozenset[str] = frozenset()

    @property
    def is_entrywise(self) -> bool:
        """Whether the formula computes each entry of its result from one of each
        parameter."""
        from ..ops.op import parameters

        if self.rest or re.search(r"[@\[]|\.[A-Za-z]", self.text):
            return False
        called = {*re.findall(r"\b(\w+)\(", self.text)} - {"int"}
        rows = [ops.FUNCTIONS.get(ops.ALIASES.get(name, name)) for name in called]
        return all(row and not {"dim", "dims"} & {*parameters(row)} for row in rows)

    def fitted(
        self, given: Sequence[Given], named: Mapping[str, Given], texts: Sequence[str]
    ) -> tuple[dict[str, Given], list[Given]] | None:
        """Return the arguments by parameter, with those for ``rest``; None if they do
        not fit. ``texts`` are the arguments as they are written."""
        heads = self.parameters[: self.positional]
        if self.constant or (len(given) > len(heads) and not self.rest):
            return None
        found = dict(zip(heads, given, strict=False))
        if not named.keys() <= {*self.parameters} - found.keys():
            return None
        found |= named
        written = dict(zip(heads, texts, strict=False))
        if any(head[0].isdecimal() and head != text for head, text in written.items()):
            return None
        if not all(
            _INTEGERS.fullmatch(written.get(name, "")) for name in self.integers
        ):
            return None
        needed = {*self.parameters} - self.defaults.keys()
        if self.own and not self.text:
            needed &= {*heads[:1]}
        return (found, [*given[len(heads) :]]) if needed <= found.keys() else None


class Section(NamedTuple):
    """A section of the table, with the lines of each name; see `Meaning`."""

    title: str
    parents: tuple[str, ...]
    meanings: dict[str, list[Meaning]]


@cache
def _text() -> str:
    with open(join(dirname(ops.__file__), "foreign.txt"), encoding="utf-8") as file:
        return file.read()


@cache
def paths() -> dict[tuple[str, ...], str]:
    """Return the titles of libraries by their prefixes, which are split at points."""
    return {
        tuple(path.split(".")): found[1]
        for found in re.finditer(_SECTION, _text())
        for path in found[2].split()
    }


def is_prefix(word: str) -> bool:
    """Return whether a word names a library, or the first part of such a name."""
    return (word,) in paths() or word in DOTTED


@cache
def section(title: str) -> Section:
    """Return the section of a library."""
    found = next(f for f in re.finditer(_SECTION, _text()) if f[1] == title)
    table: dict[str, list[Meaning]] = {}
    for line in found[4].splitlines():
        for name, meaning in _read(line):
            table.setdefault(name, []).append(meaning)
    for word, own in _spelled(title):
        table.setdefault(word, [_same(own)])
    return Section(title, tuple((found[3] or "").split()), table)


def _read(line: str) -> Iterator[tuple[str, Meaning]]:
    """Yield the names of a line, each with its meaning."""
    if line.startswith("="):
        for word in line[1:].split():
            name, _, own = word.partition(":")
            yield name, _same(own or name)
        return
    found = re.fullmatch(_LINE, line)
    if found is None:
        return
    names, inputs, text = found[1].split(), found[2], found[3]
    conditions = found[4] or ""
    if inputs is None:
        yield from ((name, Meaning(text, constant=True)) for name in names)
        return
    given = [p.groups() for p in re.finditer(_PARAMETER, inputs) if p[0].strip()]
    parameters = tuple(name for star, name, *_ in given if name and not star)
    stars = [at for at, (star, *_) in enumerate(given) if star]
    star, rest, *_ = given[stars[0]] if stars else ("", "")
    defaults = {name: default for _, name, _, default in given if default}
    integers = frozenset(name for _, name, integer, _ in given if integer)
    positional = stars[0] if stars else len(parameters)
    for name in names:
        own = "" if text else name
        yield (
            name,
            Meaning(
                *(text or "", own, parameters, defaults, positional, rest),
                joined=star == "**",
                conditions=conditions,
                integers=integers,
            ),
        )


def _same(own: str) -> Meaning:
    """Return the meaning of a function that is one here, with the same operands."""
    from ..ops.op import defaults, parameters

    entry = ops.FUNCTIONS.get(ops.ALIASES.get(own, own))
    names = parameters(entry) if entry is not None else ("x",)
    left_out = defaults(entry) if entry is not None else {}
    names = tuple(name for name in names if name not in left_out) or ("x",)
    return Meaning(f"{own}({', '.join(names)})", own, names, {}, len(names))


def _spelled(title: str) -> Iterator[tuple[str, str]]:
    """Yield the names in a library that the table of spellings has, each with the
    name in the language."""
    from ..ops.basis import SPECIAL, UFUNCS
    from ..ops.spellings import SPELLINGS
    from .tensor_library import is_function

    begun = _SPELLED.get(title)
    by_own = {"NumPy": UFUNCS, "scipy.special": SPECIAL}.get(title, {})
    yield from ((word, own) for own, word in by_own.items() if "[" not in word)
    for name, spelling in SPELLINGS.items():
        word = spelling.numpy if begun else title == "SymPy" and spelling.sympy
        own = spelling.gradcli if isinstance(spelling.gradcli, str) else name
        own = own if is_function(own) else name
        if not isinstance(word, str) or " " in word or not is_function(own):
            continue
        if not begun or word.startswith(begun):
            yield word.removeprefix(begun or ""), own


def meanings(title: str, name: str) -> list[Meaning]:
    """Return what a function or constant of a library means, by the lines of its
    section, or else of the sections that count too; none if it is not known."""
    from .tensor_library import is_function

    if title == OWN:
        return [_same(name)] if is_function(name) else []
    own = section(title)
    found = own.meanings.get(name)
    if found is not None:
        return found
    return next(filter(None, (meanings(each, name) for each in own.parents)), [])


def is_formula(title: str, name: str) -> bool:
    """Return whether a library's function is not simply the one of its name here."""
    return any(not meaning.own for meaning in meanings(title, name))


def names_of(title: str) -> set[str]:
    """Return the names of a library's functions and constants that are known."""
    if title == OWN:
        return {*ops.offered()}
    own = section(title)
    return {*own.meanings}.union(*map(names_of, own.parents))


def refusal(title: str, name: str, shown: str) -> tuple[str, str]:
    """Return the message that a library's function is not computed here, or not with
    these arguments, and the way out."""
    from .suggest import did_you_mean
    from .tensor_library import is_function

    known = meanings(title, name)
    if known:
        ways = " or ".join(_usage(name, meaning) for meaning in known)
        return f"{title}'s {name} is not computed with these arguments", f"write {ways}"
    hint = did_you_mean(name, names_of(title))
    last = name.rpartition(".")[2]
    if hint is None and is_function(last):
        hint = f"{last}(...) without a prefix is {OWN}'s"
    return f"{title}'s {name} is not computed here", hint or "write its formula"


def outside(title: str, name: str, meaning: Meaning, call: str) -> tuple[str, str]:
    """Return the message that a library's function is not computed at its operands, and
    the way out; ``call`` is its call as it is written."""
    if meaning.integers:
        pointed = re.sub(r"(?<![\w.])\d+(?![\w.])", r"\g<0>.0", call)
        return f"{title} computes {name} of integers in integers", f"write {pointed}"
    message = f"{title}'s {name} is computed here only if {meaning.conditions}"
    return message, "give such values, or write its formula"


def written_out(name: str, source: str, at: Span) -> str | None:
    """Return a text with the formula of a function of books in the place of its call,
    whose name is at a span; None if there is none."""
    rest = source[at.end :]
    depth, starts = 0, [1]
    for end, sign in enumerate(rest):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 1:
            starts.append(end + 1)
        if not depth:
            break
    else:
        return None
    starts.append(end + 1)
    given = [rest[a : b - 1].strip() for a, b in pairwise(starts)]
    for meaning in meanings("Books", name):
        fit = meaning.fitted(given, {}, given)
        if fit is not None:
            put = {n: t if t.isalnum() else f"({t})" for n, t in fit[0].items()}
            words = re.split(r"(\W+)", meaning.text)
            text = "".join(put.get(word, word) for word in words)
            around = source[: at.start], rest[end + 1 :]
            return f"({text})".join(around) if any(map(str.strip, around)) else text
    return None


def _usage(name: str, meaning: Meaning) -> str:
    if meaning.constant:
        return name
    inputs = [*meaning.parameters, *([f"*{meaning.rest}"] if meaning.rest else [])]
    return f"{name}({', '.join(inputs)})"


_PERHAPS = re.compile(r"\A\s*=|%[%*/oi]|<-|\.[*^/]|'|(?<!\w)[^\WA-Z]*+(?:[A-Z]\w+|D)\[")
"""Pattern of what may be a mark of another program."""

_MARK = (
    r"(?P<skip>#[^\n]*|\"[^\"\n]*\"|(?<![\w)\]'.])'[^'\n]*'|\b\d+\.(?=[*/^])"
    r"|\b[bfru]'\w[^'\n]*')"
    r"|(?P<Excel>\A\s*=(?!=))"
    r"|(?P<R>%(?:[*/o]|in)?%|(?:^|;)[ \t]*[A-Za-z]\w*[ \t]*<-[ \t])"
    r"|(?P<doubt>(?:^|;)[ \t]*[A-Za-z]\w*[ \t]*<-(?=[\d.(\w])[^;\n]*$)"
    r"|(?P<MATLAB>(?<=[\w)\]'])\s?\.[*^/](?!\*)"
    r"|(?<=[\w)\]])'(?=\s*(?:[-+*/)\],;.^]|$)))"
    r"|\b(?P<Mathematica>[A-Z][A-Za-z]\w*"
    r"|D(?=\[(?=[^A-Za-z\[\],]*+[A-Za-z])[^\[\],]*+,\s*+\{?\s*+[A-Za-z]))"
    r"\[(?P<number>\s*+-?\d*+\s*[],:])?"
)
"""Pattern of the marks, which few texts have; it is compiled at the first of these."""


def _divides(source: str, given: Container[str]) -> bool:
    r"""Return whether each backslash in a text with operators of MATLAB divides by a
    variable, as in `A\b`; a text of LaTeX has none behind an operand.

    Raises:
        ProgramError: `A\exp(x)` divides in MATLAB, and has a command in LaTeX.
    """
    from .notation import IN_LATEX

    for found in re.finditer(r"[\w)\]']\s*(\\([A-Za-z]\w*))", source):
        if found[2] not in given:
            raise ProgramError(
                "E208",
                f"{found[1]} divides in MATLAB, and is a command in LaTeX",
                Span(*found.span(1)),
                source,
                hint=f"write \\ {found[2]} to divide, or * for .* in LaTeX",
            )
        source = source.replace(found[1], " " * len(found[1]))
    return not IN_LATEX.search(source)


def program_of(source: str, given: Container[str]) -> str | None:
    """Return the title of the program whose formula a text is; None if it has no mark
    of one.

    Raises:
        ProgramError: `x<-3` can be an assignment and a comparison.
    """
    if not _PERHAPS.search(source):
        return None
    from .notation import IN_LATEX

    doubt = None
    assigned = {*re.findall(r"\b(\w+)\s*=(?!=)", source)}
    for found in re.finditer(_MARK, source, re.MULTILINE):
        kind = found.lastgroup or ""
        word = found["Mathematica"]
        if word is not None:
            kind, known = "Mathematica", word in names_of("Mathematica")
            if word in given or word in assigned or (found["number"] and not known):
                continue
        if kind == "doubt":
            doubt = found
        elif kind != "skip" and (
            kind == "Excel"
            or not IN_LATEX.search(source)
            or (kind == "MATLAB" and "." in found[0] and _divides(source, given))
        ):
            return None if KEYWORDS.intersection(source.split()) else kind
    if doubt is None or IN_LATEX.search(source):
        return None
    name, _, value = doubt[0].strip("; \t").partition("<-")
    raise ProgramError(
        "E208",
        f"{shortened(doubt[0].strip())} assigns in R, and compares in other languages",
        Span(doubt.start(), doubt.end()),
        source,
        hint=f"write {name.strip()} = {value}, or {name.strip()} < -{value}",
    )


_NAME = re.compile(r"[^\W\d]\w*")

_CONSTANT = r"(?<![\w.])(?:pi|e|inf|nan|tau)(?!\w)"
"""Pattern of a constant in a formula, which a variable of its name must not replace."""


class PrefixReader:
    """A reader of names behind prefixes; a subclass reads what stands around them.

    imported      libraries and the names there, by names that the program imports
    own_prefixes  titles of libraries by prefixes that the program gives them
    """

    source: str
    tokens: list[Token]
    token: Token
    at: int
    variables: set[str]
    imported: dict[str, tuple[str, str]]
    own_prefixes: dict[tuple[str, ...], str]

    @abstractmethod
    def __init__(self, source: str, variables: Any) -> None: ...

    @abstractmethod
    def take(self) -> Token: ...

    @abstractmethod
    def kind_after(self) -> str: ...

    @abstractmethod
    def span_from(self, start: int) -> Span: ...

    @abstractmethod
    def fail(
        self, code: str, message: str, span: Span, hint: str | None = None
    ) -> ProgramError: ...

    @abstractmethod
    def expression(self) -> syntax.Steps[syntax.Expression]: ...

    @property
    def prefixes(self) -> dict[tuple[str, ...], str]:
        """The titles of libraries by their prefixes, which are split at points."""
        return {**paths(), **self.own_prefixes}

    def qualified(self, head: str, token: Token) -> syntax.Expression:
        """Return a name behind a prefix: `torch.sin` is `sin`, and what other libraries
        call so is theirs; `linalg` and `masked` are kept, being parts of names."""
        name, prefixes = head, self.prefixes
        path: tuple[str, ...] = (head,)
        while path in prefixes and self.dot_and_name_follow():
            name = self._after_dot()
            path = (*path, name)
        title = prefixes.get(path[:-1], OWN)
        while self.dot_and_name_follow():
            longer = f"{name}.{self.tokens[self.at + 1].value}"
            if name not in DOTTED if title == OWN else meanings(title, name):
                break
            self._after_dot()
            name = longer
        if title == OWN:
            return syntax.Name(self.span_from(token.start), name, True)
        return self.of_library(title, name, token.start)

    def of_library(self, title: str, name: str, start: int) -> syntax.Expression:
        """Return a library's constant, or the name of its function that is called."""
        span = self.span_from(start)
        if self.token.kind == "(":
            return syntax.Name(span, name, True, title)
        constant = next((m for m in meanings(title, name) if m.constant), None)
        if constant is None:
            raise self._no_meaning(title, name, span)
        return self._formula(constant.text, {}, span)

    def _no_meaning(self, title: str, name: str, span: Span) -> ProgramError:
        message, hint = refusal(title, name, self.source[slice(*span)])
        return self.fail("E108", message, span, hint)

    def _formula(
        self,
        text: str,
        values: Mapping[str, syntax.Expression],
        span: Span,
        conditions: str = "",
        otherwise: tuple[str, str] = ("", ""),
    ) -> syntax.Expression:
        """Return a formula of the table of foreign functions, which stands for a call
        at ``span``; its names are its own. Where the conditions do not hold, it is an
        error with the message and the hint ``otherwise``."""
        inside = {name: f"{name}.{span.start}" for name in values}

        def read(text: str) -> syntax.Expression:
            text = re.sub(_CONSTANT, r"torch.\g<0>", text)
            formula = syntax.bounce(type(self)(text, values).expression())
            return syntax.renamed(formula, inside, span, text)

        made = read(text)
        if conditions:
            test = read(
                " and ".join(
                    self._test_of(c, values) for c in conditions.split(" and ")
                )
            )
            refused = syntax.Refusal(span, *otherwise)
            made = syntax.Conditional(span, made, test, refused, span)
        targets = tuple(syntax.Target(span, inside[name]) for name in values)
        if not targets:
            return made
        return syntax.Apply(span, tuple(values.values()), targets, (), made)

    @staticmethod
    def _test_of(condition: str, names: Iterable[str]) -> str:
        """Return the test that a condition holds of all entries, or has a NaN there."""
        read = sorted({*_NAME.findall(condition)}.intersection(names))
        if not read or re.search(r"\.\D|not |== floor", condition):
            return f"all({condition})"
        return f"all(logical_or({condition}, isnan({' + '.join(read)})))"

    def called_of(
        self,
        title: str,
        name: str,
        arguments: tuple[syntax.Expression, ...],
        named: tuple[syntax.Keyword, ...],
        span: Span,
        at: Span,
    ) -> syntax.Expression:
        """Return the call of a library's function, as that library computes it."""
        keywords = {keyword.name: keyword.value for keyword in named}
        texts = [self.source[slice(*each.span)] for each in arguments]
        for meaning in meanings(title, name):
            fit = meaning.fitted(arguments, keywords, texts)
            if fit is None:
                continue
            values, rest = fit
            if meaning.own:
                heads = meaning.parameters[: meaning.positional]
                spoken = [*takewhile(values.__contains__, heads)]
                inputs = tuple(values[each] for each in spoken)
                others = tuple(each for each in named if each.name not in spoken)
                return syntax.Call(span, meaning.own, inputs, others, at)
            for parameter, text in meaning.defaults.items():
                if parameter not in values:
                    values[parameter] = self._formula(text, {}, span)
            if meaning.rest:
                values[meaning.rest] = syntax.Sequence(span, list, tuple(rest))
            text = meaning.text
            if meaning.joined:
                joined = f"cat([flatten(v) for v in {meaning.rest}])"
                text = re.sub(rf"\b{meaning.rest}\b", joined, text)
            otherwise = outside(title, name, meaning, self.source[slice(*span)])
            return self._formula(text, values, span, meaning.conditions, otherwise)
        raise self._no_meaning(title, name, at)

    def dot_and_name_follow(self) -> bool:
        return self.token.kind == "." and self.kind_after() == "name"

    def _after_dot(self) -> str:
        self.take()
        return str(self.take().value)

    @cached_property
    def arrays(self) -> str:
        """The library whose arrays a program has, by the prefixes in it; empty if these
        are PyTorch's, or of none."""
        heads = {
            str(token.value) for token, after in pairwise(self.tokens)
            if token.kind == "name" and after.kind == "."
        } - self.variables  # fmt: skip
        titles = {self.prefixes.get((head,)) for head in heads}
        titles |= {title for title, _ in self.imported.values()}
        return next(iter(ARRAYS & titles), "") if OWN not in titles else ""

    def remember_imports(self, line: str) -> None:
        """Remember the names that a line imports, with their libraries."""
        begun, _, listed = line.partition(" import ")
        module = begun.removeprefix("from ").strip() if listed else ""
        for word in (listed or line.removeprefix("import ")).strip("() ").split(","):
            name, _, alias = (part.strip() for part in word.partition(" as "))
            path = tuple(f"{module}.{name}".strip(".").split("."))
            below = {
                p[len(path) :]: t for p, t in paths().items() if p[: len(path)] == path
            }
            short = (alias or name,) if module or alias else path
            self.own_prefixes |= {
                (*short, *rest): title for rest, title in below.items()
            }
            title = paths().get(path[:-1], OWN)
            if module and title != OWN and not below:
                chosen = names_of(title) if name == "*" else {name}
                self.imported |= {
                    (alias if name != "*" else "") or each: (title, each)
                    for each in chosen
                }
