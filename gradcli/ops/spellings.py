"""How libraries and languages write the functions that formulas are made of.

One line per function: what NumPy, PyTorch, C and SymPy call it. Where it is not a call,
a template says how it is written: ``{0:SUM}`` is its first argument, in brackets if
that holds together less tightly than a sum, and ``{0}`` is never bracketed.

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


class Precedence(IntEnum):
    """How tightly an expression holds together; every dialect has this one scale."""

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
    """A text with its arguments left open, and how tightly it holds together."""

    text: str
    rank: Precedence = ATOM


Word: TypeAlias = str | Template
"""A function's name, to be called; a method's, behind a point; or a template."""


class Spelling(NamedTuple):
    """How one function is written.

    gradcli  in gradcli's own language
    numpy    with ``np`` and SciPy's ``special``; None: they do not have it
    torch    with ``torch`` and ``F``
    c        on numbers of type double; None: it has no meaning there
    latex    where the rows of the table do not say it
    sympy    the SymPy class that is this function
    """

    gradcli: Word
    numpy: Word | None
    torch: Word
    c: Word | None = None
    latex: Word | None = None
    sympy: str | None = None


SPELLINGS: Final[dict[str, Spelling]] = {}
"""By name: the table's functions and the heads of expression trees."""

UNITS: Final[Mapping[str, tuple[int, ...]]] = {"mul": (0, 1), "div": (1,), "pow": (1,)}
"""Operators, and which of their operands changes nothing if it is one."""

REDUCTIONS: Final = ("sum", "mean", "prod", "amax", "amin")
"""Functions that make one entry of several, and of one entry that entry."""

OPPOSITES: Final[Mapping[str, str]] = {"eq": "ne", "ne": "eq"}
"""Comparisons of which one holds, whatever is compared."""

GUARDS: Final = frozenset({"eq", "isinf", "isnan"})
"""What formulas ask for to keep clear of single points: where a root is zero, where a
logarithm is infinite. Away from these nothing of it is needed."""


def spell(
    name: str, *, plain: Word | None = None, python: Word | None = None,
    gradcli: Word | None = None, numpy: Word | None = None, torch: Word | None = None,
    c: Word | None = None, latex: Word | None = None, sympy: str | None = None,
) -> None:  # fmt: skip
    """Enter a function. One of `UFUNCS` or `SPECIAL` has its name in NumPy from there.

    Args:
        name: the table's name.
        plain: a word that all dialects have in common.
        python: a word that gradcli, NumPy and PyTorch have in common.
        gradcli, numpy, torch, c, latex, sympy: as in `Spelling`.
    """
    SPELLINGS[name] = Spelling(
        gradcli or python or plain or name,
        numpy or python or plain or _in_numpy(name),
        torch or python or plain or f"torch.{name}",
        c or plain,
        latex or plain,
        sympy,
    )


def _in_numpy(name: str) -> str | None:
    if name in UFUNCS:
        return f"np.{UFUNCS[name]}"
    return f"special.{SPECIAL[name]}" if name in SPECIAL else None


def spelling(name: str) -> Spelling:
    """The spelling of any function; of one without a line: by its own name."""
    found = SPELLINGS.get(name)
    return Spelling(name, _in_numpy(name), f"torch.{name}") if found is None else found


T = Template

# fmt: off
# Operators. The brackets keep the order in which things are computed.
spell("add", plain=T("{0:SUM} + {1:PRODUCT}", SUM))
spell("sub", plain=T("{0:SUM} - {1:PRODUCT}", SUM))
spell("mul", plain=T("{0:PRODUCT} * {1:SIGN}", PRODUCT),
      latex=T(r"{0:PRODUCT} \cdot {1:SIGN}", PRODUCT))
spell("div", plain=T("{0:PRODUCT} / {1:SIGN}", PRODUCT),
      latex=T(r"\frac{{{0}}}{{{1}}}", POWER))
spell("neg", plain=T("-{0:PRODUCT}", SIGN))
spell("pow", python=T("{0:ATOM}**{1:SIGN}", POWER), c="pow",
      latex=T("{0:ATOM}^{{{1}}}", POWER))
spell("square", python=T("{0:ATOM}**2", POWER), latex=T("{0:ATOM}^{{2}}", POWER),
      c=T("{0:ATOM} * {0:ATOM}", PRODUCT))
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

# Changes of kind, and parts.
spell("as_numbers", gradcli=T("{0:ATOM}.float()"), numpy=T("{0:ATOM}.astype(float)"),
      torch=T("{0:ATOM}.to({like}.dtype)"), c=T("(double){0:ATOM}", SIGN),
      latex=T("[{0}]"))
spell("as_index", gradcli=T("{0:CHOICE}"), numpy=T("{0:ATOM}.astype(int)"),
      torch=T("{0:ATOM}.long()"), latex=T("{0:CHOICE}"))
spell("detach", gradcli=T("{0:ATOM}.detach()"), numpy=T("{0:CHOICE}"),
      torch=T("{0:ATOM}.detach()"), c=T("{0:CHOICE}"), latex=T("{0:CHOICE}"))
spell("part", python=T("{0:ATOM}[{1}]"), latex=T("{0:ATOM}_{{{1}}}"))
spell("getitem", python=T("{0:ATOM}[{1}]"), c=T("{0:ATOM}[{1}]"),
      latex=T("{0:ATOM}_{{{1}}}"))
spell("T", python=T("{0:ATOM}.T"), latex=T(r"{0:ATOM}^{{\top}}", POWER))
spell("mT", python=T("{0:ATOM}.mT"), numpy=T("{0:ATOM}.swapaxes(-1, -2)"),
      latex=T(r"{0:ATOM}^{{\top}}", POWER))

# Elementwise functions that C, and some that SymPy too, has under the table's name.
for _name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos",
              "atan", "asinh", "acosh", "atanh", "atan2", "erf", "erfc", "erfinv"):
    spell(_name, c=_name, sympy=_name)
for _name in ("sqrt", "exp2", "expm1", "log2", "log10", "log1p", "floor", "ceil",
              "trunc", "isnan", "isinf", "isfinite", "signbit", "hypot", "logaddexp",
              "maximum", "minimum", "fmax", "fmin", "digamma", "sigmoid"):
    spell(_name, c=_name)
spell("abs", numpy="np.abs", c="fabs", sympy="Abs")
spell("round", c="nearbyint")
spell("sign", numpy="np.sign", c="sign", sympy="sign")
spell("sinc", numpy="np.sinc", c="sinc")
spell("fmod", numpy="np.fmod", c="fmod")
spell("floor_divide", numpy="np.floor_divide", c="floor_divide")
spell("remainder", numpy="np.remainder", c="modulo")
spell("logsigmoid", torch="F.logsigmoid", c="logsigmoid")
spell("ndtri", torch="torch.special.ndtri", c="ndtri")
spell("xlogy", numpy="special.xlogy", c="xlogy")
spell("lgamma", numpy="special.gammaln", c="lgamma", sympy="loggamma")
spell("polygamma", numpy="special.polygamma", c="polygamma")
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
for _name in ("unfold", "repeat", "view"):
    spell(_name, torch=f".{_name}")
for _name in ("index_put", "elu"):
    spell(_name, torch=f"torch.ops.aten.{_name}")
for _name in ("xlog1py", "ndtr", "entr"):
    spell(_name, torch=f"torch.special.{_name}")
for _name in (
    "adaptive_avg_pool2d", "adaptive_max_pool2d", "avg_pool2d", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d", "cross_entropy",
    "gaussian_nll_loss", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh",
    "huber_loss", "l1_loss", "leaky_relu", "linear", "max_pool2d", "mish", "mse_loss",
    "nll_loss", "normalize", "one_hot", "pad", "relu6", "silu", "smooth_l1_loss",
    "soft_margin_loss", "softmin", "softplus", "softshrink", "softsign", "tanhshrink",
):
    spell(_name, torch=f"F.{_name}")
# fmt: on
