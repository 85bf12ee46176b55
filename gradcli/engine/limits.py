"""Limits of the engine, with their units, and checks of what would exceed them.

Invariant: the sizes of broadcast results and products are computed from shapes before
anything is allocated; `gradcli.ops.checks` says how much is allowed.

    check_product((100_000, 1), (1, 100_000))      # LimitError: ... needs 80 GB
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.checks import LIMIT, broadcast_shape, check_size, count_of
from .raw import Raw

# Numbers.

MAX_DOUBTS = 10_000
"""Most checks of values that are put off until numbers are read from a device."""

MAX_FACTORIAL_ARGUMENT = 170
"""The largest n whose factorial a double holds."""

MIN_GAMMA_ARGUMENT = 1e-300
"""Argument below which the gamma function is 1/x to the last digit."""

MAX_NUMBER_OF_ALL_TYPES = 127
"""The largest number that every type of numbers holds."""

BYTES_OF_DOUBLE = 8

BYTES_OF_HALF_FLOAT = 2

MIN_SIZE_TO_FLATTEN = 1024
"""Fewest entries for which adding at positions is faster in the flattened array."""

MIN_SIZE_TO_CHOOSE_BY_BITS = 4096
"""Fewest entries for which choosing by a mask's bits is faster than branching."""

MIN_SIZE_TO_TURN = 1 << 11
MAX_SIZE_IN_CACHE = 1 << 19
MAX_LINE_TO_TURN = 32
MAX_LINE_TO_TURN_IN_MEMORY = 10
"""Sizes, in entries, of arrays and of their lines for which each line's maximum is
found faster in the transpose; arrays larger than the processor's cache need shorter
lines."""

MIN_LINE_TO_SPLIT = 8
MAX_LINE_TO_ADD = 128
"""Lengths of lines, in entries, below which NumPy adds one by one, and up to which it
adds in one block of eight sums. Sums of columns, or by `einsum`, have the same error
and take a quarter of the time."""

# Nesting.

MAX_LIST_DEPTH = 64
"""Greatest depth of nested lists of numbers: NumPy's limit of dimensions."""

MAX_ITEMS_OF_INDEX_LIST = 31
"""Most items of a list, with lists among them, that is read as a tuple of indices, as
in PyTorch."""

# Memory that is kept.

KEPT_BYTES = 2**25 - 2**16
"""Size in bytes of a block that, allocated and freed once, makes the C library keep up
to 64 MiB, the most that it allows, of freed memory for later arrays."""

MAX_CHANGES_TOLD_APART = 1000
"""Most in-place changes of one array that are told apart; older ones are counted."""

MIN_VIEWS_TO_SWEEP = 64
"""Fewest views of a tensor of which dead ones are swept out, whenever their number
doubles."""

MAX_LINES_OF_A_NODE = 20
"""Most lines of the program, the innermost ones, that anomaly mode keeps for a node."""


def check_broadcast(operands: Sequence[Raw]) -> None:
    """Raise an error if the broadcast result of operands is larger than allowed."""
    most = 1
    for operand in operands:
        most *= getattr(operand, "size", 1)
    if most > LIMIT.entries:
        check_size(broadcast_shape(*[getattr(o, "shape", ()) for o in operands]))


def check_join(tensors: Sequence[Raw]) -> None:
    """Raise an error if tensors are larger together than allowed."""
    check_size((sum([t.size for t in tensors]),))


def check_product(a: Sequence[int], b: Sequence[int]) -> None:
    """Raise an error if the result of a matrix product is larger than allowed."""
    rows = a[-2:-1]
    columns = b[-1:] if len(b) > 1 else ()
    check_size((*broadcast_shape(a[:-2], b[:-2]), *rows, *columns))


def check_einsum(equation: str, shapes: Sequence[Sequence[int]]) -> None:
    """Raise an error if the result of an einsum is larger than allowed.

    Operands that do not fit the equation pass; the array module raises the error.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    once = [c for c in inputs if c.isalpha() and inputs.count(c) == 1]
    sizes: dict[str, int] = {}
    unnamed = 1
    for letters, shape in zip(inputs.split(","), shapes, strict=False):
        head, dots, tail = letters.partition("...")
        end = len(shape) - len(tail)
        sizes.update(zip(head, shape, strict=False))
        sizes.update(zip(tail, shape[end:], strict=False))
        if dots:
            unnamed = max(unnamed, count_of(shape[len(head) : end]))
    named = output.replace("...", "") if arrow else once
    check_size([unnamed, *[sizes.get(letter, 1) for letter in named]])
