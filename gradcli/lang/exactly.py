"""Programs whose plain numbers are exact; the checker runs these on its number systems.

The engine rounds a program's constants to floats; a check of it must not. A decimal is
the fraction that was typed, plain numbers are added and multiplied by
`gradcli.ops.exact`, and a tensor's number system takes an exact number as it is.

    library = ExactLibrary(ExactFactory(xp, "float64", seed=0))
    run(exact_code(parse("y = (0.1 + 0.2)*x")), {"x": x}, library)      # 3/10*x
"""

from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np

from ..engine import Tensor
from ..ops.basis import ARITHMETIC
from ..ops.exact import PI, E, Exact, decimal, fraction, function, standing_for
from .compiler import compile_program
from .factory import Draws, Factory
from .machine import Code
from .nested import Floats
from .parser import parse
from .plain import OPERATORS, Note, Number, binary, unnoted
from .syntax import Literal, Program
from .tensor_library import CONSTANTS, TensorLibrary

_NAMED = {"pi": PI, "Pi": PI, "π": PI, "e": E, "tau": 2 * PI}
_FUNCTIONS = {plain: name for name, plain in ARITHMETIC.items()}


def exact_code(program: Program, typed: Callable[[str], float] | None = None) -> Code:
    """Return a program compiled to steps, with its decimals as exact numbers: the
    fractions that were typed, or the values that ``typed`` returns for their texts."""
    read = typed or decimal

    def constant(node: Literal) -> object:
        written = type(node.value) is float
        text = node.written or program.text(node)
        return read(text) if written else node.value

    return compile_program(program, constant)


@lru_cache(maxsize=4)
def exactly_compiled(source: str, names: frozenset[str]) -> Code:
    """Return a program compiled to steps, its decimals as the fractions that were
    typed; it is mostly run at several points."""
    return exact_code(parse(source, names))


class ExactFactory(Factory):
    """A factory whose constants stay exact, also in lists."""

    def raw(self, values: object) -> Any:
        plain = isinstance(values, int | Exact)
        if plain or (isinstance(values, np.ndarray) and values.dtype.kind == "O"):
            return self.xp.array(values)
        return super().raw(values)

    def numbers_of(self, value: object) -> Floats:
        found = super().numbers_of(value)
        flat: list[Any] = [value]
        for _ in found.shape:
            flat = [entry for row in flat for entry in row]
        if any(isinstance(entry, Exact) for entry in flat):
            return _retain(flat, found.shape)
        return found

    def constructors(self, draws: Draws) -> dict[str, Callable[..., object]]:
        return {**super().constructors(draws), "float": _left}

    def filled(self, shape: tuple[int, ...], number: object) -> Floats:
        if isinstance(number, Exact):
            return _retain([number] * prod(shape), shape)
        return super().filled(shape, number)

    def spaced(self, first: float, pace: float, count: int) -> Floats:
        return _retain([first + fraction(i) * pace for i in range(count)], (count,))

    def between(self, start: float, end: float, count: int) -> Floats:
        width, parts = fraction(1) * end - start, max(count - 1, 1)
        found = [start + width * fraction(i, parts) for i in range(count)]
        return _retain(found, (count,))


def _retain(entries: list[Any], shape: tuple[int, ...]) -> Floats:
    kept: Any = np.empty(len(entries), dtype=object)
    kept[:] = entries
    found: Floats = kept.reshape(shape)
    return found


def _left(value: Tensor) -> object:
    """Return a tensor's only entry as a number, exact if the number system is; no
    derivative is taken through it."""
    number = value.item()
    if not value.xp.symbolic or not isinstance(number, float):
        return number
    (element,) = value.xp.elements(value.xp.stop(value.raw)).reshape(-1).tolist()
    return standing_for(element, number)


class ExactLibrary(TensorLibrary):
    """A library of tensors whose named constants and plain numbers are exact."""

    def __init__(self, factory: ExactFactory) -> None:
        super().__init__(factory)
        self.constants = {**CONSTANTS, **_NAMED}

    def method(self, value: object, name: str) -> Callable[..., object] | None:
        if name == "item" and isinstance(value, Tensor):
            return partial(_left, value)
        return super().method(value, name)

    def arithmetic(
        self, sign: str, left: Any, right: Any, note: Note = unnoted
    ) -> Number:
        """Return the exact value of an operator on two plain numbers."""
        value = binary(sign, left, right, note)
        if type(value) is not float:
            return value
        name = _FUNCTIONS.get(OPERATORS[sign])
        return value if name is None else function(name, value, left, right)
