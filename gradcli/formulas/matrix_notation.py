"""Derivatives in matrix notation: each is one expression on whole arrays.

Invariant: sizes have names, not numbers: a number that depends on a size is written
with the size's name, and a formula that cannot be written so holds for its sizes only.

    in_matrices(run).texts          # {("x",): "2 * A.T @ (A @ x - b)", ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import isclose, prod
from typing import Any, Final, TypeAlias

from ..lang.run import Run
from ..ops.spellings import PRODUCT
from .algebra import Factors, replaced
from .dialect import Language
from .latex import Formula, LatexDialect
from .linear_maps import matrix_of
from .matrix_algebra import MatrixAlgebra
from .namespace import TreeNamespace
from .program import adjoint, products
from .programs import conditions, inline
from .texts import Text
from .tree import FILLED, LITERAL, NUMBER, FreshNames, Tree, below, constant, frozen

By: TypeAlias = tuple[str, ...]
"""Names of the inputs that a derivative is by."""

MAX_CHARACTERS: Final = 2_000
"""Largest length of a formula, in characters; longer parts of it are cut."""


class Notation(Language):
    """The language, with names for the sizes of arrays.

    sizes  name of a size, by the size
    like   name of an input, by its shape
    """

    def __init__(
        self,
        sizes: Mapping[int, str] | None = None,
        like: Mapping[tuple[int, ...], str] | None = None,
    ) -> None:
        super().__init__()
        self._sizes = sizes or {}
        self._like_input = like or {}

    def filled(self, value: float, shape: tuple[int, ...]) -> Text:
        name = self._like_input.get(shape)
        if name is not None and value in (0, 1):
            return Text(f"{'ones' if value else 'zeros'}_like({name})")
        if value not in (0, 1):
            return super().filled(value, shape)
        sizes = ", ".join(self._sizes.get(n, str(n)) for n in shape)
        return Text(f"{'ones' if value else 'zeros'}({sizes})")

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        if tree.head == "eye":
            return Text(f"eye({self._sizes.get(tree.args[0], tree.args[0])})")
        if tree.head == "mul":
            texts = {**texts, **_bracketed(tree.args, texts)}
        if tree.head == "mul" and tree.args[1].head == "matmul":
            scalar, product = tree.args
            if not scalar.ndim and product.ndim:
                # A number times a product of matrices: brackets change nothing.
                left, right = (texts[part.serial] for part in (scalar, product))
                return Text(f"{left:PRODUCT} * {right:PRODUCT}", right.rank)
        if tree.head == "matmul" and not tree.ndim:
            left, right = tree.args
            turned = left.head == "matmul" and left.args[0].ndim == 2
            if turned and right.head != "matmul":
                first, rest = texts[right.serial], texts[left.serial]
                return Text(f"{first:SIGN} @ {rest:PRODUCT}", rest.rank)
        return super().text(tree, texts)


class MatrixLatex(LatexDialect):
    """LaTeX, with names for the sizes of arrays."""

    def __init__(self, sizes: Mapping[int, str]) -> None:
        super().__init__()
        self._sizes = sizes

    def filled(self, value: float, shape: tuple[int, ...]) -> Text:
        named = [self._sizes.get(n, str(n)) for n in shape]
        sizes = r" \times ".join(named)
        return Formula(rf"\mathbf{{{int(value)}}}_{{{sizes}}}")

    def text(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        if tree.head == "eye":
            return Formula(f"I_{{{self._sizes.get(tree.args[0], tree.args[0])}}}")
        if tree.head == "outer":
            left, right = (texts[part.serial] for part in tree.args)
            return Formula(rf"{left:SIGN} {right:ATOM}^{{\top}}", PRODUCT)
        if tree.head == "mul" and sorted(map(_is_array, tree.args)) == [False, True]:
            scalar, array = sorted(tree.args, key=_is_array)
            texts = {**texts, **_bracketed(tree.args, texts)}
            rank = "PRODUCT" if array.head in ("matmul", "outer") else "SIGN"
            left, right = texts[scalar.serial], texts[array.serial]
            return Formula(rf"{left:PRODUCT} \, {format(right, rank)}", PRODUCT)
        if tree.head == "matmul" and all(part.ndim == 1 for part in tree.args):
            left, right = (texts[part.serial] for part in tree.args)
            inner = tree.args[1].head == "matmul"
            rest = f"{right:PRODUCT}" if inner else f"{right:SIGN}"
            return Formula(rf"{left:ATOM}^{{\top}} \, {rest}", PRODUCT)
        return super().text(tree, texts)


def _is_array(tree: Tree) -> bool:
    return tree.ndim > 0


def _bracketed(trees: Sequence[Tree], texts: Mapping[int, Text]) -> dict[int, Text]:
    """Return the texts of products of two vectors, in brackets."""
    return {
        tree.serial: type(text)(text.brackets.format(text))
        for tree in trees
        for text in (texts[tree.serial],)
        if tree.head == "matmul" and not tree.ndim
    }


@dataclass(frozen=True, slots=True)
class MatrixFormulas:
    """Derivatives in matrix notation, by the names of the inputs that they are by.

    texts    the formulas, with names for sizes
    claims   the same formulas, with the sizes of ``shapes``
    latex    the same formulas as LaTeX; names stand between U+E000 and U+E001
    holds    the conditions under which they hold
    shapes   names of sizes, or numbers, by input
    general  whether the formulas hold for all sizes
    others   derivatives that have no such formula
    """

    texts: dict[By, str]
    claims: dict[By, str]
    latex: dict[By, str]
    holds: tuple[str, ...]
    shapes: dict[str, tuple[int, ...]]
    general: bool
    others: tuple[By, ...] = ()


class SizesMatter(Exception):
    """A signal that a formula differs in more than numbers where sizes do."""


def in_matrices(
    run: Run,
    others: Sequence[tuple[Run, Mapping[str, int]]] = (),
    kind: str = "gradient",
) -> MatrixFormulas:
    """Return the gradients, the ``jacobian`` or the ``hessian`` of a run in matrix
    notation.

    Args:
        others: two runs of the same program with other sizes, from which the formulas
            for all sizes are read, each with its sizes by name; none if the sizes of
            the run are those that were asked for.

    Raises:
        Unwritable: the language has no word for a part of it.
        TooLong: it would have too many parts.
    """
    shapes = {i.name: tuple(i.tensor.shape) for i in run.inputs}
    found, decisions = _derivative_trees(run, kind)
    lacking = tuple(by for by, tree in found.items() if tree is None)
    trees = {by: tree for by, tree in found.items() if tree is not None}
    claims, latex, holds = _texts(trees, decisions, shapes, {})
    special = MatrixFormulas(claims, claims, latex, holds, shapes, False, lacking)
    if not others:
        return special
    (first, sizes), (second, other_sizes) = others
    large_trees, decisions = _derivative_trees(first, kind)
    other_trees, _ = _derivative_trees(second, kind)
    try:
        general = {
            by: _general(large_trees[by], other_trees[by], sizes, other_sizes)
            for by in trees
        }
    except SizesMatter:
        return special
    large = {i.name: tuple(i.tensor.shape) for i in first.inputs}
    names = {size: name for name, size in sizes.items()}
    texts, latex, holds = _texts(general, decisions, large, names)
    return MatrixFormulas(texts, claims, latex, holds, shapes, True, lacking)


def _texts(
    trees: Mapping[By, Tree],
    decisions: Iterable[Tree],
    shapes: Mapping[str, tuple[int, ...]],
    sizes: Mapping[int, str],
) -> tuple[dict[By, str], dict[By, str], tuple[str, ...]]:
    """Return the formulas, as text and as LaTeX, and the conditions under
    which they hold."""
    like: dict[tuple[int, ...], str] = {}
    for name, shape in shapes.items():
        if shape:
            like.setdefault(shape, name)
    notation = Notation(sizes, like)
    texts = {
        by: inline(tree, notation, limit=MAX_CHARACTERS).written
        for by, tree in trees.items()
    }
    formulas = MatrixLatex(sizes)
    latex = {
        by: inline(tree, formulas, limit=MAX_CHARACTERS).written
        for by, tree in trees.items()
    }
    return texts, latex, tuple(conditions(decisions, notation))


def _derivative_trees(run: Run, kind: str) -> tuple[dict[By, Tree | None], list[Tree]]:
    """Return the derivatives, None for those without a tree on whole arrays, and the
    conditions, all rewritten."""
    if kind != "gradient":
        return _block_trees(run, kind)
    made = adjoint(
        run, None, lambda: TreeNamespace(words=True), lambda: FreshNames(set())
    )
    algebra = MatrixAlgebra(made.output[1].xp)  # type: ignore[arg-type]
    wanted = [(i.name,) for i in run.inputs if i.requires_grad]
    trees = [algebra.rewritten(tree) for _, tree in made.gradients]
    decisions = [*map(algebra.condition, made.decisions)]
    return dict(zip(wanted, trees, strict=True)), decisions


def _block_trees(run: Run, kind: str) -> tuple[dict[By, Tree | None], list[Tree]]:
    """Return the blocks of a Jacobian or a Hessian, and the conditions."""
    xp = TreeNamespace(words=True)
    algebra = MatrixAlgebra(xp)
    made = products(run, kind, xp, FreshNames())
    shapes = {i.name: tuple(i.tensor.shape) for i in run.inputs}
    found: dict[By, Tree | None] = {}
    for by, (tree, vector) in made.by.items():
        lead = () if vector is None else vector.shape
        zero = constant(tree) and not tree.args[0]
        if zero:
            found[by] = xp.filled((*lead, *shapes[by[-1]]), 0.0)
        elif vector is None:
            found[by] = algebra.rewritten(tree)
        elif len(by) > 1 and not tree.shape:
            # The block of a number and an array is that of the array and the number.
            found[by] = algebra.rewritten(made.by[by[::-1]][0])
        elif vector.ndim > 1 or tree.ndim > 1:
            found[by] = None
        else:
            matrix = matrix_of(tree, vector, algebra)
            turned = None if matrix is None else algebra.transposed(matrix)
            found[by] = None if turned is None else algebra.rewritten(turned)
    return found, [*map(algebra.condition, made.decisions)]


def _general(
    tree: Tree | None,
    other: Tree | None,
    sizes: Mapping[str, int],
    other_sizes: Mapping[str, int],
) -> Tree:
    """Return a tree with names of sizes in the place of numbers that depend on them.

    Raises:
        SizesMatter: the trees differ in more than numbers.
    """
    if tree is None or other is None:
        raise SizesMatter
    xp = tree.xp
    pairs: dict[tuple[int, int], Tree] = {}

    def joined(a: Tree, b: Tree) -> Tree:
        key = a.serial, b.serial
        if key in pairs:
            return pairs[key]
        if a.head != b.head or len(below(a)) != len(below(b)):
            raise SizesMatter
        if below(a) and _outline(a) != _outline(b):
            raise SizesMatter
        if a.head in (NUMBER, FILLED):
            made = a
            if a.args[0] != b.args[0]:
                number = _size_formula(xp, a.args[0], b.args[0], sizes, other_sizes)
                one = xp.filled(a.shape, 1.0) if a.shape else None
                made = (
                    number
                    if one is None
                    else xp.build("mul", (number, one), {}, a.value)
                )
        elif not below(a):
            if a.head == LITERAL and a.value.tobytes() != b.value.tobytes():
                raise SizesMatter
            if a.head == "eye" and [n for n in sizes if sizes[n] == a.args[0]] != [
                n for n in sizes if other_sizes[n] == b.args[0]
            ]:
                raise SizesMatter
            made = a
        else:
            parts = {
                p.serial: joined(p, q) for p, q in zip(below(a), below(b), strict=True)
            }
            if all(parts[p.serial] is p for p in below(a)):
                made = a
            else:
                args = replaced(a.args, parts)
                params = {n: replaced(v, parts) for n, v in a.params.items()}
                made = xp.build(a.head, args, params, a.value)
        pairs[key] = made
        return made

    found = joined(tree, other)
    return found if found is tree else MatrixAlgebra(xp).rewritten(found)  # type: ignore[arg-type]


def _outline(tree: Tree) -> object:
    """Return the arguments of a call that are no trees."""

    def of(value: object) -> object:
        if isinstance(value, tuple | list):
            return [of(each) for each in value]
        if isinstance(value, dict):
            return {name: of(each) for name, each in value.items()}
        return None if isinstance(value, Tree) else frozen(value)

    return of([tree.args, dict(tree.params)])


def _size_formula(
    xp: Any, number: float, other: float,
    sizes: Mapping[str, int], other_sizes: Mapping[str, int],
) -> Tree:  # fmt: skip
    """Return a number that depends on sizes as a multiple of a product of them."""
    algebra = MatrixAlgebra(xp)
    named = {
        xp.named(name, float(size)): (size, other_sizes[name])
        for name, size in sizes.items()
    }
    for tree, (size, other_size) in [*named.items()]:
        named[algebra.less_one(tree)] = (size - 1, other_size - 1)
    for count in (1, 2):
        for trees in combinations_with_replacement(named, count):
            for sign in (-1, 1):
                scale = prod(named[t][0] for t in trees) ** sign
                other_scale = prod(named[t][1] for t in trees) ** sign
                if isclose(number / scale, other / other_scale, rel_tol=1e-12):
                    powers: dict[Tree, float] = {}
                    for t in trees:
                        powers[t] = powers.get(t, 0) + sign
                    return algebra.product(Factors(number / scale, powers))
    raise SizesMatter
