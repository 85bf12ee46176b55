"""Linear systems whose matrix is a triangle or is given by its factors, and LU factors.

Invariant: one triangle of a triangular operand is read; the derivative by entries of
the other triangle is 0. Pivots are chosen by size. The triangles are smooth functions
of the matrix as long as the pivots stay the same; pivots and permutations carry no
gradient.

    linalg.solve_triangular(a, b, upper=True)       # triu(a) @ x = b
    p, l, u = linalg.lu(a)                          # p @ l @ u = a
"""

from __future__ import annotations

from collections.abc import Sequence

from .checks import EngineError, demand_rank, demand_shape, holds, refuse
from .linalg import check_system, filled_up, oriented, system_rules
from .op import FIRST, PACKED, Fixed, case, function, jointly, of_wide, row
from .products import identity, turned
from .reduce import added
from .shape import sum_to
from .types import Array, Caller, Cotangents, Namespace, Operand, Outputs

# fmt: off


def triangle(xp: Namespace, x: Array, upper: bool, strictly: bool = False) -> Array:
    """Return the upper or lower triangle of ``x``; if strictly, without diagonal."""
    return xp.triu(x, int(strictly)) if upper else xp.tril(x, -int(strictly))


def again(xp: Namespace, a: Array, b: Operand, upper: bool, left: bool, unit: bool,
          transposed: bool = False) -> Array:
    """Return the solution of a triangular system with another right side, ``b``."""
    if transposed:
        a, upper = turned(xp, a), not upper
    return xp.call("linalg_solve_triangular.default", a, b, upper, left, unit)


@of_wide("linalg_solve_triangular.default", formula="inverse(triu(a)) @ b",
    doc="The solution x of a @ x = b, or with left=False of x @ a = b, for the upper "
        "or the lower triangle of a; with unitriangular its diagonal is 1.",
    result=FIRST, **system_rules(
                    lambda xp, b, a, turns, left, upper, unitriangular=False:
                    again(xp, a, b, upper, left, unitriangular, turns),
                    lambda xp, ga, a, upper, unitriangular=False:
                    triangle(xp, ga, upper, unitriangular), 1),
    cases=[case((3, 3), (3, 2), upper=True, make="spd"),
           case((2, 3, 3), (3, 2), upper=False, make="spd"),
           case((3, 3), (2, 2, 3), upper=True, left=False, make="spd"),
           case((2, 2), (2, 2), upper=False, unitriangular=True, make="spd")],
    saves=("a y", "a"))
def solve_triangular(xp: Namespace, a: Array, b: Array, upper: bool, left: bool = True,
                     unitriangular: bool = False) -> Array:
    """Return the solution, with columns contiguous in memory."""
    check_system("linalg.solve_triangular", a, b, left)
    if left:
        return xp.solve_triangle(a, b, unitriangular, upper=upper)
    at, bt = turned(xp, a), turned(xp, b)
    found = xp.solve_triangle(at, bt, unitriangular, upper=not upper)
    return turned(xp, xp.contiguous(found))


function("linalg.solve_triangular",
         lambda call, a, b, *, upper, left=True, unitriangular=False: call(
             "linalg_solve_triangular.default", a, b, upper, left, unitriangular),
         operands=("a", "b"),
         cases=[case((3, 3), (3, 2), upper=True, make="spd"),
                case((3, 3), (2, 3), upper=False, left=False, make="spd")])


def old_rules(xp: Namespace, wanted: Sequence[bool], g: Cotangents, y: Outputs,
              b: Array, a: Array, upper: bool = True, transpose: bool = False,
              unitriangular: bool = False) -> list[Array | None]:
    (gx, ga), gb = g, None
    if gx is not None:
        gb = again(xp, a, gx, upper, True, unitriangular, not transpose)
        found = -xp.matmul(gb, turned(xp, y[0]))
        found = turned(xp, found) if transpose else found
        found = triangle(xp, found, upper, unitriangular)
        ga = found if ga is None else found + ga
    return [part if part is None else sum_to(xp, part, x.shape)
            for part, x in ((gb, b), (ga, a))]


@of_wide("triangular_solve", returns=2, carries=2, formula="inverse(triu(a)) @ b, a",
    doc="The solution x of a @ x = b for the upper or the lower triangle of a, and a "
        "copy of a.", one_type=True, **jointly(old_rules, 2),
    cases=[case((3, 2), (3, 3), make="spd"),
           case((2, 3, 1), (3, 3), upper=False, make="spd"),
           case((3, 1), (3, 3), transpose=True, unitriangular=True, make="spd")],
    saves=("b a", "b a y.0"))
def old_triangular(xp: Namespace, b: Array, a: Array, upper: bool = True,
                   transpose: bool = False, unitriangular: bool = False) -> Outputs:
    lead = check_system("triangular_solve", a, b)
    turns = turned(xp, a) if transpose else a
    x = xp.solve_triangle(turns, b, unitriangular, upper=upper != transpose)
    wide = xp.expand(a, (*lead, *a.shape[-2:])) if lead != a.shape[:-2] else a
    return x, by_columns(xp, xp.clone(wide))


# matrices given by their Cholesky factors


def by_columns(xp: Namespace, a: Array) -> Array:
    """Return the same matrices with columns contiguous in memory."""
    return turned(xp, xp.contiguous(turned(xp, a)))


def slope_by_factor(xp: Namespace, ga: Array, l: Array, upper: bool = False) -> Array:
    """Return the cotangent of a factor, given that of the product ``l @ l.T``."""
    low = oriented(xp, triangle(xp, l, upper), upper)
    return oriented(xp, xp.tril(xp.matmul(ga + turned(xp, ga), low)), upper)


@of_wide("cholesky_solve", one_type=True, formula="inverse(tril(l) @ tril(l).T) @ b",
    doc="The solution x of a @ x = b for a matrix a = l @ l.T, given its factor l; "
        "with upper its transpose.",
    **system_rules(lambda xp, b, l, turns, left, upper=False:
                 xp.call("cholesky_solve", b, l, upper),
                 slope_by_factor, 0),
    cases=[case((3, 2), (3, 3), make="spd"),
           case((3, 2), (2, 3, 3), upper=True, make="spd")], saves=("b l", "b l y"))
def cholesky_solve(xp: Namespace, b: Array, l: Array, upper: bool = False) -> Array:
    check_system("cholesky_solve", l, b)
    low = oriented(xp, l, upper)
    half = xp.solve_triangle(low, b, upper=False)
    return xp.solve_triangle(turned(xp, low), half, upper=True)


# LU factors: a lower times an upper triangle, with rows exchanged

FAMILY = "triangles"


def demand_pivots(pivot: bool) -> None:
    refuse(not pivot, "linalg.lu_factor: LU without pivoting is not implemented on the "
           "CPU", kind=EngineError)


def left_of(xp: Namespace, both: Array) -> Array:
    """Return the lower factor from both factors in one matrix; its diagonal is 1."""
    k = min(both.shape[-2:])
    low = xp.tril(xp.narrow(both, -1, 0, k), -1)
    return low + identity(xp, both, low.shape)


def right_of(xp: Namespace, both: Array) -> Array:
    return xp.triu(xp.narrow(both, -2, 0, min(both.shape[-2:])))


def permutation(xp: Namespace, pivots: Array, m: int, like: Array) -> Array:
    """Return the matrix that puts rows back into the places before the exchanges."""
    return xp.as_type_of(xp.call("lu_unpack.permutation", pivots, m), like)


# derivatives of the triangles


def joined(xp: Namespace, gl: Array | None, gu: Array | None, m: int, n: int) -> Array:
    """Return cotangents of a lower and an upper triangle, one of which may be None, in
    one matrix."""
    parts = []
    if gl is not None:
        parts.append(filled_up(xp, xp.tril(gl, -1), -1, n))
    if gu is not None:
        parts.append(filled_up(xp, xp.triu(gu), -2, m))
    return added(*parts)


def lu_slopes(xp: Namespace, gl: Array | None, gu: Array | None, l: Array, u: Array
             ) -> Array:
    """Return the cotangent of ``l @ u`` from those of the triangles, which may be None.

    For the square part, ``l1.inv @ d(l1 @ u1) @ u1.inv = l1.inv @ dl1 + du1 @ u1.inv``,
    whose terms are a lower and an upper triangle; for the columns right of it ``u2 =
    l1.inv @ a2``, and for the rows below it ``l2 = a2 @ u1.inv``.
    """
    m, n, k = l.shape[-2], u.shape[-1], u.shape[-2]
    gl, gu = (xp.zeros_like(y) if g is None else g for g, y in ((gl, l), (gu, u)))
    first_l, first_u = xp.narrow(l, -2, 0, k), xp.narrow(u, -1, 0, k)
    low = xp.matmul(turned(xp, first_l), xp.narrow(gl, -2, 0, k))
    up = xp.matmul(xp.narrow(gu, -1, 0, k), turned(xp, first_u))
    right, under = xp.narrow(gu, -1, k, n - k), xp.narrow(gl, -2, k, m - k)
    if n > k:
        low = low - xp.matmul(right, turned(xp, xp.narrow(u, -1, k, n - k)))
    if m > k:
        up = up - xp.matmul(turned(xp, xp.narrow(l, -2, k, m - k)), under)
    inner = xp.tril(low, -1) + xp.triu(up)
    found = again(xp, first_l, inner, False, True, True, True)
    found = again(xp, first_u, found, True, False, False, True)
    if n > k:
        return xp.cat([found, again(xp, first_l, right, False, True, True, True)], -1)
    if m > k:
        return xp.cat([found, again(xp, first_u, under, True, False, False, True)], -2)
    return found


# both triangles in one matrix


@row("lu_unpack.permutation", formula="p",
    doc="True where the matrix of exchanges of rows has a one.",
    cases=[case(Fixed([2, 3, 3]), m=3), case(Fixed([[2, 2]]), m=3)])
def places(xp: Namespace, pivots: Array, m: int) -> Array:
    """Return a mask of the ones in the matrix that puts exchanged rows back."""
    where = xp.as_index(range(m))
    order = xp.expand(where, (*pivots.shape[:-1], m))
    for i in range(pivots.shape[-1]):
        other = xp.as_index(pivots[..., i : i + 1]) - 1
        mine, theirs = order[..., i : i + 1], xp.gather(order, -1, other)
        order = xp.where(xp.eq(where, other), mine, order)
        order = xp.where(xp.eq(where, i), theirs, order)
    return xp.eq(xp.unsqueeze(where, -1), xp.unsqueeze(order, -2))


def lu_factor_rule(xp: Namespace, g: Array, y: Outputs, a: Array, pivot: bool = True
                   ) -> Array:
    l, u = left_of(xp, y[0]), right_of(xp, y[0])
    gl = xp.narrow(g, -1, 0, l.shape[-1])
    gu = xp.narrow(g, -2, 0, u.shape[-2])
    p = permutation(xp, y[1], a.shape[-2], y[0])
    return xp.matmul(p, lu_slopes(xp, gl, gu, l, u))


SHAPES = [case((3, 3), make="regular"), case((2, 3, 2), make="regular"),
          case((2, 4), make="regular"), case((1, 1), low=0.5)]


@of_wide("linalg_lu_factor_ex.default", returns=3, formula="l + u - 1, pivots, info",
    vjp=(lu_factor_rule,), cases=SHAPES, saves="y.0 y.1")
def lu_factor(xp: Namespace, a: Array, pivot: bool = True) -> Outputs:
    demand_rank("torch.lu_factor", a, 2)
    demand_pivots(pivot)
    return *xp.lu_factors(a), xp.zero_pivots(a)


def torch_lu_factor(call: Caller, a: Array, pivot: bool = True) -> Outputs:
    both, pivots, info = call("linalg_lu_factor_ex.default", a, pivot)
    found = int(info.max()) if 0 not in info.shape else 0
    refuse(found, "torch.linalg.lu_factor: U[{},{}] is zero and using it on lu_solve "
           "would result in a division by zero", found, found, kind=EngineError)
    return both, pivots


def old_lu(call: Caller, a: Array, pivot: bool = True, get_infos: bool = False
           ) -> Outputs:
    both, pivots, info = call("linalg_lu_factor_ex.default", a, pivot)
    return (both, pivots, info) if get_infos else (both, pivots)


for _name, _build, _more in (
    ("linalg.lu_factor", torch_lu_factor, ""),
    ("lu", old_lu, ", with get_infos the number of the first pivot that is zero"),
):
    function(_name, _build, operands=("a",), formula="l + u - 1, pivots",
             doc="The lower and the upper triangle of a matrix in one, and the "
                 f"exchanges of its rows{_more}.",
             cases=SHAPES[:3])

# triangles in two matrices


@of_wide("linalg_lu.default", returns=3, carries=3, formula="p @ l @ u = a",
    doc="A matrix as a permutation times a lower times an upper triangle.",
    cases=SHAPES, saves="y",
    vjp=(lambda xp, g, y, a, pivot=True: None if g[1] is None and g[2] is None else
         xp.matmul(y[0], lu_slopes(xp, g[1], g[2], y[1], y[2])),))
def lu(xp: Namespace, a: Array, pivot: bool = True) -> Outputs:
    demand_rank("linalg.lu", a, 2)
    demand_pivots(pivot)
    both, pivots = xp.lu_factors(a)
    return (permutation(xp, pivots, a.shape[-2], a), left_of(xp, both),
            right_of(xp, both))


@function("linalg.lu", operands=("a",), cases=SHAPES[:3])
def torch_lu(call: Caller, a: Array, pivot: bool = True) -> Outputs:
    p, l, u = call("linalg_lu.default", a, pivot)
    return call("detach", p), l, u


def check_pivots(name: str, pivots: Array) -> None:
    refuse(holds("fb", pivots), "{}: pivots have to be integers", name,
           kind=EngineError)


@row("lu_unpack.default", returns=3, carries=3, formula="p, tril(lu, -1) + 1, triu(lu)",
    memory=PACKED, saves="",
    vjp=(lambda xp, g, y, data, pivots, unpack_data=True, unpack_pivots=True:
         None if not unpack_data or (g[1] is None and g[2] is None) else
         joined(xp, g[1], g[2], *data.shape[-2:]), None),
    cases=[case((3, 3), Fixed([2, 3, 3])),
           case((2, 3, 2), Fixed([[1, 3], [2, 2]]), unpack_pivots=False),
           case((2, 3), Fixed([2, 2]))])
def unpack(xp: Namespace, data: Array, pivots: Array, unpack_data: bool = True,
           unpack_pivots: bool = True) -> Outputs:
    demand_rank("torch.lu_unpack", data, 2)
    none = xp.new_full(data, (0,), 0)
    p = (permutation(xp, pivots, data.shape[-2], data) if unpack_pivots
         else none)
    if not unpack_data:
        return p, none, none
    return p, left_of(xp, data), right_of(xp, data)


@function("lu_unpack", operands=("LU_data", "LU_pivots"),
          cases=[case((3, 3), Fixed([2, 3, 3]))])
def lu_unpack(call: Caller, LU_data: Array, LU_pivots: Array, unpack_data: bool = True,
              unpack_pivots: bool = True) -> Outputs:
    check_pivots("torch.lu_unpack", LU_pivots)
    p, l, u = call("lu_unpack.default", LU_data, LU_pivots, unpack_data, unpack_pivots)
    return call("detach", p), l, u


# systems


def from_triangles(xp: Namespace, both: Array, pivots: Array, b: Array, adjoint: bool
                  ) -> Array:
    """Return the solution of ``a @ x = b`` for ``a = p @ l @ u``, or for its transpose
    if ``adjoint``."""
    p = permutation(xp, pivots, both.shape[-2], both)
    if adjoint:
        half = xp.solve_triangle(turned(xp, both), b, upper=False)
        half = xp.solve_triangle(turned(xp, both), half, True, upper=True)
        return xp.matmul(p, half)
    half = xp.solve_triangle(both, xp.matmul(turned(xp, p), b), True, upper=False)
    return xp.solve_triangle(both, half, upper=True)


def lu_slope(xp: Namespace, ga: Array, LU: Array, pivots: Array, adjoint: bool = False
            ) -> Array:
    """Return the cotangent of ``LU``, given that of the matrix ``a = p @ l @ u``."""
    p = permutation(xp, pivots, LU.shape[-2], LU)
    ga = xp.matmul(turned(xp, p), turned(xp, ga) if adjoint else ga)
    gl = xp.matmul(ga, turned(xp, right_of(xp, LU)))
    gu = xp.matmul(turned(xp, left_of(xp, LU)), ga)
    return joined(xp, gl, gu, *LU.shape[-2:])


PIVOTS = Fixed([2, 3, 3])


@of_wide("linalg_lu_solve.default", one_type=True, formula="inverse(p @ l @ u) @ b",
    doc="The solution x of a @ x = b for a matrix that lu_factor gave the factors of; "
        "with left=False of x @ a = b, with adjoint for its transpose.",
    **system_rules(lambda xp, b, LU, pivots, turns, left, adjoint=False: xp.call(
      "linalg_lu_solve.default", LU, pivots, b, left, adjoint != turns),
                 lu_slope, 2),
    cases=[case((3, 3), PIVOTS, (3, 2), make="spd"),
           case((2, 3, 3), Fixed([[2, 3, 3], [1, 2, 3]]), (2, 3), left=False,
                make="spd"),
           case((3, 3), PIVOTS, (2, 3, 1), adjoint=True, make="spd"),
           case((3, 3), PIVOTS, (2, 3), left=False, adjoint=True, make="spd")],
    saves=("LU pivots y", "", "LU pivots"))
def lu_solve(xp: Namespace, LU: Array, pivots: Array, B: Array, left: bool = True,
             adjoint: bool = False) -> Array:
    check_system("linalg.lu_solve", LU, B, left)
    demand_shape("linalg.lu_solve: pivots", pivots, LU.shape[:-1])
    if not left:
        x = from_triangles(xp, LU, pivots, turned(xp, B), not adjoint)
        return xp.contiguous(turned(xp, x))
    return by_columns(xp, from_triangles(xp, LU, pivots, B, adjoint))


@function("linalg.lu_solve", operands=("LU", "pivots", "B"),
          cases=[case((3, 3), PIVOTS, (3, 2), make="spd")])
def torch_lu_solve(call: Caller, LU: Array, pivots: Array, B: Array, *,
                   left: bool = True, adjoint: bool = False) -> Array:
    check_pivots("linalg.lu_solve", pivots)
    return call("linalg_lu_solve.default", LU, pivots, B, left, adjoint)


@function("lu_solve", operands=("b", "LU_data", "LU_pivots"),
          formula="inverse(p @ l @ u) @ b",
          doc="The solution x of a @ x = b for a matrix that lu gave the factors of.",
          cases=[case((3, 2), (3, 3), PIVOTS, make="spd")])
def old_lu_solve(call: Caller, b: Array, LU_data: Array, LU_pivots: Array) -> Array:
    check_pivots("lu_solve", LU_pivots)
    return call("linalg_lu_solve.default", LU_data, LU_pivots, b)
