"""The array functions on expression trees.

Invariants: every tree's value is what the array functions give for its arguments'
values. An argument that a call leaves out is equal to the function's default. With
``words`` a row whose formula takes several functions is a call of its own; without it
every formula is written in the basis that arrays have, for printing it as calls of
NumPy. Functions that the language lacks are always written in the basis.

    xp = TreeNamespace(words=True)
    xp.softmax(xp.named("x", values), 1)        # softmax(x, 1), not exp over sum
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from inspect import signature
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np

from ..check.namespace import setting
from ..engine import NUMPY
from ..engine.beside import BASIS
from ..engine.modes import MODE
from ..engine.namespace import NumberSystem
from ..engine.raw import Host, Params, Raw, Run
from ..lang.factory import RANDOM
from ..ops import FUNCTIONS, OPS, Op, defaults, parameters
from ..ops.basis import ARITHMETIC, SPECIAL, UFUNCS
from ..ops.checks import size_text
from ..ops.op import Formula
from ..ops.spellings import GUARDS, OPPOSITES
from .simplify import broadcast_anyway, simplified
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

MAX_TREES: Final = 200_000
MAX_VALUE_BYTES: Final = 1 << 30

MAX_WRITTEN_ENTRIES: Final = 4
"""Most entries of an array of numbers that is written out rather than computed."""


Call: TypeAlias = tuple[tuple[object, ...], dict[str, object]]

VARARGS: Final = 0x04
"""Flag, in ``co_flags``, of a function with any number of positional arguments."""


def _is_nan(tree: Tree) -> bool:
    return constant(tree) and tree.args[0] != tree.args[0]


def _attached(tree: Tree) -> Tree:
    while tree.head == "detach":
        tree = tree.args[0]
    return tree


class _Operators:
    """A namespace without functions: only formulas of operators run in it."""

    def __getattr__(self, name: str) -> NoReturn:
        raise _WordNeeded(name)


class _WordNeeded(Exception):
    """A signal that a row's formula calls for more than operators."""


class TreeNamespace(NumberSystem):
    """A namespace that builds trees, each made once."""

    symbolic = keeps_positions = True
    writeable = False
    device = "cpu"

    def __init__(
        self,
        words: bool,
        draws: bool = True,
        zeros_vanish: bool = False,
        lacks: Collection[str] = (),
    ) -> None:
        """Start a namespace without trees.

        Args:
            words: whether a row whose formula takes several functions is a call.
            draws: whether random numbers are drawn again rather than written out.
            zeros_vanish: whether zero times anything is zero, as in a derivative by an
                input that a step does not depend on.
            lacks: functions that the language does not have, even with ``words``.
        """
        self.words = words
        self._lacks = lacks
        self.zeros_vanish = zeros_vanish
        self._draws_again = draws
        self.draws: list[Tree] = []
        """Random numbers, where they are drawn again rather than written out."""
        self.decisions: dict[int, Tree] = {}
        """Truth values that the program's course depended on, in order, by serial."""
        self.asked: set[int] = set()
        """Truth values that the program itself computes, by serial."""
        self.cleared: set[int] = set()
        """Masks, by serial, that would choose NaN but hold nowhere at the point."""
        self._indices: dict[int, Tree] = {}
        """Indices that the running row's formula made of trees, by a tree's ``id``."""
        self._watching = False
        self._in_formula = 0
        """The number of rows whose formulas are being run."""
        self._made: dict[Hashable, Tree] = {}
        self._bytes = 0
        self.whole_row = self._row

    # making trees

    def build(
        self,
        head: str,
        args: tuple[object, ...],
        params: Mapping[str, object],
        value: object,
    ) -> Tree:
        """Return the one tree of a call; of numbers alone, if possible, their value."""
        key = head, frozen(args), frozen(params)
        tree = self._made.get(key)
        if tree is None:
            self._demand_room(value)
            tree = Tree(head, args, params, value, len(self._made), self)
            parts_of_it = below(tree)
            if parts_of_it and all(map(known, parts_of_it)):
                tree = self._evaluated(tree, max([part.size for part in parts_of_it]))
            self._made[key] = tree
        return self.stop(tree) if self._watching and not MODE.enabled else tree

    def _demand_room(self, value: object) -> None:
        self._bytes += getattr(value, "nbytes", 0)
        if len(self._made) > MAX_TREES or self._bytes > MAX_VALUE_BYTES:
            raise TooLong(
                f"the adjoint program would be made of more than {MAX_TREES} parts"
                if len(self._made) > MAX_TREES
                else "the adjoint program's values would take more than "
                f"{size_text(MAX_VALUE_BYTES)}"
            )

    def _evaluated(self, tree: Tree, size: int) -> Tree:
        value = tree.value
        if isinstance(value, tuple):
            return tree
        short = value.size <= max(size, MAX_WRITTEN_ENTRIES)
        return self.array(value) if short or _uniform_entry(value) is not None else tree

    def named(self, name: str, value: object) -> Tree:
        """Return the tree of an input."""
        return self.build(NAME, (name,), {}, np.asarray(value))

    def number(self, value: object) -> Tree:
        plain = value.item() if hasattr(value, "item") else value
        return self.build(NUMBER, (plain,), {}, np.asarray(plain))

    def filled(self, shape: Sequence[int], value: object) -> Tree:
        """Return the tree of an array of one number everywhere."""
        if not shape:
            return self.number(value)
        plain = value.item() if hasattr(value, "item") else value
        return self.build(FILLED, (plain,), {"shape": tuple(shape)},
                         np.full(tuple(shape), plain))  # fmt: skip

    def array(self, values: object) -> Tree:
        """Return the tree of an array of numbers."""
        if isinstance(values, Tree):
            return values
        values = np.asarray(values)
        if not values.ndim:
            return self.number(values)
        lone = _uniform_entry(values)
        if lone is not None:
            return self.filled(values.shape, lone)
        return self.build(LITERAL, (values,), {}, values)

    def constructed(
        self, name: str, args: tuple[object, ...], params: Params, value: object
    ) -> Tree:
        """Return the tree of a constructor's call; each random draw is a new tree."""
        random = name in RANDOM
        if random and self._draws_again:
            serial = len(self._made)
            self.draws.append(Tree(name, args, params, value, serial, self))
            return self._made.setdefault((name, serial), self.draws[-1])
        plain = self.array(value)
        if constant(plain) or random:
            return plain
        return self.build(name, args, params, value)

    def decide(self, tree: Tree) -> bool:
        """Return the tree's truth value at the point, and keep it as a condition."""
        if not constant(tree):
            self.decisions.setdefault(tree.serial, tree)
        return bool(tree.value)

    def read(self, tree: Tree) -> Host:
        """Return the tree's value as plain numbers, and keep it as a condition."""
        value: Host = tree.value
        tree = _attached(tree)
        if value.dtype.kind == "b" and not value.ndim:
            self.decide(tree)
        elif not known(tree) and value.size and (value == value).all():
            same = self.operate("eq", tree, self.array(value))
            self.decide(self.all(same) if same.ndim else same)
        return value

    def integer(self, x: Any) -> int:
        tree = _attached(x)
        if not known(tree):
            cut = self.trunc(tree) if tree.value.dtype.kind == "f" else tree
            self.read(self.reshape(cut, ()))
        return int(tree.value.item())

    def where(self, condition: object, a: object, b: object) -> Tree:
        """Return the choice by a mask. A guard against a single point is left out away
        from that point, and this is kept as a condition."""
        mask, other = self.array(condition), self.array(b)
        chosen = self._basis("where", mask, a, other)
        guard = self.guard(mask, [self.array(a)])
        plain = chosen.head == "where" and chosen.dtype.kind == other.dtype.kind
        if guard is None or not plain or other.shape != chosen.shape:
            return chosen  # type: ignore[no-any-return]
        self.keep_clear(guard)
        return other

    def guard(self, mask: Tree, instead: Iterable[Tree]) -> Tree | None:
        """Return the guard in a mask that holds nowhere: a comparison with a single
        point, or a mask that chooses NaN ``instead``; None where there is no guard."""
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
        """Keep the condition that a guard holds nowhere."""
        opposite = OPPOSITES.get(guard.head)
        if opposite is None:
            self.decide(self.any(guard) if guard.ndim else guard)
        elif guard.size == 1:
            numbers = [self.reshape(part, ()) for part in below(guard)]
            self.decide(self.operate(opposite, *numbers))
        else:
            self.decide(self.all(self.operate(opposite, *guard.args)))

    def watched(self) -> AbstractContextManager[None]:
        """Run a program in this block: what it makes unrecorded stays constant."""
        return setting(self, "_watching", True)

    # operators

    def operate(self, name: str, *operands: object) -> Tree:
        trees = tuple(map(self.array, operands))
        plain = ARITHMETIC.get(name)
        if plain is None:
            return self._basis(name, *trees)  # type: ignore[no-any-return]
        with np.errstate(all="ignore"):
            value = plain(*[t.value for t in trees])
        return simplified(self, name, broadcast_anyway(trees, value), np.asarray(value))

    # the basis

    def __getattr__(self, name: str) -> Run:
        if name in BASIS:
            bound = partial(self._basis, name)
        else:
            entry = FUNCTIONS.get(name)
            if not isinstance(entry, Op):
                return super().__getattr__(name)
            bound = partial(self._called, entry)
        setattr(self, name, bound)
        return bound

    def call(self, name: str, /, *args: object, **kwargs: object) -> Any:
        op = OPS.get(name)
        if op is not None:
            return self._called(op, *args, **kwargs)
        return getattr(self, name)(*args, **kwargs)

    def _called(self, op: Op, *args: object, **kwargs: object) -> Any:
        if op.variadic:
            return self._row(op, args, kwargs)
        return self._row(op, (), dict(zip(parameters(op), args, strict=False)) | kwargs)

    def _basis(self, name: str, *args: Any, **kwargs: object) -> Any:
        there = getattr(NUMPY, name)
        whole = name in UFUNCS or name in SPECIAL
        args = tuple(map(self.array, args)) if whole else self._numbers(args)
        with np.errstate(all="ignore"):
            value = there(*valued(args), **valued(kwargs))
        if whole:
            shown = broadcast_anyway(args, np.asarray(value))
            made = simplified(self, name, shown, np.asarray(value))
            self.note_asked([made])
            return made
        return self._call_tree(name, _basis_call(name, args, kwargs), value)

    def _call_tree(
        self, name: str, call: Call, value: object
    ) -> Tree | tuple[Tree, ...]:
        args, params = call
        if name in ARITHMETIC:
            # The head says that it is no operator: div(x, y, rounding_mode="floor").
            return self.build(f"{name}{CALLED}", args, params, np.asarray(value))
        if not isinstance(value, tuple):
            return simplified(self, name, args, np.asarray(value), params)
        several = self.build(name, args, params, value)
        return tuple([
            self.build("part", (several, i), {}, np.asarray(v))
            for i, v in enumerate(value)
        ])  # fmt: skip

    def _row(self, op: Op, raw: tuple[object, ...], params: Params) -> Any:
        self._in_formula += 1
        raw = self._numbers(raw, "fiu" if op.elementwise else "f")
        try:
            made = self._spelled_row(op, raw, params)
        finally:
            self._in_formula -= 1
        self.note_asked(parts(made))
        return made

    def _numbers(self, args: tuple[Any, ...], kinds: str = "f") -> tuple[Any, ...]:
        """Return operands, of which the library's arrays of these ``kinds`` become
        trees."""
        return tuple([
            self.array(a)
            if isinstance(a, np.ndarray | np.generic) and a.dtype.kind in kinds else a
            for a in args
        ])  # fmt: skip

    def note_asked(self, made: Iterable[Tree]) -> None:
        """Note the truth values that the program itself has computed."""
        if self._watching and not self._in_formula:
            self.asked.update(tree.serial for tree in made if tree.dtype.kind == "b")

    def _spelled_row(self, op: Op, raw: tuple[object, ...], params: Params) -> Any:
        """Return a row's result: by its formula if that is short, else by its call."""
        is_word = op.base in FUNCTIONS and op.base not in self._lacks
        if not self.words or not is_word:
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
        call = _row_call(op, raw, params)
        value = _publicly(op.base, call)
        if value is None or not _agree(value, spelled):
            return spelled
        for serial in list(self.decisions)[decided:]:
            # These conditions are the formula's own; the call has none.
            del self.decisions[serial]
        return self._call_tree(op.base, call, value)

    def word(self, name: str, *args: object, **params: object) -> Tree:
        """Return the tree of a public function's call."""
        value = NUMPY.call(name, *valued(args), **valued(params))
        return self.build(name, args, params, np.asarray(value))

    def _is_short(self, tree: object, given: Call) -> bool:
        """Tell whether a result is at most one function of the given trees."""
        if not isinstance(tree, Tree):
            return False
        raw, params = given
        had = {id(t) for t in (*parts(raw), *parts(tuple(params.values())))}
        return id(tree) in had or all(
            id(part) in had or not below(part) for part in below(tree)
        )

    # functions that the language expresses in another way

    def stop(self, x: object) -> Any:
        tree = self.array(x)
        if known(tree) or tree.head == "detach" or tree.value.dtype.kind != "f":
            return tree
        key = "detach", tree.serial
        made = Tree("detach", (tree,), {}, tree.value, len(self._made), self)
        return self._made.setdefault(key, made)

    def to_copy(
        self, x: object, dtype: Any, device: object, back: object = None
    ) -> Any:
        tree = self.array(x)
        kind = tree.value.dtype.kind if dtype is None else np.dtype(dtype).kind
        if kind == tree.value.dtype.kind:
            return tree
        word = "as_numbers" if kind == "f" else "as_index"
        return self.build(word, (tree,), {}, tree.value.astype(dtype))

    def as_type_of(self, x: object, like: object) -> Tree:
        tree = self.array(x)
        if tree.value.dtype.kind == "f":
            return tree
        return self.build("as_numbers", (tree,), {}, tree.value.astype(np.float64))

    def as_index(self, index: object) -> Tree:
        if not isinstance(index, Tree):
            return self.array(NUMPY.as_index(index))
        value = NUMPY.as_index(index.value)
        if value.dtype.kind == index.value.dtype.kind:
            return index
        found = self._indices[id(index)] = self.build("as_index", (index,), {}, value)
        return found

    def new_full(self, x: object, shape: Sequence[int], value: object) -> Tree:
        return self.filled(tuple(shape), value)

    def zeros_like(self, x: Tree) -> Tree:
        return self.filled(x.shape, 0.0)

    def ones_like(self, x: Tree) -> Tree:
        return self.filled(x.shape, 1.0)

    def eye(self, n: int, like: object) -> Tree:
        return self.build("eye", (n,), {}, np.eye(n))

    def read_in_triangle(self, a: Tree, upper: bool = False) -> Any:
        return self.transpose(a, -2, -1) if upper else a

    def zero_pivots(self, a: object) -> Tree:
        return self.array(NUMPY.zero_pivots(self.array(a).value))

    def indefinite_minors(self, a: object) -> Tree:
        return self.array(NUMPY.indefinite_minors(self.array(a).value))

    def solve_triangle(
        self, a: Tree, b: object, unitriangular: bool = False, *, upper: bool
    ) -> Any:
        if self.words:
            unit = {"unitriangular": True} if unitriangular else {}
            return self._basis("solve_triangle", a, b, **unit, upper=upper)
        beside = int(unitriangular)
        one = self.triu(a, beside) if upper else self.tril(a, -beside)
        return self.solve(one + self.eye(a.shape[-1], a) if beside else one, b)

    def clone(self, x: object, memory_format: str | None = None) -> object:
        return x

    def is_contiguous(self, x: Tree) -> np.bool_:
        return np.bool_(x.value.flags.c_contiguous)

    def is_viewable(self, x: Tree, shape: Sequence[int]) -> Raw:
        return NUMPY.is_viewable(x.value, shape)

    def array_itself(self, x: object) -> object:
        return x

    def address(self, x: Tree) -> int:
        return NUMPY.address(x.value)

    def getitem(self, x: object, index: object) -> Tree:
        tree = self.array(x)
        for part in parts(index):
            if part.value.dtype.kind == "b" and not known(part):
                # How many entries a mask selects decides shapes.
                self.read(self.sum(part))
        value = np.asarray(tree.value[valued(index)])
        return self.build("getitem", (tree, index), {}, value)

    def put_add(self, shape: Sequence[int], index: object, g: object) -> object:
        return self._written_at("put_add", tuple(shape), index, g, accumulate=True)

    def put_view(self, shape: Sequence[int], index: object, g: object) -> object:
        return self._written_at("put_view", tuple(shape), index, g)

    def _written_at(
        self, name: str, shape: tuple[int, ...], index: object, g: object, **how: bool
    ) -> object:
        if not self.words:
            return self._basis(name, shape, index, g)
        items, tree = _spread(index, len(shape)), self.array(g)
        if not how and all(isinstance(i, int | slice) for i in items):
            return _put(self, shape, items, tree)
        where = [_position(i, size) for i, size in zip(items, shape, strict=False)]
        return self.word(
            "index_put", self.filled(shape, 0.0), tuple(where), tree, **how
        )


# calls of public functions


def _basis_call(
    name: str, args: tuple[object, ...], params: Mapping[str, object]
) -> Call:
    """Return a call of an array function: positional arguments, and those by name."""
    known = signature(getattr(NUMPY, name)).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in known.values()):
        return args, dict(params)
    defaults = {p.name: p.default for p in known.values() if p.default is not p.empty}
    return _arranged(
        {**dict(zip(known, args, strict=False)), **params}, defaults, known
    )


def _row_call(op: Op, raw: tuple[object, ...], params: Mapping[str, object]) -> Call:
    """Return a call of a row's public function, in the order of its parameters; inputs
    of any number come one by one if the function takes them so, else as a tuple."""
    public = FUNCTIONS[op.base]
    names = parameters(public)
    formula: Formula = public.fwd if isinstance(public, Op) else public.build
    code = formula.__code__
    if op.variadic and code.co_flags & VARARGS:
        return (*[params[name] for name in names if name in params], *raw), {}
    if op.variadic:
        return (raw,), dict(params)
    given = {**dict(zip(parameters(op), raw, strict=False)), **params}
    left_out = defaults(op)
    ordered = {name: given[name] for name in names if name in given}
    ordered |= {n: v for n, v in given.items() if not _same(v, left_out.get(n, ...))}
    return _arranged(ordered, left_out, names[: code.co_argcount - 1])


def _arranged(
    given: Mapping[str, Any], defaults: Mapping[str, object], order: Iterable[str]
) -> Call:
    """Return a call with arguments without default by position, the others by name; a
    list of one dimension is that dimension."""
    args = []
    params: Params = {}
    expected = iter(order)
    for name, value in given.items():
        lone = name == "dim" and isinstance(value, tuple | list) and len(value) == 1
        plain = value[0] if lone else value
        in_order = not params and next(expected, None) == name
        if name not in defaults and in_order and not isinstance(value, str):
            args.append(plain)
        elif name not in defaults or not _same(value, defaults[name]):
            params[name] = plain
    return tuple(args), params


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and not isinstance(a, Tree) and a == b)


def _uniform_entry(value: object) -> Any:
    """Return the number that all entries of an array are, zero if there are none; None
    if they differ."""
    if not isinstance(value, np.ndarray):
        return None
    first = value.flat[0] if value.size else value.dtype.type()
    return first if (value == first).all() else None


def _publicly(name: str, call: Call) -> Any:
    """Return what a public function gives for a call's values; None if it fails."""
    try:
        with np.errstate(all="ignore"):
            return NUMPY.call(name, *valued(call[0]), **valued(call[1]))
    except Exception:
        # A public function may refuse what its row takes, with an error of any kind.
        return None


def _agree(value: Host, spelled: object) -> bool:
    """Tell whether a function's results equal the formula's."""
    if isinstance(spelled, tuple) or isinstance(value, tuple):
        several = isinstance(spelled, tuple) and isinstance(value, tuple)
        return several and all(map(_agree, value, spelled))
    ours, theirs = np.asarray(value), np.asarray(valued(spelled))
    return ours.shape == theirs.shape and np.allclose(
        ours, theirs, rtol=1e-9, atol=1e-12, equal_nan=True
    )


def _put(xp: TreeNamespace, shape: tuple[int, ...], items: list[Any], g: Tree) -> Tree:
    """Return zeros with ``g`` put at an index of numbers and slices: each dimension
    takes one call, so an index of one slice is one call."""
    now = g
    for dim, item in enumerate(items):
        if isinstance(item, int):
            sizes = (*now.shape[:dim], shape[dim], *now.shape[dim:])
            now = xp.word("select_scatter", xp.filled(sizes, 0.0), now, dim, item)
        elif range(shape[dim])[item] != range(shape[dim]):
            sizes = (*now.shape[:dim], shape[dim], *now.shape[dim + 1 :])
            start, stop, step = item.indices(shape[dim])
            pace = () if step == 1 else (step,)
            now = xp.word(
                "slice_scatter", xp.filled(sizes, 0.0), now, dim, start, stop, *pace
            )
    return now


def _position(item: object, size: int) -> object:
    if isinstance(item, slice):
        chosen = range(size)[item]
        return None if chosen == range(size) else list(chosen)
    if isinstance(item, Tree) and item.head == LITERAL and item.dtype.kind != "b":
        return item.value.tolist()
    return item


def _spread(index: object, ndim: int) -> list[Any]:
    """Return an index as items that together take all ``ndim`` dimensions."""
    items: list[Any] = list(index) if isinstance(index, tuple) else [index]
    dots = [k for k, item in enumerate(items) if item is ...]
    at = dots[0] if dots else len(items)
    taken = -len(dots)
    for item in items:
        mask = getattr(getattr(item, "dtype", None), "kind", None) == "b"
        taken += item.ndim if mask else 1
    untouched = [slice(None)] * (ndim - taken)
    return [*items[:at], *untouched, *items[at + 1 :]]
