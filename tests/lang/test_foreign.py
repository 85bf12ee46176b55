"""Another library's function is computed as it is there, or refused by name."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
import scipy.stats
import sympy

from gradcli.lang import foreign
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.exactly import exact_code
from gradcli.lang.factory import CONSTRUCTORS
from gradcli.lang.grammars import GRAMMARS
from gradcli.lang.parser import parse
from gradcli.lang.plain import FUNCTIONS
from gradcli.lang.prepare import prepare
from gradcli.lang.run import Run, Session
from gradcli.lang.syntax import Call, Literal, Name, walk
from gradcli.lang.tensor_library import CONSTANTS, is_function

VALUES: dict[str, Any] = {
    "x": [0.3, 1.7, 0.9, 1.2, 0.6, 2.4],
    "y": [1.1, 0.4, 2.2, 0.7, 1.9, 0.2],
    "z": [0.5, 1.5, 2.5, 3.5, -0.5, -1.5],
    "A": [[0.3, 1.7, 0.9], [1.2, 0.6, 2.4]],
    "M": [[2.3, 0.7, 0.1], [0.7, 3.6, 0.4], [0.1, 0.4, 1.9]],
    "v": [1.5, 0.3, 0.8],
    "w": [0.2, 2.1, 1.4],
    "s": 0.37,
    "t": 1.8,
    "q": -2.5,
}
ARRAYS = {name: np.array(value) for name, value in VALUES.items()}
LIBRARIES = {"np": np, "scipy": scipy, "math": math}
TITLES = sorted({*foreign.paths().values()})


def ran(text: str, **given: Any) -> Run:
    values = VALUES | given
    names = {n for n in values if n in {*_words(text)}}
    bound = read_bindings([f"{name}={values[name]}" for name in sorted(names)])
    return Session(prepare(text, bound, strict=True)).run()


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def value(text: str, **given: Any) -> Any:
    return ran(text, **given).output.raw


CALLS = """
std(x)|std(A)|std(A, axis=0)|std(A, 1)|std(x, ddof=1)|std(A, axis=1, keepdims=True)
std(A, axis=(0, 1))|var(x)|var(A, axis=0)|var(x, ddof=1)|var(a=A, axis=1)|median(x)
median(A, axis=0)|median(A, axis=1, keepdims=True)|nanmedian(x)|quantile(x, 0.3)
percentile(x, 30)|percentile(A, 30, axis=0)|repeat(x, 2)|repeat(A, 2)
repeat(A, 2, axis=0)|repeat(v, [1, 2, 1])|split(x, 3)[1]|split(A, 3, axis=-1)[2]
max(A)|max(A, axis=0)|max(A, keepdims=True)|min(A, axis=1)|ptp(A, axis=0)|sort(A)
sort(A, axis=0)|argsort(x)|cumsum(A)|cumsum(A, axis=1)|cumprod(A)|prod(A, axis=0)
flip(A)|flip(A, 0)|roll(A, 1)|transpose(A)|transpose(A, (1, 0))|swapaxes(A, 0, 1)
take(A, 4)|take(A, [0, 2], axis=1)|outer(A, v)|dot(A, v)|dot(v, w)|vdot(A, A)
inner(A, A)|cross(v, w)|cross(M, M.T)|trace(M)|tile(v, 2)|diff(A)|diff(x, n=2)
clip(z, 0, 1)|where(x > 1, x, y)|round(z)|rint(z)|fix(z)|mod(z, 2)|remainder(z, 2)
fmod(z, 2)|sinc(z)|heaviside(z, 0.5)|sign(z)|average(x, weights=y)|cov(A)|corrcoef(A)
linalg.norm(A)|linalg.norm(v, 1)|linalg.inv(M)|linalg.det(M)|linalg.solve(M, v)
mean(A, axis=0)|sum(A, axis=0, keepdims=True)|argmax(A)|argmax(A, axis=1)|trapezoid(x)
meshgrid(v, w)[0]|pad(A, (1, 2))|split(x, [1, 4])[1]|array_split(x, 4)[1]
array_split(A, 2, axis=1)[0]|hsplit(x, 2)[1]|vsplit(A, 2)[1]|atleast_2d(x, v)[1]
diagflat(v, 1)|argsort(s)|cumsum(s, axis=0)|cumulative_sum(s)|trapezoid(x, dx=0.5)
linalg.lstsq(M, v, rcond=None)[0]|float64(v)|meshgrid(v, 2.0)[0]
expand_dims(v, 0)|broadcast_to(v, (2, 3))|diag(M)
concatenate([x, y])|stack([v, w], axis=1)|einsum('ij,j->i', M, v)|ediff1d(A)|pi*s|e
"""
MORE = """
math.remainder(q, t)|math.remainder(t, 3)|math.log(t, 2)|math.hypot(s, t)|math.prod(x)
math.isclose(1, 1 + 1e-10)|math.dist(v, w)|math.comb(5, 2)|math.degrees(s)|math.fabs(q)
math.fmod(q, t)|math.copysign(s, q)|math.tau*s|scipy.special.kl_div(x, y)
scipy.special.rel_entr(x, y)|scipy.special.softmax(A)|scipy.special.softmax(A, axis=1)
scipy.special.log_softmax(A)|scipy.special.logsumexp(A)|scipy.special.logsumexp(A, 0)
scipy.special.gammainc(x, y)|scipy.special.xlogy(x, y)|scipy.special.expit(z)
scipy.special.entr(x)|scipy.special.betaln(x, y)|scipy.special.jv(0, x)
scipy.special.eval_legendre(3, x)|scipy.special.loggamma(z)|scipy.special.exp1(x)
scipy.special.huber(s, z)|scipy.stats.norm.pdf(x)|scipy.stats.norm.cdf(x, s, t)
scipy.stats.norm.ppf([0.1, 0.7])|math.perm(3, 7)|scipy.special.pseudo_huber(0, z)
scipy.special.erfcinv(x*1e-12)|scipy.special.polygamma(2, x)|scipy.special.zeta(x + 1)
scipy.special.beta(x, y)|scipy.linalg.cholesky(M, lower=True)|scipy.special.sici(x)[1]
"""
OF_LIBRARIES = [
    *(f"np.{each}" for each in CALLS.replace("\n", "|").split("|") if each),
    *(each for each in MORE.replace("\n", "|").split("|") if each),
]


@pytest.mark.parametrize("text", OF_LIBRARIES)
def test_a_call_behind_a_prefix_is_the_librarys(text: str) -> None:
    scalars = {n: v for n, v in VALUES.items() if isinstance(v, float)}
    true = np.asarray(eval(text, LIBRARIES | ARRAYS | scalars))
    got = value(text)
    assert got.shape == true.shape
    np.testing.assert_allclose(np.asarray(got, float), true.astype(float), rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("sympy.sinc(s)", sympy.sinc(0.37)),
        ("sympy.cbrt(s)", 0.37 ** (1 / 3)),
        ("sympy.root(t, 5)", 1.8**0.2),
        ("sympy.polygamma(t + 0.2, s)", sympy.polygamma(2, 0.37)),
        ("jax.scipy.special.erf(s)", math.erf(0.37)),
        ("sum(jnp.linalg.eigvalsh([[1, t], [0, 2]]))", 3),
        ("sympy.frac(q)", sympy.frac(-2.5)),
        ("sympy.Li(t + 2)", sympy.Li(3.8)),
        ("sympy.Max(s, t, q)", 1.8),
        ("sympy.log(t, 3)", sympy.log(1.8, 3)),
        ("sympy.besselj(1, t)", sympy.besselj(1, 1.8)),
        ("mpmath.sincpi(s)", sympy.sinc(0.37 * sympy.pi)),
        ("tf.math.reduce_std(x)", np.std(ARRAYS["x"])),
        ("tf.nn.leaky_relu(q)", -0.5),
        ("Math.max(s, t, q) + Math.round(q) + Math.sign(q)", 1.8 - 2 - 1),
        ("Math.hypot(s, t)*Math.PI", math.hypot(0.37, 1.8) * math.pi),
        ("jax.nn.gelu(s)", 0.37 * (1 + math.tanh(
            math.sqrt(2 / math.pi) * (0.37 + 0.044715 * 0.37**3))) / 2),
        ("jnp.var(x, ddof=1)", np.var(ARRAYS["x"], ddof=1)),
        ("import numpy as xx\nxx.std(x)", np.std(ARRAYS["x"])),
        ("from numpy import std as spread\nspread(x)", np.std(ARRAYS["x"])),
        ("from scipy import special as sc\nsum(sc.kl_div(v, w))",
         scipy.special.kl_div(ARRAYS["v"], ARRAYS["w"]).sum()),
        ("u = np.array([1, 2, 3, 4]); u.std()*s", math.sqrt(1.25) * 0.37),
        ("torch.std(x)", np.std(ARRAYS["x"], ddof=1)),
        ("pi = 3; np.pi*s", math.pi * 0.37),
        ("np.median(np.std(A, axis=0))", np.median(np.std(ARRAYS["A"], axis=0))),
    ],
)  # fmt: skip
def test_prefixes_imports_and_arrays_say_whose_function_it_is(
    text: str, true: Any
) -> None:
    assert float(value(text)) == pytest.approx(float(true), rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *("np.fft.fft(x)", "np.unique(x)", "np.argwhere(x)", "np.cumsums(x)"),
        *("jnp.unique(x)", "jax.grad(x)", "math.gcd(2, 3)", "cmath.sin(s)"),
        *("sympy.integrate(x, x)", "scipy.special.ellipk(s)", "np.std(x, where=y)"),
        *("np.log(x, y)", "scipy.stats.norm.fit(x)", "tf.reduce_any(x)", "np.foo"),
        *("=VLOOKUP(s;x;2)", "=s&t", "=ROUND(2,5;0)", "=1<s<2"),
        *("Integrate[s, s]", "Sin[s, t]", "Foo[s]"),
        *("besselJ(s, 2) %% 2", "nlm(x) %*% y", "b <- x[i]"),
        *("v * w .* 1", "foo(x) .* 2", "x(s) .* 2", "fft(x).*2", "s<-3"),
    ],
)
def test_what_is_not_in_the_table_is_refused(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        ran(text)
    assert caught.value.code in ("E108", "E201", "E208")
    assert caught.value.hint


OF_PROGRAMS = Path(__file__).with_name("foreign.tsv").read_text().splitlines()
"""Formulas of Excel, Mathematica, R and MATLAB with their meaning in the language; `!`:
they are refused."""


@pytest.mark.parametrize("line", OF_PROGRAMS)
def test_a_mark_says_whose_formula_it_is(line: str) -> None:
    text, _, meant = line.partition("\t")
    if meant == "!":
        with pytest.raises(ProgramError):
            ran(text)
        return
    np.testing.assert_allclose(value(text), value(f"({meant})*1"), rtol=1e-12)


@pytest.mark.parametrize("title", TITLES)
def test_a_line_of_the_table_reads_its_own_parameters_alone(title: str) -> None:
    if title == foreign.OWN:
        return
    for name, meanings in foreign.section(title).meanings.items():
        for meaning in meanings:
            if meaning.own:
                known = is_function(meaning.own) or meaning.own in CONSTRUCTORS
                assert known or meaning.own in FUNCTIONS, f"{title} {name}"
                continue
            names = {*meaning.parameters, *([meaning.rest] if meaning.rest else [])}
            tree = parse(meaning.text, names)
            own = {*names, *CONSTANTS, "v.20"}
            read = {n.name for n in walk(tree) if isinstance(n, Name)}
            assert {n for n in read if "." not in n} <= own, f"{title} {name}"
            calls = {n.function for n in walk(tree) if isinstance(n, Call)}
            for each in calls:
                found = is_function(each) or each in CONSTRUCTORS or each in FUNCTIONS
                assert found, f"{title} {name}: {each}"


def test_every_program_with_a_grammar_has_its_section() -> None:
    assert {*GRAMMARS} <= {*TITLES}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("v^T M^2 v", "v @ M @ M @ v"),
        ("v^T M^{2} v", "v @ M @ M @ v"),
        ("v^T M² v", "v @ M @ M @ v"),
        ("M^3 v", "M @ M @ M @ v"),
        ("v^T M^-2 v", "v @ inverse(M) @ inverse(M) @ v"),
        ("v^T M^{-1} v", "v @ inverse(M) @ v"),
        ("(M M)^2 v", "M @ M @ M @ M @ v"),
        ("v^T (M^2 + M) w", "v @ (M @ M + M) @ w"),
        ("M^2 + M v", "M @ M + M @ v"),
        ("M^T M", "M.T @ M"),
        ("t^2 v^T M v", "t*t*(v @ M @ v)"),
        ("M^2", "M*M"),
        ("2 M^2", "2*M*M"),
        ("M²", "M*M"),
    ],
)
def test_where_products_are_those_of_matrices_powers_are_too(
    text: str, meant: str
) -> None:
    names = text.replace("²", " ").replace("^T", " ")
    bound = [f"{n}={VALUES[n]}" for n in "vwMt" if n in _words(names)]
    run = Session(prepare(text, read_bindings(bound), strict=True)).run()
    np.testing.assert_allclose(run.output.raw, value(meant), rtol=1e-9)


def test_a_decimal_of_a_formula_is_exact_to_the_checker() -> None:
    numbers = [n for n in walk(parse("np.median(x)", {"x"})) if isinstance(n, Literal)]
    assert [n.written for n in numbers if n.value == 0.5] == ["0.5"]
    code = exact_code(parse("np.median(x)", {"x"}), lambda text: {"0.5": 7.0}[text])
    assert 7.0 in code.constants.values()


OF_BOOKS = [
    ("C(n,k)", scipy.special.comb(5, 3)),
    ("C(k + 4,n)", scipy.special.comb(7, 5)),
    ("beta(k, 2) + 1", scipy.special.beta(3, 2) + 1),
    ("2*B(n/2,k)", 2 * scipy.special.beta(2.5, 3)),
    ("poch(n, k)", scipy.special.poch(5, 3)),
    ("rf(n + 1, 2)", scipy.special.poch(6, 2)),
    ("ff(n, 2)", 20),
    ("perm(n, k)", 60),
    ("nchoosek(n, k)", 10),
    ("factorial2(n)", 15),
    ("n!!", 15),
]
"""Functions of books that are no functions here, with their values where n is 5 and k
is 3."""


@pytest.mark.parametrize(("text", "true"), OF_BOOKS)
def test_the_formula_that_an_error_shows_is_computed(text: str, true: float) -> None:
    with pytest.raises(ProgramError) as caught:
        ran(text, n=5, k=3)
    shown = str(caught.value.hint).removesuffix(" for an odd n")
    formula = shown.removeprefix("write ").rpartition("for an even n, ")[2]
    assert float(value(formula, n=5, k=3)) == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *("scipy.special.zeta(nan*s)", "scipy.special.beta(nan*s, 2)"),
        *("scipy.stats.norm.pdf(s, 0, nan*s)", "scipy.stats.expon.pdf(-1, 0, nan*s)"),
        *("=NORM.DIST(s;0;nan*s;TRUE)", "Zeta[s*nan]", "b <- dexp(-1, s*nan)"),
        *("sympy.polygamma(2, nan*s)", "math.perm(nan*s, 2)"),
    ],
)
def test_a_nan_is_outside_no_condition(text: str) -> None:
    assert np.isnan(value(text.replace("nan", "u"), u=math.nan))


OUTSIDE = [
    ("scipy.special.zeta(x)", "scipy.special's zeta", "x >= 1"),
    ("sympy.zeta(s, t)", "SymPy's zeta", "s >= 1"),
    ("scipy.special.beta(-2, s)", "scipy.special's beta", "a > 0"),
    ("scipy.special.betaln(s, -3)", "scipy.special's betaln", "b > "),
    ("scipy.special.dawsn(x*20)", "scipy.special's dawsn", "abs(x) <= 26"),
    ("scipy.special.eval_legendre(-1, x)", "scipy.special's eval_legendre", "n >= 0"),
    ("sympy.laguerre(q, s)", "SymPy's laguerre", "n >= 0"),
    ("mpmath.psi(q, s)", "mpmath's psi", "m >= 0"),
    ("mpmath.root(s, t)", "mpmath's root", "n == floor(n)"),
    ("sympy.lowergamma(q, s)", "SymPy's lowergamma", "a > 0"),
    ("sympy.log(s, q)", "SymPy's log", "b > 0"),
    ("scipy.stats.norm.pdf(s, 0, q)", "scipy.stats's norm.pdf", "scale > 0"),
    ("=COMBIN(2, 3)*s", "Excel's COMBIN", "n >= k"),
    ("dnorm(s, 0, q) %% 2", "R's dnorm", "sd > 0"),
    ("np.split(x, 4)", "NumPy's split", "sections"),
    ("np.linspace([0.5], 3)", "NumPy's linspace", "ndim"),
    ("np.linalg.lstsq(M, v, 0.5)[0]", "NumPy's linalg.lstsq", "not rcond"),
    ("M %/% 2 + A", "R's plus", "x.shape[0] == y.shape[0]"),
    ("crossprod(M) + v %% 2", "R's plus", "x.ndim == y.ndim"),
    ("M %/% A", "R's quotient_of_arrays", "x.shape[0] == y.shape[0]"),
]
"""Calls outside what is computed, with whose they are and the condition."""


@pytest.mark.parametrize(("text", "whose", "condition"), OUTSIDE)
def test_a_value_outside_what_is_computed_is_refused_by_name(
    text: str, whose: str, condition: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        ran(text)
    assert caught.value.code == "E108"
    assert whose in caught.value.message
    assert condition in caught.value.message
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("text", "true"),
    [
        *(("Inf %/% 10", math.inf), ("-Inf %/% 10", -math.inf)),
        *(("Inf %/% s", math.inf), ("Inf %/% q", -math.inf), ("5 %/% Inf", 0)),
        *(("-5 %/% Inf", -1), ("Inf %/% Inf", math.nan), ("5 %/% 0", math.inf)),
        *(("7 %/% 2", 3), ("sum(M) %/% 2", 5)),
    ],
)
def test_a_quotient_of_r_is_infinite_where_the_true_one_is(
    text: str, true: float
) -> None:
    assert float(value(text)) == pytest.approx(true, nan_ok=True)


INTEGERS = """
np.reciprocal(2)|np.reciprocal([1, 2])|np.reciprocal(np.array([3, 1]))
np.reciprocal(np.arange(1, 3))|np.floor_divide(1, 0)|np.mod(1, 0)|np.mod([5, 7], [3, 0])
np.remainder(1, 0)|np.fmod(7, 0)|np.power(2, -1)|np.full_like([1, 2], 0.5)
"""
"""Calls whose integers NumPy computes with in integers."""


@pytest.mark.parametrize("text", INTEGERS.strip().replace("\n", "|").split("|"))
def test_a_call_that_numpy_computes_in_integers_is_refused_with_one_that_runs(
    text: str,
) -> None:
    with pytest.raises(ProgramError, match="of integers in integers") as caught:
        ran(text)
    shown = str(caught.value.hint).removeprefix("write ")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(value(shown), eval(shown, LIBRARIES))


@pytest.mark.parametrize(
    "text",
    [
        *("np.reciprocal([1, -1])", "np.floor_divide(7, 2)", "np.mod([5, 7], [3, 2])"),
        *("np.power([2, 3], 2)", "np.full_like([1, 2], 3)", "np.reciprocal([2, 4.0])"),
    ],
)
def test_integers_are_computed_where_numpy_gives_the_same(text: str) -> None:
    np.testing.assert_array_equal(value(text), eval(text, LIBRARIES))
