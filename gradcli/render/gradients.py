"""The answer of `gradcli grad` as text, and how derivatives and points are called.

L = 7.75

dL/da  = -1.125
dL/dw1 = -6.0

grad_fn
  1  RsubBackward1  10 - d  -> 2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..answers.gradients import GradView, OutputView
from ..lang.excerpt import printable
from .graph import steps
from .line import BLANK, Layout, Line, title
from .numbers import SHORTENED, bare_line, number, value_lines

NO_FILES: Mapping[str, str] = {}


def derivative_label(output: OutputView, name: str) -> str:
    """Return ``dL/da``, or ``d/da`` for an output without a name."""
    return f"d{derived(output)}/d{printable(name)}"


def derived(output: OutputView) -> str:
    """Return the output's name in a derivative's label; empty for a bare expression."""
    return printable(output.name) if output.named else ""


def labels(view: GradView) -> dict[str, str]:
    """Return the label of the gradient by each input, by the input's name."""
    return {i.name: derivative_label(view.output, i.name) for i in view.differentiated}


def at_point(values: Mapping[str, float]) -> str:
    """Return ``x = 1.0, y = 2.0``."""
    return ", ".join(f"{printable(n)} = {number(v)}" for n, v in values.items())


def size_of(shape: Sequence[int]) -> str:
    """Return a shape in round brackets: ``(2, 3)``."""
    return f"({', '.join(map(str, shape))})"


def answer(
    view: GradView, layout: Layout, files: Mapping[str, str] = NO_FILES
) -> Iterator[Line]:
    """Yield the output, the gradients and the graph's steps; the verdicts come later. A
    gradient that is in one of ``files``, by input, is not written out."""
    output = printable(view.output.name)
    yield from value_lines(output, view.output.value, layout)
    for given in view.inputs:
        if given.sampled:
            note = f"sampled, seed {view.seed}"
            yield from value_lines(printable(given.name), given.value, layout, note)
    called = labels(view)
    if called:
        yield BLANK
    pad = max(map(len, called.values()), default=0)
    for given in view.differentiated:
        label = called[given.name]
        if given.name in files:
            file = printable(files[given.name])
            where = f"  {size_of(given.shape)}  written to {file}"
            yield Line((label.ljust(pad), "name"), (where, "plain"))
            continue
        note = f"{output} does not depend on it" if given.grad is None else ""
        yield from value_lines(label, given.grad, layout, note, pad)
    if layout.cut:
        yield SHORTENED
    if view.graph is not None and view.output.grad_fn is not None:
        yield BLANK
        yield title("grad_fn")
        yield from steps(view.graph, layout)


def bare(view: GradView, files: Mapping[str, str] = NO_FILES) -> Iterator[Line]:
    """Yield the gradients alone, one a line, in the order of the inputs, without those
    that were written to ``files``."""
    for given in view.differentiated:
        if given.name not in files:
            yield bare_line(given.grad)
