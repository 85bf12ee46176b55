"""Equations as programs: the derivative of one of the names that an equation ties.

Near a point of `F(x, y) = 0`, y is a function of x with the derivative `-F_x/F_y`. So
is `y - F/F_y`, where y and `F_y` stand for their values: this program is run.

Invariant: a text that is a program by itself is an equation only if ``of`` names one of
its inputs, by which it would have the derivative 1, and its left side is a name or a
call of a known function: `x = sin(y)`, `exp(y) = x + y`.

    found = equation_of("x^2 + y^2 = 25", "y", {"x", "y"})
    found.program           # y = y - ((x^2 + y^2) - (25))/detach(diff(..., y))
    found.require_at(read_bindings(["x=3", "y=4"]))
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from .bindings import Binding
from .errors import ProgramError, Span
from .excerpt import shortened
from .mend import is_plain
from .parser import parse
from .prepare import input_names, prepare
from .run import Session
from .tensor_library import is_function

MAX_LETTERS = 3
"""Most letters of a word that are a product of names."""

MAX_GAP = 1e-6
"""Largest distance of the two sides at a point, relative to the larger one or to 1."""


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation of numbers.

    source       the text that was typed
    left, right  its sides, in the language
    of           the name whose derivatives are asked for
    names        the names that it reads
    """

    source: str
    left: str
    right: str
    of: str
    names: tuple[str, ...]

    @property
    def gap(self) -> str:
        """The difference of the sides, in brackets."""
        return f"(({self.left}) - ({self.right}))"

    @property
    def program(self) -> str:
        gap = self.gap
        return f"{self.of} = {self.of} - {gap}/detach(diff({gap}, {self.of}))"

    def slope(self, by: str) -> str:
        """Return the formula of the derivative by another name, in brackets."""
        return f"(-diff({self.gap}, {by})/diff({self.gap}, {self.of}))"

    def second(self, first: str, last: str) -> str:
        """Return the formula of the second derivative by two names."""
        slope = self.slope(first)
        along = f"diff({slope}, {self.of})*{self.slope(last)}"
        return f"diff({slope}, {last}) + {along}"

    def others(self, wrt: Sequence[str] | None) -> list[str]:
        """Return the names that are differentiated by.

        Raises:
            ProgramError: the name itself is among them, or there is none.
        """
        others = [name for name in self.names if name != self.of]
        if wrt is not None and self.of in wrt:
            message = f"--wrt and --of both name '{self.of}'"
            hint = f"--wrt {','.join(others)}" if others else "derive by another name"
            raise ProgramError("E507", message, hint=hint)
        if not others:
            message = f"'{self.of}' is the only name of the equation: it is a number"
            raise ProgramError("E507", message, hint="an equation ties several names")
        return others if wrt is None else [*wrt]

    def require_at(self, bindings: Sequence[Binding]) -> None:
        """Refuse values that do not satisfy the equation, or at which it does not make
        the name a function of the others; some names may have no value.

        Raises:
            ProgramError: the values are no point of the equation, or no numbers.
        """
        if not {*self.names} <= {binding.name for binding in bindings}:
            return
        gap = f"({self.left}) - ({self.right})"
        sides = [
            Session(prepare(f"{text} + 0*({gap})", bindings)).run().output
            for text in (f"({self.left})", f"({self.right})", f"diff({gap}, {self.of})")
        ]
        span = Span(0, len(self.source))
        if any(side.ndim for side in sides):
            message = "an equation of arrays has no derivative of one name"
            hint = "write one equation of numbers"
            raise ProgramError("E596", message, span, self.source, hint=hint)
        left, right, slope = (side.item() for side in sides)
        if not abs(left - right) <= MAX_GAP * max(1.0, abs(left), abs(right)):
            message = (
                f"the values do not satisfy it: left {left:.6g}, right {right:.6g}"
            )
            hint = f"change the value of {self.of}, so that both sides are equal"
            raise ProgramError("E596", message, span, self.source, hint=hint)
        if slope == 0 or slope != slope:
            message = (
                f"'{self.of}' is no function of the others here: left - right has the "
                f"derivative {slope:.6g} by {self.of}"
            )
            hint = "ask for another name with --of, or at another point"
            raise ProgramError("E596", message, span, self.source, hint=hint)


def equation_of(source: str, of: str | None, values: Iterable[str]) -> Equation | None:
    """Return the equation that a text is, if ``of`` is a name that it reads and does
    not assign to; else None.

    Args:
        source: the text.
        of: the name of ``--of``.
        values: the names that have values.
    """
    given = frozenset(values)
    signs = [*re.finditer(r"(?<![=<>!:+*/^%@-])=(?!=)", source)]
    several = {*";\n"} & {*source.strip("; \t\r\n")}
    if of is None or len(signs) != 1 or several:
        return None
    sides = source[: signs[0].start()], source[signs[0].end() :]
    with suppress(ProgramError):
        parse(source, given)
        name, call, _ = sides[0].strip().partition("(")
        known = is_function(name) if call else name.isidentifier()
        if name == of or not known:
            return None
    try:
        read = [parse(side.strip().rstrip(";"), given) for side in sides]
        named = {n for each in read for n in input_names(each, given)}
        if of not in named and len(of) == 1:
            # The name may be a letter of a product, as in `xy = 1`.
            short = (n for n in named if of in n and len(n) <= MAX_LETTERS)
            named |= {letter for n in short for letter in n}
        letters = {*filter(is_plain, named)}
        # Read again with the letters of both sides, by which `xy` is a product.
        left, right = (
            parse(each.source, given | letters | {of}).source for each in read
        )
        names = input_names(parse(f"({left}) - ({right})", given), given)
    except ProgramError:
        return None
    return Equation(source, left, right, of, names) if of in names else None


def note_of(equation: Equation) -> str:
    """Return the remark on how an equation was read."""
    text = shortened(equation.source.strip(), 60)
    return (
        f"{text} is an equation: {equation.of} is a function of the other names there"
    )
