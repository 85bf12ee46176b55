r"""Derivatives in mathematical notation, as factors of a formula.

Invariant: what is derived is read as any other part of the formula; a function that the
program defines is derived at the names that it is derived by.

    \frac{d}{dx} x^3         # diff(x^3, x)
    d/dx x^3                 # diff(x^3, x)
    f(x) = x^3; \frac{d f}{dx}      # diff(f(x), x)
"""

import re
from abc import abstractmethod
from typing import NamedTuple

from .derivatives import DIFF
from .maxima import MAX_DERIVATIVE_ORDER
from .notation import (
    ATOM,
    CROSSES,
    NotationPiece,
    StatementWords,
    call,
    on_the_line,
)


class WrittenDerivative(NamedTuple):
    """The parts of a derivative in LaTeX: what is derived, empty if it follows the
    fraction, the names that it is derived by, and whether the signs are partial."""

    of: str
    by: tuple[str, ...]
    partial: bool


_D = r"\s*+(?:d|(?P<partial>\\partial(?![A-Za-z])))\s*+"
_ORDER = r"(?:\^\s*+(?:(\d)|\{\s*+(\d++)\s*+\}))?+\s*+"
_ABOVE = re.compile(rf"{_D}{_ORDER}(?P<of>.*)", re.DOTALL)
_BELOW = re.compile(
    rf"{_D}(?P<name>\\?[^\W\d_]++(?:_(?:\w|\{{\w++\}}))?\d*+)\s*+{_ORDER}"
    r"(?:\\[,;: ])?"
)


_RAISED = r"(?:\s*(?:\^\s*\d|[²³]))?"
PLAIN_DERIVATIVE = re.compile(
    rf"(?P<above>[d∂]{_RAISED})\s*/\s*"
    rf"(?P<below>(?:[d∂][^\W\d_]++(?:_\w++)?{_RAISED})+)\s*(?=[\w(\\√|])"
)
"""Pattern of a derivative without LaTeX, before what is derived: `d/dx`, `∂²/∂x∂y`."""

_OPERATOR = re.compile(
    rf"\(\s*(?P<above>[d∂]{_RAISED})\s*/\s*"
    rf"(?P<below>(?:[d∂][^\W\d_]++(?:_\w++)?{_RAISED})+)\s*\)\s*(?=[\w(\\√|])"
)
"""Pattern of a derivative in brackets, before what is derived: `(d/dx)(x^2)`."""

_ENCLOSED = re.compile(rf"(?:∂|(?<!\w)d){_RAISED}\s*(?=\()")
"""Pattern of the sign before what is derived, if this is in brackets: `d(x^2)/dx`."""

_BY = re.compile(rf"\s*/\s*((?:[d∂]\s?[^\W\d_]++(?:_\w++)?{_RAISED})+)")
"""Pattern of what it is derived by, behind the brackets."""

NAMED_DERIVATIVE = re.compile(
    rf"(?P<above>(?:∂|(?<!\w)d){_RAISED}\s*(?P<of>[^\W\d_]\w*)(?:\([^()]*\))?)\s*/\s*"
    rf"(?P<below>(?:[d∂][^\W\d_]++(?:_\w++)?{_RAISED})+)"
)
"""Pattern of the derivative of a name, without LaTeX: `∂f/∂x`, `d²f/dx²`."""


def latex_of(side: str) -> str:
    """Return a side of a derivative without LaTeX as one of a fraction in LaTeX."""
    plain = side.replace("²", "^2").replace("³", "^3")
    return plain.replace("∂", r"\partial ")


def read_derivative(above: str, below: str) -> WrittenDerivative | None:
    """Return what the two sides of a fraction mean as a derivative; None if nothing."""
    head = _ABOVE.fullmatch(above)
    at, names = 0, list[str]()
    while found := _BELOW.match(below, at):
        names += [found["name"]] * int(found[3] or found[4] or 1)
        at = found.end()
    if head is None or not names or below[at:].strip():
        return None
    if len(names) != int(head[2] or head[3] or 1) or len(names) > MAX_DERIVATIVE_ORDER:
        return None
    return WrittenDerivative(
        head["of"].strip(), tuple(names), head["partial"] is not None
    )


class DerivativeReader(StatementWords):
    """A reader of derivatives; a subclass reads what is derived."""

    @abstractmethod
    def product(self) -> NotationPiece: ...

    @abstractmethod
    def power(self) -> NotationPiece: ...

    @abstractmethod
    def joins(self) -> bool: ...

    @abstractmethod
    def listed(self) -> list[NotationPiece]: ...

    @abstractmethod
    def inside(self, text: str) -> NotationPiece: ...

    def skip(self, closing: str | None) -> str:
        """Pass over the rest of brackets, and return what is in them."""
        start, depth = self.token.start, 1
        opening = self.tokens[self.at - 1].kind
        while depth:
            token = self.take()
            depth += (token.kind == opening) - (token.kind == closing)
            if token.kind == "end":
                raise self.doubt()
        return self.text[start : token.start]

    def derivative(self) -> NotationPiece | None:
        r"""Return what `\frac{d}{dx} f` and `\frac{\partial^2 f}{\partial x^2}` mean;
        None where the fraction is no derivative."""
        start = self.at
        self.take()
        parts: list[str] = []
        while len(parts) < 2 and self.take_if("{"):
            parts.append(self.skip("}"))
        found = read_derivative(*parts) if len(parts) == 2 else None
        if found is None or (not found.partial and self.bound("d")):
            self.at = start
            return None
        return self._derived(found)

    def plain_derivative(self) -> NotationPiece | None:
        """Return what `d/dx f`, `∂²/∂x∂y f` and `∂f/∂x` mean; None if it is no
        derivative."""
        start = self.token.start
        written = PLAIN_DERIVATIVE.match(self.text, start)
        written = written or _OPERATOR.match(self.text, start)
        if written is None and _ENCLOSED.match(self.text, self.token.start):
            return self._derivative_of_brackets()
        if written is None:
            written = NAMED_DERIVATIVE.match(self.text, self.token.start)
            of = written["of"] if written is not None else ""
            if not (self.bound(of) or self.defined(of)) or self.bound(f"d{of}"):
                return None
        if written is None or self.bound("d"):
            return None
        sides = [latex_of(written[side]) for side in ("above", "below")]
        found = read_derivative(*sides)
        if found is None or any(self.bound(f"d{name}") for name in found.by):
            return None
        while self.token.start < written.end():
            self.take()
        slope, made = self._derived(found), self.defined(found.of)
        if made is None or self.token.spaced:
            return slope
        return self._at_point("_".join([found.of, *found.by]), made, slope)

    def _derivative_of_brackets(self) -> NotationPiece | None:
        """Return what `d(x^2)/dx` and `∂(x^2 y)/∂x` mean; None if it is a product."""
        start, begun = self.at, self.token.start
        while self.take().kind != "(":
            pass
        inside = self.skip(")")
        end = self.token.start
        below = _BY.match(self.text, end)
        found = None
        if below is not None and not self.bound("d"):
            above = self.text[begun:end]
            found = read_derivative(latex_of(above), latex_of(below[1]))
        if found is None or any(self.bound(f"d{name}") for name in found.by):
            self.at = start
            return None
        assert below is not None
        while self.token.start < below.end():
            self.take()
        return self._derived(found._replace(of=inside.strip()))

    def nabla(self) -> NotationPiece:
        r"""Return what `∇f`, `∇·F`, `∇×F` and `∇²f` mean. The gradient is that of a
        function which the program defines, by the function's inputs."""
        self.take()
        if self.kind == "raised" or self.kind == "**":
            power = self.take().text if self.kind == "raised" else ""
            power = on_the_line(power) if power else self._exponent()
            if power != "2":
                raise self.doubt()
            return self.field("lap")
        if self.kind == "*":
            return self.field("curl" if self.take().text in CROSSES else "div")
        name = self.take().text if self.kind == "word" else ""
        made = self.defined(name)
        if made is None:
            raise self.doubt()
        by = [each.strip() for each in made[len(name) + 1 : -1].split(",")]
        f = call(name, [*map(NotationPiece, by)])
        slopes = [call(DIFF, [f, NotationPiece(each)]) for each in by]
        listed = ", ".join(each.text for each in slopes)
        whole = slopes[0] if len(by) == 1 else NotationPiece(f"[{listed}]", ATOM, 1)
        return self._at_point(f"gradient_of_{name}", made, whole)

    def _at_point(
        self, name: str, made: str, derivative: NotationPiece
    ) -> NotationPiece:
        """Return a derivative of a function, at the point in the brackets behind it if
        they have other inputs than its definition."""
        start, (called, _, inputs) = self.at, made.partition("(")
        if self.kind != "(" or self._repeats(called, made):
            return derivative
        self.at = start
        point = self.listed()
        if len(point) != inputs.count(",") + 1:
            raise self.doubt()
        self.functions[name] = f"{name}({inputs} = {derivative.text}"
        return NotationPiece(call(name, point).text, ATOM, derivative.rank)

    def _exponent(self) -> str:
        self.take()
        return self.skip("}") if self.take_if("{") else self.take().text

    def _repeats(self, name: str, made: str) -> bool:
        """Return whether brackets with a function's own inputs follow; pass them."""
        self.take()
        inside = self.skip(")")
        return f"{name}({inside})".replace(" ", "") == made.replace(" ", "")

    def field(self, function: str) -> NotationPiece:
        """Return the derivative of a field: of a function of the program, whose name
        follows, or of what is in brackets."""
        made = self.defined(self.token.text) if self.kind == "word" else None
        if made is not None:
            name = self.take().text
            if self.kind == "(" and not self._repeats(name, made):
                raise self.doubt()
            return call(function, [NotationPiece(name)])
        return call(function, self.listed() if self.kind == "(" else [self.power()])

    def _derived(self, found: WrittenDerivative) -> NotationPiece:
        """Return the derivative of what was read, or of what follows."""
        if made := self.defined(found.of):
            inputs = [each.strip() for each in made[len(found.of) + 1 : -1].split(",")]
            given = inputs if len(inputs) > 1 else [self.inside(found.by[0]).text]
            piece = call(found.of, [*map(NotationPiece, given)])
        elif found.of:
            piece = self.inside(found.of)
        elif self.kind == "(":
            piece = self.power()
            if self.joins():
                self.guessed("it is not clear how far the derivative goes")
        else:
            piece = self.product()
        names = [self.inside(name).text for name in found.by]
        return call(DIFF, [piece, *map(NotationPiece, names)])

    def defined(self, word: str) -> str | None:
        """Return the call of a function that the program defines, with its own inputs,
        as ``f(x, y)``; None for any other word."""
        if not word:
            return None
        return next((each for each in self.ranks if each.startswith(f"{word}(")), None)
