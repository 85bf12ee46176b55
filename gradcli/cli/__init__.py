"""The command line: each command parses its words, calls the library, and passes a view
to a renderer.

Invariants: importing a command's module imports neither NumPy nor SymPy nor rich; what
a command needs is imported when it runs. Importing this module imports nothing else.
Whatever is wrong with a command line, a file or a value is a `ProgramError`, raised
where it is found.
"""

from __future__ import annotations

import os

PREFIX = "GRADCLI_"
"""Beginning of the variables that set defaults."""


def version() -> str:
    """Return the version, or a text for a source tree that is not installed."""
    return installed("gradcli") or "(source tree, not installed)"


def installed(*names: str) -> str | None:
    """Return the version of the first of some packages that is there, which is not
    imported; None if there is none."""
    from importlib import metadata

    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def settings_path() -> str:
    """Return the path of the file of settings, even if there is none."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "gradcli", "config.toml")


def anything_set() -> bool:
    """Return True if there is a variable or a file of settings."""
    variables = any(name.startswith(PREFIX) for name in os.environ)
    return variables or os.path.lexists(settings_path())
