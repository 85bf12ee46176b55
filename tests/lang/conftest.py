"""A small library of plain Python values for programs to run on."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest

from gradcli.lang.compiler import compile_program
from gradcli.lang.machine import Machine, ProgramResult
from gradcli.lang.parser import parse


class Box:
    """A value that is no plain number: it multiplies, and refuses to add."""

    def __init__(self, content: float) -> None:
        self.content = content

    def __mul__(self, other: Any) -> "Box":
        return Box(self.content * getattr(other, "content", other))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Box":
        raise ValueError(f"shapes {self.content} and {other} do not fit")

    def __getitem__(self, key: object) -> object:
        return key

    def __iter__(self) -> Iterator[float]:
        return iter((self.content, self.content + 1))

    def double(self, times: int = 1) -> "Box":
        return Box(self.content * 2**times)


class PlainLibrary:
    """Functions on floats, `Box` as the only other value; records what it is told."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {
            "sin": math.sin,
            "exp": math.exp,
            "log": math.log,
            "log10": math.log10,
            "tanh": math.tanh,
            "max": lambda *values, dim=0: ("library max", dim),
            "box": Box,
            "crash": self.crash,
            "linalg.norm": abs,
        }
        self.constants = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
        self.results: list[tuple[Any, Any]] = []
        self.modes: list[object] = []

    def crash(self, kind: str) -> None:
        errors: dict[str, type[Exception]] = {
            "memory": MemoryError,
            "recursion": RecursionError,
            "overflow": OverflowError,
            "key": KeyError,
        }
        raise errors[kind]("boom")

    def method(self, value: Any, name: str) -> Callable[..., Any] | None:
        found = isinstance(value, Box) and name == "double"
        return getattr(value, name) if found else None

    def attribute(self, value: Any, name: str) -> tuple[bool, object]:
        if isinstance(value, Box) and name == "content":
            return True, value.content
        return False, None

    def method_names(self, value: Any) -> Iterable[str]:
        return ("double", "content") if isinstance(value, Box) else ()

    def vector(self, items: list[Any]) -> Any:
        return None

    def changing(self) -> Any:
        return nullcontext()

    def copied(self, value: Any) -> Any:
        return value

    @contextmanager
    def grad_mode(self, enabled: bool) -> Any:
        self.modes.append(enabled)
        try:
            yield
        finally:
            self.modes.append("closed")

    def truth(self, value: Any) -> bool:
        return bool(value.content)

    def on_result(self, value: Any, span: Any) -> None:
        self.results.append((value, span))

    def explain(
        self, error: Exception, kind: str, name: str, args: tuple[Any, ...]
    ) -> tuple[str, str, str | None] | None:
        if isinstance(error, ValueError) and kind == "operator":
            return "E303", f"{name}: {error}", "reshape one of them"
        if isinstance(error, KeyError):
            raise AssertionError("an explanation that fails itself")
        return None


Evaluate = Callable[..., ProgramResult]


@pytest.fixture(scope="session")
def box() -> type[Box]:
    return Box


@pytest.fixture
def library() -> PlainLibrary:
    return PlainLibrary()


@pytest.fixture(scope="session")
def evaluate() -> Evaluate:
    """Run a text on bindings; the result as the machine gives it."""

    def evaluate_text(
        source: str,
        library: PlainLibrary | None = None,
        max_steps: int = 10_000_000,
        trace: Any = None,
        **bindings: object,
    ) -> ProgramResult:
        code = compile_program(parse(source, bindings))
        linked = code, bindings, library or PlainLibrary()
        return Machine(*linked, max_steps=max_steps, trace=trace).run()

    return evaluate_text
