"""Names behind the prefixes of libraries, and the calls of these libraries' functions.

A formula of the foreign table stands in the tree in place of a call; all of it has the
span of that call, and its parameters are assigned to before it is computed.

    parser.qualified("np", token)    # on 'np.pi': Name('pi')
"""

import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any

from . import syntax
from .errors import ProgramError, Span
from .foreign import ARRAYS, OWN, meanings, names_of, outside, paths, refusal
from .lexicon import DOTTED
from .tokens import Token

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
            otherwise = outside(title, name, meaning)
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
