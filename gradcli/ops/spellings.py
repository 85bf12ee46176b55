"""Names and templates of functions in libraries and languages.

There is a line per function, with its names in NumPy, PyTorch, C, SymPy and FLINT, or a
template if it is not written as a call: ``{0:SUM}`` is its first argument, in brackets
if that binds less tightly than a sum, and ``{0}`` is never bracketed.

Invariant: every dialect of the code generator and the printer of closed forms read
their names from this table, and from no other.

    SPELLINGS["asin"].numpy         # "np.arcsin"
    SPELLINGS["add"].c              # Template("{0:SUM} + {1:PRODUCT}", SUM)
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from .basis import SPECIAL, UFUNCS
from .op import Formula


class Precedence(IntEnum):
    """The precedence of an expression, loosest first, in all dialects alike."""

    UNKNOWN = 0
    CHOICE = 1
    LOGIC = 2
    RELATION = 3
    SUM = 4
    PRODUCT = 5
    SIGN = 6
    POWER = 7
    ATOM = 8


UNKNOWN, CHOICE, LOGIC, RELATION, SUM, PRODUCT, SIGN, POWER, ATOM = Precedence


class Template(NamedTuple):
    """A text with places for arguments, and the precedence of the whole."""

    text: str
    rank: Precedence = ATOM


Word: TypeAlias = str | Template
"""A function's name; or a method's name, with a point before it; or a template."""


class Spelling(NamedTuple):
    """The names or templates of one function.

    gradcli  in gradcli's own language
    numpy    with ``np`` and SciPy's ``special``; None: they do not have it
    torch    with ``torch`` and ``F``; None: PyTorch has no such function
    c        on numbers of type double; None: it has no meaning there
    latex    in LaTeX, where the rows of the table do not have it
    sympy    the name of the SymPy function; if its first arguments are fixed integers,
             they follow: ``besselj 0``
    flint    the name of the method of FLINT's balls, or a formula ``(fl, *balls)`` with
             `gradcli.check.balls` as ``fl``
    series   as ``flint``, for FLINT's power series, where that differs
    """

    gradcli: Word
    numpy: Word | None
    torch: Word | None
    c: Word | None = None
    latex: Word | None = None
    sympy: str | None = None
    flint: str | Formula | None = None
    series: str | Formula | None = None


SPELLINGS: Final[dict[str, Spelling]] = {}
"""Spellings of the table's functions and of the heads of expression trees, by name."""

REDUCTIONS: Final = ("sum", "mean", "prod", "amax", "amin")
"""Reductions that return a single entry unchanged."""

OPPOSITES: Final[Mapping[str, str]] = {"eq": "ne", "ne": "eq"}
"""Negations of comparisons: of the two exactly one holds, also for NaN."""

GUARDS: Final = frozenset({"eq", "isinf", "isnan"})
"""Functions by which formulas single out points, such as the zero of a root, to choose
another value there; at all other points they are false."""


def spell(
    name: str, *, plain: Word | None = None, python: Word | None = None,
    gradcli: Word | None = None, numpy: Word | None = None, torch: Word | None = None,
    c: Word | None = None, latex: Word | None = None, sympy: str | None = None,
    flint: str | Formula | None = None, series: str | Formula | None = None,
    in_torch: bool = True,
) -> None:  # fmt: skip
    """Enter a function's spelling. Names in NumPy default to `UFUNCS` and `SPECIAL`.

    Args:
        name: the table's name of the function.
        plain: a word that is the same in all dialects.
        python: a word that is the same in gradcli, NumPy and PyTorch.
        gradcli, numpy, torch, c, latex, sympy, flint, series: as in `Spelling`.
        in_torch: False if PyTorch has no such function.
    """
    SPELLINGS[name] = Spelling(
        gradcli or python or plain or name,
        numpy or python or plain or _in_numpy(name),
        torch or python or plain or (f"torch.{name}" if in_torch else None),
        c or plain,
        latex or plain,
        sympy,
        flint,
        series or flint,
    )


def _in_numpy(name: str) -> Word | None:
    if name in UFUNCS:
        return f"np.{UFUNCS[name]}"
    function, _, which = SPECIAL.get(name, "").partition("[")
    if which:
        return Template(f"special.{function}({{0}})[{which}")
    return f"special.{function}" if function else None


def spelling(name: str) -> Spelling:
    """Return a function's spelling; one without a line here is written by its name."""
    found = SPELLINGS.get(name)
    return Spelling(name, _in_numpy(name), f"torch.{name}") if found is None else found


T = Template

# fmt: off
# Operators. Brackets keep the order of operations.
spell("add", plain=T("{0:SUM} + {1:PRODUCT}", SUM))
spell("sub", plain=T("{0:SUM} - {1:PRODUCT}", SUM))
spell("mul", plain=T("{0:PRODUCT} * {1:SIGN}", PRODUCT),
      latex=T(r"{0:PRODUCT} \cdot {1:SIGN}", PRODUCT))
spell("div", plain=T("{0:PRODUCT} / {1:SIGN}", PRODUCT),
      latex=T(r"\frac{{{0}}}{{{1}}}", POWER))
spell("neg", plain=T("-{0:PRODUCT}", SIGN))
spell("pow", python=T("{0:ATOM}**{1:SIGN}", POWER), c="pow",
      latex=T("{0:ATOM}^{{{1}}}", POWER), flint=lambda fl, a, b: fl.power(a, b))
spell("square", python=T("{0:ATOM}**2", POWER), latex=T("{0:ATOM}^{{2}}", POWER),
      c=T("{0:ATOM} * {0:ATOM}", PRODUCT), flint=lambda fl, x: x * x)
spell("matmul", python=T("{0:PRODUCT} @ {1:SIGN}", PRODUCT),
      latex=T(r"{0:PRODUCT} \, {1:SIGN}", PRODUCT))
for _name, _sign, _command in (
    ("eq", "==", "="), ("ne", "!=", r"\neq"), ("lt", "<", "<"), ("le", "<=", r"\leq"),
    ("gt", ">", ">"), ("ge", ">=", r"\geq"),
):
    spell(_name, plain=T(f"{{0:SUM}} {_sign} {{1:SUM}}", RELATION),
          latex=T(f"{{0:SUM}} {_command} {{1:SUM}}", RELATION))
spell("logical_and", c=T("{0:RELATION} && {1:RELATION}", LOGIC),
      latex=T(r"{0:RELATION} \wedge {1:RELATION}", LOGIC))
spell("logical_or", c=T("{0:RELATION} || {1:RELATION}", LOGIC),
      latex=T(r"{0:RELATION} \vee {1:RELATION}", LOGIC))
spell("logical_xor", c=T("!{0:ATOM} != !{1:ATOM}", RELATION))
spell("logical_not", c=T("!{0:ATOM}", SIGN), latex=T(r"\neg {0:ATOM}", SIGN))
spell("where", c=T("{0:RELATION} ? {1:LOGIC} : {2:LOGIC}", CHOICE),
      latex=r"\operatorname{where}")

# Conversions and parts.
spell("as_numbers", gradcli=T("{0:ATOM}.float()"), numpy=T("{0:ATOM}.astype(float)"),
      torch=T("{0:ATOM}.to({like}.dtype)"), c=T("(double){0:ATOM}", SIGN),
      latex=T("[{0}]"))
spell("as_index", gradcli=T("{0:CHOICE}"), numpy=T("{0:ATOM}.astype(int)"),
      torch=T("{0:ATOM}.long()"), latex=T("{0:CHOICE}"))
spell("detach", gradcli=T("{0:ATOM}.detach()"), numpy=T("{0:CHOICE}"),
      torch=T("{0:ATOM}.detach()"), c=T("{0:CHOICE}"), latex=T("{0:CHOICE}"))
spell("part", python=T("{0:ATOM}[{1}]"), latex=T("{0:ATOM}_{{{1}}}", POWER))
spell("getitem", python=T("{0:ATOM}[{1}]"), c=T("{0:ATOM}[{1}]"),
      latex=T("{0:ATOM}_{{{1}}}", POWER))
spell("T", python=T("{0:ATOM}.T"), latex=T(r"{0:ATOM}^{{\top}}", POWER))
spell("mT", python=T("{0:ATOM}.mT"), numpy=T("{0:ATOM}.swapaxes(-1, -2)"),
      latex=T(r"{0:ATOM}^{{\top}}", POWER))

# Elementwise functions. A formula for FLINT is written independently of the row's
# formula, because the row is checked by it.
for _name in ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "erf",
              "erfc"):
    spell(_name, c=_name, sympy=_name, flint=_name)
for _name in ("floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "signbit",
              "maximum", "minimum", "fmax", "fmin"):
    spell(_name, c=_name)
spell("sinh", c="sinh", sympy="sinh", flint="sinh",
      series=lambda fl, x: (x.exp() - (-x).exp()) / 2)
spell("cosh", c="cosh", sympy="cosh", flint="cosh",
      series=lambda fl, x: (x.exp() + (-x).exp()) / 2)
spell("tanh", c="tanh", sympy="tanh", flint="tanh",
      series=lambda fl, x: fl.tanh(x))
spell("asinh", c="asinh", sympy="asinh", flint="asinh",
      series=lambda fl, x: fl.asinh(x))
spell("acosh", c="acosh", sympy="acosh", flint="acosh",
      series=lambda fl, x: (x + (x * x - 1).sqrt()).log())
spell("atanh", c="atanh", sympy="atanh", flint="atanh",
      series=lambda fl, x: ((1 + x) / (1 - x)).log() / 2)
spell("atan2", c="atan2", sympy="atan2",
      flint=lambda fl, a, b: fl.arb.atan2(a, b), series=lambda fl, a, b: fl.angle(a, b))
spell("exp2", c="exp2", flint=lambda fl, x: (x * fl.arb.const_log2()).exp())
spell("expm1", c="expm1", flint="expm1", series=lambda fl, x: x.exp() - 1)
spell("log2", c="log2", flint=lambda fl, x: x.log() / fl.arb.const_log2())
spell("log10", c="log10", flint=lambda fl, x: x.log() / fl.arb.const_log10())
spell("log1p", c="log1p", flint="log1p", series=lambda fl, x: (1 + x).log())
spell("cbrt", c="cbrt",
      torch=T("torch.sign({0}) * torch.abs({0})**(1 / 3)", PRODUCT),
      flint=lambda fl, x: x.sgn() * abs(x).root(3),
      series=lambda fl, x: fl.at(x).sgn() * fl.power(fl.absolute(x), fl.arb(1) / 3))
spell("hypot", c="hypot", flint=lambda fl, a, b: (a * a + b * b).sqrt())
spell("logaddexp", c="logaddexp", flint=lambda fl, a, b: fl.log_add_exp(a, b))
spell("sigmoid", c="sigmoid", flint=lambda fl, x: 1 / (1 + (-x).exp()))
spell("logsigmoid", torch="F.logsigmoid", c="logsigmoid",
      flint=lambda fl, x: -fl.softplus(-x))
spell("abs", numpy="np.abs", c="fabs", sympy="Abs", flint="__abs__",
      series=lambda fl, x: fl.absolute(x))
spell("sign", numpy="np.sign", c="sign", sympy="sign", flint="sgn",
      series=lambda fl, x: fl.constant(fl.at(x).sgn()))
spell("sinc", numpy="np.sinc", c="sinc", flint="sinc_pi",
      series=lambda fl, x: fl.sinc(x))
spell("round", c="nearbyint")
spell("fmod", numpy="np.fmod", c="fmod")
spell("floor_divide", numpy="np.floor_divide", c="floor_divide")
spell("remainder", numpy="np.remainder", c="modulo")
spell("erfinv", c="erfinv", sympy="erfinv", flint="erfinv",
      series=lambda fl, x: fl.inverse_erf(x))
spell("ndtri", torch="torch.special.ndtri", c="ndtri",
      flint=lambda fl, x: fl.arb(2).sqrt() * (2 * x - 1).erfinv(),
      series=lambda fl, x: fl.arb(2).sqrt() * fl.inverse_erf(2 * x - 1))
spell("xlogy", numpy="special.xlogy", c="xlogy",
      flint=lambda fl, a, b: fl.x_log_y(a, b))
spell("entr", torch="torch.special.entr", c="entr",
      flint=lambda fl, x: -fl.x_log_y(x, x))
spell("lgamma", numpy="special.gammaln", c="lgamma", sympy="loggamma",
      flint=lambda fl, x: fl.log_gamma(x))
spell("gamma", c="tgamma", sympy="gamma", flint="gamma",
      torch=T("(1 - 2 * torch.remainder(torch.floor({0}).clamp(max=0), 2)) * "
              "torch.exp(torch.lgamma({0}))", PRODUCT))
spell("binom", numpy="special.binom", c="binom", sympy="binomial",
      flint=lambda fl, n, k: fl.binomial(n, k),
      # An operand may be a plain number, which PyTorch's functions do not take.
      torch=T("(1 - 2 * torch.remainder("
              "torch.floor({like}.new_ones(()) + {0:PRODUCT}).clamp(max=0) + "
              "torch.floor({like}.new_ones(()) + {1:PRODUCT}).clamp(max=0) + "
              "torch.floor({0:SUM} - {1:PRODUCT} + 1).clamp(max=0), 2)) * "
              "torch.exp(torch.lgamma({like}.new_ones(()) + {0:PRODUCT}) - "
              "torch.lgamma({like}.new_ones(()) + {1:PRODUCT}) - "
              "torch.lgamma({0:SUM} - {1:PRODUCT} + 1))", PRODUCT))
spell("digamma", c="digamma", sympy="digamma", flint="digamma",
      series=lambda fl, x: fl.digamma(x))
spell("polygamma", numpy="special.polygamma", c="polygamma", sympy="polygamma",
      flint=lambda fl, n, x: fl.polygamma(n, x))
spell("erfcx", torch="torch.special.erfcx", c="erfcx",
      flint=lambda fl, x: (x * x).exp() * x.erfc())
spell("log_ndtr", torch="torch.special.log_ndtr", c="log_ndtr",
      flint=lambda fl, x: fl.log_of_normal(x))
spell("i0", c="i0", sympy="besseli 0", flint=lambda fl, x: fl.bessel("i", 0, x))
spell("i1", torch="torch.special.i1", c="i1", sympy="besseli 1",
      flint=lambda fl, x: fl.bessel("i", 1, x))
spell("i0e", torch="torch.special.i0e", c="i0e",
      flint=lambda fl, x: (-abs(x)).exp() * x.bessel_i(0),
      series=lambda fl, x: (-fl.absolute(x)).exp() * fl.bessel("i", 0, x))
spell("i1e", torch="torch.special.i1e", c="i1e",
      flint=lambda fl, x: (-abs(x)).exp() * x.bessel_i(1),
      series=lambda fl, x: (-fl.absolute(x)).exp() * fl.bessel("i", 1, x))
for _order in (0, 1):
    for _kind in "jy":
        spell(f"bessel_{_kind}{_order}", torch=f"torch.special.bessel_{_kind}{_order}",
              c=f"bessel_{_kind}{_order}", sympy=f"bessel{_kind} {_order}",
              flint=lambda fl, x, n=_order, kind=_kind: fl.bessel(kind, n, x))
    spell(f"modified_bessel_k{_order}", c=f"k{_order}", sympy=f"besselk {_order}",
          torch=f"torch.special.modified_bessel_k{_order}",
          flint=lambda fl, x, n=_order: fl.bessel("k", n, x))
    spell(f"scaled_modified_bessel_k{_order}", c=f"k{_order}e",
          torch=f"torch.special.scaled_modified_bessel_k{_order}",
          flint=lambda fl, x, n=_order: x.exp() * fl.bessel("k", n, x))
spell("airy_ai", torch="torch.special.airy_ai", c="airy", sympy="airyai",
      flint="airy_ai")
spell("airy_ai_prime", c="airy_prime", sympy="airyaiprime", in_torch=False,
      flint=lambda fl, x: x.airy()[1], series="airy_ai_prime")
for _name, _word, _method in (
    ("erfi", "erfi", "erfi"), ("expi", "Ei", "ei"), ("Si", "Si", "si"),
    ("Ci", "Ci", "ci"), ("Shi", "Shi", "shi"), ("Chi", "Chi", "chi"),
    ("fresnels", "fresnels", "fresnel_s"), ("fresnelc", "fresnelc", "fresnel_c"),
):
    spell(_name, sympy=_word, flint=_method, in_torch=False)
spell("lambertw", numpy=T("special.lambertw({0}).real"), sympy="LambertW",
      flint="lambertw", in_torch=False)
spell("polylog", in_torch=False, sympy="polylog",
      flint=lambda fl, s, x: fl.polylog(s, x))
spell("igamma", c="igamma", flint=lambda fl, a, x: fl.lower_gamma(a, x))
spell("igammac", c="igammac", flint=lambda fl, a, x: 1 - fl.lower_gamma(a, x))
spell("zeta", torch="torch.special.zeta", c="zeta",
      flint=lambda fl, a, b: fl.hurwitz_zeta(a, b))
spell("nan_to_num", numpy=T("np.nan_to_num({0}, nan={1}, posinf={2}, neginf={3})"))

# Functions of arrays.
for _name in ("sum", "mean", "prod", "all", "any", "argmax", "argmin", "cumsum",
              "cumprod", "reshape", "stack", "roll", "tril", "triu", "diagonal",
              "einsum", "eye", "arange", "linspace"):
    spell(_name, numpy=f"np.{_name}")
spell("flip", numpy="np.flip", torch=".flip")
spell("det", numpy="np.linalg.det")
spell("slogdet", numpy="np.linalg.slogdet")
spell("solve", numpy="np.linalg.solve", torch="torch.linalg.solve")
spell("cholesky", numpy="np.linalg.cholesky", torch="torch.linalg.cholesky")
for _name, _word in (
    ("svd_factors", "linalg.svd"), ("eigh_factors", "linalg.eigh"),
    ("qr_factors", "linalg.qr"),
):
    spell(_name, gradcli=_word, numpy=f"np.{_word}", torch=f"torch.{_word}")
for _name, _word in (
    ("lu_factors", "linalg.lu_factor"), ("solve_triangle", "linalg.solve_triangular"),
):
    spell(_name, gradcli=_word, torch=f"torch.{_word}")
spell("matrix_exp", numpy="scipy.linalg.expm")
spell("inverse", numpy="np.linalg.inv", latex=T("{0:ATOM}^{{-1}}", POWER))
spell("amax", numpy="np.max")
spell("amin", numpy="np.min")
spell("argsort", numpy="argsort")
spell("put_add", numpy="put_add")
spell("put_view", numpy="put")
spell("permute", numpy="np.transpose")
spell("transpose", numpy="np.swapaxes")
spell("unsqueeze", numpy="np.expand_dims")
spell("cat", numpy="np.concatenate")
spell("expand", numpy="np.broadcast_to", torch=".expand")
for _name in ("unfold", "repeat", "view", "new_full", "new_zeros", "new_ones",
              "is_contiguous"):
    spell(_name, torch=f".{_name}")
for _name in ("index_put", "elu", "im2col", "col2im", "alias"):
    spell(_name, torch=f"torch.ops.aten.{_name}")
for _name in (
    "xlog1py", "ndtr", "modified_bessel_i0", "modified_bessel_i1",
    "spherical_bessel_j0", "chebyshev_polynomial_t", "chebyshev_polynomial_u",
    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
):
    spell(_name, torch=f"torch.special.{_name}")
for _name in (
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cross_entropy",
    "embedding_bag", "gelu", "glu", "hardsigmoid",
    "hardswish", "hardtanh", "huber_loss", "interpolate", "l1_loss", "leaky_relu",
    "linear", "local_response_norm", "max_pool1d", "max_pool2d", "max_pool3d",
    "mish", "mse_loss", "nll_loss",
    "normalize", "one_hot", "pad", "relu6", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softplus", "softsign", "tanhshrink",
):
    spell(_name, torch=f"F.{_name}")
# fmt: on
