"""From a command line to a recorded run.

Invariant: what the engine refuses here becomes a `ProgramError` that says what to ask
for instead.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from sys import maxsize
from typing import TYPE_CHECKING

from ..lang.errors import ProgramError, Span
from .limits import bound_memory
from .options import Request
from .output import note
from .sources import program_and_bindings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..diagnosis.blame import Trouble
    from ..engine import Tensor
    from ..lang.machine import Trace
    from ..lang.run import Input, Run
    from ..views.gradients import GradView
    from ..views.graph import GraphView


def run_program(request: Request, trace: Trace | None = None) -> Run:
    """Read the program and its inputs and run it; ``trace`` is told of statements."""
    source, words = program_and_bindings(request)
    from ..lang.bindings import read_bindings
    from ..lang.run import execute, prepare

    bound_memory()
    prepared = prepare(
        source,
        read_bindings(words),
        wrt=listed(request.wrt),
        seed=request.seed,
        strict=request.strict,
        dtype=request.dtype,
        device=request.device,
    )
    # The limits on seconds and memory are the bounds here.
    run = execute(prepared, of=request.of, max_steps=maxsize, trace=trace)
    _tell(run, request)
    return run


def listed(text: str | None) -> list[str] | None:
    """The names in an option's text, as the language spells them."""
    if text is None:
        return None
    return [as_name(name) for name in text.split(",") if name.strip()]


def as_name(text: str) -> str:
    """A name as a program spells it: in Unicode's form NFC."""
    from unicodedata import normalize

    return normalize("NFC", text.strip())


def _tell(run: Run, request: Request) -> None:
    """Notes on stderr: what was drawn at random, what is not finite."""
    from ..lang.excerpt import enumerated, printable

    sampled = [i.name for i in run.inputs if i.sampled]
    for text in _slips(sampled, run):
        note(f"note: {text}")
    if sampled:
        them = "it has" if len(sampled) == 1 else "they have"
        example = f"{enumerated(sampled[:1])}=VALUE"
        names = printable(enumerated(sampled))
        note(
            f"note: {names}: sampled with seed {run.seed}, as {them} no value; give "
            f"one with {printable(example)}"
        )
    for text in (*run.notes, *_not_finite(run)):
        note(f"note: {text}")


def _not_finite(run: Run) -> list[str]:
    """Where the value stopped being finite, if it did."""
    from ..lang.run import all_finite

    if all_finite(run.output):
        return []
    from ..lang.diagnose import first_not_finite

    return first_not_finite(run, maxsize)


def _slips(sampled: list[str], run: Run) -> Iterator[str]:
    """Inputs that look as if they were none."""
    from ..lang.excerpt import printable
    from ..lang.lexicon import CONSTANTS_MEANT
    from ..lang.suggest import letters_apart, lookalike

    names = [given.name for given in run.inputs]
    for name in sampled:
        twin = lookalike(name, names)
        if twin:
            apart = letters_apart(name, twin)
            yield printable(f"two inputs look alike: {name} and {twin}: {apart}")
        if name in CONSTANTS_MEANT:
            yield f"{name} is an input; the constant is {CONSTANTS_MEANT[name]}"


def _trouble(
    run: Run, found: list[Tensor | None], cotangent: Tensor | None
) -> Trouble | None:
    """Where a gradient or the value stopped being finite, noted on stderr; None if
    none did."""
    from ..lang.run import all_finite

    if all_finite(run.output) and all(g is None or all_finite(g) for g in found):
        return None
    from ..diagnosis.blame import trouble
    from ..render.blame import notes

    arose = trouble(run, cotangent)
    for text in notes(arose):
        note(f"note: {text}")
    return arose


def differentiated(run: Run) -> list[Input]:
    """The inputs that derivatives are asked for."""
    return [given for given in run.inputs if given.requires_grad]


def named(run: Run) -> bool:
    """Whether the program itself gave its output a name."""
    return run.output_name in run.variables or any(
        given.name == run.output_name for given in run.inputs
    )


def graph_of(run: Run, local_gradients: bool, at_once: bool = True) -> GraphView:
    """The graph below the run's output; to be made before a backward pass."""
    from ..views.graph import graph_view

    variables = {**{i.name: i.tensor for i in run.inputs}, **run.variables}
    return graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables=variables,
        local_gradients=local_gradients,
        at_once=at_once,
    )


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients as tensors, for the check, and as a view, for people."""

    run: Run
    inputs: list[Input]
    by_name: dict[str, Tensor | None]
    cotangent: Tensor | None
    view: GradView
    trouble: Trouble | None


def gradients(run: Run, grad_output: str | None, with_graph: bool) -> Gradients:
    """The gradient of the output with respect to every input asked for."""
    from ..engine import grad
    from ..views.gradients import GradView, input_views, output_view

    inputs = differentiated(run)
    require_graph(run)
    cotangent = None if grad_output is None else cotangent_of(run, grad_output)
    graph = graph_of(run, False, at_once=False) if with_graph else None
    with explained(run):
        tensors = [given.tensor for given in inputs]
        found = grad([run.output], tensors, [cotangent])
    grads = {given.name: g for given, g in zip(inputs, found, strict=True)}
    arose = _trouble(run, found, cotangent)
    view = GradView(
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        seed=run.seed,
        output=output_view(run.output, run.output_name, named(run)),
        inputs=input_views(run.inputs, grads),
        graph=graph,
    )
    return Gradients(run, inputs, grads, cotangent, view, arose)


def cotangent_of(run: Run, text: str) -> Tensor:
    """The value of ``--grad-output``, of the output's shape."""
    from ..lang.run import option_value

    given = option_value(text, "--grad-output", run.prepared)
    if tuple(given.shape) == tuple(run.output.shape):
        return given
    raise ProgramError(
        "E596",
        f"--grad-output has shape {list(given.shape)}, the output "
        f"{list(run.output.shape)}",
        output_span(run),
        run.source,
        hint="give a value of the output's shape",
    )


def start_of_pass(run: Run, grad_output: str | None) -> Tensor:
    """The gradient that a backward pass starts with: the given one, or a 1."""
    from ..engine import Tensor

    if grad_output is not None:
        return cotangent_of(run, grad_output)
    if run.output.numel() != 1:
        raise vector_output(run)
    return Tensor(run.output.xp.ones_like(run.output.raw), run.output.xp)


def require_graph(run: Run) -> None:
    if run.output.edge is not None:
        return
    message = "the output does not depend on any input"
    if not run.inputs:
        hint = "a name without a value is an input: use one in the program"
    elif not differentiated(run):
        hint = "--wrt names no input that it depends on"
    else:
        message = "no gradient leads from the output to an input"
        hint = (
            "comparisons, item(), int() and float() have none; detach() and no_grad() "
            "cut it off"
        )
    raise ProgramError("E596", message, hint=hint)


def vector_output(run: Run) -> ProgramError:
    """PyTorch's error for a vector output without a cotangent, and the ways out."""
    from ..engine.errors import NOT_SCALAR

    shape = list(run.output.shape)
    hint = f"shape {shape}: add .sum(), give --grad-output, or use gradcli jacobian"
    return ProgramError("E596", NOT_SCALAR, output_span(run), run.source, hint=hint)


def output_span(run: Run) -> Span | None:
    """The text of the operation that made the output."""
    made = run.output.grad_fn
    span = None if made is None else made.span
    return None if span is None else Span(span[0], span[1])


@contextmanager
def explained(run: Run) -> Iterator[None]:
    """Word what the engine refuses."""
    from ..engine.errors import NOT_SCALAR, EngineError

    try:
        yield
    except EngineError as error:
        raise _worded(error, run, vector=str(error) == NOT_SCALAR) from error


def _worded(error: Exception, run: Run, vector: bool) -> ProgramError:
    from ..autograd.blocks import TooManyEntries

    if vector:
        return vector_output(run)
    if isinstance(error, TooManyEntries):
        hint = "restrict the inputs with --wrt, or ask for gradcli grad"
        return ProgramError("E403", str(error), hint=hint)
    return ProgramError("E596", str(error), output_span(run), run.source)
