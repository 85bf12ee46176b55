"""Diagnoses of wrong backwards: hypotheses, each tested at several points together.

Invariant: a mistake is named only if correcting it makes every refuted gradient right
at all points that were tried; simple mistakes are tested first. Where a backward is run
with other saved values, forward and backward are the user's own: only some tensors that
``ctx`` gives back differ, each an input, an output, or its value before a change.

    diagnosed(checked, proof).repair       # "multiply by -1"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial, wraps
from itertools import combinations
from math import prod
from typing import Any, Final

import numpy as np

from ..autograd.function import Function
from ..diagnosis.hypotheses import (
    CLOSE,
    OWN_ENTRY,
    SIGN,
    all_same,
    constant_factor,
    number_text,
    same,
    transpositions,
)
from ..engine.modes import MODE
from ..engine.raw import Host, Raw
from ..engine.tensor import Tensor
from ..verify.process.job import REFUTED
from ..views.claims import Diagnosis
from .checker import Checked
from .forwards import (
    Point,
    Test,
    elsewhere,
    gradient_by,
    here,
    pairs_of,
    small_number,
    step_wrong,
)
from .function_call import Call
from .function_proof import FunctionProof
from .regions import ELSEWHERE, in_a_region
from .script_passes import recording
from .trials import BACKWARD, IN_PLACE, NEEDS, PIECES, UNDEFINED, matrices

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


def diagnosed(checked: Checked, proof: FunctionProof) -> Diagnosis | None:
    """Return the simplest mistake that explains a refuted proof; None if none does or
    the proof is not refuted."""
    if proof.verdict != REFUTED:
        return None
    wrong = {each.name for each in proof.inputs if each.verdict == REFUTED}
    for fault in proof.faults:
        if fault.kind == IN_PLACE or (fault.kind in REPAIRS and not wrong):
            return Diagnosis(fault.kind, fault.text, REPAIRS[fault.kind])
    inner = _inside(checked)
    if inner is not None:
        return inner
    raised = _raised(checked, proof)
    if raised is not None:
        return raised
    if wrong and checked.blocks:
        points = [*here(checked), *elsewhere(checked)]
        if all_same(pairs_of(points, wrong)):
            # It differs by less than the hypotheses tell apart, or it is right for the
            # cotangent 1 of a single number and wrong for others.
            far = any((each.max_error or 0) > CLOSE for each in proof.inputs)
            return _ignored() if far and checked.count == 1 else None
        with np.errstate(all="ignore"):
            for hypothesis in HYPOTHESES:
                found = hypothesis(points, wrong)
                if found is not None:
                    return found
    return None


def _raised(checked: Checked, proof: FunctionProof) -> Diagnosis | None:
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


def _inside(checked: Checked) -> Diagnosis | None:
    """Return the diagnosis of the first custom function called inside this one whose
    own backward is refuted; None if there is none."""
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
            own = Checked(Call(function, arguments, name), checked.plan)
            proof = own.proof()
            if proof.verdict != REFUTED:
                continue
            found = diagnosed(own, proof)
            text = "its gradient is refuted" if found is None else found.text
            repair = f"see {name}.backward" if found is None else found.repair
            cause = "backward" if found is None else found.cause
            return Diagnosis(cause, f"in {name}.backward, {text}", repair)
    return None


def none_given(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a gradient that is None or zero but should not be."""
    for name in sorted(wrong):
        if all(not b.given.any() for p in points for b in p.refuted({name})):
            return Diagnosis(
                "missing", f"backward gives no gradient for {name}: None, or zeros",
                "return one; if it is a constant, hand it over as a number or as a "
                f"tensor that requires no gradient: {name}=0.5",
            )  # fmt: skip
    return None


def cotangent_ignored(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a backward with one gradient for all cotangents."""
    blocks = [b for p in points for b in p.refuted(wrong)]
    if not all(b.given.any() for b in blocks):
        return None
    if any(len(b.given) < 2 or same(b.true[:1], b.true[1:2]) for b in blocks):
        return None
    if all(np.allclose(b.given, b.given[:1], rtol=1e-12, atol=0) for b in blocks):
        return _ignored()
    return None


def _ignored() -> Diagnosis:
    return Diagnosis(
        "cotangent", "backward does not use the cotangent that it is given",
        "multiply what it returns by grad_output",
    )  # fmt: skip


def straight_through(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a gradient where forward's derivative is zero."""
    if any(a.any() for a, _ in pairs_of(points, wrong)):
        return None
    return Diagnosis(
        "straight-through",
        f"forward does not move with {' and '.join(sorted(wrong))}, as what rounds or "
        "compares; backward gives a gradient all the same",
        "if that estimate is meant, there is no derivative to hold it against",
    )


def on_purpose(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of an identity whose backward changes the gradient."""
    if not all(_is_identity(p, wrong) for p in points):
        return None
    (name,) = wrong
    return Diagnosis(
        "identity",
        f"forward hands on {name} as it is, and backward changes the gradient, as what "
        "reverses, scales, clips or stops gradients does",
        "if that is meant, there is no derivative to hold it against; if not, return "
        "the cotangent as it is",
    )


def _is_identity(point: Point, wrong: set[str]) -> bool:
    """Tell whether the only output equals the only input with a wrong gradient."""
    if len(wrong) != 1 or point.call.custom is None:
        return False
    (name,) = wrong
    block = point.blocks[name]
    ys = point.call.outputs(point.call.leaves())
    given = np.asarray(block.slot.given.raw)
    rows, columns = block.true.shape
    return (
        rows == columns
        and all(np.array_equal(np.asarray(y.detach().raw), given) for y in ys)
        and np.array_equal(block.true, np.eye(rows))
    )


def wrong_sign(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    return SIGN.of_backward(pairs_of(points, wrong), gradient_by(wrong))


def constant(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a constant factor, such as a number of entries."""
    factors = []
    for name in sorted(wrong):
        c = constant_factor(pairs_of(points, {name}))
        if c is None:
            return None
        factors.append((name, c))
    name, c = factors[0]
    alike = all(abs(other - c) < 1e-8 * abs(c) for _, other in factors)
    said = gradient_by(wrong) if alike else gradient_by({name})
    point = points[0]
    batch = _batch_of(point, name)
    if batch is not None and abs(c - batch) < 1e-8 * batch:
        return Diagnosis(
            "batch", f"{said} is a mean over the {batch} samples, not their sum",
            "write sum(0) for mean(0)",
        )  # fmt: skip
    text = number_text(c)
    if abs(c) < 1 and number_text(1 / c).lstrip("-").isdigit():
        inverse = number_text(1 / c)
        called = _called(point, name, 1 / c)
        return Diagnosis("factor", f"{said} has the factor {inverse} too much{called}",
                         f"divide it by {inverse}")  # fmt: skip
    known, over = point.call.name_of(c), point.call.name_of(1 / c)
    called = known or (f"1/{over}" if over else "")
    return Diagnosis(
        "factor", f"{said} lacks the factor {text}{called and f', which is {called}'}",
        f"multiply by {called or text}",
    )  # fmt: skip


def _called(point: Point, name: str, number: float) -> str:
    """Return what a number is among the arguments, such as ``, which is delta``."""
    own = point.call.name_of(number)
    if own is not None:
        return f", which is {own}"
    shape = tuple(point.blocks[name].slot.given.shape)
    if number < MIN_SIZE:
        return ""
    if abs(number - prod(shape)) < 1e-8:
        return f", the number of {name}'s entries, as of a mean"
    sizes = [d for d, n in enumerate(shape) if abs(n - number) < 1e-8]
    return f", the size of dimension {sizes[0]} of {name}" if sizes else ""


def _batch_of(point: Point, name: str) -> int | None:
    """Return the outputs' first size, if an input's shape is without it; else None."""
    block = point.blocks[name]
    ys = point.call.outputs(point.call.leaves())
    shapes = {tuple(y.shape) for y in ys}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    own = tuple(block.slot.given.shape)
    lacks = len(own) < len(shape) and shape[len(shape) - len(own) :] == own
    return int(shape[0]) if lacks and shape and shape[0] > 1 else None


def swapped(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of inputs whose gradients are exchanged."""
    for a in sorted(wrong):
        for b in (n for n in points[0].blocks if n != a):
            pairs = [(p.blocks[b].true, p.blocks[a].given) for p in points]
            if all(x.shape == y.shape for x, y in pairs) and all_same(pairs):
                text = f"what is returned for {a} is the gradient by {b}"
                return Diagnosis("swapped", text, f"return them in order: {a}, {b}")
    return None


def output_ignored(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of several outputs of which one cotangent is not used."""
    ys = points[0].call.outputs(points[0].call.leaves())
    sizes = [int(y.numel()) for y in ys if y.edge is not None]
    ends = np.cumsum([0, *sizes])
    for nr in range(len(sizes)) if len(sizes) > 1 else ():
        rows = slice(int(ends[nr]), int(ends[nr + 1]))
        pairs = pairs_of(points, wrong)
        unused = all(not b[rows].any() and a[rows].any() for a, b in pairs)
        others = [(np.delete(a, rows, 0), np.delete(b, rows, 0)) for a, b in pairs]
        if unused and all_same(others):
            return Diagnosis(
                "output", f"backward does not use the cotangent of output {nr}",
                "add what comes through that output as well",
            )  # fmt: skip
    return None


def in_a_region_of_entries(
    points: Sequence[Point], wrong: set[str]
) -> Diagnosis | None:
    """Return the diagnosis of a threshold, for outputs whose entries depend only on the
    input's entry at the same position."""
    pairs = pairs_of(points, wrong)
    return in_a_region(points, wrong) if all(_diagonal(a) for a, _ in pairs) else None


def own_entry_alone(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a gradient that lacks what is off the diagonal."""
    pairs = pairs_of(points, wrong)
    if any(a.shape[0] != a.shape[1] or _diagonal(a) for a, _ in pairs):
        return None
    return OWN_ENTRY.of_backward(pairs, gradient_by(wrong))


def _diagonal(block: Host) -> bool:
    """Tell whether a block is square and zero off its diagonal."""
    square = block.shape[0] == block.shape[1]
    return square and not (block - np.diag(np.diag(block))).any()


def missing_sum(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a sum that lacks parts or has the wrong dimension."""
    pairs = pairs_of(points, wrong)
    by = gradient_by(wrong)
    part = all(
        bool(((b == 0) | np.isclose(a, b, rtol=1e-9, atol=0)).all()) for a, b in pairs
    )
    # The gradient is part of a sum: several output entries use the input entry.
    if part and any(
        (((b == 0) & (a != 0)).any(0) & ((a != 0).sum(0) > 1)).any() for a, b in pairs
    ):
        return Diagnosis(
            "batch", f"{by} has only a part of what is to be added up: an entry that "
            "is used several times gets the cotangent of one use",
            "sum over all uses, as sum(0) over a batch or index_add does",
        )  # fmt: skip
    turned = all(
        a.shape[1] > 1 and same(a.sum(1), b.sum(1)) and not same(a, b) for a, b in pairs
    )
    if turned:
        return Diagnosis(
            "batch", f"{by} is added up over the wrong dimension: every part of it is "
            "right and comes to the wrong entry",
            "sum over the dimension that the input does not have",
        )  # fmt: skip
    return None


def transposed(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a gradient whose dimensions are in another order."""
    for name in sorted(wrong):
        shape = tuple(points[0].blocks[name].slot.given.shape)
        pairs = [
            (a.reshape(-1, *shape), b.reshape(-1, *shape))
            for a, b in pairs_of(points, {name})
        ]
        for hypothesis in transpositions(len(shape), outer=1):
            found = hypothesis.of_backward(pairs, gradient_by({name}))
            if found is not None:
                return found
    return None


def _by_replacing(
    cause: str, points: Sequence[Point], wrong: set[str]
) -> Diagnosis | None:
    """Return the diagnosis of saved values whose replacement corrects all gradients."""
    for function, text, repair in replacements(points[0].call, cause):
        if all(_right_with(function, point, wrong) for point in points):
            return Diagnosis(cause, text, repair)
    return None


def _right_with(function: type[Function], point: Point, wrong: set[str]) -> bool:
    call = point.call.with_function(function)
    try:
        leaves = call.leaves()
        ys = [y for y in call.outputs(leaves) if y.edge is not None]
        found = matrices(ys, [leaves[s.name] for s in call.varied])
    except Exception:
        # A replacement need not have a shape that fits.
        return False
    pairs = zip(point.blocks.values(), found, strict=True)
    return all(same(b.true, g) for b, g in pairs if b.slot.name in wrong)


MAX_TENSORS: Final = 8
"""Largest number of a function's tensors for which replacements are tried."""

Key = int | str
"""Type of a saved tensor's key: its position, or its attribute's name on ``ctx``."""

Picked = Callable[[Any], Any]
"""Type of a function that returns, from a ``ctx``, the tensor to put in a place."""


Replaced = tuple[type[Function], str, str]
"""Type of a function that reads other values, with the text and repair of the
mistake."""


class _View:
    """A ``ctx`` that gives other tensors in some places."""

    def __init__(self, ctx: Any, instead: dict[Key, Picked]) -> None:
        self._ctx, self._instead = ctx, instead

    @property
    def saved_tensors(self) -> tuple[object, ...]:
        return tuple(
            self._instead[k](self._ctx) if k in self._instead else t
            for k, t in enumerate(self._ctx.saved_tensors)
        )

    def __getattr__(self, name: str) -> object:
        if name in self._instead:
            return self._instead[name](self._ctx)
        return getattr(self._ctx, name)


def replacements(call: Call, cause: str) -> Iterator[Replaced]:
    """Yield functions that read other values, each one a mistake of kind ``cause``."""
    made_by = call.custom
    if made_by is None:
        return
    ctx = _context(made_by, call)
    places = _places(ctx)
    if cause == "in-place":
        for key in places:
            if _before(ctx, key) is not None:
                yield (
                    _reading(made_by, {key: lambda c, k=key: _before(c, k)}),  # type: ignore[misc]
                    f"{_named(key)} is changed in place after it was saved",
                    f"write the change as a new tensor, or save {_named(key)}.clone()",
                )
        return
    names = _names(ctx, call)
    if len(places) > MAX_TENSORS or len(names) > MAX_TENSORS:
        return
    if cause == "swapped":
        for a, b in combinations(places, 2):
            instead: dict[Key, Picked] = {
                a: lambda c, k=b: _value(c, k),  # type: ignore[misc]
                b: lambda c, k=a: _value(c, k),  # type: ignore[misc]
            }
            text = f"{_named(a)} and {_named(b)} are taken for one another in backward"
            yield _reading(made_by, instead), text, "exchange them there"
        return
    if cause == "transpose":
        for key in places:
            shape = tuple(_value(ctx, key).shape)
            if len(shape) > 1 and shape[-1] == shape[-2]:
                yield (
                    _reading(made_by, {key: lambda c, k=key: _value(c, k).mT}),  # type: ignore[misc]
                    f"{_named(key)}{_saved_as(ctx, names, key)} is taken for its "
                    "transpose in backward",
                    f"write {_named(key)}.mT there, or leave a transposition out",
                )
            for count in range(1, min(len(shape), 2) + 1):
                dims = tuple(range(-count, 0))
                turned = lambda c, k=key, d=dims: _value(c, k).flip(d)
                yield (
                    _reading(made_by, {key: turned}),
                    f"{_named(key)}{_saved_as(ctx, names, key)} is taken in the wrong "
                    "order in backward: turned round along its last "
                    f"{'dimension' if count == 1 else 'two dimensions'}, or not",
                    f"write {_named(key)}.flip({', '.join(map(str, dims))}) there, or "
                    "leave a flip out",
                )
        return
    for key in places:
        held = _value(ctx, key)
        for name, pick in names.items():
            there = pick(ctx)
            if there.shape == held.shape and there is not held:
                yield (
                    _reading(made_by, {key: pick}),
                    f"backward takes {_named(key)} for {name}, but another tensor was "
                    "saved",
                    f"save {name} there",
                )


def _reading(made_by: type[Function], instead: dict[Key, Picked]) -> type[Function]:
    """Return the function with a backward that reads other tensors in some places."""

    def backward(ctx: object, *cotangents: object) -> object:
        own: Callable[..., object] = made_by.backward
        if own is Function.backward:
            own = made_by.vjp
        return own(_View(ctx, instead), *cotangents)

    return _watched(made_by, backward)


def _watched(
    made_by: type[Function], backward: Callable[..., object]
) -> type[Function]:
    """Return the function with a ctx that keeps its inputs, its outputs, and the values
    that changed tensors had before the change."""

    def noted(ctx: object, args: Sequence[object], run: Callable[[], object]) -> object:
        had: dict[int, object] = {}
        ctx.__dict__["_had"] = had
        outer = MODE.before_change

        def look(raw: Raw) -> None:
            had.setdefault(id(raw), raw.copy())

        MODE.before_change = look
        try:
            output = run()
        finally:
            MODE.before_change = outer
        parts = output if isinstance(output, tuple) else (output,)
        ctx.__dict__["_given"] = [
            x.detach() if isinstance(x, Tensor) else x for x in args
        ]
        ctx.__dict__["_made"] = [y.detach() for y in parts if isinstance(y, Tensor)]
        return output

    if made_by.setup_context is not Function.setup_context:

        def setup_context(
            ctx: object, inputs: tuple[object, ...], output: object
        ) -> None:
            noted(ctx, inputs, lambda: output)
            made_by.setup_context(ctx, inputs, output)

        given: dict[str, object] = {"setup_context": staticmethod(setup_context)}
    else:

        @wraps(made_by.forward)
        def forward(ctx: object, *args: object) -> object:
            return noted(ctx, args, lambda: made_by.forward(ctx, *args))

        given = {"forward": staticmethod(forward)}
    body = {**given, "backward": staticmethod(backward), "vjp": Function.vjp}
    return type(made_by.__name__, (made_by,), body)


def _context(made_by: type[Function], call: Call) -> Any:
    """Return the ``ctx`` of one run of the function."""
    found = []

    def backward(ctx: object, *cotangents: object) -> object:
        raise NotImplementedError

    watching = _watched(made_by, backward)
    outputs = call.with_function(watching).outputs(call.leaves())
    for y in outputs:
        if y.grad_fn is not None:
            found.append(y.grad_fn.ctx)
    return found[0]


def _places(ctx: Any) -> list[Key]:
    saved: list[Key] = [
        k for k, t in enumerate(ctx.saved_tensors) if isinstance(t, Tensor)
    ]
    return saved + [
        name
        for name, t in vars(ctx).items()
        if isinstance(t, Tensor) and not name.startswith("_")
    ]


def _value(ctx: Any, key: Key) -> Any:
    return ctx.saved_tensors[key] if isinstance(key, int) else getattr(ctx, key)


def _before(ctx: Any, key: Key) -> Tensor | None:
    """Return a saved tensor's value before it was first changed in place; None if it
    never was changed."""
    t = _value(ctx, key)
    raw = ctx._had.get(id(t.raw))
    return None if raw is None else Tensor(raw, t.xp)


def _names(ctx: Any, call: Call) -> dict[str, Picked]:
    """Return functions that pick an input or output from a ctx, by their names."""
    found: dict[str, Picked] = {}
    by_key = {slot.key: slot.name for slot in call.slots}
    for k, x in enumerate(ctx._given):
        if isinstance(x, Tensor) and k in by_key:
            found[f"the input {by_key[k]}"] = lambda c, k=k: c._given[k]  # type: ignore[misc]
    for k in range(len(ctx._made)):
        name = "the output" if len(ctx._made) == 1 else f"output {k}"
        found[name] = lambda c, k=k: c._made[k]  # type: ignore[misc]
    return found


def _saved_as(ctx: Any, names: dict[str, Picked], key: Key) -> str:
    """Return which tensor was saved in a place, such as ``, the input w,``, if any."""
    held = _value(ctx, key)
    for name, pick in names.items():
        there = pick(ctx)
        if there.shape == held.shape and np.array_equal(there.raw, held.raw):
            return f", {name},"
    return ""


def _named(key: Key) -> str:
    return f"ctx.saved_tensors[{key}]" if isinstance(key, int) else f"ctx.{key}"


HYPOTHESES: tuple[Test, ...] = (
    partial(_by_replacing, IN_PLACE),
    straight_through,
    on_purpose,
    none_given,
    cotangent_ignored,
    wrong_sign,
    constant,
    swapped,
    transposed,
    output_ignored,
    in_a_region_of_entries,
    own_entry_alone,
    partial(_by_replacing, "transpose"),
    missing_sum,
    partial(_by_replacing, "swapped"),
    partial(_by_replacing, "saved"),
    step_wrong,
    small_number,
    in_a_region,
)
