"""Diagnoses of wrong backwards: hypotheses, each tested at several points together.

Invariant: a mistake is named only if correcting it makes every refuted gradient right
at all points that were tried; simple mistakes are tested first. Where a backward is run
with other saved values, forward and backward are the user's own: only some tensors that
``ctx`` gives back differ, each an input, an output, or its value before a change.

    diagnosed(checked, proof).repair       # "multiply by -1"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import prod
from typing import Any, Final

import numpy as np

from ..answers.evidence import (
    CLOSE,
    OFF_DIAGONAL,
    SIGN,
    Diagnosis,
    all_same,
    constant_factor,
    number_text,
    same,
    transpositions,
)
from ..check.namespace import setting
from ..check.process.job import REFUTED
from ..engine.modes import MODE
from ..engine.raw import Host, Raw
from ..engine.tensor import Tensor
from .checker import CheckedCall
from .forwards import (
    RefutedFunction,
    in_a_region,
    small_number,
    small_number_of_backward,
    step_wrong,
)
from .function_call import FunctionCall, FunctionRun
from .function_proof import FunctionProof
from .script_passes import recording
from .trials import BACKWARD, ELSEWHERE, IN_PLACE, NEEDS, PIECES, UNDEFINED

MIN_SIZE: Final = 2.5
"""Smallest size of an input that a factor is explained by; a smaller number is more
likely part of a formula."""

REPAIRS: Final = {
    NEEDS: "compute each gradient if its own ctx.needs_input_grad[i] says so, from "
    "what is saved in any case",
    PIECES: "use reshape() or contiguous() rather than view() and strides",
    IN_PLACE: "clone() before changing it, or write the change as a new tensor",
    UNDEFINED: "look for None among the cotangents, or leave set_materialize_grads on",
    ELSEWHERE: "see what backward does on that side",
}


def diagnosed(checked: CheckedCall, proof: FunctionProof) -> Diagnosis | None:
    """Return the simplest mistake that explains a refuted proof, if one does."""
    if proof.verdict != REFUTED:
        return None
    wrong = {each.name for each in proof.inputs if each.verdict == REFUTED}
    for fault in proof.faults:
        if fault.kind == IN_PLACE or (fault.kind in REPAIRS and not wrong):
            return Diagnosis(fault.kind, fault.text, REPAIRS[fault.kind])
    found = _inside(checked) or _raised(checked, proof)
    if found is not None or not (wrong and checked.blocks):
        return found
    case = RefutedFunction.of(checked, wrong)
    if all_same(case.pairs):
        # It differs by less than the hypotheses tell apart, or it is right for the
        # cotangent 1 of a single number and wrong for others.
        far = any((each.max_error or 0) > CLOSE for each in proof.inputs)
        return IGNORED.diagnosis(case) if far and checked.count == 1 else None
    with np.errstate(all="ignore"):
        return next(filter(None, (test(case) for test in HYPOTHESES)), None)


def _raised(checked: CheckedCall, proof: FunctionProof) -> Diagnosis | None:
    """Return the diagnosis of a backward that returns a wrong number of gradients."""
    call = checked.call
    for fault in proof.faults:
        if fault.kind == BACKWARD and "incorrect number of gradients" in fault.text:
            returned = [
                f"grad_{name}" if isinstance(x, Tensor) else "None"
                for name, x in zip(call.names, call.arguments, strict=True)
            ]
            return Diagnosis(
                "count", "backward returns one value per argument of forward, here "
                f"{len(returned)}, and this one returns another number of them",
                "return None for each argument that is no tensor: return "
                + ", ".join(returned),
            )  # fmt: skip
    return None


def _inside(checked: CheckedCall) -> Diagnosis | None:
    """Return the diagnosis of the first refuted custom function inside this one."""
    call = checked.call
    if call.custom is not None:
        return None
    seen = set[object]()
    with suppress(Exception), recording() as tape:
        call.outputs(call.leaves())
    for function, arguments in tape.custom:
        if function in seen:
            continue
        seen.add(function)
        name = function.__name__
        with suppress(Exception):
            own = CheckedCall(FunctionCall(function, arguments, name), checked.plan)
            proof = own.proof()
            if proof.verdict != REFUTED:
                continue
            found = diagnosed(own, proof)
            text = "its gradient is refuted" if found is None else found.text
            repair = f"see {name}.backward" if found is None else found.repair
            cause = "backward" if found is None else found.cause
            return Diagnosis(cause, f"in {name}.backward, {text}", repair)
    return None


@dataclass(frozen=True, slots=True)
class Seen:
    """A mistake that the blocks of a Jacobian show.

    holds   a test of all pairs of true and given blocks together
    text    the sentence, with ``{by}`` for the gradient and ``{names}`` for the inputs
    repair  the change that would make backward right
    alone   whether one input with the mistake is enough
    """

    cause: str
    holds: Callable[[list[tuple[Host, Host]]], bool]
    text: str
    repair: str
    alone: bool = False

    def __call__(self, case: RefutedFunction) -> Diagnosis | None:
        parts = case.each() if self.alone else [case]
        return next((self.diagnosis(c) for c in parts if self.holds(c.pairs)), None)

    def diagnosis(self, case: RefutedFunction) -> Diagnosis:
        names = " and ".join(case.names)
        text, repair = (
            part.format(by=case.by, names=names) for part in (self.text, self.repair)
        )
        return Diagnosis(self.cause, text, repair)


def _one_row(pairs: list[tuple[Host, Host]]) -> bool:
    """Tell whether all cotangents give one gradient where they should not."""
    return all(
        b.any()
        and len(b) > 1
        and not same(a[:1], a[1:2])
        and np.allclose(b, b[:1], rtol=1e-12, atol=0)
        for a, b in pairs
    )


def _part(pairs: list[tuple[Host, Host]]) -> bool:
    """Tell whether gradients lack some of the uses of an input entry."""
    fits = [((b == 0) | np.isclose(a, b, rtol=1e-9, atol=0)).all() for a, b in pairs]
    lost = [((b == 0) & (a != 0)).any(0) & ((a != 0).sum(0) > 1) for a, b in pairs]
    return all(fits) and any(each.any() for each in lost)


def _turned(pairs: list[tuple[Host, Host]]) -> bool:
    """Tell whether parts of sums come to wrong entries."""
    return all(
        a.shape[1] > 1 and same(a.sum(1), b.sum(1)) and not same(a, b) for a, b in pairs
    )


def _diagonal(block: Host) -> bool:
    """Tell whether a block is square and zero off its diagonal."""
    square = block.shape[0] == block.shape[1]
    return square and not (block - np.diag(np.diag(block))).any()


STRAIGHT: Final = Seen(
    "straight-through", lambda pairs: not any(a.any() for a, _ in pairs),
    "forward does not move with {names}, as what rounds or compares; backward gives a "
    "gradient all the same",
    "if that estimate is meant, there is no derivative to compare it with",
)  # fmt: skip

NONE_GIVEN: Final = Seen(
    "missing", lambda pairs: not any(b.any() for _, b in pairs),
    "backward gives no gradient for {names}: None, or zeros",
    "return one; if it is a constant, hand it over as a number or as a tensor that "
    "requires no gradient: {names}=0.5", alone=True,
)  # fmt: skip

IGNORED: Final = Seen(
    "cotangent", _one_row, "backward does not use the cotangent that it is given",
    "multiply what it returns by grad_output",
)  # fmt: skip

PART: Final = Seen(
    "batch", _part, "{by} has only a part of what is to be added up: an entry that is "
    "used several times gets the cotangent of one use",
    "sum over all uses, as sum(0) over a batch or index_add does",
)  # fmt: skip

TURNED: Final = Seen(
    "batch", _turned, "{by} is added up over the wrong dimension: every part of it is "
    "right and comes to the wrong entry",
    "sum over the dimension that the input does not have",
)  # fmt: skip


def on_purpose(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of an identity whose backward changes the gradient."""
    name = case.names[0]
    alone = len(case.names) == 1 and case.call.custom is not None
    if not (alone and all(_is_identity(point, name) for point in case.points)):
        return None
    return Diagnosis(
        "identity",
        f"forward hands on {name} as it is, and backward changes the gradient, as what "
        "reverses, scales, clips or stops gradients does",
        "if that is meant, there is no derivative to compare it with; if not, return "
        "the cotangent as it is",
    )


def _is_identity(point: CheckedCall, name: str) -> bool:
    """Tell whether all outputs equal an input."""
    block = point.blocks[name]
    given = np.asarray(block.slot.given.raw)
    ys = point.call.outputs(point.call.leaves())
    alike = all(np.array_equal(np.asarray(y.detach().raw), given) for y in ys)
    return alike and np.array_equal(block.true, np.eye(len(block.true)))


def constant(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a constant factor, such as a number of entries."""
    factors = [constant_factor(each.pairs) for each in case.each()]
    name, c = case.names[0], factors[0]
    if c is None or None in factors or "1" in (number_text(c), number_text(1 / c)):
        return None
    alike = all(abs((other or 0) - c) < 1e-8 * abs(c) for other in factors)
    said = case.by if alike else next(case.each()).by
    batch = _batch_of(case, name)
    if batch is not None and abs(c - batch) < 1e-8 * batch:
        return Diagnosis(
            "batch", f"{said} is a mean over the {batch} samples, not their sum",
            "write sum(0) for mean(0)",
        )  # fmt: skip
    text, inverse = number_text(c), number_text(1 / c)
    known, over = case.call.name_of(c), case.call.name_of(1 / c)
    if abs(c) < 1 and inverse.lstrip("-").isdigit():
        called = f", which is {over}" if over else _size(case.shape(name), name, 1 / c)
        return Diagnosis("factor", f"{said} has the factor {inverse} too much{called}",
                         f"divide it by {inverse}")  # fmt: skip
    called = known or (f"1/{over}" if over else "")
    return Diagnosis(
        "factor", f"{said} lacks the factor {text}{called and f', which is {called}'}",
        f"multiply by {called or text}",
    )  # fmt: skip


def _size(shape: tuple[int, ...], name: str, number: float) -> str:
    """Return which size of an input a number is, in words."""
    if number < MIN_SIZE:
        return ""
    if abs(number - prod(shape)) < 1e-8:
        return f", the number of {name}'s entries, as of a mean"
    sizes = [d for d, n in enumerate(shape) if abs(n - number) < 1e-8]
    return f", the size of dimension {sizes[0]} of {name}" if sizes else ""


def _batch_of(case: RefutedFunction, name: str) -> int | None:
    """Return the outputs' first size, if an input's shape is without it; else None."""
    shapes = {tuple(y.shape) for y in case.call.outputs(case.call.leaves())}
    if len(shapes) != 1:
        return None
    (shape,), own = shapes, case.shape(name)
    lacks = len(own) < len(shape) and shape[len(shape) - len(own) :] == own
    return int(shape[0]) if lacks and shape[0] > 1 else None


def swapped(case: RefutedFunction) -> Diagnosis | None:
    for a in case.names:
        for b in (n for n in case.points[0].blocks if n != a):
            others = zip(case.of_input(b), case.of_input(a), strict=True)
            pairs = [(true, given) for (true, _), (_, given) in others]
            if all(x.shape == y.shape for x, y in pairs) and all_same(pairs):
                text = f"what is returned for {a} is the gradient by {b}"
                return Diagnosis("swapped", text, f"return them in order: {a}, {b}")
    return None


def output_ignored(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of several outputs of which one cotangent is not used."""
    sizes = [v.size for v in FunctionRun(case.call).values()]
    ends = np.cumsum([0, *sizes])
    for nr in range(len(sizes)) if len(sizes) > 1 else ():
        rows = slice(int(ends[nr]), int(ends[nr + 1]))
        unused = all(not b[rows].any() and a[rows].any() for a, b in case.pairs)
        others = [(np.delete(a, rows, 0), np.delete(b, rows, 0)) for a, b in case.pairs]
        if unused and all_same(others):
            return Diagnosis(
                "output", f"backward does not use the cotangent of output {nr}",
                "add what comes through that output as well",
            )  # fmt: skip
    return None


def in_a_region_of_entries(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a threshold, for outputs whose entries depend only on the
    input's entry at the same position."""
    return in_a_region(case) if all(_diagonal(a) for a, _ in case.pairs) else None


def off_diagonal_missing(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a gradient that lacks what is off the diagonal."""
    if any(a.shape[0] != a.shape[1] or _diagonal(a) for a, _ in case.pairs):
        return None
    return OFF_DIAGONAL.of_backward(case.pairs, case.by)


def transposed(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a gradient whose dimensions are in another order."""
    for each in case.each():
        shape = case.shape(each.names[0])
        pairs = [(a.reshape(-1, *shape), b.reshape(-1, *shape)) for a, b in each.pairs]
        rows = transpositions(len(shape), outer=1)
        told = (hypothesis.of_backward(pairs, each.by) for hypothesis in rows)
        found = next(filter(None, told), None)
        if found is not None:
            return found
    return None


# other saved values

MAX_TENSORS: Final = 8
"""Largest number of a function's tensors for which replacements are tried."""

Key = int | str
"""Type of a saved tensor's key: its position, or its attribute's name on ``ctx``."""


class _View:
    """A ``ctx`` that gives other tensors in some places."""

    def __init__(self, ctx: Any, instead: Mapping[Key, Tensor]) -> None:
        self._ctx, self._instead = ctx, instead

    @property
    def saved_tensors(self) -> tuple[object, ...]:
        held = self._ctx.saved_tensors
        return tuple(self._instead.get(k, t) for k, t in enumerate(held))

    def __getattr__(self, name: str) -> object:
        if name in self._instead:
            return self._instead[name]
        return getattr(self._ctx, name)


class Saved:
    """A run of a custom function, with the tensors that its backward reads.

    saved  the tensors that ``ctx`` holds
    named  the inputs and outputs, in words
    """

    def __init__(self, point: CheckedCall) -> None:
        call, self.point = point.call, point
        self._had: dict[int, Raw] = {}
        with MODE.having(before_change=self._look):
            self._run = run = FunctionRun(call)
        node: Any = run.outputs[0].grad_fn
        self._node = node
        held = [*enumerate(node.ctx.saved_tensors), *vars(node.ctx).items()]
        self.saved: dict[Key, Tensor] = {
            key: t
            for key, t in held
            if isinstance(t, Tensor) and not str(key).startswith("_")
        }
        self.named = {f"the input {n}": x.detach() for n, x in run.leaves.items()}
        for k, y in zip(run.picked, run.outputs, strict=True):
            name = "the output" if len(run.outputs) == 1 else f"output {k}"
            self.named[name] = y.detach()

    def _look(self, raw: Raw) -> None:
        self._had.setdefault(id(raw), raw.copy())

    def before(self, key: Key) -> Tensor | None:
        """Return a saved tensor's value before it was changed in place, if it was."""
        t = self.saved[key]
        raw = self._had.get(id(t.raw))
        return None if raw is None else Tensor(raw, t.xp)

    def words(self, key: Key) -> str:
        """Return a saved tensor with what it is, such as ``ctx.w, the input w,``."""
        held = self.saved[key]
        for name, there in self.named.items():
            if there.shape == held.shape and np.array_equal(there.raw, held.raw):
                return f"{_named(key)}, {name},"
        return _named(key)

    def is_right(self, instead: Mapping[Key, Tensor], names: Sequence[str]) -> bool:
        """Tell whether backward gives right gradients if it reads other tensors."""
        view = _View(self._node.ctx, instead)
        try:
            with setting(self._node, "ctx", view):
                found = self._run.matrices()
        except Exception:
            # A replacement need not have a shape that fits.
            return False
        pairs = zip(self.point.blocks.items(), found, strict=True)
        return all(same(b.true, g) for (name, b), g in pairs if name in names)


def _named(key: Key) -> str:
    return f"ctx.saved_tensors[{key}]" if isinstance(key, int) else f"ctx.{key}"


Instead = Callable[[Saved], dict[Key, Any]]
"""Type of a function from a run to the tensors that backward reads in other places."""

Replacement = tuple[Instead, str, str]
"""Type of other tensors to read, with the mistake that they put right and the
repair."""


def _by_replacing(cause: str, case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of saved values whose replacement corrects all gradients."""
    if case.call.custom is None:
        return None
    runs = [Saved(point) for point in case.points]
    few = max(len(runs[0].saved), len(runs[0].named)) <= MAX_TENSORS
    for instead, text, repair in REPLACED[cause](runs[0]) if few else ():
        if all(run.is_right(instead(run), case.names) for run in runs):
            return Diagnosis(cause, text, repair)
    return None


def _unchanged(run: Saved) -> Iterator[Replacement]:
    for key in run.saved:
        if run.before(key) is not None:
            yield (
                lambda r, k=key: {k: r.before(k)},  # type: ignore[misc]
                f"{_named(key)} is changed in place after it was saved",
                f"write the change as a new tensor, or save {_named(key)}.clone()",
            )


def _exchanged(run: Saved) -> Iterator[Replacement]:
    for a, b in combinations(run.saved, 2):
        yield (
            lambda r, a=a, b=b: {a: r.saved[b], b: r.saved[a]},  # type: ignore[misc]
            f"{_named(a)} and {_named(b)} are taken for one another in backward",
            "exchange them there",
        )


def _reordered(run: Saved) -> Iterator[Replacement]:
    for key, held in run.saved.items():
        shape, words = tuple(held.shape), run.words(key)
        if len(shape) > 1 and shape[-1] == shape[-2]:
            yield (
                lambda r, k=key: {k: r.saved[k].mT},  # type: ignore[misc]
                f"{words} is taken for its transpose in backward",
                f"write {_named(key)}.mT there, or leave a transposition out",
            )
        for count in range(1, min(len(shape), 2) + 1):
            dims = tuple(range(-count, 0))
            yield (
                lambda r, k=key, d=dims: {k: r.saved[k].flip(d)},  # type: ignore[misc]
                f"{words} is taken in the wrong order in backward: turned round along "
                f"its last {'dimension' if count == 1 else 'two dimensions'}, or not",
                f"write {_named(key)}.flip({', '.join(map(str, dims))}) there, or "
                "leave a flip out",
            )


def _others(run: Saved) -> Iterator[Replacement]:
    for key, held in run.saved.items():
        for name, there in run.named.items():
            if there.shape == held.shape:
                yield (
                    lambda r, k=key, n=name: {k: r.named[n]},  # type: ignore[misc]
                    f"backward takes {_named(key)} for {name}, but another tensor was "
                    "saved",
                    f"save {name} there",
                )


REPLACED: Final = {
    IN_PLACE: _unchanged,
    "transpose": _reordered,
    "swapped": _exchanged,
    "saved": _others,
}
"""Other tensors that backward may read, by the kind of the mistake."""

HYPOTHESES: tuple[Callable[[RefutedFunction], Diagnosis | None], ...] = (
    partial(_by_replacing, IN_PLACE),
    STRAIGHT,
    on_purpose,
    NONE_GIVEN,
    IGNORED,
    lambda case: SIGN.of_backward(case.pairs, case.by),
    constant,
    swapped,
    transposed,
    output_ignored,
    small_number,
    small_number_of_backward,
    in_a_region_of_entries,
    off_diagonal_missing,
    partial(_by_replacing, "transpose"),
    PART,
    TURNED,
    partial(_by_replacing, "swapped"),
    partial(_by_replacing, "saved"),
    step_wrong,
    in_a_region,
)
