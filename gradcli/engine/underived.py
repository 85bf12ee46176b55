"""Results that depend on tensors in a way of which no derivative is known.

Invariant: such a result requires a gradient where one of the tensors does, and refuses
to be differentiated, in either mode; so nothing is taken for a constant.

    @without_derivative("UniqueConsecutiveBackward0", "unique_consecutive")
    def unique_consecutive(input): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, wraps
from typing import Any, Never, ParamSpec, TypeVar

from .custom import CustomNode
from .errors import KindError
from .modes import MODE
from .node import Edge
from .tensor import Tensor, tangent_of

Given = ParamSpec("Given")
Result = TypeVar("Result")

UNKNOWN = "the derivative for '{}' is not implemented."
UNKNOWN_TANGENT = (
    "Trying to use forward AD with {} that does not support it because {}; detach() "
    "its operands if they are meant to be constant"
)
NOT_KNOWN = "no derivative of it is known"


class Refusal(CustomNode):
    """A node that leads to what its output was made from, and refuses to be passed.

    Args:
        like: the output.
        words: why no pass goes through it.
    """

    __slots__ = ("error", "like")
    holds = several = False

    def __init__(self, edges: Sequence[Edge], like: Tensor, error: Exception) -> None:
        self.edges = tuple(edges)
        self.xp = like.xp
        self.span = None
        self.like = like.detach()
        self.error = error

    def output_like(self, nr: int) -> Tensor:
        return self.like

    def pull_tensors(self, g: object) -> Never:
        raise self.error

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Never:
        raise self.error


@cache
def _kind(name: str) -> type[Refusal]:
    """Return the class of refusing nodes under PyTorch's name of the node."""
    return type(name, (Refusal,), {"__slots__": ()})


def without_derivative(
    node: str, called: str
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Let a function's results refuse to be differentiated, rather than be constant.

    Args:
        node: what PyTorch calls its node.
        called: what PyTorch calls the function in its refusal.
    """

    def decorate(run: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(run)
        def refusing(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            result = run(*args, **kwargs)
            given = list(tensors_in((args, tuple(kwargs.values()))))
            refuse_tangents(called, given)
            edges = [t.edge for t in given if t.edge is not None]
            if edges and MODE.recording:
                for y in tensors_in((result,)):
                    refuse(y, edges, node, called)
            return result

        return refusing

    return decorate


def refuse(y: Tensor, edges: Sequence[Edge], node: str, called: str) -> None:
    """Let a tensor of floats refuse to be differentiated by what has these edges."""
    if y.raw.dtype.kind in "fO":
        y.edge = _kind(node)(edges, y, KindError(UNKNOWN.format(called)))


def refuse_tangents(
    called: str, values: Iterable[object], why: str = NOT_KNOWN
) -> None:
    """Refuse a call that would lose a tangent of forward mode.

    Raises:
        KindError: a tensor carries one.
    """
    if any(tangent_of(t) is not None for t in tensors_in(values)):
        raise KindError(UNKNOWN_TANGENT.format(called, why))


def tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    """Find the tensors among values, in lists and tuples as well."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)
