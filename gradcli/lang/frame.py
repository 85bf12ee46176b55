"""The frame: the state of one run apart from its registers, and the library it uses.

The machine handles control flow and plain numbers; every other value, function, method
and attribute comes from a `Library`. So the same program can run on tensors, on symbols
or on numbers of any precision. The frame checks the operands of operators: values of
some types have no operators in the language, and values that are no plain numbers are
left to the library.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from types import EllipsisType, NoneType
from typing import Protocol

from .arithmetic import NUMBERS, Number, binary
from .errors import ProgramError, Span

Explanation = tuple[str, str, str | None]


class Library(Protocol):
    """The functions, constants and values of a number system, for the machine."""

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]:
        """The functions by name; those of a module have names like `linalg.inv`."""

    @property
    def constants(self) -> Mapping[str, object]:
        """Values by name; a program or a binding can still redefine these names."""

    def method(self, value: object, name: str) -> Callable[..., object] | None:
        """Return the bound method of a value, or None if it has none of that name."""

    def attribute(self, value: object, name: str) -> tuple[bool, object]:
        """Return whether the value has the attribute, and the attribute or None."""

    def method_names(self, value: object) -> Iterable[str]:
        """Return the methods and attributes of the value, for suggestions."""

    def grad_mode(self, enabled: bool) -> AbstractContextManager[object]:
        """Return a context in which recording is on or off."""

    def changing(self) -> AbstractContextManager[object]:
        """Return a context in which values can be changed in place."""

    def own(self, value: object) -> object:
        """Return a copy that may be changed in place; or the value if none can be."""

    def vector(self, items: list[object]) -> object:
        """Return the value of a list as an operand, or None if it cannot be one."""

    def truth(self, value: object) -> bool:
        """Return the truth of a value that is not a plain number."""

    def on_result(self, value: object, span: Span) -> None:
        """Record the result of an operator, function or method, with its span."""

    def explain(
        self, error: Exception, kind: str, name: str, args: tuple[object, ...]
    ) -> Explanation | None:
        """Return code, message and hint for an exception, or None for general wording.

        `kind` is one of operator, function, method, attribute, index, truth, iterate;
        `args` are the values it was applied to, a method's own value first.
        """


class Unset:
    """The class of the content of a variable before it has a value."""


UNSET = Unset()

_WITHOUT_OPERATORS = (
    *(str, bytes, list, tuple, dict, set, range, slice),
    *(NoneType, EllipsisType, Unset),
)
_KIND_NAMES: dict[type, str] = {
    str: "a string",
    list: "a list",
    tuple: "a tuple",
    range: "a range",
    NoneType: "None",
    EllipsisType: "'...'",
    bool: "a truth value",
    int: "a number",
    float: "a number",
}


def described(value: object) -> str:
    """Return the kind of a value in words, such as "a list"."""
    for kind, words in _KIND_NAMES.items():
        if isinstance(value, kind):
            return words
    return f"a {type(value).__name__}"


class Frame:
    """The state of a run: its count of steps, notes, gradient modes and last value."""

    def __init__(
        self,
        library: Library,
        max_steps: int,
        trace: Callable[[Span, str | None, object], None] | None,
    ) -> None:
        self.library = library
        self.on_result = library.on_result
        self.max_steps = max_steps
        self.trace = trace
        # A library of exact numbers computes with plain numbers itself.
        self.arithmetic = getattr(library, "arithmetic", binary)
        self.modes: list[AbstractContextManager[object]] = []
        self.restart()
        # Types of operands that are left to the library, each added when first met.
        self.foreign: set[type] = set()

    def restart(self) -> None:
        """Reset the state for a new run."""
        self.steps = 0
        self.notes: dict[tuple[str, Span], None] = {}
        self.last_value: object = None
        self.last_name: str | None = None
        self.last_span: Span | None = None

    def compute(self, sign: str, left: Number, right: Number, at: Span) -> object:
        """Return an operator's value on two plain numbers; note a division by zero."""

        def note(message: str) -> None:
            self.notes[message, at] = None

        return self.arithmetic(sign, left, right, note)

    def admitted(self, value: object) -> object:
        """Return the value as an operand; a list of numbers becomes a vector.

        Raises:
            ProgramError: the value cannot be an operand.
        """
        if isinstance(value, list):
            value = self.as_vector(value)
        if isinstance(value, _WITHOUT_OPERATORS):
            kind = described(value)
            inside = isinstance(value, (list, tuple))
            hint = "write tensor([...])" if inside else "use numbers and tensors"
            raise ProgramError("E301", f"{kind} cannot be an operand", hint=hint)
        if not isinstance(value, NUMBERS):
            self.foreign.add(type(value))
        return value

    def as_vector(self, value: list[object]) -> object:
        """Return the vector that the library makes of a list, or else the list."""
        made = self.library.vector(value)
        return value if made is None else made

    def truth(self, value: object) -> bool:
        if isinstance(value, (*NUMBERS, NoneType)):
            return bool(value)
        if isinstance(value, _WITHOUT_OPERATORS):
            message = f"{described(value)} is neither true nor false"
            raise ProgramError("E305", message, hint="compare it: a > b")
        return self.library.truth(value)

    def open_mode(self, enabled: bool) -> None:
        mode = self.library.grad_mode(enabled)
        mode.__enter__()
        self.modes.append(mode)

    def close_modes(self, count: int) -> None:
        for _ in range(count):
            self.modes.pop().__exit__(None, None, None)
