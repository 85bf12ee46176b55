"""How large and how long the language lets things be; the unit is in each name.

Every limit has an error with a code of its group, `E4…`, which ends with status 4 and
says what to do. What a result may take in memory stands in `gradcli.ops.limits`.
"""

MAX_PROGRAM_BYTES = 2_000_000
"""Largest program text, in bytes of UTF-8, unless the caller allows more."""

MAX_NAME_CHARACTERS = 1000
"""Longest name in a program, in an argument or in an option, in characters."""

MAX_STEPS = 50_000_000
"""Most instructions run in loops, unless the caller bounds the run otherwise."""

MAX_INTEGER_BITS = 4096
"""Largest plain integer of a program, in bits."""

MAX_INTEGER_DIGITS = 1233
"""Largest plain integer of a program, in decimal digits."""

MAX_RANGE_ENTRIES = 1_000_000
"""Longest range that a function goes through by itself, in numbers."""

MAX_ROUND_DIGITS = 400
"""Most decimals to round to: a float has no more before or after its point."""

MAX_LIST_DEPTH = 32
"""Deepest lists in lists of a value, in levels: a tensor has fewer dimensions."""

MAX_JSON_INTEGER_DIGITS = 400
"""Longest integer in JSON that may be finite as a float, in digits."""

MAX_SHOWN_NAMES = 12
"""Most names that a message lists, as those of inputs."""

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
"""Longest name that is looked at as several written together, in characters."""

MAX_MENDS = 50
"""Most places in a line that are put right, one after the other, to show the line."""

MAX_MENDED_CHARACTERS = 300
"""Longest line that is shown put right, in characters."""

WINDOW_COLUMNS = 76
"""Width of the part of a line that is shown with carets, in columns."""

MAX_SHOWN_KEYS = 12
"""Most keys of an archive or of a JSON object that a message lists."""
