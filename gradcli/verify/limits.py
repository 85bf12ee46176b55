"""The bounds of proofs, formulas, claims and kinks, each named with its unit."""

from __future__ import annotations

from typing import Final

# formulas and proofs

MAX_PROVED_ENTRIES: Final = 64
"""Entries of an input that SymPy is given, chosen by the seed where there are more."""

MAX_FORMULAS: Final = 1024
"""Entries of an input that SymPy is given where all are wanted as formulas."""

MAX_CHOICES: Final = 32
"""Largest and smallest entries of which it is asked whether they matter."""

MAX_SYMPY_TREE_NODES: Final = 20_000
"""Nodes of an expression, written out as a tree, that SymPy is still given."""

FORMULA_SECONDS: Final = 0.5
"""Seconds that making one formula shorter may take."""

MAX_SHOWN_FORMULAS: Final = 9
"""Entries of an input up to which their formulas are shown beside the verdict."""

MAX_TIMEOUTS: Final = 3
"""Attempts that may run out of time before a stage is given up."""

MAX_DERIVATIVE_BITS: Final = 2048
"""Bits up to which SymPy's derivative is computed to be held against the ball."""

MAX_FORM_CHARACTERS: Final = 60
"""Characters up to which a formula is shown beside a verdict."""

MAX_SHORTENED_STEPS: Final = 40
"""Steps of an expression up to which shorter forms of it are looked for."""

MIN_DECIMAL_DENOMINATOR: Final = 100
"""Smallest denominator of a fraction that is written as a decimal."""

MAX_DECIMAL_DIGITS: Final = 40
"""Digits up to which a fraction is written as a decimal."""

MAX_REWRITTEN_STEPS: Final = 600
"""Distinct parts of an expression beyond which no rewriting is tried."""

MAX_SIMPLIFIED_STEPS: Final = 60
"""Distinct parts up to which SymPy's own general simplification is tried."""

MAX_EXPANDED_STEPS: Final = 100
"""Distinct parts up to which an expression is multiplied out."""

MAX_SIGN_CASES: Final = 3
"""Quantities whose signs are told apart, case by case."""

ZERO_TEST_BITS: Final = 256
"""Bits that an expression is computed with beside its point."""

MAX_POLYNOMIAL_TERMS: Final = 100_000
"""Terms of a polynomial beyond which nothing is multiplied out."""

# conditions and notes

MAX_SHOWN_CONDITIONS: Final = 12
"""Side conditions, and kinks, that are shown."""

MAX_CONSIDERED_CONDITIONS: Final = 8 * MAX_SHOWN_CONDITIONS
"""Conditions of which it is asked whether they follow from others."""

MAX_SHOWN_TERM_NODES: Final = 24
"""Nodes of a term's tree up to which it is shown."""

MAX_SHOWN_TERM_CHARACTERS: Final = 60
"""Characters of a term's text up to which it is shown."""

MAX_IMPLIED_TERM_NODES: Final = 200
"""Size of a quantity up to which it is asked whether its sign follows from others."""

MAX_QUOTED_CHARACTERS: Final = 40
"""Characters up to which the program's own text stands in a note."""

# entries

FLOAT_PASS_UNITS: Final = 2**30
"""Units of rounding, of the sum of what was added up, that two passes in floats may be
apart."""

MIN_FLOAT_GAP: Final = 1e-300
"""Difference up to which two passes in floats agree: floats so small lose digits."""

NOTABLE_RELATIVE_ERROR: Final = 1e-6
"""Relative error from which on a note tells of the rounding."""

MAX_JUMP_OUTPUTS: Final = 256
"""Entries of the output up to which it is asked whether its value jumps."""

MAX_TIES: Final = 64
"""Ties that are looked through for the one that an entry is a part of."""

# digits

BITS_OF_DIGIT: Final = 3.33
"""Bits that a decimal digit takes."""

SPARE_BITS: Final = 64
"""Bits added to those of the digits that are asked for."""

MAX_PRECISION_DOUBLINGS: Final = 7
"""Times that bits are doubled before a number is left with fewer digits."""

# claims

MAX_CLAIM_STEPS: Final = 50_000
"""Steps in loops that a program may take: at a random point, or with a part of it
written otherwise, a loop may have no end."""

MAX_CLAIM_ENTRIES: Final = 5_000
"""Entries of all inputs together beyond which a claim is not looked at."""

TRIES_PER_POINT: Final = 6
"""Random points tried for each that is wanted: some lie outside the domain."""

COMPARING_SHARE: Final = 0.6
"""Part of the time that comparing at points may take."""

MAX_REFUSALS: Final = 5
"""Points that the program fails at before given values are no longer varied."""

MAX_BRANCHES: Final = 3
"""Branches of a program that a claim is proved on."""

MAX_BRANCH_CONDITIONS: Final = 2
"""Conditions of a branch up to which other branches are looked at."""

MAX_CLAIM_PROOF_ENTRIES: Final = 64
"""Entries of a derivative up to which a proof of all of them is attempted."""

SIMPLIFYING_PASSES: Final = 3
"""Times that all numbers are gone through to make them simpler."""

MAX_SHOWN_ENTRIES: Final = 64
"""Entries of a whole array up to which it is shown, where the shapes differ."""

CONSTANT_RELATIVE_ERROR: Final = 1e-15
"""Relative error of a constant that a few operations on floats made."""

MAX_FRACTION_TERM: Final = 1000
"""Largest numerator and denominator of a fraction that a constant may have meant."""

POINT_DECIMALS: Final = 3
"""Decimals of a random number: enough to be in general position, and short."""

MAX_GRID_ENTRIES: Final = 3
"""Entries of all inputs up to which all small points are gone through."""

SMALL_POINT_TRIES: Final = 60
"""Small points tried where there are more entries."""

# kinks

MAX_ENTRIES_AT_KINK: Final = 100
"""Entries at one point whose sides are looked at."""

SAME_POINT_ROUNDINGS: Final = 4
"""Roundings of an entry within which a point is the program's own."""

SUBGRADIENT_DIRECTIONS: Final = 8
"""Directions in which a joint subgradient is tried."""

MIN_DISTANCE: Final = 1e-20
"""Distance up to which a point is the program's own."""

SUBGRADIENT_SLACK: Final = 1e-12
"""Distance that a slope may fall below a subgradient by rounding."""

POINT_DIGITS: Final = 40
"""Digits to which two points are one."""

MAX_POINTS: Final = 64
"""Points at a distance that are looked at, nearest first."""

MAX_JUMPS_EITHER_WAY: Final = 32
"""Steps either way of a rounding that are looked at, where there is a radius."""

WIDE_BITS: Final = 1330
"""Bits of a non-smooth point and of the steps to it."""

FAST_BITS: Final = 53
"""Bits that are enough to look around with."""

MAX_NEWTON_STEPS: Final = 80
"""Most steps of Newton's method."""

MAX_NEAREST_STEPS: Final = 50
"""Steps of Newton's method that may go to the nearest point."""

MAX_STRAYING_FACTOR: Final = 8
"""Largest distance that the search may stray, in distances asked for."""

SAMPLES_PER_ENTRY: Final = 512
"""Points along an entry: meetings closer than their distance may be one."""

HALVINGS: Final = 40
"""Times that a stretch with a change of sign is halved."""

ZERO_DIGITS: Final = 50
"""Decimals beyond which a slope is 0."""

MAX_RELATIVE_ERROR_OF_ORDERS: Final = 1e-6
"""Relative error up to which a derivative of higher order is certified."""

MAX_RULED_STEPS: Final = 20_000
"""Steps of a program beyond which the engine's rules are run on balls only where a
number is not right as it stands, and its numbers are not looked at in floats."""

MAX_SIMPLE_DENOMINATOR: Final = 1000
"""Largest numerator and denominator of a value that a proof at a point is made with."""
