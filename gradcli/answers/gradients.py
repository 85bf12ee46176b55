"""Gradients for people and for the check: an output, its inputs and their gradients.

Invariant: all numbers are in host memory and plain, but for large arrays, which stay
arrays; nothing is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from ..engine import Tensor
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..lang.run import Run, all_finite
from ..ops.records import record
from .fields import HIDDEN, IF_ANY, Shape
from .graph import steps
from .graph_view import GraphView, graph_of
from .line import BLANK, Layout, Line, title
from .numbers import (
    SHORTENED,
    LargeArray,
    Shown,
    number,
    number_line,
    shown,
    value_lines,
)
from .question import Question
from .verdicts import Texts

if TYPE_CHECKING:
    from ..check.process.job import Job, Verification
    from .not_finite import Trouble


@dataclass(frozen=True, slots=True)
class OutputView:
    """The output of the program.

    name     The output's name.
    named    whether the name is the program's own, no stand-in for a bare expression
    value    The value; null: an input that it depends on has none.
    grad_fn  The node that made it; null for an input.
    """

    shared: ClassVar = "output"

    name: str
    named: bool = field(metadata=HIDDEN)
    shape: Shape
    value: Shown | None
    grad_fn: str | None

    @property
    def known(self) -> Shown:
        """Value of an output of inputs that all have one."""
        assert self.value is not None
        return self.value


@dataclass(frozen=True, slots=True)
class InputView:
    """An input.

    value          The value; null: there is none, or it is too large where the
                   gradient is in a file.
    sampled        Whether the value was drawn at random.
    requires_grad  Whether a gradient was asked for.
    grad           The gradient; null if none was asked for, if the output does not
                   depend on the input, if it was written to a file, or if an input has
                   no value.
    """

    name: str
    shape: Shape
    value: Shown | None
    sampled: bool
    requires_grad: bool
    grad: Shown | None


@dataclass(frozen=True, slots=True)
class GradView:
    """The output and the inputs with their gradients, without the verdicts."""

    program: str
    device: str
    dtype: str
    seed: int
    output: OutputView
    inputs: tuple[InputView, ...]
    graph: GraphView | None

    @property
    def differentiated(self) -> tuple[InputView, ...]:
        """Inputs whose gradient was asked for."""
        return tuple(i for i in self.inputs if i.requires_grad)

    def in_symbols(self) -> GradView:
        """Return the view without the numbers that depend on drawn ones."""
        inputs = tuple(
            replace(i, value=None if i.sampled else i.value, sampled=False, grad=None)
            for i in self.inputs
        )
        output = replace(self.output, value=None)
        return replace(self, output=output, inputs=inputs, graph=None)


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients as tensors, for the check, and in plain numbers, for people.

    by_name    the gradient by each input; None: the output does not depend on it
    cotangent  the cotangent of the output; None: none was given
    trouble    the place where a gradient or the value stopped being finite, if any
    """

    run: Run
    by_name: dict[str, Tensor | None]
    cotangent: Tensor | None
    view: GradView
    trouble: Trouble | None

    def job(
        self, seconds: float, formulas: bool = False, however_many: bool = True
    ) -> tuple[Job, str | None]:
        """Return the job that checks the gradients, as `jobs.gradient_job` does."""
        from .jobs import gradient_job

        return gradient_job(
            self.run, self.by_name, seconds, self.cotangent, formulas, however_many
        )


def gradients(run: Run, grad_output: str | None, with_graph: bool) -> Gradients:
    """Return the gradients of a run's output by every input that is asked for, for
    the text of the cotangent of several numbers; ``with_graph`` the answer shows
    the graph."""
    run.require_graph()
    cotangent = None if grad_output is None else run.cotangent(grad_output)
    graph = graph_of(run, False, at_once=False) if with_graph else None
    found = run.gradients(cotangent)
    names = [given.name for given in run.differentiated]
    grads = dict(zip(names, found, strict=True))
    view = view_of(run, grads, graph)
    arose = None
    if not all(all_finite(each) for each in (run.output, *found) if each is not None):
        from .not_finite import trouble

        arose = trouble(run, cotangent)
    return Gradients(run, grads, cotangent, view, arose)


def view_of(
    run: Run, grads: Mapping[str, Tensor | None], graph: GraphView | None = None
) -> GradView:
    """Return the output and the inputs of a run in plain numbers."""
    return GradView(
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        seed=run.seed,
        output=output_of(run),
        inputs=tuple(
            InputView(
                name=given.name,
                shape=tuple(given.tensor.shape),
                value=shown(given.tensor.raw),
                sampled=given.sampled,
                requires_grad=given.requires_grad,
                grad=None if (g := grads.get(given.name)) is None else shown(g.raw),
            )
            for given in run.inputs
        ),
        graph=graph,
    )


def output_of(run: Run) -> OutputView:
    """Return the output of a run in plain numbers."""
    return output_view(run.output, run.output_name, run.names_output)


def output_view(output: Tensor, name: str, named: bool) -> OutputView:
    """Return a tensor as an output in plain numbers."""
    made = output.grad_fn
    node = type(made).__name__ if made else None
    return OutputView(name, named, tuple(output.shape), shown(output.raw), node)


def without(view: GradView, names: Container[str]) -> GradView:
    """Return a view without the gradients by some inputs, which are in files, and
    without the values of large inputs."""
    inputs = tuple(
        replace(
            given,
            grad=None if given.name in names else given.grad,
            value=None if isinstance(given.value, LargeArray) else given.value,
        )
        for given in view.inputs
    )
    return replace(view, inputs=inputs)


@dataclass(frozen=True, slots=True)
class ValueAnswer:
    """Answer of `gradcli value`: the output without a gradient.

    program   The program's text.
    symbolic  With --symbolic: the value as formulas, nested like it; null where there
              is none.
    where     With --symbolic: the conditions on which the formulas hold.
    """

    command: ClassVar = "value"

    program: str
    output: OutputView
    symbolic: Texts = field(default=None, metadata=IF_ANY)
    where: tuple[str, ...] | None = field(default=None, metadata=IF_ANY)


def value(question: Question) -> ValueAnswer:
    """Run the program of a question and return its value."""
    run = question.run(differentiate=False)
    return ValueAnswer(run.source, output_of(run))


def value_in_symbols(question: Question) -> ValueAnswer:
    """Run the program of a question and return its value as formulas.

    Raises:
        ProgramError: there is no formula.
    """
    from ..check.process.budget import load_sympy
    from ..lang.nested import nested
    from .jobs import job_for

    run = question.run(differentiate=False)
    load_sympy()
    from ..check.value_formulas import MAX_VALUE_FORMULAS, value_formulas

    count = run.output.numel()
    if count > MAX_VALUE_FORMULAS:
        message = f"{count:,} entries are too many to be shown as formulas"
        raise ProgramError("E406", message, hint="choose some by an index")
    found = value_formulas(job_for(run, question.seconds, "gradient", {}))
    if found.missing is not None or None in found.texts:
        why = f": {found.missing}" if found.missing else ""
        message = f"the value has no short formula{why}"
        hint = "give values, or choose a part of it by --of NAME or an index"
        raise ProgramError("E406", message, hint=hint)
    texts = nested(found.texts, tuple(run.output.shape))
    output = output_of(run)
    if run.prepared.missing:
        output = replace(output, value=None)
    return ValueAnswer(run.source, output, texts, found.conditions)


@record
class Orders:
    """The derivatives of one order by each input's name, with their labels, as
    ``d2y/dx2``; ``verified`` returns the verdicts of a check."""

    view: GradView
    derivatives: Mapping[str, float]
    labels: Mapping[str, str]
    verified: Callable[[], Verification]


def orders(question: Question, order: int) -> Orders:
    """Run the program; return its derivatives of this order by each input."""
    from ..large.blocks import of_order

    run = question.run()
    run.require_graph()
    run.require_scalar()
    for given in run.differentiated:
        if given.tensor.numel() != 1:
            shape = list(given.tensor.shape)
            message = f"--order {order} is of numbers: {given.name} has shape {shape}"
            hint = "leave it out with --wrt, or index it"
            raise ProgramError("E596", message, hint=hint)
    with run.explained():
        found = {
            given.name: float(of_order(run.output, given.tensor, order).item())
            for given in run.differentiated
        }

    def verified() -> Verification:
        from ..check.orders import verified
        from ..check.process.job import NumberBlock
        from .jobs import job_for

        claims = {name: NumberBlock.of((), [each]) for name, each in found.items()}
        job = job_for(run, question.seconds, "gradient", claims)
        return verified(job, order, found)

    called = run.output_name if run.names_output else ""
    labels = {name: f"d{order}{called}/d{name}{order}" for name in found}
    return Orders(view_of(run, {}), found, labels, verified)


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


def indices(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the index texts of a shape's entries in C order, as ``[0,1]``."""
    found = [""]
    for size in shape:
        found = [f"{text},{i}" for text in found for i in range(size)]
    return tuple(f"[{text[1:]}]" if text else "" for text in found)


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


def plain_gradients(
    view: GradView, files: Mapping[str, str] = NO_FILES
) -> Iterator[Line]:
    """Yield the gradients alone, one a line, in the order of the inputs, without those
    that were written to ``files``."""
    for given in view.differentiated:
        if given.name not in files:
            yield number_line(given.grad)
