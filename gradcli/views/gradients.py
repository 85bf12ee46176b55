"""What `gradcli grad` shows: an output, its inputs and their gradients.

Invariant: everything is on the host, in plain numbers, large arrays as they are;
nothing here is computed again.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from ..engine import Tensor
from ..lang.run import Input
from .graph import GraphView
from .numbers import Entries, Shown, shown


@dataclass(frozen=True, slots=True)
class OutputView:
    """The output's value and the name of the node that made it (None for a leaf).

    ``named``: the name is the program's own, not a stand-in for a bare expression.
    """

    name: str
    named: bool
    shape: tuple[int, ...]
    value: Shown
    grad_fn: str | None


@dataclass(frozen=True, slots=True)
class InputView:
    """An input; ``grad`` is None if it was not asked for or the output does not
    depend on it, and where it was written to a file."""

    name: str
    shape: tuple[int, ...]
    value: Shown | None
    sampled: bool
    requires_grad: bool
    grad: Shown | None


@dataclass(frozen=True, slots=True)
class GradView:
    """The answer but for the verdicts, which come later."""

    program: str
    device: str
    dtype: str
    seed: int
    output: OutputView
    inputs: tuple[InputView, ...]
    graph: GraphView | None

    @property
    def differentiated(self) -> tuple[InputView, ...]:
        """The inputs whose gradient was asked for."""
        return tuple(i for i in self.inputs if i.requires_grad)


def output_view(output: Tensor, name: str, named: bool) -> OutputView:
    """The output in plain numbers."""
    made = output.grad_fn
    node = type(made).__name__ if made else None
    return OutputView(name, named, tuple(output.shape), shown(output.raw), node)


def input_views(
    inputs: Iterable[Input], grads: Mapping[str, Tensor | None]
) -> tuple[InputView, ...]:
    """The inputs in plain numbers, each with its gradient where it has one."""
    views = []
    for given in inputs:
        grad = grads.get(given.name)
        views.append(
            InputView(
                name=given.name,
                shape=tuple(given.tensor.shape),
                value=shown(given.tensor.raw),
                sampled=given.sampled,
                requires_grad=given.requires_grad,
                grad=None if grad is None else shown(grad.raw),
            )
        )
    return tuple(views)


def without(view: GradView, names: Container[str]) -> GradView:
    """The same, without the gradients by some inputs, which are written elsewhere, and
    without the values of large inputs."""
    inputs = tuple(
        replace(
            given,
            grad=None if given.name in names else given.grad,
            value=None if isinstance(given.value, Entries) else given.value,
        )
        for given in view.inputs
    )
    return replace(view, inputs=inputs)
