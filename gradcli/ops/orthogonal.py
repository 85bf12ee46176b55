"""Orthogonal factors of matrices, and products of Householder's reflections.

Invariant: a reflection ``1 - tau v v.T`` is given by what stands in a column of a
matrix below its diagonal, where ``v`` is 1; above it ``v`` is 0, whatever stands there.

    q, r = linalg.qr(a)         # q @ r = a
"""

from __future__ import annotations

from .checks import EngineError, ShapeError, ValueRangeError
from .op import case, floats_for, function, no_kernel, row
from .products import turned
from .spectra import matrices
from .triangular import by_columns
from .types import Array, Cotangents, Namespace, Outputs, Tangents, Vjp

# fmt: off

MODES = ("reduced", "complete", "r")


def qr(xp: Namespace, a: Array, mode: str = "reduced") -> Outputs:
    matrices("linalg.qr", a)
    if mode not in MODES:
        raise ValueRangeError(f"qr received unrecognized mode '{mode}' but expected "
                              "one of 'reduced' (default), 'r', or 'complete'")
    q, r = xp.qr_factors(a, "complete" if mode == "complete" else "reduced")
    return (xp.new_full(a, (0,), 0) if mode == "r" else q), r


def demand_slope(a: Array, mode: str) -> None:
    """Refuse what has no derivative."""
    if mode == "r":
        raise EngineError(
            "The derivative of linalg.qr depends on Q, which is not computed when "
            "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to "
            "differentiate through linalg.qr.")
    m, n = a.shape[-2:]
    if mode == "complete" and m > n:
        raise EngineError("The QR decomposition is not differentiable when "
                          "mode='complete' and nrows > ncols.")


def divided(xp: Namespace, x: Array, r: Array) -> Array:
    """``x`` times the inverse of an upper triangle."""
    return xp.call("linalg_solve_triangular.default", r, x, True, False)


def divided_by_turned(xp: Namespace, x: Array, r: Array) -> Array:
    """``x`` times the inverse of a transposed upper triangle."""
    return xp.call("linalg_solve_triangular.default", turned(xp, r), x, False, False)


def halved(xp: Namespace, x: Array) -> Array:
    """The upper triangle with half of the diagonal."""
    return (xp.triu(x) + xp.triu(x, 1)) / 2


# Seeger et al. 2017, Auto-Differentiating Linear Algebra, arXiv:1710.08717, for tall
# matrices; wide ones as in PyTorch's linalg_qr_backward: their first columns are a
# square matrix, and the others q.T times what was there.
def qr_rule(xp: Namespace, g: Cotangents, y: Outputs, a: Array, mode: str = "reduced"
            ) -> Array | None:
    demand_slope(a, mode)
    gq, gr = g
    q, r = y
    m, n = a.shape[-2:]
    inner = None if gr is None else xp.matmul(gr, turned(xp, r))
    if gq is not None:
        by_q = xp.matmul(turned(xp, q), gq)
        inner = -by_q if inner is None else inner - by_q
    if inner is None:
        return None
    if m >= n:
        upper = xp.triu(inner)
        found = xp.matmul(q, upper + turned(xp, xp.triu(inner, 1)))
        return divided_by_turned(xp, found if gq is None else found + gq, r)
    lower = xp.tril(turned(xp, inner) - inner, -1)
    first = divided_by_turned(xp, xp.matmul(q, lower), xp.narrow(r, -1, 0, m))
    others = xp.new_full(first, (*a.shape[:-1], n - m), 0)
    found = xp.cat([first, others], -1)
    return found if gr is None else found + xp.matmul(q, gr)


def qr_tangent(xp: Namespace, t: Tangents, y: Outputs, a: Array, mode: str = "reduced"
              ) -> Outputs:
    demand_slope(a, mode)
    q, r = y
    m, n = a.shape[-2:]
    if m >= n:
        moved = divided(xp, t[0], r)
        seen = xp.matmul(turned(xp, q), moved)
        turn = halved(xp, seen + turned(xp, seen))
        return moved - xp.matmul(q, turn), xp.matmul(turn, r)
    seen = xp.matmul(turned(xp, q), t[0])
    first = divided(xp, xp.narrow(seen, -1, 0, m), xp.narrow(r, -1, 0, m))
    turn = xp.tril(first, -1) - turned(xp, xp.tril(first, -1))
    return xp.matmul(q, turn), seen - xp.matmul(turn, r)


TALL = [case((3, 3), make="regular"), case((4, 2), make="regular"),
        case((2, 2, 3), make="regular")]

row("linalg_qr.default", node="LinalgQrBackward0", returns=2, carries=2,
    refuses=floats_for("linalg.qr") | no_kernel("geqrf_cpu", ("float16",)),
    formula="q @ r = a",
    doc="A matrix as orthonormal columns times an upper triangle.",
    fwd=qr, vjp=(qr_rule,), jvp=qr_tangent, saves="y",
    cases=[*TALL, case((2, 3), mode="complete", make="regular"), case((1, 1), low=0.5)])

function("linalg.qr", lambda call, a, mode="reduced":
         call("linalg_qr.default", a, mode), formula="q @ r = a", operands=("a",),
         doc="A matrix as orthonormal columns times an upper triangle.",
         cases=TALL)
function("qr", lambda call, a, some=True:
         call("linalg_qr.default", a, "reduced" if some else "complete"),
         formula="q @ r = a", operands=("a",),
         doc="A matrix as orthonormal columns times an upper triangle; with some no "
             "more columns than the matrix has.",
         cases=TALL)

# products of reflections


def directions(xp: Namespace, a: Array, i: int) -> Array:
    """The vectors of the reflections in column ``i``, as columns."""
    below = xp.narrow(a, -2, i + 1, a.shape[-2] - i - 1)
    below = xp.narrow(below, -1, i, 1)
    above = xp.new_full(below, (*a.shape[:-2], i + 1, 1), 0)
    one = xp.new_full(below, (*a.shape[:-2], 1, 1), 1)
    return xp.cat([xp.narrow(above, -2, 0, i), one, below], -2)


def factor_of(xp: Namespace, tau: Array, i: int) -> Array:
    return xp.unsqueeze(xp.narrow(tau, -1, i, 1), -1)


def reflected(xp: Namespace, a: Array, tau: Array, c: Array, order: range
             ) -> list[Array]:
    """``c`` before, between and after reflections, one after the other."""
    steps = [c]
    for i in order:
        v = directions(xp, a, i)
        along = xp.matmul(turned(xp, v), c)
        c = c - factor_of(xp, tau, i) * xp.matmul(v, along)
        steps.append(c)
    return steps


def reflected_rules(xp: Namespace, g: Array, a: Array, tau: Array, c: Array,
                    order: range) -> tuple[Array, Array, Array]:
    """The cotangents of ``a``, of ``tau`` and of ``c``."""
    steps = reflected(xp, a, tau, c, order)
    in_column: dict[int, Array] = {}
    in_tau: dict[int, Array] = {}
    for i, before in zip(reversed(order), reversed(steps[:-1]), strict=True):
        v, factor = directions(xp, a, i), factor_of(xp, tau, i)
        along, along_g = (xp.matmul(turned(xp, v), x) for x in (before, g))
        in_tau[i] = -xp.sum(along * along_g, (-2, -1))
        slope = -factor * (xp.matmul(g, turned(xp, along))
                           + xp.matmul(before, turned(xp, along_g)))
        in_column[i] = slope
        g = g - factor * xp.matmul(v, along_g)
    ga = xp.new_full(a, a.shape, 0)
    if in_column:
        found = xp.cat([in_column[i] for i in sorted(in_column)], -1)
        rest = a.shape[-1] - len(in_column)
        if rest:
            none = xp.new_full(a, (*a.shape[:-1], rest), 0)
            found = xp.cat([found, none], -1)
        ga = xp.tril(found, -1)
    gt = (xp.stack([in_tau[i] for i in sorted(in_tau)], -1) if in_tau
          else xp.new_full(tau, tau.shape, 0))
    return ga, gt, g


def reflected_tangent(xp: Namespace, ta: Array, tt: Array, tc: Array, a: Array,
                      tau: Array, c: Array, order: range) -> Array:
    moving = xp.tril(ta, -1)
    for i in order:
        v, factor = directions(xp, a, i), factor_of(xp, tau, i)
        tv = xp.narrow(moving, -1, i, 1)
        along = xp.matmul(turned(xp, v), c)
        moved = xp.matmul(turned(xp, tv), c) + xp.matmul(turned(xp, v), tc)
        tc = (tc - factor_of(xp, tt, i) * xp.matmul(v, along)
              - factor * (xp.matmul(tv, along) + xp.matmul(v, moved)))
        c = c - factor * xp.matmul(v, along)
    return tc


def check_reflections(name: str, a: Array, tau: Array) -> None:
    if len(a.shape) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if len(tau.shape) != len(a.shape) - 1:
        raise ShapeError(
            f"{name}: Expected tau to have one dimension less than input, but got "
            f"tau.ndim equal to {len(tau.shape)} and input.ndim is equal to "
            f"{len(a.shape)}")
    if tau.shape[:-1] != a.shape[:-2]:
        raise ShapeError(f"{name}: Expected batch dimensions of tau to be equal to "
                         f"input.shape[:-2], but got {list(tau.shape[:-1])}")


def first_columns(xp: Namespace, a: Array) -> Array:
    return xp.tril(xp.triu(xp.new_full(a, a.shape, 1.0)))


def last_first(tau: Array) -> range:
    return range(tau.shape[-1])[::-1]


def householder_product(xp: Namespace, a: Array, tau: Array) -> Array:
    name = "torch.linalg.householder_product"
    if len(a.shape) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if a.shape[-2] < a.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-2] must be greater than or equal to "
                         "input.shape[-1]")
    if tau.shape and a.shape[-1] < tau.shape[-1]:
        raise ShapeError(f"{name}: input.shape[-1] must be greater than or equal to "
                         "tau.shape[-1]")
    check_reflections(name, a, tau)
    found = reflected(xp, a, tau, first_columns(xp, a), last_first(tau))[-1]
    return by_columns(xp, found)


row("linalg_householder_product.default", node="LinalgHouseholderProductBackward0",
    refuses=no_kernel("orgqr_cpu") | no_kernel("orgqr_cpu", ("float16",)),
    one_type="torch.linalg.householder_product: tau dtype {c1} does not match input "
             "dtype {c0}",
    formula="(1 - tau[0]*outer(v0, v0)) @ (1 - tau[1]*outer(v1, v1)) @ ...",
    doc="The first columns of a product of Householder reflections.",
    fwd=householder_product,
    vjp=(lambda xp, g, y, a, tau: reflected_rules(
             xp, g, a, tau, first_columns(xp, a), last_first(tau))[0],
         lambda xp, g, y, a, tau: reflected_rules(
             xp, g, a, tau, first_columns(xp, a), last_first(tau))[1]),
    jvp=lambda xp, t, y, a, tau: reflected_tangent(
        xp, t[0], t[1], xp.new_full(y, y.shape, 0), a, tau, first_columns(xp, a),
        last_first(tau)),
    cases=[case((4, 3), (3,)), case((2, 3, 3), (2, 2)), case((2, 2), (2,))],
    saves="a tau y")

function("linalg.householder_product", lambda call, a, tau:
         call("linalg_householder_product.default", a, tau),
         formula="(1 - tau[0]*outer(v0, v0)) @ (1 - tau[1]*outer(v1, v1)) @ ...",
         aliases=("orgqr",), operands=("a", "tau"),
         doc="The first columns of a product of Householder reflections.",
         cases=[case((4, 3), (3,)), case((2, 3, 3), (2, 2))])


def order_of(tau: Array, left: bool, transpose: bool) -> range:
    """The reflections in the order in which they are applied to what stands right of
    them, or is turned."""
    return range(tau.shape[-1])[::-1 if left != transpose else 1]


def facing(xp: Namespace, c: Array, left: bool) -> Array:
    return c if left else turned(xp, c)


def ormqr(xp: Namespace, a: Array, tau: Array, other: Array, left: bool = True,
          transpose: bool = False) -> Array:
    side = -2 if left else -1
    for x, called in ((a, "input"), (other, "other")):
        if len(x.shape) < 2:
            raise ShapeError(f"torch.ormqr: {called} must have at least 2 dimensions.")
    if other.shape[side] < tau.shape[-1]:
        raise ShapeError(f"torch.ormqr: other.shape[{side}] must be greater than or "
                         "equal to tau.shape[-1]")
    if other.shape[side] != a.shape[-2]:
        raise ShapeError(f"torch.ormqr: other.shape[{side}] must be equal to "
                         "input.shape[-2]")
    if tau.shape[-1] > a.shape[-1]:
        raise ShapeError("torch.ormqr: tau.shape[-1] must be less than or equal to "
                         "input.shape[-1]")
    if tau.shape[-1] != min(other.shape[side], a.shape[-1]):
        raise ShapeError("torch.ormqr: tau.shape[-1] must be equal to min(other.shape"
                         f"[{side}], input.shape[-1])")
    check_reflections("torch.ormqr", a, tau)
    c, order = facing(xp, other, left), order_of(tau, left, transpose)
    return by_columns(xp, facing(xp, reflected(xp, a, tau, c, order)[-1], left))


def ormqr_rule(slot: int) -> Vjp:
    def rule(xp: Namespace, g: Array, y: Array, a: Array, tau: Array, other: Array,
             left: bool = True, transpose: bool = False) -> Array:
        found = reflected_rules(xp, facing(xp, g, left), a, tau,
                                facing(xp, other, left),
                                order_of(tau, left, transpose))[slot]
        return facing(xp, found, left) if slot == 2 else found

    return rule


def ormqr_tangent(xp: Namespace, t: Tangents, y: Array, a: Array, tau: Array,
                  other: Array, left: bool = True, transpose: bool = False) -> Array:
    found = reflected_tangent(
        xp, t[0], t[1], facing(xp, t[2], left), a, tau, facing(xp, other, left),
        order_of(tau, left, transpose))
    return facing(xp, found, left)


row("ormqr", node="OrmqrBackward0",
    refuses=no_kernel("ormqr_cpu") | no_kernel("ormqr_cpu", ("float16",)),
    one_type=("torch.ormqr: Expected input and tau to have the same dtype, but input "
              "has dtype{c0} and tau has dtype {c1}",
              "torch.ormqr: Expected input and other to have the same dtype, but input "
              "has dtype{c0} and other has dtype {c1}"),
    formula="q @ other",
    doc="The product of all columns of a product of reflections with a matrix; with "
        "left=False from the right, with transpose of the transpose.",
    fwd=ormqr, vjp=(ormqr_rule(0), ormqr_rule(1), ormqr_rule(2)), jvp=ormqr_tangent,
    cases=[case((3, 2), (2,), (3, 2)), case((3, 3), (3,), (2, 3), left=False),
           case((2, 3, 2), (2, 2), (2, 3, 1), transpose=True)],
    saves="a tau other y")
