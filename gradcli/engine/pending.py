"""Formulas on a GPU: elementwise calls that follow one another become one kernel.

Invariant: a formula is run on pending arrays, whose types and shapes are known before
their entries are. An elementwise call only notes a step; what needs entries (a sum, a
view, the formula's end) first computes what it needs, all of one shape in one kernel.

    pending = PendingNamespace(gpu, Kernels(cupy, special))
    pending.run("softmax", formula, (x,), {})     # max, exp, sum, division: 4 kernels
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy

from ..ops.basis import LIBRARY_OPERATORS, LIBRARY_POWERS, SPECIAL, UFUNCS, put_on
from ..ops.op import overloads
from .arrays import ArrayNamespace
from .beside import BASIS
from .gpu import GpuArrays
from .kernels import (
    FUSED_TYPES,
    MAX_LEAVES,
    NUMBER,
    SPECIAL_PREFIX,
    STEP,
    KernelProgram,
    Kernels,
    Loop,
    loop_of,
)
from .raw import Params, RawDtype, Run
from .rules import sum_to

MAX_STEPS: Final = 400
"""Largest number of steps of a kernel: its compilation takes the longer the more."""

MAX_REMEMBERED: Final = 10_000
"""Largest number of formulas whose kernels are remembered."""

NUMBERS: Final = (bool, int, float, numpy.generic)


class Pending:
    """An array of a formula: one that is there, or a step that is still to be done."""

    __slots__ = ("_raw", "_shape", "dtype", "loop", "name", "operands", "steps", "xp")
    __array_ufunc__ = None
    __array_priority__ = 1000
    __hash__ = object.__hash__
    name: str
    operands: tuple[Any, ...]
    loop: Loop

    def __init__(
        self, xp: PendingNamespace, raw: Any, dtype: Any, shape: tuple[int, ...]
    ) -> None:
        self.xp, self._raw, self.dtype, self._shape = xp, raw, dtype, shape
        self.steps = 0

    @property
    def raw(self) -> Any:
        """Return the array itself; it is computed if it is not there."""
        if self._raw is None:
            self.xp.compute([self])
        return self._raw

    @property
    def shape(self) -> tuple[int, ...]:
        self.xp.shapes_matter = True
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def __gradcli_namespace__(self) -> PendingNamespace:
        return self.xp

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        to = numpy.dtype(dtype)
        if to == self.dtype and not copy:
            return self
        if to.char in FUSED_TYPES and self.dtype.char in FUSED_TYPES:
            return self.xp.step("astype", Loop((to,), to), (self,))
        return self.xp.wrapped(self.raw.astype(dtype))

    def __getattr__(self, name: str) -> Any:
        self.xp.shapes_matter = True
        value = getattr(self.raw, name)
        return self.xp.lifted(value) if callable(value) else self.xp.wrapped(value)

    def __getitem__(self, index: Any) -> Any:
        return self.xp.wrapped(self.raw[self.xp.opened(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.xp.shapes_matter = True
        self.raw[self.xp.opened(index)] = self.xp.opened(value)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return map(self.xp.wrapped, self.raw)

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __int__(self) -> int:
        return int(self.raw)

    def __index__(self) -> int:
        number: int = self.raw.__index__()
        return number

    def __float__(self) -> float:
        return float(self.raw)


def _applying(name: str) -> Run:
    """Return a function that applies an operator to a pending array and another."""
    theirs = LIBRARY_OPERATORS.get(name) or UFUNCS.get(name)
    if theirs is None:
        return lambda x, *both: getattr(x.xp, name)(*both)
    return lambda x, *both: x.xp.apply(theirs, *both)


put_on(Pending, _applying)


class PendingFunction:
    """An elementwise function of the library, whose calls are steps."""

    def __init__(self, xp: PendingNamespace, name: str, ufunc: Any) -> None:
        self._xp, self._name, self._ufunc = xp, name, ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != self._ufunc.nin:
            return self._xp.lifted(self._ufunc)(*args, **kwargs)
        return self._xp.apply(self._name, *args)

    def __getattr__(self, name: str) -> Any:
        return self._xp.lifted(getattr(self._ufunc, name))


class PendingLibrary:
    """CuPy, or its special functions, for pending arrays."""

    def __init__(self, xp: PendingNamespace, library: Any, prefix: str = "") -> None:
        self._xp, self._library, self._prefix = xp, library, prefix

    def __getattr__(self, name: str) -> Any:
        function = self._xp.function(self._library, self._prefix, name)
        setattr(self, name, function)
        return function


class PendingNamespace(GpuArrays):
    """The functions that rules call, on pending arrays over those of ``base``."""

    def __init__(self, base: Any, kernels: Kernels) -> None:
        self.base, self.kernels, self.cupy = base, kernels, kernels.cupy
        self.again: dict[Hashable, Callable[..., Any] | None] = {}
        self.name, self.shapes_matter, self.launches = "", False, 0
        self.last: tuple[Any, ...] = ()
        library: Any = PendingLibrary(self, base.np)
        special: Any = PendingLibrary(self, base._special(), SPECIAL_PREFIX)
        super().__init__(library, lambda: special, base._solvers, "cuda")
        for name, theirs in LIBRARY_OPERATORS.items():
            setattr(self, name, partial(self.apply, theirs))

    # -- arrays in, arrays out ---------------------------------------------------------

    def wrapped(self, value: Any) -> Any:
        """Return a value with pending arrays in place of arrays."""
        if isinstance(value, self.cupy.ndarray):
            return Pending(self, value, value.dtype, value.shape)
        if type(value) in (tuple, list):
            return type(value)([self.wrapped(each) for each in value])
        return value

    def opened(self, value: Any) -> Any:
        """Return a value with arrays in place of pending ones, which are computed."""
        if isinstance(value, Pending):
            return value.raw
        if type(value) in (tuple, list):
            return type(value)([self.opened(each) for each in value])
        return value

    def lifted(self, function: Any) -> Run:
        """Return a function of pending arrays that calls one of arrays."""

        def run(*args: Any, **kwargs: Any) -> Any:
            self.shapes_matter = True
            named = {name: self.opened(value) for name, value in kwargs.items()}
            return self.wrapped(function(*self.opened(args), **named))

        return run

    def function(self, library: Any, prefix: str, name: str) -> Any:
        """Return what stands for a library's function of that name."""
        if name == "where":
            return self.choose
        if name in ("asarray", "array", "ascontiguousarray"):
            return partial(self.as_pending, getattr(library, name))
        if name == "full_like":
            return lambda x, value: self.choose(True, value, x)
        theirs = getattr(self.kernels.special if prefix else self.cupy, name, None)
        fused = prefix or isinstance(getattr(numpy, name, None), numpy.ufunc)
        if not fused or not isinstance(theirs, self.cupy.ufunc):
            function = getattr(library, name)
            return self.lifted(function) if callable(function) else function
        if theirs.nout == 1:
            return PendingFunction(self, prefix + name, theirs)
        names = [f"{prefix}{name}[{nr}]" for nr in range(theirs.nout)]
        return lambda *args: tuple([self.apply(each, *args) for each in names])

    def as_pending(self, make: Run, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Return an array as it is, and a number as one of its type."""
        if isinstance(x, Pending) and not args and not kwargs:
            return x
        if isinstance(x, NUMBERS) and not args and not kwargs:
            return numpy.asarray(x)[()]
        return self.lifted(make)(x, *args, **kwargs)

    def choose(self, condition: Any, *pair: Any) -> Any:
        """Return `where`, of one or of three operands."""
        if not pair:
            return self.lifted(self.cupy.where)(condition)
        return self.apply("where", condition, *pair)

    @contextmanager
    def named(self, name: str) -> Iterator[None]:
        """Give the kernels that are made inside a name."""
        before, self.name = self.name, name
        try:
            yield
        finally:
            self.name = before

    def special_functions(self, name: str) -> Run:
        """Return a function of the library of special functions."""
        function: Run = getattr(self._special(), name)
        return function

    # -- steps -------------------------------------------------------------------------

    def apply(self, name: str, *operands: Any) -> Any:
        """Return the result of an elementwise function, as a step where it can be."""
        args = [self.wrapped(x) for x in operands]
        arrays = [x for x in args if isinstance(x, Pending)]
        if not all([isinstance(x, (Pending, *NUMBERS)) for x in args]):  # noqa: C419
            return NotImplemented
        if not arrays and not name.startswith(SPECIAL_PREFIX):
            with numpy.errstate(all="ignore"):
                return getattr(numpy, name)(*args)
        if name == "power" and isinstance(args[0], Pending):
            plain = isinstance(args[1], float | int)
            other = LIBRARY_POWERS.get(args[1]) if plain else None
            if other is not None and args[0].dtype.kind == "f":
                return self.apply(other, args[0])
        loop = loop_of(name, tuple([getattr(x, "dtype", type(x)) for x in args]))
        if loop is None:
            run = self.kernels.function(name)
            return self.wrapped(run(*self.opened(args)))
        return self.step(name, loop, tuple(args))

    def step(self, name: str, loop: Loop, operands: tuple[Any, ...]) -> Pending:
        """Return the result of a step that is still to be done."""
        arrays = [o for o in operands if isinstance(o, Pending)]
        shapes = [o._shape for o in arrays]
        result = Pending(self, None, loop.result, joint_shape(shapes))
        result.name, result.loop, result.operands = name, loop, operands
        open_ = [o for o in arrays if o._raw is None]
        result.steps = 1 + sum([o.steps for o in open_])
        if result.steps > MAX_STEPS:  # or fewer, as some are counted several times
            result.steps = 1 + len(self._program(open_)[0].steps)
        if result.steps > MAX_STEPS:
            self.compute(open_)
            result.steps = 1
        return result

    def number(self, dtype: RawDtype, value: Any) -> Pending:
        """Return a number as an array without dimensions, which kernels read as one."""
        result = Pending(self, None, dtype, ())
        result.name, result.operands = "number", (dtype.type(value),)
        return result

    def compute(self, wanted: Sequence[Pending], by_rows: bool = False) -> None:
        """Compute pending arrays: those of one shape in one kernel.

        Args:
            by_rows: they lie in the order of their indices, however their operands do.
        """
        groups: dict[tuple[int, ...], dict[int, Pending]] = {}
        for each in wanted:
            if each._raw is None and each.name == "number":
                self.shapes_matter = True
                each._raw = self.base.np.asarray(each.operands[0])
            elif each._raw is None:
                groups.setdefault(each._shape, {})[id(each)] = each
        for shape, group in groups.items():
            program, leaves, numbers = self._program([*group.values()])
            arrays = [leaf._raw for leaf in leaves]
            self.launches += 1
            self.last = program, leaves, numbers
            results = self.kernels.compute(
                self.name, program, shape, arrays, numbers, by_rows
            )
            for each, raw in zip(group.values(), results, strict=True):
                each._raw = raw

    def _program(
        self, group: Sequence[Pending]
    ) -> tuple[KernelProgram, list[Pending], list[Any]]:
        """Return the steps of pending arrays, and the arrays and numbers they read."""
        places: dict[int, int] = {}
        steps: list[tuple[str, tuple[int, ...], str]] = []
        leaves: list[Pending] = []
        numbers: list[Any] = []
        stack = [(each, False) for each in reversed(group)]
        while stack:
            each, ready = stack.pop()
            if id(each) in places:
                continue
            if each._raw is not None:
                places[id(each)] = len(leaves)
                leaves.append(each)
            elif each.name == "number":
                places[id(each)] = NUMBER + len(numbers)
                numbers.append(each.operands[0])
            elif not ready:
                stack.append((each, True))
                below = [o for o in each.operands if isinstance(o, Pending)]
                stack += [(o, False) for o in reversed(below) if id(o) not in places]
            else:
                refs = []
                for operand, dtype in zip(
                    each.operands, each.loop.operands, strict=True
                ):
                    if isinstance(operand, Pending):
                        refs.append(places[id(operand)])
                    else:
                        refs.append(NUMBER + len(numbers))
                        numbers.append(dtype.type(operand))
                places[id(each)] = STEP + len(steps)
                operand_types: tuple[Any, ...] = each.loop.operands
                types = "".join([t.char for t in operand_types])
                steps.append((each.name, tuple(refs), types))
        results = tuple([places[id(each)] for each in group])
        read = "".join([leaf.dtype.char for leaf in leaves])
        return KernelProgram(tuple(steps), results, read), leaves, numbers

    # -- formulas ----------------------------------------------------------------------

    def run(
        self, name: str, formula: Run, operands: Sequence[Any], params: Params
    ) -> Any:
        """Return what a formula gives on arrays."""
        return self._run(name, formula, [*map(self.wrapped, operands)], params)

    def _run(
        self, name: str, formula: Run, operands: Sequence[Any], params: Params,
        remember: Callable[[Any, list[Pending]], None] | None = None,
    ) -> Any:  # fmt: skip
        with self.named(name):
            result = formula(self, *operands, **params)
            parts = result if isinstance(result, tuple | list) else (result,)
            ends = [y for y in parts if isinstance(y, Pending) and y._raw is None]
            once = not self.launches and not self.shapes_matter
            self.compute(ends)
            if remember is not None and once and self.launches == 1:
                remember(result, ends)
            return self.opened(result)

    def run_elementwise(
        self, key: Hashable, name: str, formula: Run, operands: Sequence[Any],
        params: Params,
    ) -> Any:  # fmt: skip
        """Return what an elementwise formula gives; its kernel is remembered.

        Args:
            key: what the formula depends on, except for the operands and parameters.
        """
        kinds: list[Any] = [key, name]
        for x in operands:
            if isinstance(x, self.cupy.ndarray):
                kinds.append(x.dtype.char)
            elif x is None or isinstance(x, NUMBERS):
                kinds += type(x), repr(x)
            else:
                return self.run(name, formula, operands, params)
        for parameter, value in params.items():
            kinds += parameter, repr(value)
        whole = tuple(kinds)
        again = self.again.get(whole)
        if again is not None:
            return again(*operands)
        if whole in self.again:
            return self.run(name, formula, operands, params)
        if len(self.again) > MAX_REMEMBERED:
            self.again.clear()
        self.shapes_matter, self.launches = False, 0
        given = [*map(self.wrapped, operands)]

        def remember(result: Any, ends: list[Pending]) -> None:
            self.again[whole] = self._repeated(name, result, ends, given)

        result = self._run(name, formula, given, params, remember)
        self.again.setdefault(whole, None)
        return result

    def _repeated(
        self, name: str, result: Any, ends: list[Pending], given: Sequence[Any]
    ) -> Callable[..., Any] | None:
        """Return a function that computes the last program on other operands; None if
        it reads others than these."""
        program, leaves, numbers = self.last
        places = {id(x): nr for nr, x in enumerate(given) if isinstance(x, Pending)}
        several = isinstance(result, tuple)
        order = [places.get(id(leaf), -1) for leaf in leaves]
        computed = {id(each): nr for nr, each in enumerate(dict.fromkeys(ends))}
        sources: list[tuple[Any, int]] = []
        for part in result if several else (result,):
            if part is not None and id(part) not in {**computed, **places}:
                return None
            at = computed.get(id(part))
            sources.append((at, places.get(id(part), -1)))
        if -1 in order:
            return None

        def again(*operands: Any) -> Any:
            arrays = [operands[nr] for nr in order]
            shape = joint_shape([a.shape for a in arrays])
            parts = self.kernels.compute(name, program, shape, arrays, numbers)
            chosen = [
                parts[at] if at is not None else operands[nr] if nr >= 0 else None
                for at, nr in sources
            ]
            return tuple(chosen) if several else chosen[0]

        return again

    def pulled(
        self, node: Any, g: Any, y: Any, inputs: Sequence[Any], edges: Any
    ) -> tuple[Any, ...]:
        """Return the cotangents of a node's edges, as `Node.apply_rules` does."""
        op, name = node.op, type(node).__name__
        if op.partials is None or op.variadic or op.together is not None:

            def rules(xp: Any, g: Any, y: Any, *inputs: Any) -> Any:
                return node.apply_rules(xp, g, y, inputs, edges)

            return tuple(self.run(name, rules, (g, y, *inputs), {}))
        live = tuple([edge is not None for edge in edges or node.edges])
        wanted = [rule for rule, on in zip(node.rules, live, strict=True) if on]

        def products(xp: Any, *given: Any, **params: Any) -> Any:
            return tuple([rule(xp, *given, **params) for rule in wanted])

        key, operands = (op.name, live), (g, y, *inputs)
        parts = iter(self.run_elementwise(key, name, products, operands, node.params))
        pulled = [next(parts) if on else None for on in live]
        if node.shapes is None:
            return tuple(pulled)
        return tuple([
            None if gi is None else sum_to(self.base, gi, node.shapes[slot])
            for gi, slot in zip(pulled, node.slots, strict=True)
        ])  # fmt: skip

    # -- functions of arrays with steps of their own -----------------------------------

    def in_parts(self, run: Run, arrays: Sequence[Any], entries: int) -> Any:
        return run(*arrays)

    def plus(self, y: Any, x: Any) -> Any:
        return self.apply("add", y, x)

    def as_type_of(self, x: Any, like: Any) -> Any:
        dtype = getattr(like, "dtype", numpy.dtype(float))
        if isinstance(x, NUMBERS):
            return dtype.type(x)
        if isinstance(x, Pending):
            return x.astype(dtype)
        return self.lifted(self.base.as_type_of)(x, like)

    def zeros_like(self, x: Any) -> Any:
        return self.choose(True, x.dtype.type(0), x)

    def ones_like(self, x: Any) -> Any:
        return self.choose(True, x.dtype.type(1), x)

    def new_full(self, x: Any, shape: Sequence[int], value: Any) -> Any:
        if tuple(shape) == () and isinstance(value, NUMBERS):
            return self.number(x.dtype, value)
        return self.lifted(self.base.new_full)(x, shape, value)

    def nan_to_num(
        self, x: Any, nan: float, posinf: float | None, neginf: float | None
    ) -> Any:
        ends = numpy.finfo(x.dtype)
        top = ends.max if posinf is None else posinf
        low = ends.min if neginf is None else neginf
        y = self.choose(self.isnan(x), nan, x)
        y = self.choose(self.eq(x, numpy.inf), top, y)
        return self.choose(self.eq(x, -numpy.inf), low, y)

    def largest_of(self, parts: Sequence[Any]) -> tuple[Any, Any]:
        if not 1 < len(parts) <= MAX_LEAVES or parts[0].dtype.kind != "f":
            pair: tuple[Any, Any] = self.lifted(self.base.largest_of)(parts)
            return pair
        best = parts[0]
        for part in parts[1:]:
            best = self.maximum(best, part)
        number: Any = self.zeros_like(best)
        beaten: Any = True
        for part in parts[:-1]:
            less = self.logical_and(self.ne(part, best), self.eq(part, part))
            beaten = self.logical_and(beaten, less)
            number = number + self.as_type_of(beaten, best)
        self.compute([best, number], by_rows=True)
        return best, number.astype("i8")


def joint_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that shapes broadcast to.

    Raises:
        ValueError: there is none; NumPy's words, which the engine explains.
    """
    if shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        listed = " ".join(map(str, shapes))
        message = f"operands could not be broadcast together with shapes {listed} "
        raise ValueError(message) from None


def _handed_on(name: str) -> Run:
    """Return a method that calls the function of arrays."""

    def run(self: PendingNamespace, *args: Any, **kwargs: Any) -> Any:
        return self.lifted(getattr(self.base, name))(*args, **kwargs)

    return run


for _name in BASIS - {*UFUNCS, *SPECIAL, *vars(PendingNamespace)}:
    _rows = overloads(_name)
    _fuses = bool(_rows) and all(row.elementwise for row in _rows)
    if callable(getattr(ArrayNamespace, _name)) and not _fuses:
        setattr(PendingNamespace, _name, _handed_on(_name))
