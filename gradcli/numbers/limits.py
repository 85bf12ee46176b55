"""The bounds of the number systems, each named with its unit."""

from __future__ import annotations

from typing import Final

# balls and graphs

ACCURATE_BITS: Final = 64
"""Bits of a number that have to be sure before it is compared with a float."""

SPARE_BITS: Final = 32
"""Bits added to what a first attempt shows to be missing."""

LOST_BITS: Final = 4
"""Sure bits below which a number has lost all that the precision had."""

LONG_BITS: Final = 1024
"""Bits from which on steps are computed with no more bits than are sure."""

MAX_STEPS_TIMES_BITS: Final = 1_500_000_000
"""Steps times bits of precision that one attempt may take."""

MAX_GRAPH_BITS: Final = 1 << 17
"""Bits beyond which no number is looked at."""

MIN_POWER_OF_TWO: Final = -1200
"""Power of two below which a number is zero to every type of float."""

MAX_ZERO_BITS: Final = 2048
"""Bits up to which one number's need says nothing of the others: it may be near 0."""

MAX_EIGENVALUE_BITS: Final = 1 << 13
"""Bits beyond which no eigenvalue is computed: what is less than that leaves is 0 to
every type of float."""

MAX_EXPONENTIALS_KEPT: Final = 512
"""Exponentials of matrices that are remembered: each of their entries is a step, which
asks for the whole again."""

MAX_COMPARISON_BITS: Final = 4096
"""Bits beyond those of the graph up to which two numbers are compared."""

# rounding

SIGN_TRIALS: Final = 2
"""Times that errors of random signs are followed: once, they may cancel."""

SLACK_FACTOR: Final = 32
"""Factor by which rounding may carry a number farther than in the trials."""

LIBRARY_ROUNDINGS: Final = 4
"""Units of rounding that a function of a library may be off by."""

LOST_RELATIVE_ERROR: Final = 2.0**-4
"""Relative error from which on a number on the way is as good as lost."""

VANISHING_SIZE: Final = 1e-290
"""Size below which floats lose digits on their way to 0."""

BOUND_BITS: Final = 64
"""Bits of bounds, whose exponents have no end."""

# terms, tapes and arrays of elements

SURE_DIGITS: Final = 15
"""Significant digits that any float keeps of a decimal."""

MAX_EXACT_NUMBER: Final = 10**300
"""Largest number of a program that is computed with exactly: in a loop it would get
twice as long at every step."""

MAX_COUNTED_TREE_NODES: Final = 10**9
"""Nodes up to which the size of a term written out as a tree is counted."""

FIRST_TAPE_STEPS: Final = 1024
"""Steps that a new tape has room for."""

DOUBTFUL_RELATIVE_GAP: Final = 2.0**-26
"""Distance, relative to the largest value that was looked at, below which it is asked
what rounding does: whoever loses more than half of all digits on the way to a number
that stays far from a tie is beyond a tape."""

MAX_INTEGER_OF_FLOATS: Final = 2**53
"""Largest integer up to which each is a float."""

MAX_COFACTOR_SIZE: Final = 3
"""Rows up to which cofactors are used: short formulas with one denominator."""

# expression trees

MAX_TREES: Final = 200_000
"""Most trees that one program may be made of."""

MAX_VALUE_BYTES: Final = 1 << 30
"""Most memory that the values of a program's trees may take, in bytes."""

MAX_WRITTEN_ENTRIES: Final = 4
"""Entries up to which an array of numbers is written out rather than computed."""

MAX_ENTRY_STEPS: Final = 200_000
"""Most operations on single entries that a run may take, needed or not."""

MAX_CODE_STEPS: Final = 20_000
"""Most steps, or entries of inputs and derivatives, that are written out."""

MAX_REGROUPED_FACTOR: Final = 1e9
"""Largest number, and inverse of the smallest, of which products are put otherwise:
nothing overflows that did not."""

ROUNDING_RUNS: Final = 6
"""Times that roundings are drawn anew to see what comes of them all."""

MAX_FOLLOWED_STEPS: Final = 400_000
"""Steps of a graph up to which the outputs are computed to see what a loop loses; of a
larger one a part may be all that is looked at."""

LONG_LOOP_STEPS: Final = 200
"""Steps from which on it is asked whether a loop's deviations can be followed."""

MAX_ASYMMETRY = 2.0**-46
"""Largest difference of opposite entries of a symmetric matrix, as a share of one:
rounding leaves about as much in ``x.T @ x``."""
