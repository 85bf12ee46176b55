"""Einstein summation, recorded as one node.

Invariant: an equation is first written out, with one letter per dimension, no ellipsis,
and the output's labels. The rule of an operand is then another einsum, of the cotangent
and the other operands.

    einsum("ij,jk", a, b)       # the same as a @ b, recorded as EinsumBackward0
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters, ascii_lowercase, ascii_uppercase

from .checks import (
    ArgumentError,
    Number,
    ShapeError,
    ValueRangeError,
    as_integer,
    refuse,
)
from .op import MULTILINEAR, VIEW, case, function, row
from .types import Array, Call, Namespace, Outputs

# fmt: off

Shapes = list[tuple[int, ...]]


def written_out(equation: str, shapes: Shapes) -> tuple[list[str], str]:
    """Return the labels of each operand and of the output. An ellipsis becomes letters
    that the equation does not use; operands share them from the last one on."""
    if not isinstance(equation, str):
        raise ArgumentError("einsum(): the first argument must be the equation, a "
                            "string such as 'ij,jk->ik'")
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        fewer = "fewer" if len(shapes) < len(terms) else "more"
        raise ShapeError(f"einsum(): {fewer} operands were provided than specified in "
                         "the equation")
    for letter in (left + right).replace("...", "").replace(",", ""):
        refuse(letter not in ascii_letters, "einsum(): invalid subscript given: {!r}, "
               "subscripts must be in [a-zA-Z]", letter, kind=ValueRangeError)
    unused = [c for c in ascii_letters if c not in equation]
    batch = max([len(s) - len(t) + 3 for t, s in zip(terms, shapes, strict=True)
                 if "..." in t], default=0)
    dots = "".join(unused[:batch])
    labels = []
    for number, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        spare = len(shape) - len(term.replace("...", ""))
        if spare < 0 or (spare and "..." not in term):
            raise ShapeError(f"einsum(): operand {number} has {len(shape)} dimensions, "
                             f"the equation has '{term}' for it")
        labels.append(term.replace("...", dots[len(dots) - spare:]))
    if arrow:
        return labels, right.replace("...", dots)
    every = "".join(labels)
    once = sorted([c for c in set(every) if every.count(c) == 1 and c not in dots])
    return labels, dots + "".join(once)


def sizes_of(labels: list[str], shapes: Shapes) -> dict[str, int]:
    """Return the size of each label, where dimensions of size 1 broadcast."""
    sizes: dict[str, int] = {}
    for number, (term, shape) in enumerate(zip(labels, shapes, strict=True)):
        for label, n in zip(term, shape, strict=True):
            have = sizes.get(label, 1)
            if 1 not in (have, n) and have != n:
                raise ShapeError(
                    f"einsum(): subscript {label} has size {n} for operand {number} "
                    f"which does not broadcast with previously seen size {have}")
            sizes[label] = n if have == 1 else have
    return sizes


def cotangent(xp: Namespace, g: Array, operands: Sequence[Array], k: int,
              labels: list[str], output: str, sizes: dict[str, int]) -> Array:
    """Return the cotangent of operand ``k``, an einsum whose output labels are those of
    that operand. A label that it repeats is output once and spread on a diagonal; for
    one that only it has, or that it broadcasts, a factor of ones is added."""
    unused = iter([c for c in ascii_letters if c not in sizes])
    terms = [output, *(t for i, t in enumerate(labels) if i != k)]
    factors = [g, *(x for i, x in enumerate(operands) if i != k)]
    known = {label for term, x in zip(terms, factors, strict=True)
             for label, n in zip(term, x.shape, strict=True) if n == sizes[label]}
    wanted, repeated = "", []
    for at, (label, n) in enumerate(zip(labels[k], operands[k].shape, strict=True)):
        if label in wanted and n == sizes[label]:
            repeated.append((labels[k].index(label), at))
            continue
        fresh = label if n == sizes[label] else next(unused)
        if fresh not in known:
            terms.append(fresh)
            factors.append(xp.new_full(g, (n,), 1))
        wanted += fresh
    found = xp.einsum(f"{','.join(terms)}->{wanted}", *factors)
    for first, again in repeated:
        found = xp.diag_embed(xp.movedim(found, first, -1), 0, first, again)
    return found


def cotangents(xp: Namespace, g: Array, y: Array, *operands: Array, equation: str
              ) -> Outputs:
    shapes = [tuple(x.shape) for x in operands]
    labels, output = written_out(equation, shapes)
    sizes = sizes_of(labels, shapes)
    return tuple([cotangent(xp, g, operands, k, labels, output, sizes)
                  for k in range(len(operands))])


@row("einsum.default", node="EinsumBackward0", variadic=True, jvp=MULTILINEAR,
    memory=VIEW, one_type=True, formula="sum of products over repeated labels",
    doc="Sums of products, by one letter per dimension.", vjp=cotangents,
    cases=[case((3, 4), (4, 2), equation="ij,jk->ik"), case((3, 3), equation="ii"),
           case((3, 3), equation="ii->i"), case((3, 4), equation="ij->j"),
           case((3, 4), (3, 4), equation="ij,ij->"), case((3,), (4,), equation="i,j"),
           case((2, 3, 4), (4, 2), equation="...j,jk"),
           case((2, 3), (3, 4), (4, 2), equation="ij,jk,kl->il"),
           case((3,), (3,), (3,), equation="i,i,i->i"),
           case((2, 3, 3), (3,), equation="bii,i->b"),
           case((), (3,), equation=",i->i"), case((2, 3), (1,), equation="ij,j->i")])
def contracted(xp: Namespace, *operands: Array, equation: str) -> Array:
    shapes = [tuple(x.shape) for x in operands]
    labels, output = written_out(equation, shapes)
    sizes = sizes_of(labels, shapes)
    for label in output:
        refuse(label not in sizes, "einsum(): output subscript {} does not appear in "
               "the equation for any input operand", label, kind=ValueRangeError)
        if output.count(label) > 1:
            raise ValueRangeError(f"einsum(): output subscript {label} appears more "
                                  "than once in the output")
    return xp.einsum(f"{','.join(labels)}->{output}", *operands)


LETTERS = ascii_uppercase + ascii_lowercase
"""Letters by number: in ``einsum(a, [0, 1])`` the labels are A and B."""


def operands_of(given: list[Array]) -> list[Array]:
    """Return the operands of the list form: a and b of ``a, [0, 1], b, [1], [0]``."""
    return given[:len(given) // 2 * 2:2]


def in_letters(given: list[Array]) -> str:
    """Return the equation of the list form: AB,B->A of ``a, [0, 1], b, [1], [0]``."""
    terms = [as_term(labels) for labels in given[1::2]]
    output = f"->{as_term(given[-1])}" if len(given) % 2 else ""
    return ",".join(terms) + output


def as_term(labels: object) -> str:
    if not isinstance(labels, list | tuple):
        raise ArgumentError(
            "einsum(): give an equation first, or subscripts after each operand")
    return "".join(["..." if each is ... else as_letter(each) for each in labels])


def as_letter(number: Number) -> str:
    n = as_integer(number)
    refuse(not 0 <= n < len(LETTERS), "einsum(): subscript in subscript list is not "
           "within the valid range [0, {})", len(LETTERS), kind=ValueRangeError)
    return LETTERS[n]


@function("einsum")
def einsum(call: Call, equation: Array, *operands: Array) -> Array:
    if not isinstance(equation, str):
        return call("einsum.default", *operands_of([equation, *operands]),
                    equation=in_letters([equation, *operands]))
    return call("einsum.default", *spread_out(operands), equation=equation)


def spread_out(operands: Sequence[Array]) -> Sequence[Array]:
    """Return the operands, which may be given as ``(a, b)`` or as ``([a, b],)``."""
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = operands[0]
    if not operands:
        raise ArgumentError("einsum(): must specify the equation string and at least "
                            "one operand")
    return operands
