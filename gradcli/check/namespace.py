"""Arrays whose entries are elements of a number system, used like NumPy's, and their
namespace: what formulas call on them.

Invariants: every name of the array basis is here, with the same parameters, so that a
row, the engine and a program run unchanged. Numbers are `ObjectArray`, which never
turns into a NumPy array by itself, also for shape (); masks and indices are NumPy
arrays, and either may be given where the other is expected. What NumPy gives as a view
shares its memory with its source, so that a change of the one is seen in the other;
elements themselves never change.

    xp = ObjectNamespace(Balls())
    x = xp.array([0.5, 2.0])
    xp.sum(xp.sin(x) * x)
    xp.transpose(x, 0, 0).base is x         # True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import Any, Final, Literal, NoReturn, TypeAlias, TypeVar

import numpy as np

from ..engine import NUMPY
from ..engine.arrays import ArrayNamespace
from ..engine.modes import MODE
from ..engine.namespace import NumberSystem
from ..engine.raw import Flags, Host, Raw, Run
from ..engine.versions import owner
from ..ops.basis import ARITHMETIC, put_on
from ..ops.exact import Exact, deciding
from ..ops.types import Dims, Index, Shape
from . import balls, decided, matrices
from .balls import integer, to_float
from .decided import Extreme
from .matrices import boxed
from .system import NoMeaning, System
from .terms import Terms

OBJECT: Final = np.dtype(object)

Given = TypeVar("Given")

_PLAIN = (int, float)

_BY_OPERATORS: Final = {*ARITHMETIC, "total", "choice"}
"""Scalar functions that rows reach through operators and reductions alone."""

CALLED: Final = {
    **{name: name for name in balls.FUNCTIONS
       if name not in {*_BY_OPERATORS, *balls.STEPS}},
    **{f"elementwise_{name}": name for name in sorted(_BY_OPERATORS)},
}  # fmt: skip
"""Names of scalar functions, by the names under which rows call them."""


class ObjectArray:
    """An array of elements of a number system, kept in the NumPy array ``data``.

    base     the array whose memory this one shares; None: it has memory of its own
    stopped  True: no derivative is taken through its elements; the array whose memory
             it shares is not affected
    """

    __slots__ = ("__gradcli_namespace__", "__weakref__", "base", "data", "stopped")
    __gradcli_namespace__: Any
    shape: tuple[int, ...]
    ndim: int
    size: int
    strides: tuple[int, ...]
    flags: Flags

    # With this, NumPy's arrays leave every operator to this class.
    __array_ufunc__ = None

    def __init__(
        self, data: Host, namespace: object, source: ObjectArray | None = None
    ) -> None:
        """Wrap ``data``; ``source`` is the array that it may be a view of."""
        self.data = data
        self.base = None if source is None else source.seen_as(data)
        self.stopped = False
        self.__gradcli_namespace__ = namespace

    def seen_as(self, data: object) -> ObjectArray | None:
        """Return the owner of this array's memory if ``data`` shares it, else None."""
        if not np.may_share_memory(data, self.data):
            return None
        return self if self.base is None else self.base

    @property
    def dtype(self) -> np.dtype[np.object_]:
        return OBJECT

    @property
    def T(self) -> ObjectArray:
        return self._like(self.data.T)

    def reshape(self, *shape: Any) -> ObjectArray:
        return self._like(self.data.reshape(*shape))

    def copy(self, order: Literal["C", "K"] = "C") -> ObjectArray:
        return self._like(self.data.copy(order))

    def astype(self, dtype: object) -> ObjectArray:
        """Return the array itself: all elements are of one kind."""
        return self

    def tolist(self) -> Any:
        """Return the values, rounded to floats, as nested lists."""
        return self._values().tolist()

    def item(self) -> float:
        return float(self._values())

    def __getitem__(self, index: Any) -> ObjectArray:
        return self._like(self.data[index])

    def __setitem__(self, index: Any, value: object) -> None:
        self.data[index] = self.__gradcli_namespace__.elements(value)[()]

    def __len__(self) -> int:
        return len(self.data)

    def __bool__(self) -> bool:
        return bool(self.__gradcli_namespace__.ne(self, 0))

    def __float__(self) -> float:
        return self.item()

    def __repr__(self) -> str:
        return f"ObjectArray({self.tolist()})"

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("an ObjectArray is not a NumPy array; ask for its tolist()")

    def _like(self, data: object) -> ObjectArray:
        found: ObjectArray = self.__gradcli_namespace__.arranged(data, self)
        return found

    def _values(self) -> Host:
        found: Host = self.__gradcli_namespace__.floats(self.data)
        return found


Numbers: TypeAlias = "ObjectArray | Host"
"""Array of elements, or a NumPy array of truth values or indices."""


def _applying(name: str) -> Run:
    called = f"elementwise_{name}" if name in ARITHMETIC else name
    return lambda array, *both: getattr(array.__gradcli_namespace__, called)(*both)


for _name in ("shape", "ndim", "size", "strides", "flags"):
    setattr(ObjectArray, _name, property(attrgetter(f"data.{_name}")))
put_on(ObjectArray, _applying)


@contextmanager
def setting(holder: object, name: str, value: object) -> Iterator[None]:
    """Set an attribute to a value in this block."""
    before = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, before)


def _arranging(name: str) -> Run:
    arrange = getattr(NUMPY, name)

    def run(
        self: ObjectNamespace, x: object, *args: object, **params: object
    ) -> Numbers:
        return self._shaped(x, lambda data: arrange(data, *args, **params))

    return run


def reducing(how: str, rule: object) -> Run:
    """Return the method of a reduction, which calls the method ``how`` with a rule."""

    def run(xp: Any, x: object, dim: Dims = None, keepdim: bool = False) -> Any:
        return getattr(xp, how)(rule, x, dim, keepdim)

    return run


def _computing(rule: Callable[..., Host]) -> Run:
    return lambda xp, *arrays: xp._of(rule(xp.system, *map(xp.elements, arrays)))


def _factoring(rule: Callable[..., tuple[Host, ...]]) -> Run:
    return lambda xp, a, *options: xp._factored(rule, a, *options)


class ObjectNamespace(NumberSystem):
    """The namespace of arrays whose elements are those of ``system``."""

    symbolic = True
    device = "cpu"
    np = np
    """The module that makes masks and indices, which are NumPy's arrays."""

    def __init__(self, system: System[Any]) -> None:
        self.system = system
        self.watching = False
        """Whether a program is running: what it makes under ``no_grad`` is constant."""

    def _each(self, rule: Run, made: Run) -> Run:
        """Return a function that applies a rule to each of the elements of arrays;
        ``made`` turns its results into an array of their kind."""

        def run(*operands: object) -> Any:
            arrays = [self.elements(o) for o in operands]
            # Rules look at floats on the way; warnings about those mean nothing here.
            with np.errstate(all="ignore"):
                return made(np.frompyfunc(rule, len(arrays), 1)(*arrays))

        return run

    def watched(self) -> AbstractContextManager[None]:
        """Run a program in this block: what it makes unrecorded stays constant."""
        return setting(self, "watching", True)

    def followed(self) -> AbstractContextManager[None]:
        return setting(self, "watching", False)

    @contextmanager
    def taking_numbers(self) -> Iterator[None]:
        """Take plain numbers in this block for numbers of this namespace."""
        with setting(self, "takes_numbers", True), self.at_home(), deciding(self):
            yield

    @property
    def in_floats(self) -> bool:  # type: ignore[override]
        return self.system.in_floats

    def side(self, a: Exact, b: Exact) -> int:
        """Return 1, 0 or -1 if ``a`` is greater than, equal to or less than ``b``."""
        left, right = map(self.system.lift, (a, b))
        if self.system.compare(">", left, right):
            return 1
        return -1 if self.system.compare("<", left, right) else 0

    def to_integer(self, rounding: str, number: Exact) -> int:
        """Return a number rounded to an integer by the function of this name."""
        rule, system = decided.NUMERIC[rounding], self.system
        found = integer(system.value(rule(system, system.lift(number))))
        if found is None:
            raise NoMeaning(f"{rounding} of a number that has no value")
        return found

    def at_home(self) -> AbstractContextManager[None]:
        return MODE.having(home=self)

    # between kinds of arrays

    def elements(self, x: Any) -> Host:
        """Return a NumPy array of elements, made from numbers or arrays of any kind."""
        if isinstance(x, ObjectArray):
            return self._stopped(x.data) if x.stopped else x.data
        if type(x) in _PLAIN or isinstance(x, Exact):
            # This short way serves the numbers of a program at every step of a loop.
            return boxed(self.system.lift(x))
        array = np.asarray(x, dtype=object if isinstance(x, list) else None)
        lifted = np.empty(array.shape, dtype=object)
        lift = self.system.lift
        lifted.reshape(-1)[:] = [lift(v) for v in array.reshape(-1).tolist()]
        return lifted

    def array(self, values: object) -> ObjectArray:
        """Return an array of a program's numbers, or of an undifferentiated input."""
        return self._of(self.elements(values))

    def exactly(self, values: object) -> ObjectArray:
        """Return an array of an input's floats, each as the exact number that it is."""
        array = np.asarray(values, dtype=np.float64)
        numbers = array.reshape(-1).tolist()
        exact = np.empty(array.shape, dtype=object)
        exact.reshape(-1)[:] = [Fraction(n) if isfinite(n) else n for n in numbers]
        return self.array(exact)

    def truth(self, x: object) -> Host:
        """Return a NumPy mask from a mask, or from numbers: True where one is not 0."""
        return np.asarray(self.ne(x, 0) if isinstance(x, ObjectArray) else x)

    def shown(self, x: Any) -> Any:
        return decided.floats(self.system, x.data).tolist()

    def floats(self, data: Host) -> Host:
        """Return the elements' values as floats, with which the program goes on."""
        return decided.as_floats(self.system, data)

    def integer(self, x: Any) -> int:
        if not isinstance(x, ObjectArray):
            return super().integer(x)
        made = decided.whole(self.system, x.data.reshape(-1)[0])
        return int(to_float(self.system.value(made)))

    def _of(self, data: Host) -> ObjectArray:
        return ObjectArray(
            self._stopped(data) if self._makes_constants else boxed(data), self
        )

    @property
    def _makes_constants(self) -> bool:
        """Whether what is made now is kept constant."""
        return self.watching and not MODE.enabled

    def _stopped(self, data: Host) -> Host:
        return boxed(np.frompyfunc(self.system.stop, 1, 1)(data))

    def arranged(self, data: Host, source: ObjectArray) -> ObjectArray:
        """Return elements of ``source`` in another order or shape."""
        made = ObjectArray(boxed(data), self, source)
        stopped = source.stopped or self._makes_constants
        if stopped and made.base is None:
            return ObjectArray(self._stopped(made.data), self)
        made.stopped = stopped
        return made

    def stop(self, x: Any) -> Any:
        """Return the same values, through which no derivative is taken."""
        if not isinstance(x, ObjectArray):
            return x
        made = ObjectArray(x.data, self, x)
        made.stopped = True
        return made

    def variable(self, x: Any) -> Any:
        own = isinstance(self.system, Terms) and isinstance(x, ObjectArray)
        return self._each(self.system.variable, self._of)(x) if own else x  # type: ignore[attr-defined]

    def derived(self, y: Any, x: Any, found: Any) -> Any:
        """Return the derivative of ``y`` by ``x``; terms have it without the engine's
        rules, by SymPy's derivatives of their functions."""
        if not isinstance(self.system, Terms):
            return found
        from .chain import derivatives_of

        return self._of(derivatives_of(self.system, *map(self.elements, (y, x))))

    # shapes and memory

    windowed: Run = ArrayNamespace.windowed
    geometry: Run = ArrayNamespace.geometry
    strided: Run = ArrayNamespace.strided

    def seen(
        self, x: Any, shape: tuple[int, ...], strides: tuple[int, ...], address: int
    ) -> Numbers:
        """Return a view of an array's memory from an address on, with strides in
        bytes."""
        base = owner(x)
        flat = _memory(base).ravel("K")
        start = (address - self.address(base)) // flat.itemsize
        data = np.lib.stride_tricks.as_strided(flat[start:], shape, strides)
        return self.arranged(data, x) if isinstance(x, ObjectArray) else data

    def carried(self, raw: Any, after: Any, address: int) -> Raw:
        made = super().carried(raw, after, address)
        if isinstance(made, ObjectArray):
            made.stopped = raw.stopped
        return made

    def _shaped(self, x: object, change: Callable[[Any], Any]) -> Numbers:
        """Return an array changed by ``change``, of the kind that it was."""
        if isinstance(x, ObjectArray):
            return self.arranged(change(x.data), x)
        found: Host = change(np.asarray(x))
        return found

    reshape: Run = _arranging("reshape")
    clone: Run = _arranging("clone")
    expand: Run = _arranging("expand")
    permute: Run = _arranging("permute")
    transpose: Run = _arranging("transpose")
    unsqueeze: Run = _arranging("unsqueeze")
    flip: Run = _arranging("flip")
    roll: Run = _arranging("roll")
    diagonal: Run = _arranging("diagonal")

    def is_contiguous(self, x: object) -> np.bool_:
        return np.bool_(_memory(x).flags.c_contiguous)

    def address(self, x: object) -> int:
        return int(_memory(x).__array_interface__["data"][0])

    def array_itself(self, x: Given) -> Given:
        return x

    def with_separate_version(self, x: object) -> Any:
        """Return another array on the same memory."""
        return self._shaped(x, lambda a: a.view())

    def moved(self, x: Given, device: object) -> Given:
        """Return the array itself: elements are on no device."""
        return x

    def to_copy(
        self, x: object, dtype: object, device: object, back: object = None
    ) -> Any:
        """Return a copy; elements have one kind and are on no device."""
        return self._shaped(x, lambda a: a.copy())

    def is_viewable(self, x: object, shape: Sequence[int]) -> np.bool_:
        memory = _memory(x)
        reshaped = np.reshape(memory, tuple(shape))
        return np.bool_(memory.size < 2 or np.may_share_memory(memory, reshaped))

    def cat(
        self, tensors: Sequence[object], dim: int = 0, join: Run = np.concatenate
    ) -> Numbers:
        objects = [isinstance(t, ObjectArray) for t in tensors]
        if True not in objects:
            joined: Host = join(tensors, axis=dim)
            return joined
        return self._of(join([self.elements(t) for t in tensors], axis=dim))

    def stack(self, tensors: Sequence[object], dim: int = 0) -> Numbers:
        return self.cat(tensors, dim, np.stack)

    def tril(self, x: object, diagonal: int = 0, cut: Run = np.tril) -> ObjectArray:
        data = self.elements(x)
        mask = cut(np.ones(data.shape[-2:], dtype=bool), diagonal)
        return self._of(np.where(mask, data, self.system.lift(0)))

    def triu(self, x: object, diagonal: int = 0) -> ObjectArray:
        return self.tril(x, diagonal, np.triu)

    # elementwise, and reductions; dim None means all

    def where(self, condition: object, a: Any, b: Any) -> Numbers:
        if are_indices(a, b):
            found: Host = np.where(self.truth(condition), a, b)
            return found
        mask = self.truth(condition)
        return self._of(np.where(mask, self.elements(a), self.elements(b)))

    def nan_to_num(
        self, x: object, nan: float, posinf: float | None, neginf: float | None
    ) -> ObjectArray:
        largest = float(np.finfo(np.float64).max)
        table = (nan, largest if posinf is None else posinf,
                 -largest if neginf is None else neginf)  # fmt: skip
        rule = partial(decided.finite_or, self.system, table)
        made: ObjectArray = self._each(rule, self._of)(x)
        return made

    def _reduce(
        self, rule: Extreme[Any], x: object, dim: Dims, keepdim: bool
    ) -> ObjectArray:
        rows, shape, full = self._rows(x, dim)
        out = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            out[index] = rule(self.system, list(rows[index]))
        return self._of(out.reshape(full) if keepdim else out)

    def _rows(self, x: object, dim: Dims) -> tuple[Host, Shape, Shape]:
        """Return the entries that are reduced together, as the last dimension; the
        result's shape, and the same with the reduced dimensions kept."""
        data = self.elements(x)
        axes = _axes(dim, data.ndim)
        kept = [i for i in range(data.ndim) if i not in axes]
        shape = tuple(data.shape[i] for i in kept)
        count = int(np.prod([data.shape[i] for i in axes], dtype=np.int64))
        rows = data.transpose(*kept, *axes).reshape(*shape, count)
        full = tuple(1 if i in axes else n for i, n in enumerate(data.shape))
        return rows, shape, full

    sum: Run = reducing("_reduce", lambda system, row: system.total(row))
    prod: Run = reducing("_reduce", decided.product)
    amax: Run = reducing("_extreme", decided.largest)
    amin: Run = reducing("_extreme", decided.smallest)
    argmax: Run = reducing("_position", decided.largest)
    argmin: Run = reducing("_position", decided.smallest)
    all: Run = reducing("_answered", np.all)
    any: Run = reducing("_answered", np.any)

    def _extreme(
        self, rule: Extreme[Any], x: object, dim: Dims, keepdim: bool
    ) -> ObjectArray:
        def chosen(system: System[Any], row: list[object]) -> object:
            return system.choice(lambda: rule(system, row))

        return self._reduce(chosen, x, dim, keepdim)

    def _answered(self, ask: Run, x: object, dim: Dims, keepdim: bool) -> Any:
        axes = tuple(dim) if isinstance(dim, list) else dim
        return ask(self.truth(x), axis=axes, keepdims=keepdim)

    def _position(
        self, rule: Extreme[Any], x: object, dim: int | None, keepdim: bool
    ) -> Host:
        def find(system: System[Any], row: list[object]) -> int:
            best = rule(system, row)
            return next(i for i, e in enumerate(row) if e is best)

        found = self._reduce(find, x, dim, keepdim).data
        return np.asarray(found, dtype=np.int64)

    def argsort(self, x: object, dim: int = -1, descending: bool = False) -> Host:
        """Return the positions that sort ``x``, stably in both directions."""
        data = np.moveaxis(self.elements(x), dim, -1)
        order = np.empty(data.shape, dtype=np.int64)
        for index in np.ndindex(*data.shape[:-1]):
            order[index] = decided.order(self.system, list(data[index]), descending)
        return np.moveaxis(order, -1, dim)

    def cumsum(self, x: object, dim: int) -> ObjectArray:
        return self._scan("add", x, dim)

    def cumprod(self, x: object, dim: int) -> ObjectArray:
        return self._scan("mul", x, dim)

    def _scan(self, name: str, x: object, dim: int) -> ObjectArray:
        step = np.frompyfunc(partial(self.system.apply, name), 2, 1)
        data = self.elements(x)
        return self._of(step.accumulate(data, axis=dim) if data.size else data)

    # reading and adding at positions

    def getitem(self, x: object, index: Index) -> Numbers:
        return self._shaped(x, lambda a: a[index])

    def put_add(self, shape: Sequence[int], index: Any, g: object) -> ObjectArray:
        data = self.elements(g)
        size = int(np.prod(shape, dtype=np.int64))
        positions = np.arange(size).reshape(tuple(shape))[index]
        gathered: list[list[object]] = [[] for _ in range(size)]
        for position, element in zip(
            positions.ravel().tolist(), np.broadcast_to(data, positions.shape).flat,
            strict=True,
        ):  # fmt: skip
            gathered[position].append(element)
        out = np.empty(size, dtype=object)
        out[:] = [self.system.total(parts) for parts in gathered]
        return self._of(out.reshape(tuple(shape)))

    def put_view(self, shape: Sequence[int], index: Any, g: object) -> ObjectArray:
        out = self._filled(shape, 0)
        # With ``[()]`` an element itself is stored, not an array of shape () of it.
        out[index] = self.elements(g)[()]
        return self._of(out)

    def as_index(self, index: object) -> Host:
        """Return an index as a NumPy array of integers or booleans, by its values."""
        if isinstance(index, ObjectArray):
            index = decided.as_floats(self.system, index.data)
        index = np.asarray(index)
        if index.dtype.kind in "iub":
            return index
        integers = index.astype(np.int64)
        if not bool((integers == index).all()):
            raise IndexError("an index must be integers")
        return integers

    # linear algebra, on the last two dimensions

    matmul: Run = _computing(matrices.matmul)
    solve: Run = _computing(matrices.solve)
    det: Run = _computing(matrices.determinant)
    cholesky: Run = _computing(matrices.cholesky)
    lu_factors: Run = _factoring(matrices.lu)
    qr_factors: Run = _factoring(matrices.qr)
    eigh_factors: Run = _factoring(matrices.eigh)
    svd_factors: Run = _factoring(matrices.svd)

    def matrix_exp(self, a: Numbers) -> Numbers:
        return self._factored(matrices.exponential, a)[0]

    def _factored(
        self, rule: Callable[..., tuple[Host, ...]], a: Numbers, *rest: object
    ) -> tuple[Numbers, ...]:
        run = lambda m: rule(self.system, m, *rest)
        parts = matrices.over_matrices(run, self.elements(a).astype(object))
        return tuple([p if p.dtype != object else self._of(p) for p in parts])

    def einsum(self, equation: str, *operands: object) -> Numbers:
        if len(operands) == 1 and matrices.sums_nothing(equation):
            return self._shaped(operands[0], lambda a: np.einsum(equation, a))
        arrays = [self.elements(o) for o in operands]
        return self._of(matrices.einsum(self.system, equation, arrays))

    def inverse(self, a: Numbers) -> Any:
        return self.solve(a, self.eye(a.shape[-1], a))

    def slogdet(self, a: object) -> tuple[Raw, Raw]:
        det = self.det(a)
        return self.sign(det), self.log(self.abs(det))

    def t(self, x: Numbers) -> Any:
        return self.permute(x, tuple(range(x.ndim))[::-1])

    def read_in_triangle(self, a: Numbers, upper: bool = False) -> ObjectArray:
        """Return the symmetric part of a symmetric matrix."""
        return self._of(matrices.symmetric(self.system, self.elements(a)))

    def zero_pivots(self, a: Numbers) -> Host:
        """Return zeros: `solve` and `cholesky` themselves refuse a matrix."""
        return np.zeros(a.shape[:-2], dtype=np.int32)

    indefinite_minors: Run = zero_pivots

    def solve_triangle(
        self,
        a: Numbers,
        b: object,
        unitriangular: bool = False,
        *,
        upper: bool,
    ) -> ObjectArray:
        arrays = self.elements(a), self.elements(b)
        found = matrices.solve_triangle(self.system, *arrays, upper, unitriangular)
        return self._of(found)

    def eye(self, n: int, like: object) -> ObjectArray:
        return self.array(np.eye(n, dtype=np.int64))

    # new arrays beside an old one

    def _filled(self, shape: Sequence[int], value: float) -> Host:
        return np.full(tuple(shape), self.system.lift(value), dtype=object)

    def new_full(self, x: object, shape: Sequence[int], value: float) -> ObjectArray:
        return self._of(self._filled(shape, value))

    def zeros_like(self, x: Numbers) -> ObjectArray:
        return self._of(self._filled(x.shape, 0))

    def ones_like(self, x: Numbers) -> ObjectArray:
        return self._of(self._filled(x.shape, 1))

    def as_type_of(self, x: object, like: object) -> ObjectArray:
        return self.array(x)


def _applied(of_system: Callable[[System[Any]], Run], mask: bool = False) -> Run:
    """Return the method that applies a system's rule to each of the elements of arrays;
    ``mask``: its results are truth values."""

    def run(xp: ObjectNamespace, *operands: object) -> Any:
        made = partial(np.asarray, dtype=bool) if mask else xp._of
        return xp._each(of_system(xp.system), made)(*operands)

    return run


def _combining(combine: Run) -> Run:
    return lambda xp, *operands: combine(*[xp.truth(o) for o in operands])


for _name, _own in CALLED.items():
    _rule = partial(lambda own, system: partial(system.apply, own), _own)
    setattr(ObjectNamespace, _name, _applied(_rule))
for _name, _function in decided.NUMERIC.items():
    setattr(ObjectNamespace, _name, _applied(partial(partial, _function)))
for _name, _function in decided.MASKS.items():
    setattr(ObjectNamespace, _name, _applied(partial(partial, _function), mask=True))
for _name, _function in decided.LOGIC.items():
    setattr(ObjectNamespace, _name, _combining(_function))


def are_indices(*operands: object) -> bool:
    """Tell whether operands are arrays of integers or truth values, not of elements."""
    arrays = [o for o in operands if isinstance(o, np.ndarray | np.generic)]
    others = [o for o in operands if not isinstance(o, np.ndarray | np.generic | int)]
    return bool(arrays) and not others and all(a.dtype.kind in "iub" for a in arrays)


def _axes(dim: Dims, ndim: int) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(ndim))
    return tuple(np.lib.array_utils.normalize_axis_tuple(dim, ndim))


def _memory(x: object) -> Host:
    return x.data if isinstance(x, ObjectArray) else np.asarray(x)
