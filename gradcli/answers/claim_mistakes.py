"""What is wrong with a false claim.

Mistakes in the text of a claim are, in a sum: a term with a wrong sign or factor, a
term too many, a missing term; in a subterm: an operand transposed, a sum left out, a
wrong exponent, or one name in place of another.

Invariant: with the repair that a diagnosis proposes, the claim agrees with the
derivative at every sampled point, or differs by rounding. Hypotheses are tested in a
fixed order, simple mistakes first, and the first that fits is the diagnosis.

    diagnose(task, claim, seconds=2).repair      # "multiply by 2"
    wrong_term(evidence).repair                  # "write diag(s) - outer(s, s)"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, islice, product
from time import thread_time
from typing import Final

import numpy as np

from ..check.claims import (
    Claim,
    ClaimsTask,
    Counterexample,
    about_a_point,
    unread_term,
)
from ..check.process.budget import OutOfTime
from ..engine import Tensor
from ..engine.operators import TRANSPOSES
from ..lang.errors import Span
from ..lang.parser import parse
from ..lang.syntax import (
    Attribute,
    Binary,
    Call,
    Expression,
    Index,
    Keyword,
    Literal,
    MethodCall,
    Name,
    SyntaxNode,
    Unary,
    children,
)
from .chain_rule import (
    UNSPOKEN,
    candidates,
    inner_derivative,
    passed_over,
    stops_short,
    taken_for_constant,
    times,
    wrong_path,
)
from .evidence import (
    CLOSE,
    DIAGONALS,
    MIN_SAMPLES,
    SIGN,
    UPSIDE_DOWN,
    Array,
    Diagnosis,
    Evidence,
    Test,
    alike,
    all_same,
    claimed_text,
    constant_factor,
    derivative,
    first_of,
    gather,
    number_text,
    rewritten,
    simple_number,
    speaking,
    sums,
    transpositions,
    typed_sample,
)
from .slips import (
    both_varied,
    missing_scalar,
    one_hot_target,
    softmax_diagonal,
    symmetric_only,
    textbook_slip,
    undifferentiated,
)
from .survey import largest

MAX_SUBTERMS = 60
"""Largest number of subterms of a text that are tried."""

_TIGHT = (Name, Literal, Call, MethodCall, Attribute, Index)


@dataclass(frozen=True, slots=True)
class Subterm:
    """An expression inside a text, by its syntax node."""

    source: str
    node: Expression

    @property
    def text(self) -> str:
        """Return the expression's text, without parentheses around it."""
        return self.source[self.node.span.start : self.node.span.end]

    @property
    def factor(self) -> str:
        """Return the expression's text so that it may stand beside any operator."""
        return self.text if isinstance(self.node, _TIGHT) else f"({self.text})"

    def part(self, node: Expression) -> Subterm:
        """Return a part of the expression as a subterm of the same text."""
        return Subterm(self.source, node)

    def written(self, new: str) -> str:
        """Return the whole text with ``new`` in place of the expression."""
        return spliced(self.source, self.node.span, new)


def subterms(source: str) -> Iterator[Subterm]:
    """Yield the subterms of a text that stand for values, each before its parts."""
    waiting: list[SyntaxNode] = [parse(source)]
    left = MAX_SUBTERMS
    while waiting and left:
        node = waiting.pop()
        if isinstance(node, Keyword):
            continue
        if isinstance(node, Expression):
            left -= 1
            yield Subterm(source, node)
        parts = children(node)
        waiting += reversed(parts[:1] if isinstance(node, Index) else parts)


def spliced(source: str, span: Span, new: str) -> str:
    """Return a text with ``new`` in place of the part at ``span``."""
    return source[: span.start] + new + source[span.end :]


_SIGNS = ("+", "-")
_PRODUCTS = ("*", "/", "@")
_POWERS = ("**", "^")


def wrong_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a term of a sum that has a wrong factor."""
    for total, term in _terms(evidence.text):
        factor = _factor_of(evidence, term)
        found = None if factor is None else _mistake(total, term, factor)
        if found is not None:
            return found
    return None


def _terms(source: str) -> Iterator[tuple[Subterm, Subterm]]:
    """Yield every operand of a plus or a minus, each with the sum it is in."""
    for subterm in subterms(source):
        node = subterm.node
        if isinstance(node, Binary) and node.operator in _SIGNS:
            left = node.left
            # In a + b + c the left operand is the sum a + b, which is visited later.
            if not (isinstance(left, Binary) and left.operator in _SIGNS):
                yield subterm, subterm.part(left)
            yield subterm, subterm.part(node.right)


def _factor_of(evidence: Evidence, term: Subterm) -> Fraction | None:
    """Return the factor of a term that makes the claim right; None if there is none, or
    the claim is not linear in the term."""
    without, twice = (term.written(_scaled(n, term)) for n in ("0", "2"))
    pairs, rests = [], []
    for sample in evidence.samples:
        a, b = (evidence.claimed(text, sample) for text in (without, twice))
        if a is None or b is None or a.shape != sample.true.shape:
            return None
        size = max(largest(sample.claimed), largest(b))
        if largest((b - sample.claimed) - (sample.claimed - a)) > CLOSE * size:
            return None
        pairs.append((sample.true - a, sample.claimed - a))
        rests.append((sample.true, a))
    if all_same(rests):
        return Fraction(0)
    c = constant_factor(pairs)
    return None if c is None else simple_number(c)


def _mistake(total: Subterm, term: Subterm, factor: Fraction) -> Diagnosis | None:
    """Return the diagnosis that follows from the factor a term should have."""
    before, node = term.source, total.node
    assert isinstance(node, Binary)
    first, minus = term.node is node.left, node.operator == "-"
    if factor == -1:
        text = f"the term {term.text} has the wrong sign"
        other = spliced(before, node.op_span, "+" if minus else "-")
        after = term.written(_negative(term)) if first else other
        return rewritten("sign", text, before, after)
    if factor == 0:
        text = f"the term {term.text} does not belong there"
        kept = total.part(node.right if first else node.left)
        after = total.written(_negative(kept) if first and minus else kept.text)
        return rewritten("term", text, before, after)
    if factor < 0:
        return None
    if isinstance(term.node, Literal):
        meant = number_text(float(factor) * float(term.node.value))
        text = f"{term.text} is in the place of {meant}"
        return rewritten("factor", text, before, term.written(meant))
    text = f"the term {term.text} lacks the factor {factor}"
    after = term.written(_scaled(str(factor), term))
    return rewritten("factor", text, before, after)


def _scaled(number: str, term: Subterm) -> str:
    return f"{number}*{_without_parentheses(term, _PRODUCTS)}"


def _without_parentheses(term: Subterm, operators: Sequence[str]) -> str:
    """Return a term's text, without parentheses if one of ``operators`` made it."""
    product = isinstance(term.node, Binary) and term.node.operator in operators
    return term.text if product else term.factor


def _negative(term: Subterm) -> str:
    if isinstance(term.node, Unary) and term.node.operator == "-":
        return term.part(term.node.operand).factor
    return f"-{_without_parentheses(term, (*_PRODUCTS, *_POWERS))}"


def lacking_term(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a missing term: a constant or a multiple of a part."""
    if any(s.claimed.shape != s.true.shape for s in evidence.samples):
        return None
    gaps = [(sample.true - sample.claimed, np.ones(())) for sample in evidence.samples]
    for text, values in _addable(evidence):
        c = constant_factor(times(gaps, values))
        if c is not None and simple_number(c) is not None:
            number = number_text(abs(c))
            term = f"{number}*{text}" if number != "1" else text
            term = number if text == "1" else term
            if c > 0:
                return Diagnosis("term", f"the term {term} is missing", f"add {term}")
            told = f"{term} is added too much"
            return Diagnosis("term", told, f"subtract {term}")
    return None


def _addable(evidence: Evidence) -> Iterator[tuple[str, Sequence[Array]]]:
    """Yield texts with their values: 1, parts of claim and program, local gradients."""
    texts = {"1": None}
    if evidence.claim.expression is not None:
        for source in (evidence.text, evidence.task.source):
            texts |= {subterm.factor: None for subterm in subterms(source)}
    for text in texts:
        said = [evidence.claimed(text, sample) for sample in evidence.samples]
        values = [value for value in said if value is not None]
        if len(values) == len(said):
            yield text, values
    for each in candidates(evidence):
        if each.factor != UNSPOKEN:
            yield each.factor, each.values


def missing_product(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a missing term that is a matrix times a vector or a
    matrix of the program."""
    samples = evidence.samples
    shape = samples[0].true.shape
    if not shape or any(s.claimed.shape != s.true.shape for s in samples):
        return None
    gaps = [(sample.true - sample.claimed, np.ones(())) for sample in samples]
    sizes = {n: tuple(x.shape) for n, x in samples[0].variables.items()}
    matrices = {n: size for n, size in sizes.items() if len(size) == 2}
    turned = {f"{n}.T": size[::-1] for n, size in matrices.items()}
    vectors = {n: size for n, size in sizes.items() if len(size) == 1}
    parts = {**matrices, **turned, **vectors}
    pairs = (
        f"{a} @ {b}"
        for a, b in product(parts, parts)
        if parts[a][-1] == parts[b][0] and (*parts[a][:-1], *parts[b][1:]) == shape
    )
    for text in islice(pairs, MAX_PRODUCTS):
        if _multiple(evidence, text, 2) is None:
            continue
        c = constant_factor(times(gaps, _values(evidence, text, len(samples))))
        if c is not None and simple_number(c) is not None:
            number = {1.0: "", -1.0: "-"}.get(round(c, 9), f"{number_text(c)}*")
            term, by = f"{number}{text}", evidence.claim.by[0]
            why = f"each {by} in the program gives a term"
            return Diagnosis("term", f"{why}: {term} is missing", f"add {term}")
    return None


def _multiple(evidence: Evidence, text: str, count: int) -> float | None:
    """Return the multiple of a term that is missing at the first samples."""
    gaps = [(s.true - s.claimed, np.ones(())) for s in evidence.samples[:count]]
    return constant_factor(times(gaps, _values(evidence, text, count)))


def _values(evidence: Evidence, text: str, count: int) -> list[Array]:
    """Return the values of a text at the first samples; none if one has none."""
    said = [evidence.claimed(text, sample) for sample in evidence.samples[:count]]
    values = [each for each in said if each is not None]
    return values if len(values) == len(said) else []


MAX_PRODUCTS: Final = 40
"""Most products of two matrices that are tried as a missing term."""

_EXPONENTS = ("2", "3", "4", "(-1)", "(-2)", "0.5", "(-0.5)", "1")
_TRANSPOSES = ("t", *TRANSPOSES)
_REDUCTIONS = ("sum", "mean")
_ALONG = ("", "dim=0, keepdim=True", "dim=1, keepdim=True")


def wrong_subterm(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a wrong transpose, sum, exponent or name in a subterm."""
    names = "name", partial(_names, evidence.samples[0].variables)
    for cause, mistake, text in _rewritings(evidence.text, (*_KINDS, names)):
        if evidence.is_right(text):
            return rewritten(cause, mistake, evidence.text, text)
    return None


def fitting_transpose(task: ClaimsTask, claim: Claim, seconds: float) -> str | None:
    """Return the text with one operand transposed that is the derivative, for a claim
    whose shapes do not fit; None if there is none."""
    until = thread_time() + seconds
    kinds = [kind for kind in _KINDS if kind[0] == "transpose"]
    for _, _, text in _rewritings(claimed_text(task, claim), kinds):
        written = replace(claim, expression=text)
        samples = gather(task, written, MIN_SAMPLES, until)
        pairs = [(s.true, s.claimed) for s in samples]
        if len(pairs) == MIN_SAMPLES and all_same(pairs):
            return text.strip()
    return None


def _rewritings(
    source: str, kinds: Iterable[tuple[str, Change]]
) -> Iterator[tuple[str, str, str]]:
    """Yield texts with one subterm changed, kind by kind: the kind of the mistake that
    this corrects, the mistake, and the text."""
    for cause, change in kinds:
        for subterm in subterms(source):
            if not isinstance(subterm.node, Literal):
                for new, mistake in change(subterm):
                    yield cause, mistake, subterm.written(new)


Change = Callable[[Subterm], Iterator[tuple[str, str]]]
"""Type of a function from a subterm to texts in its place, each with the mistake."""


def _transposes(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    bare: Expression | None = None
    if isinstance(node, MethodCall) and node.method in _TRANSPOSES:
        bare = node.receiver
    elif isinstance(node, Attribute) and node.name in _TRANSPOSES:
        bare = node.value
    if bare is not None:
        mistake = f"{subterm.text} should not be transposed"
        yield subterm.part(bare).factor, mistake
    elif not isinstance(node, Unary | Binary):
        yield f"{subterm.factor}.t()", f"{subterm.text} should be transposed"


def _exchanges(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    if isinstance(node, Binary) and node.operator == "@":
        left, right = (subterm.part(part).factor for part in (node.left, node.right))
        mistake = f"the factors of {subterm.text} are in the wrong order"
        yield f"{right} @ {left}", mistake


def _sums(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node = subterm.node
    if isinstance(node, MethodCall) and node.method in _REDUCTIONS:
        bare = subterm.part(node.receiver).factor
        yield bare, f"the {node.method} of {bare} is too much"
    for name, how in product(_REDUCTIONS, _ALONG):
        text = f"{subterm.factor}.{name}({how})"
        yield text, f"{text} is meant, not {subterm.text}"


def _powers(subterm: Subterm) -> Iterator[tuple[str, str]]:
    node, base = subterm.node, subterm.factor
    if isinstance(node, Unary) and isinstance(node.operand, Literal):
        return
    if isinstance(node, Binary) and node.operator in _POWERS:
        base = subterm.part(node.left).factor
    for exponent in _EXPONENTS:
        power = f"(1/{base})" if exponent == "(-1)" else f"{base}**{exponent}"
        yield power, f"{subterm.text} has the wrong exponent"


def _inversions(subterm: Subterm) -> Iterator[tuple[str, str]]:
    """Yield a product in place of a quotient, and the other way round."""
    node = subterm.node
    if isinstance(node, Binary) and node.operator in ("*", "/"):
        right = subterm.part(node.right).factor
        left = _without_parentheses(subterm.part(node.left), (*_PRODUCTS, *_POWERS))
        other = "/" if node.operator == "*" else "*"
        verb = "multiplied" if other == "/" else "divided"
        yield f"{left}{other}{right}", f"it is {verb} by {right}"


def _names(known: Mapping[str, Tensor], subterm: Subterm) -> Iterator[tuple[str, str]]:
    """Yield the names of other values of the same shape in place of a name."""
    here = known.get(subterm.text) if isinstance(subterm.node, Name) else None
    for name, value in known.items():
        if here is not None and name != subterm.text and value.shape == here.shape:
            yield name, f"{subterm.text} is in the place of {name}"


_KINDS: Sequence[tuple[str, Change]] = (
    ("transpose", _transposes),
    ("transpose", _exchanges),
    ("sum", _sums),
    ("reciprocal", _inversions),
    ("power", _powers),
)
"""Kinds of mistakes in a subterm, in the order in which they are tested; the last one,
a wrong name, takes the names that there are."""


ROUNDED = 2e-3
"""Largest relative distance that is put down to rounded constants."""

MAX_NAME_PAIRS = 20
"""Largest number of pairs of names that are tried as swapped."""

SAMPLES = 12
"""Number of samples wanted; a hypothesis must fit all of them."""


def wrong_sign(evidence: Evidence) -> Diagnosis | None:
    return SIGN.of_claim(evidence.sides)


def rounded(evidence: Evidence) -> Diagnosis | None:
    pairs = evidence.sides
    if not speaking(pairs):
        return None
    worst = max(largest(a - b) / (largest(a) or 1.0) for a, b in pairs)
    if worst > ROUNDED:
        return None
    share = f"{worst:.1g} of their size at most" if worst else "less than floats tell"
    text = f"the two differ by {share}"
    return Diagnosis("rounding", text, "write the constants in full")


def _elsewhere(evidence: Evidence) -> Diagnosis:
    """Return the diagnosis of a claim that holds at all samples, and not everywhere."""
    if evidence.claim.by:
        text = "this is right on one side of a kink only"
        return Diagnosis("side", text, "write the other side, too")
    text = "the two differ at single points only, such as a jump"
    return Diagnosis("point", text, "mend the value there")


def right_elsewhere(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a claim that is right at all samples."""
    right = evidence.differs_at_example and all_same(evidence.pairs)
    return _elsewhere(evidence) if right and evidence.pairs else None


def of_constant(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a derivative of a constant."""
    ends = tuple(unread_term(name) for name in evidence.claim.by)
    if not evidence.task.source.endswith(ends) or any(
        true.any() for true, _ in evidence.sides
    ):
        return None
    text = "the program is a constant, whose derivative is 0"
    return Diagnosis("constant", text, "write 0")


def constant(evidence: Evidence) -> Diagnosis | None:
    c = constant_factor(evidence.sides)
    if c is None:
        return None
    mean = _mean(evidence, c)
    if mean is not None:
        return mean
    inverse = simple_number(1 / c)
    if inverse is not None and inverse.denominator == 1 and abs(inverse) > 1:
        text = f"there is a factor {inverse} too much"
        return Diagnosis("factor", text, f"divide by {inverse}")
    text = f"the factor {number_text(c)} is missing"
    return Diagnosis("factor", text, f"multiply by {number_text(c)}")


def _mean(evidence: Evidence, c: float) -> Diagnosis | None:
    """Return the diagnosis of a mean taken for a sum, or of a sum taken for a mean."""
    shapes = [(x.numel(), *x.shape) for x in evidence.samples[0].variables.values()]
    counts = {n for shape in shapes for n in shape if n > 1}
    n = simple_number(1 / c)
    if n in counts and "mean" in evidence.task.source:
        text = f"the program takes a mean, the claim a sum: 1/{n} is missing"
        return Diagnosis("mean", text, f"divide by {n}")
    n = simple_number(c)
    if n in counts and "mean" in evidence.text:
        text = "the claim takes a mean, the derivative a sum"
        return Diagnosis("mean", text, f"multiply by {n}, or use sum")
    return None


def transposed(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of dimensions in another order, perhaps with a factor."""
    return first_of(transpositions(evidence.samples[0].true.ndim), evidence.pairs)


def shaped_otherwise(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a diagonal, sum or mean that is taken or left out."""
    first = evidence.samples[0]
    found = first_of(DIAGONALS, evidence.pairs)
    if found is not None:
        return softmax_diagonal(evidence) or found
    left, taken = sums(first.claimed.shape, True), sums(first.true.shape, False)
    return first_of((*left, *taken), evidence.pairs)


def half_differentiated(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a first derivative in place of a second one."""
    claim, samples = evidence.claim, evidence.samples
    if len(claim.by) != 2 or claim.at or any(s.true.shape for s in samples):
        return None
    first, last = claim.by
    for name, other in dict.fromkeys([(first, last), (last, first)]):
        alone = replace(claim, by=(name,))
        pairs = [(derivative(alone, s.target, s.inputs), s.claimed) for s in samples]
        if alike(pairs):
            rule = f"a derivative by {first} and {last} is taken by both, in turn"
            if name == other:
                rule = f"a second derivative is taken by {name} twice"
            text = f"{rule}: this is the derivative by {name} alone"
            return Diagnosis("order", text, f"differentiate by {other}, too")
    return None


def swapped(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of another input's derivative, or of swapped names."""
    claim, samples = evidence.claim, evidence.samples
    for name in samples[0].inputs if len(claim.by) == 1 else ():
        instead = replace(claim, by=(name,), at=())
        pairs = [(derivative(instead, s.target, s.inputs), s.claimed) for s in samples]
        if name != claim.by[0] and alike(pairs):
            text = f"this is the derivative by {name}, not by {claim.by[0]}"
            return Diagnosis("swapped", text, f"differentiate by {claim.by[0]}")
    known = samples[0].variables
    several = combinations(known, 2) if claim.expression is not None else ()
    alike_ones = ((a, b) for a, b in several if known[a].shape == known[b].shape)
    for a, b in islice(alike_ones, MAX_NAME_PAIRS):
        if evidence.is_right(evidence.text, {a: b, b: a}):
            text = f"{a} and {b} are swapped"
            return Diagnosis("swapped", text, f"write {a} for {b} and {b} for {a}")
    return None


def named_slip(evidence: Evidence) -> Diagnosis | None:
    """Return a slip that textbooks name, with the claim put right if one part of its
    text is wrong."""
    slip = textbook_slip(evidence)
    if slip is None:
        return None
    inner = (inner_derivative,) if slip.cause == "chain" else ()
    for test in (wrong_term, *inner, wrong_subterm, wrong_path):
        found = test(evidence)
        if found is not None and _is_plain(found):
            return replace(slip, repair=found.repair)
    return slip


_LONG_DECIMAL = re.compile(r"\d\.\d{6}")
"""Pattern of a decimal that stands for no simple number."""


def _is_plain(found: Diagnosis) -> bool:
    """Return whether a repair names the part of the claim in a few plain words."""
    vague = (UNSPOKEN, "contribute", "where(")
    words = found.repair.split()
    return (
        found.cause != "name"
        and found.repair.startswith(("write ", "add ", "multiply by "))
        and not any(each in found.repair for each in vague[1:])
        and UNSPOKEN not in words
        and not _LONG_DECIMAL.search(found.repair)
    )


HYPOTHESES: tuple[Test, ...] = (
    right_elsewhere,
    of_constant,
    named_slip,
    wrong_sign,
    rounded,
    half_differentiated,
    constant,
    transposed,
    one_hot_target,
    missing_scalar,
    shaped_otherwise,
    swapped,
    wrong_term,
    symmetric_only,
    missing_product,
    wrong_path,
    taken_for_constant,
    both_varied,
    inner_derivative,
    passed_over,
    stops_short,
    lambda evidence: UPSIDE_DOWN.of_claim(evidence.sides),
    wrong_subterm,
    lacking_term,
    undifferentiated,
)

POINTED: tuple[Test, ...] = (wrong_sign, rounded, transposed)
"""Hypotheses that can be tested on numbers for one point alone."""


OF_EQUATIONS: tuple[Test, ...] = (
    wrong_sign,
    rounded,
    constant,
    lambda evidence: UPSIDE_DOWN.of_claim(evidence.sides),
    swapped,
    wrong_term,
    wrong_subterm,
)
"""Hypotheses about an equation's derivative, whose program nobody has written."""


def diagnose(
    task: ClaimsTask, claim: Claim, seconds: float,
    example: Counterexample | None = None,
) -> Diagnosis | None:  # fmt: skip
    """Return the simplest mistake that explains a claim; None if none does.

    ``seconds`` is a limit on this thread's processor time; ``example`` is a point at
    which the claim is false.
    """
    sides = () if example is None else zip(example.claimed, example.true, strict=False)
    differs = any(abs(a - b) > ROUNDED * abs(b) for a, b in sides)
    until = thread_time() + seconds
    if about_a_point(task, claim):
        samples, hypotheses = typed_sample(task, claim), POINTED
    else:
        samples = gather(task, claim, SAMPLES, until)
        hypotheses = HYPOTHESES if task.tied is None else OF_EQUATIONS
        if len(samples) < MIN_SAMPLES:
            return None
    evidence = Evidence(task, claim, samples, until, differs)
    with np.errstate(all="ignore"), suppress(OutOfTime):
        for hypothesis in hypotheses if samples else ():
            evidence.check()
            found = hypothesis(evidence)
            if found is not None:
                return found
    return None
