"""The algebra of matrices and vectors, by the heads of trees.

Invariant: as for products and sums, a rewrite is an identity that keeps the shape; one
that holds only where a function is defined, as log(det(X)), leaves the condition to the
decisions of the program.

    MatrixAlgebra(xp).rewritten(tree)     # 2 * A.T @ (A @ x - b)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .algebra import Algebra, Factors
from .tree import FILLED, LITERAL, Tree


class MatrixAlgebra(Algebra):
    """The rewriting of trees by the rules of matrix algebra."""

    # matrix products

    def _matmul_step(self, tree: Tree) -> Tree | None:
        scaled = self._scale_step(tree)
        if scaled is not None:
            return scaled
        a, b = tree.args
        if a.ndim == b.ndim == 1:
            for row, other in ((a, b), (b, a)):
                if self._is_unit(row):
                    return self._entry(other, row.args[1])
        if a.ndim > 2 or b.ndim > 2 or (a.ndim == b.ndim == 1):
            return None
        if self._is_eye(a) or self._is_eye(b):
            return self.operate("matmul", a, b)
        if a.ndim == 2 and b.ndim == 2:
            column, row = _vector_of(a, 1), _vector_of(b, 0)
            if column is not None and row is not None:
                return self.xp.word("outer", column, row)
            if b.head == "outer":
                return self.xp.word(
                    "outer", self.operate("matmul", a, b.args[0]), b.args[1]
                )
            if a.head == "outer":
                turned = self.operate("matmul", self.transposed(b), a.args[1])
                return self.xp.word("outer", a.args[0], turned)
        if a.head == "outer" and b.ndim == 1:
            dot = self.operate("matmul", a.args[1], b)
            return self.product(Factors(1.0, {dot: 1, a.args[0]: 1}))
        if a.ndim == 1:
            return self.operate("matmul", self.transposed(b), a)
        chain = self.chain(tree)
        for at in range(len(chain) - 1):
            left, right = chain[at : at + 2]
            if left.head == right.head == "diag":
                both = Factors(1.0, {})
                for each in (left, right):
                    self.factors(each.args[0], 1, both)
                joined = self.operate("diag", self.product(both))
                return self.chained([*chain[:at], joined, *chain[at + 2 :]])
            if self._cancels(left, right):
                rest = [*chain[:at], *chain[at + 2 :]]
                return self.chained(rest) if rest else self.eye(len(tree.value))
        return self.chained(chain)

    def _cancels(self, left: Tree, right: Tree) -> bool:
        """Return whether two matrices are inverse to each other."""
        for one, other in ((left, right), (right, left)):
            if one.head == "inverse" and one.args[0] is other:
                return True
            if one.head == "T" and other.head == "T":
                return self._cancels(left.args[0], right.args[0])
        return False

    def _literal_step(self, tree: Tree) -> Tree | None:
        """Return the identity matrix, or the multiple of its row, that an array of
        numbers is."""
        if self._is_eye(tree):
            return self.eye(len(tree.value))
        places: Any = np.flatnonzero(tree.value) if tree.ndim == 1 else []
        if len(places) != 1:
            return None
        at = int(places[0])
        row = self._entry(self.eye(tree.size), at)
        return self.product(Factors(float(tree.value[at]), {row: 1}))

    def _is_unit(self, tree: Tree) -> bool:
        """Return whether a tree is a row of the identity matrix, by its number."""
        row = tree.head == "getitem" and type(tree.args[1]) is int
        return row and self._is_eye(tree.args[0])

    def _entry(self, tree: Tree, at: int) -> Tree:
        return self.xp.build("getitem", (tree, at), {}, tree.value[at])

    def _entry_step(self, tree: Tree) -> Tree | None:
        """Return an entry of a vector, its place written as a number."""
        vector, index = tree.args
        if vector.ndim != 1 or tree.ndim or not isinstance(index, tuple):
            return None
        at = [each for each in index if isinstance(each, int)]
        return self._entry(vector, at[0] % vector.size) if at else None

    def _placed_step(self, tree: Tree) -> Tree | None:
        """Return a number among zeros as a multiple of a row of the identity matrix."""
        zeros, number, _, at = tree.args
        if tree.ndim != 1 or zeros.head != FILLED or zeros.args[0]:
            return None
        row = self._entry(self.eye(tree.size), at % tree.size)
        return self.product(Factors(1.0, {number: 1, row: 1}))

    def product(self, found: Factors) -> Tree:
        """Return the tree of a product; of a vector beside a row of the identity matrix
        only the entry there counts."""
        for row, power in found.powers.items():
            if power != 1 or not self._is_unit(row):
                continue
            powers: dict[Tree, float] = {row: 1}
            for each, p in found.powers.items():
                if each is not row:
                    inside = each.shape == row.shape
                    part = self._entry(each, row.args[1]) if inside else each
                    powers[part] = powers.get(part, 0) + p
            return super().product(Factors(found.number, powers))
        return super().product(found)

    def _diagonal_step(self, tree: Tree) -> Tree | None:
        """Return a diagonal matrix with numbers in front."""
        (inner,) = tree.args
        if inner.ndim != 1:
            return None
        found = self.factors(inner)
        arrays = {t: p for t, p in found.powers.items() if t.ndim}
        scalars = {t: p for t, p in found.powers.items() if not t.ndim}
        core = self.product(Factors(1.0, arrays))
        if core.shape != inner.shape or (found.number == 1 and not scalars):
            return None
        ones = core.head == FILLED and core.args[0] == 1
        matrix = self.eye(core.size) if ones else self.xp.word("diag", core)
        return self.product(Factors(found.number, {**scalars, matrix: 1}))

    def _transpose_step(self, tree: Tree) -> Tree | None:
        return self.transposed(tree.args[0])

    # sums of entries

    def _total_step(self, tree: Tree) -> Tree | None:
        """Return a sum of entries with scalars in front, or as a product of vectors."""
        (inner,), params = tree.args, tree.params
        if self._is_unit(inner):
            return self.xp.number(1.0)
        found = self.factors(inner)
        scalars = {t: p for t, p in found.powers.items() if not t.ndim}
        if found.number != 1 or scalars:
            rest = {t: p for t, p in found.powers.items() if t.ndim}
            core = self.product(Factors(1.0, rest))
            if core.shape == inner.shape:
                total = self._total(core, tree)
                return self.product(Factors(found.number, {**scalars, total: 1}))
        if inner.ndim == 2 and not params and len(tree.args) == 1:
            eyes = [t for t, p in found.powers.items() if p == 1 and self._is_eye(t)]
            if eyes:
                rest = {t: p for t, p in found.powers.items() if t is not eyes[0]}
                core = self.product(Factors(found.number, rest))
                if core.head == "outer":
                    return self.operate("matmul", *core.args)
                if core.shape == inner.shape:
                    return self.xp.word("trace", core)
        if inner.ndim == 1 and not params and len(tree.args) == 1:
            powers = [(t, p) for t, p in found.powers.items()]
            if len(powers) == 2 and all(
                p == 1 and t.shape == inner.shape and t.head != FILLED
                for t, p in powers
            ):
                return self.operate("matmul", powers[0][0], powers[1][0])
        return None

    def _total(self, inner: Tree, like: Tree) -> Tree:
        with np.errstate(all="ignore"):
            value = np.asarray(inner.value.sum()) if not like.params else like.value
        return self.xp.build("sum", (inner, *like.args[1:]), like.params, value)

    def _root_step(self, tree: Tree) -> Tree | None:
        """Return the norm that the root of a sum of squares is."""
        (inner,) = tree.args
        if inner.head == "sum" and not inner.params and len(inner.args) == 1:
            (squares,) = inner.args
            if squares.head == "square" and squares.ndim:
                return self.xp.word("norm", squares.args[0])
        return None

    def _dot_step(self, tree: Tree) -> Tree:
        return self.operate("matmul", *tree.args)

    def _solve_step(self, tree: Tree) -> Tree | None:
        """Return the solution for one vector, not for a matrix of one column."""
        column = _vector_of(tree.args[1], 1)
        if column is None or tree.params:
            return None
        solution = self.xp.word("solve", tree.args[0], column)
        return self.xp.word("unsqueeze", solution, 1)

    def _reshape_step(self, tree: Tree) -> Tree | None:
        if not tree.ndim and tree.args[0].shape == (1,):
            found = self.factors(tree.args[0])
            numbers = {t: p for t, p in found.powers.items() if t.head != FILLED}
            return self.product(Factors(found.number, numbers))
        for dim in (0, 1):
            vector = _vector_of(tree.args[0], dim)
            if vector is not None and vector.shape == tree.shape:
                return vector
        return None

    def _expand_step(self, tree: Tree) -> Tree | None:
        """Return a repeated number or vector as a product with ones."""
        inner = tree.args[0]
        if not inner.ndim:
            ones = self.xp.filled(tree.shape, 1.0)
            return self.product(Factors(1.0, {inner: 1, ones: 1}))
        if tree.ndim != 2:
            return None
        column = _vector_of(inner, 1)
        if column is not None:
            return self.xp.word("outer", column, self.xp.filled(tree.shape[1:], 1.0))
        row = inner if inner.ndim == 1 else _vector_of(inner, 0)
        if row is None:
            return None
        return self.xp.word("outer", self.xp.filled(tree.shape[:1], 1.0), row)

    def _where_step(self, tree: Tree) -> Tree | None:
        """Return a choice by the sign of an operand, not of what a function makes."""
        mask, a, b = tree.args
        if mask.head == "le" and mask.args[0].head == "relu":
            positive = self.xp.operate("gt", mask.args[0].args[0], mask.args[1])
            return self.xp.build("where", (positive, b, a), {}, tree.value)
        if mask.head == "lt" and mask.args[0].head == "part" and not mask.value.any():
            return b if _sign_of_det(mask.args[0]) is not None else None
        return None

    def _sign_step(self, tree: Tree) -> Tree | None:
        """Return the condition that a determinant is not positive."""
        part = tree.args[0]
        if part.head != "part" or part.args[0].head != "slogdet":
            return None
        det = self.xp.word("det", *part.args[0].args)
        return self.xp.operate("le", det, self.xp.number(0.0))

    def _mean_step(self, tree: Tree) -> Tree | None:
        """Return a mean with numbers in front, of the part that is no number."""
        (inner, *dims), params = tree.args, tree.params
        if dims or params:
            return None
        found = self.factors(inner)
        if found.number != 1:
            number, found.number = found.number, 1.0
            rest = self._mean(self.product(found))
            return self.product(Factors(number, {rest: 1}))
        terms = [*self.terms(inner)] if inner.head in ("add", "sub") else []
        plain = [(n, t) for n, t in terms if not t.ndim]
        arrays = {t: n for n, t in terms if t.ndim}
        if not plain or not arrays:
            return None
        total = {self._mean(self._added(arrays)): 1.0}
        for n, t in plain:
            total[t] = total.get(t, 0) + n
        total = {t: n for t, n in total.items() if n}
        return self._added(total) if total else self.xp.number(0.0)

    def _mean(self, inner: Tree) -> Tree:
        return self.xp.build("mean", (inner,), {}, np.asarray(inner.value.mean()))

    def _any_step(self, tree: Tree) -> Tree | None:
        return tree.args[0] if not tree.args[0].ndim else None

    def _exp_step(self, tree: Tree) -> Tree | None:
        """Return the softmax that the exponential of its logarithm is."""
        (inner,) = tree.args
        if inner.head == "log_softmax":
            return self.xp.word("softmax", *inner.args, **inner.params)
        if inner.head != "sub" or inner.args[1].head != "logsumexp":
            return None
        total = inner.args[1]
        if total.args[0] is inner.args[0] and inner.ndim == 1:
            return self.xp.word("softmax", *total.args[:2])
        return None


MatrixAlgebra.steps = {
    **dict.fromkeys(
        ("mul", "div", "neg", "square", "pow", "reciprocal"),
        MatrixAlgebra._product_step,
    ),
    **dict.fromkeys(("add", "sub"), MatrixAlgebra._sum_step),
    "matmul": MatrixAlgebra._matmul_step,
    "outer": MatrixAlgebra._scale_step,
    "T": MatrixAlgebra._transpose_step,
    "diag": MatrixAlgebra._diagonal_step,
    "sum": MatrixAlgebra._total_step,
    "sqrt": MatrixAlgebra._root_step,
    "exp": MatrixAlgebra._exp_step,
    "dot": MatrixAlgebra._dot_step,
    "mean": MatrixAlgebra._mean_step,
    "solve": MatrixAlgebra._solve_step,
    "where": MatrixAlgebra._where_step,
    "expand": MatrixAlgebra._expand_step,
    **dict.fromkeys(("isinf", "lt"), MatrixAlgebra._sign_step),
    **dict.fromkeys(("reshape", "squeeze"), MatrixAlgebra._reshape_step),
    **dict.fromkeys(("any", "all"), MatrixAlgebra._any_step),
    "getitem": MatrixAlgebra._entry_step,
    "select_scatter": MatrixAlgebra._placed_step,
    LITERAL: MatrixAlgebra._literal_step,
}


def _vector_of(tree: Tree, dim: int) -> Tree | None:
    """Return the vector that a matrix of one column, with ``dim`` 1, or of one row,
    with 0, was made of; else None."""
    if tree.head not in ("unsqueeze", "reshape") or tree.ndim != 2:
        return None
    vector: Tree = tree.args[0]
    return vector if vector.ndim == 1 and tree.shape[dim] == 1 else None


def _sign_of_det(tree: Tree) -> Tree | None:
    """Return the matrix whose determinant's sign a tree is, else None."""
    several, position = tree.args
    return several.args[0] if several.head == "slogdet" and not position else None
