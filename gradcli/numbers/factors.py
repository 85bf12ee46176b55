"""Factors of matrices of elements.

Invariant: every entry is a formula of the matrix's entries, without an iteration that
has to end somewhere: eigenvalues and singular values have one up to two of them. Which
sign a vector has, and which rows are exchanged, is decided by the values, as the
engine's library decides it.

    values, vectors = eigh(Numbers(), data)     # of one matrix
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine import NUMPY
from ..engine.raw import Host, Raw
from ..ops.checks import KindError
from .arrays import boxed
from .balls import to_float
from .decided import largest
from .matrices import inner_product, matmul
from .system import Element, System

MAX_SIZE = 2
"""Of how many eigenvalues there is a formula that needs no complex numbers."""


def over_matrices(
    rule: Callable[[Host], tuple[Host, ...]], a: Host
) -> tuple[Host, ...]:
    """The results of ``rule`` on each matrix of a stack, stacked."""
    lead = a.shape[:-2]
    found = [rule(a[index]) for index in np.ndindex(*lead)]
    if not found:
        raise KindError("a stack of no matrices has no formula")
    return tuple([
        np.stack(parts).reshape(*lead, *parts[0].shape)
        for parts in zip(*found, strict=True)
    ])  # fmt: skip


def floats(system: System[Element], matrix: Host) -> Host:
    """The values of elements, as the engine would have them."""
    rounded = [to_float(system.value(e)) for e in matrix.reshape(-1)]
    return np.array(rounded, dtype=np.float64).reshape(matrix.shape)


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
    """A vector, or its opposite if that lies on the side of ``like``."""
    if float(floats(system, vector) @ like) < 0:
        return _each(system, "neg", vector)
    return vector


# triangles


def lu(system: System[Element], m: Host) -> tuple[Host, Host]:
    """Both triangles in one matrix, and the rows that were exchanged."""
    work, pivots = m.copy(), []
    for k in range(min(m.shape)):
        sizes = list(_each(system, "abs", work[k:, k]))
        best = largest(system, sizes)
        p = k + next(i for i, size in enumerate(sizes) if size is best)
        pivots.append(p + 1)
        work[[k, p]] = work[[p, k]]
        if system.is_zero(work[k, k]):
            continue
        for i in range(k + 1, m.shape[0]):
            work[i, k] = system.apply("div", work[i, k], work[k, k])
            for j in range(k + 1, m.shape[1]):
                step = system.apply("mul", work[i, k], work[k, j])
                work[i, j] = system.apply("sub", work[i, j], step)
    return work, np.array(pivots, dtype=np.int32)


def substituted(
    system: System[Element], a: Host, b: Host, upper: bool, unit: bool
) -> Host:
    """The solution of a triangular system."""
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


# orthogonal factors


def qr(system: System[Element], m: Host, complete: bool) -> tuple[Host, Host]:
    """By Householder's reflections, with the signs that LAPACK gives them."""
    rows, columns = m.shape
    k = min(rows, columns)
    r, q = m.copy(), _zeros(system, rows, rows)
    np.fill_diagonal(q, system.lift(1))
    for i in range(min(k, rows - 1)):
        below = r[i + 1 :, i]
        if not np.any(floats(system, below)):
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
    kept = rows if complete else k
    for i in range(1, rows):
        r[i, : min(i, columns)] = system.lift(0)
    return q.T[:, :kept].copy(), r[:kept].copy()


# eigenvalues and singular values


def eigh(system: System[Element], m: Host) -> tuple[Host, Host]:
    """Of a symmetric matrix, the least first."""
    n = m.shape[0]
    if n > MAX_SIZE:
        raise KindError("linalg.eigh: the eigenvalues of a matrix of more than "
                        f"{MAX_SIZE} rows have no formula here")  # fmt: skip
    like = NUMPY.eigh_factors(floats(system, m))[1]
    if n < MAX_SIZE:
        sign = int(like.sum()) if n else 1
        return m.reshape(n).copy(), np.full((n, n), system.lift(sign), dtype=object)
    return _of_two(system, m, like)


def _of_two(system: System[Element], m: Host, like: Host | Raw) -> tuple[Host, Host]:
    """Of ``[[a, b], [b, d]]``: the mean of ``a`` and ``d`` with ``r`` below and above,
    where ``r`` is the length of half their difference and ``b``."""
    apply, two = system.apply, system.lift(2)
    a, b, d = m[0, 0], m[0, 1], m[1, 1]
    mean = apply("div", apply("add", a, d), two)
    half = apply("div", apply("sub", a, d), two)
    r = _length(system, np.array([half, b], dtype=object))
    values = np.array([apply("sub", mean, r), apply("add", mean, r)], dtype=object)
    if to_float(system.value(half)) >= 0:
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
    system: System[Element], m: Host, full_matrices: bool
) -> tuple[Host, Host, Host]:
    """From the eigenvalues of ``m.T @ m``; the largest singular value first."""
    rows, columns = m.shape
    if rows < columns:
        v, s, ut = svd(system, m.T, full_matrices)
        like = NUMPY.svd_factors(floats(system, m), False)[0]
        for i, vector in enumerate(ut):
            if _turned_like(system, vector, like[:, i]) is not vector:
                ut[i], v[:, i] = (_each(system, "neg", x) for x in (vector, v[:, i]))
        return ut.T, s, v.T
    if columns > MAX_SIZE:
        raise KindError("linalg.svd: the singular values of a matrix of more than "
                        f"{MAX_SIZE} rows and columns have no formula "
                        "here")  # fmt: skip
    if full_matrices and rows > columns:
        raise KindError("linalg.svd: vectors without a singular value have no formula "
                        "here; with full_matrices=False there are none")  # fmt: skip
    like = NUMPY.svd_factors(floats(system, m), False)[2]
    squares, vectors = eigh(system, matmul(system, m.T, m))
    found = [vectors[:, i] for i in reversed(range(columns))]
    turned = [_turned_like(system, each, like[i]) for i, each in enumerate(found)]
    s = _each(system, "sqrt", squares[::-1])
    vh = np.stack(turned) if turned else _zeros(system, 0, 0)
    u = _each(system, "div", matmul(system, m, vh.T), s[np.newaxis])
    return u, s, vh


def exponential(system: System[Element], m: Host) -> Host:
    """``exp(t)*(cosh(r) + sinh(r)/r*(m - t))`` for half the trace ``t``, where ``r*r``
    is minus the determinant of ``m - t``; of a negative square cosines and sines."""
    apply, n = system.apply, m.shape[0]
    if n <= 1:
        return _each(system, "exp", m)
    if n > MAX_SIZE:
        raise KindError("linalg.matrix_exp: the exponential of a matrix of more than "
                        f"{MAX_SIZE} rows has no formula here")  # fmt: skip
    two = system.lift(2)
    t = apply("div", apply("add", m[0, 0], m[1, 1]), two)
    half = apply("div", apply("sub", m[0, 0], m[1, 1]), two)
    square = apply("add", apply("mul", half, half), apply("mul", m[0, 1], m[1, 0]))
    if system.is_zero(square):
        raise KindError("linalg.matrix_exp: the exponential of a matrix with equal "
                        "eigenvalues has no formula here")  # fmt: skip
    grows = to_float(system.value(square)) > 0
    r = apply("sqrt", square if grows else apply("neg", square))
    even = apply("cosh" if grows else "cos", r)
    odd = apply("div", apply("sinh" if grows else "sin", r), r)
    out = _each(system, "mul", m, odd)
    out[0, 0] = apply("add", even, apply("mul", odd, half))
    out[1, 1] = apply("sub", even, apply("mul", odd, half))
    return _each(system, "mul", out, apply("exp", t))
