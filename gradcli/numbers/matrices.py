"""Linear algebra on object arrays, in the arithmetic of their elements.

Invariant: no rounding but the elements' own; pivots are chosen by value, which is no
decision that a result depends on: the answer is the same for every pivot that is not
zero.

    determinant(Numbers(), data)    # over the last two dimensions
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from .balls import to_float
from .system import System

SMALL: Final = 3
"""Up to this size cofactors: short formulas with one denominator."""


def matmul(system: System, a: Any, b: Any) -> Any:
    """As `numpy.matmul`, vectors included; one sum per entry."""
    if not a.ndim or not b.ndim:
        raise ValueError("matmul: a scalar is no matrix")
    left = a[np.newaxis] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    inner = left.shape[-1]
    if inner != right.shape[-2]:
        raise ValueError(f"matmul: {a.shape} and {b.shape} do not fit")
    lead = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(left, (*lead, *left.shape[-2:]))
    right = np.broadcast_to(right, (*lead, *right.shape[-2:]))
    out = np.empty((*lead, left.shape[-2], right.shape[-1]), dtype=object)
    for place in np.ndindex(*out.shape):
        *batch, i, j = place
        row, column = left[(*batch, i)], right[(*batch, slice(None), j)]
        out[place] = inner_product(system, row, column)
    if b.ndim == 1:
        out = out[..., 0]
    if a.ndim == 1:
        out = out[..., 0] if b.ndim == 1 else out[..., 0, :]
    return out


def inner_product(system: System, row: Any, column: Any) -> Any:
    pairs = zip(row, column, strict=True)
    return system.total([system.apply("mul", p, q) for p, q in pairs])


def einsum(system: System, equation: str, operands: Sequence[Any]) -> Any:
    """Every entry is one sum of products over the letters that it does not name."""
    given, result = _letters(equation, operands)
    sizes: dict[str, int] = {}
    for letters, operand in zip(given, operands, strict=True):
        for letter, n in zip(letters, operand.shape, strict=True):
            if sizes.setdefault(letter, n) not in (n, 1) and n != 1:
                raise ValueError(f"einsum: {letter!r} is both {sizes[letter]} and {n}")
            sizes[letter] = max(sizes[letter], n)
    summed = [letter for letter in sizes if letter not in result]
    out = np.empty(tuple(sizes[letter] for letter in result), dtype=object)
    for place in np.ndindex(*out.shape):
        at = dict(zip(result, place, strict=True))
        parts = []
        for rest in product(*(range(sizes[letter]) for letter in summed)):
            at.update(zip(summed, rest, strict=True))
            parts.append(_entry_product(system, given, operands, at))
        out[place] = system.total(parts)
    return out


def sums_nothing(equation: str) -> bool:
    """Whether one operand's entries are only seen in another order."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    return bool(arrow) and set(left) == set(result)


def _entry_product(
    system: System, given: list[str], operands: Sequence[Any], at: dict[str, int]
) -> Any:
    result = system.lift(1)
    for letters, operand in zip(given, operands, strict=True):
        place = tuple(
            at[letter] if n > 1 else 0
            for letter, n in zip(letters, operand.shape, strict=True)
        )
        result = system.apply("mul", result, operand[place])
    return result


def _letters(equation: str, operands: Sequence[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, the ellipsis spelled out."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    given = left.split(",")
    if len(given) != len(operands):
        raise ValueError(f"einsum: {len(given)} operands named, {len(operands)} given")
    named = [len(g.replace("...", "")) for g in given]
    widest = max(
        (o.ndim - n for g, n, o in zip(given, named, operands, strict=True)
         if "..." in g), default=0,
    )  # fmt: skip
    dots = "".join(chr(0x2460 + i) for i in range(widest))
    spelled = []
    for text, n, operand in zip(given, named, operands, strict=True):
        own = operand.ndim - n if "..." in text else 0
        spelled.append(text.replace("...", dots[widest - own :] if own else ""))
        if len(spelled[-1]) != operand.ndim:
            raise ValueError(f"einsum: {text!r} does not fit shape {operand.shape}")
    if arrow:
        return spelled, result.replace("...", dots)
    every = "".join(spelled)
    once = sorted({c for c in every if every.count(c) == 1 and c not in dots})
    return spelled, dots + "".join(once)


def _over_matrices(rule: Callable[..., Any], a: Any, tail: tuple[int, ...]) -> Any:
    lead = a.shape[:-2]
    out = np.empty((*lead, *tail), dtype=object)
    for place in np.ndindex(*lead):
        out[place] = rule(a[place], place)
    return out


def _square(a: Any) -> int:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"a square matrix is needed, not shape {a.shape}")
    return int(a.shape[-1])


def determinant(system: System, a: Any) -> Any:
    n = _square(a)
    if n <= SMALL:
        return _over_matrices(lambda m, at: _cofactors(system, m), a, ())
    return _over_matrices(lambda m, at: _eliminate(system, m)[1], a, ())


def _cofactors(system: System, m: Any) -> Any:
    """Expansion along the first row: no divisions, so no pivot can be zero."""
    n = m.shape[0]
    if n == 0:
        return system.lift(1)
    if n == 1:
        return m[0, 0]
    parts = []
    for j in range(n):
        minor = _cofactors(system, np.delete(m[1:], j, axis=1))
        part = system.apply("mul", m[0, j], minor)
        parts.append(system.apply("neg", part) if j % 2 else part)
    return system.total(parts)


def solve(system: System, a: Any, b: Any) -> Any:
    """``a @ x = b`` for matrices ``b``; the leading dimensions broadcast."""
    n = _square(a)
    if b.ndim < 2 or b.shape[-2] != n:
        raise ValueError(f"solve: {a.shape} and {b.shape} do not fit")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, (*lead, n, n))
    b = np.broadcast_to(b, (*lead, n, b.shape[-1]))

    def rule(m: Any, place: tuple[int, ...]) -> Any:
        if n <= SMALL:
            return _cramer(system, m, b[place])
        work = _eliminate(system, np.concatenate([m, b[place]], axis=1))[0]
        return _back_substitute(system, work, n)

    return _over_matrices(rule, a, (n, b.shape[-1]))


def _cramer(system: System, m: Any, right: Any) -> Any:
    """``adj(m) @ right / det(m)``."""
    n = m.shape[0]
    det = _cofactors(system, m)
    if system.is_zero(det):
        raise ValueError("Singular matrix")
    adjugate = np.empty((n, n), dtype=object)
    for i, j in product(range(n), range(n)):
        minor = _cofactors(system, np.delete(np.delete(m, i, axis=0), j, axis=1))
        adjugate[j, i] = system.apply("neg", minor) if (i + j) % 2 else minor
    top = matmul(system, adjugate, right)
    return np.frompyfunc(lambda e: system.apply("div", e, det), 1, 1)(top)


def _eliminate(system: System, matrix: Any) -> tuple[Any, Any]:
    """Upper triangular form with pivots by size, and the square part's determinant."""
    work = matrix.copy()
    n = work.shape[0]
    det = system.lift(1)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(to_float(system.value(work[i, k]))))
        if system.is_zero(work[p, k]):
            if work.shape[1] == n:
                return work, _vanishing(system, work, k, det)
            raise ValueError("Singular matrix")
        if p != k:
            work[[k, p]] = work[[p, k]]
            det = system.apply("neg", det)
        det = system.apply("mul", det, work[k, k])
        for i in range(k + 1, n):
            factor = system.apply("div", work[i, k], work[k, k])
            for j in range(k + 1, work.shape[1]):
                step = system.apply("mul", factor, work[k, j])
                work[i, j] = system.apply("sub", work[i, j], step)
    return work, det


def _vanishing(system: System, work: Any, k: int, det: Any) -> Any:
    """A column without a pivot: what is left has a zero determinant, whose
    derivatives are still those of its own expansion."""
    return system.apply("mul", det, _cofactors(system, work[k:, k:]))


def _back_substitute(system: System, work: Any, n: int) -> Any:
    width = work.shape[1] - n
    x = np.empty((n, width), dtype=object)
    for i in reversed(range(n)):
        for j in range(width):
            known = inner_product(system, work[i, i + 1 : n], x[i + 1 :, j])
            right = system.apply("sub", work[i, n + j], known)
            x[i, j] = system.apply("div", right, work[i, i])
    return x


def cholesky(system: System, a: Any) -> Any:
    """The lower factor, read from the lower triangle."""
    n = _square(a)

    def rule(m: Any, place: tuple[int, ...]) -> Any:
        low = np.full((n, n), system.lift(0), dtype=object)
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
        return low

    return _over_matrices(rule, a, (n, n))
