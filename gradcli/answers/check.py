"""Claims about derivatives: from a question to what was found about each.

Invariant: mistakes in a program, a value, a shape or a claim are found here and shown
with a caret under them, before the checking process is started.

    task = claims_task(question, ["d/dx = x"], same=None, points=8)
    check(task, judge(task)).claims[0].repair           # "multiply by 2"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from sys import maxsize
from typing import Any, ClassVar, Final

import numpy as np

from ..check import claims as ruled
from ..check.claims import (
    Claim,
    ClaimInput,
    ClaimsTask,
    Judgement,
    by_input,
    positions,
    read_claim,
    unread_term,
)
from ..check.process.job import REFUTED, UNKNOWN, weakest
from ..lang.errors import ProgramError, Span
from ..lang.implicit import Equation, equation_of
from ..lang.nested import nested
from ..lang.parser import parse
from ..lang.prepare import differentiated
from ..lang.run import Input, Prepared, Run, Session, evaluate, input_names, prepare
from ..lang.suggest import did_you_mean
from .evidence import FormulaPiece
from .fields import Verdict
from .numbers import Plain
from .question import Question, Shapes, refuse_shapes
from .verdicts import Summary

TRANSPOSE_SECONDS: Final = 1.0
"""Most seconds of the search for a transpose that makes a claim's shapes fit."""

DIAGNOSIS_SECONDS: Final = 3.0
"""Most time for finding the mistake in one claim, in seconds."""

MAX_EQUATION_CHARACTERS: Final = 1_000
"""Largest length of a text that is read as an equation of a claim, in characters."""

_NAME: Final = re.compile(r"[^\W\d]\w*")
_LETTER: Final = re.compile(r"[^\W\d_]")

NO_CAUSE: Final = "no simple cause was found"


@dataclass(frozen=True, slots=True)
class ClaimCounterexample:
    """A point where a claim is false.

    inputs   The values of the inputs.
    entry    The index of the entry that is wrong; null where the shapes differ.
    claimed  The value claimed there; null: too large to show.
    true     The true value there; null: too large to show.
    """

    inputs: Mapping[str, Plain]
    entry: tuple[int, ...] | None
    claimed: Plain | None
    true: Plain | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim with its verdict, and for a false claim the diagnosis.

    claim            The claim as it was written.
    derivative       The derivative that the claim is about.
    points           The number of points at which it was evaluated.
    note             A remark on the verdict.
    side_conditions  The conditions under which the verdict holds.
    diagnosis        The mistake in the claim, in a sentence.
    cause            The kind of mistake, in one word.
    repair           The change that makes the claim right.
    right            The derivative that is right, as a formula; null where it was not
                     found, or where it has several on parts of the domain.
    pieces           The derivative that is right on each part of the domain that was
                     met; empty where it was not found.
    """

    claim: str
    derivative: str
    verdict: Verdict
    points: int
    counterexample: ClaimCounterexample | None
    note: str | None
    side_conditions: tuple[str, ...]
    diagnosis: str | None
    cause: str | None
    repair: str | None
    right: str | None
    pieces: tuple[FormulaPiece, ...]


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Answer of `gradcli check`: each claim with its verdict.

    program  The program's text.
    same     The program that the first was compared with.
    seed     The seed of the random points.
    claims   The claims with their verdicts.
    """

    command: ClassVar = "check"

    program: str
    same: str | None
    seed: int
    claims: tuple[Judged, ...]
    verification: Summary


def check(task: ClaimsTask, judgement: Judgement) -> CheckAnswer:
    """Return what was found about each claim, with a diagnosis of the false ones."""
    pairs = zip(task.claims, judgement.rulings, strict=True)
    found = tuple(_judged(task, claim, ruling) for claim, ruling in pairs)
    verdicts = [each.verdict for each in found]
    summary = Summary(
        weakest(verdicts),
        sum(verdict != UNKNOWN for verdict in verdicts),
        len(verdicts),
        round(judgement.seconds, 3),
    )
    return CheckAnswer(task.source, task.other, task.seed, found, summary)


def _judged(task: ClaimsTask, claim: Claim, ruling: ruled.Ruling) -> Judged:
    """Return a claim with its ruling and, if it is false, with its diagnosis."""
    slip, pieces = None, tuple[FormulaPiece, ...]()
    refuted = ruling.verdict == REFUTED
    if refuted:
        from .claim_mistakes import diagnose
        from .right_derivative import right_derivative

        seconds = min(DIAGNOSIS_SECONDS, task.seconds)
        slip = diagnose(task, claim, seconds, ruling.counterexample)
        pieces = right_derivative(task, claim, seconds) if task.prove else ()
    formulas = {piece.formula for piece in pieces}
    example = ruling.counterexample
    return Judged(
        claim=claim.text.strip(),
        derivative=claim.label,
        verdict=ruling.verdict,
        points=ruling.points,
        counterexample=None if example is None else _counterexample(example),
        note=ruling.note,
        side_conditions=ruling.side_conditions,
        diagnosis=slip.text if slip else NO_CAUSE if refuted else None,
        cause=slip.cause if slip else None,
        repair=slip.repair if slip else None,
        right=formulas.pop() if len(formulas) == 1 else None,
        pieces=pieces,
    )


def _counterexample(found: ruled.Counterexample) -> ClaimCounterexample:
    """Return a counterexample with its arrays as nested lists, and None in the place of
    numbers that were left out."""

    def whole(values: Sequence[float], shape: Sequence[int]) -> Plain | None:
        if found.entry is not None:
            return values[0]
        return nested(values, shape) if len(values) == prod(shape) else None

    return ClaimCounterexample(
        {name: nested(values, shape) for name, shape, values in found.inputs},
        found.entry,
        whole(found.claimed, found.claimed_shape),
        whole(found.true, found.true_shape),
    )


_INPUTS: Final = re.compile(r"(?m)(?:^|;)[^\S\n]*\w+\s*\(([^()\n]*)\)\s*=(?!=)")
"""Pattern of the inputs that a function is defined with."""


def _coordinates(
    question: Question, wrt: Sequence[str], ranks: Mapping[str, int | None]
) -> list[str]:
    """Return the numbers that a whole gradient is by, in the order in which a function
    names them, or in that of the alphabet; none if an input is no number."""
    if any(ranks[name] for name in wrt):
        return []
    made = _INPUTS.findall(question.program)
    listed = [each.strip() for each in made[-1].split(",")] if made else []
    return listed if {*listed} == {*wrt} else sorted(wrt)


def equation_claimed(source: str, claim: str, values: Iterable[str]) -> Equation | None:
    """Return the equation whose derivative a claim is about: of ``y`` in ``dy/dx`` and
    in ``y'``, and in ``d/dx`` if the equation has no third name. Return None if the
    text is a program, or the claim is about no name of it."""
    if "=" not in source or len(source) > MAX_EQUATION_CHARACTERS:
        return None
    names = {*_NAME.findall(source), *_LETTER.findall(source)}
    try:
        # An apostrophe names no input. The mark stands for it.
        claimed = read_claim(claim, names, names, ["?"])
    except ProgramError:
        return None
    if claimed.output is not None:
        return equation_of(source, claimed.output, values)
    for name in sorted(names):
        found = equation_of(source, name, values)
        if found is not None and {*found.names} == {name, *claimed.by}:
            return found
    return None


def _of_equation(
    claims: Sequence[Claim], equation: Equation
) -> tuple[str, list[Claim]]:
    """Return the program for claims about an equation, and the claims. A second
    derivative is the first of a line of the program.

    Raises:
        ProgramError: the derivative is above the second.
    """
    lines, written = [equation.program], list(claims)
    for k, claim in enumerate(claims):
        if len(claim.by) > 2:
            message = "a derivative of an equation above the second is not checked"
            span = Span(0, len(claim.text[: claim.offset - 1].rstrip(" =")))
            hint = f"claim d2{equation.of}/d{claim.by[0]}2, then differentiate it"
            raise ProgramError(
                "E596", message, span, claim.text, hint=hint, exit_status=2
            )
        if len(claim.by) == 2:
            by, line = claim.by[1], f"second_{k}"
            lines.insert(0, f"{line} = detach({equation.second(*claim.by)})*{by}")
            written[k] = replace(claim, output=line, by=(by,), shown=claim.label)
    return "\n".join(lines), written


def claims_task(
    question: Question, claims: Sequence[str], same: str | None, points: int
) -> ClaimsTask:
    """Return the task that the program, its inputs, equations between a derivative and
    a formula, and perhaps another program make, which is compared in value and
    gradients; ``points`` is the number of random points."""
    programs = [question.program] if same is None else [question.program, same]
    prepared = _prepared(programs, question)
    inputs = _inputs(prepared, question.shapes)
    if not inputs and same is None:
        derived = _read_by_claims(question, claims)
        if derived is not None:
            return claims_task(derived, claims, None, points)
    names = [given.name for given in inputs]
    computed = prepared[0].code.assigned
    ranks: dict[str, int | None] = {g.name: len(g.shape) for g in inputs}
    if question.wrt is not None:
        differentiated(question.wrt, names)
    wrt = names if question.wrt is None else question.wrt
    equations = [
        read_claim(text, names, computed, wrt).rewritten(
            ranks, question.tell, bool(computed)
        )
        for claimed in claims
        for text in by_input(claimed, _coordinates(question, wrt, ranks))
    ]
    source, tied = question.program, question.tied
    if tied is not None:
        source, equations = _of_equation(equations, tied)
        (prepared[0],) = _prepared([source], question)
    task = ClaimsTask(
        source=source,
        inputs=tuple(inputs),
        claims=tuple(equations),
        of=question.of,
        other=same,
        tied=None if tied is None else tied.of,
        points=points,
        seed=question.seed,
        prove=question.verified,
        seconds=question.seconds,
    )
    run = _run(prepared[0], inputs, question.of)
    for claim in equations:
        _try(task, claim, run)
    if same is None:
        return task
    _run(prepared[1], inputs, None)
    compared = (Claim("value"), *(Claim(f"d/d{name}", by=(name,)) for name in wrt))
    return replace(task, claims=(*equations, *compared))


def _read_by_claims(question: Question, claims: Sequence[str]) -> Question | None:
    """Return a question about a constant, with the name that claims derive it by as an
    input; None if there are several, or a comment ends the program."""
    by = {name for text in claims for name in read_claim(text).by}
    if len(by) != 1:
        return None
    program = f"{question.program.rstrip('; ')}{unread_term(min(by))}"
    known = by <= {*input_names(parse(program, by), by)}
    return replace(question, program=program) if known else None


def _prepared(
    programs: Sequence[str],
    question: Question,
) -> list[Prepared]:
    bindings = question.values
    given = {*(binding.name for binding in bindings), *question.shapes}
    reads = [set(input_names(parse(text, given), given)) for text in programs]
    read_somewhere = set().union(*reads)
    return [
        prepare(
            text,
            # A value that neither program reads stays with both, so that the first
            # refuses it.
            [b for b in bindings if b.name in names or b.name not in read_somewhere],
            wrt=names,
            seed=question.seed,
            strict=bool(question.strict),
            shapes=question.shapes,
        )
        for text, names in zip(programs, reads, strict=True)
    ]


def _inputs(prepared: Sequence[Prepared], shapes: Shapes) -> list[ClaimInput]:
    """Return all inputs of all programs, with values or with the shapes asked for."""
    found: dict[str, ClaimInput] = {}
    for program in prepared:
        for given in program.inputs:
            shape = tuple(given.tensor.shape)
            if given.sampled:
                found[given.name] = ClaimInput(given.name, shapes.get(given.name, ()))
            else:
                values = tuple(given.tensor.raw.reshape(-1).tolist())
                found[given.name] = ClaimInput(given.name, shape, values)
    sampled = [name for name, given in found.items() if given.values is None]
    refuse_shapes(shapes, found, sampled)
    return list(found.values())


def _run(prepared: Prepared, inputs: Sequence[ClaimInput], of: str | None) -> Run:
    """Return a run of the program, whose errors point into its own text."""
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
    return Session(
        Prepared(prepared.source, prepared.code, prepared.factory, tensors),
        of=of,
        max_steps=maxsize,
    ).run()


def _try(task: ClaimsTask, claim: Claim, run: Run) -> None:
    """Evaluate a claim once, so that its errors are found before it is judged."""
    inputs = run.prepared.environment
    named: dict[str, Any] = {**run.variables, **inputs}
    _refuse_names(claim, run, named)
    target = run.output if claim.output is None else run.value(claim.output)
    first = inputs[claim.by[0]]
    message = ""
    if len(claim.by) > 1 and target.numel() != 1:
        which = "second" if len(claim.by) == 2 else "higher"
        message = f"a {which} derivative needs an output of one number"
        hint = f"the output has shape {list(target.shape)}: add .sum(), or index it"
    elif len(claim.by) > 2 and first.numel() != 1:
        message = "a derivative above the second is by an input of one number"
        hint = f"{claim.by[0]} has shape {list(first.shape)}"
    if message:
        span = Span(0, claim.offset - 1)
        raise ProgramError("E596", message, span, claim.text, hint=hint)
    shapes = [tuple(inputs[name].shape) for name in claim.by]
    try:
        positions(claim, tuple(target.shape) if len(shapes) == 1 else (), shapes)
    except (IndexError, ValueError):
        told = zip(claim.by, shapes, strict=True)
        hint = ", ".join(f"{name} has shape {list(shape)}" for name, shape in told)
        span = Span(0, len(claim.text[: claim.offset - 1].rstrip(" =")))
        raise ProgramError(
            "E595", "no entry has this index", span, claim.text,
            hint=hint, exit_status=2,
        ) from None  # fmt: skip
    assert claim.expression is not None
    try:
        evaluate(claim.expression, named, seed=run.seed)
    except ProgramError as error:
        located = claim.located(error)
        if (error.hint or "").startswith("give it a value"):
            located.hint = f"the program has {', '.join(named)}"
        if error.code == "E303":
            from .claim_mistakes import fitting_transpose

            written = fitting_transpose(task, claim, TRANSPOSE_SECONDS)
            if written is not None:
                located = ProgramError(
                    located.code, located.message, located.span, located.source,
                    hint=f"the derivative is {written}",
                    exit_status=located.exit_status,
                )  # fmt: skip
        raise located from error.__cause__


def _refuse_names(claim: Claim, run: Run, named: Mapping[str, object]) -> None:
    """Refuse names on the left-hand side that are not those of inputs, or for the
    output not those of values."""
    inputs = run.prepared.environment
    name = next((name for name in claim.by if name not in inputs), None)
    known: Sequence[str] = tuple(inputs)
    message = hint = ""
    if name is not None and name in run.variables:
        message = f"the program computes '{name}': a claim is about an input"
        hint = f"to make '{name}' an input, leave its assignment out"
    elif name is None:
        name, known = claim.output, tuple(named)
        if name is None or name in known:
            return
        if run.output_name not in known:
            message = f"the program gives its output no name, so '{name}' is unknown"
            hint = f"write d/d{claim.by[0]}, or begin the program with '{name} = '"
    message = message or f"the program has no '{name}'"
    hint = hint or did_you_mean(name, known) or f"it has {', '.join(known) or 'none'}"
    at = max(claim.text[: claim.offset].rfind(name), 0)
    span = Span(at, at + len(name))
    raise ProgramError("E595", message, span, claim.text, hint=hint, exit_status=2)
