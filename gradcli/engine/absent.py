"""What a module says of a name that it does not have.

Invariant: the message begins as Python's own, and goes on with the way out.

    raise absent("gradcli.nn", "Lineer", nn.__all__)
    # module 'gradcli.nn' has no attribute 'Lineer': did you mean 'Linear'? ...
"""

from __future__ import annotations

from collections.abc import Iterable

CLOSE_ENOUGH = 0.7
"""How alike two names are, from 0 to 1, for the one to be meant by the other."""


def absent(module: str, name: str, offered: Iterable[str]) -> AttributeError:
    """The error for a name, with the nearest of those that are offered."""
    from difflib import get_close_matches

    there = sorted(offered)
    by_small = {known.lower(): known for known in there}
    close = get_close_matches(name.lower(), by_small, 1, CLOSE_ENOUGH)
    hint = f"did you mean {by_small[close[0]]!r}? " if close else ""
    return AttributeError(
        f"module {module!r} has no attribute {name!r}: {hint}dir({module}) lists the "
        "names that there are",
        name=name,
    )
