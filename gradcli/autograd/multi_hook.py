"""A hook on several tensors at once.

Invariant: it is called once in each pass that reaches any of them: with all gradients,
when the last has arrived, or with the first one alone.

    with register_multi_grad_hook((x, y), lambda gs: print(gs)):
        loss.backward()
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from ..engine.hooks import RemovableHandle
from ..engine.node import output_at
from ..engine.passes import PASSES, Pass
from ..engine.raw import Run
from ..engine.tensor import Tensor

MODES = ("all", "any")


class MultiHandle:
    """Removes the hooks of several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Call the hook no more."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *problem: object) -> None:
        self.remove()


class _Together:
    """The gradients that arrived in each pass, until the hook is called."""

    def __init__(self, tensors: Sequence[Tensor], fn: Run) -> None:
        self._nodes = [output_at(t.edge)[0] for t in tensors]
        self._fn = fn
        self._arrived: WeakKeyDictionary[Pass, list[Tensor | None]]
        self._arrived = WeakKeyDictionary()
        self._left: WeakKeyDictionary[Pass, int] = WeakKeyDictionary()

    def one_of_all(self, index: int) -> Callable[[Tensor], None]:
        """Return the hook of one of the tensors."""

        def hook(g: Tensor) -> None:
            running = PASSES.running
            assert running is not None  # a tensor's hooks are called by a pass
            arrived = self._arrived.get(running)
            if arrived is None:
                arrived = self._arrived[running] = [None] * len(self._nodes)
                self._left[running] = sum(node in running.nodes for node in self._nodes)
            arrived[index] = g
            self._left[running] -= 1
            if not self._left[running]:
                del self._arrived[running], self._left[running]
                self._fn(arrived)

        return hook

    def any_of_all(self, g: Tensor) -> None:
        """Return the hook of each tensor, where the first gradient is enough."""
        running = PASSES.running
        assert running is not None  # a tensor's hooks are called by a pass
        if running not in self._left:
            self._left[running] = 0
            self._fn(g)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Run, *, mode: str = "all"
) -> MultiHandle:
    """Call ``fn`` once in each pass that reaches any of ``tensors``.

    Args:
        fn: takes a list of gradients, one per tensor, None where the pass does not
            reach it; with ``mode="any"``, the first gradient to arrive.
        mode: ``all`` waits for every gradient that will arrive, ``any`` for the first.

    Raises:
        ValueError: another mode.
        AssertionError: a tensor requires no gradient.
    """
    if mode not in MODES:
        raise ValueError(f"Expects mode to be one of {MODES} but got {mode}")
    if any(t.edge is None for t in tensors):
        raise AssertionError("Expected gradient function to be set")
    together = _Together(tensors, fn)
    return MultiHandle([
        t.register_hook(
            together.one_of_all(index) if mode == "all" else together.any_of_all
        )
        for index, t in enumerate(tensors)
    ])  # fmt: skip
