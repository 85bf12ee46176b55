"""Singular values and the eigenvalues of symmetric matrices, with their vectors.

Invariant: all functions work on stacks of matrices. Vectors are unique up to their
signs, so only results that do not depend on the signs have meaningful derivatives.
Where two values are equal, the derivative of their vectors divides by zero, as in
PyTorch.

    u, s, vh = linalg.svd(a, full_matrices=False)       # u @ diag(s) @ vh = a
"""

from __future__ import annotations

from .checks import demand_choice, demand_rank
from .linalg import filled_up, square, symmetric
from .op import case, function, of_wide
from .products import identity, turned
from .reduce import added
from .types import Array, Call, Cotangents, Namespace, Outputs, Tangents

# fmt: off

EQUAL = ("where {} are equal the derivative of the vectors is infinite or NaN; that of "
         "the values is one of several")


def columns(xp: Namespace, values: Array) -> Array:
    """Return numbers per column, reshaped to broadcast with a matrix."""
    return xp.unsqueeze(values, -2)


def rows(xp: Namespace, values: Array) -> Array:
    """Return numbers per row, reshaped to broadcast with a matrix."""
    return xp.unsqueeze(values, -1)


def gaps(xp: Namespace, values: Array) -> Array:
    """Return the matrix of ``values[j] - values[i]``, with ones on the diagonal."""
    found = columns(xp, values) - rows(xp, values)
    return found + identity(xp, found, found.shape)


def on_diagonal(xp: Namespace, values: Array) -> Array:
    return xp.diag_embed(values)


def skew(xp: Namespace, a: Array) -> Array:
    return a - turned(xp, a)


# singular values


def thin(xp: Namespace, u: Array, s: Array, vh: Array) -> tuple[Array, Array]:
    """Return the columns of ``u`` and rows of ``vh`` that have a singular value."""
    k = s.shape[-1]
    return (u if u.shape[-1] == k else xp.narrow(u, -1, 0, k),
            vh if vh.shape[-2] == k else xp.narrow(vh, -2, 0, k))


# Giles 2008, Collected matrix derivative results; PyTorch's svd_backward.
def svd_rule(xp: Namespace, g: Cotangents, y: Outputs, a: Array,
             full_matrices: bool = True) -> Array | None:
    s, gs = y[1], g[1]
    u, vh = thin(xp, y[0], s, y[2])
    k, (m, n) = s.shape[-1], a.shape[-2:]
    gu = None if g[0] is None else xp.narrow(g[0], -1, 0, k)
    gvh = None if g[2] is None else xp.narrow(g[2], -2, 0, k)
    if gu is None and gvh is None:
        return None if gs is None else xp.matmul(u, rows(xp, gs) * vh)
    apart, parts = gaps(xp, s * s), []
    if gu is not None:
        parts.append(skew(xp, xp.matmul(turned(xp, u), gu)) / apart * columns(xp, s))
    if gvh is not None:
        parts.append(rows(xp, s) * (skew(xp, xp.matmul(vh, turned(xp, gvh))) / apart))
    if gs is not None:
        parts.append(on_diagonal(xp, gs))
    inner = added(*parts)
    if m > k and gu is not None:
        beside = gu / columns(xp, s)
        beside = beside - xp.matmul(u, xp.matmul(turned(xp, u), beside))
        return xp.matmul(xp.matmul(u, inner) + beside, vh)
    inner = xp.matmul(inner, vh)
    if n > k and gvh is not None:
        beside = gvh / rows(xp, s)
        inner = inner + beside - xp.matmul(
            xp.matmul(beside, turned(xp, vh)), vh)
    return xp.matmul(u, inner)


def svd_tangent(xp: Namespace, t: Tangents, y: Outputs, a: Array,
                full_matrices: bool = True) -> Outputs:
    s = y[1]
    u, vh = thin(xp, y[0], s, y[2])
    v, ut = turned(xp, vh), turned(xp, u)
    k, (m, n) = s.shape[-1], a.shape[-2:]
    seen = xp.matmul(xp.matmul(ut, t[0]), v)
    ts = xp.diagonal(seen, 0, -2, -1)
    off = (seen - on_diagonal(xp, ts)) / gaps(xp, s * s)
    back = turned(xp, (seen - on_diagonal(xp, ts))) / gaps(xp, s * s)
    tu = xp.matmul(u, off * columns(xp, s) + rows(xp, s) * back)
    tv = xp.matmul(v, rows(xp, s) * off + back * columns(xp, s))
    if m > k:
        beside = xp.matmul(t[0], v) / columns(xp, s)
        tu = tu + beside - xp.matmul(u, xp.matmul(ut, beside))
    if n > k:
        beside = xp.matmul(turned(xp, t[0]), u) / columns(xp, s)
        tv = tv + beside - xp.matmul(v, xp.matmul(vh, beside))
    return (filled_up(xp, tu, -1, y[0].shape[-1]), ts,
            filled_up(xp, turned(xp, tv), -2, y[2].shape[-2]))


@of_wide("linalg_svd.default", node="LinalgSvdBackward0", returns=3, carries=3,
    formula="u @ diag(s) @ vh = a",
    kink=EQUAL.format("singular values") + "; so is that of the vectors at a singular "
         "value 0 of a matrix that is not square", vjp=(svd_rule,), jvp=svd_tangent,
    cases=[case((2, 2), make="regular"),
           case((4, 2), full_matrices=False, make="regular"),
           case((2, 2, 2), make="regular"),
           case((1, 1), low=0.5), case((3, 3))], saves="y")
def svd(xp: Namespace, a: Array, full_matrices: bool = True) -> Outputs:
    demand_rank("linalg.svd", a, 2)
    return xp.svd_factors(a, full_matrices)


REGULAR = [case((2, 2), make="regular"), case((2, 2, 2), make="regular")]

function("linalg.svd", lambda call, a, full_matrices=True:
         call("linalg_svd.default", a, full_matrices), operands=("a",),
         doc="Singular vectors and singular values, from the largest on; with "
             "full_matrices the vectors that have none as well.",
         kink=EQUAL.format("singular values"), cases=REGULAR)
function("linalg.svdvals", lambda call, a: call("linalg_svd.default", a, False)[1],
         formula="svd(a).S", operands=("a",),
         doc="The singular values of a matrix, from the largest on.", cases=REGULAR)


@function("svd", formula="u @ diag(s) @ v.T = a", operands=("a",),
          doc="Singular vectors and singular values; with some only the vectors that "
              "have a singular value.", kink=EQUAL.format("singular values"),
          cases=REGULAR)
def torch_svd(call: Call, a: Array, some: bool = True, compute_uv: bool = True
             ) -> Outputs:
    u, s, vh = call("linalg_svd.default", a, not some and compute_uv)
    if compute_uv:
        return u, s, call("mH", vh)
    (*lead, m, n), none = a.shape, call("detach", a)
    return (call("new_full", none, (*lead, m, m), 0), s,
            call("new_full", none, (*lead, n, n), 0))


# eigenvalues of symmetric matrices

SIDES = ("L", "U")


# Giles 2008; Seeger et al. 2017, Auto-Differentiating Linear Algebra, arXiv:1710.08717.
def eigh_rule(xp: Namespace, g: Cotangents, y: Outputs, a: Array, UPLO: str = "L"
             ) -> Array | None:
    values, v = y
    vt = turned(xp, v)
    if g[1] is None:
        return None if g[0] is None else xp.matmul(v * columns(xp, g[0]), vt)
    inner = skew(xp, xp.matmul(vt, g[1])) / (2 * gaps(xp, values))
    if g[0] is not None:
        inner = inner + on_diagonal(xp, g[0])
    return xp.matmul(v, xp.matmul(inner, vt))


def eigh_tangent(xp: Namespace, t: Tangents, y: Outputs, a: Array, UPLO: str = "L"
                ) -> Outputs:
    values, v = y
    seen = xp.matmul(xp.matmul(turned(xp, v), symmetric(xp, t[0])), v)
    moved = xp.diagonal(seen, 0, -2, -1)
    turn = (seen - on_diagonal(xp, moved)) / gaps(xp, values)
    return moved, xp.matmul(v, turn)


@of_wide("linalg_eigh.default", node="LinalgEighBackward0", returns=2, carries=2,
    formula="v @ diag(l) @ v.T = a", kink=EQUAL.format("eigenvalues"), vjp=(eigh_rule,),
    jvp=eigh_tangent,
    cases=[case((2, 2), make="symmetric"), case((2, 2, 2), make="symmetric", UPLO="U"),
           case((1, 1), low=0.5), case((3, 3), make="symmetric")], saves="y")
def eigh(xp: Namespace, a: Array, UPLO: str = "L") -> Outputs:
    """Return eigenvalues and eigenvectors of a symmetric matrix, of which one triangle
    is read; derivatives are those for symmetric changes, as in PyTorch."""
    demand_choice("linalg.eigh: UPLO", str(UPLO).upper(), SIDES)
    upper = str(UPLO).upper() == "U"
    return xp.eigh_factors(xp.read_in_triangle(square("linalg.eigh", a), upper))


SYMMETRIC = [case((2, 2), make="symmetric"), case((2, 2, 2), make="symmetric")]

function("linalg.eigh", lambda call, a, UPLO="L":
         call("linalg_eigh.default", a, UPLO), operands=("a",),
         doc="Eigenvalues of a symmetric matrix, read in one triangle, from the least "
             "on, and eigenvectors.",
         kink=EQUAL.format("eigenvalues"), cases=SYMMETRIC)
function("linalg.eigvalsh", lambda call, a, UPLO="L":
         call("linalg_eigh.default", a, UPLO)[0],
         formula="eigh(a).eigenvalues", operands=("a",),
         doc="The eigenvalues of a symmetric matrix, read in one triangle, from the "
             "least on.",
         cases=SYMMETRIC)
