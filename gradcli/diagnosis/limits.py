"""How much a diagnosis looks at, and how much of it is written out."""

MAX_GRAPH_NODES = 200
"""Nodes of a graph that are looked at."""

MAX_PAIRED_FACTORS = 16
"""Candidates up to which two at a time are tried as well."""

MAX_VARIABLES = 12
"""Variables of a program that may have been taken for constants."""

MAX_OUTPUT_ENTRIES = 64
"""Entries of the output up to which a reverse pass is made for each."""

MAX_PATHS = 24
"""Paths to an input up to which each is followed alone."""

EQUATIONS_PER_CONSTANT = 3
"""Equations per unknown constant."""

MAX_WRONG_PATHS = 3
"""Paths that one claim may have wrong."""

MAX_REWRITINGS = 24
"""Rewritings of a program that are tried."""

MAX_DIMENSIONS = 4
"""Dimensions whose orders and sums are tried."""

MAX_NAME_PAIRS = 20
"""Pairs of names that may have been swapped."""

MIN_SAMPLES = 3
"""Samples below which any constant would fit, so nothing is concluded."""

MAX_REPAIR_CHARACTERS = 120
"""Characters of a claim that is worth writing out once more."""

POINTS_PER_SAMPLE = 6
"""Points tried for each that is wanted."""

SAMPLES = 12
"""Samples that a hypothesis must fit, all of them."""

MAX_SUBTERMS = 60
"""Subterms of a text that are looked at."""

MAX_DIRECTIONS = 8
"""Entries up to which each is moved alone; of more, so many directions are sampled."""

OTHER_POINTS = 4
"""Points at which values are compared besides the given one."""

MAX_LOOP_STEPS = 200_000
"""Steps in loops that a program may take: elsewhere a loop may have no end."""

MAX_ANSWER_ENTRIES = 64
"""Of a derivative that is shown as a formula in answer to a false claim."""

MAX_ANSWER_CHARACTERS = 400
"""Of that formula."""

MAX_PIECES = 4
"""Parts of the domain that a derivative is told on."""

PIECE_POINTS = 24
"""Points at which its parts are looked for."""

MAX_ANSWER_NODES = 400
"""Nodes of a program's value, written out, whose derivative is short enough to show."""
