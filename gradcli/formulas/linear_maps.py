"""Matrices of linear maps that are written as trees.

Invariant: the matrix times the vector is the tree, whatever the vector's entries are; a
tree in which a part cannot be read as a linear map has none.

    matrix_of(xp.matmul(a, v * xp.cos(x)), v, algebra)      # A @ diag(cos(x))
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .algebra import Factors
from .matrix_algebra import MatrixAlgebra
from .programs import reachable
from .tree import Tree, below, constant

MAX_PARTS: Final = 300
"""Most parts of a tree that is read as a linear map."""


class NoLinearMap(Exception):
    """A signal that a tree is not read as a linear map of the vector."""


def matrix_of(tree: Tree, vector: Tree, algebra: MatrixAlgebra) -> Tree | None:
    """Return the matrix of a linear map of a vector to a vector, or the row of one to
    a number; None if the tree is not read as such a map."""
    if len([*reachable([tree])]) > MAX_PARTS:
        return None
    try:
        return LinearMaps(vector, algebra).matrix(algebra.rewritten(tree))
    except NoLinearMap:
        return None


class LinearMaps:
    """Readings of trees as linear maps of one vector."""

    def __init__(self, vector: Tree, algebra: MatrixAlgebra) -> None:
        self._vector = vector
        self._algebra = algebra
        self._xp = algebra.xp
        self._holding = {vector.serial: True}

    def matrix(self, tree: Tree, before: Factors | None = None) -> Tree:
        """Return the matrix of a map, times the factors of its entries ``before`` it.

        Raises:
            NoLinearMap: the tree is not read as a linear map.
        """
        head, args = tree.head, tree.args
        if not self._holds(tree):
            if constant(tree) and not args[0]:
                return self._xp.filled((*tree.shape, *self._vector.shape), 0.0)
            raise NoLinearMap
        if head in ("add", "sub"):
            terms = [*self._algebra.terms(tree)]
            found = [
                self._scaled(number, self._spread(term, tree, before))
                for number, term in terms
            ]
            total, *rest = found
            for each in rest:
                total = self._operate("add", total, each)
            return total
        if head in ("neg", "mul", "div"):
            return self._product(tree, before)
        if before is not None:
            return self._weighted(before, tree)
        if tree is self._vector:
            return self._algebra.eye(tree.size)
        if head == "matmul" or head == "dot":
            return self._matmul(*args)
        if head == "solve" and not self._holds(args[0]) and args[1].ndim == 1:
            inverse = self._xp.word("inverse", args[0])
            return self._operate("matmul", inverse, self.matrix(args[1]))
        if head == "where" and not self._holds(args[0]):
            return self._choice(tree)
        if head in ("sum", "mean") and len(args) == 1 and args[0].ndim == 1:
            ones = self._xp.filled(args[0].shape, 1.0)
            row = self._column(self.matrix(args[0]), ones)
            return self._scaled(1 / args[0].size if head == "mean" else 1.0, row)
        raise NoLinearMap

    def _product(self, tree: Tree, before: Factors | None) -> Tree:
        """Return the matrix of a product, all but one of whose factors are fixed."""
        found = self._algebra.factors(tree)
        inner = [t for t in found.powers if self._holds(t)]
        if len(inner) != 1 or found.powers[inner[0]] != 1:
            raise NoLinearMap
        (core,) = inner
        rest = {t: p for t, p in found.powers.items() if t is not core}
        weight = Factors(found.number, rest)
        if before is not None:
            weight.number *= before.number
            for each, power in before.powers.items():
                weight.powers[each] = weight.powers.get(each, 0) + power
        if core is tree:
            raise NoLinearMap
        return self.matrix(core, weight)

    def _spread(self, term: Tree, like: Tree, before: Factors | None) -> Tree:
        """Return the matrix of a term of a sum; a number is one for each entry."""
        if term.shape != like.shape:
            one = self._xp.filled(like.shape, 1.0)
            before = Factors(1.0, {}) if before is None else before
            before = Factors(before.number, {one: 1.0, **before.powers})
        if not self._holds(term):
            return self.matrix(term)
        return self.matrix(term, before)

    def _weighted(self, weight: Factors, tree: Tree) -> Tree:
        """Return the matrix of a map, times factors of the entries."""
        inner = self.matrix(tree)
        numbers = {t: p for t, p in weight.powers.items() if not t.ndim}
        arrays = {t: p for t, p in weight.powers.items() if t.ndim}
        plain = Factors(weight.number, numbers)
        if arrays:
            vector = self._algebra.product(Factors(1.0, arrays))
            if vector.ndim != 1 or tree.ndim > 1:
                raise NoLinearMap
            if not tree.ndim:
                inner = self._xp.word("outer", vector, inner)
            elif not (constant(vector) and vector.args[0] == 1):
                diagonal = self._xp.word("diag", vector)
                inner = self._operate("matmul", diagonal, inner)
        plain.powers[inner] = 1
        return self._algebra.product(plain)

    def _matmul(self, a: Tree, b: Tree) -> Tree:
        if self._holds(a) and self._holds(b):
            raise NoLinearMap
        if self._holds(b):
            if b.ndim != 1:
                raise NoLinearMap
            inner = self.matrix(b)
            return self._column(inner, a) if a.ndim == 1 else self._times(a, inner)
        if a.ndim != 1:
            raise NoLinearMap
        inner = self.matrix(a)
        if b.ndim == 1:
            return self._column(inner, b)
        return self._times(self._algebra.transposed(b), inner)

    def _choice(self, tree: Tree) -> Tree:
        """Return the matrix of a choice between a map and zero, entry by entry."""
        mask, *branches = tree.args
        total: Tree | None = None
        for at, branch in enumerate(branches):
            if not self._holds(branch):
                if constant(branch) and not branch.args[0]:
                    continue
                raise NoLinearMap
            ends = [self._xp.number(float(at == nr)) for nr in range(2)]
            value = np.where(mask.value, *[end.value for end in ends])
            chosen = self._xp.build("where", (mask, *ends), {}, value)
            part = self._weighted(Factors(1.0, {chosen: 1}), branch)
            total = part if total is None else self._operate("add", total, part)
        if total is None:
            raise NoLinearMap
        return total

    def _column(self, matrix: Tree, vector: Tree) -> Tree:
        """Return the transposed matrix times a vector."""
        return self._operate("matmul", self._algebra.transposed(matrix), vector)

    def _times(self, a: Tree, b: Tree) -> Tree:
        return self._operate("matmul", a, b)

    def _scaled(self, number: float, tree: Tree) -> Tree:
        return self._algebra.product(Factors(number, {tree: 1}))

    def _operate(self, name: str, *trees: Tree) -> Tree:
        return self._algebra.operate(name, *trees)

    def _holds(self, tree: Tree) -> bool:
        """Return whether the vector occurs in a tree."""
        known = self._holding
        for part in reachable([tree]):
            if part.serial not in known:
                known[part.serial] = any(known[p.serial] for p in below(part))
        return known[tree.serial]
