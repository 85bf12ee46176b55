"""The command line: each command parses, calls the library, and passes a view to a
renderer.

Invariant: importing a command's module imports neither NumPy nor SymPy nor rich; what
a command needs is imported when it runs.
"""

from __future__ import annotations


def version() -> str:
    """Return the version; of a source tree that is not installed, that it is one."""
    from importlib import metadata

    try:
        return metadata.version("gradcli")
    except metadata.PackageNotFoundError:
        return "(source tree, not installed)"
