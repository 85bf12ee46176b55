"""QR factors of matrices: orthonormal columns and an upper triangle.

Invariant: there are derivatives where the factors are unique up to signs; in mode 'r'
and for complete factors of a tall matrix they are refused.

    q, r = linalg.qr(a)         # q @ r = a
"""

from __future__ import annotations

from .checks import EngineError, demand_choice, demand_rank, refuse
from .op import case, function, of_wide
from .products import turned
from .types import Array, Cotangents, Namespace, Outputs, Tangents

# fmt: off

MODES = ("reduced", "complete", "r")


def demand_slope(a: Array, mode: str) -> None:
    """Raise `EngineError` if the factors of ``a`` have no derivative in this mode."""
    refuse(mode == "r", "linalg.qr with mode='r' has no derivative, which takes Q: use "
           "mode='reduced'", kind=EngineError)
    m, n = a.shape[-2:]
    refuse(mode == "complete" and m > n, "The QR decomposition is not differentiable "
           "when mode='complete' and nrows > ncols.", kind=EngineError)


def divided(xp: Namespace, x: Array, r: Array) -> Array:
    """Return ``x`` times the inverse of the upper triangle ``r``."""
    return xp.call("linalg_solve_triangular.default", r, x, True, False)


def divided_by_turned(xp: Namespace, x: Array, r: Array) -> Array:
    """Return ``x`` times the inverse of the transpose of the upper triangle ``r``."""
    return xp.call("linalg_solve_triangular.default", turned(xp, r), x, False, False)


def halved(xp: Namespace, x: Array) -> Array:
    """Return the upper triangle of ``x``, with its diagonal halved."""
    return (xp.triu(x) + xp.triu(x, 1)) / 2


# Seeger et al. 2017, Auto-Differentiating Linear Algebra, arXiv:1710.08717, for tall
# matrices. PyTorch's linalg_qr_backward for wide matrices, whose first columns are a
# square matrix with the factors q and r[:, :m]; the other columns of r are q.T @ a.
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


@of_wide("linalg_qr.default", node="LinalgQrBackward0", returns=2, carries=2,
    formula="q @ r = a", doc="A matrix as orthonormal columns times an upper triangle.",
    vjp=(qr_rule,), jvp=qr_tangent, saves="y",
    cases=[*TALL, case((2, 3), mode="complete", make="regular"), case((1, 1), low=0.5)])
def qr(xp: Namespace, a: Array, mode: str = "reduced") -> Outputs:
    demand_rank("linalg.qr", a, 2)
    demand_choice("linalg.qr: mode", mode, MODES)
    q, r = xp.qr_factors(a, "complete" if mode == "complete" else "reduced")
    return (xp.new_full(a, (0,), 0) if mode == "r" else q), r


function("linalg.qr", lambda call, a, mode="reduced":
         call("linalg_qr.default", a, mode), operands=("a",), cases=TALL)
function("qr", lambda call, a, some=True:
         call("linalg_qr.default", a, "reduced" if some else "complete"),
         formula="q @ r = a", operands=("a",),
         doc="A matrix as orthonormal columns times an upper triangle; with some no "
             "more columns than the matrix has.",
         cases=TALL)
