"""Activations and the softmax family.

    row("sigmoid", node="SigmoidBackward0", ..., partials=(lambda xp, y, x: y*(1 - y),))

Invariant: no formula overflows where its value is finite.
"""

from __future__ import annotations

from .checks import (
    KindError,
    ShapeError,
    ValueRangeError,
    count_of,
    demand_multiple,
    dim_of,
    dims_of,
    reduced_shape,
)
from .elementary import pi
from .exact import decimal, exact_for, fraction, reciprocal
from .op import (
    ALL,
    FLOATS,
    KEPT,
    PACKED,
    RESULT,
    WHOLE,
    Fixed,
    Rule,
    Rules,
    case,
    function,
    of_floats,
    of_numbers,
    row,
    smooth,
)
from .reduce import dropped, restored
from .types import Array, ArrayRule, Caller, Dims, Namespace

# fmt: off

SIDES = [case((3, 4), low=0.1), case((3,), low=-2.0, high=-0.1), case((), low=0.1)]

# smooth activations, entry by entry

smooth("sigmoid", lambda xp, y, x: y * (1 - y), latex=r"\sigma({0})",
    formula="1/(1 + e**-x)",
    rule=Rule("SigmoidBackwardBackward0", (RESULT,), passes=True),
    doc="Logistic function.", aliases=("expit",),
    cases=[*ALL, case((2,), low=-40, high=-30)], special="expit",
    also=("logistic", "σ"), saves="y", sym=lambda sp, x: 1 / (1 + sp.exp(-x)))

of_floats("logsigmoid", node="LogSigmoidBackward0", latex=r"\log \sigma({0})",
    rule=Rule("LogSigmoidBackwardBackward0", passes=True),
    memory=PACKED,
    formula="-log(1 + e**-x)", doc="Logarithm of the logistic function.",
    aliases=("log_sigmoid",),
    fwd=lambda xp, x: xp.logsigmoid(x), partials=(lambda xp, y, x: xp.sigmoid(-x),),
    cases=[*ALL, case((2,), low=-800, high=800)],
    sym=lambda sp, x: -sp.log(1 + sp.exp(-x)))

# Elfwing, Uchibe, Doya 2017, arXiv:1702.03118.
of_floats("silu", latex=r"{0} \sigma({0})", formula="x*sigmoid(x)",
    doc="Sigmoid-weighted linear unit, also called swish.",
    fwd=lambda xp, x: x * xp.sigmoid(x),
    partials=(lambda xp, y, x: xp.sigmoid(x) * (1 + x * xp.sigmoid(-x)),), cases=ALL,
    also=("swish",))


def softplus_of(xp: Namespace, x: Array) -> Array:
    return xp.logaddexp(x, xp.zeros_like(x))


def mish_slope(xp: Namespace, y: Array, x: Array) -> Array:
    bend = xp.tanh(softplus_of(xp, x))
    return bend + x * (1 - bend * bend) * xp.sigmoid(x)


# Misra 2019, arXiv:1908.08681.
of_floats("mish", latex=r"{0} \tanh(\log(1 + e^{{{0}}}))", memory=KEPT,
    formula="x*tanh(softplus(x))", doc="Mish.",
    fwd=lambda xp, x: x * xp.tanh(softplus_of(xp, x)), partials=(mish_slope,),
    cases=ALL)

of_floats("softplus", rule=Rule("SoftplusBackwardBackward0", passes=True), memory=KEPT,
    latex=r"\frac{{1}}{{\beta}} \log(1 + e^{{\beta {0}}})",
    formula="log(1 + e**(beta*x))/beta", doc="A smooth relu.",
    kink="above the threshold the function is taken to be x and the derivative 1",
    fwd=lambda xp, x, beta=1.0, threshold=20.0:
        xp.where(xp.gt(beta * x, threshold), x, softplus_of(xp, beta * x) / beta),
    partials=(lambda xp, y, x, beta=1.0, threshold=20.0:
              xp.where(xp.gt(beta * x, threshold), 1, xp.sigmoid(beta * x)),),
    cases=[*ALL, case((3,), beta=2.0, threshold=10.0), case((2,), low=21, high=900),
           case((2,), low=5.5, high=9.0, beta=2.0, threshold=10.0)])


def gelu_argument(xp: Namespace, x: Array) -> Array:
    return xp.sqrt(2 / pi(xp, x)) * (x + 0.044715 * (x * x * x))


def gelu_slope(xp: Namespace, y: Array, x: Array, approximate: str = "none") -> Array:
    if approximate == "none":
        below = xp.erfc(-x / xp.sqrt(xp.new_full(x, (), 2))) / 2
        return below + x * xp.exp(-(x * x) / 2) / xp.sqrt(2 * pi(xp, x))
    bend = xp.tanh(gelu_argument(xp, x))
    steep = xp.sqrt(2 / pi(xp, x)) * (1 + 3 * 0.044715 * (x * x))
    return (1 + bend) / 2 + x / 2 * (1 - bend * bend) * steep


# Hendrycks, Gimpel 2016, arXiv:1606.08415; 0.044715 is theirs.
@of_floats("gelu", latex=r"{0} \Phi({0})",
    rule=Rule("GeluBackwardBackward0", passes=True), formula="x*(1 + erf(x/sqrt(2)))/2",
    doc="Gaussian error linear unit; approximate is 'none' or 'tanh'.",
    partials=(gelu_slope,),
    cases=[*ALL, case((3, 4), approximate="tanh"), case((2,), low=-9, high=-6)])
def gelu_of(xp: Namespace, x: Array, approximate: str = "none") -> Array:
    if approximate == "none":
        return x / 2 * xp.erfc(-x / xp.sqrt(xp.new_full(x, (), 2)))
    return x / 2 * (1 + xp.tanh(gelu_argument(xp, x)))


# activations that are smooth on either side of a kink

of_numbers("relu", latex=r"\max(0, {0})", formula="max(0, x)",
    rule=Rule("ThresholdBackwardBackward0", (RESULT,)), doc="Rectified linear unit.",
    kink="at 0 the derivative is 0", fwd=lambda xp, x: xp.where(xp.lt(x, 0), 0, x),
    partials=(lambda xp, y, x: xp.as_type_of(xp.gt(y, 0), y),),
    vjp=(lambda xp, g, y, x: xp.where(xp.le(y, 0), 0, g),), cases=SIDES, saves="y")

of_floats("leaky_relu", turned="LeakyReluBackward1",
    formula="x if x > 0 else negative_slope*x", rule=Rule("LeakyReluBackwardBackward0"),
    latex=r"\max(0, {0}) + {negative_slope} \min(0, {0})", doc="Leaky rectifier.",
    kink="at 0 the derivative is negative_slope",
    fwd=lambda xp, x, negative_slope=0.01: xp.where(xp.gt(x, 0), x, negative_slope * x),
    partials=(lambda xp, y, x, negative_slope=0.01:
              xp.where(xp.gt(x, 0), xp.ones_like(x), negative_slope),),
    cases=[*SIDES, case((3,), low=-2.0, high=-0.1, negative_slope=0.3)])


# Xu et al. 2015, arXiv:1505.00853, section 2.4.
of_floats("rrelu_with_noise.default", turned="RreluWithNoiseBackward1",
    formula="x if x > 0 else slope*x",
    kink="at 0 the derivative is that of the entries below",
    fwd=lambda xp, x, noise, lower, upper, training: xp.where(
        xp.gt(x, 0), x, x * noise if training else x * ((lower + upper) / 2)),
    partials=(lambda xp, y, x, noise, lower, upper, training: xp.where(
        xp.gt(x, 0), xp.ones_like(x), noise if training else (lower + upper) / 2),
        None), fixed="rrelu_with_noise noise",
    rule=Rule("RreluWithNoiseBackwardBackward0"),
    cases=[case((4,), Fixed(0.0), lower=0.125, upper=0.5, training=False),
           case((3,), Fixed([0.2, 0.3, 0.25]), lower=0.125, upper=0.5,
                training=True)])


@function("rrelu", operands=("x",), cases=[case((3,))],
          formula="x if x > 0 else slope*x",
          kink="at 0 the derivative is that of the entries below",
          doc="Leaky rectifier whose slopes are drawn in training, and their mean "
              "otherwise.")
def rrelu(call: Caller, x: Array, lower: float = 1 / 8,
          upper: float = fraction(1, 3), training: bool = False,
          noise: Array | None = None) -> Array:
    if lower > upper:
        raise ValueRangeError(f"rrelu: lower {lower} is above upper {upper}")
    if training and noise is None:
        raise ValueRangeError("rrelu needs noise in training: a slope for each entry")
    return call("rrelu_with_noise.default", x, 0.0 if noise is None else noise, lower,
                exact_for(x, upper), training)


def negative(xp: Namespace, x: Array) -> Array:
    """Return min(x, 0), with derivative 0 at x = 0."""
    return xp.where(xp.lt(x, 0), x, 0)


def elu_slope(
    xp: Namespace, x: Array, alpha: float, scale: float, input_scale: float
) -> Array:
    left = xp.exp(input_scale * negative(xp, x))
    return xp.where(xp.le(x, 0), scale * alpha * input_scale * left, scale)


# Clevert, Unterthiner, Hochreiter 2015, arXiv:1511.07289.
@of_floats("elu", turned="EluBackward1", latex=r"\operatorname{{ELU}}({0})",
    rule=Rule("EluBackwardBackward0", passes=True),
    formula="scale*x if x > 0 else scale*alpha*(e**(input_scale*x) - 1)",
    doc="Exponential linear unit.",
    kink="at 0 the derivative is that of the left side, scale*alpha*input_scale",
    partials=(lambda xp, y, x, alpha=1.0, scale=1.0, input_scale=1.0:
              elu_slope(xp, x, alpha, scale, input_scale),),
    cases=[
        *SIDES, case((3,), low=-2.0, high=-0.1, alpha=2.0, scale=1.5, input_scale=0.5)])
def elu_of(xp: Namespace, x: Array, alpha: float = 1.0, scale: float = 1.0,
           input_scale: float = 1.0) -> Array:
    left = xp.expm1(input_scale * negative(xp, x))
    return xp.where(xp.le(x, 0), scale * alpha * left, scale * x)


# Klambauer et al. 2017, arXiv:1706.02515, for mean 0 and variance 1.
SELU_ALPHA = decimal("1.6732632423543772848170429916717")
SELU_SCALE = decimal("1.0507009873554804934193349852946")

function("selu", lambda call, x: call(
             "elu", x, alpha=exact_for(x, SELU_ALPHA), scale=exact_for(x, SELU_SCALE)),
         cases=SIDES, doc="Self-normalising exponential linear unit.",
         formula="scale*elu(x, alpha)", kink="at 0 the derivative is scale*alpha")

# Barron 2017, arXiv:1704.07483.
of_floats("celu", turned="CeluBackward1", latex=r"\operatorname{{CELU}}({0})",
    rule=Rule("EluBackwardBackward0", passes=True),
    formula="x if x > 0 else alpha*(e**(x/alpha) - 1)",
    doc="Continuously differentiable exponential linear unit.",
    fwd=lambda xp, x, alpha=1.0: elu_of(xp, x, alpha, 1, reciprocal(xp, alpha)),
    partials=(lambda xp, y, x, alpha=1.0:
              elu_slope(xp, x, alpha, 1, reciprocal(xp, alpha)),),
    cases=[*SIDES, case((3,), low=-2.0, high=-0.1, alpha=2.0)])


def between(xp: Namespace, x: Array, low: float, high: float) -> Array:
    return xp.logical_and(xp.gt(x, low), xp.lt(x, high))


def passing_but(hidden: ArrayRule) -> Rules:
    """Return rules of slope 1, but of slope 0 where ``hidden(xp, x, ...)`` holds."""
    return {
        "partials": (lambda xp, y, x, **how: 1 - xp.as_type_of(hidden(xp, x, **how), x),
                     ),
        "vjp": (lambda xp, g, y, x, **how: xp.where(hidden(xp, x, **how), 0, g),),
    }


@of_numbers("hardtanh", formula="min(max(x, min_val), max_val)",
    rule=Rule("HardtanhBackwardBackward0"),
    latex=r"\min(\max({0}, {min_val}), {max_val})", doc="Clamped identity.",
    result=WHOLE, kink="at a bound the derivative is 0",
    **passing_but(lambda xp, x, min_val=-1.0, max_val=1.0: xp.logical_or(
      xp.le(x, min_val), xp.ge(x, max_val))),
    cases=[case((3, 4), low=-0.9, high=0.9), case((3,), low=1.1), case((), low=0.1,
           min_val=0.0, max_val=6.0)])
def hard_tanh(xp: Namespace, x: Array, min_val: float = -1.0, max_val: float = 1.0
             ) -> Array:
    if min_val > max_val:
        raise ValueRangeError("min_val cannot be greater than max_val")
    if min_val < 0 and hasattr(x, "dtype") and x.dtype.kind == "u":
        raise KindError(
            "cannot do hardtanh on an unsigned type with negative limits")
    return xp.minimum(xp.maximum(x, min_val), max_val)


function("relu6", lambda call, x: call("hardtanh", x, min_val=0, max_val=6),
         cases=SIDES, doc="relu cut off at 6.", formula="min(max(x, 0), 6)",
         kink="at 0 and 6 the derivative is 0")

of_floats("hardsigmoid", formula="min(max(x + 3, 0), 6)/6",
    latex=r"\frac{{\min(\max({0} + 3, 0), 6)}}{{6}}", doc="Piecewise linear sigmoid.",
    kink="at -3 and 3 the derivative is 0",
    fwd=lambda xp, x: xp.minimum(xp.maximum(x + 3, 0), 6) / 6,
    partials=(lambda xp, y, x: xp.as_type_of(between(xp, x, -3, 3), x) / 6,),
    vjp=(lambda xp, g, y, x: xp.where(between(xp, x, -3, 3), g / 6, 0),),
    cases=[*ALL, case((3,), low=3.1, high=4.0)])


def hard_swish_pulled(xp: Namespace, g: Array, x: Array, inside: Array) -> Array:
    """Return ``g`` times hardswish's slope; constant 0 for x <= -3, also in further
    derivatives."""
    bent = xp.where(inside, g, 0) * (xp.where(inside, x, 0) / 3 + 0.5)
    return xp.where(inside, bent, xp.where(xp.le(x, -3), 0, g))


# Howard et al. 2019, arXiv:1905.02244, section 5.2.
of_floats("hardswish", formula="x*min(max(x + 3, 0), 6)/6",
    rule=Rule("HardswishBackwardBackward0", passes=True),
    latex=r"{0} \frac{{\min(\max({0} + 3, 0), 6)}}{{6}}", doc="Piecewise swish.",
    kink="at -3 the derivative is 0, at 3 it is 1",
    fwd=lambda xp, x: x * (xp.minimum(xp.maximum(x + 3, 0), 6) / 6),
    partials=(lambda xp, y, x: xp.where(
        xp.le(x, -3), 0, xp.where(xp.lt(x, 3), x / 3 + 0.5, 1)),),
    vjp=(lambda xp, g, y, x: hard_swish_pulled(xp, g, x, between(xp, x, -3, 3)),),
    cases=[*ALL, case((3,), low=3.1, high=4.0), case((3,), low=-4.0, high=-3.1)])


of_numbers("threshold", turned="ThresholdBackward1",
    formula="x if x > threshold else value", rule=Rule("ThresholdBackwardBackward0"),
    latex=r"{0} [{0} > {threshold}]", doc="Replaces what is not above a threshold.",
    result=WHOLE, kink="at the threshold the derivative is 0",
    fwd=lambda xp, x, threshold, value: xp.where(xp.le(x, threshold), value, x),
    **passing_but(lambda xp, x, threshold, value: xp.le(x, threshold)),
    cases=[case((3, 4), low=0.6, threshold=0.5, value=7.0),
           case((3,), threshold=3.0, value=-1.0)])


def below(xp: Namespace, x: Array, weight: Array) -> Array:
    """Return the slope left of 0, which is ``weight``; at 0 it is detached, so that the
    mixed second derivative there is 0."""
    return xp.where(xp.eq(x, 0), xp.detach(weight), weight)


# He et al. 2015, arXiv:1502.01852.
of_floats("prelu.kernel", node="PreluKernelBackward0",
    formula="x if x > 0 else weight*x",
    rule=Rule("PreluKernelBackwardBackward0", (0, 1)),
    latex=r"\max(0, {0}) + {1} \min(0, {0})", doc="Leaky rectifier with learnt slopes.",
    one_type=True,
    kink="at 0 the derivative by x is the weight",
    fwd=lambda xp, x, weight: xp.where(xp.gt(x, 0), x, weight * x),
    partials=(
        lambda xp, y, x, weight: xp.where(xp.gt(x, 0), 1, below(xp, x, weight)),
        lambda xp, y, x, weight: xp.where(xp.ge(x, 0), 0, x)),
    vjp=(
        lambda xp, g, y, x, weight:
        xp.where(xp.gt(x, 0), g, xp.where(xp.gt(x, 0), 0, g) * below(xp, x, weight)),
        lambda xp, g, y, x, weight:
        xp.where(xp.ge(x, 0), 0, g) * xp.where(xp.ge(x, 0), 0, x)),
    cases=[case((3, 4), (4,), low=0.1), case((3, 4), (1, 1), low=-2.0, high=-0.1)],
    saves="x weight")


@function("prelu", operands=("x", "weight"),
          kink="at 0 the derivative by x is the weight")
def prelu_of(call: Caller, x: Array, weight: Array) -> Array:
    channels = x.shape[1] if len(x.shape) > 1 else 1
    count = weight.shape[0] if weight.shape else 1
    if len(weight.shape) > 1 or count not in (1, channels):
        raise ShapeError(f"prelu: weight of shape {list(weight.shape)} for {channels} "
                         "channels: give one number, or one per channel")
    shape = [1] * len(x.shape)
    if count != 1:
        shape[1] = count
    if len(weight.shape) != len(shape):
        weight = call("reshape", weight, shape)
    return call("prelu.kernel", x, weight)


function("softsign", lambda call, x:
         call("div", x, call("add", call("abs", x), 1)), cases=ALL,
         doc="A rational sigmoid.", formula="x/(1 + abs(x))")

function("tanhshrink", lambda call, x: call("sub", x, call("tanh", x)), cases=ALL,
         doc="x minus its tanh.", formula="x - tanh(x)")

# functions along dimensions

ALONG = [case((3, 4), dim=0), case((3, 4), dim=-1), case((2, 3, 4), dim=1),
         case((4,), dim=0, low=-90, high=90), case((), dim=0)]


def peak(xp: Namespace, x: Array, over: tuple[int, ...]) -> Array:
    """Return the maximum over dimensions, which are kept; 0 if they are empty."""
    if 0 in [x.shape[d] for d in over]:
        return xp.new_full(x, reduced_shape(x.shape, over), 0)
    return xp.amax(x, over, True)


def line_by_line(formula: ArrayRule) -> ArrayRule:
    """Return a formula ``(xp, *operands, dim)`` that runs ``(xp, over, *operands)``; it
    runs it on parts of large operands, so each line of the result along ``dim`` must
    depend only on the same line of the operands."""
    def run(xp: Namespace, *operands: Array, dim: int) -> Array:
        shape = operands[0].shape
        over = dims_of(shape, dim)
        if over in ((), (0,)):
            return formula(xp, over, *operands)
        return xp.in_parts(lambda *parts: formula(xp, over, *parts), operands,
                           count_of(shape[1:]))

    return run


@line_by_line
def softmax_of(xp: Namespace, over: tuple[int, ...], x: Array) -> Array:
    powers = xp.exp(x - peak(xp, x, over))
    return powers / xp.sum(powers, over, True)


@line_by_line
def log_softmax_of(xp: Namespace, over: tuple[int, ...], x: Array) -> Array:
    shifted = x - peak(xp, x, over)
    return shifted - xp.log(xp.sum(xp.exp(shifted), over, True))


@line_by_line
def softmax_push(xp: Namespace, over: tuple[int, ...], t: Array, y: Array) -> Array:
    """Return the softmax's Jacobian, which is symmetric, times ``t``."""
    return y * (t - xp.sum(y * t, over, True))


log_softmax_pull = line_by_line(
    lambda xp, over, g, y: g - xp.exp(y) * xp.sum(g, over, True))
log_softmax_push = line_by_line(
    lambda xp, over, t, y: t - xp.sum(xp.exp(y) * t, over, True))


def normalising(name: str, node: str, formula: str, doc: str, fwd: ArrayRule,
                pull: ArrayRule, push: ArrayRule) -> None:
    """Enter the softmax or its logarithm; rules take the result, not the operand."""
    of_floats(name, node=f"{node}Backward0", formula=formula, doc=doc, memory=PACKED,
        rule=Rule(f"{node}BackwardDataBackward0", (RESULT,), passes=True),
        fwd=lambda xp, x, dim: fwd(xp, x, dim=dim),
        vjp=(lambda xp, g, y, x, dim: pull(xp, g, y, dim=dim),),
        jvp=lambda xp, t, y, x, dim: push(xp, t[0], y, dim=dim),
        cases=ALONG, special=name, casts=True, saves="y")


normalising("softmax", "Softmax", "e**x / sum(e**x, dim, keepdim=True)",
            "Exponentials that add up to 1 along a dimension.",
            softmax_of, softmax_push, softmax_push)
normalising("log_softmax", "LogSoftmax", "x - logsumexp(x, dim, keepdim=True)",
            "Logarithm of the softmax.", log_softmax_of, log_softmax_pull,
            log_softmax_push)

def weights(xp: Namespace, x: Array, y: Array, dim: Dims) -> Array:
    """Return the softmax of ``x``, given its logsumexp ``y``."""
    return xp.exp(x - restored(xp, y, x.shape, dim))


# Blanchard, Higham, Higham 2021, doi:10.1093/imanum/draa038: the shifted formula.
@row("logsumexp", formula="log(sum(e**x, dim))",
    doc="Logarithm of a sum of exponentials.", result=FLOATS,
    vjp=(lambda xp, g, y, x, dim, keepdim=False:
         restored(xp, g, x.shape, dim) * weights(xp, x, y, dim),),
    cases=[case((3, 4), dim=0), case((3, 4), dim=(0, -1), keepdim=True),
           case((3,), dim=0, low=-900, high=900), case((2, 3, 4), dim=(0, 2)),
           case((), dim=0)], special="logsumexp", saves="x y")
def logsumexp_of(xp: Namespace, x: Array, dim: Dims, keepdim: bool = False) -> Array:
    over = dims_of(x.shape, dim)
    top = peak(xp, x, over)
    shift = xp.where(xp.isinf(top), 0, top)
    kept = xp.log(xp.sum(xp.exp(x - shift), over, True)) + shift
    return dropped(xp, kept, x, dim, keepdim)


def halves(xp: Namespace, x: Array, dim: int) -> tuple[Array, Array]:
    axis = dim_of(x.shape, dim)
    size = x.shape[axis] if x.shape else 1
    demand_multiple(f"Halving dimension {axis}", size, 2)
    return (xp.narrow(x, axis, 0, size // 2), xp.narrow(x, axis, size // 2, size // 2))


def glu_pull(xp: Namespace, g: Array, y: Array, x: Array, dim: int = -1) -> Array:
    _, b = halves(xp, x, dim)
    gate = xp.sigmoid(b)
    return xp.cat([g * gate, g * (y * (1 - gate))], dim_of(x.shape, dim))


# Dauphin et al. 2016, arXiv:1612.08083.
@of_floats("glu", formula="a*sigmoid(b)",
    rule=Rule("GluBackwardBackward0", passes=True),
    doc="The first half of a dimension, gated by the second.", vjp=(glu_pull,),
    cases=[case((3, 4)), case((4, 3), dim=0), case((2, 2, 3), dim=1)], saves="x y")
def glu_of(xp: Namespace, x: Array, dim: int = -1) -> Array:
    a, b = halves(xp, x, dim)
    return a * xp.sigmoid(b)
