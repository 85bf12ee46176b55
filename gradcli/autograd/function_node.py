"""The node of a custom function: its ``backward`` and ``jvp`` as the passes call them.

Invariant: what a user's function returns is checked here, once, so that the passes see
one cotangent per edge, of the input's shape and dtype.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final
from weakref import ref

from ..engine.backward import grad, like_of
from ..engine.convert import in_type, in_types_of
from ..engine.custom import CustomNode, Refusal, heard
from ..engine.errors import FREED as FREED_MESSAGE
from ..engine.errors import GradError
from ..engine.forward import demand_fit
from ..engine.modes import enable_grad, is_grad_enabled, no_grad
from ..engine.node import FREED, Edge, Node, Port
from ..engine.raw import Run
from ..engine.record import RECORDING
from ..engine.rules import sum_to
from ..engine.saved import (
    NOTHING_THERE,
    SET_ALREADY,
    Hooks,
    SavedTensor,
    active_hooks,
    demand_version,
)
from ..engine.tensor import Tensor, with_edge, zeros_for
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
        """Return the saved tensors, as long as the graph is not freed."""
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
        alive = ref(node)

        def kept(t: Tensor) -> _Keeper:
            if id(t) not in outputs:
                return keeper(t)
            number = outputs[id(t)]  # the tensor itself would keep its node alive
            return _Keeper(t, lambda: edge_of(alive(), number), None)

        self._saved = tuple(None if t is None else kept(t) for t in self.to_save)
        self.to_save = ()

    def free(self) -> None:
        """Free the saved tensors."""
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
        """Pack the value with a pair of hooks."""
        if self._unpack is not None:
            raise GradError(SET_ALREADY)
        self._pack(hooks, self().detach())

    def __call__(self) -> Tensor:
        edge = self._edge()
        if self._unpack is not None:
            return with_edge(self._unpack(), self._xp, edge)
        demand_version(self._raw, self._version, edge)
        same = self._itself
        if same is not None and same.raw is self._raw and same.edge is edge:
            return same
        return with_edge(self._raw, self._xp, edge)


def keeper(tensor: Tensor) -> _Keeper:
    """Return what keeps an argument, in the care of hooks if there are any; a call
    gives it back."""
    edge = tensor.edge
    return _Keeper(tensor, lambda: edge, tensor)


def _refuse_hooks(hooks: Hooks) -> None:
    raise GradError(NOTHING_THERE)


TWICE = (
    "trying to differentiate twice a function that was marked with @once_differentiable"
)
ONE_NAME_ALONE = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
    "should only implement one of them."
)


class FunctionNode(CustomNode):
    """A node that hands tensors to a `Function`.

    Attributes that it does not have itself are those of the ``ctx``.
    """

    __slots__ = ("arguments", "asked", "carries", "ctx", "likes")
    made_by: ClassVar[Any]

    def __init__(self, ctx: FunctionCtx, args: Sequence[object]) -> None:
        self.ctx = ctx
        tensors = [x for x in args if isinstance(x, Tensor)]
        self.edges = tuple(map(heard, tensors))
        self.xp = next((x.xp for x in tensors if x.edge is not None), tensors[0].xp)
        self.span = None
        self.arguments = tuple(map(_like, args))
        self.asked = tuple(edge is not None for edge in self.edges)
        self.likes: tuple[Tensor | None, ...] = ()
        self.carries: tuple[bool, ...] = ()

    def note_outputs(self, output: object) -> None:
        """Remember what ``forward`` gave: shapes and kinds, and what is differentiable.

        An output that is no tensor is None among the ``likes``.
        """
        parts = output if isinstance(output, tuple) else (output,)
        self.likes = tuple(map(_like, parts))
        self.carries = tuple(self.ctx.differentiates(part) for part in parts)

    def __getattr__(self, name: str) -> Any:
        if name != "ctx" and hasattr(self.ctx, name):
            return getattr(self.ctx, name)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__}.{kind.__name__} object at {id(self):#x}>"

    @property
    def several(self) -> bool:
        return len(self.likes) > 1

    def output_like(self, nr: int) -> Tensor:
        like = self.likes[nr]
        assert like is not None  # an edge leads to what carries a gradient
        return like

    def y_shapes(self) -> list[tuple[int, ...]]:
        return [() if like is None else like.shape for like in self.likes]

    def free(self) -> None:
        self.ctx.free()

    def pull_tensors(self, g: object) -> tuple[Tensor | None, ...]:
        arriving = (None,) * len(self.likes) if g is None else g
        arriving = arriving if isinstance(arriving, tuple) else (arriving,)
        arriving = in_types_of(self.likes, arriving)
        if self.ctx.materialize_grads:
            pairs = zip(arriving, self.likes, strict=True)
            arriving = tuple(_or_zeros(t, like) for t, like in pairs)
        with self.xp.at_home():
            returned = _backward_of(self.made_by)(self.ctx, *arriving)
        given = returned if isinstance(returned, tuple) else (returned,)
        return self._checked(given)

    def _checked(self, given: tuple[object, ...]) -> tuple[Tensor | None, ...]:
        """Return a cotangent per edge from those that ``backward`` gave."""
        count = len(self.arguments)
        if len(given) > count and all(t is None for t in given[count:]):
            given = given[:count]
        if len(given) != count:
            raise GradError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {count}, got {len(given)})"
            )
        pulled: list[Tensor | None] = []
        for nr, (t, like) in enumerate(zip(given, self.arguments, strict=True), 1):
            if t is not None and like is None:
                raise GradError(
                    f"function {self.name()} returned a gradient different than None "
                    f"at position {nr}, but the corresponding forward input was "
                    "not a Variable"
                )
            if like is not None:
                wanted = t is not None and self.asked[len(pulled)]
                pulled.append(self._fitted(t, like, len(pulled)) if wanted else None)
        return tuple(pulled)

    def _fitted(self, t: Any, like: Tensor, index: int) -> Tensor:
        if not isinstance(t, Tensor):
            raise GradError(f"expected Variable or None (got {type(t).__name__})")
        if t.shape != like.shape:
            tail = t.shape[max(t.ndim - like.ndim, 0) :]
            pairs = zip(tail, like.shape, strict=False)
            if t.ndim < like.ndim or any(n not in (1, m) for m, n in pairs):
                raise GradError(
                    f"Function {self.name()} returned an invalid gradient at index "
                    f"{index} - got {list(t.shape)} but expected shape compatible with "
                    f"{list(like.shape)}"
                )
            t = sum_to(RECORDING, t, tuple(like.shape))
        held = like.raw.dtype
        fitted: Tensor = t if held.kind == "O" else in_type(t, held)
        return fitted

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Any:
        arriving = iter(tangents)
        per_argument = [
            None if like is None else next(arriving) for like in self.arguments
        ]
        own = _has_own(self.made_by, "jvp")
        if not own or self.ctx.materialize_grads:
            pairs = zip(per_argument, self.arguments, strict=True)
            per_argument = [_or_zeros(t, like) for t, like in pairs]
        if not own:
            return self._transposed([t for t in per_argument if t is not None])
        kept = dict(vars(self.ctx))
        pushed = self.made_by.jvp(self.ctx, *per_argument)
        # It may free what it has read: of a Jacobian, there are more tangents to come.
        vars(self.ctx).update(
            (k, v) for k, v in kept.items() if not hasattr(self.ctx, k)
        )
        parts = pushed if isinstance(pushed, tuple) else (pushed,)
        if len(parts) != len(self.likes):
            raise GradError(
                "Function's jvp returned an invalid number of forward gradients "
                f"(expected {len(self.likes)} but got {len(parts)})"
            )
        for index, (t, like) in enumerate(zip(parts, self.likes, strict=True)):
            if t is None:
                continue
            if like is None or not self.carries[index]:
                raise GradError(
                    f"Function's jvp returned a gradient at position {index}, but  the "
                    "corresponding forward output is not a differentiable Tensor.You "
                    "should return None at that position instead."
                )
            demand_fit(like, t)
        return pushed

    def _transposed(
        self, tangents: Sequence[Tensor]
    ) -> tuple[Tensor | None, ...] | Tensor | None:
        """Push tangents by ``backward`` alone: the transpose of a linear map."""
        with enable_grad():
            pairs = zip(self.likes, self.carries, strict=True)
            seeds = [
                zeros_for(like).requires_grad_(True) if like is not None and carries
                else None
                for like, carries in pairs
            ]  # fmt: skip
            pulled = self.pull_tensors(tuple(seeds))
            rows = [
                (p, t)
                for p, t in zip(pulled, tangents, strict=True)
                if p is not None and p.edge is not None
            ]
            live = [s for s in seeds if s is not None]
            found = grad(
                [p for p, _ in rows], live, [t for _, t in rows], True, True
            ) if rows else [None] * len(live)  # fmt: skip
        given = map(_or_zeros, found, live)
        outputs = tuple(None if s is None else next(given) for s in seeds)
        return outputs if len(outputs) > 1 else outputs[0]


def _like(x: object) -> Tensor | None:
    """Return the shape and type of a tensor, to make zeros of; else None."""
    return like_of(x) if isinstance(x, Tensor) else None


def _or_zeros(t: Tensor | None, like: Tensor | None) -> Tensor | None:
    return zeros_for(like) if t is None and like is not None else t


def _has_own(function: type, name: str) -> bool:
    return getattr(function, name) is not getattr(function.__mro__[-2], name)


def _backward_of(function: Any) -> Run:
    """Return ``backward``, or ``vjp`` where that is its name."""
    own_backward = _has_own(function, "backward")
    own_vjp = _has_own(function, "vjp")
    if own_backward and own_vjp:
        raise RuntimeError(ONE_NAME_ALONE)
    found: Run = function.vjp if own_vjp else function.backward
    return found


class DelayedError(Refusal):
    """A node that refuses to be differentiated a second time."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"


def once_differentiable(backward: Run) -> Run:
    """Run ``backward`` without recording it, and refuse to differentiate it."""

    @wraps(backward)
    def wrapped(ctx: object, *cotangents: Tensor | None) -> object:
        with no_grad():
            returned = backward(ctx, *cotangents)
        live = [t for t in cotangents if t is not None and t.edge is not None]
        if not is_grad_enabled() or not live:
            return returned
        given = returned if isinstance(returned, tuple) else (returned,)
        refused = []
        for t in given:
            if isinstance(t, Tensor):
                like, t = t, t.detach()
                t.edge = DelayedError((live[0].edge,), like, GradError(TWICE))
            refused.append(t)
        return tuple(refused) if isinstance(returned, tuple) else refused[0]

    return wrapped
