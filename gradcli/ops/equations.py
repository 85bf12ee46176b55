"""Inverses and solutions that say of singular matrices that they are, conditions of
matrices, and equations between tensors of higher rank.

Invariant: rows whose name ends in ``_ex`` raise nothing of a matrix's values; ``info``
is 0, or the number of the first pivot or minor that is none.

    inverse, info = linalg.inv_ex(a)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .checks import EngineError, ShapeError, ValueRangeError, count_of, dim_of
from .linalg import (
    SQUARES,
    by_a,
    by_b,
    cholesky_rule,
    cholesky_tangent,
    column,
    factor,
    is_vector,
    lifted,
    solve,
    solve_tangent,
    square,
)
from .norm import INFINITY, matrix_norm
from .op import case, floats_for, function, no_half, row
from .products import identity, turned
from .triangles import from_triangles
from .triangular import by_columns
from .types import Array, Call, Namespace, Outputs, Result

# fmt: off


def beside_info(xp: Namespace, a: Array, regular: Callable[[], Array], b: Array
                ) -> Outputs:
    """``regular()``, or for singular matrices what the triangles give of ``b``; and the
    numbers of zero pivots."""
    info = xp.zero_pivots(a)
    if not bool(xp.any(xp.ne(info, 0))):
        return regular(), info
    both, pivots = xp.lu_factors(a)
    found = from_triangles(xp, both, pivots, b, False)
    return by_columns(xp, found), info


def inv_ex(xp: Namespace, a: Array) -> Outputs:
    square("linalg.inv", a)
    return beside_info(xp, a, lambda: xp.inverse(a), identity(xp, a, a.shape))


def with_none(xp: Namespace, moved: Array, y: Outputs) -> Outputs:
    return moved, xp.new_full(moved, y[1].shape, 0)


# Giles 2008, as the inverse.
row("linalg_inv_ex.default", node="LinalgInvExBackward0", returns=2,
    refuses=floats_for("linalg.inv")
    | no_half("linalg.inv: Low precision dtypes not supported. Got {0}"),
    formula="inverse(a), info",
    doc="Inverse of a matrix, and the number of the first pivot that is zero.",
    fwd=inv_ex,
    vjp=(lambda xp, g, y, a: -xp.matmul(
             turned(xp, y[0]), xp.matmul(g, turned(xp, y[0]))),),
    jvp=lambda xp, t, y, a: with_none(
        xp, -xp.matmul(xp.matmul(y[0], t[0]), y[0]), y),
    cases=SQUARES, saves="y.0")


def solve_ex(xp: Namespace, a: Array, b: Array, left: bool = True) -> Outputs:
    square("linalg.solve", a)
    vector = is_vector(a, b)
    right = column(xp, b, vector)

    def by_pivots() -> Array:
        both, pivots = xp.lu_factors(a)
        facing = right if left else turned(xp, right)
        x = from_triangles(xp, both, pivots, facing, not left)
        x = x if left else turned(xp, x)
        return xp.squeeze(x, -1) if vector else x

    info = xp.zero_pivots(a)
    singular = bool(xp.any(xp.ne(info, 0)))
    return by_pivots() if singular else solve(xp, a, b, left), info


row("linalg_solve_ex.default", node="LinalgSolveExBackward0", returns=2,
    refuses=floats_for("linalg.solve"), formula="inverse(a) @ b, info",
    one_type="linalg.solve: Expected A and B to have the same dtype, but found A of "
    "type {0} and B of type {1} instead",
    doc="The solution x of a @ x = b, and the number of the first pivot that is zero.",
    fwd=solve_ex,
    vjp=(lambda xp, g, y, a, b, left=True: by_a(xp, g, y[0], a, b, left),
         lambda xp, g, y, a, b, left=True: by_b(xp, g, y[0], a, b, left)),
    jvp=lambda xp, t, y, a, b, left=True: with_none(
        xp, solve_tangent(xp, t, y[0], a, b, left), y),
    cases=[case((3, 3), (3, 2), make="regular"),
           case((2, 3, 3), (2, 3), make="regular"),
           case((3, 3), (2, 3), left=False, make="regular")], saves=("a b y.0", "a b"))


def cholesky_ex(xp: Namespace, a: Array, upper: bool = False) -> Outputs:
    read = xp.read_in_triangle(square("linalg.cholesky", a), upper)
    info = xp.indefinite_minors(read)
    bad = xp.ne(info, 0)
    if not bool(xp.any(bad)):
        return factor(xp, a, upper), info
    held = xp.where(lifted(xp, bad), identity(xp, a, a.shape), a)
    return xp.where(lifted(xp, bad), float("nan"), factor(xp, held, upper)), info


row("linalg_cholesky_ex.default", node="LinalgCholeskyExBackward0", returns=2,
    refuses=floats_for("linalg.cholesky"), formula="l @ l.T = a, info",
    doc="The lower triangular factor of a symmetric matrix, read in its lower "
        "triangle, or with upper its transpose, read in the upper one, and the order "
        "of the first minor that is not positive.",
    kink="of a matrix that is not positive definite the factor is NaN",
    fwd=cholesky_ex,
    vjp=(lambda xp, g, y, a, upper=False: cholesky_rule(xp, g, y[0], a, upper),),
    jvp=lambda xp, t, y, a, upper=False: with_none(
        xp, cholesky_tangent(xp, t, y[0], a, upper), y),
    cases=[case((3, 3), make="symmetric"),
           case((2, 2, 2), upper=True, make="symmetric")],
    saves="y.0")

FAILED = {
    "linalg.inv_ex": "linalg.inv_ex: The diagonal element {} is zero, the inversion "
    "could not be completed because the input matrix is singular.",
    "linalg.solve_ex": "torch.linalg.solve_ex: The solver failed because the input "
    "matrix is singular.",
    "linalg.cholesky_ex": "linalg.cholesky_ex: The factorization could not be "
    "completed because the input is not positive-definite (the leading minor of order "
    "{} is not positive-definite).",
}


def checked(name: str, found: Result, check_errors: bool) -> Result:
    """The outputs of a row whose last is ``info``; raises what it tells, if asked."""
    number = int(found[1].max()) if check_errors and 0 not in found[1].shape else 0
    if number:
        raise ValueRangeError(FAILED[name].format(number))
    return found


function("linalg.inv_ex", lambda call, a, check_errors=False: checked(
             "linalg.inv_ex", call("linalg_inv_ex.default", a), check_errors),
         formula="inverse(a), info", operands=("a",),
         doc="Inverse of a matrix, and the number of the first pivot that is zero.",
         cases=[case((3, 3), make="regular")])


def torch_solve_ex(call: Call, a: Array, b: Array, *, left: bool = True,
                   check_errors: bool = False) -> Result:
    found = call("linalg_solve_ex.default", a, b, left)
    return checked("linalg.solve_ex", found, check_errors)


function("linalg.solve_ex", torch_solve_ex, formula="inverse(a) @ b, info",
         operands=("a", "b"),
         doc="The solution x of a @ x = b, and the number of the first pivot that is "
             "zero.",
         cases=[case((3, 3), (3, 2), make="regular")])
function("linalg.cholesky_ex", lambda call, a, upper=False, check_errors=False: checked(
             "linalg.cholesky_ex", call("linalg_cholesky_ex.default", a, upper),
             check_errors),
         formula="l @ l.T = a, info", operands=("a",),
         doc="The triangular factor of a positive definite matrix, and the order of "
             "the first minor that is not positive.",
         cases=[case((3, 3), make="symmetric")])

# how near a matrix is to a singular one


def cond(call: Call, a: Array, p: float | str | None = None) -> Array:
    if len(a.shape) < 2:
        raise ShapeError("linalg.cond: The input tensor must have at least 2 "
                         "dimensions.")
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
    if n != m:
        raise ShapeError(f"linalg.cond(ord={p}): A must be batches of square matrices, "
                         f"but they are {n} by {m} matrices")
    if p == "nuc":
        s = call("linalg.svdvals", a)
        return call("mul", call("sum", s, -1), call("sum", call("reciprocal", s), -1))
    inverted, info = call("linalg_inv_ex.default", a)
    singular = call("unsqueeze", call("unsqueeze", call("ne", info, 0), -1), -1)
    inverted = call("masked_fill", inverted, singular, INFINITY)
    both = call("mul", matrix_norm(call, a, p), matrix_norm(call, inverted, p))
    return call("nan_to_num", both, INFINITY, INFINITY, -INFINITY)


function("linalg.cond", cond, operands=("a",),
         formula="norm(a, p)*norm(inverse(a), p) = cond",
         doc="How many times errors grow where a system with this matrix is solved: "
             "the norm of a matrix times that of its inverse.",
         kink="where the largest or the least singular value is repeated the "
              "derivative is one of several",
         cases=[case((2, 2), make="regular"), case((3, 2), p=-2, make="regular"),
                case((2, 2), p=1, make="regular"), case((2, 2), p="nuc",
                                                        make="regular")])

# equations between tensors


def tensorinv(call: Call, a: Array, ind: int = 2) -> Array:
    if ind <= 0:
        raise EngineError("Expected a strictly positive integer for 'ind', but got "
                          f"{ind}")
    if ind > len(a.shape):
        raise ShapeError(f"linalg.tensorinv: the first {ind} dimensions are to be the "
                         f"rows of a matrix, and the tensor has {len(a.shape)}")
    first, last = tuple(a.shape[:ind]), tuple(a.shape[ind:])
    if count_of(first) != count_of(last):
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {count_of(last)} != {count_of(first)}")
    size = count_of(last)
    found = call("inverse", call("reshape", a, (size, size)))
    return call("reshape", found, (*last, *first))


def tensorsolve(call: Call, a: Array, b: Array, dims: Sequence[int] | None = None
                ) -> Array:
    if dims is not None:
        moved = [dim_of(a.shape, d) for d in dims]
        kept = [d for d in range(len(a.shape)) if d not in moved]
        a = call("permute", a, (*kept, *moved))
    rank = len(b.shape)
    left, size = count_of(a.shape[:rank]), count_of(a.shape[rank:])
    if left != size:
        raise ShapeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {size} != {left}")
    found = call("solve", call("reshape", a, (size, size)), call("flatten", b))
    return call("reshape", found, tuple(a.shape[rank:]))


function("linalg.tensorinv", tensorinv, operands=("a",),
         formula="tensordot(tensorinv(a), b, b.ndim) = tensorsolve(a, b)",
         doc="The inverse of a tensor, whose first ind dimensions are the rows of a "
             "matrix.",
         cases=[case((2, 3, 6)), case((4, 2, 2), ind=1)])
function("linalg.tensorsolve", tensorsolve, operands=("a", "b"),
         formula="tensordot(a, tensorsolve(a, b), x.ndim) = b",
         doc="The x for which the product of a tensor with it, over its dimensions, is "
             "b; dims are moved to the end of a first.",
         cases=[case((2, 3, 6), (2, 3)), case((2, 6, 3), (2, 3), dims=(1,))])
