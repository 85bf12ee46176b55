"""Operations with a hand-written gradient, and their nodes.

Invariant: `Function.apply` adds one node, whatever ``forward`` computes inside; the
node knows its function only through the static methods ``backward`` (or ``vjp``) and
``jvp``, hands them tensors, and checks what they return once, so that the passes see
one cotangent per edge, of the input's shape and dtype.

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    Cube.apply(x)                        # tensor(..., grad_fn=<CubeBackward>)
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn
from weakref import ref

from ..engine.backward import grad, in_types_of
from ..engine.changes import demand_changeable, rebase
from ..engine.custom import CustomNode, RefusingNode, visible_edge
from ..engine.devices import NUMPY
from ..engine.errors import FREED as FREED_MESSAGE
from ..engine.errors import GradError
from ..engine.forward import demand_fit
from ..engine.modes import MODE, RecordingOff, enable_grad, is_grad_enabled
from ..engine.node import FREED, AccumulateGrad, Edge, Node, Port, output_at
from ..engine.raw import Run
from ..engine.record import RECORDING, in_type
from ..engine.rules import sum_to
from ..engine.saved import demand_version
from ..engine.tensor import Tensor, with_edge, zeros_for
from ..engine.versions import touch, version

if TYPE_CHECKING:
    pass

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
__dir__ = __all__.copy

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


def is_differentiable(ctx: FunctionCtx, output: object) -> bool:
    """Tell whether an output of ``forward`` carries a gradient."""
    if not isinstance(output, Tensor) or output.raw.dtype.kind not in "fO":
        return False
    return all(output is not t for t in ctx.non_differentiable)


def save(ctx: FunctionCtx, node: Node) -> None:
    """Save the tensors of ``save_for_backward`` with a node.

    Raises:
        TypeError: something else is to be saved.
    """
    for nr, value in enumerate(ctx.to_save):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                "save_for_backward can only save variables, but argument "
                f"{nr} is of type {type(value).__name__}"
            )
    ctx._saved = tuple(None if t is None else Keeper(t, node) for t in ctx.to_save)
    ctx.to_save = ()


def edge_of(node: Node | None, number: int | None) -> Edge:
    """Return the edge of a node's output; ``number`` is None for the only one."""
    return node if node is None or number is None else Port(node, number)


class Keeper:
    """A saved value; a call gives it back.

    A value that is no output of the node comes back as the same object. An output would
    keep its node alive, and comes back anew.

    Args:
        tensor: what is saved.
        node: the node that saves it.
    """

    def __init__(self, tensor: Tensor, node: Node) -> None:
        own = tensor.edge
        made_by, number = output_at(own)
        self._itself: Tensor | None = tensor
        self._edge: Callable[[], Edge] = lambda: own
        if made_by is node:
            alive, port = ref(node), number if isinstance(own, Port) else None
            self._itself, self._edge = None, lambda: edge_of(alive(), port)
        self._xp, self._raw = tensor.xp, tensor.raw
        self._version = version(tensor.raw)

    def __call__(self) -> Tensor:
        same = self._itself
        edge = self._edge() if same is None else same.edge
        demand_version(self._raw, self._version, edge)
        return with_edge(self._raw, self._xp, edge) if same is None else same


class FunctionNode(CustomNode):
    """A node that hands tensors to a `Function`.

    Attributes that it does not have itself are those of the ``ctx``.
    """

    __slots__ = ("arguments", "asked", "carries", "ctx", "likes")
    made_by: ClassVar[Any]

    def __init__(self, ctx: FunctionCtx, args: Sequence[object]) -> None:
        self.ctx = ctx
        tensors = [x for x in args if isinstance(x, Tensor)]
        self.edges = tuple(map(visible_edge, tensors))
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
        self.carries = tuple(is_differentiable(self.ctx, part) for part in parts)

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

    def input_shapes(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [tuple(x.shape) for x in self.arguments if x is not None]

    def output_like(self, nr: int) -> Tensor:
        like = self.likes[nr]
        assert like is not None  # an edge leads to what carries a gradient
        return like

    def y_shapes(self) -> list[tuple[int, ...]]:
        return [() if like is None else like.shape for like in self.likes]

    def free(self) -> None:
        """Free the saved tensors."""
        if self.ctx._saved:
            self.ctx._saved = FREED

    def pull_tensors(self, g: object) -> tuple[Tensor | None, ...]:
        arriving = (None,) * len(self.likes) if g is None else g
        arriving = arriving if isinstance(arriving, tuple) else (arriving,)
        arriving = in_types_of(self.likes, arriving)
        if self.ctx.materialize_grads:
            pairs = zip(arriving, self.likes, strict=True)
            arriving = tuple(_or_zeros(t, like) for t, like in pairs)
        with self.xp.at_home():
            rule = "vjp" if _overrides(self.made_by, "vjp") else "backward"
            returned = getattr(self.made_by, rule)(self.ctx, *arriving)
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
        own = _overrides(self.made_by, "jvp")
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
        outputs = zip(parts, self.likes, self.carries, strict=True)
        for index, (t, like, carries) in enumerate(outputs):
            if t is not None and (like is None or not carries):
                raise GradError(
                    f"Function's jvp returned a gradient at position {index}, where "
                    "the output is not differentiable: return None there"
                )
            if t is not None and like is not None:
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
    if not isinstance(x, Tensor):
        return None
    return Tensor(x.xp.expand(x.xp.new_full(x.raw, (), 0), tuple(x.shape)), x.xp)


def _or_zeros(t: Tensor | None, like: Tensor | None) -> Tensor | None:
    return zeros_for(like) if t is None and like is not None else t


def _overrides(function: type, name: str) -> bool:
    return getattr(function, name) is not getattr(function.__mro__[-2], name)


class DelayedError(RefusingNode):
    """A node that refuses to be differentiated a second time."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"


def once_differentiable(backward: Run) -> Run:
    """Run ``backward`` without recording it, and refuse to differentiate it."""

    @wraps(backward)
    def wrapped(ctx: object, *cotangents: Tensor | None) -> object:
        with RecordingOff():
            returned = backward(ctx, *cotangents)
        live = [t for t in cotangents if t is not None and t.edge is not None]
        if not is_grad_enabled() or not live:
            return returned
        given = returned if isinstance(returned, tuple) else (returned,)
        refused = []
        for t in given:
            if isinstance(t, Tensor):
                like, t = t, t.detach()
                why = GradError("a function is @once_differentiable, and not twice")
                t.edge = DelayedError((live[0].edge,), like, why)
            refused.append(t)
        return tuple(refused) if isinstance(returned, tuple) else refused[0]

    return wrapped


_signature = lru_cache(maxsize=256)(inspect.signature)

DIRTY_LEAF = (
    "a leaf Variable that requires grad has been used in an in-place operation."
)
DIRTY_KEPT = (
    "Some elements marked as dirty during the forward method were not returned as "
    "output. The inputs that are modified inplace must all be outputs of the Function."
)
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your "
    "Function cannot return more than one Tensor: split it into two Functions."
)


def attach(
    node: FunctionNode | None, ctx: FunctionCtx, args: tuple[object, ...], output: Any
) -> Any:
    """Return the result of ``apply``: the outputs of ``forward`` with their edges."""
    several = isinstance(output, tuple)
    parts = output if several else (output,)
    if not any(isinstance(part, Tensor) for part in parts):
        return output
    for t in ctx.dirty_tensors:
        if not _is_among(t, parts):
            raise GradError(DIRTY_KEPT)
        if t._is_view() and len(parts) > 1:
            raise GradError(DIRTY_VIEW)
    seen, result = {id(x) for x in args}, []
    for index, part in enumerate(parts):
        number = index if len(parts) > 1 else None
        result.append(_placed(part, node, number, ctx, seen))
        seen.add(id(part))
    if node is not None:
        node.note_outputs(output)
        save(ctx, node)
    return tuple(result) if several else result[0]


def _placed(
    part: object,
    node: FunctionNode | None,
    number: int | None,
    ctx: FunctionCtx,
    seen: set[int],
) -> object:
    """Return one output: itself or a tensor on its memory, with its edge."""
    if not isinstance(part, Tensor):
        return part
    if _is_among(part, ctx.dirty_tensors):
        return _changed(part, node, number)
    out = part.detach() if id(part) in seen or part.edge is not None else part
    graphless = node is None or not is_differentiable(ctx, part)
    out.edge = None if graphless else edge_of(node, number)
    return out


def _changed(t: Tensor, node: FunctionNode | None, number: int | None) -> Tensor:
    """Return an argument that was changed in place, with all that share its memory."""
    touch(t.raw)
    if node is not None:
        if not t._is_view() and isinstance(t.edge, AccumulateGrad):
            raise GradError(DIRTY_LEAF)
        demand_changeable(t)
        rebase(t, edge_of(node, number))
    return t


def _is_among(t: Tensor, tensors: tuple[object, ...]) -> bool:
    return any(t is other for other in tensors)


class Function:
    """The base of operations with a hand-written gradient.

    A subclass gives static methods: ``forward(ctx, *args)``, or ``forward(*args)`` and
    ``setup_context(ctx, inputs, output)``; ``backward(ctx, *cotangents)``, which
    returns one gradient or None per argument; and, for forward mode, ``jvp(ctx,
    *tangents)``, which returns one tangent per output. Without ``jvp`` forward mode
    transposes ``backward``. A batch runs sample by sample; a ``vmap`` is not called.
    """

    node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.node_class = type(
            f"{cls.__name__}Backward",
            (FunctionNode,),
            {"__slots__": (), "__module__": "torch.autograd.function", "made_by": cls},
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(f"call {type(self).__name__}.apply, with a static forward")

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; nothing inside is recorded."""
        raise NotImplementedError("this Function has no forward")

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[object, ...], output: object) -> Any:
        """Save what ``backward`` needs, where ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        """Return the gradients of the arguments from those of the outputs."""
        raise NotImplementedError("this Function has neither backward nor vjp")

    vjp = backward
    """Another name that ``backward`` may have."""

    @staticmethod
    def jvp(ctx: object, *grad_inputs: object) -> Any:
        """Return the tangents of the outputs from those of the arguments."""
        raise NotImplementedError("this Function has no jvp")

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Run ``forward`` and record the one node."""
        has_setup = cls.setup_context is not Function.setup_context
        if has_setup:
            bound = _signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        tensors = [x for x in args if isinstance(x, Tensor)]
        ctx = FunctionCtx(
            needs_input_grad=tuple(
                isinstance(x, Tensor) and x.requires_grad for x in args
            )
        )
        node = None
        if MODE.enabled and any(x.edge is not None for x in tensors):
            node = cls.node_class(ctx, args)
        xp = next((x.xp for x in tensors if x.xp.symbolic), NUMPY)
        with RecordingOff(), xp.followed():
            if has_setup:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args, **kwargs)
        with xp.followed():
            result = attach(node, ctx, args, output)
        if node is not None:
            for look in MODE.on_node:
                look(node)
        return result
