"""Proofs that an expression is zero everywhere.

Invariant: True is a proof made by rewriting alone; False says only that no proof was
found. Numbers are used to give up early, never to conclude.

    vanishes(sinh(x) * 2 - exp(x) + exp(-x), {x: 0.3})    # True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import sympy
from sympy.polys.domains import QQ
from sympy.polys.rings import PolyRing

from ..numbers.balls import Ball, ball, size, to_float, working
from ..numbers.expressions import compiled
from ..numbers.system import NoMeaning

MAX_REWRITTEN_STEPS: Final = 600
"""Largest number of distinct parts of an expression that is rewritten in a proof."""

MAX_SIMPLIFIED_STEPS: Final = 60
"""Largest number of distinct parts for which SymPy's general simplification is run."""

MAX_EXPANDED_STEPS: Final = 100
"""Largest number of distinct parts of an expression that is multiplied out."""

MAX_SIGN_CASES: Final = 3
"""Largest number of quantities whose signs are treated case by case in a proof."""

ZERO_TEST_BITS: Final = 256
"""Precision, in bits, of an expression's value beside its point."""

MAX_POLYNOMIAL_TERMS: Final = 100_000
"""Largest number of terms of a polynomial that is multiplied out."""

MAX_SIMPLE_DENOMINATOR: Final = 1000
"""Largest numerator or denominator of a value that is inserted in a proof."""


def vanishes(expression: sympy.Expr, point: Mapping[object, Ball]) -> bool:
    """Tell whether ``expression`` is zero wherever it is defined.

    ``point`` has a value for each symbol; the expression is evaluated there and nearby.
    """
    if expression.is_zero:
        return True
    if not _worth_trying(expression, point, MAX_REWRITTEN_STEPS):
        return False
    return any(tactic(expression) for tactic in _TACTICS)


def vanishes_at(expression: sympy.Expr, point: Mapping[object, Ball]) -> bool:
    """Tell whether an expression is zero wherever symbols that are small fractions at
    the point have these values, and symbols that are equal at the point are equal."""
    first: dict[float, Any] = {}
    known = {}
    for symbol, value in point.items():
        if value.is_exact() and value.is_finite():
            number = to_float(value)
            p, q = number.as_integer_ratio()
            simple = max(abs(p), q) <= MAX_SIMPLE_DENOMINATOR
            own = sympy.Rational(p, q) if simple else symbol
            known[symbol] = first.setdefault(number, own)
    here = expression.xreplace(known)
    return vanishes(here, {s: v for s, v in point.items() if s in here.free_symbols})


def simplifies_away(expression: object, point: Mapping[object, Ball]) -> bool:
    """Tell whether SymPy's own simplification, which is slow, gives zero."""
    if not _worth_trying(expression, point, MAX_SIMPLIFIED_STEPS):
        return False
    return _is_zero(sympy.simplify(expression))


def _worth_trying(
    expression: object, point: Mapping[object, Ball], largest: int
) -> bool:
    try:
        return compiled(expression).size <= largest and _looks_zero(expression, point)
    except NoMeaning:
        return False


def vanishes_here(
    expression: object, point: Mapping[object, Ball]
) -> tuple[tuple[object, int], ...] | None:
    """Return the quantities whose signs at the point prove an expression zero.

    Each comes with its sign, 1 or -1; None: there is no such proof.
    """
    inside = _inside(expression)
    try:
        values = [compiled(part).run(point) for part in inside]
    except NoMeaning:
        return None
    if not inside or any(v.contains(0) for v in values):
        return None
    signs = {u: 1 if v > 0 else -1 for u, v in zip(inside, values, strict=True)}
    here = _with_signs(expression, signs)
    return tuple(signs.items()) if _is_rational_zero(here) else None


def _is_zero(expression: object) -> bool:
    return bool(expression == 0)


def _looks_zero(expression: object, point: Mapping[object, Ball]) -> bool:
    """Tell whether an expression may be 0 at the point and at two points nearby."""
    program = compiled(expression)
    parts = [compiled(part) for part in sympy.Add.make_args(expression)]
    for step in (0.0, 1e-3, -2.3e-3):
        with working(ZERO_TEST_BITS):
            moved = {s: _beside(v, step, i) for i, (s, v) in enumerate(point.items())}
        found = program.run(moved, ZERO_TEST_BITS)
        if found.is_finite() and not found.contains(0):
            total = sum((size(p.run(moved, ZERO_TEST_BITS)) for p in parts), ball(1))
            if abs(found) > total * _NOTHING:
                return False
    return True


_NOTHING: Final = ball(2) ** -130


def _beside(value: Ball, step: float, number: int) -> Ball:
    away = ball(step) * (1 + ball(number % 7) / 10)
    return value + (away if value.contains(0) else value * away)


class _Kernels:
    """Stand-in symbols for functions, with the relations that they satisfy.

    With them an expression is a rational function; it is zero if its numerator, reduced
    by the relations, is zero.
    """

    def __init__(self) -> None:
        self.relations: list[tuple[object, int, object]] = []
        self._symbols: dict[object, object] = {}
        self._logarithms: dict[object, object] = {}
        self._exponentials: dict[object, object] = {}

    def of(self, expression: sympy.Expr) -> Any:
        if not expression.args:
            return expression
        args = [self.of(a) for a in expression.args]
        rule = _KERNEL_RULES.get(expression.func)
        if rule is not None:
            return rule(self, *args)
        if expression.func in (sympy.Add, sympy.Mul):
            return expression.func(*args)
        return self.symbol(expression.func(*args))

    def symbol(
        self, key: object, power: int = 0, equal: object = None, positive: bool = False
    ) -> sympy.Expr:
        """Return the symbol for ``key``; if given, ``symbol**power == equal`` holds."""
        found = self._symbols.get(key)
        if found is None:
            found = sympy.Dummy("k", real=True, positive=positive or None)
            self._symbols[key] = found
            if power:
                self.relations.append((found, power, equal))
        return found

    def log(self, x: sympy.Expr) -> sympy.Expr:
        found = self.symbol(("log", x))
        self._logarithms[found] = x
        return found

    def lambert(self, x: sympy.Expr, *branch: sympy.Expr) -> sympy.Expr:
        """Return the symbol of Lambert's w; exp(w) is the argument over w."""
        found = self.symbol(("lambertw", x, *branch))
        self._exponentials[found] = x / found
        return found

    def exponential(self, exponent: object) -> sympy.Expr:
        """Return ``exp`` as a product, ``exp(c*log(u))`` as a power of ``u``."""
        result = sympy.S.One
        for term in sympy.Add.make_args(sympy.expand(exponent)):
            factor, rest = term.as_coeff_Mul()
            if not factor.is_Rational:
                result *= self.symbol(("exp", term, 1), positive=True)
            elif rest in self._logarithms:
                result *= self.root(self._logarithms[rest], factor)
            elif rest in self._exponentials:
                result *= self.root(self._exponentials[rest], factor)
            else:
                key = ("exp", rest, factor.q)
                result *= self.symbol(key, positive=True) ** factor.p
        return result

    def power(self, base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        if exponent.is_Rational:
            return self.root(base, exponent)
        return self.exponential(exponent * self.log(base))

    def root(self, base: sympy.Expr, exponent: object) -> sympy.Expr:
        """Return a rational power, split at positive factors as SymPy splits it."""
        result = sympy.S.One
        for factor in sympy.Mul.make_args(base**exponent):
            inner, power = factor.as_base_exp()
            if power.is_Integer:
                result *= factor
            else:
                inner = sympy.expand(inner)
                key = ("root", inner, power.q)
                result *= self.symbol(key, power.q, inner, positive=True) ** power.p
        return result

    def sine(self, x: sympy.Expr) -> sympy.Expr:
        return self.symbol(("sin", x), 2, 1 - self.symbol(("cos", x)) ** 2)

    def hyperbolic(self, function: object, x: sympy.Expr) -> sympy.Expr:
        up = self.exponential(x)
        down = 1 / up
        return {
            sympy.sinh: (up - down) / 2,
            sympy.cosh: (up + down) / 2,
            sympy.tanh: (up - down) / (up + down),
        }[function]

    def by_order(self, function: Any, *args: sympy.Expr) -> sympy.Expr:
        """Return a Bessel function in terms of orders 0 and 1 (DLMF 10.6.1, 10.29.1),
        or a polylogarithm of an order below 2 as a logarithm or a quotient."""
        expression = function(*args)
        lower = sympy.expand_func(expression)
        return self.symbol((function, *args)) if lower == expression else self.of(lower)

    def absolute(self, x: sympy.Expr) -> sympy.Expr:
        return self.symbol(("abs", x), 2, x**2, positive=True)


_KERNEL_RULES: Final[dict[object, Callable[..., object]]] = {
    sympy.exp: _Kernels.exponential,
    sympy.log: _Kernels.log,
    sympy.Pow: _Kernels.power,
    sympy.LambertW: _Kernels.lambert,
    sympy.sinc: lambda kernels, x: kernels.sine(x) / x,
    sympy.sin: _Kernels.sine,
    sympy.cos: lambda kernels, x: kernels.symbol(("cos", x)),
    sympy.tan: lambda kernels, x: kernels.sine(x) / kernels.symbol(("cos", x)),
    sympy.Abs: _Kernels.absolute,
    sympy.sign: lambda kernels, x: kernels.absolute(x) / x,
} | {
    function: lambda kernels, *args, function=function, rule=rule: rule(
        kernels, function, *args
    )
    for rule, functions in (
        (_Kernels.hyperbolic, (sympy.sinh, sympy.cosh, sympy.tanh)),
        (_Kernels.by_order, (sympy.besselj, sympy.bessely, sympy.besseli,
                             sympy.besselk, sympy.polylog)),
    )
    for function in functions
}  # fmt: skip


def _is_rational_zero(expression: object) -> bool:
    """Tell whether an expression is zero once functions are symbols with relations."""
    kernels = _Kernels()
    rational = kernels.of(expression)
    equals = [equal for _, _, equal in kernels.relations]
    atoms = set().union(*[part.atoms() for part in (rational, *equals)])
    # Constants that are no fractions are symbols, too.
    symbols = {atom for atom in atoms if not atom.is_Rational}
    symbols |= {symbol for symbol, _, _ in kernels.relations}
    quotients = Quotients(sorted(symbols, key=sympy.default_sort_key))
    try:
        numerator = quotients.of(rational).numerator
        for symbol, power, equal in reversed(kernels.relations):
            if not numerator:
                break
            numerator = quotients.reduced(numerator, symbol, power, equal)
    except (TooLarge, ZeroDivisionError):
        return False
    return not numerator


def _inside(expression: sympy.Expr) -> list[object]:
    """Return the operands of all absolute values and signs in an expression."""
    parts = expression.atoms(sympy.Abs, sympy.sign)
    return sorted({part.args[0] for part in parts}, key=sympy.default_sort_key)


def _with_signs(expression: sympy.Expr, signs: Mapping[object, int]) -> object:
    """Return the expression with the absolute values and signs that ``signs`` fix."""
    return expression.replace(
        lambda part: part.func in (sympy.Abs, sympy.sign) and part.args[0] in signs,
        lambda part: signs[part.args[0]] * (
            part.args[0] if part.func is sympy.Abs else sympy.S.One
        ),
    )  # fmt: skip


def _by_algebra(expression: object) -> bool:
    """Tell whether an expression is zero as a rational function, for all signs.

    Treating the signs case by case is far cheaper than having absolute values as roots,
    so it is done if there are few cases.
    """
    inside = _inside(expression)
    if not inside or len(inside) > MAX_SIGN_CASES:
        return _is_rational_zero(expression)
    return all(
        _is_rational_zero(
            _with_signs(expression, dict(zip(inside, signs, strict=True)))
        )
        for signs in product((1, -1), repeat=len(inside))
    )


def _by_expanding(expression: object) -> bool:
    """Tell whether a small expression is zero once it is expanded."""
    small = compiled(expression).size <= MAX_EXPANDED_STEPS
    return small and _is_zero(sympy.expand(expression))


_TACTICS: Final[tuple[Callable[[object], bool], ...]] = (_by_algebra, _by_expanding)


class TooLarge(ValueError):
    """An error: a polynomial would have too many terms."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A polynomial over a product of powers of polynomials."""

    numerator: Any
    denominator: dict[object, int] = field(default_factory=dict)


class Quotients:
    """The arithmetic of quotients over some symbols."""

    def __init__(self, symbols: Sequence[object]) -> None:
        self._ring = PolyRing(list(symbols), QQ)
        self._made = {
            symbol: Quotient(generator)
            for symbol, generator in zip(symbols, self._ring.gens, strict=True)
        }

    def of(self, expression: object) -> Quotient:
        """Return the quotient that equals a sum, a product or an integer power.

        Raises:
            TooLarge: a polynomial in it has too many terms.
        """
        found = self._made.get(expression)
        if found is None:
            found = self._made[expression] = self._make(expression)
        return found

    def _make(self, expression: Any) -> Quotient:
        if expression.is_Rational:
            value = QQ(int(expression.p), int(expression.q))
            return Quotient(self._ring.ground_new(value))
        if expression.is_Add:
            return self.sum([self.of(part) for part in expression.args])
        if expression.is_Mul:
            return self.product([self.of(part) for part in expression.args])
        base, exponent = expression.args
        return self.power(self.of(base), int(exponent))

    def sum(self, parts: Iterable[Quotient]) -> Quotient:
        parts = list(parts)
        common: dict[object, int] = {}
        for part in parts:
            for factor, power in part.denominator.items():
                common[factor] = max(common.get(factor, 0), power)
        total = self._ring.zero
        for part in parts:
            lacking = {f: n - part.denominator.get(f, 0) for f, n in common.items()}
            total += self._times(part.numerator, lacking)
        return Quotient(total, common if total else {})

    def product(self, parts: Iterable[Quotient]) -> Quotient:
        numerator = self._ring.one
        denominator: dict[object, int] = {}
        for part in parts:
            numerator = _multiplied(numerator, part.numerator)
            for factor, power in part.denominator.items():
                denominator[factor] = denominator.get(factor, 0) + power
        return Quotient(numerator, denominator if numerator else {})

    def power(self, base: Quotient, exponent: int) -> Quotient:
        if exponent < 0:
            return self.power(self._inverse(base), -exponent)
        return self.product([base] * exponent)

    def _inverse(self, quotient: Quotient) -> Quotient:
        constant, factors = self._factors(quotient.numerator)
        inverse = self._ring.ground_new(QQ(1) / constant)
        return Quotient(self._times(inverse, quotient.denominator), factors)

    def _factors(self, polynomial: Any) -> tuple[Any, dict[object, int]]:
        """Return a constant and the factors, by power, that make a polynomial."""
        if not polynomial:
            raise ZeroDivisionError("a denominator is zero everywhere")
        constant, primitive = polynomial.primitive()
        powers = tuple(map(min, zip(*primitive.monoms(), strict=True)))
        rest = self._ring.zero
        for exponents, coefficient in primitive.terms():
            left = tuple(e - p for e, p in zip(exponents, powers, strict=True))
            rest[left] = coefficient
        if rest.LC < 0:
            constant, rest = -constant, -rest
        factors = {g: n for g, n in zip(self._ring.gens, powers, strict=True) if n}
        if rest != self._ring.one:
            factors[rest] = 1
        return constant, factors

    def _times(self, polynomial: object, factors: dict[object, int]) -> object:
        for factor, power in factors.items():
            for _ in range(power if polynomial else 0):
                polynomial = _multiplied(polynomial, factor)
        return polynomial

    def reduced(
        self, polynomial: Any, symbol: object, power: int, equal: object
    ) -> Any:
        """Return a multiple of the polynomial in which ``symbol**power`` is ``equal``;
        it is zero only if the polynomial is zero under that relation."""
        position = self._ring.gens.index(self._made[symbol].numerator)
        by_count: dict[int, Any] = {}
        for exponents, coefficient in polynomial.terms():
            count, left = divmod(exponents[position], power)
            key = (*exponents[:position], left, *exponents[position + 1 :])
            part = by_count.setdefault(count, self._ring.zero)
            part[key] = part.get(key, QQ(0)) + coefficient
        for part in by_count.values():
            part.strip_zero()
        value = self.of(equal)
        return self.sum(
            self.product([Quotient(part), self.power(value, count)])
            for count, part in by_count.items()
        ).numerator


def _multiplied(a: Any, b: Any) -> object:
    if len(a) * len(b) > MAX_POLYNOMIAL_TERMS:
        raise TooLarge
    return a * b
