"""Factors of matrices that have orthonormal columns, and what is computed from them.

Invariant: all functions work on stacks of matrices. Vectors are unique up to their
signs, so only results that do not depend on the signs have meaningful derivatives.
Where two values are equal, the derivative of their vectors divides by zero, as in
PyTorch. For a pseudoinverse, singular values that are at most ``max(atol,
rtol*largest)`` count as 0; its derivatives are those for changes of the matrix that
leave its rank as it is.

    u, s, vh = linalg.svd(a, full_matrices=False)       # u @ diag(s) @ vh = a
    q, r = linalg.qr(a)                                 # q @ r = a
"""

from __future__ import annotations

from .checks import EngineError, ShapeError, demand_choice, demand_rank, refuse
from .linalg import column, is_vector, square, symmetric
from .op import case, function, of_wide
from .products import identity, turned
from .reduce import added
from .shape import sum_to
from .triangular import by_columns
from .types import Array, Caller, Cotangents, Namespace, Operand, Outputs

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


@of_wide("linalg_svd.default", returns=3, carries=3, formula="u @ diag(s) @ vh = a",
    kink=EQUAL.format("singular values") + "; so is that of the vectors at a singular "
         "value 0 of a matrix that is not square", vjp=(svd_rule,),
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
def torch_svd(call: Caller, a: Array, some: bool = True, compute_uv: bool = True
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


@of_wide("linalg_eigh.default", returns=2, carries=2, formula="v @ diag(l) @ v.T = a",
    kink=EQUAL.format("eigenvalues"), vjp=(eigh_rule,),
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


# orthonormal columns and an upper triangle

FAMILY = "orthogonal"


MODES = ("reduced", "complete", "r")


def demand_slope(a: Array, mode: str) -> None:
    """Raise `EngineError` if the factors of ``a`` have no derivative in this mode."""
    refuse(mode == "r", "linalg.qr with mode='r' has no derivative, which takes Q: use "
           "mode='reduced'", kind=EngineError)
    m, n = a.shape[-2:]
    refuse(mode == "complete" and m > n, "The QR decomposition is not differentiable "
           "when mode='complete' and nrows > ncols.", kind=EngineError)


def divided_by_turned(xp: Namespace, x: Array, r: Array) -> Array:
    """Return ``x`` times the inverse of the transpose of the upper triangle ``r``."""
    return xp.call("linalg_solve_triangular.default", turned(xp, r), x, False, False)


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


TALL = [case((3, 3), make="regular"), case((4, 2), make="regular"),
        case((2, 2, 3), make="regular")]


@of_wide("linalg_qr.default", returns=2, carries=2, formula="q @ r = a",
    doc="A matrix as orthonormal columns times an upper triangle.", vjp=(qr_rule,),
    saves="y",
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


# pseudoinverses, ranks and least squares solutions

FAMILY = "pseudoinverse"


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


@of_wide("linalg_pinv.atol_rtol_tensor", formula="a @ y @ a = a", kink=RANK,
    vjp=(lambda xp, g, y, a, atol=None, rtol=None, hermitian=False:
         of_its_kind(xp, pinv_slopes(xp, g, y, of_its_kind(xp, a, hermitian)),
                     hermitian), None, None),
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


@function("linalg.pinv", operands=("a",),
          doc="The pseudoinverse of a matrix; singular values up to the larger of atol "
              "and rtol times the largest count as 0.", kink=RANK,
          cases=[case((3, 2), make="regular"), case((2, 2, 3), make="regular"),
                 case((2, 2), hermitian=True, make="symmetric")])
def torch_pinv(call: Caller, a: Array, rcond: Operand | None = None,
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

# least squares, by the driver "gelsy": without residuals and singular values


# Golub, Pereyra 1973.
def lstsq_by_a(xp: Namespace, g: Cotangents, y: Outputs, a: Array, b: Array,
               rcond: Operand | None = None) -> Array | None:
    if g[0] is None:
        return None
    vector = is_vector(a, b)
    slope = xp.matmul(column(xp, g[0], vector), turned(xp, column(xp, b, vector)))
    return sum_to(xp, pinv_slopes(xp, slope, xp.call("linalg.pinv", a), a), a.shape)


def lstsq_by_b(xp: Namespace, g: Cotangents, y: Outputs, a: Array, b: Array,
               rcond: Operand | None = None) -> Array | None:
    if g[0] is None:
        return None
    vector = is_vector(a, b)
    found = xp.matmul(turned(xp, xp.call("linalg.pinv", a)), column(xp, g[0], vector))
    return sum_to(xp, xp.squeeze(found, -1) if vector else found, b.shape)


@of_wide("linalg_lstsq.default", returns=4, carries=2, formula="pinv(a) @ b", kink=RANK,
    one_type=True,
    doc="The x for which a @ x is next to b, and the rank of a, behind residuals of no "
        "entries and before singular values of none.", vjp=(lstsq_by_a, lstsq_by_b),
    cases=[case((4, 2), (4, 2), make="regular"), case((2, 3), (2, 1), make="regular"),
           case((2, 3, 2), (2, 3), make="regular")],
    saves=("a b y.0 y.1", "a b y.0 y.1"))
def lstsq(xp: Namespace, a: Array, b: Array, rcond: Operand | None = None) -> Outputs:
    name = "torch.linalg.lstsq"
    demand_rank(f"{name}: input", a, 2)
    demand_rank(f"{name}: other", b, 1)
    vector = is_vector(a, b)
    right = column(xp, b, vector)
    if a.shape[-2] != right.shape[-2]:
        dim = -1 if vector else -2
        raise ShapeError(f"{name}: input.size(-2) should match other.size({dim})")
    m, n = a.shape[-2:]
    none, atol = xp.new_full(a, (0,), 0), None if rcond is None else 0.0
    solved = xp.matmul(pinv(xp, a, atol, rcond), right)
    rest = xp.new_full(solved, (*solved.shape[:-2], max(m - n, 0), solved.shape[-1]), 0)
    solved = xp.narrow(by_columns(xp, xp.cat([solved, rest], -2)), -2, 0, n)
    return (xp.squeeze(solved, -1) if vector else solved, none,
            matrix_rank(xp, a, atol, rcond), none)


function("linalg.lstsq", lambda call, a, b, rcond=None:
         call("linalg_lstsq.default", a, b, rcond), operands=("a", "b"), kink=RANK,
         cases=[case((4, 2), (4, 2), make="regular"),
                case((2, 3), (2, 1), make="regular")])
