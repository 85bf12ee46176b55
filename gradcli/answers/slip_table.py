"""Slips that textbooks name, as a table: for each the derivative that it gives for a
step of a program of numbers, and its sentences.

Invariant: a slip is a formula in the values and derivatives of one step's operands, and
knows nothing of the program around it.

    SLIPS[0].wrong(local), SLIPS[0].text    # 0.54, "chain rule f'(u)*u' with u = {u}…"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log as ln
from typing import Any, Final

import numpy as np

from ..engine import NUMPY, Tensor
from ..ops import Op

POWERS: Final = {"pow.Tensor_Scalar", "sqrt", "reciprocal"}
"""Rows that are powers with a fixed exponent."""

CONFUSED: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "exp", "log", "sqrt", "sigmoid",
)  # fmt: skip
"""Functions whose derivatives are taken for each other's."""

LINEAR: Final = ("add", "sub", "rsub", "mul", "neg", "div")
"""Rows whose derivative is a number if one operand varies, the first one."""

SQUARING: Final = ("asin", "acos", "atan", "asinh", "acosh", "atanh")
"""Functions whose derivatives depend on the square of the operand."""

RULES: Final = {
    "tan": "1/cos(u)^2",
    "sec": "sec(u)*tan(u)",
    "csc": "-csc(u)*cot(u)",
    "cot": "-csc(u)^2",
    "sech": "-sech(u)*tanh(u)",
    "csch": "-csch(u)*coth(u)",
    "coth": "-csch(u)^2",
    "asin": "1/sqrt(1 - u^2)",
    "acos": "-1/sqrt(1 - u^2)",
    "atan": "1/(1 + u^2)",
    "acot": "-1/(1 + u^2)",
    "asinh": "1/sqrt(1 + u^2)",
    "acosh": "1/sqrt(u^2 - 1)",
    "atanh": "1/(1 - u^2)",
}
"""Derivatives as textbooks state them, by the function's name, where the row's own
formula is another one."""

ROOTS: Final = ("asin", "asinh", "acosh")
"""Functions whose derivatives differ in a sign under the root."""


@dataclass(slots=True)
class NumberStep:
    """One step of a program of numbers.

    op        the row; ``exponent`` the fixed exponent, for a power
    operands  positions of the steps before, negative for inputs, or plain numbers
    params    what else the row was given, such as the base of a power
    out       the result, with its node
    parts     the steps of a function that is made of several rows, such as sec
    called    the name of that function
    """

    op: Op
    operands: tuple[int | float, ...]
    params: dict[str, Any]
    out: Tensor
    exponent: float | None = None
    parts: tuple[NumberStep, ...] = ()
    called: str = ""

    @property
    def name(self) -> str:
        """Return the function's name as the program has it, or the row's."""
        return self.called or self.op.name

    @property
    def varying(self) -> list[int]:
        """Return the positions of the operands that vary."""
        return [each for each in self.operands if isinstance(each, int)]


@dataclass(slots=True)
class Local:
    """Values and tangents at one step: of ``u``, ``v`` and the result ``y``.

    x      the value of the input by which the derivative is taken
    right  the right tangent of the result
    terms  if u is a sum or a difference, the value and the tangent of each term
    """

    step: NumberStep
    x: float
    y: float
    right: float
    u: float
    du: float
    v: float = 0.0
    dv: float = 0.0
    terms: Sequence[tuple[float, float]] = ()

    @property
    def n(self) -> float:
        """The exponent of a power."""
        assert self.step.exponent is not None
        return self.step.exponent

    def slope(self, at: float) -> float:
        """Return the derivative of the step's function of one operand at a number."""
        return slope_of(self.step, at)

    def value(self, at: float) -> float:
        """Return the step's function of one operand at a number."""
        return value_of(self.step, at)

    @property
    def termwise(self) -> float:
        """The derivative of ``f(a) + f(b)`` in place of ``f(a + b)``."""
        if not self.terms:
            return np.nan
        return sum(self.slope(a) * da for a, da in self.terms if da)

    @property
    def log_base(self) -> float:
        """The logarithm of the base, for a logarithm."""
        return 1 / (self.slope(self.u) * self.u)


Wrong = Callable[[Local], float]


@dataclass(frozen=True, slots=True)
class NumberSteps(Sequence[NumberStep]):
    """The steps of a program of numbers, with the inputs' values, by position, and the
    program's text for each node, by the node's ``id``."""

    inputs: Sequence[float]
    steps: Sequence[NumberStep]
    texts: Mapping[int, str]

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, at: Any) -> Any:
        return self.steps[at]


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip: the tangent that it gives for a step, and its sentences.

    fits    whether a step can have it
    text    the rule and what is wrong, with {u}, {v}, {f} for parts of the program; {w}
            is u so that it may stand beside any operator, {times} its derivative as a
            factor
    repair  the way out

    frequent  whether it is looked for beside another slip
    """

    cause: str
    fits: Callable[[NumberStep], bool]
    wrong: Wrong
    text: str
    repair: str
    frequent: bool = False


def slope_of(step: NumberStep, at: float) -> float:
    """Return the derivative of a function of one operand at a number."""
    if step.parts:
        slope = 1.0
        for part in step.parts:
            slope *= slope_of(part, at)
            at = value_of(part, at)
        return slope
    if step.exponent is not None:
        n = step.exponent
        return float(n * np.float64(at) ** (n - 1))
    assert step.op.partials is not None
    raws = _raws(step, at)
    y = step.op.fwd(NUMPY, *raws, **step.params)
    slot = [isinstance(each, int) for each in step.operands].index(True)
    partial = step.op.partials[slot]
    found = partial(NUMPY, y, *raws, **step.params) if callable(partial) else partial
    return float(np.asarray(found))


def value_of(step: NumberStep, at: float) -> float:
    """Return a function of one operand at a number."""
    for part in step.parts:
        at = value_of(part, at)
    if step.parts:
        return at
    if step.exponent is not None:
        return float(np.float64(at) ** step.exponent)
    return float(np.asarray(step.op.fwd(NUMPY, *_raws(step, at), **step.params)))


def _raws(step: NumberStep, at: float) -> list[np.ndarray[Any, Any]]:
    """Return a step's operands with a number in place of what varies."""
    numbers = (at if isinstance(each, int) else each for each in step.operands)
    return [np.asarray(each, dtype=np.float64) for each in numbers]


# which steps


def _is_power(step: NumberStep) -> bool:
    return step.exponent is not None


def _is_unary(step: NumberStep) -> bool:
    single = len(step.operands) == 1 and step.op.partials is not None
    return single or bool(step.parts)


def _is_composed(step: NumberStep) -> bool:
    """Return whether a step is a function of what another step computes."""
    return _is_unary(step) and step.operands[0] >= 0 and step.name != "neg"


def _is_nonlinear(step: NumberStep) -> bool:
    return _is_composed(step) and step.op.name not in ("abs", "neg")


def _is_cut(step: NumberStep) -> bool:
    """Return whether a step is a number on one side of its kink."""
    return step.op.base in ("relu", "maximum", "minimum") and _varies(step, 1)


def _is_outer_function(step: NumberStep) -> bool:
    """Return whether a composed step is neither a quotient nor an absolute value,
    whose slips have their own names."""
    return _is_composed(step) and step.exponent != -1 and step.op.name != "abs"


def _is_called(step: NumberStep) -> bool:
    """Return whether a composed step is a function that is no power."""
    exchangeable = _is_exchangeable(step) and step.exponent is None
    return exchangeable and _is_outer_function(step)


def _is_exchangeable(step: NumberStep) -> bool:
    """Return whether a composed step is no logarithm, of which `f'(u)*u` is 1 for
    every u."""
    return _is_composed(step) and not step.name.startswith("log")


def _is_signed(step: NumberStep) -> bool:
    return _is_unary(step) and (step.exponent or -1) == -1


def _has_factor(step: NumberStep) -> bool:
    return _is_power(step) and step.exponent != -1


def _is_product(step: NumberStep) -> bool:
    return step.name == "mul" and _varies(step, 2)


def _is_quotient(step: NumberStep) -> bool:
    return step.name == "div.Tensor" and _varies(step, 2)


def _is_multiple(step: NumberStep) -> bool:
    return step.name == "mul" and not _varies(step, 2)


def _is_exponential(step: NumberStep) -> bool:
    return step.name in ("exp", "exp2", "pow.Scalar")


def _is_both(step: NumberStep) -> bool:
    return step.name == "pow.Tensor_Tensor"


def _is_sum(step: NumberStep) -> bool:
    return step.name in ("add.Tensor", "sub.Tensor") and not _varies(step, 2)


def _is_minus(step: NumberStep) -> bool:
    minus = step.op.name == "sub.Tensor" and isinstance(step.operands[1], int)
    return minus or step.op.base == "rsub"


def _is_negative_power(step: NumberStep) -> bool:
    return (step.exponent or 0) < 0


def _is_odd_power(step: NumberStep) -> bool:
    """Return whether a power's new exponent is no factor that only changes a sign."""
    return _is_power(step) and step.exponent != 0.5


def _is_fraction(step: NumberStep) -> bool:
    """Return whether the exponent is a fraction whose opposite is not n - 1."""
    return _is_odd_power(step) and step.exponent % 1 != 0  # type: ignore[operator]


def _is_logarithm(step: NumberStep) -> bool:
    return step.name in ("log10", "log2") or bool(step.parts and step.called == "log")


def named(*names: str) -> Callable[[NumberStep], bool]:
    return lambda step: step.name in names


def _varies(step: NumberStep, count: int) -> bool:
    return len(step.varying) == count


def _base(local: Local) -> float:
    base = local.step.params.get("base", np.e)
    return float({"exp": np.e, "exp2": 2.0}.get(local.step.name, base))


_PRODUCT = "product rule u'*v + u*v' with u = {u}, v = {v}"
_QUOTIENT = "quotient rule (u'*v - u*v')/v^2 with u = {u}, v = {v}"
_POWER = "power rule n*u^(n-1)*u' with u = {u}"
_CHAIN = "chain rule f'(u)*u' with u = {u}"

_RECIPROCALS: Final[Sequence[tuple[str, str, str, tuple[Wrong, Wrong]]]] = (
    ("sin", "asin", "1/sqrt(1 - {w}^2)",
     (lambda c: c.du / np.sin(c.u), lambda c: -np.cos(c.u) / np.sin(c.u)**2 * c.du)),
    ("cos", "acos", "-1/sqrt(1 - {w}^2)",
     (lambda c: c.du / np.cos(c.u), lambda c: np.sin(c.u) / np.cos(c.u)**2 * c.du)),
    ("tan", "atan", "1/(1 + {w}^2)",
     (lambda c: c.du / np.tan(c.u), lambda c: -c.du / np.sin(c.u)**2)),
)  # fmt: skip
"""Functions with their inverses, the derivatives of these, and what is given for them
if the inverse is taken for the reciprocal: it or its derivative."""

SLIPS: Final = (
    Slip("function", _is_cut, lambda c: c.du,
         "{f} is constant on one side of its kink", "write 0 on that side"),
    Slip("chain", _is_composed, lambda c: c.slope(c.u),
         f"{_CHAIN}: u' is missing", "multiply by {du}", True),
    Slip("chain", _is_composed, lambda c: c.slope(c.du),
         f"{_CHAIN}: the inner derivative is put inside",
         "take f' at {u} and multiply by u'"),
    Slip("chain", _is_exchangeable, lambda c: c.slope(c.u) * c.u,
         f"{_CHAIN}: {{u}} is there in place of its derivative",
         "multiply by the derivative of {u}"),
    Slip("chain", _is_composed, lambda c: c.slope(c.x) * c.du,
         f"{_CHAIN}: f' is taken at the variable", "take f' at {u}"),
    Slip("chain", _is_called, lambda c: c.slope(c.du) * c.du,
         f"{_CHAIN}: f' is taken at u'", "take f' at {u}"),
    Slip("chain", _is_called, lambda c: c.slope(c.du) * c.u,
         f"{_CHAIN}: u and u' are exchanged", "take f' at {u} and multiply by u'"),
    Slip("chain", _is_outer_function, lambda c: c.value(c.du),
         f"{_CHAIN}: this is f(u')", "differentiate f and multiply by u'"),
    Slip("chain", named(*SQUARING), lambda c: c.slope(np.sqrt(c.u * c.x)) * c.du,
         f"{_CHAIN}: all of u is squared in f'(u)", "write ({u})^2"),
    Slip("chain", _is_nonlinear, lambda c: c.termwise,
         "f(u + v) is not f(u) + f(v), with f(u + v) = {f}",
         "take f' at {u} and multiply by its derivative"),
    Slip("sign", named("neg"), lambda c: c.du,
         "the minus in {f} is lost", "multiply by -1"),
    Slip("sign", _is_minus, lambda c: c.du + c.dv if c.step.varying[1:] else c.du,
         "the minus in {f} is lost: (u - v)' is u' - v'", "keep the minus"),
    Slip("sign", named("cos", "acos", "cot", "csc"), lambda c: -c.slope(c.u) * c.du,
         "the sign is wrong: {rule}", "multiply by -1", True),
    Slip("product", _is_product, lambda c: c.du * c.v,
         f"{_PRODUCT}: the term u*v' is missing", "add it"),
    Slip("product", _is_product, lambda c: c.u * c.dv,
         f"{_PRODUCT}: the term u'*v is missing", "add it"),
    Slip("product", _is_product, lambda c: c.du * c.dv,
         f"{_PRODUCT}: this is u'*v'", "write both terms", True),
    Slip("product", _is_product, lambda c: c.du * c.v - c.u * c.dv,
         f"{_PRODUCT}: there is a minus", "write a plus"),
    Slip("product", _is_product, lambda c: c.u * c.dv - c.du * c.v,
         f"{_PRODUCT}: there is a minus", "write a plus"),
    Slip("product", _is_product, lambda c: c.du + c.dv,
         f"{_PRODUCT}: this is u' + v'", "multiply by the other factor"),
    Slip("quotient", _is_quotient, lambda c: c.du / c.dv,
         f"{_QUOTIENT}: this is u'/v'", "write the whole rule", True),
    Slip("quotient", _is_quotient, lambda c: (c.du * c.v - c.u * c.dv) / c.v,
         f"{_QUOTIENT}: the denominator is not squared", "divide by v^2", True),
    Slip("quotient", _is_quotient, lambda c: c.du * c.v - c.u * c.dv,
         f"{_QUOTIENT}: the denominator is missing", "divide by v^2"),
    Slip("quotient", _is_quotient, lambda c: (c.u * c.dv - c.du * c.v) / c.v**2,
         f"{_QUOTIENT}: the terms are in the other order", "swap them", True),
    Slip("quotient", _is_quotient, lambda c: (c.u * c.dv + c.du * c.v) / c.v**2,
         f"{_QUOTIENT}: there is a plus", "write a minus"),
    Slip("quotient", _is_quotient, lambda c: (c.du * c.v - c.u * c.dv) / c.dv**2,
         f"{_QUOTIENT}: v' is squared", "divide by v^2"),
    Slip("quotient", named("reciprocal"), lambda c: 1 / c.du,
         "the derivative of 1/v is -v'/v^2, with v = {u}: this is 1/v'",
         "write the whole rule"),
    Slip("quotient", named("reciprocal"), lambda c: -c.du / c.u,
         "the derivative of 1/v is -v'/v^2, with v = {u}: the denominator is not "
         "squared", "divide by v^2"),
    Slip("power", _is_power, lambda c: c.n * c.y * c.du,
         f"{_POWER}: the exponent is not reduced by 1", "reduce it"),
    Slip("power", _has_factor, lambda c: c.u ** (c.n - 1) * c.du,
         f"{_POWER}: the factor n is missing", "multiply by the exponent"),
    Slip("power", _is_power,
         lambda c: c.n * c.u ** (c.n + 1) * c.du,
         f"{_POWER}: the exponent goes up", "reduce it by 1"),
    Slip("power", _is_power,
         lambda c: c.n * c.u ** (1 - c.n) * c.du,
         f"{_POWER}: the sign of the exponent is lost", "write the exponent n - 1"),
    Slip("power", _is_fraction, lambda c: c.n * c.u ** (-c.n) * c.du,
         f"{_POWER}: the new exponent is not n - 1", "write the exponent n - 1"),
    Slip("power", _is_odd_power,
         lambda c: (c.n - 1) * c.u ** (c.n - 1) * c.du,
         f"{_POWER}: the factor is the new exponent", "multiply by the old one"),
    Slip("sign", _is_negative_power, lambda c: -c.slope(c.u) * c.du,
         f"{_POWER}: n is negative, so the factor is negative, too", "multiply by -1"),
    Slip("power", _is_power, lambda c: c.n * c.du,
         f"{_POWER}: the factor u^(n-1) is missing", "multiply by it"),
    Slip("power", _is_power, lambda c: c.y / c.n * c.du,
         f"{_POWER}: it is divided by n", "multiply by n and reduce the exponent"),
    Slip("exponential", _is_exponential, lambda c: c.u * _base(c) ** (c.u - 1),
         "the power rule is for u^n with a fixed n; the derivative of a^u is "
         "a^u*log(a)*u', with u = {u}", "keep the exponent"),
    Slip("exponential", _is_exponential, lambda c: c.u * _base(c) ** (c.u - 1) * c.du,
         "the power rule is for u^n with a fixed n; the derivative of a^u is "
         "a^u*log(a)*u', with u = {u}", "keep the exponent"),
    Slip("exponential", named("pow.Scalar"), lambda c: c.y * c.du,
         "the derivative of a^u is a^u*log(a)*u': the factor log(a) is missing",
         "multiply by it"),
    Slip("exponential", _is_both, lambda c: c.v * c.u ** (c.v - 1) * c.du,
         "base and exponent both vary, and the power rule is for a fixed exponent: "
         "(u^v)' is u^v*(v'*log(u) + v*u'/u)", "add the other term"),
    Slip("exponential", _is_both, lambda c: c.y * ln(c.u) * c.dv,
         "base and exponent both vary, and this is right for a fixed base: "
         "(u^v)' is u^v*(v'*log(u) + v*u'/u)", "add the other term"),
    Slip("logarithm", _is_logarithm, lambda c: c.du / c.u,
         "the derivative of the logarithm to base b is u'/(u*log(b)): the factor "
         "1/log(b) is missing", "divide by log(b)"),
    Slip("logarithm", _is_logarithm, lambda c: c.du / c.u * c.log_base,
         "the derivative of the logarithm to base b is u'/(u*log(b)): it is "
         "multiplied by log(b)", "divide by log(b)"),
    Slip("function", named("abs"), lambda c: c.du,
         "the derivative of abs(u) is sign(u)*u': the sign is missing",
         "multiply by sign({u})"),
    Slip("function", named("abs"), lambda c: c.u * c.du,
         "the derivative of abs(u) is sign(u)*u'", "write sign({u})"),
    Slip("function", named("relu"), lambda c: c.y * c.du,
         "the derivative of relu(u) is u' where u > 0, and 0 elsewhere",
         "write where({u} > 0, 1, 0)"),
    Slip("function", named("sigmoid"), lambda c: c.u * (1 - c.u) * c.du,
         "the derivative of s = sigmoid(u) is s*(1 - s)*u', with s = {f}",
         "write the output s, not {u}"),
    Slip("function", named("tanh"), lambda c: (1 - c.u**2) * c.du,
         "the derivative of t = tanh(u) is (1 - t^2)*u', with t = {f}",
         "write the output t, not {u}"),
    Slip("function", named("tan"), lambda c: c.du / np.cos(c.u),
         "the derivative of tan(u) is u'/cos(u)^2: the square is missing",
         "square cos"),
    Slip("function", named("tan"), lambda c: c.du / np.sin(c.u) ** 2,
         "the derivative of tan(u) is u'/cos(u)^2, not of 1/sin(u)^2", "write cos"),
    Slip("function", named("tan"), lambda c: c.y * c.du,
         "the derivative of tan(u) is u'/cos(u)^2", "write this rule"),
    Slip("function", named("tan"), lambda c: c.y / np.cos(c.u) * c.du,
         "the derivative of tan(u) is sec(u)^2*u'; sec(u)*tan(u)*u' is that of sec(u)",
         "write sec({u})^2{times}"),
    Slip("function", named("sec"), lambda c: np.tan(c.u) * c.du,
         "the derivative of sec(u) is sec(u)*tan(u)*u': the factor sec(u) is missing",
         "multiply by it"),
    Slip("function", named("sec"), lambda c: c.y**2 * np.tan(c.u) * c.du,
         "the derivative of sec(u) is sec(u)*tan(u)*u': there is a square",
         "write sec({u})"),
    Slip("function", named("sec"), lambda c: c.y**2 * c.du,
         "this is the derivative of tan, not of sec: d sec(u)/du = sec(u)*tan(u)",
         "write this rule"),
    Slip("function", named("csc"), lambda c: -c.du / np.tan(c.u),
         "the derivative of csc(u) is -csc(u)*cot(u)*u': the factor csc(u) is missing",
         "multiply by it"),
    Slip("function", named("csc"), lambda c: -c.y**2 * c.du,
         "this is the derivative of cot, not of csc: d csc(u)/du = -csc(u)*cot(u)",
         "write this rule"),
    Slip("function", named("cot"), lambda c: -c.y / np.sin(c.u) * c.du,
         "this is the derivative of csc, not of cot: d cot(u)/du = -csc(u)^2",
         "write this rule"),
    Slip("function", named("cot"), lambda c: -c.du / np.sin(c.u),
         "the derivative of cot(u) is -csc(u)^2*u': the square is missing",
         "square csc"),
    Slip("function", named("cot"), lambda c: c.du / np.cos(c.u) ** 2,
         "this is the derivative of tan, not of cot: d cot(u)/du = -csc(u)^2",
         "write this rule"),
    Slip("function", named("tanh"), lambda c: (1 - c.y) * c.du,
         "the derivative of tanh(u) is (1 - tanh(u)^2)*u': the square is missing",
         "square tanh"),
    Slip("sign", named("tanh"), lambda c: (1 + c.y**2) * c.du,
         "the derivative of tanh(u) is (1 - tanh(u)^2)*u', with a minus",
         "write a minus"),
    Slip("function", named("asin"), lambda c: c.du / np.cos(c.u),
         "asin is the inverse function of sin, not 1/sin: its derivative is "
         "u'/sqrt(1 - u^2)", "write 1/sqrt(1 - {w}^2){times}"),
    *(Slip("function", named(inverse), wrong,
           f"{inverse} is the inverse function of {name}, not 1/{name}: {{rule}}",
           f"write {form}{{times}}")
      for name, inverse, form, wrongs in _RECIPROCALS for wrong in wrongs),
    Slip("function", named("sigmoid"), lambda c: c.y * (1 + c.y) * c.du,
         "the derivative of s = sigmoid(u) is s*(1 - s)*u', with a minus",
         "write a minus"),
    Slip("function", named("sigmoid"), lambda c: c.y * c.du,
         "the derivative of s = sigmoid(u) is s*(1 - s)*u'", "multiply by 1 - s"),
    Slip("function", named("sigmoid"), lambda c: (1 - c.y) * c.du,
         "the derivative of s = sigmoid(u) is s*(1 - s)*u'", "multiply by s"),
    Slip("sign", _is_signed, lambda c: -c.slope(c.u) * c.du,
         "the sign is wrong: {rule}", "multiply by -1"),
    Slip("constant", _is_multiple, lambda c: c.du,
         "a constant factor stays: the derivative of c*u is c*u', with c*u = {f}",
         "multiply by it"),
    Slip("constant", _is_multiple, lambda c: c.y,
         "the derivative of c*u is c*u': {f} is not differentiated", "drop {u}"),
    Slip("constant", _is_sum, lambda c: c.right + c.y - c.u,
         "the derivative of a constant is 0: {v} stays in the claim", "drop it"),
)  # fmt: skip
"""Slips, in the order in which they are tried."""
