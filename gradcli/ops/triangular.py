"""Linear systems whose matrix is a triangle, or is given by its Cholesky factor.

Invariant: one triangle of a triangular operand is read; the derivative by entries of
the other triangle is 0.

    linalg.solve_triangular(a, b, upper=True)       # triu(a) @ x = b
"""

from __future__ import annotations

from .checks import broadcast_shape, demand_rank, refuse
from .linalg import check_equation, oriented, square, system_rules
from .op import FIRST, case, function, of_wide
from .products import turned
from .shape import sum_to
from .types import Array, Cotangents, Namespace, Operand, Outputs, Tangents, Vjp

# fmt: off


def triangle(xp: Namespace, x: Array, upper: bool, strictly: bool = False) -> Array:
    """Return the upper or lower triangle of ``x``; if strictly, without diagonal."""
    return xp.triu(x, int(strictly)) if upper else xp.tril(x, -int(strictly))


def substituted(xp: Namespace, a: Array, b: Array, upper: bool, left: bool, unit: bool
               ) -> Array:
    """Return the solution of ``a @ x = b`` or ``x @ a = b``, with columns contiguous in
    memory."""
    if left:
        return xp.solve_triangle(a, b, unit, upper=upper)
    found = xp.solve_triangle(turned(xp, a), turned(xp, b), unit, upper=not upper)
    return turned(xp, xp.contiguous(found))


def again(xp: Namespace, a: Array, b: Operand, upper: bool, left: bool, unit: bool,
          transposed: bool = False) -> Array:
    """Return the solution of a triangular system with another right side, ``b``."""
    if transposed:
        a, upper = turned(xp, a), not upper
    return xp.call("linalg_solve_triangular.default", a, b, upper, left, unit)


@of_wide("linalg_solve_triangular.default", node="LinalgSolveTriangularBackward0",
    formula="inverse(triu(a)) @ b",
    doc="The solution x of a @ x = b, or with left=False of x @ a = b, for the upper "
        "or the lower triangle of a; with unitriangular its diagonal is 1.",
    result=FIRST,
    **system_rules(
        lambda xp, b, a, turns, left, upper, unitriangular=False:
        again(xp, a, b, upper, left, unitriangular, turns),
        lambda xp, ga, a, upper, unitriangular=False:
        triangle(xp, ga, upper, unitriangular),
        lambda xp, t, a, upper, unitriangular=False:
        triangle(xp, t, upper, unitriangular), 1),
    cases=[case((3, 3), (3, 2), upper=True, make="spd"),
           case((2, 3, 3), (3, 2), upper=False, make="spd"),
           case((3, 3), (2, 2, 3), upper=True, left=False, make="spd"),
           case((2, 2), (2, 2), upper=False, unitriangular=True, make="spd")],
    saves=("a y", "a"))
def solve_triangular(xp: Namespace, a: Array, b: Array, upper: bool, left: bool = True,
                     unitriangular: bool = False) -> Array:
    name = "linalg.solve_triangular"
    square(name, a)
    demand_rank(f"{name}: B", b, 2)
    check_equation(name, a, b, left)
    broadcast_shape(a.shape[:-2], b.shape[:-2])
    return substituted(xp, a, b, upper, left, unitriangular)


function("linalg.solve_triangular",
         lambda call, a, b, *, upper, left=True, unitriangular=False: call(
             "linalg_solve_triangular.default", a, b, upper, left, unitriangular),
         operands=("a", "b"),
         cases=[case((3, 3), (3, 2), upper=True, make="spd"),
                case((3, 3), (2, 3), upper=False, left=False, make="spd")])


def old_rule(slot: int) -> Vjp:
    """Return the reverse rule of ``triangular_solve`` for b (0) or a (1)."""
    def rule(xp: Namespace, g: Cotangents, y: Outputs, b: Array, a: Array,
             upper: bool = True, transpose: bool = False, unitriangular: bool = False
             ) -> Array | None:
        gx, gcopy = g
        ga = None if gcopy is None else sum_to(xp, gcopy, a.shape)
        if gx is None:
            return ga if slot else None
        gb = again(xp, a, gx, upper, True, unitriangular, not transpose)
        if not slot:
            return sum_to(xp, gb, b.shape)
        found = -xp.matmul(gb, turned(xp, y[0]))
        found = triangle(xp, turned(xp, found) if transpose else found, upper,
                         unitriangular)
        found = sum_to(xp, found, a.shape)
        return found if ga is None else found + ga

    return rule


def old_tangent(xp: Namespace, t: Tangents, y: Outputs, b: Array, a: Array,
                upper: bool = True, transpose: bool = False, unitriangular: bool = False
                ) -> Outputs:
    ta = triangle(xp, t[1], upper, unitriangular)
    moved = xp.matmul(turned(xp, ta) if transpose else ta, y[0])
    x = again(xp, a, t[0] - moved, upper, True, unitriangular, transpose)
    return x, xp.expand(t[1], y[1].shape)


@of_wide("triangular_solve", node="TriangularSolveBackward0", returns=2, carries=2,
    formula="inverse(triu(a)) @ b, a",
    doc="The solution x of a @ x = b for the upper or the lower triangle of a, and a "
        "copy of a.", one_type=True, vjp=(old_rule(0), old_rule(1)), jvp=old_tangent,
    cases=[case((3, 2), (3, 3), make="spd"),
           case((2, 3, 1), (3, 3), upper=False, make="spd"),
           case((3, 1), (3, 3), transpose=True, unitriangular=True, make="spd")],
    saves=("b a", "b a y.0"))
def old_triangular(xp: Namespace, b: Array, a: Array, upper: bool = True,
                   transpose: bool = False, unitriangular: bool = False) -> Outputs:
    demand_rank("triangular_solve: b", b, 2)
    demand_rank("triangular_solve: A", a, 2)
    square("triangular_solve", a)
    check_equation("triangular_solve", a, b, True)
    lead = broadcast_shape(a.shape[:-2], b.shape[:-2])
    turns = turned(xp, a) if transpose else a
    x = xp.solve_triangle(turns, b, unitriangular, upper=upper != transpose)
    wide = xp.expand(a, (*lead, *a.shape[-2:])) if lead != a.shape[:-2] else a
    return x, by_columns(xp, xp.clone(wide))


# matrices given by their Cholesky factors


def lower_of(xp: Namespace, l: Array, upper: bool) -> Array:
    """Return the lower factor; if ``upper``, its transpose is read in ``l``."""
    return oriented(xp, triangle(xp, l, upper), upper)


def by_factor(xp: Namespace, b: Array, l: Array, upper: bool) -> Array:
    """Return the x for which ``l @ l.T @ x = b``; if ``upper``, ``l`` is transposed."""
    low = oriented(xp, l, upper)
    half = xp.solve_triangle(low, b, upper=False)
    return xp.solve_triangle(turned(xp, low), half, upper=True)


def by_columns(xp: Namespace, a: Array) -> Array:
    """Return the same matrices with columns contiguous in memory."""
    return turned(xp, xp.contiguous(turned(xp, a)))


def slope_by_factor(xp: Namespace, ga: Array, l: Array, upper: bool = False) -> Array:
    """Return the cotangent of a factor, given that of the product ``l @ l.T``."""
    low = lower_of(xp, l, upper)
    return oriented(xp, xp.tril(xp.matmul(ga + turned(xp, ga), low)), upper)


def change_by_factor(xp: Namespace, t: Array, l: Array, upper: bool = False) -> Array:
    """Return the tangent of the product ``l @ l.T``, given that of the factor."""
    half = xp.matmul(lower_of(xp, t, upper), turned(xp, lower_of(xp, l, upper)))
    return half + turned(xp, half)


@of_wide("cholesky_solve", node="CholeskySolveBackward0", one_type=True,
    formula="inverse(tril(l) @ tril(l).T) @ b",
    doc="The solution x of a @ x = b for a matrix a = l @ l.T, given its factor l; "
        "with upper its transpose.",
    **system_rules(lambda xp, b, l, turns, left, upper=False:
                   xp.call("cholesky_solve", b, l, upper),
                   slope_by_factor, change_by_factor, 0),
    cases=[case((3, 2), (3, 3), make="spd"),
           case((3, 2), (2, 3, 3), upper=True, make="spd")], saves=("b l", "b l y"))
def cholesky_solve(xp: Namespace, b: Array, l: Array, upper: bool = False) -> Array:
    demand_rank("cholesky_solve: b", b, 2)
    demand_rank("cholesky_solve: u", l, 2)
    n, m = l.shape[-2:]
    refuse(n != m,
           "A must be batches of square matrices, but they are {} by {} matrices", n, m)
    check_equation("cholesky_solve", l, b, True)
    broadcast_shape(l.shape[:-2], b.shape[:-2])
    return by_factor(xp, b, l, upper)
