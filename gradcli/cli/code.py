"""A run's derivative as code: the one place that decides how it is written.

Invariant: the code is made from the program and the point; the numbers that the engine
found have no part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..lang.errors import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..engine import Tensor
    from ..lang.run import Run
    from ..render.line import Line
    from ..verify.process.job import Job
    from ..views.closed_forms import ProgramView
    from .session import Gradients


SHOWN: Final = 12
"""Entries of a cotangent that are written out."""

DRAWN: Final = frozenset({"rand", "randn", "rand_like", "randn_like"})
"""Constructors of random numbers, which stand in the code as the numbers they were."""


def code_of(
    run: Run, job: Job | None, language: str | None, cotangent: Tensor | None = None
) -> list[str] | None:
    """The lines of a function that computes the value and the derivatives; None if no
    language was asked for. A gradient is written on whole arrays where the language
    has them, anything else entry by entry.

    Raises:
        ProgramError: the code would be too long, or a step has no entries to name.
    """
    if language is None or job is None:
        return None
    notes = list(_notes(run, job))
    if job.kind == "gradient":
        whole = _on_arrays(run, language, cotangent, notes)
        if whole is not None:
            return whole
    from ..render.code import code
    from ..verify.process.runner import program_of
    from ..verify.straight_line import LONGEST, TooLong, straight_line
    from .session import named

    try:
        listing = straight_line(job, program_of(job))
    except TooLong:
        raise ProgramError(
            "E406",
            f"the code would have more than {LONGEST} steps",
            hint="it has a line per entry: use smaller arrays, fewer turns of a loop, "
            "or fewer inputs with --wrt",
        ) from None
    output = run.output_name if named(run) else ""
    return code(listing, run.source, output, language, notes)


def _on_arrays(
    run: Run, language: str, cotangent: Tensor | None, notes: Sequence[str]
) -> list[str] | None:
    """The adjoint program; None where the language has no words for it."""
    from ..trees.code import LIBRARIES, program, written
    from ..trees.dialect import Unwritable
    from ..trees.tree import TooLong

    try:
        if language == "gradcli":
            return list(program(run, cotangent, notes).lines)
        if language in LIBRARIES:
            return written(run, cotangent, language, notes).splitlines()
    except TooLong as problem:
        hint = "take fewer turns of a loop, or smaller arrays"
        raise ProgramError("E406", str(problem), hint=hint) from None
    except Unwritable as problem:
        if language == "gradcli":
            message = f"the gradient cannot be written as a program: {problem}"
            raise ProgramError("E398", message) from None
    return None


def program_of_gradients(found: Gradients) -> ProgramView | None:
    """The adjoint program; None for scalars, whose formulas say it all, and where it
    cannot be written."""
    from ..trees.code import program
    from ..trees.dialect import Unwritable
    from ..trees.tree import TooLong
    from ..views.closed_forms import ProgramView

    if not any(given.tensor.shape for given in found.inputs):
        return None
    try:
        made = program(found.run, found.cotangent)
    except (TooLong, Unwritable):
        return None
    return ProgramView(made.lines, made.repeats(found.run, found.by_name))


def _notes(run: Run, job: Job) -> Iterator[str]:
    """What the numbers in the code stand for."""
    from ..lang.parser import parse
    from ..lang.syntax import Call, walk

    if job.cotangent is not None:
        numbers = job.cotangent.values()
        shown = ", ".join(map(repr, numbers[:SHOWN]))
        more = ", ..." if len(numbers) > SHOWN else ""
        yield f"The gradient is contracted with --grad-output [{shown}{more}]."
    program = parse(run.source, [given.name for given in run.inputs])
    called = {node.function for node in walk(program) if isinstance(node, Call)}
    if called & DRAWN:
        yield f"Random numbers are those that seed {run.seed} gives."


def as_json(
    lines: Sequence[str] | None, steps: ProgramView | None = None
) -> dict[str, str]:
    """What to add to the object."""
    texts = {"code": lines, "adjoint_program": None if steps is None else steps.lines}
    return {
        key: "".join(f"{line}\n" for line in text)
        for key, text in texts.items()
        if text is not None
    }


def code_lines(lines: Sequence[str]) -> Iterator[Line]:
    """The code as it is, whatever the terminal's width."""
    from ..render.line import Line

    for text in lines:
        yield Line(((text, "plain"),), hang="")
