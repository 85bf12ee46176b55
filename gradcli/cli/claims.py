"""From a command line to a task on claims.

Invariant: whatever is wrong with a program, a value, a shape or a claim is found here,
with a caret under it, before the checking process is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from sys import maxsize
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..lang.bindings import Binding, read_bindings
from ..lang.errors import ProgramError, Span
from ..lang.parser import parse
from ..lang.run import Input, Prepared, Run, evaluate, execute, input_names, prepare
from ..lang.suggest import did_you_mean
from ..verify.claims.entries import positions
from ..verify.claims.task import ClaimsTask, Given
from ..verify.claims.text import Claim, read_claim
from .limits import begin
from .options import Request
from .output import note
from .problems import wrong
from .session import listed, tell_readings
from .shapes import Shapes, refuse_shapes, shapes_of
from .sources import program_and_bindings

if TYPE_CHECKING:
    from ..engine import Tensor

TRANSPOSE_SECONDS: Final = 1.0
"""Most time for seeing whether a transpose is all that a claim lacks."""


def claims_task(
    request: Request,
    claims: Sequence[str],
    same: str | None,
    points: int,
) -> ClaimsTask:
    """Make a task of the program, its inputs and the claims.

    Raises:
        ProgramError: the program, an input, a shape or a claim does not fit.
    """
    source, words = program_and_bindings(request)
    tell_readings(words)
    begin()
    programs = [source] if same is None else [source, same]
    shapes = shapes_of(request.shape)
    prepared = _prepared(programs, read_bindings(words), request, shapes)
    inputs = _inputs(prepared, shapes)
    names = [given.name for given in inputs]
    computed = prepared[0].code.assigned
    equations = [read_claim(text, names, computed) for text in claims]
    task = ClaimsTask(
        source=source,
        inputs=tuple(inputs),
        claims=tuple(equations),
        of=request.of,
        other=same,
        points=points,
        seed=request.seed,
        prove=not request.no_verify,
        seconds=request.verify_seconds,
    )
    run = _run(prepared[0], inputs, request.of)
    for claim in equations:
        _try(task, claim, run)
        _tell_reading(claim)
    if same is None:
        return task
    _run(prepared[1], inputs, None)
    compared = _comparisons(inputs, request.wrt)
    return replace(task, claims=(*equations, *compared))


def _prepared(
    programs: Sequence[str],
    bindings: Sequence[Binding],
    request: Request,
    shapes: Shapes,
) -> list[Prepared]:
    """The programs, each with the values that it reads."""
    given = {*(binding.name for binding in bindings), *shapes}
    reads = [set(input_names(parse(text, given), given)) for text in programs]
    read_somewhere = set().union(*reads)
    return [
        prepare(
            text,
            # A value that neither program reads is refused with the first.
            [b for b in bindings if b.name in names or b.name not in read_somewhere],
            wrt=names,
            seed=request.seed,
            strict=request.strict,
            shapes=shapes,
        )
        for text, names in zip(programs, reads, strict=True)
    ]


def _inputs(prepared: Sequence[Prepared], shapes: Shapes) -> list[Given]:
    """All inputs of all programs, with the shapes that they were given."""
    found: dict[str, Given] = {}
    for program in prepared:
        for given in program.inputs:
            shape = tuple(given.tensor.shape)
            if given.sampled:
                found[given.name] = Given(given.name, shapes.get(given.name, ()))
            else:
                values = tuple(given.tensor.raw.reshape(-1).tolist())
                found[given.name] = Given(given.name, shape, values)
    sampled = [name for name, given in found.items() if given.values is None]
    refuse_shapes(shapes, found, sampled)
    return list(found.values())


def _run(prepared: Prepared, inputs: Sequence[Given], of: str | None) -> Run:
    """Run the program once, so that its errors point into its own text."""
    given = {g.name: g for g in inputs}

    def values_of(name: str) -> object:
        values = given[name].values
        if values is None:
            return abs(prepared.factory.draw(name, given[name].shape)) + 0.5
        return np.array(values).reshape(given[name].shape)

    tensors = tuple(
        Input(i.name, prepared.factory.leaf(values_of(i.name)), i.sampled, True)
        for i in prepared.inputs
    )
    return execute(
        Prepared(prepared.source, prepared.code, prepared.factory, tensors),
        of=of,
        max_steps=maxsize,
    )


def _try(task: ClaimsTask, claim: Claim, run: Run) -> None:
    """Evaluate a claim once, so that its errors are found before it is judged.

    Raises:
        ProgramError: it points into the claim's own text.
    """
    inputs = run.prepared.environment
    for name in claim.by:
        _refuse_by(claim, name, inputs, run)
    named: dict[str, Any] = {**inputs, **run.variables}
    if claim.output is not None and claim.output not in named:
        raise _unknown_output(claim, claim.output, tuple(named), run)
    target = run.output if claim.output is None else run.value(claim.output)
    if len(claim.by) > 1 and target.numel() != 1:
        span = Span(0, claim.offset - 1)
        which = "second" if len(claim.by) == 2 else "higher"
        message = f"a {which} derivative needs an output of one number"
        hint = f"the output has shape {list(target.shape)}: add .sum(), or index it"
        raise ProgramError("E596", message, span, claim.text, hint=hint)
    if len(claim.by) > 2 and inputs[claim.by[0]].numel() != 1:
        span = Span(0, claim.offset - 1)
        message = "a derivative above the second is by an input of one number"
        hint = f"{claim.by[0]} has shape {list(inputs[claim.by[0]].shape)}"
        raise ProgramError("E596", message, span, claim.text, hint=hint)
    _refuse_entries(claim, target, inputs)
    assert claim.expression is not None
    try:
        evaluate(claim.expression, named, seed=run.seed)
    except ProgramError as error:
        located = claim.located(error)
        raise _with_transpose(task, claim, located) from error.__cause__


def _tell_reading(claim: Claim) -> None:
    """Note how a claim was read where people read it in two ways."""
    assert claim.expression is not None
    for remark in parse(claim.expression).notes:
        note(f"note: {remark.message}")


def _with_transpose(
    task: ClaimsTask, claim: Claim, error: ProgramError
) -> ProgramError:
    """Add to an error of shapes the transpose that would make them fit."""
    if error.code != "E303":
        return error
    from ..diagnosis.claim_text import fitting_transpose

    written = fitting_transpose(task, claim, TRANSPOSE_SECONDS)
    if written is None:
        return error
    return ProgramError(
        error.code, error.message, error.span, error.source,
        hint=f"the derivative is {written}", exit_status=error.exit_status,
    )  # fmt: skip


def _refuse_entries(claim: Claim, target: Tensor, inputs: Mapping[str, Tensor]) -> None:
    """An index on the left-hand side that no entry has."""
    lead = tuple(target.shape) if len(claim.by) == 1 else ()
    try:
        positions(claim, lead, [tuple(inputs[name].shape) for name in claim.by])
    except (IndexError, ValueError):
        shapes = ", ".join(f"{n} has shape {list(inputs[n].shape)}" for n in claim.by)
        span = Span(0, len(claim.text[: claim.offset - 1].rstrip(" =")))
        message = "no entry has this index"
        raise ProgramError(
            "E595", message, span, claim.text, hint=shapes, exit_status=2
        ) from None


def _refuse_by(claim: Claim, name: str, inputs: Mapping[str, object], run: Run) -> None:
    if name in inputs:
        return
    if name in run.variables:
        message = f"the program computes '{name}': a claim is about an input"
        hint = f"to make '{name}' an input, leave its assignment out"
        raise _misnamed(claim, name, message, hint)
    raise _unknown(claim, name, tuple(inputs))


def _unknown_output(
    claim: Claim, name: str, known: tuple[str, ...], run: Run
) -> ProgramError:
    """A claim about a value that the program does not have, or gives no name."""
    if run.output_name in known:
        return _unknown(claim, name, known)
    message = f"the program gives its output no name, so '{name}' is unknown"
    hint = f"write d/d{claim.by[0]}, or begin the program with '{name} = '"
    return _misnamed(claim, name, message, hint)


def _unknown(claim: Claim, name: str, known: tuple[str, ...]) -> ProgramError:
    hint = did_you_mean(name, known) or f"it has {', '.join(known) or 'none'}"
    return _misnamed(claim, name, f"the program has no '{name}'", hint)


def _misnamed(claim: Claim, name: str, message: str, hint: str) -> ProgramError:
    """A name on the left-hand side that does not fit."""
    at = max(claim.text[: claim.offset].rfind(name), 0)
    span = Span(at, at + len(name))
    return ProgramError("E595", message, span, claim.text, hint=hint, exit_status=2)


def _comparisons(inputs: Sequence[Given], wrt: str | None) -> list[Claim]:
    """Claims that two programs have the same value and the same gradients."""
    names = [given.name for given in inputs]
    chosen = listed(wrt)
    for name in chosen or ():
        if name not in names:
            hint = f"the inputs are {', '.join(names)}"
            raise wrong("E507", f"--wrt: no input is called '{name}'", hint)
    names = names if chosen is None else chosen
    return [Claim("value"), *(Claim(f"d/d{name}", by=(name,)) for name in names)]
