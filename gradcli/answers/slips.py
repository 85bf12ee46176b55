"""Slips that textbooks name: a rule of differentiation that was applied wrongly.

The program's steps are differentiated once more, forward and in numbers, with one rule
replaced by a slip; if that gives the claimed numbers, the claim has this slip.

Invariant: a slip explains the claim at every sample, within rounding, and differs from
the right derivative there. Programs of single numbers only are looked at.

    textbook_slip(evidence).text    # "product rule u'*v + u*v' with u = x, ..."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from ..engine import NUMPY, Node, Tensor
from ..engine.modes import MODE
from ..engine.node import output_at
from ..lang.excerpt import shortened
from ..lang.parser import parse
from ..lang.run import evaluate
from ..lang.syntax import assigned_names
from ..ops import OPS, Op
from .evidence import (
    NO_VALUE,
    UNNAMED,
    Diagnosis,
    Evidence,
    Pair,
    PointEvidence,
    alike,
    all_same,
    constant_factor,
    derivative,
    same,
    simple_number,
)
from .evidence import at as sample_at
from .graph_view import graph_view
from .slip_table import (
    CONFUSED,
    LINEAR,
    POWERS,
    ROOTS,
    RULES,
    SLIPS,
    Local,
    NumberStep,
    NumberSteps,
    Slip,
    Wrong,
    named,
    slope_of,
)
from .textbook_rules import stated

MAX_STEPS: Final = 60
"""Most steps of a program that is looked at for slips."""

ROUNDING: Final = 1e-9
"""Largest absolute difference of entries that counts as none."""

MAX_PAIRED_STEPS: Final = 12
"""Most steps of a program in which two slips are looked for."""

_CALL: Final = re.compile(r"(?:\w+\.)*(\w+)\(")
"""Pattern of the beginning of a call, with the function's name."""

MAX_TEXT: Final = 40
"""Most characters of a part of the program in a sentence."""


def textbook_slip(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a slip in one rule, or of one that occurs with another;
    None if none explains the claim."""
    claim, sides = evidence.claim, evidence.sides
    if len(claim.by) != 1 or claim.at or not sides or sides[0][0].shape:
        return None
    tapes = _tapes(evidence, claim.by)
    if tapes is None:
        return None
    claimed = [float(b) for _, b in sides]
    slips = list(_all_slips(tapes[0]))
    for slip in slips:
        places = [at for at, step in enumerate(tapes[0]) if slip.fits(step)]
        choices = [{at: slip} for at in reversed(places)]
        every = [dict.fromkeys(places, slip)] if len(places) > 1 else []
        for chosen in [*choices, *every]:
            evidence.check()
            if _explains(chosen, tapes, claimed):
                return _diagnosis(slip, tapes[0], max(chosen), evidence)
    return _antiderivative(evidence) or _two_slips(evidence, tapes, claimed)


def _two_slips(
    evidence: Evidence, tapes: Sequence[NumberSteps], claimed: Sequence[float]
) -> Diagnosis | None:
    """Return the diagnosis of two frequent slips in different steps."""
    if len(tapes[0]) > MAX_PAIRED_STEPS:
        return None
    frequent = [slip for slip in SLIPS if slip.frequent]
    single = [
        (at, slip) for slip in frequent for at, step in enumerate(tapes[0])
        if slip.fits(step)
    ]  # fmt: skip
    for (at, a), (place, b) in combinations(single, 2):
        evidence.check()
        if at != place and _explains({at: a, place: b}, tapes, claimed):
            first = _diagnosis(a, tapes[0], at, evidence)
            second = _diagnosis(b, tapes[0], place, evidence)
            text = f"there are two slips: {first.text}: {first.repair}; {second.text}"
            return Diagnosis(a.cause, text, second.repair)
    return None


def both_varied(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a partial derivative in which another input was
    differentiated as well."""
    claim, sides = evidence.claim, evidence.sides
    if len(claim.by) != 1 or claim.at or not sides or sides[0][0].shape:
        return None
    (by,), claimed = claim.by, [float(b) for _, b in sides]
    inputs = evidence.samples[0].inputs
    others = [n for n, x in inputs.items() if n != by and not x.shape]
    for other in others:
        factor = [float(sample.inputs[other].raw) for sample in evidence.samples]
        ratio = constant_factor(
            [
                (true, given * value)
                for (true, given), value in zip(sides, factor, strict=True)
            ]
        )
        tapes = _tapes(evidence, (by, other))
        if tapes is None or (ratio is not None and abs(abs(ratio) - 1) < ROUNDING):
            # A claim that only lacks a factor has a simpler mistake.
            continue
        products = [s for s in SLIPS if s.cause == "product"]
        choices: list[Mapping[int, Slip]] = [{}]
        for slip in products:
            places = [at for at, step in enumerate(tapes[0]) if slip.fits(step)]
            choices += [{at: slip} for at in places]
        for chosen in choices:
            evidence.check()
            if _explains(chosen, tapes, claimed, evidence.sides):
                text = (
                    f"in a derivative by {by}, {other} is a constant: here {other} is "
                    "differentiated, too"
                )
                return Diagnosis("constant", text, f"treat {other} as a number")
    return None


def _tapes(evidence: Evidence, by: Sequence[str]) -> list[NumberSteps] | None:
    """Return the steps at each sample; None if they differ or one has no numbers."""
    tapes: list[NumberSteps] = []
    for sample in evidence.samples:
        tape = _tape(evidence, sample, by)
        if tape is None or (tapes and len(tape) != len(tapes[0])):
            return None
        tapes.append(tape)
    return tapes


def _tape(
    evidence: Evidence, sample: PointEvidence, by: Sequence[str]
) -> NumberSteps | None:
    """Return the steps from the inputs to the value; None if one has no numbers."""
    steps: list[NumberStep] = []
    inputs = {n: Tensor(x.raw, NUMPY, n in by) for n, x in sample.inputs.items()}
    known = {id(inputs[name]): -nr for nr, name in enumerate(by, start=1)}
    fits = True

    def look(op: Op, given: Any, params: Any, raw: Any, out: Any) -> None:
        nonlocal fits
        if not any(isinstance(x, Tensor) and id(x) in known for x in given):
            return
        if isinstance(out, Tensor) and out.edge is None:
            # A step that has no derivative makes a constant.
            return
        fits = fits and isinstance(out, Tensor) and not out.raw.shape
        if not fits or op.partials is None or len(steps) > MAX_STEPS:
            fits = False
            return
        operands = tuple(
            known[id(x)] if isinstance(x, Tensor) and id(x) in known else _number(x)
            for x in given
        )
        step = NumberStep(op, operands, dict(params), out)
        first = operands[0]
        known_first = isinstance(first, int) and first >= 0
        before = steps[int(first)] if known_first else None
        if op.name == "reciprocal" and before is not None and before.exponent:
            # 1/u^n is a power, too; the step of u^n stays, and nothing uses it.
            step = NumberStep(op, before.operands, {}, out, -before.exponent)
        elif op.name in POWERS:
            power = {"sqrt": 0.5, "reciprocal": -1.0}.get(op.name)
            step.exponent = params["exponent"] if power is None else power
        elif op.name == "mul" and operands[1] == 1.0 and isinstance(operands[1], float):
            known[id(out)] = int(first)
            kept.append(out)
            return
        known[id(out)] = len(steps)
        steps.append(step)

    kept: list[Tensor] = []
    target = evidence.claim.output or evidence.task.of
    try:
        with MODE.having(on_call=(*MODE.on_call, look)):
            output, _, _ = evaluate(
                evidence.task.source, inputs, of=target, seed=evidence.task.seed
            )
    except NO_VALUE:
        return None
    last = known.get(id(output), -1)
    if not fits or last < 0:
        return None
    found = {n: float(x.raw) for n, x in inputs.items() if n in by}
    texts = _sources(evidence, output)
    return NumberSteps(
        [found[name] for name in by], _joined(steps[: last + 1], texts), texts
    )


def _joined(steps: list[NumberStep], texts: Mapping[int, str]) -> list[NumberStep]:
    """Return the steps with one step for each function that several rows make."""
    found: list[NumberStep] = []
    places: dict[int, int] = {}
    for nr, step in enumerate(steps):
        text = texts.get(id(step.out.edge), "")
        inner = step.varying[0] if len(step.varying) == 1 else -1
        before = found[places[inner]] if inner >= 0 else None
        called = _CALL.match(text)
        moved = [places.get(o, o) if isinstance(o, int) else o for o in step.operands]
        step = replace(step, operands=tuple(moved))
        if (
            before is not None
            and called is not None
            and places[inner] == len(found) - 1
            and texts.get(id(before.out.edge)) == text
            and len(before.varying) == 1
            and not any(inner in other.varying for other in steps[nr + 1 :])
        ):
            parts = (*(before.parts or (before,)), step)
            found[-1] = NumberStep(
                step.op, tuple(before.varying), {}, step.out, None, parts, called[1]
            )
        else:
            found.append(step)
        places[nr] = len(found) - 1
    return found


def _number(value: object) -> float:
    raw = value.raw if isinstance(value, Tensor) else value
    return float(np.asarray(raw, dtype=np.float64).reshape(-1)[0])


def _explains(
    chosen: Mapping[int, Slip],
    tapes: Sequence[NumberSteps],
    claimed: Sequence[float],
    sides: Sequence[Pair] = (),
) -> bool:
    """Return whether slips at these steps give the claimed numbers and no right
    ones; the right ones are those of ``sides``, or of the steps without a slip."""
    differs = False
    for nr, (tape, number) in enumerate(zip(tapes, claimed, strict=True)):
        right = sides[nr][0] if sides else np.asarray(_tangent(tape, {}))
        wrong = _tangent(tape, {at: slip.wrong for at, slip in chosen.items()})
        if wrong is None or not same(np.asarray(wrong), np.asarray(number)):
            return False
        differs = differs or not same(np.asarray(wrong), right)
    return differs and any(claimed)


def _tangent(tape: NumberSteps, wrong: Mapping[int, Wrong]) -> float | None:
    """Return the derivative of the last step, with slips at the chosen ones."""
    values = {-nr: x for nr, x in enumerate(tape.inputs, start=1)}
    tangents = dict.fromkeys(values, 1.0)
    for at, step in enumerate(tape):
        numbers = [values[o] if isinstance(o, int) else o for o in step.operands]
        moves = [tangents[o] if isinstance(o, int) else 0.0 for o in step.operands]
        y = float(step.out.raw)
        tangents[at] = _right(step, y, numbers, moves)
        if at in wrong:
            if step.operands and not isinstance(step.operands[0], int):
                # The part that varies comes first.
                numbers, moves = numbers[::-1], moves[::-1]
            pairs = [*zip(numbers, moves, strict=True), (0.0, 0.0)]
            local = Local(
                step, tape.inputs[0], y, tangents[at], *pairs[0], *pairs[1],
                _terms(tape, step, values, tangents),
            )  # fmt: skip
            try:
                with np.errstate(all="ignore"):
                    tangent = complex(wrong[at](local))
            except (ArithmeticError, ValueError):
                return None
            if tangent.imag:
                return None
            tangents[at] = tangent.real
        values[at] = y
    return tangents[len(tape) - 1]


def _terms(
    tape: NumberSteps,
    step: NumberStep,
    values: Mapping[int, float],
    tangents: Mapping[int, float],
) -> list[tuple[float, float]]:
    """Return the value and the tangent of each term of a step's first operand, if that
    is a sum or a difference."""
    first = step.operands[0]
    inner = tape[first] if isinstance(first, int) and first >= 0 else None
    if inner is None or inner.op.base not in ("add", "sub"):
        return []
    terms = [(values[o], tangents[o]) if isinstance(o, int) else (o, 0.0)
             for o in inner.operands]  # fmt: skip
    if inner.op.base == "sub":
        terms[1] = terms[1][0], -terms[1][1]
    return terms


def _right(
    step: NumberStep, y: float, numbers: Sequence[float], moves: Sequence[float]
) -> float:
    if step.exponent is not None or step.parts:
        return slope_of(step, numbers[0]) * moves[0]
    total, raws = 0.0, [np.asarray(n, dtype=np.float64) for n in numbers]
    assert step.op.partials is not None
    for partial, move in zip(step.op.partials, moves, strict=False):
        if move:
            found = (
                partial(NUMPY, np.asarray(y), *raws, **step.params)
                if callable(partial)
                else partial
            )
            total += float(np.asarray(found)) * move
    return total


def _all_slips(tape: NumberSteps) -> Iterator[Slip]:
    """Yield the slips, and those of functions that are taken for each other."""
    yield from SLIPS
    for name in dict.fromkeys(step.name for step in tape):
        for other in CONFUSED if name in CONFUSED else ():
            if other == name:
                continue
            row = OPS[other]
            stand_in = NumberStep(row, (-1,), {}, tape[0].out,
                                  0.5 if other == "sqrt" else None)  # fmt: skip
            text = f"this is the derivative of {other}, not of {name}: {{rule}}"
            if name in ROOTS and other in ROOTS:
                text = "a sign under the root is wrong: {rule}"
            elif (name, other) == ("asin", "atanh"):
                text = "the root is missing: {rule}"
            yield Slip(
                "function", named(name),
                lambda c, s=stand_in: slope_of(s, c.u) * c.du,  # type: ignore[misc]
                text, "write this rule",
            )  # fmt: skip


def _diagnosis(slip: Slip, tape: NumberSteps, at: int, evidence: Evidence) -> Diagnosis:
    """Return the diagnosis, with the program's own parts in its sentence."""
    step = tape[at]

    def part(operand: int | float) -> str:
        if not isinstance(operand, int):
            return f"{operand:g}"
        if operand < 0:
            return evidence.claim.by[0]
        source = tape.texts.get(id(tape[operand].out.edge))
        return shortened(source or tape[operand].op.base, MAX_TEXT)

    words = dict(zip("uv", [*map(part, step.operands), ""], strict=False))
    words |= {"f": part(at), "rule": _rule(step), "du": _inner_slope(tape, step)}
    inside = words["u"] if words["u"].isidentifier() else f"({words['u']})"
    composed = isinstance(step.operands[0], int) and step.operands[0] >= 0
    words |= {"w": inside, "times": f"*{words['du']}" if composed else ""}
    text = slip.text.format(**words).removesuffix(": ")
    return Diagnosis(slip.cause, text, slip.repair.format(**words))


def _rule(step: NumberStep) -> str:
    """Return the derivative of a step's function as textbooks state it, or nothing."""
    if step.name in RULES and len(step.varying) == 1:
        return f"d {step.name}(u)/du = {RULES[step.name]}"
    edge = step.out.edge
    if len(step.operands) > 1 or step.parts or not isinstance(edge, Node):
        return ""
    rule = stated(edge, 0)
    return rule.text if rule else ""


def _inner_slope(tape: NumberSteps, step: NumberStep) -> str:
    """Return the derivative of a step's operand if it is a plain number, else u'."""
    slope, at = 1.0, step.varying[0]
    while at >= 0:
        inner = tape[at]
        if inner.op.base not in LINEAR or inner.varying != [inner.operands[0]]:
            return "u'"
        slope, at = slope * slope_of(inner, 0.0), inner.varying[0]
    return f"{slope:g}" if slope != 1 else "u'"


def undifferentiated(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a claim that is the program itself."""
    values = (np.asarray(sample.target.raw) for sample in evidence.samples)
    claimed = (b for _, b in evidence.sides)
    if not evidence.sides or not alike([*zip(values, claimed, strict=True)]):
        return None
    text = "this is the function itself, which is not differentiated"
    return Diagnosis("function", text, "differentiate it")


def _antiderivative(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of an integral that was given for a derivative."""
    claim = evidence.claim
    if claim.expression is None or len(claim.by) != 1:
        return None
    pairs = []
    for sample in evidence.samples:
        inputs = {n: Tensor(x.raw, NUMPY, True) for n, x in sample.inputs.items()}
        named: dict[str, Any] = dict(sample.named)
        try:
            said, _, _ = evaluate(
                claim.expression,
                {**named, **inputs},
                seed=evidence.task.seed,
            )
            slope = derivative(claim, said, inputs)
        except NO_VALUE:
            return None
        pairs.append((np.asarray(sample.target.raw), slope))
    if not alike(pairs):
        return None
    text = "this is an integral of the program, not its derivative"
    return Diagnosis("integral", text, "differentiate instead")


# slips with vectors and matrices


def missing_scalar(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a factor or divisor, one number of the program, that is
    missing."""
    ratios = []
    for true, claimed in evidence.sides:
        ratio = constant_factor([(true, claimed)])
        if ratio is None:
            return None
        ratios.append(ratio)
    if not ratios or not evidence.samples[0].true.shape:
        return None
    scalars = [_scalars(evidence, sample) for sample in evidence.samples]
    for text in scalars[0]:
        numbers = [known.get(text, 0.0) for known in scalars]
        if not all(numbers) or len({f"{n:.6g}" for n in numbers}) == 1:
            continue
        for power, verb in ((1, "multiply"), (-1, "divide")):
            rest = {r / n**power for r, n in zip(ratios, numbers, strict=True)}
            factor = simple_number(next(iter(rest)))
            if factor is None or not same(
                np.array([*rest]), np.full(len(rest), float(factor))
            ):
                continue
            what = "factor" if power == 1 else "divisor"
            repair = f"{verb} by {text}"
            repair += "" if factor == 1 else f" and multiply by {factor}"
            return Diagnosis("factor", f"the {what} {text} is missing", repair)
    return None


def _scalars(evidence: Evidence, sample: PointEvidence) -> dict[str, float]:
    """Return the single numbers that the program computes on the way, by their
    texts."""
    inputs = {n: Tensor(x.raw, NUMPY, True) for n, x in sample.inputs.items()}
    made: list[Tensor] = []

    def look(op: Op, given: Any, params: Any, raw: Any, out: Any) -> None:
        for each in out if isinstance(out, tuple) else (out,):
            if isinstance(each, Tensor) and each.edge is not None:
                made.extend([each] if each.raw.size == 1 else [])

    with MODE.having(on_call=(*MODE.on_call, look)):
        output, _, _ = evaluate(
            evidence.task.source, inputs, of=evidence.task.of, seed=evidence.task.seed
        )
    sources = _sources(evidence, output)
    named: dict[str, float] = {}
    for each in made:
        node, _ = output_at(each.edge)
        if id(node) in sources:
            named.setdefault(
                sources[id(node)], float(np.asarray(each.raw).reshape(-1)[0])
            )
    return named


def _sources(evidence: Evidence, output: Tensor) -> dict[int, str]:
    """Return the program's text for each node of a graph, by the node's ``id``."""
    view = graph_view(
        output, source=evidence.task.source, name=UNNAMED,
        variables={}, local_gradients=False,
    )  # fmt: skip
    return {node.address: node.source for node in view.nodes if node.source}


def one_hot_target(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a softmax from which the target was not subtracted."""
    if "softmax" not in evidence.task.source and "entropy" not in evidence.task.source:
        return None
    for sign in (1.0, -1.0):
        gaps = [true - sign * claimed for true, claimed in evidence.sides]
        places = [tuple(np.argwhere(abs(gap) > ROUNDING).reshape(-1)) for gap in gaps]
        if not gaps or gaps[0].ndim != 1 or any(len(at) != 1 for at in places):
            continue
        if len(set(places)) == 1 and all_same((gap, gaps[0]) for gap in gaps):
            text = "the derivative is the softmax minus the one-hot target"
            also = "; the sign is wrong, too" if sign < 0 else ""
            number = gaps[0][places[0]]
            if abs(number + 1) > ROUNDING:
                continue
            repair = f"subtract 1 at entry [{places[0][0]}]"
            repair = f"multiply by -1 and {repair}" if sign < 0 else repair
            return Diagnosis("target", f"{text}, which is missing{also}", repair)
    return None


def softmax_diagonal(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of the Jacobian of a softmax without what is off its
    diagonal."""
    source = evidence.task.source.strip()
    if "softmax" not in source:
        return None
    made = assigned_names(parse(source))
    for p in (evidence.claim.output, *made[-1:], source):
        right = f"diag({p}) - outer({p}, {p})"
        if p is not None and evidence.is_right(right):
            rule = "the derivative of p = softmax(z) is diag(p) - outer(p, p)"
            text = f"{rule}: p*(1 - p) is only its diagonal"
            return Diagnosis("diagonal", text, f"write {right}")
    return None


def symmetric_only(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a claim that is right for symmetric matrices only."""
    task = evidence.task
    for given in task.inputs:
        shape = given.shape
        if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
            continue
        pairs = []
        for sample in evidence.samples:
            point = {
                name: x.raw.reshape(-1).tolist() for name, x in sample.inputs.items()
            }
            matrix = sample.inputs[given.name].raw
            point[given.name] = ((matrix + matrix.T) / 2).reshape(-1).tolist()
            evidence.check()
            try:
                turned = sample_at(task, evidence.claim, point)
            except NO_VALUE:
                return None
            pairs.append((turned.true, turned.claimed))
        if alike(pairs):
            name = given.name
            mean = f"(({name} + {name}.T)/2)"
            changed = re.sub(rf"\b{re.escape(name)}\b", mean, evidence.text)
            repair = f"write {mean[1:-1]} for {name}"
            if evidence.is_right(changed):
                text = f"this is right for a symmetric {name} only"
                return Diagnosis("symmetric", text, repair)
    return None
