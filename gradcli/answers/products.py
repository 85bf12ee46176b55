"""A Jacobian or a Hessian times a vector, without the matrix.

Invariant: the check is of another program: its inputs are moved along the vector by a
step, and it is differentiated by that step.

    found = product(question, "hessian", ["x=[1,0]"])       # of "(x**4).sum()", x=[1,2]
    found.products[0].value                                 # [12.0, 0.0]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Annotated

import numpy as np

from ..engine import Tensor
from ..engine.tensor import zeros_for
from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.run import Run
from ..lang.suggest import did_you_mean
from ..verify.process.job import (
    CERTIFIED,
    SAMPLED,
    Block,
    Input,
    InputVerdict,
    Job,
    Verification,
)
from ..views.fields import FLAT, HIDDEN, IF_ANY, Device, DType, Shape
from ..views.numbers import Shown, shown
from .gradients import OutputView, output_of
from .jobs import block_of, too_many
from .question import Question
from .verdicts import Checked, Summary, by_name, checked, summary

Vectors = Mapping[str, Tensor]
"""Parts of the vector by input, each of the shape of its input."""

STEP = "step"
"""Name of the input that says how far the others are moved."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a vector or of a product that belongs to an input or the output.

    input   The input that this part belongs to.
    output  For a Jacobian: the output that this part belongs to.
    """

    input: str | None = field(metadata=IF_ANY)
    output: str | None = field(metadata=IF_ANY)
    shape: Shape
    value: Shown
    checked: Checked | None = field(default=None, metadata=FLAT)

    @property
    def name(self) -> str:
        """Name of the input or the output."""
        return self.input or self.output or ""

    @property
    def count(self) -> int:
        """Number of entries."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Product:
    """Answer with --times: the product with a Jacobian or a Hessian.

    program   The program's text.
    vectors   The vector, a part per input.
    products  The product: for a Hessian a part per input, for a Jacobian one part.
    job       the job that checks the product
    unasked   why the product is not checked, if it is too large
    """

    command: Annotated[str, ("hessian", "jacobian")]
    program: str
    device: Device
    dtype: DType
    output: OutputView
    vectors: tuple[Part, ...]
    products: tuple[Part, ...]
    verification: Summary = field(default=Summary())
    job: Job | None = field(default=None, metadata=HIDDEN)
    unasked: str | None = field(default=None, metadata=HIDDEN)

    def reworded(self, found: Verification) -> Verification:
        """Return the verdicts on the moved program as verdicts on the product."""
        return _of_parts(self, found)

    def judged(self, verification: Verification | None) -> Product:
        """Return the answer with its verdicts."""
        verdicts = by_name(verification)
        products = (
            replace(part, checked=checked(verdicts.get(part.name)))
            for part in self.products
        )
        whole = summary(verification)
        return replace(self, products=tuple(products), verification=whole)


def product(
    question: Question, command: str, times: Sequence[str], with_job: bool
) -> Product:
    """Run the program; return the product of its derivative and a vector.

    Args:
        question: the program and its point.
        command: ``jacobian`` or ``hessian``.
        times: the vector's parts as ``NAME=VALUE``.
        with_job: whether the product is going to be checked.

    Raises:
        ProgramError: a text is not a vector for an input.
    """
    run = question.run()
    vectors = _vectors(run, times)
    work: Callable[[Run, Vectors], Mapping[str, Tensor]] = (
        _by_hessian if command == "hessian" else _by_jacobian
    )
    run.require_graph()
    with run.explained():
        found = work(run, vectors)
    job = reason = None
    if with_job:
        job, reason = _job(command, question.seconds, run, vectors, found)
    return Product(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        output=output_of(run),
        vectors=tuple(_part(n, None, x) for n, x in vectors.items()),
        products=tuple(
            _part(None, n, x) if command == "jacobian" else _part(n, None, x)
            for n, x in found.items()
        ),
        job=job,
        unasked=reason,
    )


def _part(name: str | None, output: str | None, tensor: Tensor) -> Part:
    return Part(name, output, tuple(tensor.shape), shown(tensor.raw))


def _vectors(run: Run, times: Sequence[str]) -> Vectors:
    """Return the vector's parts by input; zeros for inputs that ``times`` leaves out.

    Raises:
        ProgramError: a text is not a vector for an input.
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
            message += f"its vector {list(value.shape)}"
            raise ProgramError("E595", message, hint=hint)
        found[name] = value
    return {n: found[n] if n in found else zeros_for(x) for n, x in inputs.items()}


def _by_hessian(run: Run, vectors: Vectors) -> Mapping[str, Tensor]:
    """Return the product of the Hessian and the vector, a part per input."""
    from ..autograd.blocks import hessian_product

    inputs = {given.name: given.tensor for given in run.differentiated}
    found = hessian_product(
        run.output, list(inputs.values()), [vectors[name] for name in inputs]
    )
    return dict(zip(inputs, found, strict=True))


def _by_jacobian(run: Run, vectors: Vectors) -> Mapping[str, Tensor]:
    """Return the product of the Jacobian and the vector, by the output's name."""
    from ..engine.forward import jvp

    inputs = [given.tensor for given in run.differentiated]
    (found,) = jvp([run.output], inputs, list(vectors.values()))
    return {run.output_name: found}


def _job(
    command: str,
    seconds: float,
    run: Run,
    vectors: Vectors,
    found: Mapping[str, Tensor],
) -> tuple[Job, str | None]:
    """Return the job that checks the product, and the reason if it is too large."""
    given = [each.tensor for each in run.inputs]
    reason = too_many([*given, *vectors.values(), *found.values()])
    numbers = reason is None
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
        of=run.of,
        dtype=run.dtype,
        seconds=seconds,
        seed=run.seed,
    )
    return job, reason


def _first_row(found: Mapping[str, Tensor], name: str, numbers: bool) -> Block:
    """Return an input's part of the product as numbers in the first row of the moved
    program's Hessian, which is the row of the step."""
    every = 1 + sum(part.numel() for part in found.values())
    part = found[name]
    shape = (every, *part.shape)
    if not numbers:
        return Block(shape, b"", b"")
    places = np.arange(part.numel(), dtype=np.int64).tobytes()
    return Block(shape, block_of(part).data, places)


def _fresh(name: str, source: str) -> str:
    """Return ``name``, with underscores added until the program does not contain it."""
    while name in source:
        name += "_"
    return name


def _of_parts(asked: Product, found: Verification) -> Verification:
    """Return the verdicts on the product's parts, with texts on the program itself."""
    if asked.command == "jacobian":
        (part,) = asked.products
        verdicts = [replace(v, name=part.name) for v in found.inputs]
    else:
        of_input = {v.name: v for v in found.inputs}
        verdicts = [_of_part(of_input[p.name], p.count) for p in asked.products]
    told = [
        replace(v, closed_form=None, note=_unmoved(asked, v.note or "") or None)
        for v in verdicts
    ]
    return Verification.about(
        told,
        found.seconds,
        side_conditions=tuple(_unmoved(asked, c) for c in found.side_conditions),
        kinks=tuple(_unmoved(asked, kink) for kink in found.kinks),
        done=found.done,
    )


def _of_part(verdict: InputVerdict, count: int) -> InputVerdict:
    """Return a verdict on a whole matrix as one on its first row, which was checked."""
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


def _unmoved(found: Product, text: str) -> str:
    """Return a text on the moved program as a text on the program itself."""
    text = _ROW.sub("", text)
    step = _fresh(STEP, found.program)
    for part in found.vectors:
        along = _fresh(f"along_{part.name}", found.program)
        moved = rf"{along}((?:\[[\d, ]*\])?)\*{step} \+ ({part.name}\1)"
        text = re.sub(moved, r"\2", text)
    return text
