"""Large trees: recursion without the stack, by generators that call each other.

A generator yields another generator where a function would call, and receives what
that one returns. Only the list below grows with the depth, so ten thousand nested
parentheses read, compile and translate like two.

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
from typing import Any, TypeVar

Result = TypeVar("Result")
Steps = Generator[Any, Any, Result]


def bounce(root: Steps[Result]) -> Result:
    """Run a generator and all that it yields; return what it returns."""
    stack: list[Steps[Any]] = [root]
    value: Any = None
    while True:
        try:
            called = stack[-1].send(value)
        except StopIteration as finished:
            stack.pop()
            value = finished.value
            if not stack:
                result: Result = value
                return result
        else:
            stack.append(called)
            value = None


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the cycle collector while something large and acyclic is built.

    Trees and code of a hundred thousand terms are millions of small objects, none of
    them garbage; the collector would walk them all again and again (measured: three
    quarters of the time). Reference counting goes on as always.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
