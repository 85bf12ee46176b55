"""Where gradcli differs from PyTorch on purpose.

Invariant: every entry says why, and applies as narrowly as it can be told; one that
never fires in a long run is to be taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tests.random.compare import Difference, difference
from tests.random.program import Program


@dataclass(frozen=True, slots=True)
class Departure:
    """A kind of difference that is meant."""

    name: str
    why: str
    applies: Callable[[Program, Difference], bool]


def refuses(words: str, stage: str = "") -> Callable[[Program, Difference], bool]:
    """PyTorch alone refuses, in these words."""
    pattern = re.compile(words)
    return lambda program, d: (
        d.what.startswith("PyTorch alone refuses")
        and d.what.endswith(stage)
        and pattern.search(d.theirs) is not None
    )


def at_singular_point(names: str) -> Callable[[Program, Difference], bool]:
    """A derivative differs, and no longer does once the inputs are moved a little."""
    pattern = re.compile(names)
    return lambda program, d: (
        d.what in ("gradient", "second derivative")
        and pattern.search(program.text) is not None
        and difference(moved(program)) is None
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


def raised(program: Program) -> Program:
    """The program with no input close to 0."""
    return moved(program, by=0.1)


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


def beyond_range(names: str) -> Callable[[Program, Difference], bool]:
    """A number differs, and no longer does where no square leaves the range."""
    pattern = re.compile(names)

    def applies(program: Program, d: Difference) -> bool:
        again = tamed(program)
        return (
            d.what in ("value", "gradient", "second derivative")
            and pattern.search(program.text) is not None
            and again.inputs != program.inputs
            and difference(again) is None
        )

    return applies


DEPARTURES = (
    Departure(
        "in place",
        "the language computes with what an operand held; PyTorch refuses the pass",
        refuses("modified by an inplace operation|refer to a single memory location"),
    ),
    Departure(
        "no derivative",
        "PyTorch has not written this derivative; `//` has the derivative 0",
        refuses("derivative for \\S+ is not implemented|not differentiable"),
    ),
    Departure(
        "no node",
        "PyTorch has no derivative of `//`, and of `%` of a number; here there is one",
        lambda program, d: d.what == "graph" and "NotImplemented" in d.theirs,
    ),
    Departure(
        "ways to call",
        "the language reads numbers, lists and parameters in more ways",
        refuses("^TypeError", "value"),
    ),
    Departure(
        "truth values",
        "truth values are the numbers 0 and 1 in every sum; PyTorch refuses `-`",
        refuses("with (a|two) bool tensor"),
    ),
    Departure(
        "broken rule",
        "a rule of PyTorch's fails, or gives a gradient of another size",
        refuses(
            "returned an invalid gradient|undefined Tensor|unspecified dimension size"
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
        "ties",
        "at a bound of clamp 0, at a tie of fmax a half: as PyTorch's newest releases",
        at_singular_point(
            r"\bclamp|\bclip|\bfmax|\bfmin|hinge_embedding|margin_ranking"
        ),
    ),
    Departure(
        "trigamma",
        "PyTorch's series for it has nine correct digits, and no poles",
        lambda program, d: (
            re.search(r"gamma", program.text) is not None
            and d.what in ("value", "gradient", "second derivative")
            and (d.relative < 1e-7 or "inf" in d.ours)
        ),
    ),
    Departure(
        "near 0",
        "asin and its like keep the first derivative's digits near 1, and so the "
        "second's near 0 to a unit in the last place of 1 alone",
        lambda program, d: (
            d.what == "second derivative"
            and re.search(r"a(rc)?(sin|cos|tanh)\b", program.text) is not None
            and difference(raised(program)) is None
        ),
    ),
    Departure(
        "written view",
        "the node of a change through a view is seen here; PyTorch hides it",
        lambda program, d: (
            d.what == "graph" and "CopySlices" in d.ours and "CopySlices" in d.theirs
        ),
    ),
    Departure(
        "no number",
        "where the value is NaN, a gradient is NaN or infinite, as the formula has it",
        lambda program, d: d.what == "gradient" and d.numberless,
    ),
    Departure(
        "cumprod",
        "a product's derivative is that of the other factors; PyTorch divides by the "
        "entry, which NaN and infinities do not survive",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and re.search(r"\b(cum)?prod\b", program.text) is not None
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "overflow of a loss",
        "PyTorch's formula overflows where the derivative is a number",
        lambda program, d: (
            d.what == "gradient"
            and "soft_margin_loss" in program.text
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "target of a cross entropy",
        "the derivative by the target is that of the logarithms, which end at -100",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and "binary_cross_entropy(" in program.text
            and "inf" in d.theirs
        ),
    ),
    Departure(
        "sinc at 0",
        "the second derivative is -pi**2/3; PyTorch has NaN",
        lambda program, d: (
            d.what == "second derivative"
            and "sinc(" in program.text
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "extremum",
        "an entry that does not attain amax gets 0; PyTorch multiplies NaN by 0",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and re.search("amax|amin", program.text) is not None
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "cross entropy's second derivative",
        "PyTorch adds 1e-12 to the denominator",
        lambda program, d: (
            d.what == "second derivative"
            and "binary_cross_entropy(" in program.text
            and d.relative < 1e-8
        ),
    ),
    Departure(
        "tails",
        "far out a derivative is small and has its digits; PyTorch has few of them",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and re.search("gelu|logsigmoid|log_softmax", program.text) is not None
            and d.relative <= 1
        ),
    ),
    Departure(
        "at an infinity or a norm of 0",
        "the derivative is a number by the rules for kinks; PyTorch has NaN",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and re.search(
                "logcumsumexp|logit|logaddexp2|cosine_similarity|normalize",
                program.text,
            )
            is not None
            and "nan" in d.theirs
            and "nan" not in d.ours
        ),
    ),
    Departure(
        "repeated places",
        "what index_put overwrites gets no gradient; PyTorch gives it to every copy",
        lambda program, d: d.what == "gradient" and "index_put" in program.text,
    ),
    Departure(
        "symmetric part",
        "cholesky takes the symmetric part of a matrix; PyTorch its lower triangle",
        lambda program, d: (
            "cholesky" in program.text and "not positive-definite" in d.theirs
        ),
    ),
    Departure(
        "singular values",
        "norms of a matrix that need singular values are not offered",
        lambda program, d: "needs singular values" in d.ours,
    ),
    Departure(
        "outside the domain",
        "acosh has no derivative below 1; PyTorch gives that of the formula",
        lambda program, d: (
            d.what in ("gradient", "second derivative")
            and re.search("a(rc)?cosh", program.text) is not None
            and "nan" in d.ours
        ),
    ),
    Departure(
        "beyond the range",
        "where squares overflow or vanish, formulas differ in where the infinity or "
        "the 0 comes first; so do sums in another order",
        beyond_range(
            r"var|std|norm|cosine|dist|hypot|atan2|sum|mean|@|mm|mv|dot|matmul|linear"
            r"|erf|asinh|atanh|hardswish|logaddexp2|det|%|gelu"
        ),
    ),
    Departure(
        "power of 0",
        "beside a power of 0, a second derivative is that of the first's convention",
        lambda program, d: (
            d.what == "second derivative"
            and re.search(r"\*\*|pow", program.text) is not None
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "mean beside a variance",
        "the mean of an infinity is infinite; PyTorch's running mean is NaN",
        lambda program, d: (
            d.what == "value"
            and re.search("(var|std)_mean", program.text) is not None
            and "nan" in d.theirs
        ),
    ),
    Departure(
        "masks",
        "a mask typed as numbers counts where it is not 0",
        refuses("expected BoolTensor|bool"),
    ),
    Departure(
        "view written to without a graph",
        "a view keeps the node that recorded it; PyTorch makes it a new one",
        lambda program, d: (
            d.what == "graph"
            and "no_grad" in program.text
            and "AsStridedBackward0" in d.theirs
        ),
    ),
    Departure(
        "one value",
        "a batch of one value is 0 by the formula; PyTorch's layers refuse it",
        refuses("Expected more than 1 value per channel", "value"),
    ),
    Departure(
        "channels",
        "a batch needs a dimension of channels to be normalised",
        lambda program, d: "batch_norm needs an input of at least 2" in d.ours,
    ),
    Departure(
        "after an infinity",
        "where a first derivative is infinite or NaN, a second has none to agree on",
        lambda program, d: d.after_infinity,
    ),
)


def departure(program: Program, found: Difference) -> Departure | None:
    """The entry that explains a difference."""
    return next((d for d in DEPARTURES if d.applies(program, found)), None)
