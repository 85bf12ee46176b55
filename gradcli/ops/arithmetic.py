"""Arithmetic: the operators, with PyTorch's variants for a number on either side.

Where a plain number meets a tensor PyTorch records different nodes than for two
tensors; each of these is a row under PyTorch's overload name, and the public function
chooses by what it is given.
"""

from __future__ import annotations

from .op import case, function, row

PAIR = [case((3, 4), (3, 4)), case((3, 4), (4,)), case((3, 1), (1, 4)), case((), (2,))]
AWAY = [
    case((3, 4), (3, 4), low=0.5, high=2.0),
    case((3, 4), (4,), low=0.5, high=2.0),
    case((), (), low=0.5, high=2.0),
]


def is_number(value: object) -> bool:
    """A plain Python number, which PyTorch treats as no tensor."""
    return isinstance(value, int | float)


row("add", node="AddBackward0", latex="{0} + {1}", formula="a + b",
    doc="Sum, elementwise with broadcasting.",
    fwd=lambda xp, a, b: a + b, partials=(1, 1), cases=PAIR)  # fmt: skip

row("sub", node="SubBackward0", latex="{0} - {1}", formula="a - b",
    doc="Difference, elementwise with broadcasting.", aliases=("subtract",),
    fwd=lambda xp, a, b: a - b, partials=(1, -1), cases=PAIR)  # fmt: skip

row("rsub.Scalar", node="RsubBackward1", latex="{1} - {0}", formula="number - x",
    doc="A number minus a tensor.",
    fwd=lambda xp, x, number: number - x,
    partials=(lambda xp, y, x, number: -1,),
    cases=[case((3, 4), number=10), case((), number=0.5)])  # fmt: skip

row("mul", node="MulBackward0", latex=r"{0} \cdot {1}", formula="a * b",
    doc="Product, elementwise with broadcasting.", aliases=("multiply",),
    fwd=lambda xp, a, b: a * b,
    partials=(lambda xp, y, a, b: b, lambda xp, y, a, b: a), cases=PAIR)  # fmt: skip

row("div.Tensor", node="DivBackward0", latex=r"\frac{{{0}}}{{{1}}}", formula="a / b",
    doc="Quotient, elementwise with broadcasting.",
    fwd=lambda xp, a, b: a / b,
    partials=(lambda xp, y, a, b: 1 / b, lambda xp, y, a, b: -y / b),
    cases=AWAY)  # fmt: skip

row("neg", node="NegBackward0", latex="-{0}", formula="-x", doc="Negation.",
    aliases=("negative",),
    fwd=lambda xp, x: -x, partials=(-1,), cases=[case((3, 4)), case(())])  # fmt: skip

row("reciprocal", node="ReciprocalBackward0", latex=r"\frac{{1}}{{{0}}}",
    formula="1 / x", doc="Reciprocal.",
    fwd=lambda xp, x: 1 / x, partials=(lambda xp, y, x: -y * y,),
    cases=[case((3, 4), low=0.5, high=2.0), case((3,), low=-2.0, high=-0.5)],
)  # fmt: skip

row("pow.Tensor_Scalar", node="PowBackward0", latex="{0}^{{{1}}}",
    formula="x ** exponent", doc="A tensor to the power of a number.",
    kink="the derivative for exponent 0 is 0, also at x = 0",
    fwd=lambda xp, x, exponent: x**exponent,
    partials=(lambda xp, y, x, exponent:
              xp.zeros_like(x) if exponent == 0 else exponent * x**(exponent - 1),),
    cases=[case((3, 4), exponent=3), case((3,), exponent=2.5, low=0.5),
           case((), exponent=-1.5, low=0.5), case((2,), exponent=0)])  # fmt: skip


function("div", lambda call, a, b, rounding_mode=None:
         call("div.Tensor", a, b) if not is_number(a)
         else call("mul", call("reciprocal", b), a),
         doc="Quotient, elementwise with broadcasting.", formula="a / b",
         aliases=("divide", "true_divide"))  # fmt: skip

function("pow", lambda call, a, b:
         call("pow.Tensor_Scalar", a, exponent=b) if is_number(b)
         else call("pow.Tensor_Tensor", a, b),
         doc="Power, elementwise with broadcasting.", formula="a ** b",
         aliases=("power",))  # fmt: skip
