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
from tests.random.compare import Difference, difference
from tests.random.ours import OURS
from tests.random.outcome import outcome
from tests.random.program import Program
from tests.random.rewritten import (
    REWRITTEN,
    InOtherWords,
    OneByOne,
    PowerOfTensors,
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
        inputs[name] = (near * (1 + step) + step).tolist()
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
    return replace(program, inputs=inputs)


NUMBERS = ("value", "gradient", "second derivative")


def same_under(program: Program, mode: Any) -> bool:
    """Whether nothing differs, the graph aside, where PyTorch runs in a mode."""
    found = difference(program, under(CALLED, mode), graph=False)
    return found is None or found.after_infinity


def called(program: Program) -> tuple[str, ...]:
    """The functions of a program that have other words."""
    words = set(re.findall(r"\w+", program.text))
    return tuple(
        name for name in REWRITTEN if name.rpartition("_")[2] in words or name in words
    )


def in_other_words(reason: str) -> Applies:
    """No number differs once PyTorch's functions are rewritten, those of one reason
    or, where that is not enough, all that have other words."""

    def applies(program: Program, d: Difference) -> bool:
        names = called(program)
        mine = tuple(n for n in names if REWRITTEN[n][0] == reason)
        if d.what not in NUMBERS and not d.what.startswith("PyTorch alone"):
            return (
                d.what.startswith("gradcli alone")
                and reason in REFUSED
                and bool(mine)
                and same_under(program, lambda: InOtherWords(mine))
            )
        return bool(mine) and any(
            same_under(program, lambda given=given: InOtherWords(given))
            for given in dict.fromkeys((mine, names))
        )

    return applies


REFUSED = ("positions beside broadcasting",)
"""What is refused here, and by PyTorch in other words too."""


def in_a_mode(mode: Any) -> Applies:
    """No number differs once PyTorch computes the same another way."""
    return lambda program, d: d.what in NUMBERS and same_under(program, mode)


def beyond_range(program: Program, d: Difference) -> bool:
    """No number differs where none is so large or small that its square leaves the
    range; infinities stay."""
    again = tamed(program)
    return (
        d.what in (*NUMBERS, "slope")
        and again.inputs != program.inputs
        and difference(again, CALLED) is None
    )


def at_infinity(program: Program, d: Difference) -> bool:
    """No number differs where the inputs are finite, and as tame."""
    again = tamed(finite(program))
    return (
        d.what in NUMBERS
        and finite(program).inputs != program.inputs
        and difference(again, CALLED) is None
    )


def finite(program: Program) -> Program:
    """The program with numbers in place of infinities and NaN, and of those typed."""
    inputs = {}
    for name, value in program.inputs.items():
        array = np.array(value, dtype=float)
        spread = 2 + np.arange(array.size).reshape(array.shape) / 16
        inputs[name] = np.where(np.isfinite(array), array, spread).tolist()
    return replace(program, inputs=inputs)


def masked(program: Program, d: Difference) -> bool:
    """Where PyTorch has NaN here is a number, and none differs a little beside."""
    if d.what not in NUMBERS[1:] or "nan" in d.ours or "nan" not in d.theirs:
        return False
    return difference(moved(program), CALLED) is None


def by_its_slopes(program: Program, d: Difference) -> bool:
    """PyTorch's gradient is not the slope of its own values, and gradcli's is."""
    if d.what != "gradient" or not slopes.applies(program):
        return False
    ours, theirs = outcome(OURS, program, 1), outcome(CALLED, program, 1)
    seen = False
    if not len(ours.gradients) == len(theirs.gradients) == len(program.inputs):
        return False
    pairs = zip(ours.gradients, theirs.gradients, slopes.slopes(program), strict=True)
    for a, b, slope in pairs:
        mine = np.zeros_like(slope) if a is None else a
        other = np.zeros_like(slope) if b is None else b
        far = ~np.isclose(mine, other, 1e-6, 1e-6, equal_nan=True)
        if not np.isclose(mine[far], slope[far], 1e-3, 1e-3).all():
            return False
        seen |= bool(far.any())
    return seen


def asymmetric(program: Program, d: Difference) -> bool:
    """PyTorch's mixed derivatives depend on their order, and gradcli's do not."""
    if d.what != "second derivative":
        return False
    ours, theirs = (hessian(side, program) for side in (OURS, CALLED))
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return False
    close = {"rtol": 1e-6, "atol": 1e-6, "equal_nan": True}
    far = ~np.isclose(ours, theirs, **close)
    torn = ~np.isclose(theirs, theirs.T, **close)
    whole = np.isclose(ours, ours.T, **close)
    return bool(far.any() and (torn | torn.T)[far].all() and whole[far].all())


def hessian(side: Any, program: Program) -> Any:
    """All second derivatives as one square matrix, if they are known."""
    found = outcome(side, program)
    sizes = [int(np.prod(np.shape(v))) for v in program.inputs.values()]
    if not found.seconds or len(found.seconds) != len(sizes):
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


def put_right(program: Program, d: Difference) -> bool:
    """PyTorch takes the calls in its own form, and then nothing differs but what
    another entry explains."""
    if d.what != "PyTorch alone refuses the value" or not CALLED_SO.match(d.theirs):
        return False
    found = difference(program, CALLED)
    return found is None or (
        found.theirs != d.theirs and departure(program, found) is not None
    )


CALLED_SO = re.compile("TypeError|AttributeError: 'tuple'")


def reads_anew(program: Program, d: Difference) -> bool:
    """The graphs are the same but for how a change through a view is written."""
    return d.what == "graph" and "CopySlices" in d.ours and "CopySlices" in d.theirs


DEPARTURES = (
    Departure(
        "in place",
        "the language computes with what an operand held; PyTorch refuses the pass",
        refuses("modified by an inplace operation|refer to a single memory location"),
    ),
    Departure(
        "no derivative",
        "PyTorch has not written this derivative; the slope of its values is compared",
        refuses("derivative for \\S+ is not implemented|not differentiable", "t"),
    ),
    Departure(
        "no second derivative",
        "PyTorch has not written this second derivative",
        refuses("derivative for \\S+ is not implemented|not differentiable", "e"),
    ),
    Departure(
        "no node",
        "PyTorch has no derivative of `//`, and of `%` of a number; here there is one",
        lambda program, d: d.what == "graph" and "NotImplemented" in d.theirs,
    ),
    Departure(
        "ways to call",
        "the language reads numbers, lists and parameters in more ways",
        put_right,
    ),
    Departure(
        "truth values",
        "truth values are the numbers 0 and 1 in every sum; PyTorch refuses `-`",
        refuses("with (a|two) bool tensor", "value"),
    ),
    Departure(
        "broken rule",
        "a rule of PyTorch's fails, or gives a gradient of another size",
        refuses(
            "returned an invalid gradient|undefined Tensor|unspecified dimension size|"
            "ZeroTensors are immutable|non-empty? size for non-batch dimensions"
            "|non-zero size for non-batch dimensions, but grad_output"
        ),
    ),
    Departure(
        "einsum",
        "einsum is one node; PyTorch writes it as products of matrices",
        lambda program, d: (
            (d.what == "graph" and "EinsumBackward0" in d.ours)
            or ("einsum" in program.text and "a view of a leaf" in d.theirs)
        ),
    ),
    Departure(
        "written view",
        "the node of a change through a view is seen here; PyTorch hides it",
        reads_anew,
    ),
    Departure(
        "ties",
        "at a bound of clamp 0, at a tie of fmax a half: as PyTorch's newest releases",
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
        "sinc at 0",
        "the second derivative is -pi**2/3; PyTorch has NaN",
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
        "cholesky takes the symmetric part of a matrix; PyTorch its lower triangle",
        in_other_words("symmetric part"),
    ),
    Departure(
        "outside the domain",
        "acosh has no derivative below 1; PyTorch gives that of the formula",
        in_other_words("outside the domain"),
    ),
    Departure(
        "mean beside a variance",
        "the mean of an infinity is infinite; PyTorch's running mean is NaN",
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
        "positions beside broadcasting",
        "PyTorch reads beyond a dimension that it is about to broadcast",
        in_other_words("positions beside broadcasting"),
    ),
    Departure(
        "distance of infinities",
        "the difference of two infinities is NaN; PyTorch's cdist takes it for 0",
        in_other_words("distance of infinities"),
    ),
    Departure(
        "order of a product of three",
        "bilinear multiplies the first operand by the weight first",
        in_other_words("order of a product of three"),
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
        "order of derivatives",
        "PyTorch's mixed second derivatives depend on their order",
        asymmetric,
    ),
    Departure(
        "slope of the values",
        "PyTorch's gradient is not the slope of its own values",
        by_its_slopes,
    ),
    Departure(
        "singular values",
        "norms of a matrix that need singular values are not offered",
        lambda program, d: (
            d.what == "gradcli alone refuses the value"
            and "needs singular values" in d.ours
        ),
    ),
    Departure(
        "singular matrix",
        "where a matrix has no inverse the gradient is NaN; PyTorch refuses the pass",
        lambda program, d: (
            d.what.startswith("PyTorch alone refuses")
            and "The solver failed because the input matrix is singular" in d.theirs
            and any(
                g is not None and np.isnan(g).any()
                for g in outcome(OURS, program, 1).gradients
            )
        ),
    ),
    Departure(
        "no number",
        "where the value is NaN, a gradient is NaN or infinite, as the formula has it",
        lambda program, d: d.what == "gradient" and d.numberless,
    ),
    Departure(
        "masks",
        "a mask typed as numbers counts where it is not 0",
        refuses(
            "expected condition to be a boolean tensor|expected BoolTensor|only "
            "supports boolean masks|mask",
            "value",
        ),
    ),
    Departure(
        "one value",
        "a batch of one value is 0 by the formula; PyTorch's layers refuse it",
        refuses("Expected more than 1 value per channel when training", "value"),
    ),
    Departure(
        "channels",
        "a batch needs a dimension of channels to be normalised",
        lambda program, d: (
            d.what == "gradcli alone refuses the value"
            and "batch_norm needs an input of at least 2" in d.ours
        ),
    ),
    Departure(
        "after an infinity",
        "where a first derivative is infinite or NaN, a second has none to agree on",
        lambda program, d: d.after_infinity,
    ),
    Departure(
        "masked",
        "what does not pass is 0 in derivatives of every order; PyTorch multiplies an "
        "infinity by 0",
        masked,
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
