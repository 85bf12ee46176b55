"""Jacobians, Hessians and products with them, of a function and its inputs.

Invariant: the function is run on tensors of its own, so that no graph outside it is
entered or changed; with ``create_graph`` the results can be differentiated by the
inputs, without it they stand outside every graph. Every refusal is in PyTorch's words
and of its exception class.

    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as _forward
from ..engine.modes import MODE, enable_grad, following
from ..engine.tensor import Tensor, ones_for, unrecorded
from ..engine.walk import reaches
from .blocks import blocks_of, filled, own_copy, pull

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy

Func = Callable[..., Any]
MODES = ("reverse-mode", "forward-mode")
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
NO_GRADIENT = (
    "Output {} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict "
    "mode."
)
INDEPENDENT = (
    "Output {} of the user-provided function is independent of input {}. This is not "
    "allowed in strict mode."
)
CONSTANT_JACOBIAN = (
    "The jacobian of the user-provided function is independent of input {}. This is "
    "not allowed in strict mode when create_graph=True."
)
CONSTANT_GRADIENT = (
    "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not "
    "allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example)."
)
STRICT_AND_VECTORIZED = (
    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
    "supported together. Please either set `strict=False` or `vectorize=False`."
)
NEEDS_OUTPUT = "user-provided function returns a single Tensor with a single element"
NEEDS_INPUT = (
    "input to the user-provided function is a single Tensor with a single element"
)
"""Conditions under which a vector may be left out."""


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
    forward = _is_forward(strategy, strict and vectorize, HINT)
    run = _Run(func, inputs, create_graph, strict, "jacobian", forward)
    with enable_grad():
        blocks = blocks_of(run.outputs, run.own, create_graph, forward)
    if strict:
        for index, y in enumerate(run.outputs):
            for nr, reached in enumerate(run.reached(y)):
                if not reached:
                    raise GradError(INDEPENDENT.format(index, nr))
                if create_graph and blocks[index][nr].edge is None:
                    raise GradError(CONSTANT_JACOBIAN.format(nr))
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
        strict: raise where a first derivative does not depend on an input.
        outer_jacobian_strategy: the mode of the second differentiation.

    The others are those of `jacobian`.

    Returns:
        A block of shape ``input.shape + input.shape``; a tuple of tuples of blocks
        where the inputs are a tuple.
    """
    forward = _is_forward(outer_jacobian_strategy, strict and vectorize)
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
    cotangents = _vector(v, run.outputs, NEEDS_OUTPUT)
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
        v: a tangent per input, of its shape; may be left out where the only input has
            one entry.

    The others are those of `vjp`.

    Returns:
        What ``func`` gives, and a tangent per output, of its shape.
    """
    run = _Run(func, inputs, create_graph, strict, "jvp")
    tangents = _vector(v, run.own, NEEDS_INPUT)
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
        v: a vector per input, of its shape; may be left out where the only input has
            one entry.
        strict: raise where a first derivative does not depend on an input.

    The others are those of `vjp`.

    Returns:
        What ``func`` gives, and a product per input, of its shape.

    Raises:
        GradError: ``func`` gives no scalar, or ``v`` does not fit the inputs.
    """
    run = _Run(func, inputs, create_graph, strict, "vhp")
    vector = _vector(v, run.own, NEEDS_INPUT)
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
    """Return the value, and the Hessian times ``v``, by forward over reverse; what it
    takes and gives is what `vhp` does."""
    run = _Run(func, inputs, create_graph, strict, "hvp")
    vector = _vector(v, run.own, NEEDS_INPUT)
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
        self.create_graph, self.strict = create_graph, strict
        given = _demand_tensors(inputs, "inputs", name)
        with enable_grad():
            self.own = tuple(own_copy(x, create_graph) for x in given)
            edges = frozenset(x.edge for x in self.own)
            with following(edges, transform=False, forward=forward):
                result = func(*self.own)
        what = "outputs of the user-provided function"
        self.outputs = _demand_tensors(result, what, name)
        wanted = frozenset().union(*MODE.traced)
        tensors = (*given, *self.outputs)
        if wanted and not create_graph and reaches([x.edge for x in tensors], wanted):
            raise EngineError(FOLLOWED)
        for index, y in enumerate(self.outputs if strict else ()):
            if y.edge is None:
                raise GradError(NO_GRADIENT.format(index))
        self.several_inputs = isinstance(inputs, tuple)
        self.several_outputs = isinstance(result, tuple)
        if name in SCALAR and self.several_outputs:
            raise GradError(
                f"The function given to {name} should return a single Tensor"
            )
        if name in SCALAR and self.outputs[0].numel() != 1:
            raise GradError(
                f"The Tensor returned by the function given to {name} should contain a "
                "single element"
            )

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

    def reached(self, y: Tensor) -> list[bool]:
        """Tell of each input whether a tensor depends on it."""
        return [g is not None for g in pull([y], self.own, [ones_for(y)])]

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
        for index, g in enumerate(found if self.strict else ()):
            if not any(self.reached(g)):
                raise GradError(CONSTANT_GRADIENT.format(index))
        return found


def _is_forward(strategy: str, strict_rows: bool, hint: str = "") -> bool:
    """Return whether a strategy is that of forward mode; refuse any but the two, and to
    be strict about rows that are asked for all at once."""
    if strategy not in MODES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".' + hint
        )
    if strict_rows:
        raise GradError(STRICT_AND_VECTORIZED)
    return strategy == "forward-mode"


def _demand_tensors(value: Any, what: str, name: str) -> tuple[Tensor, ...]:
    """Return a tensor or a tuple of tensors, as a tuple.

    Raises:
        TypeError: it is neither.
    """
    several = isinstance(value, tuple)
    found = value if several else (value,)
    for index, x in enumerate(found):
        if not isinstance(x, Tensor):
            which = f"value at index {index}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of "
                f"Tensors but the {which} has type {type(x)}."
            )
    return found


def _vector(v: object, like: Sequence[Tensor], needed: str) -> tuple[Tensor, ...]:
    """Return the vector as a tuple that fits ``like``; one where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(f"The vector v can only be None if the {needed}.")
        return (ones_for(like[0]),)
    given = _demand_tensors(tuple(v) if isinstance(v, list) else v, "v", "the product")
    if len(given) != len(like):
        raise GradError(
            "The given v should contain a single Tensor."
            if len(like) == 1
            else f"v is a tuple of invalid length: should be {len(like)} but got "
            f"{len(given)}."
        )
    for index, (x, t) in enumerate(zip(like, given, strict=True)):
        if x.shape != t.shape:
            entry = f"Entry {index} in v" if len(like) > 1 else "v"
            raise GradError(
                f"{entry} has invalid size: should be {x.shape} but got {t.shape}."
            )
    return given
