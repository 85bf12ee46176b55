"""The version, as the installed package's metadata has it."""

from __future__ import annotations


def version() -> str:
    """The version; of a source tree that is not installed, that it is one."""
    from importlib import metadata

    try:
        return metadata.version("gradcli")
    except metadata.PackageNotFoundError:
        return "(source tree, not installed)"
