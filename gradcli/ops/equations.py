"""Cholesky factors with an error code per matrix, and condition numbers of matrices.

Invariant: `cholesky_ex` raises no error for a matrix that is not positive definite;
``info`` is the order of its first minor that is not positive, else 0.

    l, info = linalg.cholesky_ex(a)
"""

from __future__ import annotations

from math import nan

from .checks import EngineError, ValueRangeError, demand_rank, refuse
from .linalg import cholesky_rule, cholesky_tangent, factor, lifted, square
from .norm import INFINITY, matrix_norm
from .op import case, function, of_floats
from .products import identity
from .types import Array, Call, Namespace, Outputs, Result, Tangents

# fmt: off


def cholesky_ex_tangent(xp: Namespace, t: Tangents, y: Outputs, a: Array,
                        upper: bool = False) -> Outputs:
    moved = cholesky_tangent(xp, t, y[0], a, upper)
    return moved, xp.new_full(moved, y[1].shape, 0)


@of_floats("linalg_cholesky_ex.default", node="LinalgCholeskyExBackward0", returns=2,
    formula="l @ l.T = a, info",
    kink="of a matrix that is not positive definite the factor is NaN",
    vjp=(lambda xp, g, y, a, upper=False: cholesky_rule(xp, g, y[0], a, upper),),
    jvp=cholesky_ex_tangent,
    cases=[case((3, 3), make="symmetric"),
           case((2, 2, 2), upper=True, make="symmetric")], saves="y.0")
def cholesky_ex(xp: Namespace, a: Array, upper: bool = False) -> Outputs:
    read = xp.read_in_triangle(square("linalg.cholesky", a), upper)
    info = xp.indefinite_minors(read)
    bad = xp.ne(info, 0)
    if not bool(xp.any(bad)):
        return factor(xp, a, upper), info
    held = xp.where(lifted(xp, bad), identity(xp, a, a.shape), a)
    return xp.where(lifted(xp, bad), nan, factor(xp, held, upper)), info


@function("linalg.cholesky_ex", formula="l @ l.T = a, info", operands=("a",),
          doc="The triangular factor of a positive definite matrix, and the order of "
              "the first minor that is not positive.",
          cases=[case((3, 3), make="symmetric")])
def torch_cholesky_ex(call: Call, a: Array, upper: bool = False,
                      check_errors: bool = False) -> Result:
    found = call("linalg_cholesky_ex.default", a, upper)
    number = int(found[1].max()) if check_errors and 0 not in found[1].shape else 0
    refuse(number, "linalg.cholesky_ex: The factorization could not be completed "
           "because the input is not positive-definite (the leading minor of order {} "
           "is not positive-definite).", number, kind=ValueRangeError)
    return found


# condition numbers


@function("linalg.cond", operands=("a",),
          formula="norm(a, p)*norm(inverse(a), p) = cond",
          doc="How many times errors grow where a system with this matrix is solved: "
              "the norm of a matrix times that of its inverse.",
          kink="where the largest or the least singular value is repeated the "
               "derivative is one of several",
          cases=[case((2, 2), make="regular"), case((3, 2), p=-2, make="regular"),
                 case((2, 2), p=1, make="regular"), case((2, 2), p="nuc",
                                                         make="regular")])
def cond(call: Call, a: Array, p: float | str | None = None) -> Array:
    demand_rank("linalg.cond", a, 2)
    if p is not None and p not in ("fro", "nuc", INFINITY, -INFINITY, 1, -1, 2, -2):
        raise EngineError(f"linalg.cond got an invalid norm type: {p}")
    if 0 in a.shape:
        return call("new_full", call("detach", a), a.shape[:-2], 0)
    if p is None or p in (2, -2):
        s = call("linalg.svdvals", a)
        first = call("narrow", s, -1, 0, 1)
        last = call("narrow", s, -1, s.shape[-1] - 1, 1)
        ratio = call("div", last, first) if p == -2 else call("div", first, last)
        return call("squeeze", ratio, -1)
    n, m = a.shape[-2:]
    refuse(n != m, "linalg.cond(ord={}): A must be batches of square matrices, but "
           "they are {} by {} matrices", p, n, m)
    if p == "nuc":
        s = call("linalg.svdvals", a)
        return call("mul", call("sum", s, -1), call("sum", call("reciprocal", s), -1))
    sign, _ = call("slogdet", call("detach", a))
    singular = call("unsqueeze", call("unsqueeze", call("eq", sign, 0), -1), -1)
    held = call("masked_fill", a, singular, nan) if call("any", singular) else a
    inverted = call("masked_fill", call("inverse", held), singular, INFINITY)
    both = call("mul", matrix_norm(call, a, p), matrix_norm(call, inverted, p))
    return call("nan_to_num", both, INFINITY, INFINITY, -INFINITY)
