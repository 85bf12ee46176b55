"""Where gradcli differs from PyTorch on purpose.

Invariant: every entry says why, and applies as narrowly as it can be told; one that
never fires in a long run is to be taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.random import slopes
from tests.random.calling import CALLED
from tests.random.compare import Difference, difference, inside, near, saving_copies
from tests.random.noise import RUNS, Moved
from tests.random.ours import OURS
from tests.random.outcome import ORDERS, Outcome, Side, outcome
from tests.random.program import Block, Line, Program
from tests.random.rewritten import (
    REWRITTEN,
    AsItIs,
    InOtherWords,
    LaidOutAsHere,
    LostShapes,
    OneByOne,
    OperandsCopied,
    PowerOfTensors,
    TruthAsNumbers,
    WrittenOver,
    plain_name,
    under,
)


@dataclass(frozen=True, slots=True)
class Departure:
    """A kind of difference that is meant."""

    name: str
    why: str
    applies: Applies


Applies = Callable[[Program, Difference], bool]


def refuses(words: str, stage: str = "") -> Applies:
    """PyTorch alone refuses, in these words."""
    pattern = re.compile(words)
    return lambda program, d: (
        d.what.startswith("PyTorch alone refuses")
        and d.what.endswith(stage)
        and pattern.search(d.theirs) is not None
    )


def moved(program: Program, by: float = 1e-3) -> Program:
    """The program at a point close by, where no two numbers are equal."""
    rng = np.random.default_rng(0)
    inputs = {}
    for name, value in program.inputs.items():
        array = np.array(value, dtype=float)
        step = by * rng.uniform(0.5, 1.5, array.shape)
        near = np.where(np.isfinite(array), array, np.sign(array) * 10)
        inputs[name] = (near + step * (1 + np.abs(near))).tolist()
    return replace(program, inputs=inputs)


def tamed(program: Program) -> Program:
    """The program with every number one whose square is neither 0 nor infinite."""
    inputs = {}
    for name, value in program.inputs.items():
        array = np.array(value, dtype=float)
        size = np.abs(array)
        with np.errstate(all="ignore"):
            huge, tiny = np.sign(array) * 1e3, np.sign(array) * 1e-3
        # Apart from one another, so that no ties are made.
        spread = 1 + np.arange(array.size).reshape(array.shape) / 16
        array = np.where((size > 1e4) & np.isfinite(array), huge * spread, array)
        array = np.where((size < 1e-4) & (array != 0), tiny * spread, array)
        inputs[name] = array.tolist()
    return replace(program, inputs=inputs, statements=typed_finite(program))


NUMBERS = ("value", "gradient", "Jacobian", "second derivative")


SAID = under(
    under(under(CALLED, lambda: InOtherWords(())), TruthAsNumbers), OperandsCopied
)
"""PyTorch, called in its own form, with the derivatives that it has not written, truth
values taken from one another, and operands in the memory that is changed."""


def same_under(program: Program, mode: Any) -> bool:
    """Whether nothing differs, the graph aside, where PyTorch runs in a mode, as far as
    it has derivatives; beside an infinite first one, whether nothing does close by."""
    side = under(SAID, mode)
    found = difference(program, side, graph=False)
    return (
        found is None
        or refuses(UNWRITTEN)(program, found)
        or (refuses(BROKEN)(program, found) and not found.what.endswith("value"))
        or at_a_bend(program, found, side)
        or (
            found.after_infinity
            and (
                difference(moved(program), side, graph=False) is None
                or of_no_number(program, side)
            )
        )
    )


def at_a_bend(program: Program, d: Difference, side: Side) -> bool:
    """Whether a second derivative of entries between those of a picture differs, and
    none does where no place is that of an entry."""
    sampled = d.what == "second derivative" and "grid_sampl" in program.text
    return sampled and difference(moved(program), side, graph=False) is None


def called(program: Program) -> tuple[str, ...]:
    """The functions of a program that have other words."""
    words = set(map(plain_name, re.findall(r"\w+", program.text)))
    if "**" in program.text:
        words |= {"pow", "__rpow__", "pow_"}
    return tuple(name for name in REWRITTEN if name in words)


def in_other_words(reason: str) -> Applies:
    """No number differs once PyTorch's functions are rewritten, those of one reason
    or, where that is not enough, all that have other words."""

    def applies(program: Program, d: Difference) -> bool:
        names = called(program)
        mine = tuple(n for n in names if REWRITTEN[n][0] == reason)
        mine_too = (*NUMBERS, "slope", "shape")
        if d.what not in mine_too and not d.what.startswith("PyTorch alone"):
            return False
        rest = tuple(n for n in names if n not in mine)
        return bool(mine) and (
            same_under(program, lambda: InOtherWords(mine))
            or (
                bool(rest)
                and same_under(program, lambda: InOtherWords(names))
                and not same_under(program, lambda: InOtherWords(rest))
            )
            or (d.after_infinity and entry_by_entry(program, mine))
        )

    return applies


def entry_by_entry(program: Program, names: tuple[str, ...]) -> bool:
    """Whether each second derivative is PyTorch's, as it is or in other words."""
    sides = OURS, SAID, under(SAID, lambda: InOtherWords(names))
    with saving_copies():
        found = [outcome(side, program).seconds for side in sides]
    if len({len(parts) for parts in found}) > 1:
        return False
    for parts in zip(*found, strict=True):
        like = next((p for p in parts if p is not None), np.zeros(()))
        a, b, c = (np.zeros_like(like) if p is None else p for p in parts)
        if not a.shape == b.shape == c.shape or not (near(a, b) | near(a, c)).all():
            return False
    return True


def in_a_mode(mode: Any) -> Applies:
    """No number differs once PyTorch computes the same another way."""
    return lambda program, d: d.what in NUMBERS and same_under(program, mode)


def beyond_range(program: Program, d: Difference) -> bool:
    """No number differs where none is so large or small that its square leaves the
    range; infinities stay. What is branched upon is such a number."""
    again = tamed(program)
    if d.what == "graph" and any(isinstance(s, Block) for s in program.statements):
        return repr(again) != repr(program) and the_rest(again, d, True)
    if d.what not in (*NUMBERS, "slope"):
        return False
    small = "matrix_exp" in program.text and alike(calm(program))
    return small or (repr(again) != repr(program) and alike(again))


def alike(program: Program) -> bool:
    """Whether nothing differs, in other words if need be, as far as PyTorch goes."""
    return same_under(program, lambda: InOtherWords(called(program)))


UNWRITTEN = "derivative for \\S+ is not implemented|not differentiable"

BROKEN = (
    "returned an invalid gradient|undefined Tensor|unspecified dimension size|"
    "must match the size of tensor b .* at non-singleton dimension|"
    "ZeroTensors are immutable|non-empty? size for non-batch dimensions"
    "|non-zero size for non-batch dimensions, but grad_output"
    "|TensorAccessor expected|INTERNAL ASSERT FAILED"
    "|pixel_shuffle expects its input's 'channel' dimension to be divisible"
)
"""What PyTorch's own rules say where they fail."""


def at_infinity(program: Program, d: Difference) -> bool:
    """No number differs where the inputs are finite, and as tame."""
    again = tamed(finite(program))
    if d.what not in NUMBERS:
        return False
    if repr(finite(program)) != repr(program) and alike(again):
        return True
    if "nan" not in d.ours + d.theirs or not meets_none(program):
        return False
    positive = replace(program, inputs=away(program), statements=typed_finite(program))
    return alike(positive) or alike(moved(again))


def meets_none(program: Program) -> bool:
    """Whether the value or a first derivative is no finite number here."""
    found = outcome(OURS, program, 1)
    if found.refusal is not None:
        return False
    parts = [found.value, *[g for g in found.gradients if g is not None]]
    return not all(np.isfinite(np.asarray(part, float)).all() for part in parts)


def finite(program: Program) -> Program:
    """The program with numbers in place of infinities and NaN, and of those typed."""
    inputs = {}
    for name, value in program.inputs.items():
        array = np.array(value, dtype=float)
        spread = 2 + np.arange(array.size).reshape(array.shape) / 16
        inputs[name] = np.where(np.isfinite(array), array, spread).tolist()
    return replace(program, inputs=inputs, statements=typed_finite(program))


HUGE = (
    r"((?:[-+*/%]|\*\*|//)=? ?\(?)(?:inf|1e200)\b|\b(?:inf|1e200)(?= [-+*/%])"
    r"|(/=? ?\(?)-?0(?:\.0)?(?![\d.])"
)
"""An infinity that is typed beside an operator, what soon is one, or a division that
gives one."""


def written_finite(found: re.Match[str]) -> str:
    return f"{found[1] or found[2] or ''}2.5"


def typed_finite(program: Program) -> tuple[Any, ...]:
    """The statements with numbers in place of infinities among their operands."""

    def tame(line: Line) -> Line:
        return replace(line, text=re.sub(HUGE, written_finite, line.text))

    return tuple(
        tame(s)
        if isinstance(s, Line)
        else replace(
            s, body=tuple(map(tame, s.body)), otherwise=tuple(map(tame, s.otherwise))
        )
        for s in program.statements
    )


def masked(program: Program, d: Difference) -> bool:
    """Where PyTorch has NaN here is a number, and none differs a little beside."""
    if d.what not in NUMBERS[1:] or "nan" in d.ours or "nan" not in d.theirs:
        return False
    return difference(moved(program), SAID, False) is None


def after_infinity(program: Program, d: Difference) -> bool:
    """Beside an infinite first derivative: no number differs a little beside, or each
    that does is the derivative of one that is no number."""
    return d.after_infinity and (
        difference(moved(program), SAID, False) is None or of_no_number(program, SAID)
    )


WHOLE = 100
"""Of a Hessian with so many rows each is looked at, where one entry decides."""


def of_no_number(program: Program, side: Side) -> bool:
    """Whether all second derivatives that differ are those of first ones that are no
    numbers in either library."""
    with saving_copies():
        ours, theirs = (outcome(each, program, rows=WHOLE) for each in (OURS, side))
    squares = square(program, ours), square(program, theirs)
    if squares[0] is None or squares[1] is None:
        return False
    if not len(ours.gradients) == len(theirs.gradients) == len(program.inputs):
        return False
    none = ~(np.isfinite(line(program, ours)) | np.isfinite(line(program, theirs)))
    a, b = squares
    if a.shape != b.shape or a.shape != none.shape * 2:
        return False
    far = ~np.isclose(a, b, 1e-6, 1e-6, equal_nan=True)
    return bool((none[:, None] | none)[far].all())


def line(program: Program, found: Outcome) -> Any:
    """The whole gradient in one line."""
    shapes = [np.shape(value) for value in program.inputs.values()]
    pairs = zip(found.gradients, shapes, strict=True)
    parts = [np.zeros(shape) if g is None else g for g, shape in pairs]
    return np.concatenate([np.reshape(part, -1) for part in parts])


def calm(program: Program) -> Program:
    """The program at inputs close to 0."""
    again = finite(program)
    largest = max(np.abs(np.array(v)).max(initial=1.0) for v in again.inputs.values())
    inputs = {
        name: (np.array(value) / largest / 4).tolist()
        for name, value in again.inputs.items()
    }
    return replace(again, inputs=inputs)


def by_its_slopes(program: Program, d: Difference) -> bool:
    """PyTorch's gradient is not the slope of its own values, and gradcli's is; at
    numbers whose squares are in the range, and close to 0 where the value is NaN."""
    if d.what != "gradient" or not slopes.applies(program):
        return False
    if np.isnan(outcome(CALLED, program, 0).value).any():
        program = calm(program)
    program = tamed(program)
    program = replace(program, dtype="float64")
    ours, theirs = outcome(OURS, program, 1), outcome(CALLED, program, 1)
    seen = False
    if not len(ours.gradients) == len(theirs.gradients) == len(program.inputs):
        return False
    found = slopes.slopes(program, CALLED)
    pairs = zip(ours.gradients, theirs.gradients, found, strict=True)
    for a, b, slope in pairs:
        mine = np.zeros_like(slope) if a is None else a
        other = np.zeros_like(slope) if b is None else b
        far = ~np.isclose(mine, other, 1e-6, 1e-6, equal_nan=True)
        if not np.isclose(mine[far], slope[far], 1e-3, 1e-3).all():
            return False
        seen |= bool(far.any())
    return seen


def in_either_order(program: Program, d: Difference) -> bool:
    """Each second derivative is what rounding may make of PyTorch's in one order or in
    the other."""
    if d.what != "second derivative":
        return False
    ours, drawn = hessian(OURS, program), [hessian(SAID, program)]
    for seed in range(2 * RUNS):
        with Moved(seed, ties=seed < RUNS):
            drawn.append(hessian(SAID, program))
    whole = [h for h in drawn if h is not None]
    if ours is None or any(h.shape != ours.shape for h in whole) or not whole:
        return False
    both = np.array([*whole, *[h.T for h in whole]])
    return bool(inside(both, ours).all())


def hessian(side: Side, program: Program) -> Any:
    return square(program, outcome(side, program, rows=WHOLE))


def square(program: Program, found: Outcome) -> Any:
    """All second derivatives as one square matrix, if they are known."""
    sizes = [int(np.prod(np.shape(v))) for v in program.inputs.values()]
    if found.refusal is None and all(h is None for h in found.seconds):
        return np.zeros((sum(sizes), sum(sizes)))
    if len(found.seconds) != len(sizes):
        return None
    if any(
        h is not None and h.ndim and h.size != len(h) * n
        for h, n in zip(found.seconds, sizes, strict=True)
    ):
        return None
    blocks = [
        np.zeros((0, n)) if h is None or not h.ndim else h.reshape(len(h), n)
        for h, n in zip(found.seconds, sizes, strict=True)
    ]
    rows = max(len(b) for b in blocks)
    if rows != sum(sizes):
        return None
    return np.hstack([b if len(b) else np.zeros((rows, b.shape[1])) for b in blocks])


def put_right(words: str, stage: str = "", graph: bool = True) -> Applies:
    """PyTorch refuses in these words; it does not where it is called in its own form,
    saves what is overwritten and has all derivatives, and then nothing differs but
    what another entry explains.

    Args:
        graph: whether the graphs are compared then.
    """
    refused = refuses(words, stage)
    return lambda program, d: (
        (refused(program, d) or (d.what == "slope" and stage != "value"))
        and the_rest(program, d, graph)
    )


def the_rest(program: Program, d: Difference, graph: bool) -> bool:
    """Whether another entry explains what else differs, if anything does."""
    found = difference(program, SAID, graph)
    return found is None or (
        (found.what, found.theirs) != (d.what, d.theirs)
        and departure(program, found) is not None
    )


def in_the_graph(ours: str, theirs: str) -> Applies:
    """The graphs differ, in which these words are; they end at the same leaves, and
    the numbers are the same."""
    return lambda program, d: (
        d.what == "graph"
        and re.search(ours, d.ours) is not None
        and re.search(theirs, d.theirs) is not None
        and leaves(d.ours) == leaves(d.theirs)
        and the_rest(program, d, False)
    )


def leaves(graph: str) -> set[str]:
    return set(re.findall(r"AccumulateGrad\[\w+\]", graph))


def no_node(program: Program, d: Difference) -> bool:
    """The graphs are the same where PyTorch has derivatives of `//` and `%`, or differ
    in the edges alone that lead nowhere from a node without a derivative."""
    if d.what != "graph" or "NotImplemented" not in d.theirs:
        return False
    alike = without_empty_edges(d.ours) == without_empty_edges(d.theirs)
    return the_rest(program, d, True) or (alike and the_rest(program, d, False))


def without_empty_edges(graph: str) -> str:
    return re.sub(
        r"NotImplemented\(([^)]*)\)",
        lambda node: f"NotImplemented({re.sub('None, |, None', '', node[1])})",
        graph,
    )


def at_exponent_zero(program: Program, d: Difference) -> bool:
    """A second derivative of a power at the exponent 0, and none close by."""
    power = "**" in program.text or re.search(r"\bpow\b", program.text) is not None
    zeros = any((np.array(v, dtype=float) == 0).any() for v in program.inputs.values())
    found = d.what == "second derivative" and power and zeros
    return found and difference(moved(program), SAID, False) is None


def spread_further(program: Program, d: Difference) -> bool:
    """NaN of an entry spreads through the factors of a matrix: both have some, and
    the entries that are numbers in both are the same."""
    factored = re.search(r"cholesky|inverse|solve|qr", program.text) is not None
    if not factored or not (d.what in ("value", "gradient") or d.after_infinity):
        return False
    with saving_copies():
        found = [outcome(side, program, ORDERS[d.what]) for side in (OURS, SAID)]
    parts = [[each.value, *each.gradients, *each.seconds] for each in found]
    if len(parts[0]) != len(parts[1]):
        return False
    pairs = [
        (np.asarray(a), np.asarray(b))
        for a, b in zip(*parts, strict=True)
        if a is not None and b is not None
    ]
    spread = any(np.isnan(a).any() and np.isnan(b).any() for a, b in pairs)
    return spread and all(
        np.allclose(a[here], b[here], 1e-3, 1e-3)
        for a, b in pairs
        for here in [~(np.isnan(a) | np.isnan(b))]
    )


def no_singular_vectors(program: Program, d: Difference) -> bool:
    """A derivative of singular values differs, and none close by, where all of the
    matrix's are apart from 0; of single floats, none of doubles."""
    used = re.search(r"svd|nuc|matrix_norm|cond", program.text) is not None
    if not used or d.what not in ("gradient", "Jacobian", "second derivative"):
        return False
    wide = replace(program, dtype="float64")
    return difference(moved(program), SAID, False) is None or (
        wide != program and difference(wide, SAID, False) is None
    )


def dropped_in_pytorch(program: Program, d: Difference) -> bool:
    """A function that cuts the graph in PyTorch; of its values nothing is excused."""
    return bool(re.search("_polynomial_|bessel|airy", program.text)) and (
        d.what != "value"
    )


def polynomial_of_nan(program: Program, d: Difference) -> bool:
    """The value is NaN here alone, and none differs where no number is NaN."""
    used = "_polynomial_" in program.text and d.what == "value" and "nan" in d.ours
    return used and same_under(replace(program, inputs=away(program)), AsItIs)


def away(program: Program) -> dict[str, Any]:
    """Inputs that are positive numbers, of which no function here is NaN."""
    return {
        name: (1 + np.abs(np.nan_to_num(np.array(value, dtype=float)))).tolist()
        for name, value in finite(program).inputs.items()
    }


def product_of_nothing(program: Program, d: Difference) -> bool:
    """The graphs differ below views of a product without terms, whose shape PyTorch
    loses; no number differs once it keeps it."""
    if d.what != "graph" or "AddmvBackward0" not in d.theirs:
        return False
    mode = LostShapes()
    outcome(under(SAID, lambda: mode), program, 0)
    return mode.lost and the_rest(program, d, False)


def is_singular(found: Outcome) -> bool:
    """Whether a determinant's logarithm or an inverse is infinite but for rounding, or
    a gradient is NaN."""
    return not bool((np.abs(found.value) < LARGEST_INVERSE).all()) or any(
        g is not None and np.isnan(g).any() for g in found.gradients
    )


def without_inverse(program: Program, d: Difference) -> bool:
    """Whether an inverse is infinite or NaN in PyTorch, and but for rounding here."""
    used = re.search(r"inv\(", program.text) is not None
    return (
        used
        and d.what in NUMBERS
        and ("nan" in d.theirs or "inf" in d.theirs)
        and is_singular(outcome(OURS, program, 1))
    )


LARGEST_INVERSE = 1e12
"""Of matrices whose entries are numbers as people write them."""


def written_over(program: Program) -> bool:
    """Whether PyTorch changes a tensor in which one place of memory is two entries."""
    mode = WrittenOver()
    outcome(under(SAID, lambda: mode), program, 0)
    return mode.found


DEPARTURES = (
    Departure(
        "in place",
        "the language computes with what an operand held; PyTorch refuses the pass",
        put_right("modified by an inplace operation"),
    ),
    Departure(
        "one place of memory",
        "a change reads what its operands held; PyTorch refuses those that lie partly "
        "in the memory that it changes",
        put_right("refer to a single memory location", "value", graph=False),
    ),
    Departure(
        "written over itself",
        "a change of entries that share memory: PyTorch says that its own may be off; "
        "here the last one counts",
        lambda program, d: d.what in NUMBERS and written_over(program),
    ),
    Departure(
        "no derivative",
        "PyTorch has no derivative of `//`, and of `%` of a number; here it is that of "
        "the values",
        put_right("derivative for \\S+(floor_divide|remainder)", "t"),
    ),
    Departure(
        "derivative not written",
        "PyTorch has not written this derivative; the slope of its values is compared",
        refuses(UNWRITTEN, "t"),
    ),
    Departure(
        "no second derivative",
        "PyTorch has not written this second derivative",
        refuses(UNWRITTEN, "e"),
    ),
    Departure(
        "no node",
        "PyTorch has no derivative of `//`, and of `%` of a number; here there is one",
        no_node,
    ),
    Departure(
        "exponent 0",
        "both mixed second derivatives of a**b at b = 0 are 1/a; PyTorch has 0 for one",
        at_exponent_zero,
    ),
    Departure(
        "ways to call",
        "the language reads numbers, lists and parameters in more ways",
        put_right(
            "^TypeError|^AttributeError: '(tuple|torch.return_types)|"
            "^IndexError: (tensors used as|Dimension out of)|condition to be a "
            "boolean|BoolTensor|boolean masks|dtype int32 or int64 for index|"
            "bincount_cpu|^RuntimeError: a leaf Variable that requires grad is b",
            "value",
        ),
    ),
    Departure(
        "dimension left out",
        "along which dimension entries add up to 1 is said; where it is not, PyTorch "
        "picks one, and warns that this will end",
        lambda program, d: (
            d.what == "gradcli alone refuses the value"
            and re.search(r"(log_softmax|softmax|softmin) needs dim$", d.ours)
            is not None
        ),
    ),
    Departure(
        "tensors among numbers",
        "a factor may be a tensor, and numbers a tensor's operand, where PyTorch takes "
        "none",
        refuses(
            "rsub\\(\\) received an invalid|position 1\\) must be Tensor, not tuple"
            "|'tuple' object has no attribute",
            "value",
        ),
    ),
    Departure(
        "kron of a transpose",
        "kron copies what lies in memory in another order; PyTorch refuses it",
        lambda program, d: (
            "kron" in program.text
            and refuses("view size is not compatible with", "value")(
                program, difference(program, SAID, False) or d
            )
        ),
    ),
    Departure(
        "whole numbers",
        "numbers that are typed are floats; PyTorch has whole ones as well, of which "
        "there is no mean",
        lambda program, d: (
            (d.what == "dtype" and d.theirs == "int64")
            or refuses("floating point or complex dtype. Got: Long", "value")(
                program, d
            )
        ),
    ),
    Departure(
        "whole targets",
        "targets that are typed are floats, which are probabilities where their shape "
        "is the input's; PyTorch's are whole, and refused there",
        refuses("floating point type for target with class probabilities", "value"),
    ),
    Departure(
        "truth values",
        "truth values are the numbers 0 and 1 in every sum, and as exponents; PyTorch "
        "refuses `-`, in the rule of a power too",
        put_right("with (a|two) bool tensor", graph=False),
    ),
    Departure(
        "broken rule",
        "a rule of PyTorch's fails, or gives a gradient of another size",
        refuses(BROKEN),
    ),
    Departure(
        "einsum",
        "einsum is one node; PyTorch writes it as products of matrices",
        in_the_graph("EinsumBackward0", ""),
    ),
    Departure(
        "numbers of outputs",
        "linalg.lu has three outputs; PyTorch counts those that have a derivative",
        in_the_graph("LinalgLuBackward0", "LinalgLuBackward0"),
    ),
    Departure(
        "view read anew",
        "PyTorch reads a view anew once its base is written to, through detach() too",
        in_the_graph("", "AsStridedBackward0"),
    ),
    Departure(
        "order in memory",
        "an elementwise result lies in memory as NumPy's; where a dimension of size 1 "
        "is broadcast PyTorch's lies otherwise, and is copied where this is viewed",
        lambda program, d: (
            d.what == "graph"
            and difference(program, under(SAID, LaidOutAsHere)) is None
        ),
    ),
    Departure(
        "product of nothing in the graph",
        "added to a number it is of the product's shape, and so are views of it",
        product_of_nothing,
    ),
    Departure(
        "after an infinity",
        "where a first derivative is infinite or NaN, a second has none to agree on",
        after_infinity,
    ),
    Departure(
        "ties",
        "at a bound of clamp 0, at a tie of fmax a half: as PyTorch 2.15",
        in_other_words("ties"),
    ),
    Departure(
        "prelu at 0",
        "PyTorch's second rule takes 1 for the slope at 0, its first the weight",
        in_other_words("prelu at 0"),
    ),
    Departure(
        "trigamma",
        "PyTorch's series for it has nine correct digits, and no poles",
        in_other_words("trigamma"),
    ),
    Departure(
        "norm of 0",
        "second derivatives of a norm are 0 where it is 0, in both; where PyTorch has "
        "none of another function, slopes are compared, which are not 0",
        lambda program, d: (
            d.what == "slope"
            and re.search(r"norm\(|dist\(", program.text) is not None
            and getattr(difference(moved(program)), "what", "") != "slope"
        ),
    ),
    Departure(
        "few digits",
        "PyTorch's Bessel functions and its Airy function have six digits where they "
        "swing",
        in_other_words("few digits"),
    ),
    Departure(
        "sinc at 0",
        "the second derivative is -pi**2/3; PyTorch has NaN, and few digits close by",
        in_other_words("sinc at 0"),
    ),
    Departure(
        "products",
        "a product's derivative is that of the other factors; PyTorch divides by the "
        "entry, which NaN and infinities do not survive",
        in_other_words("products"),
    ),
    Departure(
        "cross entropy of probabilities",
        "PyTorch adds 1e-12 to the second derivative's denominator, and derives its "
        "target's logarithms beyond -100",
        in_other_words("cross entropy of probabilities"),
    ),
    Departure(
        "tails",
        "far out a number is small and has its digits; PyTorch has few of them",
        in_other_words("tails"),
    ),
    Departure(
        "repeated places",
        "what index_put overwrites gets no gradient; PyTorch gives it to every copy",
        in_other_words("repeated places"),
    ),
    Departure(
        "symmetric part",
        "the pseudoinverse of a symmetric matrix has a symmetric gradient; PyTorch "
        "gives that of any matrix",
        in_other_words("symmetric part"),
    ),
    Departure(
        "triangle not read",
        "the triangle of a factor that is not read gets no gradient; PyTorch's does",
        in_other_words("triangle not read"),
    ),
    Departure(
        "signs of vectors",
        "eigenvectors and singular vectors have any sign: that of the LAPACK at hand",
        in_other_words("signs of vectors"),
    ),
    Departure(
        "determinant of a singular matrix",
        "its derivatives of every order are numbers; PyTorch's second are NaN",
        in_other_words("determinant of a singular matrix"),
    ),
    Departure(
        "factor of an indefinite matrix",
        "it is NaN; PyTorch leaves what elimination wrote until then",
        in_other_words("factor of an indefinite matrix"),
    ),
    Departure(
        "NaN in a factor",
        "a general solver spreads NaN to entries that a triangular one leaves",
        spread_further,
    ),
    Departure(
        "reciprocal of a pivot",
        "elimination multiplies by it, and leaves a rounding of what would cancel",
        in_other_words("reciprocal of a pivot"),
    ),
    Departure(
        "outside the domain",
        "acosh has no derivative below 1; PyTorch gives that of the formula",
        in_other_words("outside the domain"),
    ),
    Departure(
        "mean beside a variance",
        "the mean of an infinity is infinite, PyTorch's running mean NaN; without any "
        "degrees of freedom a gradient keeps its sign",
        in_other_words("mean beside a variance"),
    ),
    Departure(
        "equal entries",
        "their variance is 0 to the last digit; PyTorch's running mean may be off",
        in_other_words("equal entries"),
    ),
    Departure(
        "extremum",
        "an entry that does not attain amax gets 0; PyTorch multiplies NaN by 0",
        in_other_words("extremum"),
    ),
    Departure(
        "distance of infinities",
        "the difference of two infinities is NaN; PyTorch's cdist takes it for 0; the "
        "derivatives of a distance of 0 are 0",
        in_other_words("distance of infinities"),
    ),
    Departure(
        "product of nothing",
        "added to a number it is of the product's shape; PyTorch gives one number",
        in_other_words("product of nothing"),
    ),
    Departure(
        "overflow on the way",
        "the derivatives of a logarithm of a sum of powers lie between 0 "
        "and 1; PyTorch's pass infinities on the way, and its slope of i1 at NaN is a "
        "half",
        in_other_words("overflow on the way"),
    ),
    Departure(
        "bends of a cubic",
        "at the place of an entry the second derivative is that of the places behind; "
        "PyTorch's may be that of those before",
        lambda program, d: at_a_bend(program, d, SAID),
    ),
    Departure(
        "places at infinity",
        "a place at infinity lies outside, where entries are 0; PyTorch's cubic "
        "weights are NaN there",
        lambda program, d: (
            d.what in NUMBERS
            and "grid_sampl" in program.text
            and "nan" in d.theirs
            and "nan" not in d.ours
            and repr(finite(program)) != repr(program)
        ),
    ),
    Departure(
        "singular value 0",
        "the vectors of a singular value 0 have any sign; those of LAPACK differ",
        no_singular_vectors,
    ),
    Departure(
        "derivatives that PyTorch drops",
        "Bessel and Airy functions and orthogonal polynomials have derivatives here",
        dropped_in_pytorch,
    ),
    Departure(
        "polynomials of NaN",
        "a polynomial of NaN is NaN; PyTorch's recurrence for high degrees gives 0",
        polynomial_of_nan,
    ),
    Departure(
        "sign of a sum",
        "a running sum begins with its first entry, and PyTorch's with 0, which has "
        "another sign where that entry is -0",
        in_other_words("sign of a sum"),
    ),
    Departure(
        "powers of 0",
        "a power of 0 is constant where its exponent is not below 0, PyTorch has NaN "
        "in second derivatives; a power by 0 has the partial 0, also beside NaN",
        in_other_words("powers of 0"),
    ),
    Departure(
        "fused products",
        "a product less itself is 0; PyTorch rounds one of the two",
        in_other_words("fused products"),
    ),
    Departure(
        "equal entries in order",
        "of equal entries topk takes the first; PyTorch any",
        in_other_words("equal entries in order"),
    ),
    Departure(
        "commonest beside NaN",
        "NaN counts as the largest number; where PyTorch sorts it is not said",
        in_other_words("commonest beside NaN"),
    ),
    Departure(
        "step by step",
        "PyTorch's group_norm is one kernel, whose own rounding cannot be measured",
        in_other_words("step by step"),
    ),
    Departure(
        "one by one",
        "PyTorch's vectors of a processor treat NaN and denormals unlike its numbers",
        in_a_mode(OneByOne),
    ),
    Departure(
        "roots of -0",
        "a power is C's; PyTorch takes a root for 0.5, which keeps the sign of -0",
        in_a_mode(PowerOfTensors),
    ),
    Departure(
        "rounding in one order",
        "mixed second derivatives are one number; its rounding depends on their order",
        in_either_order,
    ),
    Departure(
        "vectors without entries",
        "a block of none takes no place; PyTorch's rule takes gradients from beside it",
        in_other_words("vectors without entries"),
    ),
    Departure(
        "slope of the values",
        "PyTorch's gradient is not the slope of its own values",
        by_its_slopes,
    ),
    Departure(
        "singular matrix",
        "where a matrix has no inverse the gradient is NaN, and rounding may hide that "
        "it has none; PyTorch refuses the pass, or has infinities and NaN",
        lambda program, d: (
            (
                d.what.startswith("PyTorch alone refuses")
                and "because the input matrix is singular" in d.theirs
                and (
                    is_singular(outcome(OURS, program, 1))
                    or difference(moved(program), SAID, False) is None
                )
            )
            or without_inverse(program, d)
        ),
    ),
    Departure(
        "no number",
        "where the value is NaN, a gradient is NaN or infinite, as the formula has it, "
        "and second derivatives need not be NaN",
        lambda program, d: (
            (d.what in ("gradient", "Jacobian") and d.numberless)
            or (
                d.what == "second derivative"
                and "nan" in d.ours + d.theirs
                and bool(np.isnan(outcome(OURS, program, 0).value).any())
            )
        ),
    ),
    Departure(
        "one value",
        "a batch of one value is 0 by the formula; PyTorch's layers refuse it",
        refuses("Expected more than 1 value per channel when training", "value"),
    ),
    Departure(
        "no channels",
        "a batch without entries needs no factor; PyTorch reads the first of none",
        lambda program, d: (
            refuses(r"select\(\): index 0 out of range .* of size \[0\]", "value")(
                program, d
            )
            and same_under(program, lambda: InOtherWords(("batch_norm",)))
        ),
    ),
    Departure(
        "channels",
        "a batch without entries needs a dimension of channels too",
        lambda program, d: (
            d.what == "gradcli alone refuses the value"
            and "batch_norm needs an input of at least 2" in d.ours
            and "not of shape [0]" in d.ours
        ),
    ),
    Departure(
        "vector without entries",
        "a vector is no matrix, with or without entries; an old cholesky takes it",
        lambda program, d: (
            d.what == "gradcli alone refuses the value"
            and "cholesky: The input tensor A must have at least 2" in d.ours
            and any(np.shape(value) == (0,) for value in program.inputs.values())
        ),
    ),
    Departure(
        "masked",
        "what does not pass is 0 in derivatives of every order; PyTorch multiplies an "
        "infinity by 0",
        lambda program, d: in_other_words("masked")(program, d) or masked(program, d),
    ),
    Departure(
        "beyond the range",
        "where squares overflow or vanish, formulas differ in where the infinity or "
        "the 0 comes first; so do sums in another order",
        beyond_range,
    ),
    Departure(
        "beside an infinity",
        "what is made of inf - inf and 0*inf on the way depends on the order of steps",
        at_infinity,
    ),
)


def departure(program: Program, found: Difference) -> Departure | None:
    """The entry that explains a difference."""
    return next((d for d in DEPARTURES if d.applies(program, found)), None)
