"""Recursion without Python's stack, for deep trees, by generators.

A generator yields another generator where a function would call it, and receives the
value that the other one returns; a value that it yields, it receives. Where it returns
a generator, that one runs in its place. Only the list ``stack`` in `bounce` grows with
the depth, so ten thousand nested parentheses can be parsed and compiled.

    def depth(node):
        deepest = 0
        for child in children(node):
            deepest = max(deepest, (yield depth(child)))
        return deepest + 1

    bounce(depth(tree))
"""

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import GeneratorType
from typing import Any, TypeVar

Result = TypeVar("Result")
Steps = Generator[Any, Any, Result]


def bounce(root: Steps[Result]) -> Result:
    """Return the value of a generator, after running all generators that it yields."""
    stack: list[Steps[Any]] = [root]
    value: Any = None
    while stack:
        try:
            value = stack[-1].send(value)
        except StopIteration as finished:
            value = finished.value
            stack.pop()
        if type(value) is GeneratorType:
            stack.append(value)
            value = None
    result: Result = value
    return result


@contextmanager
def uncollected() -> Iterator[None]:
    """Return a context that pauses the collector of cycles.

    Trees and code of a hundred thousand terms are millions of small objects, none of
    them garbage; the collector would visit them all repeatedly (measured: three
    quarters of the time). Reference counting is not affected.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
