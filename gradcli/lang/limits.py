"""How large and how long the language lets things be; the unit is in each name.

Every limit has an error with a code of its group, `E4…`, which ends with status 4 and
says what to do. What a result may take in memory stands in `gradcli.ops.limits`.
"""

MAX_PROGRAM_BYTES = 2_000_000
"""Of a program's text in UTF-8, unless the caller allows more."""

MAX_NAME_CHARACTERS = 1000
"""Of a name in a program, in an argument or in an option."""

MAX_STEPS = 50_000_000
"""Instructions run in loops, unless the caller bounds the run in another way."""

MAX_INTEGER_BITS = 4096

MAX_INTEGER_DIGITS = 1233
"""Decimal digits in `MAX_INTEGER_BITS`."""

MAX_RANGE_ENTRIES = 1_000_000
"""Of a range that a function goes through by itself."""

MAX_ROUND_DIGITS = 400
"""Decimals to round to: a float has no more before or after its point."""

MAX_LIST_DEPTH = 32
"""Lists in lists of a value: a tensor has fewer dimensions."""

MAX_JSON_INTEGER_DIGITS = 400
"""An integer of more digits is surely infinite as a float."""

MAX_SHOWN_NAMES = 12
"""Of those that a message lists, as the names of inputs."""

MAX_SHOWN_NAME_CHARACTERS = 40
"""Of one of them."""

MAX_QUOTE_CHARACTERS = 20
"""Of what a message quotes from a program or a file."""

MAX_STEP_QUOTE_CHARACTERS = 40
"""Of the text of a step."""

MAX_ARGUMENT_QUOTE_CHARACTERS = 30
"""Of an argument of the command line."""

MAX_MESSAGE_CHARACTERS = 1000
"""Of a message and of its hint, whatever they quote."""

MAX_PARTED_CHARACTERS = 40
"""Of a name that may be several written together."""

MAX_MENDS = 50
"""Places in a line that are put right, one after the other, to show the line."""

MAX_MENDED_CHARACTERS = 300
"""Of a line that is shown put right."""

WINDOW_COLUMNS = 76
"""Of a line of a program that is shown with carets."""

MAX_SHOWN_KEYS = 12
"""Of an archive or of a JSON object."""
