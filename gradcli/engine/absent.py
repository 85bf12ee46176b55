"""What a module offers, and what it says of a name that it does not have.

Invariant: the message begins as Python's own, and goes on with the way out.

    raise absent("gradcli.nn", "Lineer", nn.__all__)
    # module 'gradcli.nn' has no attribute 'Lineer': did you mean 'Linear'? ...
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

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


def offered(
    *files: ModuleType, kind: type | tuple[type, ...] = object
) -> dict[str, Any]:
    """The public names that files define themselves: their functions and classes.

    Args:
        kind: of classes, only those below this one; functions are left out then.
    """
    found = {}
    for file in files:
        for name, value in vars(file).items():
            own = getattr(value, "__module__", None) == file.__name__
            fits = kind is object or (
                isinstance(value, type) and issubclass(value, kind)
            )
            if own and callable(value) and fits and not name.startswith("_"):
                found[name] = value
    return found
