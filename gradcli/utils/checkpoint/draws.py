"""The random numbers of a part of a program that runs twice.

Invariant: the second run draws what the first one drew, and leaves the generator as it
found it.

    again = same_draws(preserve=True)    # before the first run
    with again():                        # around the second
        ...
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext

from ...engine.draws import fork_rng, get_rng_state, set_rng_state


def same_draws(preserve: bool) -> Callable[[], AbstractContextManager[object]]:
    """Give a maker of blocks in which the default generator starts as it is now."""
    if not preserve:
        return nullcontext
    start = get_rng_state()

    def again() -> AbstractContextManager[object]:
        stack = ExitStack()
        stack.enter_context(fork_rng())
        set_rng_state(start)
        return stack

    return again
