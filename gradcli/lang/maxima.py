"""Limits of the language; the name of each has its unit.

A program beyond a limit is an error whose code begins with `E4`; its exit status is 4
and its hint says what to do. Messages and quotations are shortened to their limits. The
limit on the memory of a result is in `gradcli.ops.checks`.
"""

MAX_PROGRAM_BYTES = 2_000_000
"""Largest program text, in bytes of UTF-8, unless the caller allows more."""

MAX_NAME_CHARACTERS = 1000
"""Longest name in a program, in an argument or in an option, in characters."""

MAX_STEPS = 50_000_000
"""Largest number of steps run in loops, unless the caller sets another limit."""

MAX_INTEGER_BITS = 4096
"""Largest plain integer of a program, in bits."""

MAX_INTEGER_DIGITS = 1233
"""Largest plain integer of a program, in decimal digits."""

MAX_RANGE_ENTRIES = 1_000_000
"""Longest range that a function such as `sum` accepts, in numbers."""

MAX_ROUND_DIGITS = 400
"""Largest number of decimals to round to; a float never has more."""

MAX_LIST_DEPTH = 32
"""Deepest nesting of lists, in levels, and largest number of dimensions of a value."""

MAX_JSON_INTEGER_DIGITS = 400
"""Smallest length of an integer in JSON that is read as a float, in digits."""

MAX_SHOWN_NAMES = 12
"""Largest number of names, as of inputs or of an archive's arrays, in a message."""

MAX_SHOWN_NAME_CHARACTERS = 40
"""Longest name in a message's list of names, in characters."""

MAX_QUOTE_CHARACTERS = 20
"""Longest quotation from a program or a file in a message, in characters."""

MAX_STEP_QUOTE_CHARACTERS = 40
"""Longest quotation of a step's text, in characters."""

MAX_ARGUMENT_QUOTE_CHARACTERS = 30
"""Longest quotation of an argument of the command line, in characters."""

MAX_MESSAGE_CHARACTERS = 1000
"""Longest message, and longest hint, in characters."""

MAX_PARTED_CHARACTERS = 40
"""Longest name that is tried as several names written together, in characters."""

MAX_MENDS = 50
"""Largest number of corrections that are made one after the other for a hint."""

MAX_MENDED_CHARACTERS = 300
"""Longest corrected line that a hint shows, in characters."""

MIN_ENTRIES_IN_PARTS = 1 << 17
"""Smallest number of entries of an array that is computed part by part."""

WINDOW_COLUMNS = 76
"""Width of the part of a line that is shown with carets, in columns."""

MAX_APPLIED_TOKENS = 100_000
"""Largest length of all functions of a program, each counted where it is called, in
tokens."""

MAX_NESTED_NOTATION = 100
"""Deepest nesting of mathematical notation that is rewritten, in brackets."""

MAX_DERIVATIVE_ORDER = 20
"""Largest number of times that a program derives an expression in one call."""

MAX_TYPED_CHARACTERS = 10_000
"""Largest length of a program that is looked at as a person typed it, in characters."""
