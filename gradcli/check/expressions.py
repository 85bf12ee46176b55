"""Conversion of terms to SymPy's expressions, their values on balls, and proofs that an
expression is zero everywhere.

Invariants: nothing in the conversion recurses; SymPy's trees are built by calling
SymPy's functions on its objects, never from text. A symbol is a Dummy, so no name meets
one of SymPy's own. A proof is made by rewriting alone; numbers are used to give up
early, never to conclude.

    book = Expressions()
    e = book.of(term)                           # a SymPy expression
    compiled(e).run(book.values)                # its value at the point
    vanishes(sinh(x) * 2 - exp(x) + exp(-x), {x: 0.3})    # True
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from itertools import product
from math import prod
from typing import Any, Final, TypeAlias

import sympy
from flint import Ordering, arb, fmpq, fmpq_mpoly_ctx

from ..engine.raw import Run
from ..ops import FUNCTIONS
from ..ops.basis import ARITHMETIC
from ..ops.records import compared_record
from ..ops.spellings import SPELLINGS
from .balls import (
    NAN,
    ONE,
    START_BITS,
    STEPS,
    UNKNOWN,
    Ball,
    apply,
    ball,
    bessel,
    size,
    to_float,
    working,
)
from .graph import Evaluation, compute
from .system import NoMeaning, Number, exact
from .terms import Term, ordered


def _in_sympy(word: str) -> Run:
    head, *given = word.split()
    function: Run = getattr(sympy, head)
    return partial(function, *map(int, given)) if given else function


FORMULAS: Final[Mapping[str, Run]] = {
    **{name: _in_sympy(s.sympy) for name, s in SPELLINGS.items() if s.sympy},
    **ARITHMETIC,
    "total": sympy.Add,
    "choice": lambda x: x,
    "part": lambda x, size: x,
}
"""SymPy's formulas of scalar functions whose rows have no expression of their own."""


@cache
def formula_of(name: str) -> Run:
    """Return SymPy's formula of a scalar function; raise `NoMeaning` if it has none."""
    entry = FUNCTIONS.get(name)
    if entry is not None and entry.sym:
        return partial(entry.sym, sympy)
    if name in STEPS and name not in FORMULAS:
        raise NoMeaning(f"{STEPS[name].words} has no formula")
    return FORMULAS[name]


def number(value: Number) -> sympy.Expr:
    """Return an exact number as SymPy's."""
    if isinstance(value, Fraction | int):
        return sympy.Rational(value)
    if value != value:
        return sympy.nan
    return sympy.oo if value > 0 else -sympy.oo


class Expressions:
    """The SymPy expressions of terms; each term's is made once."""

    def __init__(self, free: Iterable[int] = ()) -> None:
        """Start without expressions; choices with serials in ``free`` are symbols."""
        self.values: dict[sympy.Dummy, Ball] = {}
        """Values of the symbols at the point."""
        self.free = frozenset(free)
        self.chosen: dict[sympy.Dummy, int] = {}
        """Serials of the choices that symbols stand for."""
        self._made: dict[int, sympy.Expr] = {}
        self._stopped: dict[sympy.Dummy, Term] = {}

    def released(self, expression: sympy.Expr) -> sympy.Expr:
        """Return the expression with stopped terms written out, and with 0 for the
        symbol of a choice, which the value does not depend on."""
        expression = expression.xreplace(dict.fromkeys(self.chosen, sympy.S.Zero))
        while stopped := expression.free_symbols & self._stopped.keys():
            expression = expression.xreplace(
                {s: self.of(self._stopped[s]) for s in stopped}
            )
        return expression

    def of(self, root: Term) -> sympy.Expr:
        made = self._made
        if root.serial not in made:
            for term in ordered([root]):
                if term.serial not in made:
                    made[term.serial] = self._make(term)
        return made[root.serial]

    def _make(self, term: Term) -> sympy.Expr:
        if term.name == "number":
            return number(term.content)
        if term.name in ("symbol", "stop"):
            symbol = sympy.Dummy(str(term.content), real=True)
            self.values[symbol] = term.value
            if term.name == "stop":
                self._stopped[symbol] = term.args[0]
            return symbol
        if term.serial in self.free:
            symbol = sympy.Dummy("chosen", real=True)
            self.values[symbol] = term.value
            self.chosen[symbol] = term.serial
            return symbol
        made = [self._made[a.serial] for a in term.args]
        return formula_of(term.name)(*made)


def off_jumps(derivative: sympy.Expr) -> Any:
    """Return a derivative without the impulses at jumps, which are zero elsewhere."""
    return derivative.replace(sympy.DiracDelta, lambda *at: sympy.S.Zero)


def _constant(value: Any) -> Ball:
    return ball(value) if isinstance(value, Fraction) else NAMED[value]()


def _applied(name: str, *args: Any) -> Any:
    own = _OWN.get(name)
    return apply(name, *args) if own is None else own(*args)


@compared_record
class StepProgram:
    """An expression as a list of steps, each on the results of earlier ones."""

    symbols: tuple[tuple[int, sympy.Symbol], ...]
    numbers: tuple[tuple[int, Any], ...]
    steps: tuple[tuple[int, str, tuple[int, ...]], ...]
    size: int

    def run(
        self, values: Mapping[Any, Any], bits: int = START_BITS,
        constant: Run = _constant, applied: Run = _applied,
    ) -> Any:  # fmt: skip
        """Return the expression's value, by default on balls; raise `NoMeaning` if a
        symbol has none. ``constant`` makes numbers, ``applied`` applies functions."""
        results: list[Any] = [None] * self.size
        with working(bits):
            for register, symbol in self.symbols:
                if symbol not in values:
                    raise NoMeaning(f"no value for {symbol}")
                results[register] = values[symbol]
            for register, number in self.numbers:
                results[register] = constant(number)
            for register, name, at in self.steps:
                results[register] = applied(name, *[results[i] for i in at])
        return results[self.size - 1]


NAMED: Final[dict[sympy.Expr, Callable[[], Ball]]] = {
    sympy.pi: arb.pi,
    sympy.E: arb.const_e,
    sympy.oo: arb.pos_inf,
    -sympy.oo: arb.neg_inf,
    sympy.zoo: lambda: NAN,
    sympy.nan: lambda: NAN,
    sympy.EulerGamma: arb.const_euler,
}


Step: TypeAlias = "tuple[str, tuple[sympy.Expr, ...]]"
"""Name of a function, and the expressions that it is applied to."""


_OWN: Final[dict[str, Run]] = {
    "Mul": lambda *factors: prod(factors, start=ONE),
    **{f"bessel{kind}": partial(bessel, kind) for kind in "ijyk"},
    "zeta": lambda s, *a: s.zeta(*a),
    "lowergamma": lambda a, x: x.gamma_lower(a),
    "uppergamma": lambda a, x: x.gamma_upper(a),
    "DiracDelta": lambda x, *order: UNKNOWN if x.contains(0) else ball(0),
    "Heaviside": lambda x, *at: UNKNOWN if x.contains(0) else ball(int(x > 0)),
}
"""Functions on balls that occur only in SymPy's derivatives, by SymPy's name."""

_REWRITTEN: Final[dict[type[sympy.Expr], Callable[[sympy.Expr], Step]]] = {
    sympy.cot: lambda x: ("div", (sympy.cos(x), sympy.sin(x))),
    sympy.sec: lambda x: ("div", (sympy.S.One, sympy.cos(x))),
    sympy.csc: lambda x: ("div", (sympy.S.One, sympy.sin(x))),
    sympy.coth: lambda x: ("div", (sympy.S.One, sympy.tanh(x))),
    sympy.sech: lambda x: ("div", (sympy.S.One, sympy.cosh(x))),
    sympy.csch: lambda x: ("div", (sympy.S.One, sympy.sinh(x))),
    sympy.sinc: lambda x: ("sinc", (x / sympy.pi,)),
}
"""Makers of a step that computes a SymPy function by another function, by class."""

_HEADS: Final[dict[type[sympy.Expr], str]] = {
    formula: name for name, formula in FORMULAS.items() if isinstance(formula, type)
} | {sympy.Pow: "pow", **{getattr(sympy, name): name for name in _OWN}}
"""Names of the functions that compute SymPy's classes."""


def compiled(expression: sympy.Expr) -> StepProgram:
    """Return an expression as a program, in which equal parts are one step; raise
    `NoMeaning` if there is no function that computes a part."""
    registers: dict[sympy.Expr, int] = {}
    symbols = []
    numbers: list[tuple[int, Any]] = []
    steps: list[tuple[int, str, tuple[int, ...]]] = []
    stack = [(expression, False)]
    while stack:
        part, ready = stack.pop()
        if part in registers:
            continue
        register = len(registers)
        if part in NAMED:
            numbers.append((register, part))
        elif part.is_Rational:
            numbers.append((register, Fraction(int(part.p), int(part.q))))
        elif part.is_Symbol:
            symbols.append((register, part))
        else:
            function, args = _step(part)
            if not ready:
                stack.append((part, True))
                stack.extend((a, False) for a in args)
                continue
            steps.append((register, function, tuple(registers[a] for a in args)))
        registers[part] = register
    return StepProgram(tuple(symbols), tuple(numbers), tuple(steps), len(registers))


def _step(part: sympy.Expr) -> Step:
    rewrite = _REWRITTEN.get(part.func)
    if rewrite is not None:
        return rewrite(*part.args)
    name = _HEADS.get(part.func)
    if name is None:
        raise NoMeaning(f"{part.func.__name__} has no numeric meaning here")
    return name, part.args


MAX_REWRITTEN_STEPS: Final = 600
MAX_SIMPLIFIED_STEPS: Final = 60
MAX_EXPANDED_STEPS: Final = 100
MAX_SIGN_CASES: Final = 3

ZERO_TEST_BITS: Final = 256
"""Precision, in bits, of an expression's value beside its point."""

MAX_POLYNOMIAL_TERMS: Final = 100_000

MAX_SIMPLE_DENOMINATOR: Final = 1000
"""Largest numerator or denominator of a value that is inserted in a proof."""

Quotient: TypeAlias = tuple[Any, Any]
"""Pair of polynomials, the second of which is not 0."""


def vanishes(expression: sympy.Expr, point: Mapping[object, Ball]) -> bool:
    """Tell whether an expression is zero wherever it is defined; it is evaluated at the
    values that ``point`` has for its symbols, and nearby."""
    if expression.is_zero:
        return True
    if not _worth_trying(expression, point, MAX_REWRITTEN_STEPS):
        return False
    if _by_algebra(expression):
        return True
    small = compiled(expression).size <= MAX_EXPANDED_STEPS
    return small and bool(sympy.expand(expression) == 0)


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
    return bool(sympy.simplify(expression) == 0)


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
    """Return the quantities, each with its sign, 1 or -1, whose signs at the point
    prove an expression zero; None if there is no such proof."""
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


def _looks_zero(expression: object, point: Mapping[object, Ball]) -> bool:
    program = compiled(expression)
    parts = [compiled(part) for part in sympy.Add.make_args(expression)]
    for step in (0.0, 1e-3, -2.3e-3):
        with working(ZERO_TEST_BITS):
            moved = {
                s: _with_condition(v, step, i) for i, (s, v) in enumerate(point.items())
            }
        found = program.run(moved, ZERO_TEST_BITS)
        if found.is_finite() and not found.contains(0):
            total = sum((size(p.run(moved, ZERO_TEST_BITS)) for p in parts), ball(1))
            if abs(found) > total * _NOTHING:
                return False
    return True


_NOTHING: Final = ball(2) ** -130


def _with_condition(value: Ball, step: float, number: int) -> Ball:
    away = ball(step) * (1 + ball(number % 7) / 10)
    return value + (away if value.contains(0) else value * away)


def are_equal(evaluation: Evaluation, a: int, b: int) -> bool:
    """Tell whether SymPy shows that two steps made of constants alone are equal."""
    graph, made = evaluation.graph, dict[int, Any]()
    leaf = lambda step: number(exact(graph.leaf(step)))
    applied = lambda name, args: args[0] if name == "stop" else formula_of(name)(*args)
    try:
        compute(graph, evaluation.below([a, b]), made, leaf, applied)
        return _is_nothing(made[a] - made[b])
    except (NoMeaning, RecursionError, ValueError, TypeError):
        return False


@cache
def _is_nothing(constant: sympy.Expr) -> bool:
    gap = sympy.expand_log(constant, factor=True)
    if vanishes(gap, {}) or sympy.simplify(gap) == 0:
        return True
    return gap.equals(0) is True


class _Kernels:
    """Stand-in symbols for functions, with the relations that they satisfy: an
    expression is then a rational function, zero if its numerator, reduced by them, is
    zero."""

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

    def hyperbolic(self, x: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
        """Return the hyperbolic sine and cosine."""
        up = self.exponential(x)
        return (up - 1 / up) / 2, (up + 1 / up) / 2

    def by_order(self, expression: sympy.Expr) -> sympy.Expr:
        """Return a Bessel function in terms of orders 0 and 1 (DLMF 10.6.1, 10.29.1),
        or a polylogarithm of an order below 2 as a logarithm or a quotient."""
        lower = sympy.expand_func(expression)
        return self.symbol(expression) if lower == expression else self.of(lower)

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
    sympy.sinh: lambda kernels, x: kernels.hyperbolic(x)[0],
    sympy.cosh: lambda kernels, x: kernels.hyperbolic(x)[1],
    sympy.tanh: lambda kernels, x: operator.truediv(*kernels.hyperbolic(x)),
} | {
    function: lambda kernels, *args, function=function: kernels.by_order(
        function(*args)
    )
    for function in (sympy.besselj, sympy.bessely, sympy.besseli, sympy.besselk,
                     sympy.polylog)
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
        numerator, _ = quotients.of(rational)
        for symbol, power, equal in reversed(kernels.relations):
            if not numerator:
                break
            numerator = quotients.reduced(numerator, symbol, power, equal)
    except (PolynomialTooLarge, ZeroDivisionError):
        return False
    return not numerator


def _inside(expression: sympy.Expr) -> list[object]:
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
    """Tell whether an expression is zero as a rational function, for all signs: few
    cases of signs are far cheaper than absolute values as roots."""
    inside = _inside(expression)
    if not inside or len(inside) > MAX_SIGN_CASES:
        return _is_rational_zero(expression)
    return all(
        _is_rational_zero(
            _with_signs(expression, dict(zip(inside, signs, strict=True)))
        )
        for signs in product((1, -1), repeat=len(inside))
    )


class PolynomialTooLarge(ValueError):
    """An error: a polynomial would have too many terms."""


class Quotients:
    """The arithmetic of quotients of polynomials in some symbols: pairs of a numerator
    and a denominator, which may have factors in common."""

    def __init__(self, symbols: Sequence[object]) -> None:
        names = [f"x{i}" for i in range(len(symbols))]
        self._context = fmpq_mpoly_ctx.get(names, Ordering.lex)
        self._one = self._context.constant(1)
        self._position = {symbol: i for i, symbol in enumerate(symbols)}
        pairs = zip(symbols, self._context.gens(), strict=True)
        self._made: dict[Any, Quotient] = {s: (gen, self._one) for s, gen in pairs}

    def of(self, expression: Any) -> Quotient:
        """Return the quotient that equals a sum, a product or an integer power."""
        found = self._made.get(expression)
        if found is None:
            found = self._made[expression] = self._make(expression)
        return found

    def _make(self, expression: Any) -> Quotient:
        if expression.is_Rational:
            value = fmpq(int(expression.p), int(expression.q))
            return self._context.constant(value), self._one
        if expression.is_Add:
            return reduce(self._sum, map(self.of, expression.args))
        if expression.is_Mul:
            return reduce(self._product, map(self.of, expression.args))
        base, exponent = expression.args
        return self._power(self.of(base), int(exponent))

    def _sum(self, a: Quotient, b: Quotient) -> Quotient:
        common = a[1].gcd(b[1])
        beside_a, beside_b = b[1] / common, a[1] / common
        numerator = _multiplied(a[0], beside_a) + _multiplied(b[0], beside_b)
        return numerator, _multiplied(a[1], beside_a)

    def _product(self, a: Quotient, b: Quotient) -> Quotient:
        return _multiplied(a[0], b[0]), _multiplied(a[1], b[1])

    def _power(self, base: Quotient, exponent: int) -> Quotient:
        if exponent < 0:
            if not base[0]:
                raise ZeroDivisionError("a denominator is zero everywhere")
            base = base[::-1]
        return reduce(self._product, [base] * abs(exponent), (self._one, self._one))

    def reduced(self, polynomial: Any, symbol: object, power: int, equal: Any) -> Any:
        """Return a multiple of the polynomial in which ``symbol**power`` is ``equal``;
        it is zero only if the polynomial is zero under that relation."""
        position = self._position[symbol]
        by_count: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, coefficient in polynomial.to_dict().items():
            count, left = divmod(exponents[position], power)
            key = (*exponents[:position], left, *exponents[position + 1 :])
            by_count.setdefault(count, {})[key] = coefficient
        value, total = self.of(equal), (polynomial * 0, self._one)
        for count, part in by_count.items():
            own = self._context.from_dict(part), self._one
            total = self._sum(total, self._product(own, self._power(value, count)))
        return total[0]


def _multiplied(a: Any, b: Any) -> Any:
    if len(a) * len(b) > MAX_POLYNOMIAL_TERMS:
        raise PolynomialTooLarge
    return a * b
