"""The algebra of matrices: trees are rewritten to shorter ones.

Numbers and factors of products are collected, like terms of sums are added, what
products have in common is taken out, and transposes are pushed down to names.

Invariant: a rewrite is an identity wherever both sides are defined; it keeps the shape.

    Algebra(xp).rewritten(tree)     # 2 * A.T @ (A @ x - b)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isclose
from typing import Any, ClassVar, Final

import numpy as np

from .dialect import LANGUAGE
from .namespace import TreeNamespace
from .programs import reachable
from .texts import Text
from .tree import FILLED, LITERAL, NUMBER, Tree, Unwritable, below

MAX_PASSES: Final = 12
"""Most times that all parts of a formula are rewritten."""

MAX_DECIMAL_CHARACTERS: Final = 6
"""Most characters of a number that is written as a decimal, not as a fraction."""

MAX_FACTORS: Final = 12
"""Most factors of a product that is multiplied out."""


@dataclass(slots=True)
class Factors:
    """A product: a number times powers of trees, elementwise.

    powers  exponent by tree, in the order of their first occurrence
    """

    number: float
    powers: dict[Tree, float]


class Algebra:
    """The rewriting of products and sums of trees; a subclass has further steps."""

    steps: ClassVar[Mapping[str, Callable[[Any, Tree], Tree | None]]] = {}
    """Functions that return a shorter tree, or None, by the head of a tree."""

    def __init__(self, xp: TreeNamespace) -> None:
        self.xp = xp
        self._lengths: dict[int, int] = {}

    def rewritten(self, tree: Tree) -> Tree:
        """Return an equal tree in its shortest form."""
        for _ in range(MAX_PASSES):
            before, tree = tree, self._passed(tree)
            if tree is before:
                break
        return tree

    def condition(self, tree: Tree) -> Tree:
        """Return a decision, rewritten, as a comparison that holds if it is one."""
        tree = self.rewritten(tree)
        opposite = {"le": "gt", "lt": "ge"}.get(tree.head)
        if opposite is None or tree.value.any():
            return tree
        return self.xp.operate(opposite, *tree.args)

    def _passed(self, root: Tree) -> Tree:
        """Return the tree with each part rewritten once, parts before their wholes."""
        made: dict[int, Tree] = {}
        for tree in reachable([root]):
            made[tree.serial] = self._step(self._with(tree, made))
        return made[root.serial]

    def _with(self, tree: Tree, made: Mapping[int, Tree]) -> Tree:
        """Return the tree with its parts replaced."""
        if all(made[part.serial] is part for part in below(tree)):
            return tree
        args = replaced(tree.args, made)
        params = {name: replaced(each, made) for name, each in tree.params.items()}
        return self.xp.build(tree.head, args, params, tree.value)

    def _step(self, tree: Tree) -> Tree:
        step = self.steps.get(tree.head)
        if step is None:
            return tree
        found = step(self, tree)
        if found is None or found.shape != tree.shape:
            return tree
        return found

    def length(self, tree: Tree) -> int:
        """Return the length of a tree's text, in characters; repeated parts count."""
        known = self._lengths
        for part in reachable([tree]):
            if part.serial not in known:
                try:
                    texts = {p.serial: Text("_" * known[p.serial]) for p in below(part)}
                    known[part.serial] = len(LANGUAGE.text(part, texts).written)
                except Unwritable:
                    known[part.serial] = 1000
        return known[tree.serial]

    def shortest(self, *trees: Tree | None) -> Tree:
        """Return the tree with the shortest text, the first of several."""
        return min((t for t in trees if t is not None), key=self.length)

    # elementwise products

    def factors(
        self, tree: Tree, power: float = 1, into: Factors | None = None
    ) -> Factors:
        """Return the factors of a tree, numbers and signs collected."""
        found = Factors(1.0, {}) if into is None else into
        head, args = tree.head, tree.args
        if head == NUMBER or (head == FILLED and args[0] not in (0, 1)):
            value = float(args[0])
            if value and not (value < 0 and power % 1):
                found.number *= float(value**power)
                if head == FILLED:
                    one = self.xp.filled(tree.shape, 1.0)
                    found.powers.setdefault(one, 1)
                return found
        elif head == "neg":
            if not power % 1:
                found.number *= -1.0 if power % 2 else 1.0
                return self.factors(args[0], power, found)
        elif head == "mul":
            if self._outer(tree) is None:
                self.factors(args[0], power, found)
                return self.factors(args[1], power, found)
        elif head == "div":
            self.factors(args[0], power, found)
            return self.factors(args[1], -power, found)
        elif head == "sub" and not power % 1:
            # One orientation of each difference, so that equal ones are the same: the
            # one that was there first.
            other = self.operate("sub", args[1], args[0])
            if other.serial < tree.serial:
                found.number *= -1.0 if power % 2 else 1.0
                tree = other
        elif head == "square":
            return self.factors(args[0], 2 * power, found)
        elif head == "reciprocal":
            return self.factors(args[0], -power, found)
        elif head == "pow" and args[1].head == NUMBER and not args[1].args[0] % 1:
            return self.factors(args[0], power * args[1].args[0], found)
        elif head == "reshape" and tree.shape == (1,) and not args[0].ndim:
            found.powers.setdefault(self.xp.filled((1,), 1.0), 1)
            return self.factors(args[0], power, found)
        elif head == "sqrt" and not power % 2:
            return self.factors(args[0], power / 2, found)
        elif head in ("matmul", "outer"):
            scaled = self._scaled(tree)
            found.number *= scaled.number**power
            for part, each in scaled.powers.items():
                found.powers[part] = found.powers.get(part, 0) + each * power
            return found
        found.powers[tree] = found.powers.get(tree, 0) + power
        return found

    def product(self, found: Factors) -> Tree:
        """Return the tree of a product."""
        number = found.number
        powers = {tree: power for tree, power in found.powers.items() if power}
        self._join(powers)
        powers = {tree: power for tree, power in powers.items() if power}
        if number < 0:
            for tree, power in powers.items():
                turned = self._turned(tree) if power == 1 else None
                if turned is not None:
                    powers = {turned if t is tree else t: p for t, p in powers.items()}
                    number = -number
                    break
        ones = [t for t in powers if t.head == FILLED and t.args[0] == 1]
        shape = np.broadcast_shapes(*[t.shape for t in powers]) if powers else ()
        for one in ones:
            rest = [t.shape for t in powers if t is not one]
            if rest and np.broadcast_shapes(*rest) == shape:
                del powers[one]
        ordered = sorted(powers, key=lambda tree: (tree.ndim, tree.serial))
        above = [self._power(t, powers[t]) for t in ordered if powers[t] > 0]
        under = [self._power(t, -powers[t]) for t in ordered if powers[t] < 0]
        over, divisor = _as_ratio(abs(number))
        if over != 1:
            above.insert(0, self.xp.number(over))
        if divisor != 1:
            under.insert(0, self.xp.number(divisor))
        top = self._times(above) if above else self.xp.number(1)
        result = self.operate("div", top, self._times(under)) if under else top
        return self.operate("neg", result) if number < 0 else result

    def _join(self, powers: dict[Tree, float]) -> None:
        """Write a quotient or product of two factors as the function that it is."""
        for tree in [*powers]:
            if powers.get(tree, 0) > 1 and _is_indicator(tree):
                powers[tree] = 1
            elif tree.head == "add" and powers.get(tree) == -1:
                self._join_logistic(powers, tree)
            elif tree.head == "exp" and powers.get(tree) == 1:
                (inner,) = tree.args
                opposite = self.product(Factors(-1.0, {inner: 1}))
                sigmoid = self.xp.word("sigmoid", opposite)
                total = self.xp.build("sum", (tree,), {}, np.asarray(tree.value.sum()))
                if powers.get(sigmoid, 0) >= 1:
                    del powers[tree]
                    powers[sigmoid] -= 1
                    joined = self.xp.word("sigmoid", inner)
                    powers[joined] = powers.get(joined, 0) + 1
                elif powers.get(total) == -1 and tree.ndim == 1:
                    del powers[tree], powers[total]
                    powers[self.xp.word("softmax", inner, 0)] = 1
            elif tree.head == "sign" and powers.get(tree) == 1:
                (inner,) = tree.args
                if powers.get(inner, 0) >= 1:
                    del powers[tree]
                    powers[inner] -= 1
                    size = self._build("abs", np.abs, inner)
                    powers[size] = powers.get(size, 0) + 1

    def _join_logistic(self, powers: dict[Tree, float], tree: Tree) -> None:
        """Write exp(u)/(exp(u) + 1) and 1/(exp(u) + 1) as values of the sigmoid."""
        parts = {part.head: part for part in tree.args}
        one, grown = parts.get(NUMBER), parts.get("exp")
        if one is None or grown is None or one.args[0] != 1:
            return
        inner = grown.args[0]
        if powers.get(grown) == 1:
            del powers[grown]
        else:
            inner = self.product(Factors(-1.0, {inner: 1}))
        del powers[tree]
        sigmoid = self.xp.word("sigmoid", inner)
        powers[sigmoid] = powers.get(sigmoid, 0) + 1

    def _power(self, tree: Tree, power: float) -> Tree:
        if power == 1:
            return tree
        if power == 2:
            return self._build("square", np.square, tree)
        if power == 0.5:
            return self._build("sqrt", np.sqrt, tree)
        return self.operate("pow", tree, self.xp.number(power))

    def _times(self, trees: Sequence[Tree]) -> Tree:
        result, *rest = trees
        for tree in rest:
            result = self.operate("mul", result, tree)
        return result

    def _turned(self, tree: Tree) -> Tree | None:
        """Return the opposite of a difference, also of one within a product."""
        if tree.head == "sub":
            return self.operate("sub", tree.args[1], tree.args[0])
        if tree.head in ("mul", "matmul", "outer", "diag"):
            for at, each in enumerate(tree.args):
                turned = self._turned(each)
                if turned is not None:
                    args = *tree.args[:at], turned, *tree.args[at + 1 :]
                    return self.operate(tree.head, *args)
        return None

    def _product_step(self, tree: Tree) -> Tree | None:
        outer = self._outer(tree)
        if outer is not None:
            return outer
        found = self.factors(tree)
        if any(t.head == NUMBER and not t.args[0] and p > 0
               for t, p in found.powers.items()):  # fmt: skip
            return self.xp.filled(tree.shape, 0.0)
        return self.shortest(self.product(found), self._multiplied_out(found))

    def _outer(self, tree: Tree) -> Tree | None:
        """Return the outer product of two vectors that a product is, else None."""
        if tree.head != "mul" or tree.ndim != 2:
            return None
        for column, row in (tree.args, tree.args[::-1]):
            if (
                column.head in ("unsqueeze", "reshape")
                and column.shape == (tree.shape[0], 1)
                and column.args[0].ndim == 1
                and row.ndim == 1
            ):
                return self.xp.word("outer", column.args[0], row)
        return None

    def _multiplied_out(self, found: Factors) -> Tree | None:
        """Return the product with one of its sums multiplied out; None without one."""
        for tree, power in found.powers.items():
            if power != 1 or tree.head not in ("add", "sub"):
                continue
            rest = {t: p for t, p in found.powers.items() if t is not tree}
            if not rest or len(rest) > MAX_FACTORS:
                continue
            total: Tree | None = None
            for sign, term in self.terms(tree):
                part = self.factors(term)
                part.number *= sign * found.number
                for other, p in rest.items():
                    part.powers[other] = part.powers.get(other, 0) + p
                made = self.product(part)
                total = made if total is None else self.operate("add", total, made)
            return total
        return None

    # sums

    def terms(self, tree: Tree, sign: float = 1) -> Iterator[tuple[float, Tree]]:
        """Yield the terms of a sum, each with the number before it."""
        waiting = [(sign, tree)]
        while waiting:
            sign, tree = waiting.pop()
            if tree.head in ("add", "sub"):
                other = sign if tree.head == "add" else -sign
                waiting += [(other, tree.args[1]), (sign, tree.args[0])]
            elif tree.head == "neg":
                waiting.append((-sign, tree.args[0]))
            else:
                found = self.factors(tree)
                number, found.number = found.number, 1.0
                yield sign * number, self.product(found)

    def _sum_step(self, tree: Tree) -> Tree | None:
        numbers: dict[Tree, float] = {}
        for number, term in self.terms(tree):
            numbers[term] = numbers.get(term, 0) + number
        numbers = {
            term: number
            for term, number in numbers.items()
            if number and not (term.head in (NUMBER, FILLED) and not term.args[0])
        }
        if not numbers:
            return self.xp.filled(tree.shape, 0.0)
        candidates = [self._added(numbers), self._factored(numbers)]
        expanded = self._expanded(numbers)
        if expanded is not None:
            candidates += [self._added(expanded), self._factored(expanded)]
        fitting = [c for c in candidates if c is not None and c.shape == tree.shape]
        return self.shortest(*fitting, tree)

    def _expanded(self, numbers: Mapping[Tree, float]) -> dict[Tree, float] | None:
        """Return the terms of a sum with its products multiplied out; None if none
        is a product with a sum."""
        made: dict[Tree, float] = {}
        changed = False
        for term, number in numbers.items():
            whole = self._multiplied_out(self.factors(term))
            changed = changed or whole is not None
            for n, part in self.terms(term if whole is None else whole):
                made[part] = made.get(part, 0) + n * number
        left = {term: number for term, number in made.items() if number}
        return left if changed and left else None

    def _added(self, numbers: Mapping[Tree, float]) -> Tree:
        """Return the sum of terms; one with a plus sign comes first if there is one."""
        ordered = sorted(numbers, key=lambda t: (numbers[t] < 0, t.head == "T"))
        total: Tree | None = None
        for term in ordered:
            number = numbers[term]
            if total is None:
                total = self.product(Factors(number, {term: 1}))
                continue
            turned = self._turned(term) if number < 0 else None
            if turned is not None:
                term, number = turned, -number
            part = self.product(Factors(abs(number), {term: 1}))
            total = self.operate("add" if number > 0 else "sub", total, part)
        assert total is not None
        return total

    def _factored(self, numbers: Mapping[Tree, float]) -> Tree | None:
        """Return a sum of products with what all have in common taken out; else
        None."""
        if len(numbers) < 2:
            return None
        first = next(iter(numbers))
        common = abs(numbers[first])
        if all(n < 0 for n in numbers.values()):
            common = -common
        if common != 1 and all(abs(n) == abs(common) for n in numbers.values()):
            plain = {term: n / common for term, n in numbers.items()}
            inner = self._sum_of(plain)
            return self.product(Factors(common, {inner: 1}))
        chains = {term: self.chain(term) for term in numbers}
        for at in (0, -1):
            ends = [chain[at] for chain in chains.values() if len(chain) > 1]
            if len(ends) < len(numbers) or any(end is not ends[0] for end in ends):
                continue
            rest = {
                self.chained(c[1:] if at == 0 else c[:-1]): numbers[term]
                for term, c in chains.items()
            }
            if len(rest) == len(numbers):
                inner = self._sum_of(rest)
                return self.chained([ends[0], inner] if at == 0 else [inner, ends[0]])
        if all(term.head == "outer" for term in numbers):
            for at in (0, 1):
                if len({term.args[at].serial for term in numbers}) == 1:
                    rest = {term.args[1 - at]: numbers[term] for term in numbers}
                    pair = [first.args[at], self._sum_of(rest)]
                    return self.xp.word("outer", *(pair if at == 0 else pair[::-1]))
        parts = {term: self.factors(term) for term in numbers}
        for shared, power in parts[first].powers.items():
            if all(part.powers.get(shared) == power for part in parts.values()):
                rest = {}
                for term, part in parts.items():
                    powers = {t: p for t, p in part.powers.items() if t is not shared}
                    rest[self.product(Factors(part.number, powers))] = numbers[term]
                if len(rest) == len(numbers):
                    inner = self._sum_of(rest)
                    return self.product(Factors(1.0, {shared: power, inner: 1}))
        return None

    def _sum_of(self, numbers: Mapping[Tree, float]) -> Tree:
        factored = self._factored(numbers)
        return self._added(numbers) if factored is None else factored

    # matrix products

    def chain(self, tree: Tree) -> list[Tree]:
        """Return the factors of a matrix product, one for anything else."""
        if tree.head != "matmul":
            return [tree]
        a, b = tree.args
        if a.ndim == 1 and b.ndim == 2:
            # A row times matrices: the same as the transposed ones times a column.
            return [*self.chain(self.transposed(b)), a]
        chain = self.chain(a) if a.ndim == 2 or b.ndim == 1 else [a]
        return [*chain, *self.chain(b)] if self._joins(a, b) else [a, b]

    def _joins(self, a: Tree, b: Tree) -> bool:
        return a.ndim <= 2 and b.ndim <= 2 and not (a.ndim == b.ndim == 1)

    def chained(self, chain: Sequence[Tree]) -> Tree:
        """Return the matrix product of factors."""
        result, *rest = chain
        for tree in rest:
            result = self.operate("matmul", result, tree)
        return result

    def _scaled(self, tree: Tree) -> Factors:
        """Return a product of matrices or vectors with its numbers and scalars as
        factors of their own."""
        result, rest = Factors(1.0, {}), []
        for each in tree.args:
            found = self.factors(each)
            arrays = {t: p for t, p in found.powers.items() if t.ndim}
            inner = self.product(Factors(1.0, arrays))
            if inner.shape != each.shape:
                rest.append(each)
                continue
            rest.append(inner)
            result.number *= found.number
            for part, power in found.powers.items():
                if not part.ndim:
                    result.powers[part] = result.powers.get(part, 0) + power
        result.powers[self.operate(tree.head, *rest)] = 1
        return result

    def _scale_step(self, tree: Tree) -> Tree | None:
        scaled = self._scaled(tree)
        if scaled.number == 1 and len(scaled.powers) == 1:
            return None
        return self.product(scaled)

    def _is_eye(self, tree: Tree) -> bool:
        return tree.head == "eye" or (
            tree.head == LITERAL
            and tree.ndim == 2
            and tree.shape[0] == tree.shape[1]
            and bool((tree.value == np.eye(len(tree.value))).all())
        )

    def eye(self, size: int) -> Tree:
        return self.xp.build("eye", (size,), {}, np.eye(size))

    def transposed(self, tree: Tree) -> Tree:
        """Return the transpose, pushed down to names and functions."""
        head, args = tree.head, tree.args
        if tree.ndim != 2:
            return tree
        if head == "T":
            return args[0]  # type: ignore[no-any-return]
        if head in ("eye", "diag"):
            return tree
        if head == "inverse":
            inner = self.transposed(args[0])
            return (
                tree
                if inner is args[0]
                else self.xp.build("T", (tree,), {}, tree.value.T)
            )
        if head == FILLED:
            return self.xp.filled(tree.shape[::-1], args[0])
        if head == "outer":
            return self.xp.word("outer", args[1], args[0])
        if head == "matmul" and all(a.ndim == 2 for a in args):
            return self.operate("matmul", *map(self.transposed, reversed(args)))
        plain = self.xp.build("T", (tree,), {}, tree.value.T)
        if head in ("add", "sub", "mul", "div", "neg") and all(
            a.ndim in (0, 2) for a in args
        ):
            pushed = self.operate(head, *map(self.transposed, args))
            return self.shortest(pushed, plain)
        return plain

    # making trees

    def operate(self, name: str, *trees: Tree) -> Tree:
        """Return the tree of an operator, of which only numbers are computed."""
        if all(tree.head == NUMBER for tree in trees):
            return self.xp.operate(name, *trees)
        if name == "matmul":
            for one, other in (trees, trees[::-1]):
                if self._is_eye(one):
                    return other
        with np.errstate(all="ignore"):
            value = _VALUES[name](*[tree.value for tree in trees])
        return self.xp.build(name, trees, {}, np.asarray(value))

    def less_one(self, tree: Tree) -> Tree:
        return self.operate("sub", tree, self.xp.number(1))

    def _build(self, name: str, rule: Any, tree: Tree) -> Tree:
        with np.errstate(all="ignore"):
            return self.xp.build(name, (tree,), {}, np.asarray(rule(tree.value)))


_VALUES: Final[Mapping[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "neg": np.negative, "pow": np.power, "matmul": np.matmul,
    "outer": np.outer, "diag": np.diag,
}  # fmt: skip


def _is_indicator(tree: Tree) -> bool:
    """Return whether a tree is 1 where a condition holds, and 0 elsewhere."""
    if tree.head != "where":
        return False
    _, yes, no = tree.args
    return [(t.head, t.args[0]) for t in (yes, no)] == [(NUMBER, 1), (NUMBER, 0)]


def _as_ratio(number: float) -> tuple[float, int]:
    """Return a number as a numerator and a divisor, which is 1 for short decimals."""
    ratio = Fraction(number).limit_denominator(1000)
    slight = ratio.numerator == 1 and ratio.denominator < 10
    if isclose(float(ratio), number, rel_tol=1e-12) and (
        slight or len(repr(number)) > MAX_DECIMAL_CHARACTERS
    ):
        return ratio.numerator, ratio.denominator
    return number, 1


def replaced(value: Any, made: Mapping[int, Tree]) -> Any:
    if isinstance(value, Tree):
        return made[value.serial]
    if isinstance(value, tuple | list):
        return type(value)([replaced(each, made) for each in value])
    return value
