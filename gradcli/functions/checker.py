"""The check of a Python function: its backward against its own forward on balls.

The function runs on terms, which FLINT's power series differentiate step by step; the
gradients of its backward are compared with that. First comes every entry of the
Jacobian, then the contraction with cotangents, which SymPy may prove for all of them,
then the gradient of the gradient, last the passes of `gradcli.functions.trials`.

Invariant: a gradient is refuted only by a number that rounding cannot explain, or by
two passes that contradict each other; one that no check can follow is unknown.

    Checked(call, Plan()).proof()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import floor, inf, isfinite, log10
from typing import Any, Final

import numpy as np

from ..check.balls import text, to_float
from ..check.judge import DIGITS
from ..check.process.budget import Budget, OutOfTime
from ..check.process.job import (
    PROVED,
    REFUTED,
    ROUNDED,
    SAMPLED,
    UNKNOWN,
    InputVerdict,
    Job,
    JobInput,
    NumberBlock,
    Verification,
    is_weaker,
    timed_out,
    weakest,
)
from ..check.subject import Subject
from ..check.system import NoMeaning
from ..check.verify import MAX_ENTRIES_ON_TERMS, Check
from ..engine.dtypes import formulas_of
from ..engine.modes import enable_grad
from ..engine.record import call as call_of
from ..engine.tensor import Tensor, ones_for
from ..large.blocks import filled, pull
from .function_call import (
    Arrays,
    Both,
    FunctionCall,
    FunctionRun,
    FunctionTape,
    FunctionTerms,
    matrices,
)
from .function_proof import (
    BALLS,
    Fault,
    FunctionProof,
    InputProof,
    OutputEntry,
    SecondOrder,
    WrongEntry,
)
from .tolerances import MOST, explained
from .torch_names import lack_in
from .trials import (
    BACKWARD,
    ENDLESS,
    FEW_UNITS,
    LACKED,
    LINEAR,
    TOLERANCE,
    PassTrial,
    all_same,
    confirm_by_differences,
    entry_of,
    faults,
    numbers_of,
    second_pass,
)
from .user_lines import words_of

MAX_JACOBIAN_ENTRIES: Final = 4096
"""Largest number of entries of a Jacobian for which each entry is compared."""

MAX_SECOND_ENTRIES: Final = 40
"""Largest number of entries of inputs and outputs together for which second
derivatives are verified."""

SHAKEN: Final = 1e-9
"""Relative distance by which inputs are moved, to measure how backward magnifies
rounding."""

FAR: Final = 100.0
"""Smallest ratio of an error to the effect of moving inputs by `SHAKEN` at which the
error is not explained by rounding."""

CLEARLY: Final = 1e-4
"""Smallest error, relative to the largest entry, that moving inputs can refute."""

SPARE: Final = 1.0
"""Smallest time, in seconds, that must be left for running a function again."""

FOR_BALLS: Final = 0.8
"""Share of the time for balls; the rest is for difference quotients."""

COMPUTED_IN_FORWARD: Final = (
    "backward computes with what was detached, made under no_grad() or computed in "
    "forward, which is a constant to its graph"
)
RECOMPUTE: Final = (
    "compute in backward from inputs and outputs that save_for_backward saved, or mark "
    "it with @once_differentiable"
)

HELD: Final = "what is detached, or made under no_grad(), is held constant"


@dataclass(frozen=True, slots=True)
class CheckExtent:
    """The extent of a check.

    seconds  the time for the whole check
    seed     the seed by which cotangents and entries are drawn
    second   whether gradients of gradients are verified, too
    prove    whether SymPy is asked for proofs
    """

    seconds: float = 30.0
    seed: int = 0
    second: bool = True
    prove: bool = True

    def near(self, seconds: float) -> CheckExtent:
        """Return the plan of a check of only numbers, as of the same function at
        other inputs."""
        return CheckExtent(seconds, self.seed, second=False, prove=False)


class FunctionCheck(Check):
    """The check of a job whose program is a Python function.

    failure       why the function does not run on balls; None: it does
    rule_failure  why its backward does not run on balls; None: it does
    """

    terms, tapes = FunctionTerms, FunctionTape
    called = "the function's value"
    failure: str | None = None
    rule_failure: str | None = None

    @property
    def holds(self) -> bool:
        """Whether the outputs depend on a value that is held constant."""
        made: Subject | None = vars(self).get("subject")
        if self.reason is not None or made is None:
            return False
        evaluation = made.evaluation
        graph = evaluation.graph
        below = evaluation.below([int(s) for s in made.outputs])
        return any(graph.name(step) == "stop" for step in below)

    def _output(self, tensors: dict[str, Tensor]) -> object:
        xp = next(iter(tensors.values())).xp
        try:
            with xp.at_home(), formulas_of(self.job.dtype):
                return super()._output(tensors)
        except Exception as error:
            self.failure = words_of(error)
            raise NoMeaning(self.failure) from error

    def _engine_row(self, number: int, cotangent: Sequence[float]) -> dict[str, object]:
        try:
            with formulas_of(self.job.dtype):
                return super()._engine_row(number, cotangent)
        except Exception as error:
            self.rule_failure = words_of(error)
            raise


def slow(seconds: float) -> str:
    """Return the reason for a check that has no time to run the function again."""
    return f"{timed_out(seconds)}: to run it again takes longer than that"


class CheckedCall:
    """The work on one call; `proof` gives the verdicts, ``blocks`` serve a diagnosis.

    lack    a sentence on a name that forward uses and gradcli lacks, if there is one
    excuse  words for the number in the code that makes a gradient slightly inexact
    followed  whether balls follow the function
    differing  verdicts, with reasons, on gradients that differ from one pass to another
               by what is no mistake, by the input's name
    """

    def __init__(self, call: FunctionCall, plan: CheckExtent) -> None:
        self.call, self.plan = call, plan
        self.watch = Budget(inf)
        self.remarks: list[str] = []
        self.faults: list[Fault] = []
        self.blocks: dict[str, Both] = {}
        self.excuse: str | None = None
        self.lack: str | None = None
        self.followed = True
        self.differing: dict[str, tuple[str, str]] = {}
        self.names = [slot.name for slot in call.varied]
        with enable_grad():
            try:
                self.run, self.type = call.narrowest(lambda: FunctionRun(call))
            except Exception as error:
                self.lack = lack_in(error)
                if self.lack is None:
                    raise
                return
        self.values = self.run.values()
        self.count = sum(v.size for v in self.values)
        self.size = sum(x.numel() for x in self.run.wanted)
        draws = np.random.default_rng(plan.seed + 1)
        self.cotangents = [
            (draws.uniform(0.5, 1.5, v.shape) * draws.choice((-1, 1), v.shape)).round(2)
            for v in self.values
        ]

    # running the function

    def _again(self, tensors: Mapping[str, Tensor] | None = None) -> FunctionRun:
        return FunctionRun(self.call, tensors, self.run.picked)

    def _flat(self, tensors: dict[str, Tensor]) -> Tensor:
        """Return all outputs, flattened, as one tensor."""
        parts = [call_of("reshape", y, (-1,)) for y in self._again(tensors).outputs]
        joined: Tensor = call_of("cat", parts) if len(parts) > 1 else parts[0]
        return joined

    def _contracted(self, tensors: dict[str, Tensor]) -> Tensor:
        """Return the sum of the outputs weighted by the cotangents in ``tensors``."""
        parts = [
            call_of("sum", call_of("mul", tensors[_cotangent(k)], y))
            for k, y in enumerate(self._again(tensors).outputs)
        ]
        total: Tensor = reduce(partial(call_of, "add"), parts)
        return total

    def _seeds(self) -> Arrays:
        pairs = zip(self.cotangents, self.run.outputs, strict=True)
        return [np.array(c, np.asarray(y.raw).dtype) for c, y in pairs]

    def left(self, share: float = FOR_BALLS) -> float:
        return max(0.1, self.plan.seconds * share - self.watch.spent)

    # the proof

    def proof(self) -> FunctionProof:
        """Return the proof of all that there is time to check."""
        if self.lack is not None:
            return self._of_all(UNKNOWN, f"forward asks for more: {self.lack}")
        if not self.run.outputs:
            reason = "no output depends on an input that requires a gradient"
            return self._of_all(UNKNOWN, reason)
        with enable_grad():
            try:
                with Budget(self.left()).slice(self.left()):
                    early = self._doubts()
            except OutOfTime:
                early = self._of_all(UNKNOWN, slow(self.plan.seconds))
            if early is not None:
                return early
            by_entries = self._by_entries()
            contracted, verification = self._by_cotangents(by_entries)
            pairs = zip(by_entries or contracted, contracted, strict=True)
            inputs = [_joined(a, b) for a, b in pairs]
            self.followed = all(each.witness == BALLS for each in inputs)
            self._try()
            if self.is_linear:
                inputs = [self._forgiven(each) for each in inputs]
            if UNKNOWN in [each.verdict for each in inputs]:
                wide = self.call.moved(lambda values: values, "float64")
                left = self.left(1.0)
                inputs = confirm_by_differences(wide, inputs, self.plan.seed, left)
            inputs = [self._in_full(self._as_passes(each)) for each in inputs]
            second = self._second(inputs) if self.plan.second else ()
        return self._answer(inputs, second, verification)

    def _doubts(self) -> FunctionProof | None:
        """Return the proof of a function whose runs differ, or whose backward raises;
        None for any other."""
        again = self._again()
        pairs = zip(self.values, again.values(), strict=True)
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
            reason = "the function gives other values when it is run again"
            return self._of_all(UNKNOWN, reason)
        try:
            first, self.type = self.call.narrowest(
                lambda: self.run.gradients(self._seeds()), self.type
            )
        except Exception as error:
            lack = lack_in(error)
            if lack is not None:
                return self._of_all(UNKNOWN, f"backward asks for more: {lack}")
            text_ = f"backward raises {words_of(error)}"
            self.faults.append(Fault(BACKWARD, text_))
            return self._of_all(REFUTED, text_)
        # A value that a function keeps between runs may be differentiated in the first
        # run alone.
        repeated = False
        with suppress(Exception):
            repeated = all_same(first, again.gradients(self._seeds()))
        if not repeated:
            reason = "the function gives other gradients when it is run again"
            return self._of_all(UNKNOWN, reason)
        fault = second_pass(self.call, self.run, self._seeds(), first)
        if fault is None:
            return None
        # Each row of a Jacobian is another pass through the same graph.
        self.faults.append(fault)
        return self._of_all(REFUTED, "its number changes with each pass")

    def _of_all(self, verdict: str, reason: str) -> FunctionProof:
        """Return the proof with one verdict and one reason for every input."""
        return self._answer(
            [InputProof(name, verdict, reason, witness=None) for name in self.names]
        )

    def _answer(
        self, inputs: Sequence[InputProof], second: tuple[InputProof, ...] = (),
        verification: Verification | None = None,
    ) -> FunctionProof:  # fmt: skip
        verdicts = [each.verdict for each in inputs]
        proved = verification is not None and PROVED in verdicts
        return FunctionProof(
            self.call.title,
            weakest([*verdicts, *([REFUTED] if self.faults else [])]),
            tuple(inputs),
            second,
            _of_second(second) if second else None,
            tuple(self.faults),
            verification.side_conditions if verification and proved else (),
            verification.kinks if verification else (),
            None,
            tuple(dict.fromkeys(self.remarks)),
            round(self.watch.spent, 3),
        )

    def _try(self) -> None:
        """Add the faults of passes that disagree."""
        eps = float(np.finfo(self.type.name).eps)
        try:
            # A new run, because backward may have spoilt the first one's saved values.
            found = [*faults(self.call, self._again(), self._seeds(), eps, self._near)]
        except Exception as error:
            found = [Fault(BACKWARD, f"a pass raises {words_of(error)}")]
        left_open = ENDLESS, LACKED
        self.remarks += [each.text for each in found if each.kind in left_open]
        self.faults += [each for each in found if each.kind not in left_open]

    @property
    def is_linear(self) -> bool:
        return not any(each.kind == LINEAR for each in self.faults)

    def _near(self, trial: PassTrial, whole: Arrays, found: Arrays) -> bool:
        """Tell whether two passes differ by what counts as no mistake in a verdict: by
        the size of a tolerance in the code, or little where only differences follow.

        The inputs whose gradients differ are then `sampled`, or unknown.
        """

        def joined(whole: Arrays, found: Arrays) -> Both:
            # Both count as given, because either may be the less exact one.
            true, given = (np.concatenate([*map(np.ravel, g)]) for g in (whole, found))
            near = true + trial.least * (given - true)
            pairs = np.concatenate([near, true]), np.concatenate([true, true])
            return Both(self.call.varied[0], *pairs)

        block = joined(whole, found)
        off, verdict = block.largest_error(), SAMPLED
        near = explained(
            self.call, block, lambda: joined(trial.whole(), trial.run()),
            lambda: self.left() - SPARE, trial.kind != LINEAR,
        )  # fmt: skip
        if near is None and not self.followed and off <= CLEARLY:
            near = f"which differences cannot tell from 0 (tolerance {TOLERANCE:g})"
            verdict = SAMPLED if off <= TOLERANCE else UNKNOWN
        elif near is None or off > MOST:
            return False
        numbers = numbers_of(self.call, trial, whole, found)
        said = f"{trial.what} {trial.says}: {numbers}; off by {off:.2g}, {near}"
        pairs = zip(whole, found, strict=True)
        own = [k for k, (a, b) in enumerate(pairs) if not trial.agrees([a], [b])]
        for nr in own if trial.input is None else [trial.input]:
            self.differing[self.names[nr]] = verdict, said
        return True

    def _as_passes(self, proof: InputProof) -> InputProof:
        """Return a proof that claims no more than the passes that differ allow."""
        verdict, said = self.differing.get(proof.name, (PROVED, ""))
        if said and verdict == proof.verdict:
            return replace(proof, note=f"{proof.note}; {said}" if proof.note else said)
        if not is_weaker(verdict, proof.verdict):
            return proof
        return replace(proof, verdict=verdict, note=said, max_error=None)

    def _in_full(self, proof: InputProof) -> InputProof:
        """Return a proof, `rounded` if the number has fewer digits than a number of the
        inputs' type should have, because it was computed in a narrower type."""
        given = min((s.given.dtype for s in self.call.slots), key=lambda d: d.itemsize)
        digits, off = DIGITS.get(given.name, 0), proof.max_error
        if off is None or self.type.itemsize >= given.itemsize:
            return proof
        # A constant, too, may have been rounded to the narrow type.
        near = off <= FEW_UNITS * float(np.finfo(self.type.name).eps)
        if off < 10.0**-digits or not (near or proof.verdict not in (REFUTED, UNKNOWN)):
            return proof
        correct = max(0, floor(-log10(off)))
        return replace(
            proof, verdict=ROUNDED, counterexample=None,
            note=f"{correct} correct digits: it was computed in {self.type.name}",
        )  # fmt: skip

    # numbers in the function's own code

    def _forgiven(self, proof: InputProof) -> InputProof:
        """Return a proof, changed to `sampled` if it is refuted only because a
        tolerance or a rounded literal in the function's code makes the gradient
        slightly inexact."""
        block = self.blocks.get(proof.name)
        if proof.verdict != REFUTED or block is None:
            return proof

        def rerun() -> Both | None:
            other = CheckedCall(self.call, replace(self.plan, seconds=self.left()))
            found = {each.name: each.verdict for each in other._by_entries() or ()}
            block = other.blocks.get(proof.name)
            if block is None or found.get(proof.name) in (REFUTED, UNKNOWN):
                return block
            # The rest of the error is rounding: the gradient counts as exact.
            return replace(block, true=block.given)

        near = explained(self.call, block, rerun, lambda: self.left() - SPARE)
        if near is None:
            return proof
        off = block.largest_error()
        said = f"off by {off:.2g}, {near}"
        if off > MOST:
            self.remarks.append(f"{proof.name}: {said}")
            return proof
        self.excuse = said
        return self._excused(proof)

    def _excused(self, proof: InputProof) -> InputProof:
        return replace(
            proof, verdict=SAMPLED, note=self.excuse, max_error=None,
            counterexample=None,
        )  # fmt: skip

    # comparisons with the true numbers

    def _checked(
        self, kind: str, claims: Mapping[str, Any], output: object,
        run: Callable[[dict[str, Tensor]], Tensor], more: Sequence[Any] = (),
        share: float = 1,
    ) -> FunctionCheck:  # fmt: skip
        """Return a check of claims.

        Args:
            kind: the kind of the `Job`.
            claims: the numbers of the derivative by each input that is asked about.
            output: the numbers that ``run`` gives.
            run: the program.
            more: the cotangents, where these are inputs, too.
            share: the part of the time that is left that the check may use.
        """
        values = {slot.name: np.asarray(slot.given.raw) for slot in self.call.slots}
        values |= {_cotangent(k): c for k, c in enumerate(more)}
        inputs = tuple(
            JobInput(name, _block(v), _block(claims[name]) if name in claims else None)
            for name, v in values.items()
        )
        seconds = self.left() * share
        job = Job(
            "", inputs, _block(output), kind, dtype=self.type.name, seconds=seconds,
            seed=self.plan.seed,
        )  # fmt: skip
        large = sum(i.value.count for i in inputs) > MAX_ENTRIES_ON_TERMS
        tape = large and kind == "gradient"
        check = FunctionCheck(job, run, lambda shown: None, Budget(seconds), tape=tape)
        if more:
            check.called = "the sum of the outputs, weighed by cotangents,"
        return check

    def _by_entries(self) -> list[InputProof] | None:
        """Return proofs of every entry of the Jacobian; None if there are too many."""
        entries = self.count * self.size
        if entries > MAX_JACOBIAN_ENTRIES or self.size > MAX_ENTRIES_ON_TERMS:
            self.remarks.append(
                f"the Jacobian has {entries} entries, of which those of one "
                "contraction with cotangents were examined"
            )
            return None
        try:
            found = self.run.matrices()
        except Exception as error:
            self.faults.append(Fault(BACKWARD, f"backward raises {words_of(error)}"))
            return None
        claims = dict(zip(self.names, found, strict=True))
        flat = np.concatenate([v.ravel() for v in self.values])
        check = self._checked("jacobian", claims, flat, self._flat, share=1 / 2)
        answer = check.compared()
        if check.reason is None:
            for slot in self.call.varied:
                given = claims[slot.name]
                true = _true(check, slot.name).reshape(given.shape)
                self.blocks[slot.name] = Both(slot, given, true)
        shapes = [v.shape for v in self.values]
        of_row = lambda row: entry_of(row, self.run.picked, shapes)
        return self._read(check, answer.inputs, of_row)

    def _by_cotangents(
        self, before: Sequence[InputProof] | None
    ) -> tuple[list[InputProof], Verification]:
        """Return proofs from the contraction with cotangents, which are inputs, too."""
        claims = dict(zip(self.names, self.run.gradients(self._seeds()), strict=True))
        weighed = zip(self.values, self.cotangents, strict=True)
        total = sum(float((v * c).sum()) for v, c in weighed)
        check = self._checked(
            "gradient", claims, total, self._contracted, self.cotangents
        )
        good = all(each.verdict not in (REFUTED, UNKNOWN) for each in before or ())
        answer = check.within_time() if check.is_large else check.compared()
        if not check.is_large and good and self.plan.prove and check.reason is None:
            answer = check.proved()
        if check.holds:
            self.remarks.append(HELD)
        return self._read(check, answer.inputs), answer

    def _read(
        self, check: FunctionCheck, verdicts: Sequence[InputVerdict],
        of_row: Callable[[int], OutputEntry | None] = lambda row: None,
    ) -> list[InputProof]:  # fmt: skip
        """Return the verdicts of a check as proofs, with counterexamples."""
        read = []
        for each in verdicts:
            note = each.note
            if check.failure is not None:
                note = f"it does not run on balls: {check.failure}"
            lost = check.reason or check.failure or check.rule_failure
            witness = None if lost and each.verdict == UNKNOWN else BALLS
            made = InputProof(
                each.name, each.verdict, note, each.max_error, witness=witness
            )
            entries = check.reports[each.name].entries
            wrong = [k for k, e in enumerate(entries) if e.verdict == REFUTED]
            if each.verdict == UNKNOWN and check.rule_failure is not None:
                wrong = self._clearly_wrong(check, each.name)
                made = replace(
                    made, verdict=REFUTED if wrong else UNKNOWN,
                    note=f"backward does not run on balls: {check.rule_failure}",
                    witness=BALLS if wrong else None,
                )  # fmt: skip
            if wrong and check.rows:
                e = entries[wrong[0]]
                shape = check.claims[each.name].given.value.shape
                at = tuple(int(i) for i in np.unravel_index(e.place[1], shape))
                made = replace(made, counterexample=WrongEntry(
                    of_row(e.row), at, e.number, float(text(e.true))))  # fmt: skip
            read.append(made)
        return read

    def _clearly_wrong(self, check: FunctionCheck, name: str) -> list[int]:
        """Return the entries of a gradient whose errors are far larger than the effect
        of moving the inputs a little; for a backward that does not run on balls."""
        if name not in self.names or check.job.kind != "gradient" or not check.rows:
            return []
        given = np.array([e.number for e in check.reports[name].entries])
        true = _true(check, name)
        if not (np.isfinite(given).all() and np.isfinite(true).all()):
            return []
        leaves = self.call.leaves()
        for leaf in leaves.values():
            leaf.raw[...] = leaf.raw * (1 + SHAKEN)
        with suppress(Exception):
            found = self._again(leaves).gradients(self._seeds())
            moved = found[self.names.index(name)].ravel()
            gap = np.abs(given - true)
            size = max(np.abs(true).max(initial=0.0), np.abs(given).max(initial=0.0))
            clear = (gap > FAR * np.abs(moved - given)) & (gap > CLEARLY * size)
            return [int(k) for k in np.flatnonzero(clear)]
        return []

    # gradients of gradients

    def _second(self, inputs: Sequence[InputProof]) -> tuple[InputProof, ...]:
        """Return proofs of the Hessian of the contraction, by inputs and cotangents."""
        size = self.count + self.size
        why = f"{size} entries of inputs and outputs are more than {MAX_SECOND_ENTRIES}"
        followed = all(each.witness == BALLS for each in inputs)
        if not followed or size > MAX_SECOND_ENTRIES:
            why = why if followed else "only differences follow the function"
            self.remarks.append(f"gradients of gradients were not examined: {why}")
            return ()
        leaves, seeds = self.call.leaves(), self._seeds()
        for k, (c, y) in enumerate(zip(seeds, self.run.outputs, strict=True)):
            leaves[_cotangent(k)] = Tensor(c, y.xp, True)
        names = [*self.names, *map(_cotangent, range(len(seeds)))]
        wanted = [leaves[name] for name in names]
        try:
            total = self._contracted(leaves)
            seed = [ones_for(total)]
            first = filled(pull([total], wanted, seed, create_graph=True), wanted)
            found = matrices(first, wanted)
        except Exception as error:
            self.remarks.append(
                f"there is no gradient of the gradient: {words_of(error)}"
            )
            return ()
        claims = dict(zip(names, found, strict=True))
        value = float(total.detach().raw)
        check = self._checked("hessian", claims, value, self._contracted, seeds)
        read = self._read(check, check.compared().inputs)
        # An error as small as the one that a number in the code explains in the
        # gradient is explained by that, too.
        return tuple(
            self._excused(each)
            if each.verdict == REFUTED and self.excuse
            and (each.max_error or np.inf) <= MOST
            else each
            for each in read
        )  # fmt: skip


def _true(check: FunctionCheck, name: str) -> Any:
    """Return the true numbers of the derivative by an input."""
    return np.array([to_float(e.true) for e in check.reports[name].entries])


def _of_second(proofs: Sequence[InputProof]) -> SecondOrder:
    """Return one verdict on all second derivatives, with a reason if it is wrong."""
    verdicts = [each.verdict for each in proofs]
    why = (COMPUTED_IN_FORWARD, RECOMPUTE) if REFUTED in verdicts else ()
    return SecondOrder(weakest(verdicts), *why)


def _joined(a: InputProof, b: InputProof) -> InputProof:
    """Return the joint proof of two checks of one gradient. A proof by ``b`` holds for
    every cotangent, and so for the entries that ``a`` compared, too."""
    known = [e for e in (a.max_error, b.max_error) if e is not None and isfinite(e)]
    proved = b.verdict == PROVED and a.verdict not in (REFUTED, UNKNOWN)
    weaker = a.verdict != REFUTED and weakest([a.verdict, b.verdict]) == b.verdict
    return replace(b if proved or weaker else a, max_error=max(known, default=None))


def _cotangent(k: int) -> str:
    return f"cotangent{k or ''}"


def _block(numbers: Any) -> NumberBlock:
    array = np.asarray(numbers, np.float64)
    return NumberBlock.of(array.shape, array.ravel().tolist())
