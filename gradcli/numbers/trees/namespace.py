"""The vocabulary on expression trees.

Invariant: every tree's value is what the array vocabulary gives for its arguments'
values. ``words`` says how fine trees are: with it a row that is more than one word of
the language stands as a call of its own; without it everything is spelled out in the
basis that arrays have, for printing in NumPy's words.

    xp = TreeNamespace(words=True)
    xp.softmax(xp.named("x", values), 1)        # softmax(x, 1), not exp over sum
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np

from ...engine import NUMPY
from ...engine.arrays import ArrayNamespace
from ...engine.modes import MODE
from ...engine.namespace import Namespace
from ...lang.home import RANDOM
from ...ops import FUNCTIONS, OPS, Composite, Op, parameters
from ...ops.basis import SPECIAL, UFUNCS
from ...ops.spellings import GUARDS, OPERATORS, OPPOSITES
from . import places
from .calls import Call, basis_call, row_call
from .fold import broadcast_anyway, folded
from .tree import (
    CALLED,
    FILLED,
    LITERAL,
    NAME,
    NUMBER,
    TooLong,
    Tree,
    below,
    constant,
    frozen,
    known,
    parts,
    valued,
)
from .values import agree, first, publicly, uniform

BASIS: Final = frozenset(
    {*UFUNCS, *SPECIAL, *(n for n in vars(ArrayNamespace) if not n.startswith("_"))}
    - {"symbolic", "device", "array", "array_itself", "address"}
)

ARITHMETIC: Final[Mapping[str, Callable[..., Any]]] = {
    name: getattr(operator, own) for own, name in OPERATORS.items() if name not in BASIS
}
"""What rows reach by operators alone."""

MAX_TREES: Final = 200_000
"""Trees that one program may be made of."""

MAX_VALUE_BYTES: Final = 1 << 30
"""Memory that their values may take."""

MAX_WRITTEN_ENTRIES: Final = 4
"""Entries up to which an array of numbers is written out rather than computed."""


def _is_nan(tree: Tree) -> bool:
    return constant(tree) and tree.args[0] != tree.args[0]


class _Operators:
    """A vocabulary without words: rows made of operators alone can be run in it."""

    def __getattr__(self, name: str) -> Any:
        raise _WordNeeded(name)


class _WordNeeded(Exception):
    """A row's formula calls for more than operators."""


class TreeNamespace(Namespace):
    """Builds trees; each made once."""

    symbolic = keeps_positions = True
    writeable = False
    device = "symbolic"

    def __init__(
        self, words: bool, draws: bool = True, zeros_vanish: bool = False
    ) -> None:
        """
        Args:
            words: a row that is more than one word stands as a call of its own.
            draws: random numbers are drawn again rather than written out.
            zeros_vanish: zero times anything is zero, as in a derivative by what a step
                does not depend on.
        """
        self.words = words
        self.zeros_vanish = zeros_vanish
        self.draws: list[Tree] = []
        """Random numbers, where they are drawn again rather than written out."""
        self._draws_again = draws
        self.decisions: dict[int, Tree] = {}
        """Truth values that the program's course depended on, in order."""
        self.asked: set[int] = set()
        """Truth values that the program itself computes, by serial."""
        self.cleared: set[int] = set()
        """Truth values that hold nowhere, and choose NaN where they do, by serial."""
        self._indices: dict[int, Tree] = {}
        """What a row's formula took for an index, as one, while it is run."""
        self._watching = False
        self._in_formula = 0
        """How deep in rows' formulas a call is made."""
        self._made: dict[Any, Tree] = {}
        self._bytes = 0
        self.whole_row = self._row

    # making trees

    def made(
        self, head: str, args: tuple[Any, ...], params: Mapping[str, Any], value: Any
    ) -> Tree:
        """The tree, folded to a number where it can only be one."""
        key = head, frozen(args), frozen(params)
        tree = self._made.get(key)
        if tree is None:
            self._demand_room(value)
            tree = Tree(head, args, params, value, len(self._made), self)
            parts_of_it = below(tree)
            if parts_of_it and all(map(known, parts_of_it)):
                tree = self._evaluated(tree, max([part.size for part in parts_of_it]))
            self._made[key] = tree
        return self._held(tree)

    def _demand_room(self, value: Any) -> None:
        self._bytes += getattr(value, "nbytes", 0)
        if len(self._made) > MAX_TREES or self._bytes > MAX_VALUE_BYTES:
            raise TooLong(
                f"the adjoint program would be made of more than {MAX_TREES} parts"
                if len(self._made) > MAX_TREES
                else "the adjoint program's values would take more than 1 GiB"
            )

    def _evaluated(self, tree: Tree, size: int) -> Tree:
        """A tree of numbers alone: what it comes to, unless that is longer."""
        value = tree.value
        if isinstance(value, tuple):
            return tree
        if uniform(value):
            return self.filled(value.shape, first(value))
        return (
            self.array(value) if value.size <= max(size, MAX_WRITTEN_ENTRIES) else tree
        )

    def _held(self, tree: Tree) -> Tree:
        return self.stop(tree) if self._watching and not MODE.enabled else tree

    def named(self, name: str, value: Any) -> Tree:
        """An input."""
        return self.made(NAME, (name,), {}, np.asarray(value))

    def number(self, value: Any) -> Tree:
        plain = value.item() if hasattr(value, "item") else value
        return self.made(NUMBER, (plain,), {}, np.asarray(plain))

    def filled(self, shape: Sequence[int], value: Any) -> Tree:
        """One number at every place."""
        if not shape:
            return self.number(value)
        plain = value.item() if hasattr(value, "item") else value
        return self.made(FILLED, (plain,), {"shape": tuple(shape)},
                         np.full(tuple(shape), plain))  # fmt: skip

    def array(self, values: Any) -> Tree:
        """Numbers of a program, or whatever a rule calls an array."""
        if isinstance(values, Tree):
            return values
        values = np.asarray(values)
        if not values.ndim:
            return self.number(values)
        if uniform(values):
            return self.filled(values.shape, first(values))
        return self.made(LITERAL, (values,), {}, values)

    def constructed(self, name: str, args: Any, params: Any, value: Any) -> Tree:
        """What a constructor gave; a draw is never the same as another."""
        drawn = name in RANDOM
        if drawn and self._draws_again:
            serial = len(self._made)
            self.draws.append(Tree(name, args, params, value, serial, self))
            return self._made.setdefault((name, serial), self.draws[-1])
        plain = self.array(value)
        if constant(plain) or drawn:
            return plain
        return self.made(name, args, params, value)

    def decide(self, tree: Tree) -> bool:
        """The tree's truth at the point, which is remembered."""
        if not constant(tree):
            self.decisions.setdefault(tree.serial, tree)
        return bool(tree.value)

    def read(self, tree: Tree) -> Any:
        """The tree's value as plain numbers; that they are these is remembered."""
        value = tree.value
        while tree.head == "detach":
            tree = tree.args[0]
        if not known(tree) and value.size and (value == value).all():
            same = self.operate("eq", tree, self.array(value))
            self.decide(self.all(same) if same.ndim else same)
        return value

    def where(self, condition: Any, a: Any, b: Any) -> Tree:
        """A choice; one that a formula makes to keep clear of a point is left out away
        from that point, which is remembered."""
        mask, other = self.array(condition), self.array(b)
        chosen = self._basis("where", mask, a, other)
        guard = self.guard(mask, [self.array(a)])
        plain = chosen.head == "where" and chosen.dtype.kind == other.dtype.kind
        if guard is None or not plain or other.shape != chosen.shape:
            return chosen  # type: ignore[no-any-return]
        self.keep_clear(guard)
        return other

    def guard(self, mask: Tree, instead: Iterable[Tree]) -> Tree | None:
        """The comparison with a single point by which a mask holds nowhere, or a mask
        that holds nowhere and stands for NaN.

        Args:
            instead: what is chosen where the mask holds.
        """
        core = mask
        while core.head not in GUARDS and core.serial not in self.asked:
            inner = [part for part in below(core) if part.dtype.kind == "b"]
            if not inner or (len(inner) > 1 and core.head != "logical_and"):
                break
            core = inner[0]
        fixed = len(below(core)) == 1 or any(map(constant, below(core)))
        own = core.head in GUARDS and core.serial not in self.asked and fixed
        if own and not core.value.any() and not constant(core):
            return core
        if not mask.value.any() and all(map(_is_nan, instead)) and not constant(mask):
            self.cleared.add(mask.serial)
        return mask if mask.serial in self.cleared else None

    def keep_clear(self, guard: Tree) -> None:
        """Remember that a comparison holds nowhere."""
        opposite = OPPOSITES.get(guard.head)
        if opposite is None:
            self.decide(self.any(guard) if guard.ndim else guard)
            return
        if guard.size == 1:
            self.decide(self.operate(opposite, *[
                self.reshape(part, ()) for part in below(guard)
            ]))  # fmt: skip
            return
        self.decide(self.all(self.operate(opposite, *guard.args)))

    def _held_to_count(self, mask: Tree) -> None:
        """A mask that names entries: how many they are decides shapes."""
        if mask.value.dtype.kind == "b" and not known(mask):
            self.read(self.sum(mask))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A program runs: what it makes where nothing is recorded is held constant."""
        self._watching = True
        try:
            yield
        finally:
            self._watching = False

    # operators

    def operate(self, name: str, *operands: Any) -> Tree:
        trees = tuple(map(self.array, operands))
        plain = ARITHMETIC.get(name)
        if plain is None:
            return self._basis(name, *trees)  # type: ignore[no-any-return]
        with np.errstate(all="ignore"):
            value = plain(*[t.value for t in trees])
        return folded(self, name, broadcast_anyway(trees, value), np.asarray(value))

    # the basis

    def __getattr__(self, name: str) -> Any:
        if name in BASIS:
            bound: Any = partial(self._basis, name)
        else:
            entry = FUNCTIONS.get(name)
            if entry is None:
                raise AttributeError(f"{type(self).__name__} has no function {name!r}")
            if isinstance(entry, Composite):
                bound = partial(entry.build, self.call)
            else:
                bound = partial(self._called, entry)
        setattr(self, name, bound)
        return bound

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        op = OPS.get(name)
        if op is not None:
            return self._called(op, *args, **kwargs)
        return getattr(self, name)(*args, **kwargs)

    def _called(self, op: Op, *args: Any, **kwargs: Any) -> Any:
        if op.variadic:
            return self._row(op, args, kwargs)
        return self._row(op, (), dict(zip(parameters(op), args, strict=False)) | kwargs)

    def _basis(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """A word that arrays have themselves."""
        there = getattr(NUMPY, name)
        if name in UFUNCS or name in SPECIAL:
            args = tuple(map(self.array, args))
        with np.errstate(all="ignore"):
            value = there(*valued(args), **valued(kwargs))
        if name in UFUNCS or name in SPECIAL:
            shown = broadcast_anyway(args, np.asarray(value))
            made = folded(self, name, shown, np.asarray(value))
            self.note_asked([made])
            return made
        return self._said(name, basis_call(name, args, kwargs), value)

    def _said(self, name: str, call: Call, value: Any) -> Any:
        """A function's call: one tree, or one for each of its results."""
        args, params = call
        if name in ARITHMETIC:
            # Not the operator: div(x, y, rounding_mode="floor").
            return self.made(f"{name}{CALLED}", args, params, np.asarray(value))
        if not isinstance(value, tuple):
            return folded(self, name, args, np.asarray(value), params)
        whole = self.made(name, args, params, value)
        return tuple([
            self.made("part", (whole, i), {}, np.asarray(v))
            for i, v in enumerate(value)
        ])  # fmt: skip

    def _row(self, op: Op, raw: tuple[Any, ...], params: dict[str, Any]) -> Any:
        self._in_formula += 1
        try:
            made = self._spelled_row(op, raw, params)
        finally:
            self._in_formula -= 1
        self.note_asked(parts(made))
        return made

    def note_asked(self, made: Iterable[Tree]) -> None:
        """Keep in mind which truth values the program itself has computed."""
        if self._watching and not self._in_formula:
            self.asked.update(tree.serial for tree in made if tree.dtype.kind == "b")

    def _spelled_row(self, op: Op, raw: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """A row: by its formula where that is no longer than its name, else whole."""
        if not self.words or op.base not in FUNCTIONS:
            return op.fwd(self, *raw, **params)
        try:
            return op.fwd(_Operators(), *raw, **params)
        except _WordNeeded:
            pass
        before, self._indices = self._indices, {}
        decided = len(self.decisions)
        spelled = op.fwd(self, *raw, **params)
        as_index = self._indices
        self._indices = before | as_index
        if not [*parts(spelled)] or self._is_short(spelled, (raw, params)):
            return spelled
        raw = tuple([as_index.get(id(r), r) for r in raw])
        call = row_call(op, raw, params)
        value = publicly(op.base, call)
        if value is None or not agree(value, spelled):
            return spelled
        for serial in list(self.decisions)[decided:]:
            # The formula's own, which the call does not show.
            del self.decisions[serial]
        return self._said(op.base, call, value)

    def word(self, name: str, *args: Any, **params: Any) -> Tree:
        """A public function's call, as it stands."""
        value = NUMPY.call(name, *valued(args), **valued(params))
        return self.made(name, args, params, np.asarray(value))

    def _is_short(self, tree: Any, given: Any) -> bool:
        """Whether a result is one word at most on top of what was given."""
        if not isinstance(tree, Tree):
            return False
        raw, params = given
        had = {id(t) for t in (*parts(raw), *parts(tuple(params.values())))}
        return id(tree) in had or all(
            id(part) in had or not below(part) for part in below(tree)
        )

    # what the language says otherwise

    def stop(self, x: Any) -> Any:
        tree = self.array(x)
        if known(tree) or tree.head == "detach" or tree.value.dtype.kind != "f":
            return tree
        key = "detach", tree.serial
        found = self._made.get(key)
        if found is None:
            found = Tree("detach", (tree,), {}, tree.value, len(self._made), self)
            self._made[key] = found
        return found

    def to_copy(self, x: Any, dtype: Any, device: Any, back: Any = None) -> Any:
        tree = self.array(x)
        kind = tree.value.dtype.kind if dtype is None else np.dtype(dtype).kind
        if kind == tree.value.dtype.kind:
            return tree
        word = "as_numbers" if kind == "f" else "as_index"
        return self.made(word, (tree,), {}, tree.value.astype(dtype))

    def as_type_of(self, x: Any, like: Any) -> Any:
        tree = self.array(x)
        if tree.value.dtype.kind == "f":
            return tree
        return self.made("as_numbers", (tree,), {}, tree.value.astype(np.float64))

    def as_index(self, index: Any) -> Any:
        if not isinstance(index, Tree):
            return self.array(NUMPY.as_index(index))
        value = NUMPY.as_index(index.value)
        if value.dtype.kind == index.value.dtype.kind:
            return index
        found = self._indices[id(index)] = self.made("as_index", (index,), {}, value)
        return found

    def new_full(self, x: Any, shape: Sequence[int], value: Any) -> Any:
        return self.filled(tuple(shape), value)

    def zeros_like(self, x: Any) -> Any:
        return self.filled(x.shape, 0.0)

    def ones_like(self, x: Any) -> Any:
        return self.filled(x.shape, 1.0)

    def eye(self, n: int, like: Any) -> Any:
        return self.made("eye", (n,), {}, np.eye(n))

    def clone(self, x: Any, memory_format: str | None = None) -> Any:
        return x

    def is_contiguous(self, x: Any) -> Any:
        return np.bool_(x.value.flags.c_contiguous)

    def is_viewable(self, x: Any, shape: Sequence[int]) -> Any:
        return NUMPY.is_viewable(x.value, shape)

    def array_itself(self, x: Any) -> Any:
        return x

    def address(self, x: Any) -> int:
        return NUMPY.address(x.value)

    def getitem(self, x: Any, index: Any) -> Any:
        tree = self.array(x)
        for part in parts(index):
            self._held_to_count(part)
        value = np.asarray(tree.value[valued(index)])
        return self.made("getitem", (tree, index), {}, value)

    def put_add(self, shape: Sequence[int], index: Any, g: Any) -> Any:
        if not self.words:
            return self._basis("put_add", tuple(shape), index, g)
        return places.added(self, tuple(shape), index, self.array(g))

    def put_view(self, shape: Sequence[int], index: Any, g: Any) -> Any:
        if not self.words:
            return self._basis("put_view", tuple(shape), index, g)
        return places.put(self, tuple(shape), index, self.array(g))
