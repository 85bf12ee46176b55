"""Jacobians, Hessians and products with them, of a function and its inputs.

Invariant: the function is run on tensors of its own, so that no graph outside it is
entered or changed; with ``create_graph`` the results can be differentiated by the
inputs, without it they stand outside every graph.

    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as _forward
from ..engine.modes import MODE, enable_grad, following
from ..engine.record import call
from ..engine.tensor import Tensor, ones_for, unrecorded
from ..engine.walk import reaches
from .blocks import blocks_of, filled, pull
from .strictness import (
    check_jacobian,
    check_outputs,
    check_second,
    check_strategy,
    check_vector,
    check_vectorized,
    demand_scalar,
    demand_tensors,
)

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy

Func = Callable[..., Any]
FORWARD = "forward-mode"
SCALAR = ("hessian", "hvp", "vhp")
"""The functions that differentiate one scalar output."""

UNREACHED = (
    "The output of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode."
)
FOLLOWED = (
    "autograd.functional.* without create_graph=True gives results outside the graph, "
    "and is called inside of a function being transformed, whose derivative would lose "
    "them. Pass create_graph=True, or use the transforms of gradcli.func (grad, vjp, "
    "jacrev, jacfwd, hessian); detach() the inputs if they are meant to be constant."
)
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be '
    'more performant. Otherwise, prefer to use "reverse-mode".'
)


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
        vectorize: accepted, without ``strict``; rows are computed one by one.
        strategy: ``reverse-mode`` takes a pass per entry of the outputs,
            ``forward-mode`` a pass per entry of the inputs.

    Returns:
        A block of shape ``output.shape + input.shape``; a tuple of blocks where the
        inputs are a tuple, and a tuple of these where the outputs are.
    """
    check_strategy(strategy, HINT)
    check_vectorized(strict, vectorize)
    forward = strategy == FORWARD
    run = _Run(func, inputs, create_graph, strict, "jacobian", forward)
    with enable_grad():
        blocks = blocks_of(run.outputs, run.own, create_graph, forward)
    if strict:
        check_jacobian(run.outputs, run.own, blocks, create_graph)
    return run.as_outputs([run.as_inputs(row) for row in blocks])


def hessian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function with one scalar output.

    Args:
        func: takes tensors, gives a tensor with one entry.
        inputs: a tensor or a tuple of tensors.
        create_graph: make the result differentiable by the inputs.
        strict: raise where a first derivative does not depend on an input.
        vectorize: accepted, without ``strict``; rows are computed one by one.
        outer_jacobian_strategy: the mode of the second differentiation.

    Returns:
        A block of shape ``input.shape + input.shape``; a tuple of tuples of blocks
        where the inputs are a tuple.
    """
    check_strategy(outer_jacobian_strategy)
    check_vectorized(strict, vectorize)
    forward = outer_jacobian_strategy == FORWARD
    run = _Run(func, inputs, create_graph, strict, "hessian", forward)
    with enable_grad():
        first = run.gradient(demand_all=False)
        blocks = blocks_of(first, run.own, create_graph, forward)
    return run.as_inputs([run.as_inputs(row) for row in blocks])


def vjp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of ``v`` with the Jacobian.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: a cotangent per output, of its shape; may be left out where the only output
            has one entry.
        create_graph: make both results differentiable by the inputs.
        strict: raise where an output does not depend on an input.

    Returns:
        What ``func`` gives, and a gradient per input, of its shape.

    Raises:
        GradError: ``v`` does not fit the outputs.
    """
    run = _Run(func, inputs, create_graph, strict, "vjp")
    cotangents = check_vector(v, run.outputs, "output")
    with enable_grad():
        pulled = run.pull(run.outputs, cotangents, create_graph, strict)
    return run.as_outputs(run.outputs), run.as_inputs(pulled)


def jvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of the Jacobian with ``v``, by forward mode.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        v: a tangent per input, of its shape; may be left out where the only input has
            one entry.
        create_graph: make both results differentiable by the inputs.
        strict: raise where an output does not depend on an input.

    Returns:
        What ``func`` gives, and a tangent per output, of its shape.

    Raises:
        GradError: ``v`` does not fit the inputs.
    """
    run = _Run(func, inputs, create_graph, strict, "jvp")
    tangents = check_vector(v, run.own, "input")
    with enable_grad():
        if strict:
            run.pull(run.outputs, [ones_for(y) for y in run.outputs], False, True)
        pushed = _forward(run.outputs, run.own, tangents, create_graph)
    return run.as_outputs(run.outputs), run.as_outputs(pushed)


def vhp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and ``v`` times the Hessian, by two reverse passes.

    Args:
        func: takes tensors, gives a tensor with one entry.
        inputs: a tensor or a tuple of tensors.
        v: a vector per input, of its shape; may be left out where the only input has
            one entry.
        create_graph: make both results differentiable by the inputs.
        strict: raise where a first derivative does not depend on an input.

    Returns:
        What ``func`` gives, and a product per input, of its shape.

    Raises:
        GradError: ``func`` gives no scalar, or ``v`` does not fit the inputs.
    """
    run = _Run(func, inputs, create_graph, strict, "vhp")
    vector = check_vector(v, run.own, "input")
    with enable_grad():
        product = run.pull(run.gradient(), vector, create_graph)
    return run.as_outputs(run.outputs), run.as_inputs(product)


def hvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and the Hessian times ``v``, by forward over reverse.

    Args:
        func: takes tensors, gives a tensor with one entry.
        inputs: a tensor or a tuple of tensors.
        v: a vector per input, of its shape; may be left out where the only input has
            one entry.
        create_graph: make both results differentiable by the inputs.
        strict: raise where a first derivative does not depend on an input.

    Returns:
        What ``func`` gives, and a product per input, of its shape.

    Raises:
        GradError: ``func`` gives no scalar, or ``v`` does not fit the inputs.
    """
    run = _Run(func, inputs, create_graph, strict, "hvp")
    vector = check_vector(v, run.own, "input")
    with enable_grad():
        product = _forward(run.gradient(), run.own, vector, create_graph)
    return run.as_outputs(run.outputs), run.as_inputs(product)


class _Run:
    """A function's outputs on inputs of its own, and how both were nested.

    Results of ``as_inputs`` and ``as_outputs`` are tuples where inputs or outputs were,
    and outside the graph unless they are to be recorded.
    """

    def __init__(
        self, func: Func, inputs: object, create_graph: bool, strict: bool, name: str,
        forward: bool = False,
    ) -> None:  # fmt: skip
        self.create_graph, self.strict, self.name = create_graph, strict, name
        given = demand_tensors(inputs, "inputs", name)
        with enable_grad():
            self.own = tuple(_own(x, create_graph) for x in given)
            edges = frozenset(x.edge for x in self.own)
            with following(edges, transform=False, forward=forward):
                result = func(*self.own)
        what = "outputs of the user-provided function"
        self.outputs = demand_tensors(result, what, name)
        if not create_graph:
            _demand_unfollowed((*given, *self.outputs))
        if strict:
            check_outputs(self.outputs)
        self.several_inputs = isinstance(inputs, tuple)
        self.several_outputs = isinstance(result, tuple)
        if name in SCALAR:
            demand_scalar(self.outputs, name, self.several_outputs)

    def as_inputs(self, values: Sequence[object]) -> Any:
        return self._nested(values, self.several_inputs)

    def as_outputs(self, values: Sequence[object]) -> Any:
        return self._nested(values, self.several_outputs)

    def _nested(self, values: Sequence[Any], several: bool) -> Any:
        settled = tuple(
            v if self.create_graph or isinstance(v, tuple) else unrecorded(v)
            for v in values
        )
        return settled if several else settled[0]

    def pull(
        self,
        outputs: Sequence[Tensor],
        cotangents: Sequence[Tensor],
        create_graph: bool,
        demand_all: bool = False,
    ) -> list[Tensor]:
        """Return the gradients of the inputs; zeros where nothing depends on one,
        unless all are demanded."""
        found = pull(outputs, self.own, cotangents, create_graph)
        if demand_all and None in found:
            raise GradError(UNREACHED.format(found.index(None)))
        return filled(found, self.own)

    def gradient(self, demand_all: bool = True) -> list[Tensor]:
        """Return the recorded gradient of the one scalar output, which depends on the
        inputs where this is strict."""
        seeds = [ones_for(y) for y in self.outputs]
        found = self.pull(self.outputs, seeds, True, self.strict and demand_all)
        if self.strict:
            check_second(found, self.own)
        return found


def _own(x: Tensor, create_graph: bool) -> Tensor:
    """Return the input as a new leaf, or below itself if results are recorded."""
    if create_graph and x.edge is not None:
        found: Tensor = call("alias", x)
        return found
    return unrecorded(x).requires_grad_(True)


def _demand_unfollowed(tensors: Iterable[Tensor]) -> None:
    """Refuse to give results outside the graph where they are to be differentiated.

    Raises:
        EngineError: a function that is being transformed is running, and the tensors
            depend on what it is differentiated by.
    """
    wanted = frozenset().union(*MODE.traced)
    if wanted and reaches([x.edge for x in tensors], wanted):
        raise EngineError(FOLLOWED)
