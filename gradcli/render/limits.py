"""Limits on how much of a result is shown, and on the room for it."""

MAX_TERMINAL_ROWS = 12
"""Number of rows of an array that a terminal shows; more are left out in the middle."""

MAX_TERMINAL_RUNS = 12
"""Largest number of parts of a path or a product, single or counted, that a terminal
shows."""

MIN_COUNTED_NEIGHBOURS = 4
"""Smallest number of equal neighbours that are counted rather than written out."""

MAX_FACTORS_CHARACTERS = 60
"""Largest length of a product of arrays that is written out, in characters."""

MAX_COUNT_DIGITS = 24
"""Largest number of digits of a count that a terminal shows."""

MAX_JSON_NUMBER = 10**308
"""Smallest integer that JSON writes as a string, since doubles may not hold it."""

MAX_TABLE_COLUMNS = 120
"""Largest width of a table where the layout sets no limit, in columns; a wider one is
written as a line per entry."""

MAX_BINDING_CHARACTERS = 600
"""Largest length of an input's value that a terminal shows, in characters."""

MAX_TEXT_COLUMNS = 40
"""Largest width of the column of the program's text, in columns; a longer text moves
what follows."""

MAX_TERMINAL_STEPS = 30
"""Number of steps that a terminal shows under the gradients; `gradcli graph` shows
all."""

MAX_TREE_LEVELS = 24
"""Number of levels of a tree before a branch is continued below."""

MAX_EDGE_ENTRIES = 4
"""Largest number of entries of a local gradient that are written out on its edge."""

MAX_LABEL_CHARACTERS = 60
"""Largest length of the program's text in a node of a picture, in characters."""

MAX_VALUE_CHARACTERS = 40
"""Largest length of an array that a terminal writes out, in characters; for a longer
one it shows the shape and the range."""

MAX_LABEL_COLUMNS = 16
"""Largest width that labels are padded to, in columns."""

MAX_NOTE_CHARACTERS = 60
"""Largest length of a value that a note writes out, in characters."""

MIN_ARRAY_COLUMNS = 8
"""Smallest width of an array, however far it is indented, in columns."""

DEFAULT_TERMINAL_COLUMNS = 80
"""Width of a terminal that does not say how wide it is, in columns."""

MIN_TERMINAL_COLUMNS = 20
"""Smallest width that a terminal is taken to have, in columns."""

MAX_CURVE_COLUMNS = 100
"""Largest width of a curve, in columns."""

MIN_CURVE_COLUMNS = 4
"""Smallest width of a curve, in columns."""

MAX_SPY_COLUMNS = 100
"""Largest width of a picture of a matrix, in columns."""

MAX_SPY_ROWS = 24
"""Largest number of lines of a picture of a matrix."""

MAX_TERMINAL_ENTRIES = 12
"""Number of entries of a sparse block that a terminal shows."""

MIN_HINT_COLUMNS = 24
"""Smallest width of a hint behind carets, in columns; a narrower one begins a new
line."""

MAX_PAGE_COLUMNS = 88
"""Largest width of a page of the documentation, in columns."""
