"""Numbers in text, and those that no float is near.

Invariant: `beyond_floats` tells of nothing where a pattern finds nothing, so that most
texts take one search.

    beyond_floats("1e-400", 0.0)        # "less than any float, which would be 0"
"""

import re

EXTREME = re.compile(r"[eE][+-]?\d{3}|\d{300}")
"""Pattern that every text has in which a number is beyond all floats."""

EXTREME_BYTES = re.compile(EXTREME.pattern.encode())


def beyond_floats(text: str, value: float) -> str | None:
    """Say in words that a number is 0 or infinite as a float alone; None: it is not."""
    if value and value - value == 0:
        return None
    digits = text.lower().partition("e")[0]
    if not value and any(digit in digits for digit in "123456789"):
        return "less than any float, which would be 0"
    if value == value and value and any(digit in digits for digit in "123456789"):
        return "larger than any float, which would be infinite"
    return None


def is_number(cell: str) -> bool:
    """Return whether a text is a number that Python reads as a float."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
