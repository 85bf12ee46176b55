"""How much of a result is shown, and in how much room."""

MAX_TERMINAL_ROWS = 12
"""Rows of an array that a terminal shows before its middle is left out."""

MAX_TERMINAL_RUNS = 12
"""Different nodes or factors in a row that a terminal shows."""

MIN_COUNTED_NEIGHBOURS = 4
"""Equal neighbours from which on they are counted rather than written out."""

MAX_FACTORS_CHARACTERS = 60
"""Characters up to which arrays among the factors are written out."""

MAX_COUNT_DIGITS = 24
"""Digits of a count that a terminal shows."""

MAX_JSON_NUMBER = 10**308
"""Integers that readers of JSON who keep them as doubles read at least nearly."""

MAX_TABLE_COLUMNS = 120
"""Columns of a table where the layout sets no limit: beyond, a line per entry reads
better."""

MAX_BINDING_CHARACTERS = 600
"""Characters of a value that a terminal shows of each input."""

MAX_TEXT_COLUMNS = 40
"""Columns that the program's text takes at most; a longer one moves what follows."""

MAX_TERMINAL_STEPS = 30
"""Steps that a terminal shows under the gradients; `gradcli graph` shows all."""

MAX_TREE_LEVELS = 24
"""Levels of a tree before a branch is continued below."""

MAX_EDGE_ENTRIES = 4
"""Entries of a local gradient that are written out on its edge."""

MAX_LABEL_CHARACTERS = 60
"""Characters of the program's text in a node of a picture."""

MAX_VALUE_CHARACTERS = 40
"""Characters of an array that a terminal writes out; of a longer one it shows the
shape and the range."""

MAX_LABEL_COLUMNS = 16
"""Columns that labels are padded to at most."""

MAX_NOTE_CHARACTERS = 60
"""Characters of a value that a note writes out."""

MIN_ARRAY_COLUMNS = 8
"""Columns that an array gets, however far it is indented."""

DEFAULT_TERMINAL_COLUMNS = 80
"""Columns of a terminal that does not say how many it has."""

MIN_TERMINAL_COLUMNS = 20
"""Columns that a terminal is taken to have at least."""

MAX_CURVE_COLUMNS = 100
"""Columns of a curve, however wide a terminal is."""

MIN_CURVE_COLUMNS = 4
"""Columns of a curve, however narrow a terminal is."""

MAX_SPY_COLUMNS = 100
"""Columns of a picture of a matrix, however wide a terminal is."""

MAX_SPY_ROWS = 24
"""Lines of a picture of a matrix."""

MAX_TERMINAL_ENTRIES = 12
"""Entries of a sparse block that a terminal shows."""

MIN_HINT_COLUMNS = 24
"""Columns that a hint behind carets needs; with fewer it begins a line of its own."""

MAX_PAGE_COLUMNS = 88
"""Columns of a page of the documentation, however wide a terminal is."""
