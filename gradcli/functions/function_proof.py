"""Verdicts on a function's gradients, with evidence, ready to be shown.

Invariant: a verdict claims no more than was done; what was not checked is named in
``remarks``.

    proof = verify(f, (x,))
    proof.verdict, proof.inputs[0].counterexample
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final

from ..answers.evidence import Diagnosis
from ..answers.fields import HIDDEN, ROWS, Verdict, named
from ..check.process.job import REFUTED, UNKNOWN, is_weaker, lacked_time, weakest

Index = tuple[int, ...]

BALLS: Final = "balls"
"""Name of the method that differentiates forward step by step, with proven bounds."""

DIFFERENCES: Final = "differences"
"""Name of the method that uses forward's values: difference quotients in float64."""


@dataclass(frozen=True, slots=True)
class OutputEntry:
    """An entry of one of a function's outputs.

    number  Which of several outputs.
    entry   The index in each dimension.
    """

    number: int
    entry: Index


@dataclass(frozen=True, slots=True)
class WrongEntry:
    """An entry of a derivative that is wrong.

    output  The entry that was differentiated; null of the contraction of all outputs
            with the cotangents, as in a double backward.
    entry   The index of the input's entry in each dimension.
    given   The gradient that backward gave.
    true    The derivative there.
    """

    output: OutputEntry | None
    entry: Index
    given: float
    true: float

    def place(self, name: str) -> str:
        """Return the entry in words, such as ``d output[0] / d x[1]``."""
        above = "d (cotangents * outputs)"
        if self.output is not None:
            nr, at = self.output.number, self.output.entry
            above = f"d output{f' {nr}' if nr else ''}{brackets(at)}"
        return f"{above} / d {name}{brackets(self.entry)}"

    def words(self, name: str, witness: str | None) -> str:
        """Return the entry with both numbers."""
        known = "true value" if witness == BALLS else "difference quotient"
        return (
            f"{self.place(name)}: backward gave {self.given!r}, the {known} is "
            f"{self.true!r}"
        )


def brackets(at: Index) -> str:
    """Return an index as text, such as ``[0,2]``; nothing for a number."""
    return f"[{','.join(map(str, at))}]" if at else ""


@dataclass(frozen=True, slots=True)
class InputProof:
    """The verdict on the gradient by one input.

    note       Why nothing stronger was shown, or what is wrong.
    max_error  The largest relative error of a number, proven; null: not known.
    witness    What the gradient was held against: forward differentiated step by step
               on numbers with error bounds, or difference quotients in float64; null
               where nothing could follow the function.
    """

    name: str
    verdict: Verdict
    note: str | None = None
    max_error: float | None = None
    counterexample: WrongEntry | None = None
    witness: Annotated[str, (BALLS, DIFFERENCES)] | None = BALLS


@dataclass(frozen=True, slots=True)
class SecondOrder:
    """The verdict on the derivative of a backward itself.

    reason  Why it is wrong, where it is.
    repair  What to write instead.
    """

    verdict: Verdict
    reason: str | None = None
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A pass through ``backward`` that fails or disagrees with another.

    kind  What it was run with, in one or two words.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class FunctionProof:
    """The verdict on a function's gradients at its inputs.

    function         FILE.py:NAME as it was given, or the function's name.
    inputs           The gradient by each input that requires one; of a module by its
                     parameters, too.
    double_backward  The derivative of backward itself, by each input and by the
                     cotangent; empty where it was not examined.
    second           The verdict on the gradient of the gradient, apart from that of
                     the gradient; null where it was not examined.
    faults           Passes through backward that fail, or disagree with another.
    conditions       What a proof takes for granted.
    kinks            Where a derivative does not exist, and the convention.
    mistake          What is probably wrong in backward, where something is.
    remarks          What was not examined, and why.
    order            2 where the gradient of the gradient has to be right as well.
    at_least         The weakest verdict that counts as passed.
    """

    command: ClassVar[str] = "verify"
    function: str
    verdict: Verdict
    inputs: tuple[InputProof, ...]
    double_backward: tuple[InputProof, ...] = ()
    second: SecondOrder | None = field(default=None, metadata=named("second_order"))
    faults: tuple[Fault, ...] = ()
    conditions: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
    mistake: Diagnosis | None = None
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0
    order: int = 1
    at_least: str = field(default=UNKNOWN, metadata=HIDDEN)

    @property
    def asked(self) -> str:
        """The verdict on all orders of derivatives that must pass."""
        second = UNKNOWN if self.second is None else self.second.verdict
        return self.verdict if self.order == 1 else weakest([self.verdict, second])

    @property
    def ran_out_of_time(self) -> bool:
        """Whether a verdict is weaker than it could be because time ran out."""
        return any(lacked_time(each.note) for each in self.inputs)

    def __bool__(self) -> bool:
        """Tell whether nothing required is refuted or weaker than ``at_least``."""
        return self.asked != REFUTED and not is_weaker(self.asked, self.at_least)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the lines of the proof in plain text."""
        found = [f"{self.function}: {self.asked}"]
        if self.second is not None and self.asked != REFUTED == self.second.verdict:
            found[0] += f", second order {REFUTED}"
        for each in self.inputs:
            found += _about(each, "")
        found += [f"  {fault.kind}: {fault.text}" for fault in self.faults]
        if self.mistake is not None:
            found.append(f"  probably: {self.mistake.text}")
            found.append(f"  way out: {self.mistake.repair}")
        if self.conditions:
            found.append(f"  where {', '.join(self.conditions)}")
        if self.second is not None and self.verdict != REFUTED:
            # A wrong gradient makes the second one wrong, too, which says nothing more.
            found += _of_second(self.second, self.double_backward)
        found += [f"  kink: {kink}" for kink in self.kinks]
        return found + [f"  note: {remark}" for remark in self.remarks]


@dataclass(frozen=True, slots=True)
class Unverified:
    """A Function that could not be run.

    function  FILE.py:NAME.
    reason    What it raises, and with which arguments.
    hint      What to give.
    """

    function: str
    reason: str
    hint: str | None


@dataclass(frozen=True, slots=True)
class FileProof:
    """The verdicts on all Functions of a file.

    file        The file.
    unverified  The Functions that could not be run.
    functions   The Functions that were looked at.
    """

    command: ClassVar[str] = "verify"
    file: str
    unverified: tuple[Unverified, ...]
    functions: tuple[FunctionProof, ...] = field(metadata=ROWS)


def _of_second(second: SecondOrder, inputs: Sequence[InputProof]) -> list[str]:
    found = [f"  second order: {second.verdict}"]
    for each in inputs:
        if each.verdict == REFUTED:
            found += [f"  {line}" for line in _about(each, "by ")]
    if second.verdict == UNKNOWN:
        notes = [each.note for each in inputs if each.verdict == UNKNOWN]
        found += [f"    {note}" for note in notes[:1] if note]
    if second.reason is not None:
        found.append(f"    probably: {second.reason}")
        found.append(f"    way out: {second.repair}")
    return found


def _about(each: InputProof, name: str) -> list[str]:
    at = each.counterexample
    error = f", relative error at most {each.max_error:.2g}" if each.max_error else ""
    lines = [f"  {name}{each.name}: {each.verdict}{error}"]
    if at is not None:
        lines.append(f"    {at.words(each.name, each.witness)}")
    if each.note and (at is None or each.witness != BALLS):
        lines.append(f"    {each.note}")
    return lines
