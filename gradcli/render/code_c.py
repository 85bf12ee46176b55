"""C99 as a language of steps, with the few functions that its library lacks.

Invariant: what is made of this compiles with ``-std=c99 -Wall -Wextra -Werror
-pedantic`` and needs the mathematical library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isinf, isnan
from typing import Final

from .code_spelling import (
    CHOICE,
    INFIX,
    LOGIC,
    RELATION,
    UNARY,
    Language,
    Spelling,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS: Final = _words(
    """
    alignas alignof asm atomic auto bool break case char complex const constexpr
    continue default do double else enum errno extern false float for fortran goto if
    imaginary inline int linux long main noreturn nullptr register restrict return
    short signed sizeof static static_assert struct switch thread_local true typedef
    typeof typeof_unqual union unix unsigned void volatile wchar_t while
    _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64
    _Generic _Imaginary _Noreturn _Static_assert _Thread_local I
    """
)

MATH: Final = _words(
    """
    HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN MATH_ERRNO MATH_ERREXCEPT DOMAIN SING
    OVERFLOW UNDERFLOW PLOSS TLOSS FLT_EVAL_METHOD math_errhandling double_t float_t
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc
    exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod fpclassify frexp
    gamma hypot ilogb isfinite isgreater isgreaterequal isinf isless islessequal
    islessgreater isnan isnormal isunordered j0 j1 jn ldexp lgamma llrint llround log
    log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow
    pow10 remainder remquo rint round scalb scalbln scalbn signbit signgam significand
    sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn
    """
)
"""What the header declares or may declare; each also with the endings ``f``, ``l``."""


def _names() -> Iterator[str]:
    yield from KEYWORDS
    for name in MATH:
        yield from (name, f"{name}f", f"{name}l", f"{name}_r")
    for constant in ("E", "LOG2E", "LOG10E", "LN2", "LN10", "PI", "PI_2", "PI_4",
                     "1_PI", "2_PI", "2_SQRTPI", "SQRT2", "SQRT1_2"):  # fmt: skip
        yield f"M_{constant}"


def _number(value: float) -> str:
    if isnan(value):
        return "NAN"
    if isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


HELPERS: Final[Mapping[str, str]] = {
    "sign": """\
static double sign(double x)
{
    return isnan(x) ? x : (double)((x > 0.0) - (x < 0.0));
}
""",
    "maximum": """\
static double maximum(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}
""",
    "minimum": """\
static double minimum(double a, double b)
{
    return a <= b || isnan(a) ? a : b;
}
""",
    "modulo": """\
/* The remainder with the sign of b. */
static double modulo(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r;
}
""",
    "floor_divide": """\
/* The quotient rounded down, from the exact remainder. */
static double floor_divide(double a, double b)
{
    const double r = fmod(a, b);
    const double q = (a - r) / b;
    if (b == 0.0) {
        return a / b;
    }
    return floor((r != 0.0 && (r < 0.0) != (b < 0.0) ? q - 1.0 : q) + 0.5);
}
""",
    "sinc": """\
static double sinc(double x)
{
    const double a = 3.141592653589793 * x;
    return a == 0.0 ? 1.0 : sin(a) / a;
}
""",
    "sigmoid": """\
static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}
""",
    "logsigmoid": """\
static double logsigmoid(double x)
{
    return x < 0.0 ? x - log1p(exp(x)) : -log1p(exp(-x));
}
""",
    "logaddexp": """\
static double logaddexp(double a, double b)
{
    const double most = a > b ? a : b;
    return a == b ? a + log(2.0) : most + log1p(exp(-fabs(a - b)));
}
""",
    "xlogy": """\
static double xlogy(double x, double y)
{
    return x == 0.0 && !isnan(y) ? 0.0 : x * log(y);
}
""",
    "digamma": """\
/* Abramowitz and Stegun, 6.3.7 (reflection), 6.3.5 (recurrence), 6.3.18 (series). */
static double digamma(double x)
{
    static const double c[] = {1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0,
                               1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0};
    const double pi = 3.141592653589793;
    double s = 0.0, w, p = 1.0;
    int k;
    if (x == 0.0) {
        return copysign(INFINITY, -x);
    }
    if (x < 0.0) {
        if (x == floor(x)) {
            return NAN;
        }
        /* The cotangent has period 1. */
        return digamma(1.0 - x) - pi / tan(pi * (x - floor(x)));
    }
    for (; x < 10.0; x += 1.0) {
        s -= 1.0 / x;
    }
    w = 1.0 / (x * x);
    s += log(x) - 0.5 / x;
    for (k = 0; k < 7; k++) {
        p *= w;
        s -= c[k] * p;
    }
    return s;
}
""",
    "polygamma": """\
/* Abramowitz and Stegun, 6.4.6 (recurrence), 6.4.11 (series), for n of 1 and more. */
static double polygamma_of(int n, double x)
{
    static const double b[] = {1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0,
                               5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0,
                               -3617.0 / 510.0, 43867.0 / 798.0};
    /* t: the k-th (2k + n - 1)! / ((2k)! x^(2k + n)) over (n - 1)!/x^n */
    double s, t = 1.0, f = 1.0, r = 0.0;
    int k;
    if (x <= 0.0 && x == floor(x)) {
        return n % 2 ? INFINITY : NAN;
    }
    for (; x < 15.0 + n; x += 1.0) {
        r += pow(x, -(n + 1.0));
    }
    for (k = 2; k < n; k++) {
        f *= k;
    }
    s = 1.0 + 0.5 * n / x;
    for (k = 0; k < 9; k++) {
        t *= (2.0 * k + n) * (2.0 * k + n + 1.0) /
             ((2.0 * k + 1.0) * (2.0 * k + 2.0) * x * x);
        s += b[k] * t;
    }
    s = f * pow(x, -n) * s + f * n * r;
    return n % 2 ? s : -s;
}

static double polygamma(int n, double x)
{
    return n == 0 ? digamma(x) : polygamma_of(n, x);
}
""",
    "erfinv": """\
/* Halley's method from Winitzki's approximation ("A handy approximation for the error
   function and its inverse", 2008); far out on what is left to 1, so that no digits
   cancel. */
static double erfinv(double y)
{
    const double a = 0.147, m = fabs(y);
    double l, u, x;
    int k;
    if (!(m < 1.0)) {
        return m == 1.0 ? copysign(INFINITY, y) : NAN;
    }
    l = log1p(-m * m);
    u = 2.0 / (3.141592653589793 * a) + 0.5 * l;
    x = sqrt(sqrt(u * u - l / a) - u);
    for (k = 0; k < 4; k++) {
        const double e = m > 0.5 ? (1.0 - m) - erfc(x) : erf(x) - m;
        const double d = e * 0.886226925452758 * exp(x * x);
        x -= d / (1.0 + x * d);
    }
    return copysign(x, y);
}
""",
    "ndtri": """\
/* The root z of erfc(z) = 2 q for the smaller tail q, found as erfinv finds its own:
   nothing is taken from 1, so that the digits of a small p are kept. */
static double ndtri(double p)
{
    const double a = 0.147, q = p < 0.5 ? p : 1.0 - p;
    double l, u, x;
    int k;
    if (!(q > 0.0)) {
        return q == 0.0 ? copysign(INFINITY, p - 0.5) : NAN;
    }
    l = log(4.0 * q) + log1p(-q);
    u = 2.0 / (3.141592653589793 * a) + 0.5 * l;
    x = sqrt(sqrt(u * u - l / a) - u);
    for (k = 0; k < 4; k++) {
        const double d = (erfc(x) - 2.0 * q) * 0.886226925452758 * exp(x * x);
        x += d / (1.0 - x * d);
    }
    return copysign(x * 1.4142135623730951, p - 0.5);
}
""",
}
"""By name. Where no source is stated, the definition is the text."""

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {"polygamma": ("digamma",)}
"""What a helper calls of the others."""

_SAME: Final = (
    "sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "erf", "erfc", "lgamma", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite",
    "sign", "sinc", "sigmoid", "logsigmoid", "digamma", "erfinv",
    "ndtri",
)  # fmt: skip
_SAME_OF_TWO: Final = (
    "pow", "atan2", "hypot", "fmax", "fmin", "fmod", "maximum", "minimum",
    "floor_divide", "logaddexp", "xlogy",
)  # fmt: skip

SPELLED: Final[Mapping[str, Spelling]] = {
    **INFIX,
    **{name: Spelling(f"{name}({{0}})") for name in _SAME},
    **{name: Spelling(f"{name}({{0}}, {{1}})") for name in _SAME_OF_TWO},
    "abs": Spelling("fabs({0})"),
    "round": Spelling("nearbyint({0})"),
    "remainder": Spelling("modulo({0}, {1})"),
    "polygamma": Spelling("polygamma({0.whole}, {1})"),
    "select": Spelling("{0.clause} ? {1.branch} : {2.branch}", CHOICE),
    "logical_and": Spelling("{0.clause} && {1.clause}", LOGIC),
    "logical_or": Spelling("{0.clause} || {1.clause}", LOGIC),
    "logical_xor": Spelling("!({0.truth}) != !({1.truth})", RELATION),
    "logical_not": Spelling("!({0.truth})", UNARY),
}

_DEFINED: Final = re.compile(r"static double (\w+)\(")
_OWN_NAMES: Final = frozenset(_DEFINED.findall("".join(HELPERS.values())))

C: Final = Language(
    name="c",
    spelled=SPELLED,
    helpers=HELPERS,
    number=_number,
    tensor="{0}",
    from_truth=Spelling("(double)({0.truth})", UNARY),
    entry="{name}[{flat}]",
    assign="const double {name} = {text};",
    reserved=frozenset(_names()) | _OWN_NAMES,
    ascii=True,
)
