"""Whether operations are recorded.

Invariant: one switch; every recorder reads it, only the context managers write it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any


class _Mode:
    __slots__ = ("enabled",)

    def __init__(self) -> None:
        self.enabled = True


MODE = _Mode()


def is_grad_enabled() -> bool:
    """Whether operations are recorded at present."""
    return MODE.enabled


class set_grad_enabled:  # noqa: N801 (PyTorch's name)
    """Record, or do not, inside a ``with`` block; also a decorator.

    As a plain call it takes effect at once, as in PyTorch.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self.before = MODE.enabled
        MODE.enabled = mode

    def __enter__(self) -> None:
        MODE.enabled = self.mode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        MODE.enabled = self.before


class _Block:
    """A ``with`` block or a decorator that sets the switch to ``mode``."""

    mode: bool

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(MODE.enabled)
        MODE.enabled = self.mode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        MODE.enabled = self._before.pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)():
                return function(*args, **kwargs)

        return wrapped


class no_grad(_Block):  # noqa: N801 (PyTorch's name)
    """Nothing inside is recorded."""

    mode = False


class enable_grad(_Block):  # noqa: N801 (PyTorch's name)
    """Everything inside is recorded, also within `no_grad`."""

    mode = True
