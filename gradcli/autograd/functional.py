"""Jacobians, Hessians and products with them, of a function and its inputs.

Invariant: the function is run on tensors of its own, so that no graph outside it is
entered or changed; with ``create_graph`` the results can be differentiated by the
inputs, without it they stand outside every graph.

    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.backward import grad
from ..engine.errors import GradError
from ..engine.forward import jvp as _forward
from ..engine.modes import enable_grad
from ..engine.record import call
from ..engine.tensor import Tensor
from .rows import blocks_of, zeros
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

Func = Callable[..., Any]
Tensors = tuple[Tensor, ...]
HINT = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be '
    'more performant. Otherwise, prefer to use "reverse-mode".'
)


def jacobian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of every entry of every output by every entry of every input.

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
    own, outputs, shape = _run(func, inputs, create_graph, "jacobian", strict)
    with enable_grad():
        if strategy == "forward-mode":
            blocks = _by_columns(outputs, own, create_graph)
        else:
            blocks = [blocks_of(y, own, create_graph) for y in outputs]
    if strict:
        check_jacobian(outputs, own, blocks, create_graph)
    nested = tuple(shape.inputs(row) for row in blocks)
    return shape.outputs(_settled(nested, create_graph))


def hessian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one scalar output.

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
    own, outputs, shape = _run(func, inputs, create_graph, "hessian", strict)
    demand_scalar(outputs, "hessian", shape.several_outputs)
    with enable_grad():
        first = _gradients(outputs, own, None)
        if strict:
            check_second(first, own)
        if outer_jacobian_strategy == "forward-mode":
            blocks = _by_columns(first, own, create_graph)
        else:
            blocks = [blocks_of(g, own, create_graph) for g in first]
    nested = tuple(shape.inputs(row) for row in blocks)
    return shape.inputs(_settled(nested, create_graph))


def vjp(
    func: Func,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and the product of ``v`` with the Jacobian.

    Args:
        v: a cotangent per output, of its shape; may be left out where the only output
            has one entry.

    Returns:
        What ``func`` gives, and a gradient per input.
    """
    own, outputs, shape = _run(func, inputs, create_graph, "vjp", strict)
    cotangents = check_vector(v, outputs, "output")
    with enable_grad():
        pulled = _gradients(outputs, own, cotangents, create_graph, strict)
    return _both(shape.outputs(outputs), shape.inputs(pulled), create_graph)


def jvp(
    func: Func,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The outputs, and the product of the Jacobian with ``v``, by forward mode.

    Args:
        v: a tangent per input, of its shape; may be left out where the only input has
            one entry.

    Returns:
        What ``func`` gives, and a tangent per output.
    """
    own, outputs, shape = _run(func, inputs, create_graph, "jvp", strict)
    tangents = check_vector(v, own, "input")
    with enable_grad():
        if strict:
            _gradients(outputs, own, _ones(outputs), create_graph, True)
        pushed = tuple(_forward(outputs, own, tangents, create_graph))
    return _both(shape.outputs(outputs), shape.outputs(pushed), create_graph)


def vhp(
    func: Func,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value, and the product of ``v`` with the Hessian, by two reverse passes."""

    def pull(first: Tensors, own: Tensors, vector: Tensors) -> Tensors:
        return _gradients(first, own, vector, create_graph)

    return _with_hessian(func, inputs, v, create_graph, strict, "vhp", pull)


def hvp(
    func: Func,
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """The value, and the product of the Hessian with ``v``, by forward over reverse."""

    def push(first: Tensors, own: Tensors, vector: Tensors) -> Tensors:
        return tuple(_forward(first, own, vector, create_graph))

    return _with_hessian(func, inputs, v, create_graph, strict, "hvp", push)


def _with_hessian(
    func: Func, inputs: Any, v: Any, create_graph: bool, strict: bool, name: str,
    product: Callable[[Tensors, Tensors, Tensors], Tensors],
) -> tuple[Any, Any]:  # fmt: skip
    """The value, and the ``product`` of the gradient's Jacobian and ``v``."""
    own, outputs, shape = _run(func, inputs, create_graph, name, strict)
    demand_scalar(outputs, name, shape.several_outputs)
    vector = check_vector(v, own, "input")
    with enable_grad():
        first = _gradients(outputs, own, None, True, strict)
        if strict:
            check_second(first, own)
        second = product(first, own, vector)
    return _both(outputs[0], shape.inputs(second), create_graph)


class _Nesting:
    """Whether inputs and outputs came as tuples, so that results do as well."""

    def __init__(self, several_inputs: bool, several_outputs: bool) -> None:
        self.several_inputs = several_inputs
        self.several_outputs = several_outputs

    def inputs(self, values: Sequence[Any]) -> Any:
        return tuple(values) if self.several_inputs else values[0]

    def outputs(self, values: Sequence[Any]) -> Any:
        return tuple(values) if self.several_outputs else values[0]


def _run(
    func: Func, inputs: Any, create_graph: bool, name: str, strict: bool
) -> tuple[Tensors, Tensors, _Nesting]:
    """The function's outputs on inputs of its own, and how both were nested."""
    given = demand_tensors(inputs, "inputs", name)
    with enable_grad():
        own = tuple(_own(x, create_graph) for x in given)
        result = func(*own)
    outputs = demand_tensors(result, "outputs of the user-provided function", name)
    if strict:
        check_outputs(outputs)
    return own, outputs, _Nesting(isinstance(inputs, tuple), isinstance(result, tuple))


def _own(x: Tensor, create_graph: bool) -> Tensor:
    """The input under an edge of its own: below it only if results are recorded."""
    if create_graph and x.requires_grad:
        found: Tensor = call("alias", x)
        return found
    return x.detach().requires_grad_(True)


def _gradients(
    outputs: Tensors,
    inputs: Tensors,
    cotangents: Sequence[Tensor] | None,
    create_graph: bool = True,
    strict: bool = False,
) -> Tensors:
    """The gradients of what has a graph among ``outputs``; zeros for the unreached."""
    given = _ones(outputs) if cotangents is None else cotangents
    live = [(y, v) for y, v in zip(outputs, given, strict=True) if y.requires_grad]
    found: list[Tensor | None] = [None] * len(inputs)
    if live:
        ys, vs = zip(*live, strict=True)
        found = grad(ys, inputs, vs, retain_graph=True, create_graph=create_graph)
    for place, g in enumerate(found):
        if g is None and strict:
            raise GradError(
                f"The output of the user-provided function is independent of input "
                f"{place}. This is not allowed in strict mode."
            )
    pairs = zip(found, inputs, strict=True)
    return tuple(zeros(x, x.shape) if g is None else g for g, x in pairs)


def _ones(outputs: Tensors) -> list[Tensor]:
    return [Tensor(y.xp.ones_like(y.raw), y.xp) for y in outputs]


def _by_columns(
    outputs: Tensors, inputs: Tensors, create_graph: bool
) -> list[list[Tensor]]:
    from .columns import columns_of

    per_input = [columns_of(outputs, x, create_graph) for x in inputs]
    return [list(row) for row in zip(*per_input, strict=True)]


def _both(outputs: Any, products: Any, create_graph: bool) -> tuple[Any, Any]:
    return _settled(outputs, create_graph), _settled(products, create_graph)


def _settled(value: Any, create_graph: bool) -> Any:
    """Results outside the graph, unless they are to be recorded."""
    if create_graph:
        return value
    if isinstance(value, tuple):
        return tuple(_settled(part, False) for part in value)
    return value.detach()
