"""What was made outside the function that a transform runs is not changed in it.

Invariant: while a transform runs, `MODE.made` knows the memory of all that was made
since it began, and of its arguments; memory that it does not know is older. A change of
that would outlive the transform, and carry its graph outside.

    with apart_from(args, DERIVATIVE):
        func(*args)                  # changes args and its own tensors, nothing else
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .errors import EngineError
from .modes import MODE
from .raw import Raw
from .tensor import Tensor
from .versions import owner

DERIVATIVE = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
    "call in-place operation that would mutate a captured Tensor. This is not "
    "supported; please rewrite the function being transformed to explicitly accept the "
    "mutated Tensor(s) as inputs."
)
SAMPLES = (
    "vmap: an inplace operation on a Tensor from outside the function, which all "
    "samples share, is not possible: each sample would change it. Please use "
    "out-of-place operators, or clone() the Tensor inside the function."
)


class Made:
    """The memory that is known: by the identity of the arrays that own it.

    An array that is older than the transform lives as long as it runs if anything in it
    can change that array; so no known array that has died can be taken for it.
    """

    __slots__ = ("known", "refusal")

    def __init__(self, refusal: str) -> None:
        self.refusal = refusal
        self.known: set[int] = set()

    def note(self, *raw: Raw) -> None:
        """Take the memory of arrays for known."""
        self.known.update([id(owner(each)) for each in raw])

    def move(self, before: Raw, now: Raw) -> None:
        """Take memory for known that what is known moves to."""
        if id(owner(before)) in self.known:
            self.note(now)

    def demand(self, raw: Raw) -> None:
        """Refuse to change memory that is not known.

        Raises:
            EngineError: in PyTorch's words where it refuses the same.
        """
        if id(owner(raw)) not in self.known:
            raise EngineError(self.refusal)

    def demand_own(self, raw: Raw) -> None:
        """Refuse to let samples write results to memory that they share.

        A derivative's function may: no graph leads to what is given as ``out``.
        """
        if self.refusal is SAMPLES:
            self.demand(raw)


@contextmanager
def apart_from(own: Iterable[object], refusal: str) -> Iterator[None]:
    """Run a block that changes nothing older than itself but its ``own`` arguments."""
    outer = MODE.made
    made = Made(refusal)
    made.note(*(x.raw for x in own if isinstance(x, Tensor)))
    MODE.make(made)
    try:
        yield
    finally:
        MODE.make(outer)
        if outer is not None:
            outer.known |= made.known
