"""Recursion without the stack: generators that call each other by `yield`.

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

from collections.abc import Generator
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
