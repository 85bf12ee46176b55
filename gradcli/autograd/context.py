"""What a custom function keeps between its passes.

Invariant: a saved argument comes back as the tensor it was, with its place in the
graph; a saved output comes back as its node's output, without keeping the node alive;
whatever was changed in place meanwhile is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

from ..engine.errors import FREED as FREED_MESSAGE
from ..engine.errors import GradError
from ..engine.node import FREED, Edge, Node, Port
from ..engine.packing import (
    NOTHING_THERE,
    SET_ALREADY,
    Hooks,
    SavedTensor,
    active_hooks,
)
from ..engine.tensor import Tensor, with_edge
from ..engine.unchanged import demand_version, moved
from ..engine.versions import version

if TYPE_CHECKING:
    from ..engine.raw import Raw


SAVED_VARIABLES: Final = "'saved_variables' is deprecated; use 'saved_tensors'"

OF_NODES: Final = (
    "apply", "apply_boxed", "apply_jvp", "mark_shared_storage",
    "maybe_clear_saved_tensors", "metadata", "name", "next_functions",
    "register_hook", "register_prehook", "requires_grad",
)  # fmt: skip
"""Names of PyTorch's ``ctx``, which is its node, that this one does not have."""


class FunctionCtx:
    """The ``ctx`` of a custom function; any attribute may be set on it.

    ``needs_input_grad`` says per argument whether a gradient is asked for.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...] = ()) -> None:
        self.needs_input_grad = needs_input_grad
        self.materialize_grads = True
        self.dirty_tensors: tuple[Tensor, ...] = ()
        self.non_differentiable: tuple[Tensor, ...] = ()
        self.to_save: tuple[Tensor | None, ...] = ()
        self.saved_for_forward: tuple[Tensor | None, ...] = ()
        self._saved: Any = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors; ``saved_tensors`` gives them back, graph included."""
        for index, value in enumerate(tensors):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {index} "
                    f"is of type {type(value).__name__}"
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for ``jvp``, where nothing is saved for ``backward``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Name the arguments that ``forward`` changed in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Name the outputs that carry no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Give ``backward`` None, not zeros, for outputs that nothing depends on."""
        self.materialize_grads = value

    def differentiates(self, output: object) -> bool:
        """Return whether an output of ``forward`` carries a gradient."""
        if not isinstance(output, Tensor) or output.raw.dtype.kind not in "fO":
            return False
        return all(output is not t for t in self.non_differentiable)

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """Return what was saved, as long as the graph is not freed."""
        if self._saved is FREED:
            raise GradError(FREED_MESSAGE)
        if not self._saved:
            return self.to_save or self.saved_for_forward
        return tuple(None if keep is None else keep() for keep in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """Return ``saved_tensors`` by its name of PyTorch 0.3."""
        warnings.warn(SAVED_VARIABLES, DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        """Return what was saved, before it is unpacked."""
        if self._saved is FREED:
            raise GradError(FREED_MESSAGE)
        return tuple(
            SavedTensor(lambda: None, _refuse_hooks)
            if keep is None
            else SavedTensor(keep, keep.hook)
            for keep in self._saved
        )

    def keep(self, node: Node, outputs: dict[int, int | None]) -> None:
        """Save the tensors of ``save_for_backward`` with a node.

        ``outputs`` holds, by the identity of each output of the node, its number; None
        for the only one.
        """
        self._saved = tuple(
            None if tensor is None else _keeper(tensor, node, outputs)
            for tensor in self.to_save
        )
        self.to_save = ()

    def free(self) -> None:
        """Free what was saved."""
        if self._saved:
            self._saved = FREED


def edge_of(node: Node | None, number: int | None) -> Edge:
    """Return the edge of a node's output; ``number`` is None for the only one."""
    return node if node is None or number is None else Port(node, number)


class _Keeper:
    """A saved value, held itself or packed by hooks; a call gives it back.

    An argument comes back as the same object, where nobody packed it.
    """

    def __init__(
        self, tensor: Tensor, edge: Callable[[], Edge], itself: Tensor | None
    ) -> None:
        self._xp, self._edge, self._itself = tensor.xp, edge, itself
        self._raw, self._version = tensor.raw, version(tensor.raw)
        self._unpack: Callable[[], Raw] | None = None
        hooks = active_hooks()
        if hooks is not None:
            self._pack(hooks, tensor)

    def _pack(self, hooks: Hooks, tensor: Tensor) -> None:
        self._unpack = hooks.pack(tensor)
        self._raw = self._itself = None

    def hook(self, hooks: Hooks) -> None:
        """Hand the value to hooks."""
        if self._unpack is not None:
            raise GradError(SET_ALREADY)
        self._pack(hooks, self().detach())

    def __call__(self) -> Tensor:
        edge = self._edge()
        if self._unpack is not None:
            return with_edge(self._unpack(), self._xp, edge)
        demand_version(self._raw, self._version, edge, as_made=self._itself is None)
        raw, same = moved(self._raw, edge), self._itself
        if same is not None and same.raw is raw and same.edge is edge:
            return same
        return with_edge(raw, self._xp, edge)


def _keeper(tensor: Tensor, node: Node, outputs: dict[int, int | None]) -> _Keeper:
    if id(tensor) in outputs:
        alive, number = ref(node), outputs[id(tensor)]
        return _Keeper(tensor, lambda: edge_of(alive(), number), None)
    edge = tensor.edge
    return _Keeper(tensor, lambda: edge, tensor)


def _refuse_hooks(hooks: Hooks) -> None:
    raise GradError(NOTHING_THERE)
