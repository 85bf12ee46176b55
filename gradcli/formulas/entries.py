"""Arrays whose entries are trees: a program written out entry by entry.

A comparison is a tree, and picking one of two entries is a tree too, so that the
written program holds on both sides. Only where the run itself had to go one way, in an
``if``, a sort or an index, the way it went is kept as a condition.

Invariant: the written program has the program's value wherever the conditions hold,
and at a non-smooth point the derivative that the engine gives.

    xp = EntryNamespace(TreeNamespace(words=False))
    x = xp.named("x", [0.5, 2.0])
    xp.where(xp.gt(x, 0), x, 0)         # each entry chosen by its own sign
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from math import inf
from typing import Any, Final

import numpy as np

from ..check.balls import STEPS, Ball, ball
from ..check.decided import LOGIC, MASKS, NUMERIC, is_literal
from ..check.matrices import MAX_COFACTOR_SIZE, boxed
from ..check.namespace import ObjectArray, ObjectNamespace, are_indices, reducing
from ..check.system import RELATIONS, Number, System
from ..engine.raw import Host, Params, Run
from ..ops import Op
from ..ops.basis import ARITHMETIC
from ..ops.checks import KindError
from ..ops.types import Dims
from .namespace import TreeNamespace
from .tree import TooLong, Tree, constant

MAX_ENTRY_STEPS: Final = 200_000
"""Most operations on single entries in one run, including those that are not needed."""

_RELATIONS: Final = {sign: own.__name__ for sign, own in RELATIONS.items()}


class EntrySystem(System[Tree]):
    """The system whose elements are trees of a single number or truth value. Questions
    about a value are written as trees, and the code keeps the engine's conventions at a
    non-smooth point, so that neither is noted."""

    def __init__(self, trees: TreeNamespace) -> None:
        self.trees = trees
        self.pivoted = False
        """Whether rows of a matrix were put in order by value."""
        self._count = 0

    def lift(self, number: Number) -> Tree:
        return self.trees.number(float(number))

    def apply(self, name: str, *elements: Tree) -> Tree:
        """Return the tree of a function of numbers."""
        self._count += 1
        if self._count > MAX_ENTRY_STEPS:
            raise TooLong(f"it takes more than {MAX_ENTRY_STEPS} steps")
        own = STEPS.get(name)
        if own is not None and own.words is not None:
            raise KindError(f"{own.words} has no formula")
        if own is not None:
            found: Tree = own.value(*elements)
            return found
        numbers: list[Any] = [self.trees.as_type_of(e, None) for e in elements]
        if name not in ARITHMETIC and is_literal(name):
            # These constants are part of the formula, such as an order, not operands.
            numbers = [int(e.value) if constant(e) else e for e in numbers]
        return self._called(name, numbers)

    def combined(self, name: str, *elements: Tree) -> Tree:
        """Return the tree of a function of truth values."""
        return self._called(name, [self.truth(e) for e in elements])

    def _called(self, name: str, operands: Sequence[object]) -> Tree:
        if all(isinstance(each, Tree) for each in operands):
            return self.trees.operate(name, *operands)
        found: Tree = getattr(self.trees, name)(*operands)
        return found

    def select(self, which: Tree, a: Tree, b: Tree) -> Tree:
        numbers = [self.trees.as_type_of(e, None) for e in (a, b)]
        if a is b:
            return numbers[0]
        found: Tree = self.trees._basis("where", self.truth(which), *numbers)
        return found

    def total(self, elements: Sequence[Tree]) -> Tree:
        """Return the sum, added up in order: each addition is a step of the code."""
        return reduce(partial(self.apply, "add"), elements, self.lift(0))

    def truth(self, element: Tree) -> Tree:
        """Return the element as a truth value."""
        if element.dtype.kind == "b":
            return element
        return self.trees.operate("ne", element, self.lift(0))

    def decide(self, element: Tree) -> bool:
        """Return the truth of an element, and keep it as a condition."""
        return self.trees.decide(self.truth(element))

    def compare(self, relation: str, a: Tree, b: Tree) -> bool:
        return self.decide(self.apply(_RELATIONS[relation], a, b))

    def note(self, element: Tree, relation: str, number: Number) -> None:
        self.compare(relation, element, self.lift(number))

    def read(self, element: Tree, value: float) -> None:
        """Keep the condition that the element has the value that was read."""
        if element.dtype.kind == "b":
            self.decide(element)
        elif value == value and not constant(element):
            self.decide(self.apply("eq", element, self.lift(value)))

    def value(self, element: Tree) -> Ball:
        return ball(float(element.value))

    def is_zero(self, element: Tree) -> bool:
        return not float(element.value)

    def nearest(self, element: Tree, number: Number) -> bool:
        """Return False: a rounding is written as a call, so no jump is looked for."""
        return False


class EntryArray(ObjectArray):
    """An array of trees; ``mask`` tells whether they are truth values."""

    __slots__ = ("mask",)

    def __init__(
        self,
        data: Host,
        namespace: Any,
        source: ObjectArray | None = None,
        mask: bool = False,
    ) -> None:
        super().__init__(data, namespace, source)
        self.mask = mask

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(bool) if self.mask else super().dtype

    def __bool__(self) -> bool:
        return bool(self.__gradcli_namespace__.truth(self))

    def item(self) -> Any:
        return self._values().item()

    def _values(self) -> Host:
        """Return plain numbers, and keep the condition that the entries equal them."""
        if self.mask:
            truth: Host = self.__gradcli_namespace__.truth(self)
            return truth
        return super()._values()


def _chain(name: str, system: EntrySystem, row: list[Tree]) -> Tree:
    if not row:
        raise ValueError("the largest or smallest of no entries is not defined")
    return reduce(partial(system.apply, name), row)


class EntryNamespace(ObjectNamespace):
    """The array functions on arrays of trees, applied entry by entry."""

    system: EntrySystem

    def __init__(self, trees: TreeNamespace) -> None:
        super().__init__(EntrySystem(trees))
        self.trees = trees
        self.whole_row = self._row
        self._in_formula = 0
        """The number of rows whose formulas are being run."""
        for name in NUMERIC:
            setattr(self, name, self._each(partial(self.system.apply, name), self._of))
        for name in MASKS:
            rule = partial(self.system.apply, name)
            setattr(self, name, self._each(rule, self._mask_of))
        for name in LOGIC:
            rule = partial(self.system.combined, name)
            setattr(self, name, self._each(rule, self._mask_of))

    def named(self, name: str, values: object) -> EntryArray:
        """Return an input's array, each entry the tree of its name and its index."""
        tree = self.trees.named(name, values)
        data = np.empty(tree.shape, dtype=object)
        for index in np.ndindex(*tree.shape):
            data[index] = tree[index] if index else tree
        return self._of(data)

    def _of(self, data: object) -> EntryArray:
        return EntryArray(boxed(data), self)

    def arranged(self, data: Host, source: ObjectArray) -> EntryArray:
        mask = isinstance(source, EntryArray) and source.mask
        return EntryArray(boxed(data), self, source, mask)

    def stop(self, x: Any) -> Any:
        return self.arranged(x.data, x) if isinstance(x, EntryArray) else x

    def _row(self, op: Op, raw: tuple[object, ...], params: Params) -> object:
        self._in_formula += 1
        try:
            made = op.fwd(self, *raw, **params)
        finally:
            self._in_formula -= 1
        if isinstance(made, EntryArray):
            self._note_asked(made.data.flat)
        return made

    def _note_asked(self, made: Iterable[Tree]) -> None:
        if self.watching and not self._in_formula:
            self.trees.asked.update(t.serial for t in made if t.dtype.kind == "b")

    def _mask_of(self, data: Host) -> Host | EntryArray:
        """Return a mask of trees, as a plain array if no input is in it."""
        data = boxed(data)
        if all(map(constant, data.flat)):
            flat = [bool(tree.value) for tree in data.flat]
            return np.array(flat, dtype=bool).reshape(data.shape)
        self._note_asked(data.flat)
        return EntryArray(data, self, mask=True)

    def truth(self, x: object) -> Host:
        if not isinstance(x, ObjectArray):
            return np.asarray(x)
        flat = [self.system.decide(tree) for tree in x.data.flat]
        return np.array(flat, dtype=bool).reshape(x.shape)

    def where(self, condition: object, a: Any, b: Any) -> Any:
        plain = not isinstance(condition, ObjectArray)
        if plain or are_indices(a, b):
            return super().where(condition, a, b)
        masks = self.elements(condition)
        instead = self.elements(a).flat
        found = [self.trees.guard(mask, instead) for mask in masks.flat]
        guards = [guard for guard in found if guard is not None]
        if len(guards) == len(found):
            for guard in guards:
                self.trees.keep_clear(guard)
            shape = np.broadcast_shapes(masks.shape, np.shape(a), np.shape(b))
            return self.expand(self._of(self.elements(b)), shape)
        return self._chosen(masks, a, b)

    def _chosen(self, masks: Host, a: Any, b: Any) -> EntryArray:
        found: EntryArray = self._each(self.system.select, self._of)(
            self._of(masks), a, b
        )
        return found

    def nan_to_num(
        self, x: object, nan: float, posinf: float | None, neginf: float | None
    ) -> ObjectArray:
        largest = float(np.finfo(np.float64).max)
        x = self.array(x)
        above = largest if posinf is None else posinf
        below = -largest if neginf is None else neginf
        masks = self.isnan(x), self.eq(x, inf), self.eq(x, -inf)
        for mask, number in zip(masks, (nan, above, below), strict=True):
            x = self._chosen(self.elements(mask), number, x)
        return x

    amax: Run = reducing("_reduce", partial(_chain, "maximum"))
    amin: Run = reducing("_reduce", partial(_chain, "minimum"))
    all: Run = reducing("_quantified", "logical_and")
    any: Run = reducing("_quantified", "logical_or")

    def _quantified(
        self, name: str, x: object, dim: Dims, keepdim: bool
    ) -> Host | EntryArray:
        none = self.trees.number(name == "logical_and")

        def rule(system: Any, row: list[Any]) -> Any:
            return reduce(partial(system.combined, name), row, none)

        return self._mask_of(self._reduce(rule, x, dim, keepdim).data)

    def solve(self, a: object, b: object) -> Any:
        self._note_pivots(a)
        return super().solve(a, b)

    def det(self, a: object) -> Any:
        self._note_pivots(a)
        return super().det(a)

    def _note_pivots(self, a: Any) -> None:
        if a.shape and a.shape[-1] > MAX_COFACTOR_SIZE:
            self.system.pivoted = True

    def integer(self, x: Any) -> int:
        if not isinstance(x, ObjectArray):
            return super().integer(x)
        return self.trees.integer(x.data.reshape(-1)[0])

    def as_index(self, index: object) -> Host:
        if isinstance(index, EntryArray) and index.mask:
            return self.truth(index)
        return super().as_index(index)


def entries(array: object, namespace: EntryNamespace) -> Iterator[Tree]:
    """Yield the trees of an array's entries in C order, each a number."""
    for tree in namespace.elements(array).flat:
        yield namespace.trees.as_type_of(tree, None)
