"""``--times``: a Jacobian or a Hessian times a vector, without the matrix.

Invariant: numbers are printed before the check is waited for. What is checked is the
program with its inputs moved along the vector, differentiated by how far.

    gradcli hessian "(x**4).sum()" x=[1,2] --times x=[1,0]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..answers.gradients import output_of
from ..answers.jobs import MAX_NUMBERS, block_of
from ..answers.products import PartView, ProductView
from ..engine import Tensor
from ..engine.tensor import zeros_for
from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.suggest import did_you_mean
from ..views.numbers import shown
from .checking import Check, exit_status, require_check
from .output import Printer
from .problems import typed, wrong
from .sources import question_of

if TYPE_CHECKING:
    from ..lang.run import Run
    from ..verify.process.job import Block, InputVerdict, Job, Verification
    from .options import Request

Vectors = Mapping[str, Tensor]
"""By input the part of the vector that belongs to it, of its shape."""

STEP = "step"
"""What the input is called that says how far the others are moved."""


def refuse(times: Sequence[str] | None, **others: object) -> None:
    """Refuse options that go with a matrix alone."""
    if not times:
        return
    extra = typed(**others)
    if extra:
        hint = "leave out one of the two"
        raise wrong("E590", f"{extra[0]} is for a matrix, --times gives none", hint)


def product(
    command: str, request: Request, times: Sequence[str], require: str | None
) -> int:
    """Run the program, compute the product and print it; the exit status."""
    require_check(request, require)
    check = Check.start(request)
    run = question_of(request).run()
    vectors = _vectors(run, times)
    work: Callable[[Run, Vectors], Mapping[str, Tensor]] = (
        _by_hessian if command == "hessian" else _by_jacobian
    )
    run.require_graph()
    with run.explained():
        found = work(run, vectors)
    if check.wanted:
        check.hand(*_job(command, request, run, vectors, found))
    view = ProductView(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        output=output_of(run),
        vector=_parts(vectors),
        product=_parts(found),
    )
    return _present(request, view, check, require)


def _vectors(run: Run, times: Sequence[str]) -> Vectors:
    """The vector's parts by input; zeros where none was given.

    Raises:
        ProgramError: a text is no vector of an input.
    """
    inputs = {given.name: given.tensor for given in run.differentiated}
    if len(inputs) == 1 and len(times) == 1 and "=" not in times[0]:
        times = [f"{next(iter(inputs))}={times[0]}"]
    found = {}
    for binding in read_bindings(times):
        name = binding.name
        if name not in inputs:
            known = f"they are {', '.join(inputs)}" if inputs else None
            message = f"--times: nothing is differentiated by '{name}'"
            hint = did_you_mean(name, inputs) or known
            raise ProgramError("E507", message, hint=hint)
        value = run.prepared.option_value(binding.text, "--times")
        if value.shape != inputs[name].shape:
            message = f"--times: {name} has shape {list(inputs[name].shape)}, "
            hint = f"give it the shape of {name}"
            raise wrong("E595", f"{message}its vector {list(value.shape)}", hint)
        found[name] = value
    return {n: found[n] if n in found else zeros_for(x) for n, x in inputs.items()}


def _by_hessian(run: Run, vectors: Vectors) -> Mapping[str, Tensor]:
    """The part of the Hessian times the vector that belongs to each input."""
    from ..autograd.blocks import hessian_product

    inputs = {given.name: given.tensor for given in run.differentiated}
    found = hessian_product(
        run.output, list(inputs.values()), [vectors[name] for name in inputs]
    )
    return dict(zip(inputs, found, strict=True))


def _by_jacobian(run: Run, vectors: Vectors) -> Mapping[str, Tensor]:
    """The Jacobian times the vector, of the output's shape."""
    from ..engine.forward import jvp

    inputs = [given.tensor for given in run.differentiated]
    (found,) = jvp([run.output], inputs, list(vectors.values()))
    return {run.output_name: found}


def _parts(tensors: Mapping[str, Tensor]) -> tuple[PartView, ...]:
    return tuple(
        PartView(name, tuple(each.shape), shown(each.raw))
        for name, each in tensors.items()
    )


def _job(
    command: str,
    request: Request,
    run: Run,
    vectors: Vectors,
    found: Mapping[str, Tensor],
) -> tuple[Job, str | None]:
    """What to check, and why it is not checked if it is too much."""
    from ..verify.process.job import Block, Input, Job

    given = [each.tensor for each in run.inputs]
    count = sum(x.numel() for x in (*given, *vectors.values(), *found.values()))
    numbers = count <= MAX_NUMBERS
    step = _fresh(STEP, run.source)
    along = {name: _fresh(f"along_{name}", run.source) for name in vectors}
    moved = [f"{name} = {name} + {step}*{along[name]}\n" for name in vectors]
    claims: Mapping[str, Block] = {}
    if command == "hessian":
        claims = {n: _first_row(found, n, numbers) for n in found}
        own = Block((1,), b"", b"")
    else:
        own = block_of(next(iter(found.values())), numbers)
    inputs = [
        Input(step, Block.of((), [0.0]), own),
        *(Input(along[n], block_of(v, numbers)) for n, v in vectors.items()),
        *(
            Input(i.name, block_of(i.tensor, numbers), claims.get(i.name))
            for i in run.inputs
        ),
    ]
    job = Job(
        "".join(moved) + run.source,
        tuple(inputs),
        block_of(run.output, numbers),
        kind=command,
        of=request.of,
        dtype=run.dtype,
        seconds=request.verify_seconds,
        seed=run.seed,
    )
    reason = f"{count:,} numbers are too many to be checked"
    return job, None if numbers else reason


def _first_row(found: Mapping[str, Tensor], name: str, numbers: bool) -> Block:
    """The numbers of an input's part in the first row of a Hessian by the step and by
    all inputs."""
    import numpy as np

    from ..verify.process.job import Block

    every = 1 + sum(part.numel() for part in found.values())
    part = found[name]
    shape = (every, *part.shape)
    if not numbers:
        return Block(shape, b"", b"")
    places = np.arange(part.numel(), dtype=np.int64).tobytes()
    return Block(shape, block_of(part).data, places)


def _fresh(name: str, source: str) -> str:
    """A name that the program does not have."""
    while name in source:
        name += "_"
    return name


def _present(
    request: Request, view: ProductView, check: Check, require: str | None
) -> int:
    """Print the product, then what could be shown of it; the exit status."""
    from ..render import products

    printer = Printer()
    if request.quiet and not request.json:
        printer.lines(products.bare(view))
    elif not request.json:
        printer.lines(products.answer(view, printer.layout))
    printer.flush()
    found = check.finish()
    verification = None if found is None else _of_parts(view, found)
    if request.json:
        printer.lines([products.as_json(view, verification)])
    elif verification is not None and not request.quiet:
        from ..render.verdicts import verdict_lines

        labels = products.labels(view)
        printer.lines(verdict_lines(verification, labels, "products"))
    printer.flush()
    return exit_status(verification, require)


def _of_parts(view: ProductView, found: Verification) -> Verification:
    """The verdicts on the parts of the product, in the words of the program."""
    from ..verify.process.job import Verification

    if view.command == "jacobian":
        (part,) = view.product
        verdicts = [replace(v, name=part.name) for v in found.inputs]
    else:
        by_name = {v.name: v for v in found.inputs}
        verdicts = [_of_part(by_name[part.name], part.count) for part in view.product]
    told = [
        replace(v, closed_form=None, note=_unmoved(view, v.note or "") or None)
        for v in verdicts
    ]
    return Verification.about(
        told,
        found.seconds,
        side_conditions=tuple(_unmoved(view, c) for c in found.side_conditions),
        kinks=tuple(_unmoved(view, kink) for kink in found.kinks),
        done=found.done,
    )


def _of_part(verdict: InputVerdict, count: int) -> InputVerdict:
    """A verdict on a part of a matrix as one on the row that was looked at."""
    from ..verify.process.job import CERTIFIED, SAMPLED

    note = _SHARE.sub("", verdict.note or "")
    if verdict.verdict != SAMPLED:
        return replace(verdict, note=note, of=count)
    if verdict.checked == count:
        return replace(verdict, verdict=CERTIFIED, note=note, of=count)
    share = f"{verdict.checked} of {count} entries"
    return replace(verdict, note=f"{share}; {note}" if note else share, of=count)


_SHARE = re.compile(
    r"(; )?\d+ of \d+ entries, drawn with seed \d+"
    r"(; max_error is of these \d+ alone)?"
)
_ROW = re.compile(r"row \d+, (step_*: )?")


def _unmoved(view: ProductView, text: str) -> str:
    """A text on the moved program as one on the program itself."""
    text = _ROW.sub("", text)
    step = _fresh(STEP, view.program)
    for part in view.vector:
        along = _fresh(f"along_{part.name}", view.program)
        moved = rf"{along}((?:\[[\d, ]*\])?)\*{step} \+ ({part.name}\1)"
        text = re.sub(moved, r"\2", text)
    return text
