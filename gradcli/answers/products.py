"""A Jacobian or a Hessian times a vector, without the matrix.

Invariant: the check is of another program: its inputs are moved along the vector by a
step, and it is differentiated by that step.

    found = product(question, "hessian", ["x=[1,0]"], False)    # (x**4).sum(), x=[1,2]
    found.products[0].value                                 # [12.0, 0.0]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Annotated

import numpy as np

from ..check.process.job import (
    CERTIFIED,
    SAMPLED,
    InputVerdict,
    Job,
    JobInput,
    NumberBlock,
    Verification,
)
from ..engine import Tensor
from ..engine.tensor import zeros_for
from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.run import Run
from ..lang.suggest import did_you_mean
from .fields import FLAT, HIDDEN, IF_ANY, Device, DType, Shape
from .gradients import OutputView, output_of
from .jobs import block_of, job_for, too_many
from .numbers import Shown, shown
from .question import Question
from .verdicts import Checked, Summary, by_name, checked, summary

Vectors = Mapping[str, Tensor]
"""Parts of the vector by input, each of the shape of its input."""

STEP = "step"
"""Name of the input that says how far the others are moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPart:
    """The part of a vector or of a product that belongs to an input or the output.

    input   The input that this part belongs to.
    output  For a Jacobian: the output that this part belongs to.
    """

    input: str | None = field(default=None, metadata=IF_ANY)
    output: str | None = field(default=None, metadata=IF_ANY)
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
    vectors: tuple[ProductPart, ...]
    products: tuple[ProductPart, ...]
    verification: Summary = field(default=Summary())
    job: Job | None = field(default=None, metadata=HIDDEN)
    unasked: str | None = field(default=None, metadata=HIDDEN)

    def reworded(self, found: Verification) -> Verification:
        """Return the verdicts on the moved program as verdicts on the product's parts,
        with texts on the program itself."""
        if self.command == "jacobian":
            (part,) = self.products
            verdicts = [replace(v, name=part.name) for v in found.inputs]
        else:
            of_input = {v.name: v for v in found.inputs}
            verdicts = [_of_part(of_input[p.name], p.count) for p in self.products]
        told = [
            replace(v, closed_form=None, note=_unmoved(self, v.note or "") or None)
            for v in verdicts
        ]
        return Verification.about(
            told,
            found.seconds,
            side_conditions=tuple(_unmoved(self, c) for c in found.side_conditions),
            kinks=tuple(_unmoved(self, kink) for kink in found.kinks),
            done=found.done,
        )

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
    """Run the program; return the product of its derivative and a vector, whose parts
    are texts ``NAME=VALUE``, with the job that checks it if that is wanted."""
    from ..engine.forward import jvp
    from ..large.blocks import hessian_product

    run = question.run()
    vectors = _vectors(run, times)
    inputs = [given.tensor for given in run.differentiated]
    along = list(vectors.values())
    run.require_graph()
    with run.explained():
        if command == "hessian":
            parts = hessian_product(run.output, inputs, along)
            found = dict(zip(vectors, parts, strict=True))
        else:
            (part,) = jvp([run.output], inputs, along)
            found = {run.output_name: part}
    job, reason = None, None
    if with_job:
        job, reason = _job(command, question.seconds, run, vectors, found)
    return Product(
        command=command,
        program=run.source,
        device=run.device,
        dtype=run.dtype,
        output=output_of(run),
        vectors=_parts(vectors),
        products=_parts(found, command == "jacobian"),
        job=job,
        unasked=reason,
    )


def _parts(
    found: Mapping[str, Tensor], of_output: bool = False
) -> tuple[ProductPart, ...]:
    parts = {
        n: ProductPart(shape=tuple(x.shape), value=shown(x.raw))
        for n, x in found.items()
    }
    return tuple(
        replace(part, output=name) if of_output else replace(part, input=name)
        for name, part in parts.items()
    )


def _vectors(run: Run, times: Sequence[str]) -> Vectors:
    """Return the vector's parts by input; zeros for inputs that ``times`` leaves
    out."""
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
    claims: Mapping[str, NumberBlock] = {}
    own = NumberBlock((1,), b"", b"")
    if command == "hessian":
        claims = {n: _first_row(found, n, numbers) for n in found}
    else:
        own = block_of(next(iter(found.values())), numbers)
    inputs = [JobInput(step, NumberBlock.of((), [0.0]), own)]
    inputs += [JobInput(along[n], block_of(v, numbers)) for n, v in vectors.items()]
    job = job_for(run, seconds, command, claims, numbers=numbers)
    source = "".join(moved) + run.source
    return replace(job, source=source, inputs=(*inputs, *job.inputs)), reason


def _first_row(found: Mapping[str, Tensor], name: str, numbers: bool) -> NumberBlock:
    """Return an input's part of the product as numbers in the first row of the moved
    program's Hessian, which is the row of the step."""
    part = found[name]
    shape = (1 + sum(each.numel() for each in found.values()), *part.shape)
    places = np.arange(part.numel() if numbers else 0, dtype=np.int64).tobytes()
    return NumberBlock(shape, block_of(part, numbers).data, places)


def _fresh(name: str, source: str) -> str:
    """Return ``name``, with underscores added until the program does not contain it."""
    while name in source:
        name += "_"
    return name


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
    r"(; )?\b\d+ of \d+ entries, drawn with seed \d+"
    r"(; max_error is for these \d+ only)?"
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
