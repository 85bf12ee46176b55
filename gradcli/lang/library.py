"""What the machine needs from whoever gives programs their values.

The machine knows control flow and plain numbers; every other value, function, method
and attribute comes from a `Library`. So the same program runs on tensors, on symbols
or on numbers of as many digits as are asked for.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from .errors import Span

Explanation = tuple[str, str, str | None]


class Library(Protocol):
    """Functions, constants and values for programs to run on."""

    @property
    def functions(self) -> Mapping[str, Callable[..., object]]:
        """The functions by name; those of a module as `linalg.name`."""

    @property
    def constants(self) -> Mapping[str, object]:
        """Names with a fixed value, which a program or binding may still redefine."""

    def method(self, value: object, name: str) -> Callable[..., object] | None:
        """Return the bound method of a value, or None if it has none of that name."""

    def attribute(self, value: object, name: str) -> tuple[bool, object]:
        """Return whether the value has the attribute, and the attribute."""

    def method_names(self, value: object) -> Iterable[str]:
        """Return the methods and attributes of the value, for suggestions."""

    def grad_mode(self, enabled: bool) -> AbstractContextManager[object]:
        """Return a context in which recording is on or off."""

    def changing(self) -> AbstractContextManager[object]:
        """Return a context in which values are changed in place."""

    def own(self, value: object) -> object:
        """Return a copy that in-place steps may change; or the value where none can."""

    def vector(self, items: list[object]) -> object:
        """Return the value that a list is as an operand, or None if it can be none."""

    def truth(self, value: object) -> bool:
        """Return the truth of a value that is not a plain number."""

    def iterate(self, value: object) -> Iterable[object]:
        """Return the items that a `for` goes through."""

    def on_result(self, value: object, span: Span) -> None:
        """Note a result of an operator, function or method, and its text."""

    def explain(
        self, error: Exception, kind: str, name: str, args: tuple[object, ...]
    ) -> Explanation | None:
        """Return code, message and hint for an exception, or None for general wording.

        `kind` is one of operator, function, method, attribute, index, truth, iterate;
        `args` are the values it was applied to, a method's own value first.
        """
