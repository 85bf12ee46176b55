"""Jacobians, Hessians and products with them, of a function and its inputs.

Invariant: the function is run on tensors of its own, so that no graph outside it is
entered or changed; with ``create_graph`` the results can be differentiated by the
inputs, without it they stand outside every graph.

    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as push
from ..engine.modes import MODE, enable_grad, following
from ..engine.tensor import Tensor, ones_for, unrecorded
from ..engine.walk import reaches
from .blocks import blocks_of, filled, pull
from .entry import naming
from .transforms import Func, Trace, demand_tensors
from .vmap import flatten

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy

MODES = {"reverse-mode": False, "forward-mode": True}
"""Whether a mode pushes tangents, by its name."""

FOLLOWED = (
    "autograd.functional.* without create_graph=True gives results outside the graph, "
    "and is called inside of a function being transformed, whose derivative would lose "
    "them. Pass create_graph=True, or use the transforms of gradcli.func (grad, vjp, "
    "jacrev, jacfwd, hessian); detach() the inputs if they are meant to be constant."
)
INDEPENDENT = "with strict=True, {} has to depend on input {}, and it does not"


@naming
def jacobian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of every output entry by every input entry.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: make the result differentiable by the inputs.
        strict: raise where an output does not depend on an input.
        vectorize: accepted; it changes no result.
        strategy: "reverse-mode" or "forward-mode".

    Returns:
        A block of shape ``output.shape + input.shape``, nested as those are.
    """
    forward = _pushes(strategy)
    run = _Run(func, inputs, create_graph, strict, forward)
    for nr, y in enumerate(run.outputs if strict else ()):
        run.demand_all(pull([y], run.inputs, [ones_for(y)]), f"output {nr}")
    with enable_grad():
        rows = blocks_of(run.outputs, run.inputs, create_graph, forward)
    return run.as_outputs([run.as_inputs(row) for row in rows])


@naming
def hessian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function with one scalar output, as blocks
    of shape ``input.shape + input.shape``; the arguments are those of `jacobian`."""
    forward = _pushes(outer_jacobian_strategy)
    run = _Run(func, inputs, create_graph, strict, forward)
    with enable_grad():
        rows = blocks_of(run.gradient(), run.inputs, create_graph, forward)
    return run.as_inputs([run.as_inputs(row) for row in rows])


def vjp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of ``v`` with the Jacobian, a part per input.

    Args:
        v: a cotangent per output, of its shape; may be left out where the only output
            has one entry.
        strict: raise where no output depends on an input.

    The others are those of `jacobian`.

    Raises:
        GradError: ``v`` does not fit the outputs.
    """
    run = _Run(func, inputs, create_graph, strict)
    cotangents = _vector(v, run.outputs, "user-provided function returns")
    with enable_grad():
        found = pull(run.outputs, run.inputs, cotangents, create_graph)
    run.demand_all(found, "an output")
    return run.as_outputs(run.outputs), run.as_inputs(filled(found, run.inputs))


def jvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of the Jacobian with ``v``, by forward mode.

    ``v`` has a tangent per input, of its shape; it may be left out where the only input
    has one entry. The others are those of `vjp`.
    """
    run = _Run(func, inputs, create_graph, strict)
    tangents = _vector(v, run.inputs, "input to the user-provided function is")
    if strict:
        seeds = [ones_for(y) for y in run.outputs]
        run.demand_all(pull(run.outputs, run.inputs, seeds), "an output")
    with enable_grad():
        pushed = push(run.outputs, run.inputs, tangents, create_graph)
    return run.as_outputs(run.outputs), run.as_outputs(pushed)


def vhp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and ``v`` times the Hessian, by two reverse passes.

    ``func`` gives a tensor with one entry; ``v`` has a vector per input, of its shape,
    and may be left out where the only input has one entry.

    Raises:
        GradError: ``func`` gives no scalar, or ``v`` does not fit the inputs.
    """
    return _product(_Run(func, inputs, create_graph, strict), v, forward=False)


def hvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and the Hessian times ``v``, by forward over reverse; what it
    takes and gives is what `vhp` does."""
    return _product(_Run(func, inputs, create_graph, strict), v, forward=True)


def _product(run: _Run, v: object, forward: bool) -> tuple[Any, Any]:
    """Return the value of a function, and its Hessian times a vector."""
    vector = _vector(v, run.inputs, "input to the user-provided function is")
    with enable_grad():
        given = run.gradient(), run.inputs, vector, run.create_graph
        found: Sequence[Tensor | None] = push(*given) if forward else pull(*given)
    return run.as_outputs(run.outputs), run.as_inputs(filled(found, run.inputs))


class _Run(Trace):
    """A function that is run on inputs of its own, which may come from a graph that
    results with ``create_graph`` belong to.

    Results of ``as_inputs`` and ``as_outputs`` are nested as inputs or outputs were,
    and outside the graph unless they are to be recorded.
    """

    def __init__(
        self, func: Func, inputs: object, create_graph: bool, strict: bool,
        forward: bool = False,
    ) -> None:  # fmt: skip
        self.create_graph, self.strict = create_graph, strict
        args = inputs if isinstance(inputs, tuple) else (inputs,)
        every = tuple(range(len(args))) if isinstance(inputs, tuple) else 0
        super().__init__(func, args, {}, every, forward=forward)
        self.outputs = demand_tensors(self.outputs)
        followed = frozenset().union(*MODE.traced)
        edges = [x.edge for x in (*self.given, *self.outputs)]
        if followed and not create_graph and reaches(edges, followed):
            raise EngineError(FOLLOWED)

    def _enter(
        self, around: ExitStack, fresh: list[Tensor], args: object, forward: bool
    ) -> None:
        around.enter_context(following(self.edges, transform=False, forward=forward))

    def as_inputs(self, values: Sequence[object]) -> Any:
        return self.shape.fill(map(self._settled, values))

    def as_outputs(self, values: Sequence[object]) -> Any:
        return self.output_shape.fill(map(self._settled, values))

    def _settled(self, value: object) -> object:
        if self.create_graph or not isinstance(value, Tensor):
            return value
        return unrecorded(value)

    def demand_all(self, found: Sequence[Tensor | None], what: str) -> None:
        """Raise GradError where this is strict and a gradient is missing."""
        if self.strict and None in found:
            raise GradError(INDEPENDENT.format(what, found.index(None)))

    def gradient(self) -> list[Tensor]:
        """Return the recorded gradient of the one scalar output."""
        if len(self.outputs) != 1 or self.outputs[0].numel() != 1:
            raise GradError(
                "a Hessian is that of a function which gives one tensor that contains "
                "a single element"
            )
        found = pull(self.outputs, self.inputs, [ones_for(self.outputs[0])], True)
        self.demand_all(found, "the output")
        gradients = filled(found, self.inputs)
        for nr, g in enumerate(gradients if self.strict else ()):
            if not any(x is not None for x in pull([g], self.inputs, [ones_for(g)])):
                raise GradError(INDEPENDENT.format("the gradient", nr))
        return gradients


def _pushes(strategy: str) -> bool:
    """Return whether a strategy is that of forward mode."""
    if strategy not in MODES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".'
        )
    return MODES[strategy]


def _vector(v: object, like: Sequence[Tensor], where: str) -> list[Tensor]:
    """Return the vector as tensors that fit ``like``; one where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(
                f"The vector v can only be None if the {where} a single Tensor with a "
                "single element."
            )
        return [ones_for(like[0])]
    given = demand_tensors(flatten(v)[0])
    sizes, wanted = ([tuple(t.shape) for t in ts] for ts in (given, like))
    if sizes != wanted:
        raise GradError(f"v has to have the sizes {wanted}, not {sizes}")
    return given
