"""Backward passes inside backward passes, however deep.

Invariant: a pass that is started from within another runs in the same thread as long as
few are open there; from then on in a thread of its own, which has a call stack of its
own. So 2,000 nested passes need no more stack than a few, and Python's recursion limit
is met by nobody who does not recurse himself.

    PASSES.running                       # the innermost pass of this thread, or None
"""

from __future__ import annotations

from collections.abc import Callable, Container
from contextvars import copy_context
from threading import Thread, local

from .limits import MAX_PASSES_IN_A_THREAD
from .modes import MODE


class _Passes(local):
    """The innermost pass of each thread."""

    running: Pass | None = None


PASSES = _Passes()


class Pass:
    """A pass, which runs while its ``with`` block does.

    ``whole`` says that it adds to all leaves, and not to chosen ones; ``nodes`` holds
    those that it will run.
    """

    __slots__ = ("__weakref__", "depth", "nodes", "outer", "whole")

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.nodes: Container[object] = ()
        self.outer = PASSES.running
        self.depth: int = 0 if self.outer is None else self.outer.depth + 1

    def __enter__(self) -> Pass:
        PASSES.running = self
        return self

    def __exit__(self, *problem: object) -> None:
        PASSES.running = self.outer


def is_crowded() -> bool:
    """Return whether no further pass should be opened in this thread."""
    running = PASSES.running
    return running is not None and running.depth >= MAX_PASSES_IN_A_THREAD


def in_a_thread(run: Callable[[], None]) -> None:
    """Run a pass in a thread of its own, as it would be run here."""
    mode, problems = dict(MODE.__dict__), list[BaseException]()

    def away() -> None:
        MODE.__dict__.update(mode)
        try:
            run()
        except BaseException as problem:  # raised again where the pass was asked for
            problems.append(problem)

    context = copy_context()
    thread = Thread(target=context.run, args=(away,))
    thread.start()
    thread.join()
    if problems:
        raise problems[0]
