"""From a command line to a recorded run and what is shown of it.

Invariant: the numbers come from the run (`gradcli.lang.run`); here they become views,
and what is worth knowing of them is told in notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import TYPE_CHECKING
from unicodedata import normalize

from ..engine import Tensor
from ..lang.bindings import Binding, read_bindings
from ..lang.excerpt import enumerated, printable
from ..lang.machine import Trace
from ..lang.run import Input, Prepared, Run, all_finite, execute, prepare
from ..lang.tiles import MIN_ENTRIES
from ..views.gradients import GradView, OutputView, input_views, output_view
from .limits import begin
from .options import Request
from .output import note
from .problems import wrong
from .shapes import refuse_shapes, shapes_of
from .sources import program_and_bindings

if TYPE_CHECKING:
    from ..diagnosis.blame import Trouble
    from ..lang.factory import Factory
    from ..lang.in_parts import Fusion
    from ..lang.tensor_library import TensorLibrary
    from ..views.graph import GraphView
    from ..views.names import Names


def run_program(
    request: Request,
    trace: Trace | None = None,
    parts: bool = False,
    more: Iterable[Binding] = (),
    library: Callable[[Factory], TensorLibrary] | None = None,
    differentiate: bool = True,
    fusion: Fusion | None = None,
) -> Run:
    """Read the program and its inputs and run it.

    Args:
        request: the shared options.
        trace: called with each statement.
        parts: only value and gradients are going to be asked for, so that large arrays
            may be gone through part by part.
        more: values beside those of the command line.
        library: makes what the program calls; None: the functions on tensors.
        differentiate: whether derivatives are going to be asked for.
        fusion: is told what was run part by part, and why the rest was not.
    """
    source, words = program_and_bindings(request)
    tell_readings(words)
    begin()
    program = prepared(request, source, (*read_bindings(words), *more))
    # The limits on seconds and memory are the bounds here.
    if request.of is not None and parts:
        parts = False
        if fusion is not None:
            fusion.refused("--of asks for another value than the last")
    run = _in_parts(program, fusion) if parts else None
    own = None if library is None else library(program.factory)
    run = run or execute(
        program, of=request.of, max_steps=maxsize, trace=trace, library=own
    )
    if differentiate:
        tell_data([given.name for given in run.inputs if given.data])
    for text in (*_notes_on_inputs(run), *run.notes, *_not_finite(run)):
        note(f"note: {text}")
    return run


def tell_readings(words: Iterable[str]) -> None:
    """Note on stderr how values were read that could be read in another way."""
    asked = [word for word in words if not _is_plain(word.partition("=")[2])]
    if asked:
        from .readings import readings

        for text in readings(asked):
            note(printable(f"note: {text}"))


def _is_plain(value: str) -> bool:
    """Whether everybody reads a value alike: a number, or what begins like none."""
    if value[:1] not in "+-0123456789":
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


def tell_data(names: Sequence[str]) -> None:
    """Note on stderr which inputs are data, and what asks for derivatives by them."""
    if not names:
        return
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    listed_names, wrt = enumerated(names), ",".join(names)
    note(
        printable(
            f"note: {listed_names} {are} read in, not typed, so taken as data: nothing "
            f"is differentiated by {them}; --wrt {wrt} does"
        )
    )


def prepared(request: Request, source: str, bindings: Sequence[Binding]) -> Prepared:
    """The program with its inputs, or with a value on the way for one."""
    shapes, wrt = shapes_of(request.shape), listed(request.wrt)
    midway: list[str] = []
    if wrt is not None:
        from .intermediates import asked_midway, prepared_midway

        bound = {*shapes, *(binding.name for binding in bindings)}
        midway = asked_midway(source, wrt, bound)
        if midway and len(wrt) > 1:
            message = f"--wrt: '{midway[0]}' is a value on the way, and not alone"
            raise wrong("E507", message, f"ask for it by itself: --wrt {midway[0]}")
    found = prepare(
        source,
        bindings,
        wrt=None if midway else wrt,
        seed=request.seed,
        strict=request.strict,
        dtype=request.dtype,
        device=request.device,
        shapes=shapes,
    )
    given = [i.name for i in found.inputs]
    refuse_shapes(shapes, given, [i.name for i in found.inputs if i.sampled])
    if not midway:
        return found
    cut, told = prepared_midway(found, bindings, midway[0], request.seed)
    note(f"note: {told}")
    return cut


def _in_parts(prepared: Prepared, fusion: Fusion | None) -> Run | None:
    """The program's run part by part, where its arrays are large enough."""
    if fusion is None and all(
        given.tensor.numel() < MIN_ENTRIES for given in prepared.inputs
    ):
        return None
    from ..lang.in_parts import run_in_parts

    return run_in_parts(prepared, fusion)


def run_with_names(
    request: Request, library: Callable[[Factory], TensorLibrary] | None = None
) -> tuple[Run, Names]:
    """Run the program, and collect the names of the values in its graph."""
    from ..views.names import Names

    names = Names()
    run = run_program(request, names.heard, library=library)
    names.settle(run.inputs, run.variables, run.prepared.code.assigned)
    return run, names


def listed(text: str | None) -> list[str] | None:
    """The names in an option's text, as the language spells them."""
    if text is None:
        return None
    return [as_name(name) for name in text.split(",") if name.strip()]


def as_name(text: str) -> str:
    """A name as a program spells it: in Unicode's form NFC."""
    return normalize("NFC", text.strip())


def _notes_on_inputs(run: Run) -> Iterator[str]:
    """Name the inputs that were sampled, and what may be wrong with their names."""
    sampled = [i.name for i in run.inputs if i.sampled]
    if not sampled:
        return
    from ..lang.suggest import letters_apart, lookalike, other_reading
    from ..lang.tensor_library import CONSTANTS, is_function

    names = [given.name for given in run.inputs]
    for name in sampled:
        twin = lookalike(name, names)
        if twin:
            apart = letters_apart(name, twin)
            yield printable(f"two inputs look alike: {name} and {twin}: {apart}")
        others = {*names, *CONSTANTS} - {name}
        meant = other_reading(name, others, CONSTANTS, is_function)
        if meant is not None:
            yield printable(f"{name} is read as one input: {meant}")
    them = "it has" if len(sampled) == 1 else "they have"
    example = f"{enumerated(sampled[:1])}=VALUE"
    yield printable(
        f"{enumerated(sampled)}: sampled with seed {run.seed}, as {them} no value; "
        f"give one with {example}"
    )


def _not_finite(run: Run) -> list[str]:
    """Say where the value stopped being finite, if it did."""
    if all_finite(run.output):
        return []
    from ..lang.not_finite import first_not_finite

    return first_not_finite(run, maxsize)


def output_of_run(run: Run) -> OutputView:
    """The output in plain numbers."""
    return output_view(run.output, run.output_name, run.names_output)


def graph_of(run: Run, local_gradients: bool, at_once: bool = True) -> GraphView:
    """The graph below the run's output; to be made before a backward pass."""
    from ..views.graph import graph_view

    return graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables={**run.prepared.environment, **run.variables},
        inputs=run.prepared.environment,
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
    inputs = run.differentiated
    run.require_graph()
    cotangent = None if grad_output is None else run.cotangent(grad_output)
    graph = graph_of(run, False, at_once=False) if with_graph else None
    found = run.gradients(cotangent)
    grads = {given.name: g for given, g in zip(inputs, found, strict=True)}
    arose = _trouble(run, found, cotangent)
    view = GradView(
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        seed=run.seed,
        output=output_of_run(run),
        inputs=input_views(run.inputs, grads),
        graph=graph,
    )
    return Gradients(run, inputs, grads, cotangent, view, arose)


def _trouble(
    run: Run, found: list[Tensor | None], cotangent: Tensor | None
) -> Trouble | None:
    """Where a gradient or the value stopped being finite, noted on stderr; None if
    none did."""
    if all_finite(run.output) and all(g is None or all_finite(g) for g in found):
        return None
    from ..diagnosis.blame import trouble
    from ..render.blame import notes

    arose = trouble(run, cotangent)
    for text in notes(arose):
        note(f"note: {text}")
    return arose
