"""Linear algebra on object arrays, in the arithmetic of their elements.

Invariant: every entry of a result is a formula of the matrix's entries, without an
iteration, rounded by the elements' own arithmetic alone. Up to two eigenvalues or
singular values have a closed formula; of more, each is one step
(`gradcli.check.spectra`), and the vectors are formulas of these. The signs of vectors
and the exchange of rows are decided by the values, as the engine's library decides
them; where every pivot other than 0 gives the same result, its choice leaves no
condition.

    determinant(Balls(), data)                  # over the last two dimensions
    values, vectors = eigh(Balls(), data)       # of one matrix
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise, product
from typing import Any, Final

import numpy as np

from ..engine import NUMPY
from ..engine.raw import Host, Raw
from ..ops.checks import KindError
from .decided import floats, largest
from .system import Element, System

MAX_COFACTOR_SIZE: Final = 3
"""Most rows of a matrix for which cofactors are used: the formulas stay short."""

MAX_ASYMMETRY: Final = 2.0**-46
"""Largest difference of opposite entries of a matrix that counts as symmetric, as a
share of one of them: rounding leaves about as much in ``x.T @ x``."""

FORMULA_SIZE: Final = 2
"""Most rows of a matrix whose eigenvalues have a formula without complex numbers."""

MAX_SIZE: Final = 8
"""Most eigenvalues or singular values of a matrix that are computed as balls: the work
for their derivatives grows with the fifth power of their number."""

MAX_ENTRIES: Final = MAX_SIZE * MAX_SIZE
"""Most entries of a matrix whose singular values are computed from it directly."""


LOWER_RANK: Final = "linalg.qr has no derivative at a matrix of lower rank"
"""Words for a kink of the orthogonal factors."""


def boxed(data: object) -> Host:
    """Return an array as it is, and an element in an object array of shape ()."""
    if isinstance(data, np.ndarray):
        return data
    box = np.empty((), dtype=object)
    box[()] = data
    return box


# products


def matmul(system: System[Element], a: Host, b: Host) -> Host:
    """Return ``a @ b`` as `numpy.matmul` defines it, with one sum per entry."""
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: a scalar is no matrix")
    left = a[np.newaxis] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(f"matmul: {a.shape} and {b.shape} do not fit")
    columns = right.swapaxes(-1, -2)[..., np.newaxis, :, :]
    out = _contracted(system, [left[..., :, np.newaxis, :], columns], 1)
    return np.squeeze(out, (-2,) * (a.ndim == 1) + (-1,) * (b.ndim == 1))


def inner_product(system: System[Element], row: Host, column: Host) -> Element:
    found: Element = _contracted(system, [row, column], 1).item()
    return found


def einsum(system: System[Element], equation: str, operands: Sequence[Host]) -> Host:
    """Return products summed over the letters that the result lacks, one sum per entry;
    dimensions with the same letter broadcast."""
    left, _, result = equation.partition("->")
    given = left.split(",")
    summed = "".join(dict.fromkeys(c for c in "".join(given) if c not in result))
    factors = []
    for letters, operand in zip(given, operands, strict=True):
        own = "".join(c for c in result + summed if c in letters)
        missing = [i for i, c in enumerate(result + summed) if c not in letters]
        ordered = np.einsum(f"{letters}->{own}", operand)
        factors.append(np.expand_dims(ordered, missing))
    return _contracted(system, factors, len(summed))


def sums_nothing(equation: str) -> bool:
    """Tell whether an equation of one operand only reorders or selects entries."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    return bool(arrow) and set(left) == set(result)


def _contracted(system: System[Element], factors: Sequence[Host], summed: int) -> Host:
    shape = np.broadcast_shapes(*[factor.shape for factor in factors])
    factors = [np.broadcast_to(factor, shape) for factor in factors]
    out = np.empty(shape[: len(shape) - summed], dtype=object)
    times = partial(system.apply, "mul")
    for index in np.ndindex(*out.shape):
        columns = [factor[(*index, ...)].ravel() for factor in factors]
        out[index] = system.total(
            [reduce(times, each) for each in zip(*columns, strict=True)]
        )
    return out


# stacks of matrices, and vectors


def over_matrices(
    rule: Callable[..., tuple[object, ...]],
    *stacks: Host,
    empty: tuple[int, ...] | None = None,
) -> tuple[Host, ...]:
    """Return the results of a rule on one matrix of each stack, stacked; the leading
    dimensions broadcast. In a stack of none the one result has the shape ``empty``."""
    lead = np.broadcast_shapes(*[stack.shape[:-2] for stack in stacks])
    stacks = tuple([np.broadcast_to(s, (*lead, *s.shape[-2:])) for s in stacks])
    found = [rule(*[stack[at] for stack in stacks]) for at in np.ndindex(*lead)]
    if not found and empty is not None:
        return (np.empty((*lead, *empty), dtype=object),)
    if not found:
        raise KindError("a stack of no matrices has no formula")
    results = [list(map(boxed, parts)) for parts in zip(*found, strict=True)]
    return tuple([np.stack(r).reshape((*lead, *r[0].shape)) for r in results])


def _square(a: Host) -> int:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"a square matrix is needed, not shape {a.shape}")
    return int(a.shape[-1])


def _each(system: System[Element], name: str, *operands: Host | Element) -> Host:
    count = len(operands)
    run = np.frompyfunc(lambda *es: system.apply(name, *es), count, 1)
    found: Host = run(*[o if isinstance(o, np.ndarray) else boxed(o) for o in operands])
    return found


def _zeros(system: System[Element], *shape: int) -> Host:
    return np.full(shape, system.lift(0), dtype=object)


def _length(system: System[Element], vector: Host) -> Element:
    return system.apply("sqrt", inner_product(system, vector, vector))


def _turned_like(system: System[Element], vector: Host, like: Host | Raw) -> Host:
    """Return a vector, or its negative if its product with ``like`` is negative."""
    if float(floats(system, vector) @ like) < 0:
        return _each(system, "neg", vector)
    return vector


def _unit_vectors(system: System[Element], vectors: Host) -> Host:
    """Return unit vectors whose entries count as rounded as the number 1 is."""
    return _each(system, "part", vectors, system.lift(1))


def _refuse_large(name: str, what: str, size: int) -> None:
    if size > MAX_SIZE:
        raise KindError(f"{name}: {what} are computed exactly of up to {MAX_SIZE} rows "
                        f"or columns, not of {size}")  # fmt: skip


# triangles


def _eliminated(
    system: System[Element], work: Host, pick: Callable[[Host], int]
) -> Iterator[tuple[int, int]]:
    """Yield each pivot's row and the one it came from, and then clear its column below,
    where ``work`` gets the factors by which rows were subtracted. Further columns may
    stand to its right; ``pick`` finds the pivot among a column's entries."""
    for k in range(min(work.shape)):
        p = k + pick(work[k:, k])
        work[[k, p]] = work[[p, k]]
        yield k, p
        if system.is_zero(work[k, k]):
            continue
        for i in range(k + 1, work.shape[0]):
            work[i, k] = system.apply("div", work[i, k], work[k, k])
            for j in range(k + 1, work.shape[1]):
                step = system.apply("mul", work[i, k], work[k, j])
                work[i, j] = system.apply("sub", work[i, j], step)


def _undecided(system: System[Element], column: Host) -> int:
    sizes = abs(floats(system, column)).tolist()
    return max(range(len(sizes)), key=sizes.__getitem__)


def lu(system: System[Element], m: Host) -> tuple[Host, Host]:
    """Return both triangles in one matrix, and the pivot rows, counted from 1."""

    def pick(column: Host) -> int:
        sizes = list(_each(system, "abs", column))
        best = largest(system, sizes)
        return next(i for i, size in enumerate(sizes) if size is best)

    work = m.copy()
    pivots = [p + 1 for _, p in _eliminated(system, work, pick)]
    return work, np.array(pivots, dtype=np.int32)


def determinant(system: System[Element], a: Host) -> Host:
    n = _square(a)

    def rule(m: Host) -> tuple[Element]:
        if n <= MAX_COFACTOR_SIZE:
            return (_cofactors(system, m),)
        work, det = m.copy(), system.lift(1)
        for k, p in _eliminated(system, work, partial(_undecided, system)):
            if system.is_zero(work[k, k]):
                # It is 0, but through the expansion of the rest it has its derivatives.
                rest = _cofactors(system, work[k:, k:])
                return (system.apply("mul", det, rest),)
            det = det if p == k else system.apply("neg", det)
            det = system.apply("mul", det, work[k, k])
        return (det,)

    return over_matrices(rule, a, empty=())[0]


def _cofactors(system: System[Element], m: Host) -> Element:
    """Return the determinant, expanded along the first row without a division."""
    n = m.shape[0]
    if n == 0:
        return system.lift(1)
    if n == 1:
        only: Element = m[0, 0]
        return only
    parts = []
    for j in range(n):
        minor = _cofactors(system, np.delete(m[1:], j, axis=1))
        part = system.apply("mul", m[0, j], minor)
        parts.append(system.apply("neg", part) if j % 2 else part)
    return system.total(parts)


def solve(system: System[Element], a: Host, b: Host) -> Host:
    """Return the solution of ``a @ x = b``; the leading dimensions broadcast."""
    n = _square(a)
    if b.ndim < 2 or b.shape[-2] != n:
        raise ValueError(f"solve: {a.shape} and {b.shape} do not fit")

    def rule(m: Host, right: Host) -> tuple[Host]:
        if n <= MAX_COFACTOR_SIZE:
            return (_cramer(system, m, right),)
        work = np.concatenate([m, right], axis=1)
        for k, _ in _eliminated(system, work, partial(_undecided, system)):
            if system.is_zero(work[k, k]):
                raise ValueError("Singular matrix")
        return (_substituted(system, work[:, :n], work[:, n:], True, False),)

    return over_matrices(rule, a, b, empty=b.shape[-2:])[0]


def solve_triangle(
    system: System[Element], a: Host, b: Host, upper: bool, unit: bool
) -> Host:
    """Return the solution for a triangular matrix, with ones on its diagonal if
    ``unit``; the leading dimensions broadcast."""
    rule = lambda m, right: (_substituted(system, m, right, upper, unit),)
    return over_matrices(rule, a, b, empty=b.shape[-2:])[0]


def _substituted(
    system: System[Element], a: Host, b: Host, upper: bool, unit: bool
) -> Host:
    n = a.shape[0]
    x = np.empty(b.shape, dtype=object)
    for i in range(n)[:: -1 if upper else 1]:
        done = slice(i + 1, n) if upper else slice(0, i)
        for j in range(b.shape[1]):
            known = inner_product(system, a[i, done], x[done, j])
            x[i, j] = system.apply("sub", b[i, j], known)
            if not unit:
                x[i, j] = system.apply("div", x[i, j], a[i, i])
    return x


def _cramer(system: System[Element], m: Host, right: Host) -> Host:
    n = m.shape[0]
    det = _cofactors(system, m)
    if system.is_zero(det):
        raise ValueError("Singular matrix")
    adjugate = np.empty((n, n), dtype=object)
    for i, j in product(range(n), range(n)):
        minor = _cofactors(system, np.delete(np.delete(m, i, axis=0), j, axis=1))
        adjugate[j, i] = system.apply("neg", minor) if (i + j) % 2 else minor
    return _each(system, "div", matmul(system, adjugate, right), det)


def symmetric(system: System[Element], a: Host) -> Host:
    """Return the symmetric part of matrices that are symmetric up to rounding: through
    it a function that reads one triangle has the gradient that PyTorch gives."""
    _square(a)
    found = a.copy()
    half = system.lift(Fraction(1, 2))
    for *at, i, j in np.ndindex(*a.shape):
        if i <= j:
            continue
        low, up = a[*at, i, j], a[*at, j, i]
        gap = system.apply("sub", low, up)
        room = abs(system.value(low)) * MAX_ASYMMETRY
        if not system.nearest(gap, 0) and abs(system.value(gap)) > room:
            raise KindError(
                "of this matrix, which is not symmetric, one triangle is read, and its "
                "gradient is that of a symmetric matrix, as PyTorch's"
            )
        system.fixed(gap, 0)
        mean = system.apply("mul", half, system.apply("add", low, up))
        found[*at, i, j] = found[*at, j, i] = mean
    return found


def cholesky(system: System[Element], a: Host) -> Host:
    """Return the lower factor, computed from the lower triangle of ``a``."""
    n = _square(a)

    def rule(m: Host) -> tuple[Host]:
        low = _zeros(system, n, n)
        for i in range(n):
            for j in range(i + 1):
                known = inner_product(system, low[i, :j], low[j, :j])
                rest = system.apply("sub", m[i, j], known)
                if i != j:
                    low[i, j] = system.apply("div", rest, low[j, j])
                elif system.value(rest) > 0:
                    low[i, i] = system.apply("sqrt", rest)
                else:
                    raise ValueError("the matrix is not positive definite")
        return (low,)

    return over_matrices(rule, a, empty=(n, n))[0]


# orthogonal factors


def qr(system: System[Element], m: Host, mode: str = "reduced") -> tuple[Host, Host]:
    """Return the factors q and r by Householder's reflections, with LAPACK's signs."""
    rows, columns = m.shape
    k = min(rows, columns)
    r, q = m.copy(), _zeros(system, rows, rows)
    np.fill_diagonal(q, system.lift(1))
    for i in range(k):
        if all(_may_vanish(system, each) for each in r[i:, i]):
            # What follows depends on this column's direction, which it does not have.
            for each in (*r[i:, i], *m[:, i + 1 :].flat):
                system.kink(each, LOWER_RANK)
            continue
        if not np.any(floats(system, r[i + 1 :, i])):
            continue
        size = _length(system, r[i:, i])
        if system.compare(">=", r[i, i], system.lift(0)):
            size = system.apply("neg", size)
        v = r[i:, i].copy()
        v[0] = system.apply("sub", v[0], size)
        square = inner_product(system, v, v)
        twice = system.apply("div", system.lift(2), square)
        for part in (r[i:], q[i:]):
            along = matmul(system, v[np.newaxis], part)[0]
            along = _each(system, "mul", along, twice)
            part[:] = _each(system, "sub", part,
                            _each(system, "mul", v[:, np.newaxis], along))  # fmt: skip
        r[i + 1 :, i] = _zeros(system, rows - i - 1)
    kept = rows if mode == "complete" else k
    for i in range(1, rows):
        r[i, : min(i, columns)] = system.lift(0)
    return q.T[:, :kept].copy(), r[:kept].copy()


# eigenvalues and singular values


def eigh(system: System[Element], m: Host) -> tuple[Host, Host]:
    """Return the eigenvalues, rising, and eigenvectors of a symmetric matrix."""
    n = m.shape[0]
    _refuse_large("linalg.eigh", "eigenvalues", n)
    like = NUMPY.eigh_factors(floats(system, m))[1]
    if n < FORMULA_SIZE:
        sign = int(like.sum()) if n else 1
        return m.reshape(n).copy(), np.full((n, n), system.lift(sign), dtype=object)
    if n == FORMULA_SIZE:
        values, vectors = _of_two(system, m, like)
    else:
        values = _eigenvalues(system, m)
        vectors = np.stack(_vectors(system, m, values, like), 1)
    return values, _unit_vectors(system, vectors)


def _each_place(
    system: System[Element], name: str, count: int, *given: Element
) -> Host:
    """Return what a function of a matrix's entries gives at each of its places."""
    places = map(system.lift, range(count))
    found = [system.apply(name, place, *given) for place in places]
    return np.array(found, dtype=object)


def _eigenvalues(system: System[Element], m: Host) -> Host:
    triangle = m[np.tril_indices(len(m))]
    return _each_place(system, "eigenvalue", len(m), *triangle)


def _singular_values(system: System[Element], m: Host, gram: Host) -> Any:
    """Return the singular values of ``m``, falling; ``gram`` is ``m.T @ m``. Those of a
    small ``m`` are computed from it directly, so that their rounding is known."""
    if m.size > MAX_ENTRIES:
        return _each(system, "sqrt", _eigenvalues(system, gram)[::-1])
    columns = system.lift(len(gram))
    return _each_place(system, "singular_value", len(gram), columns, *m.reshape(-1))


def _vectors(
    system: System[Element], m: Host, values: Host, like: Host | Raw
) -> list[Host]:
    """Return the eigenvectors of a symmetric matrix for its eigenvalues, with the signs
    of the columns of ``like``; those of equal eigenvalues are unknown."""
    gaps = [system.apply("sub", b, a) for a, b in pairwise(values)]
    equal = [False, *[_may_vanish(system, gap) for gap in gaps], False]
    return [
        _lost(system, m, value) if equal[k] or equal[k + 1]
        else _vector(system, m, value, like[:, k])
        for k, value in enumerate(values)
    ]  # fmt: skip


def _may_vanish(system: System[Element], element: Element) -> bool:
    return system.nearest(element, 0) or system.is_zero(element)


def _lost(system: System[Element], m: Host, value: Element) -> Host:
    return np.full(len(m), system.apply("lost_vector", value), dtype=object)


def _vector(system: System[Element], m: Host, value: Element, like: Host | Raw) -> Any:
    """Return the unit eigenvector of a simple eigenvalue: its largest entry is set to 1
    or -1, the other rows give the rest, and the result is divided by its length."""
    largest = int(np.abs(like).argmax())
    rest = [i for i in range(len(m)) if i != largest]
    beside = m[np.ix_(rest, rest)].copy()
    for i in range(len(rest)):
        beside[i, i] = system.apply("sub", beside[i, i], value)
    given = system.lift(1 if like[largest] < 0 else -1)
    right = _each(system, "mul", m[rest][:, [largest]], given)
    vector = np.full(len(m), system.apply("neg", given), dtype=object)
    vector[rest] = solve(system, beside, right)[:, 0]
    return _each(system, "div", vector, _length(system, vector))


def _of_two(system: System[Element], m: Host, like: Host | Raw) -> tuple[Host, Host]:
    """Return the eigenvalues and eigenvectors of ``[[a, b], [b, d]]``. The values are
    ``(a + d)/2 - r`` and ``(a + d)/2 + r``, where ``r`` is ``hypot((a - d)/2, b)``."""
    apply, two = system.apply, system.lift(2)
    a, b, d = m[0, 0], m[0, 1], m[1, 1]
    mean = apply("div", apply("add", a, d), two)
    half = apply("div", apply("sub", a, d), two)
    r = _length(system, np.array([half, b], dtype=object))
    values = np.array([apply("sub", mean, r), apply("add", mean, r)], dtype=object)
    if floats(system, boxed(half)) >= 0:
        first = [b, apply("neg", apply("add", half, r))]
    else:
        first = [apply("sub", half, r), b]
    least = np.array(first, dtype=object)
    if not np.any(floats(system, least)):
        least = np.array([system.lift(1), system.lift(0)], dtype=object)
    least = _each(system, "div", least, _length(system, least))
    other = np.array([apply("neg", least[1]), least[0]], dtype=object)
    pairs = enumerate((least, other))
    vectors = [_turned_like(system, v, like[:, i]) for i, v in pairs]
    return values, np.stack(vectors, 1)


def svd(
    system: System[Element], m: Host, full_matrices: bool = True
) -> tuple[Host, Host, Host]:
    """Return u, the singular values, falling, and vh, by the eigenvectors of m.T@m."""
    rows, columns = m.shape
    if rows < columns:
        v, s, ut = svd(system, m.T, full_matrices)
        like = NUMPY.svd_factors(floats(system, m), False)[0]
        for i, vector in enumerate(ut):
            if _turned_like(system, vector, like[:, i]) is not vector:
                ut[i], v[:, i] = (_each(system, "neg", x) for x in (vector, v[:, i]))
        return ut.T, s, v.T
    _refuse_large("linalg.svd", "singular values", columns)
    if full_matrices and rows > columns:
        raise KindError("linalg.svd: vectors without a singular value have no formula "
                        "here; with full_matrices=False there are none")  # fmt: skip
    like = NUMPY.svd_factors(floats(system, m), False)[2]
    gram = matmul(system, m.T, m)
    if columns <= FORMULA_SIZE:
        squares, vectors = eigh(system, gram)
        found = [vectors[:, i] for i in reversed(range(columns))]
        turned = [_turned_like(system, each, like[i]) for i, each in enumerate(found)]
        s = _each(system, "sqrt", squares[::-1])
        vh = np.stack(turned) if turned else _zeros(system, 0, 0)
        u = _each(system, "div", matmul(system, m, vh.T), s[np.newaxis])
        return _unit_vectors(system, u), s, vh
    s = _singular_values(system, m, gram)
    right = _vectors(system, gram, _each(system, "mul", s, s), like.T)
    left = [
        _lost(system, m, value) if _may_vanish(system, value)
        else _each(system, "div", matmul(system, m, vector), value)
        for vector, value in zip(right, s, strict=True)
    ]  # fmt: skip
    u, vh = (
        _unit_vectors(system, np.stack(left, 1)),
        _unit_vectors(system, np.stack(right)),
    )
    return u, s, vh


def exponential(system: System[Element], m: Host) -> tuple[Host]:
    """Return the exponential: ``exp(t)*(cosh(r) + sinh(r)/r*(m - t))`` for two rows,
    where ``t`` is half the trace and ``-r*r`` the determinant of ``m - t``."""
    apply, n = system.apply, m.shape[0]
    if n <= 1:
        return (_each(system, "exp", m),)
    if n > FORMULA_SIZE:
        raise KindError("linalg.matrix_exp: exponentials are computed exactly of up to "
                        f"{FORMULA_SIZE} rows, not of {n}")  # fmt: skip
    two = system.lift(2)
    t = apply("div", apply("add", m[0, 0], m[1, 1]), two)
    half = apply("div", apply("sub", m[0, 0], m[1, 1]), two)
    square = apply("add", apply("mul", half, half), apply("mul", m[0, 1], m[1, 0]))
    if system.is_zero(square):
        raise KindError(
            "linalg.matrix_exp: exponentials are computed exactly of "
            "matrices with two eigenvalues, and here they are equal"
        )
    grows = bool(floats(system, boxed(square)) > 0)
    r = apply("sqrt", square if grows else apply("neg", square))
    even = apply("cosh" if grows else "cos", r)
    odd = apply("div", apply("sinh" if grows else "sin", r), r)
    out = _each(system, "mul", m, odd)
    out[0, 0] = apply("add", even, apply("mul", odd, half))
    out[1, 1] = apply("sub", even, apply("mul", odd, half))
    return (_each(system, "mul", out, apply("exp", t)),)
