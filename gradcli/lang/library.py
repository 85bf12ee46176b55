"""The interface between the machine and the values that programs run on.

The machine handles control flow and plain numbers; every other value, function, method
and attribute comes from a `Library`. So the same program can run on tensors, on symbols
or on numbers of any precision.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from .errors import Span

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
