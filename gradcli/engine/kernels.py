"""Kernels of a GPU that compute several elementwise steps at once.

Invariant: each step is computed in the type in which NumPy computes it, inside of a
kernel of ``cupy.fuse`` as outside; what does not fuse is computed step by step.

    program = KernelProgram((("tanh", (0,), "d"), ("multiply", (STEP, 0), "dd")), (1,))
    (y,) = Kernels(cupy, special).compute("Scaled", program, (3,), [x], [])
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy

from .memory_order import order_of_results
from .raw import Raw, RawDtype, Run

MAX_LEAVES: Final = 24
"""Largest number of arrays that a kernel reads."""

FUSED_TYPES: Final = "?lfd"
"""Types that steps of kernels have: truth values, integers, single and double floats.
"""

SPECIAL_PREFIX: Final = "special."
"""Prefix of the names of the functions of the library of special functions."""

NUMBER: Final = 1 << 20
STEP: Final = 2 << 20
"""Least places of numbers and of steps in a program; the arrays come before them."""


class Loop(NamedTuple):
    """The types of a function's operands and of its result."""

    operands: tuple[RawDtype, ...]
    result: RawDtype


@cache
def loop_of(name: str, kinds: tuple[Any, ...]) -> Loop | None:
    """Return the types that NumPy computes a function in; None if no kernel has them.

    Args:
        kinds: of each operand its dtype or, of a plain number, its class.
    """
    kinds = tuple([numpy.dtype("?") if kind is bool else kind for kind in kinds])
    dtypes = [kind for kind in kinds if not isinstance(kind, type)]
    if name == "where":
        plain = [kind(0) if isinstance(kind, type) else kind for kind in kinds[1:]]
        result: Any = numpy.result_type(*plain)
        operands: tuple[Any, ...] = (numpy.dtype("?"), result, result)
    elif name.startswith(SPECIAL_PREFIX):
        result = numpy.result_type(*dtypes, "f4")
        operands = (result,) * len(kinds)
    else:
        try:
            *before, result = getattr(numpy, name).resolve_dtypes((*kinds, None))
        except TypeError:
            return None
        operands = tuple(before)
    if name == "power" and result.kind != "f":
        return None  # its error depends on the numbers
    types = [*operands, result, *dtypes]
    fused = all(each.char in FUSED_TYPES for each in types)
    return Loop(operands, result) if fused else None


class KernelProgram(NamedTuple):
    """Steps that are computed at once.

    steps    of each its function, the places of its operands and their types
    results  the places of what is wanted
    types    the types of the arrays that are read
    """

    steps: tuple[tuple[str, tuple[int, ...], str], ...]
    results: tuple[int, ...]
    types: str = ""

    def run(
        self, functions: Sequence[Run | None], arrays: Sequence[Any], numbers: Any
    ) -> tuple[Any, ...]:
        """Return the results on arrays, or on what stands for them in a kernel.

        Args:
            functions: of each step its function; None for a mere conversion.
        """
        values: list[Any] = []

        def at(place: int) -> Any:
            if place >= STEP:
                return values[place - STEP]
            return arrays[place] if place < NUMBER else numbers[place - NUMBER]

        for (_, places, types), function in zip(self.steps, functions, strict=True):
            operands = [
                x if x.dtype.char == type_ else x.astype(type_)
                for x, type_ in zip(map(at, places), types, strict=True)
            ]
            values.append(operands[0] if function is None else function(*operands))
        return tuple(map(at, self.results))


class Kernels:
    """The kernels that were made so far.

    ``cupy`` is CuPy, and ``special`` its module of special functions.
    """

    def __init__(self, cupy: Any, special: Any) -> None:
        self.cupy, self.special = cupy, special
        self._fused: dict[Hashable, Any] = {}
        self._changes: dict[Hashable, Any] = {}

    def function(self, name: str) -> Any:
        """Return the function of a step; None for a conversion."""
        if name == "astype":
            return None
        word, _, which = name.removeprefix(SPECIAL_PREFIX).partition("[")
        own = self.special if name.startswith(SPECIAL_PREFIX) else self.cupy
        function = getattr(own, word)
        return (lambda *xs: function(*xs)[int(which[:-1])]) if which else function

    def compute(
        self, name: str, program: KernelProgram, shape: tuple[int, ...],
        arrays: Sequence[Raw], numbers: Sequence[Any], by_rows: bool = False,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return the results of a program on arrays that broadcast to ``shape``.

        Args:
            name: the name that the kernel has for those who look at the GPU's work.
            by_rows: the results lie in the order of their indices, however the arrays
                do.
        """
        functions = [self.function(each) for each, _, _ in program.steps]

        def run(*given: Any) -> tuple[Any, ...]:
            return program.run(functions, given, numbers)

        if len(program.steps) > 1 and len(arrays) <= MAX_LEAVES:
            results: tuple[Any, ...] | None
            results = self._launched(
                name, program, functions, shape, arrays, numbers, by_rows
            )
            if results is not None:
                return results
        return run(*arrays) if by_rows else in_memory_order_of(run, shape, arrays)

    def _launched(
        self, name: str, program: KernelProgram, functions: Any,
        shape: tuple[int, ...], arrays: Sequence[Raw], numbers: Sequence[Any],
        by_rows: bool,
    ) -> Any:  # fmt: skip
        """Return the results of one kernel; None if the steps do not fuse."""
        key, count = (name, program), len(arrays)
        if key not in self._fused:
            self._fused[key] = self.cupy.fuse(kernel_name=name)(
                lambda *xs: program.run(functions, xs[:count], xs[count:])
            )
        kernel = self._fused[key]
        if kernel is None:
            return None

        def run(*given: Any) -> Any:
            return kernel(*given, *numbers)

        try:
            plain = by_rows or not shape
            results = run(*arrays) if plain else in_memory_order_of(run, shape, arrays)
        except MemoryError:
            raise
        except Exception:
            results = None
        if results is None or kernel.new_fusion is not None:
            # CuPy's other fusion makes a kernel for each shape.
            self._fused[key] = None
            return None
        return results

    def change(
        self, key: Hashable, name: str, run: Run, arrays: Sequence[Any],
        numbers: Sequence[float],
    ) -> None:  # fmt: skip
        """Run a function of arrays and numbers that writes to the arrays, as a kernel.

        Args:
            key: what the function depends on, except for the arrays and the numbers.
        """
        kernel = self._changes.get(key)
        if kernel is None:
            kernel = self._changes[key] = self.cupy.fuse(kernel_name=name)(run)
        kernel(*arrays, *numbers)


def in_memory_order_of(
    run: Callable[..., tuple[Any, ...]], shape: tuple[int, ...], arrays: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the results of an elementwise function on arrays, laid out in memory as
    NumPy lays them out: a GPU's own lie in the order of their indices."""
    if all([a.flags.c_contiguous for a in arrays]):  # noqa: C419
        return run(*arrays)
    missing = [(0,) * (len(shape) - a.ndim) for a in arrays]
    order = order_of_results([
        (*none, *[0 if n == 1 else s for n, s in zip(a.shape, a.strides, strict=True)])
        for none, a in zip(missing, arrays, strict=True)
    ])  # fmt: skip
    if order == sorted(order):
        return run(*arrays)
    back = numpy.argsort(order).tolist()
    turned = [
        a.reshape((1,) * (len(shape) - a.ndim) + a.shape).transpose(order)
        for a in arrays
    ]
    return tuple([part.transpose(back) for part in run(*turned)])
