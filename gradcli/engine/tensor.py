"""The tensor: a raw value, the number system it is of, and the edge of its gradient.

Invariant: ``edge`` alone says what a tensor is in the graph: None (needs no gradient),
an `AccumulateGrad` (a leaf), a node or a port (made by an operation). ``raw`` is an
array or, for results of shape (), the array module's scalar; it is never converted to
another kind behind the caller's back.
"""

from __future__ import annotations

from typing import Any

from . import devices
from .node import AccumulateGrad, Edge, Node, Port


class Tensor:
    """An array that operations on it are recorded for.

    Args:
        raw: an array of the namespace's kind.
        xp: the namespace (`gradcli.engine.devices.namespace_of` finds it).
        requires_grad: make it a leaf that gradients are accumulated for.
    """

    __slots__ = ("__dict__", "__weakref__", "edge", "raw", "xp")
    raw: Any
    xp: Any
    edge: Edge

    def __init__(self, raw: Any, xp: Any, requires_grad: bool = False) -> None:
        self.raw = raw
        self.xp = xp
        self.edge = AccumulateGrad(self) if requires_grad else None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.raw.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self.raw.shape)

    @property
    def dtype(self) -> Any:
        return self.raw.dtype

    @property
    def device(self) -> str:
        return self.xp.device  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        return self.edge is not None

    @property
    def is_leaf(self) -> bool:
        return self.edge is None or isinstance(self.edge, AccumulateGrad)

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = self.edge
        if isinstance(edge, Port):
            return edge.node
        return edge if isinstance(edge, Node) else None

    @property
    def output_nr(self) -> int:
        return self.edge.nr if isinstance(self.edge, Port) else 0

    @property
    def grad(self) -> Tensor | None:
        """What backward passes have added up here; None for all but leaves."""
        return self.edge.grad if isinstance(self.edge, AccumulateGrad) else None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if isinstance(self.edge, AccumulateGrad):
            self.edge.grad = value

    def detach(self) -> Tensor:
        """The same value, outside the graph."""
        return Tensor(self.xp.stop(self.raw), self.xp)

    @property
    def data(self) -> Tensor:
        return self.detach()

    def numel(self) -> int:
        count = 1
        for n in self.shape:
            count *= n
        return count

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    def item(self) -> float | int | bool:
        """The one element as a Python number."""
        if self.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {self.numel()} elements cannot be converted to Scalar"
            )
        return self.raw.item()  # type: ignore[no-any-return]

    def tolist(self) -> Any:
        return self.raw.tolist()

    def backward(
        self, gradient: Tensor | None = None, retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:  # fmt: skip
        """Add the gradient of this tensor to the leaves it was made from.

        Args:
            gradient: the cotangent, of this tensor's shape; may be left out where
                that is ().
            retain_graph: keep saved values for another pass.
            create_graph: record the pass itself, for second derivatives.
        """
        from .backward import backward

        backward([self], [gradient], retain_graph or create_graph, create_graph)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self.raw)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError("only integer tensors of a single element can be an index")
        return int(self.item())

    def __repr__(self) -> str:
        made = self.grad_fn
        tail = f", grad_fn=<{made.name()}>" if made is not None else ""
        if made is None and self.requires_grad:
            tail = ", requires_grad=True"
        return f"tensor({self.tolist()}{tail})"


def constant(value: Any) -> Tensor:
    """A tensor without a gradient from a number, a nested list or an array.

    Raises:
        TypeError: the value is of no kind that holds numbers.
    """
    if isinstance(value, Tensor):
        return value
    raw, xp = devices.as_raw(value)
    return Tensor(raw, xp)
