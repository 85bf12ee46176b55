"""Pseudoinverses, ranks and least squares solutions.

Invariant: singular values that are at most ``max(atol, rtol*largest)`` count as 0;
derivatives are those for changes of the matrix that leave its rank as it is.

    linalg.pinv(a) @ b          # the x of least norm with the least norm of a @ x - b
"""

from __future__ import annotations

from typing import Any

from .checks import ShapeError, demand_choice, demand_rank
from .linalg import column, is_vector, square, symmetric
from .op import case, function, of_wide
from .products import turned
from .shape import sum_to
from .triangular import by_columns
from .types import Array, Call, Cotangents, Namespace, Operand, Outputs, Tangents

# fmt: off

RANK = "the derivative is that of matrices of the same rank"
ROUNDING: dict[int, float] = {4: 2.0**-23, 8: 2.0**-52}
"""Gap between 1 and the next float, by the size of a float in bytes."""


def cutoff(xp: Namespace, a: Array, sizes: Array, atol: Operand | None,
           rtol: Operand | None) -> Array:
    """Return, per matrix, the bound up to which singular values count as 0."""
    if rtol is None:
        bytes_of_one = getattr(getattr(a, "dtype", None), "itemsize", 8)
        usual = ROUNDING.get(bytes_of_one, ROUNDING[8]) * max(a.shape[-2:])
        rtol = usual if atol is None else xp.where(xp.gt(atol, 0), 0.0, usual)
    relative = per_matrix(xp, rtol) * xp.amax(sizes, -1, True)
    return relative if atol is None else xp.maximum(relative, per_matrix(xp, atol))


def per_matrix(xp: Namespace, bound: Operand) -> Operand:
    """Return bounds per matrix reshaped to broadcast with the singular values."""
    if isinstance(bound, int | float) or not getattr(bound, "shape", ()):
        return bound
    return xp.unsqueeze(bound, -1)


def spectrum(xp: Namespace, a: Array, hermitian: bool) -> tuple[Array, Array, Array]:
    """Return ``u``, the singular values and ``v.T``; if ``hermitian``, eigenvectors and
    eigenvalues of a symmetric matrix, of which the lower triangle is read."""
    if not hermitian:
        return xp.svd_factors(a, False)
    values, vectors = xp.eigh_factors(xp.read_in_triangle(square("linalg.eigh", a)))
    return vectors, values, turned(xp, vectors)


# Golub, Pereyra 1973, The differentiation of pseudo-inverses and nonlinear least
# squares problems whose variables separate.
def pinv_slopes(xp: Namespace, g: Array, y: Array, a: Array) -> Array:
    """Return the cotangent of a matrix from that of its pseudoinverse ``y``."""
    yt, gt = turned(xp, y), turned(xp, g)
    by_inverse = -xp.matmul(yt, xp.matmul(g, yt))
    left = xp.matmul(xp.matmul(gt, y), yt)
    right = xp.matmul(yt, xp.matmul(y, gt))
    return (by_inverse + left - xp.matmul(a, xp.matmul(y, left))
            + right - xp.matmul(xp.matmul(right, y), a))


def of_its_kind(xp: Namespace, change: Array, hermitian: bool) -> Array:
    return symmetric(xp, change) if hermitian else change


def pinv_change(xp: Namespace, t: Array, y: Array, a: Array) -> Array:
    """Return the tangent of the pseudoinverse ``y`` of a matrix."""
    yt, tt = turned(xp, y), turned(xp, t)
    left = xp.matmul(y, xp.matmul(yt, tt))
    right = xp.matmul(xp.matmul(tt, yt), y)
    return (left - xp.matmul(xp.matmul(left, a), y) + right
            - xp.matmul(y, xp.matmul(a, right)) - xp.matmul(y, xp.matmul(t, y)))


@of_wide("linalg_pinv.atol_rtol_tensor", node="LinalgPinvBackward0",
    formula="a @ y @ a = a", kink=RANK,
    vjp=(lambda xp, g, y, a, atol=None, rtol=None, hermitian=False:
         of_its_kind(xp, pinv_slopes(xp, g, y, of_its_kind(xp, a, hermitian)),
                     hermitian), None, None),
    jvp=lambda xp, t, y, a, atol=None, rtol=None, hermitian=False:
        pinv_change(xp, of_its_kind(xp, t[0], hermitian), y,
                    of_its_kind(xp, a, hermitian)),
    cases=[case((3, 2), None, None, make="regular"),
           case((2, 2, 3), None, None, make="regular"),
           case((2, 2), None, None, make="regular"),
           case((2, 2), None, None, hermitian=True, make="symmetric")],
    saves=("a y", "", ""))
def pinv(xp: Namespace, a: Array, atol: Operand | None = None,
         rtol: Operand | None = None, hermitian: bool = False) -> Array:
    demand_rank("linalg.pinv", a, 2)
    if 0 in a.shape:
        return xp.new_full(a, (*a.shape[:-2], a.shape[-1], a.shape[-2]), 0)
    u, s, vh = spectrum(xp, a, hermitian)
    sizes = xp.abs(s)
    counts = xp.gt(sizes, cutoff(xp, a, sizes, atol, rtol))
    inverted = xp.where(counts, 1 / xp.where(counts, s, 1), 0)
    return xp.matmul(turned(xp, vh) * xp.unsqueeze(inverted, -2), turned(xp, u))


@function("linalg.pinv", formula="a @ y @ a = a", operands=("a",),
          doc="The pseudoinverse of a matrix; singular values up to the larger of atol "
              "and rtol times the largest count as 0.", kink=RANK,
          cases=[case((3, 2), make="regular"), case((2, 2, 3), make="regular"),
                 case((2, 2), hermitian=True, make="symmetric")])
def torch_pinv(call: Call, a: Array, rcond: Operand | None = None,
               hermitian: bool = False, *, atol: Operand | None = None,
               rtol: Operand | None = None) -> Array:
    if rcond is not None:
        atol, rtol = 0.0, rcond
    return call("linalg_pinv.atol_rtol_tensor", a, atol, rtol, hermitian)


function("pinverse", lambda call, a, rcond=1e-15: torch_pinv(call, a, rcond),
         formula="a @ y @ a = a", operands=("a",),
         doc="The pseudoinverse of a matrix; singular values up to rcond times the "
             "largest count as 0.", kink=RANK,
         cases=[case((3, 2), make="regular"), case((2, 2, 3), make="regular")])


@of_wide("linalg_matrix_rank.default", formula="sum(svdvals(a) > bound)",
    doc="The number of singular values above the larger of atol and rtol times the "
        "largest; with hermitian of eigenvalues by size.",
    cases=[case((3, 2), None, None, make="regular"), case((2, 2, 2), None, None)])
def matrix_rank(xp: Namespace, a: Array, atol: Operand | None = None,
                rtol: Operand | None = None, hermitian: bool = False) -> Array:
    demand_rank("linalg.matrix_rank", a, 2)
    if 0 in a.shape[-2:]:
        return xp.as_index(xp.new_full(a, a.shape[:-2], 0))
    sizes = xp.abs(spectrum(xp, a, hermitian)[1])
    return xp.as_index(xp.sum(xp.gt(sizes, cutoff(xp, a, sizes, atol, rtol)), -1))


function("linalg.matrix_rank",
         lambda call, a, tol=None, hermitian=False, *, atol=None, rtol=None:
         call("linalg_matrix_rank.default", a, *((atol, rtol) if tol is None
                                                 else (tol, 0.0)), hermitian),
         operands=("a",), cases=[case((3, 2), make="regular"), case((2, 2, 2))])

# least squares

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")
WITH_RESIDUALS = ("gels", "gelsd", "gelss")
WITH_VALUES = ("gelsd", "gelss")


def missed(xp: Namespace, a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """Return the solution ``x`` as columns, and the residuals ``a @ x - b``."""
    vector = is_vector(a, b)
    found = column(xp, x, vector)
    return found, xp.matmul(a, found) - column(xp, b, vector)


# Golub, Pereyra 1973. In the residuals' rule the solution is held fixed: it minimises
# them, so that their derivative by it is 0.
def lstsq_by_a(xp: Namespace, g: Cotangents, y: Outputs, a: Array, b: Array,
               rcond: Operand | None = None, driver: str | None = None) -> Array | None:
    vector, total = is_vector(a, b), None
    if g[0] is not None:
        inverted = xp.call("linalg.pinv", a)
        slope = xp.matmul(column(xp, g[0], vector), turned(xp, column(xp, b, vector)))
        total = pinv_slopes(xp, slope, inverted, a)
    if g[1] is not None and 0 not in y[1].shape:
        x, off = missed(xp, a, b, y[0])
        by_rest = 2 * xp.matmul(xp.unsqueeze(g[1], -2) * off, turned(xp, x))
        total = by_rest if total is None else total + by_rest
    return None if total is None else sum_to(xp, total, a.shape)


def lstsq_by_b(xp: Namespace, g: Cotangents, y: Outputs, a: Array, b: Array,
               rcond: Operand | None = None, driver: str | None = None) -> Array | None:
    vector, total = is_vector(a, b), None
    if g[0] is not None:
        total = xp.matmul(turned(xp, xp.call("linalg.pinv", a)),
                          column(xp, g[0], vector))
    if g[1] is not None and 0 not in y[1].shape:
        by_rest = -2 * xp.unsqueeze(g[1], -2) * missed(xp, a, b, y[0])[1]
        total = by_rest if total is None else total + by_rest
    if total is None:
        return None
    return sum_to(xp, xp.squeeze(total, -1) if vector else total, b.shape)


def lstsq_tangent(xp: Namespace, t: Tangents, y: Outputs, a: Array, b: Array,
                  rcond: Operand | None = None, driver: str | None = None) -> Outputs:
    vector = is_vector(a, b)
    inverted = xp.call("linalg.pinv", a)
    moved = xp.matmul(pinv_change(xp, t[0], inverted, a), column(xp, b, vector))
    moved = moved + xp.matmul(inverted, column(xp, t[1], vector))
    rest = y[1]
    if 0 not in rest.shape:
        x, off = missed(xp, a, b, y[0])
        by_both = xp.matmul(t[0], x) - column(xp, t[1], vector)
        rest = 2 * xp.sum(off * by_both, -2)
    none = [xp.new_full(moved, part.shape, 0) for part in y[2:]]
    return xp.squeeze(moved, -1) if vector else moved, rest, *none


@of_wide("linalg_lstsq.default", node="LinalgLstsqBackward0", returns=4, carries=2,
    formula="pinv(a) @ b", kink=RANK, one_type=True,
    doc="The x for which a @ x is next to b, the squares that are missed, the rank and "
        "the singular values.", vjp=(lstsq_by_a, lstsq_by_b), jvp=lstsq_tangent,
    cases=[case((4, 2), (4, 2), driver="gels", make="regular"),
           case((2, 3), (2, 1), make="regular"),
           case((2, 3, 2), (2, 3), driver="gelsd", make="regular")],
    saves=("a b y.0 y.1", "a b y.0 y.1"))
def lstsq(xp: Namespace, a: Array, b: Array, rcond: Operand | None = None,
          driver: str | None = None) -> Outputs:
    name, driver = "torch.linalg.lstsq", driver or "gelsy"
    demand_rank(f"{name}: input", a, 2)
    demand_rank(f"{name}: other", b, 1)
    demand_choice(f"{name}: driver", driver, DRIVERS)
    vector = is_vector(a, b)
    right = column(xp, b, vector)
    if a.shape[-2] != right.shape[-2]:
        dim = -1 if vector else -2
        raise ShapeError(f"{name}: input.size(-2) should match other.size({dim})")
    m, n = a.shape[-2:]
    none = xp.new_full(a, (0,), 0)
    inverted = pinv(xp, a, None if rcond is None else 0.0, rcond)
    solved = xp.matmul(inverted, right)
    rest = xp.new_full(solved, (*solved.shape[:-2], max(m - n, 0), solved.shape[-1]), 0)
    solved = xp.narrow(by_columns(xp, xp.cat([solved, rest], -2)), -2, 0, n)
    ranks: Array = xp.as_index(none)
    values = none
    if driver != "gels":
        ranks = matrix_rank(xp, a, None if rcond is None else 0.0, rcond)
    if driver in WITH_VALUES and 0 not in a.shape:
        values = xp.svd_factors(a, False)[1]
    residuals = none
    full = driver == "gels" or bool(xp.all(xp.eq(ranks, n)))
    if m > n and driver in WITH_RESIDUALS and full:
        residuals = xp.sum(xp.square(xp.matmul(a, solved) - right), -2)
    return xp.squeeze(solved, -1) if vector else solved, residuals, ranks, values


@function("linalg.lstsq", operands=("a", "b"), kink=RANK,
          cases=[case((4, 2), (4, 2), make="regular"),
                 case((2, 3), (2, 1), make="regular"),
                 case((4, 2), (4, 1), driver="gelsd", make="regular")])
def least_squares(call: Call, a: Array, b: Array, rcond: Operand | None = None,
                  driver: str | None = None) -> Outputs:
    """Return the row's results, with the singular values, if it gives any, taken from
    ``linalg.svdvals``, which has their derivative."""
    found: Any = call("linalg_lstsq.default", a, b, rcond, driver=driver)
    if not found[3].shape[-1]:
        plain: Outputs = found
        return plain
    named: Outputs = type(found)((*found[:3], call("linalg.svdvals", a)))
    return named
