"""Operations with a hand-written gradient.

Invariant: `Function.apply` adds one node, whatever ``forward`` computes inside; the
node knows its function only through the static methods ``backward`` (or ``vjp``) and
``jvp``, and hands them tensors.

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

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ..engine.changes import demand_changeable, rebase
from ..engine.devices import NUMPY
from ..engine.errors import GradError
from ..engine.modes import MODE, no_grad
from ..engine.node import AccumulateGrad
from ..engine.raw import Params
from ..engine.tensor import Tensor, tangent_of
from ..engine.versions import touch
from ..engine.views import demand_sturdy
from . import forward_ad
from .function_node import FunctionCtx, FunctionNode, edge_of, once_differentiable

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
__dir__ = __all__.copy

DIRTY_LEAF = (
    "a leaf Variable that requires grad has been used in an in-place operation."
)
DIRTY_KEPT = (
    "Some elements marked as dirty during the forward method were not returned as "
    "output. The inputs that are modified inplace must all be outputs of the Function."
)
DIRTY_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your "
    "Function cannot return more than one Tensor. This is not supported by the current "
    "autograd engine. You should either make sure the input is not a view (using "
    ".clone() for example) or make your Function only return one Tensor (potentially "
    "splitting it into two Functions: one doing the inplace that returns a single "
    "Tensor and a second one that does the other operations)."
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
    given = {id(x) for x in args}
    seen, numbers = set(given), dict[int, int | None]()
    result = []
    for index, part in enumerate(parts):
        number = index if len(parts) > 1 else None
        result.append(_placed(part, node, number, ctx, seen))
        seen.add(id(part))
        if id(part) not in given:
            numbers.setdefault(id(part), number)
    if node is not None:
        node.note_outputs(output)
        ctx.keep(node, numbers)
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
    graphless = node is None or not ctx.differentiates(part)
    out.edge = None if graphless else edge_of(node, number)
    return out


def _changed(t: Tensor, node: FunctionNode | None, number: int | None) -> Tensor:
    """Return an argument that was changed in place, with all that share its memory."""
    touch(t.raw)
    if node is not None:
        if not t._is_view() and isinstance(t.edge, AccumulateGrad):
            raise GradError(DIRTY_LEAF)
        demand_changeable(t)
        demand_sturdy(t)
        rebase(t, edge_of(node, number))
    return t


def _is_among(t: Tensor, tensors: tuple[object, ...]) -> bool:
    return any(t is other for other in tensors)


LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use "
    "new-style autograd function with static forward method. (Example: the "
    "documentation of torch.autograd.Function)"
)


class Function:
    """The base of operations with a hand-written gradient.

    A subclass gives static methods: ``forward(ctx, *args)``, or ``forward(*args)`` and
    ``setup_context(ctx, inputs, output)``; ``backward(ctx, *cotangents)``, which
    returns one gradient or None per argument; and, for forward mode, ``jvp(ctx,
    *tangents)``, which returns one tangent per output. Without ``jvp`` forward mode
    transposes ``backward``.
    """

    generate_vmap_rule: ClassVar[bool] = False
    """Accepted; the samples of a batch are run one by one."""

    node_class: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.node_class = type(
            f"{cls.__name__}Backward",
            (FunctionNode,),
            {"__slots__": (), "__module__": "torch.autograd.function", "made_by": cls},
        )

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RuntimeError(LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; nothing inside is recorded."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[object, ...], output: object) -> Any:
        """Save what ``backward`` needs, where ``forward`` takes no ``ctx``."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Any) -> Any:
        """Return the gradients of the arguments from those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward
    """Another name that ``backward`` may have."""

    @staticmethod
    def jvp(ctx: object, *grad_inputs: object) -> Any:
        """Return the tangents of the outputs from those of the arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use "
            "it with forward mode AD."
        )

    @staticmethod
    def vmap(info: object, in_dims: object, *args: object) -> Any:
        """Accept a rule for batches; the samples of a batch are run one by one."""
        raise NotImplementedError("no rule for batches")

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Run ``forward`` and record the one node."""
        if cls.setup_context is not Function.setup_context:
            args, kwargs = _bound(cls, args, kwargs)
        tensors = [x for x in args if isinstance(x, Tensor)]
        ctx = FunctionCtx(
            needs_input_grad=tuple(
                isinstance(x, Tensor) and x.requires_grad for x in args
            )
        )
        node = None
        if MODE.recording and any(x.edge is not None for x in tensors):
            node = cls.node_class(ctx, args)
        xp = next((x.xp for x in tensors if x.xp.symbolic), NUMPY)
        with no_grad(), forward_ad.suspended(), xp.followed():
            output = _run(cls, ctx, args, kwargs)
        with xp.followed():
            result = attach(node, ctx, args, output)
        tangents = [tangent_of(x) for x in tensors]
        if any(t is not None for t in tangents):
            passing = cls.node_class(ctx, args)
            passing.note_outputs(output)
            passing.asked = tuple(t is not None for t in tangents)
            forward_ad.push_node(passing, tensors, tangents, result)
            for t in ctx.dirty_tensors:
                forward_ad.follow(t, t)
        if node is not None:
            for look in MODE.on_node:
                look(node)
        return result


# What follows is no method: a Function's own helpers may have any name.
@lru_cache(maxsize=256)
def _signature(forward: Callable[..., object]) -> Signature:
    from inspect import signature

    return signature(forward)


def _bound(
    function: type[Function], args: tuple[object, ...], kwargs: Params
) -> tuple[tuple[object, ...], Params]:
    """Return the arguments of a ``forward`` without ``ctx``, with its defaults."""
    bound = _signature(function.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


def _run(
    function: type[Function],
    ctx: FunctionCtx,
    args: tuple[object, ...],
    kwargs: Params,
) -> object:
    """Run ``forward``, and save what it has saved."""
    has_setup = function.setup_context is not Function.setup_context
    if not has_setup:
        return function.forward(ctx, *args, **kwargs)
    output = function.forward(*args, **kwargs)
    function.setup_context(ctx, args, output)
    return output
