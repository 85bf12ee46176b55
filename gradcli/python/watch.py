"""The backward passes of a script: where each is, and what may be said of it.

Invariant: the script computes what it computes; a report is made the first time that a
line of it starts a pass, before saved values are freed, and passes are counted.

    with watched(report):
        run(path, arguments)
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from .. import autograd
from ..engine.backward import backward_of
from ..engine.tensor import Tensor
from ..nn.module import Module
from .places import caller, outside

BACKWARD = "backward"
"""Name of the method of tensors, and of the function, that start a pass."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A backward pass that is about to run.

    root       what is differentiated
    cotangent  what it starts with; None: 1
    variables  the tensors that the script has names for there
    """

    file: str
    line: int
    root: Tensor
    cotangent: Tensor | None
    variables: Mapping[str, Tensor]

    @property
    def place(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    @property
    def name(self) -> str:
        """Return the script's name of the root."""
        found = (n for n, t in self.variables.items() if t is self.root)
        return next(found, "output")


Run = Callable[..., object]
"""A function that runs the pass itself, with further options."""

Report = Callable[[Pass, Run], None]
"""A function that is told of a pass and has to run it, once."""


@dataclass(slots=True)
class Passes:
    """How often each line started a pass."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        for (file, line), count in sorted(self.counts.items()):
            times = "once" if count == 1 else f"{count} times"
            yield f"{Path(file).name}:{line}: {times}"


@contextmanager
def watched(
    report: Report, after: Callable[[bool], None] | None = None
) -> Iterator[Passes]:
    """Report the passes that are run inside.

    Args:
        report: is given each line's first pass.
        after: is called after every pass, with whether its graph was retained.
    """
    passes = Passes()
    inside = [False]

    def run(root: Tensor, cotangent: Tensor | None, again: Run, retained: bool) -> None:
        frame = sys._getframe(2)
        at = caller(frame)
        first = not passes.counts[at]
        passes.counts[at] += 1
        if not first or inside[0]:
            again()
        else:
            inside[0] = True
            made = Pass(*at, root, cotangent, _variables(frame))
            try:
                report(made, again)
            finally:
                inside[0] = False
        if after is not None:
            after(retained)

    def backward(
        self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
        create_graph: bool = False, inputs: Any = None,
    ) -> None:  # fmt: skip
        def again(cotangent: Tensor | None = None) -> None:
            given = gradient if cotangent is None else cotangent
            backward_of(self, given, retain_graph, create_graph, inputs)

        if inside[0] or self.edge is None:
            again()
        else:
            run(self, gradient, again, _retains(retain_graph, create_graph))

    def of_module(
        tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
        create_graph: bool = False, *rest: object, **named: object,
    ) -> None:  # fmt: skip
        alone = isinstance(tensors, Tensor)

        def again(cotangent: Tensor | None = None) -> None:
            plain(tensors, grad_tensors, retain_graph, create_graph, *rest, **named)

        if inside[0] or not (alone or len(tensors) == 1):
            again()
            return
        single = isinstance(grad_tensors, Tensor | None)
        given = grad_tensors if single else grad_tensors[0]
        root = tensors if alone else tensors[0]
        run(root, given, again, _retains(retain_graph, create_graph))

    plain: Any = autograd.backward
    setattr(Tensor, BACKWARD, backward)
    setattr(autograd, BACKWARD, of_module)
    try:
        yield passes
    finally:
        delattr(Tensor, BACKWARD)
        setattr(autograd, BACKWARD, plain)


def _retains(retain_graph: bool | None, create_graph: bool) -> bool:
    return create_graph if retain_graph is None else retain_graph


def _variables(frame: FrameType | None) -> dict[str, Tensor]:
    """Return the tensors that the nearest of the script's frames has names for; a
    module's parameters by their own."""
    frame = outside(frame)
    if frame is None:
        return {}
    found: dict[str, Tensor] = {}
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if isinstance(value, Tensor):
            found[name] = value
        elif isinstance(value, Module):
            for inner, parameter in value.named_parameters():
                found.setdefault(f"{name}.{inner}", parameter)
    return found
