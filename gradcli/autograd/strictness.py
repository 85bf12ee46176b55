"""What the functions of `gradcli.autograd.functional` demand of inputs and outputs.

Invariant: every refusal is in PyTorch's words and of its exception class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.errors import GradError
from ..engine.tensor import Tensor, ones_for
from .blocks import pull

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
NEEDS_VECTOR = {
    "output": "The vector v can only be None if the user-provided function returns a "
    "single Tensor with a single element.",
    "input": "The vector v can only be None if the input to the user-provided function "
    "is a single Tensor with a single element.",
}


def check_strategy(strategy: str, hint: str = "") -> None:
    """Refuse anything but the two modes."""
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".' + hint
        )


def check_vectorized(strict: bool, vectorize: bool) -> None:
    """Refuse to be strict about rows that are asked for all at once."""
    if strict and vectorize:
        raise GradError(STRICT_AND_VECTORIZED)


def demand_tensors(value: Any, what: str, name: str) -> tuple[Tensor, ...]:
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


def demand_scalar(outputs: Sequence[Tensor], name: str, several: bool) -> None:
    """Refuse anything but one output with one entry."""
    if several:
        raise GradError(f"The function given to {name} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise GradError(
            f"The Tensor returned by the function given to {name} should contain a "
            "single element"
        )


def check_vector(v: object, like: Sequence[Tensor], side: str) -> tuple[Tensor, ...]:
    """Return the vector as a tuple that fits ``like``; one where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(NEEDS_VECTOR[side])
        return (ones_for(like[0]),)
    given = demand_tensors(tuple(v) if isinstance(v, list) else v, "v", "the product")
    if len(given) != len(like):
        if len(like) == 1:
            raise GradError("The given v should contain a single Tensor.")
        raise GradError(
            f"v is a tuple of invalid length: should be {len(like)} but got "
            f"{len(given)}."
        )
    for index, (x, t) in enumerate(zip(like, given, strict=True)):
        if x.shape != t.shape:
            entry = f"Entry {index} in v" if len(like) > 1 else "v"
            raise GradError(
                f"{entry} has invalid size: should be {x.shape} but got {t.shape}."
            )
    return given


def check_outputs(outputs: Sequence[Tensor]) -> None:
    """Refuse an output outside the graph."""
    for index, y in enumerate(outputs):
        if y.edge is None:
            raise GradError(NO_GRADIENT.format(index))


def check_jacobian(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    blocks: Sequence[Sequence[Tensor]],
    create_graph: bool,
) -> None:
    """Refuse an output that does not reach an input, and a constant block."""
    for index, y in enumerate(outputs):
        for nr, found in enumerate(_reached(y, inputs)):
            if not found:
                raise GradError(INDEPENDENT.format(index, nr))
            if create_graph and blocks[index][nr].edge is None:
                raise GradError(CONSTANT_JACOBIAN.format(nr))


def check_second(first: Sequence[Tensor], inputs: Sequence[Tensor]) -> None:
    """Refuse a first derivative that depends on no input."""
    for index, g in enumerate(first):
        if not any(_reached(g, inputs)):
            raise GradError(CONSTANT_GRADIENT.format(index))


def _reached(y: Tensor, inputs: Sequence[Tensor]) -> list[bool]:
    return [g is not None for g in pull([y], inputs, [ones_for(y)])]
