"""Determinants, inverses, linear systems and factors of matrices.

All rows but ``trace`` and the cross products work on stacks of square matrices, in the
last two dimensions. At a singular matrix the determinant's derivative is exact, and
that of the determinant's logarithm is NaN. `cholesky_ex` raises no error for a matrix
that is not positive definite; ``info`` is the order of its first minor that is not
positive, else 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from .checks import (
    EngineError,
    ValueRangeError,
    as_integer,
    broadcast_shape,
    demand_rank,
    dim_of,
    refuse,
)
from .norm import INFINITY, matrix_norm
from .op import (
    LINEAR,
    MULTILINEAR,
    PACKED,
    Rules,
    case,
    function,
    of_floats,
    of_numbers,
    of_wide,
    row,
)
from .products import identity, turned
from .shape import sum_to
from .types import Array, ArrayRule, Caller, Namespace, Outputs, Result, Shape, Vjp

# fmt: off


def square(name: str, a: Array) -> Array:
    demand_rank(name, a, 2)
    n, m = a.shape[-2:]
    refuse(n != m, "{}: A must be batches of square matrices, but they are {} by {} "
           "matrices", name, n, m)
    return a


def lifted(xp: Namespace, g: Array) -> Array:
    """Return ``g``, a number per matrix, with two new dimensions, to scale matrices."""
    return xp.unsqueeze(xp.unsqueeze(g, -1), -1)


def filled_up(xp: Namespace, x: Array, dim: int, size: int) -> Array:
    """Return ``x`` with zeros appended along a dimension, up to a size."""
    missing, shape = size - x.shape[dim], list(x.shape)
    shape[dim] = missing
    return xp.cat([x, xp.new_full(x, tuple(shape), 0)], dim) if missing else x


# trace and determinants


@of_numbers("trace", formula="sum(x[i, i])", jvp=LINEAR,
    doc="The sum of a matrix's diagonal.",
    vjp=(lambda xp, g, y, x:
         xp.where(xp.ne(identity(xp, g, x.shape), 0), g, 0),),
    cases=[case((3, 3)), case((2, 4)), case((1, 1))], also=("tr",))
def trace(xp: Namespace, x: Array) -> Array:
    demand_rank("trace", x, 2, 2)
    return xp.sum(xp.diagonal(x))


def without(xp: Namespace, a: Array, i: int, dim: int) -> Array:
    n = a.shape[dim]
    return xp.cat([xp.narrow(a, dim, 0, i), xp.narrow(a, dim, i + 1, n - i - 1)], dim)


# Jacobi's formula: Magnus, Neudecker, Matrix Differential Calculus, chapter 8.
def cofactors(xp: Namespace, a: Array) -> Array:
    """Return the determinant's derivative by each entry, computed from the minors, so
    that it is right for singular matrices too."""
    n = a.shape[-1]
    if n == 1:
        return xp.ones_like(a)
    rows = []
    for i in range(n):
        rest = without(xp, a, i, a.ndim - 2)
        minors = [xp.det(without(xp, rest, j, a.ndim - 1)) for j in range(n)]
        rows.append(xp.stack([m if (i + j) % 2 == 0 else -m
                              for j, m in enumerate(minors)], -1))
    return xp.stack(rows, -2)


def regular(xp: Namespace, log: Array, a: Array) -> Array:
    """Return ``a`` with NaN in place of each matrix whose determinant is 0."""
    return xp.where(lifted(xp, xp.isinf(log)), float("nan"), a)


SQUARES = [case((3, 3), make="regular"), case((2, 2), make="regular"),
           case((2, 3, 3), make="regular"), case((1, 1), low=0.5)]

of_floats("det", node="LinalgDetBackward0", formula="det(a)", aliases=("linalg.det",),
    doc="Determinant; its derivative is exact for singular matrices too.",
    fwd=lambda xp, a: xp.det(square("linalg.det", a)),
    vjp=(lambda xp, g, y, a: lifted(xp, g) * (
        cofactors(xp, a) if a.shape[-1] == 1 or bool(xp.any(xp.eq(y, 0)))
        else lifted(xp, y) * turned(xp, xp.inverse(a))),), cases=SQUARES, saves="a y")

of_floats("slogdet", node="LinalgSlogdetBackward0", returns=2, carries=2,
    formula="sign(det(a)), log(abs(det(a)))", aliases=("linalg.slogdet",),
    doc="The sign of the determinant and the logarithm of its absolute value.",
    kink="for a singular matrix the derivative of the logarithm is NaN",
    fwd=lambda xp, a: xp.slogdet(square("linalg.slogdet", a)),
    vjp=(lambda xp, g, y, a: None if g[1] is None else
         lifted(xp, g[1]) * turned(xp, xp.inverse(regular(xp, y[1], a))),),
    cases=SQUARES, saves="a y")


@function("logdet", formula="log(det(a))",
          doc="Logarithm of the determinant; NaN where that is negative.",
          kink="for a singular matrix the derivative is NaN",
          cases=[case((3, 3), make="spd")])
def logdet(call: Caller, a: Array) -> Array:
    sign, log = call("slogdet", a)
    absent = call("new_full", log, log.shape, float("nan"))
    return call("where", call("lt", sign, 0), absent, log)


# inverses and systems

# Giles 2008, Collected matrix derivative results for forward and reverse mode.
of_wide("inverse", node="LinalgInvExBackward0", formula="inverse(a)",
    aliases=("linalg.inv",), doc="Inverse of a matrix.",
    fwd=lambda xp, a: xp.inverse(square("linalg.inv", a)),
    vjp=(lambda xp, g, y, a:
         -xp.matmul(turned(xp, y), xp.matmul(g, turned(xp, y))),), cases=SQUARES,
    also=("inv",), saves="y")


def is_vector(a: Array, b: Array) -> bool:
    """Return whether ``b`` holds a vector for each matrix in ``a``, not a matrix."""
    return len(b.shape) == 1 or tuple(b.shape) == tuple(a.shape[:-1])


def column(xp: Namespace, b: Array, vector: bool) -> Array:
    return xp.unsqueeze(b, -1) if vector else b


def solution(xp: Namespace, a: Array, b: Array, left: bool) -> Array:
    """Return the solution of ``a @ x = b``, or of ``x @ a = b``, for matrices ``b``."""
    if left:
        return xp.solve(a, b)
    return turned(xp, xp.solve(turned(xp, a), turned(xp, b)))


def check_system(name: str, a: Array, b: Array, left: bool = True) -> Shape:
    """Refuse matrices that are not those of a linear system; return the shape of the
    stack of all."""
    square(name, a)
    demand_rank(f"{name}: B", b, 2)
    refuse(b.shape[-2 if left else -1] != a.shape[-1],
           "{}: Incompatible shapes of A and B for the equation {} ({}x{} and {}x{})",
           name, "AX = B" if left else "XA = B", *a.shape[-2:], *b.shape[-2:])
    return broadcast_shape(a.shape[:-2], b.shape[:-2])


def system_rules(again: ArrayRule, slope: ArrayRule, b_at: int) -> Rules:
    """Return the rules of a row that solves ``a @ x = b`` for x, or ``x @ a = b`` where
    its parameter ``left`` is False. Giles 2008, as for the inverse.

    Args:
        again: ``(xp, b, *matrix, turns, left, **how)`` returns the solution for another
            right side ``b``; if ``turns``, with the transpose of the matrix.
        slope: ``(xp, ga, *matrix, **how)`` returns the cotangent of the first of the
            operands that define the matrix, given the matrix's cotangent.
        b_at: the position of b among the operands; the others define the matrix.
    """
    def parted(operands: Sequence[Array]) -> tuple[Sequence[Array], Array]:
        return (*operands[:b_at], *operands[b_at + 1:]), operands[b_at]

    def by_b(xp: Namespace, g: Array, y: Array, *operands: Array, left: bool = True,
             **how: object) -> Array:
        matrix, b = parted(operands)
        return sum_to(xp, again(xp, g, *matrix, turns=True, left=left, **how), b.shape)

    def by_matrix(xp: Namespace, g: Array, y: Array, *operands: Array,
                  left: bool = True, **how: object) -> Array:
        matrix, _ = parted(operands)
        gb, x = again(xp, g, *matrix, turns=True, left=left, **how), turned(xp, y)
        ga = -times(xp, gb, x, left)
        return sum_to(xp, slope(xp, ga, *matrix, **how), matrix[0].shape)

    rules = (by_matrix, None, by_b) if b_at == 2 else (by_matrix, by_b)
    return {"vjp": rules if b_at else (by_b, by_matrix)}


def times(xp: Namespace, a: Array, x: Array, left: bool) -> Array:
    return xp.matmul(a, x) if left else xp.matmul(x, a)


OF_MATRICES = system_rules(
    lambda xp, b, a, turns, left: solution(xp, turned(xp, a) if turns else a, b, left),
    lambda xp, ga, a: ga, 1)


def solve_slope(slot: int) -> Vjp:
    """Return the reverse rule of ``solve`` for an operand, 0 or 1; a vector ``b`` is
    handled as a matrix of one column."""
    def rule(xp: Namespace, g: Array, y: Array, a: Array, b: Array, **how: object
            ) -> Array:
        vector = is_vector(a, b)
        g, y, m = (column(xp, each, vector) for each in (g, y, b))
        found: Array = OF_MATRICES["vjp"][slot](xp, g, y, a, m, **how)
        return xp.squeeze(found, -1) if slot and vector else found

    return rule


@of_floats("solve", node="LinalgSolveExBackward0", formula="inverse(a) @ b",
    aliases=("linalg.solve",), doc="The solution x of a @ x = b, or of x @ a = b.",
    vjp=(solve_slope(0), solve_slope(1)), one_type=True,
    cases=[case((3, 3), (3, 2), make="regular"), case((3, 3), (3,), make="regular"),
           case((2, 3, 3), (2, 3, 1), make="regular"),
           case((2, 3, 3), (3, 2), make="regular"),
           case((2, 3, 3), (2, 3), make="regular"),
           case((3, 3), (2, 3), left=False, make="regular")], saves=("a b y", "a b"))
def solve(xp: Namespace, a: Array, b: Array, left: bool = True) -> Array:
    vector = is_vector(a, b)
    refuse(vector and not left, "linalg.solve: Vector broadcasting of the left hand "
           "side is not supported for left=False.")
    m = column(xp, b, vector)
    check_system("linalg.solve", a, m, left)
    y = solution(xp, a, m, left)
    if not vector:
        return y
    y = xp.squeeze(y, -1)
    return turned(xp, xp.contiguous(turned(xp, y))) if len(y.shape) > 1 else y


# Cholesky factors


def lower(xp: Namespace, x: Array) -> Array:
    """Return the lower triangle of ``x``, with its diagonal halved."""
    return (xp.tril(x) + xp.tril(x, -1)) / 2


def symmetric(xp: Namespace, a: Array) -> Array:
    return (a + turned(xp, a)) / 2


def oriented(xp: Namespace, factor: Array, upper: bool) -> Array:
    return turned(xp, factor) if upper else factor


def factor(xp: Namespace, a: Array, upper: bool = False) -> Array:
    """Return the lower or upper Cholesky factor, with columns contiguous in memory."""
    read = xp.read_in_triangle(square("linalg.cholesky", a), upper)
    found = xp.cholesky(read)
    return turned(xp, xp.contiguous(found)) if upper else found


# Murray 2016, arXiv:1602.07527, the symbolic rule.
def cholesky_rule(xp: Namespace, g: Array, y: Array, a: Array, upper: bool = False
                 ) -> Array:
    l, gl = oriented(xp, y, upper), oriented(xp, g, upper)
    lt = turned(xp, l)
    half = xp.solve(lt, lower(xp, xp.matmul(lt, gl)))
    return symmetric(xp, turned(xp, xp.solve(lt, turned(xp, half))))


def cholesky(name: str, node: str) -> None:
    of_floats(name, node=node, formula="l @ l.T = a",
        doc="The lower triangular factor of a symmetric matrix, read in its lower "
            "triangle; with upper its transpose, read in the upper one.", fwd=factor,
        vjp=(cholesky_rule,), saves="y",
        cases=[case((3, 3), make="symmetric"),
               case((2, 2), upper=True, make="symmetric"),
               case((2, 3, 3), make="symmetric"), case((1, 1), low=0.5)])


cholesky("cholesky", "CholeskyBackward0")
cholesky("cholesky.ex", "LinalgCholeskyExBackward0")
function("linalg.cholesky", lambda call, a, upper=False: call("cholesky.ex", a, upper),
         formula="l @ l.T = a",
         doc="The lower triangular factor of a positive definite matrix; with upper "
             "its transpose.",
         cases=[case((3, 3), make="symmetric")])

# powers and cross products


@function("matrix_power", aliases=("linalg.matrix_power",), operands=("a",),
          formula="a @ a @ ...", doc="An integer power of a square matrix.",
          cases=[case((3, 3), n=2), case((2, 2), n=3),
                 case((2, 2), n=-1, make="regular"), case((3, 3), n=0)])
def matrix_power(call: Caller, a: Array, n: int) -> Array:
    """Return ``a`` to the power ``n`` by squaring, in PyTorch's order of products."""
    square("linalg.matrix_power", a)
    n = as_integer(n)
    if n < 0:
        return matrix_power(call, call("inverse", a), -n) if n < -1 else (
            call("inverse", a))
    if n == 0:
        ones = call("tril", call("triu", call("ones_like", a)))
        return call("copy_.default", call("clone", a), ones)
    if n == 1:
        return call("clone", a)
    if n == 3:
        return call("matmul", call("matmul", a, a), a)
    power, y = a, None
    while n:
        if n % 2:
            y = power if y is None else call("matmul", y, power)
        n //= 2
        if n:
            power = call("matmul", power, power)
    assert y is not None
    return y


@row("linalg_cross.default", jvp=MULTILINEAR, one_type=True, memory=PACKED,
    formula="y[0] = a[1]*b[2] - a[2]*b[1], ...",
    vjp=(lambda xp, g, y, a, b, dim=-1: sum_to(
             xp, xp.call("linalg_cross.default", b, g, dim), a.shape),
         lambda xp, g, y, a, b, dim=-1: sum_to(
             xp, xp.call("linalg_cross.default", g, a, dim), b.shape)),
    cases=[case((3,), (3,)), case((3, 4), (3, 4), dim=0), case((2, 3), (1, 3)),
           case((2, 3, 2), (2, 3, 2), dim=-2)], saves=("b", "a"))
def cross(xp: Namespace, a: Array, b: Array, dim: int = -1) -> Array:
    refuse(len(a.shape) != len(b.shape),
           "linalg.cross: inputs must have the same number of dimensions.")
    d = dim_of(a.shape, dim)
    refuse(not a.shape or (a.shape[d], b.shape[d]) != (3, 3),
           "linalg.cross: inputs dimension {} must have length 3. Got shapes {} and {}",
           dim, list(a.shape), list(b.shape))
    broadcast_shape(a.shape, b.shape)
    return (xp.roll(a, -1, d) * xp.roll(b, -2, d)
            - xp.roll(a, -2, d) * xp.roll(b, -1, d))


def torch_cross(call: Caller, a: Array, b: Array, dim: int | None = None) -> Array:
    if dim is not None:
        return call("linalg_cross.default", a, b, dim)
    refuse(3 not in a.shape, "no dimension of size 3 in input")
    return call("linalg_cross.default", a, b, a.shape.index(3))


function("cross", torch_cross, operands=("a", "b"),
         formula="y[0] = a[1]*b[2] - a[2]*b[1], ...",
         doc="Cross products, along the first dimension of size 3 unless dim is given.",
         cases=[case((2, 3), (2, 3)), case((3,), (3,)), case((3, 2), (3, 2), dim=0)])
function("linalg.cross", lambda call, a, b, dim=-1:
         call("linalg_cross.default", a, b, dim),
         doc="Cross products, along the last dimension unless dim is given.",
         cases=[case((2, 3), (2, 3)), case((3, 2), (3, 2), dim=0)])

# exponentials


def exponential_along(xp: Namespace, a: Array, change: Array) -> Array:
    """Return the derivative of a matrix's exponential in a direction: the upper right
    block of the exponential of ``[[a, change], [0, a]]``. Van Loan 1978, Computing
    integrals involving the matrix exponential."""
    n = a.shape[-1]
    none = xp.new_full(change, a.shape, 0)
    both = xp.cat([xp.cat([a, change], -1), xp.cat([none, a], -1)], -2)
    found = xp.call("matrix_exp", both)
    return xp.narrow(xp.narrow(found, -2, 0, n), -1, n, n)


of_floats("matrix_exp", node="LinalgMatrixExpBackward0",
    formula="1 + a + a @ a/2 + ...", aliases=("linalg.matrix_exp",),
    doc="The exponential of a square matrix.",
    fwd=lambda xp, a: xp.matrix_exp(square("linalg.matrix_exp", a)),
    vjp=(lambda xp, g, y, a: exponential_along(xp, turned(xp, a), g),),
    cases=[case((2, 2)), case((2, 2, 2)), case((1, 1))], saves="a", overflows=True)


# Cholesky factors with an error code per matrix, and condition numbers

FAMILY = "equations"


@of_floats("linalg_cholesky_ex.default", returns=2, formula="l @ l.T = a, info",
    kink="of a matrix that is not positive definite the factor is NaN",
    vjp=(lambda xp, g, y, a, upper=False: cholesky_rule(xp, g, y[0], a, upper),),
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


@function("linalg.cholesky_ex", operands=("a",),
          doc="The triangular factor of a positive definite matrix, and the order of "
              "the first minor that is not positive.",
          cases=[case((3, 3), make="symmetric")])
def torch_cholesky_ex(call: Caller, a: Array, upper: bool = False,
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
def cond(call: Caller, a: Array, p: float | str | None = None) -> Array:
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
