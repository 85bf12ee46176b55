"""The example that each command's help shows, which laws of all commands run."""

from __future__ import annotations

import re
import shlex
from importlib import import_module

_EXAMPLE = re.compile(r"^\s*Example: gradcli (.*)$", re.M)


def example(command: str) -> list[str]:
    """The words of the first example in a command's help."""
    help_text = import_module(f"gradcli.cli.{command}").main.__doc__ or ""
    found = _EXAMPLE.search(help_text)
    assert found, f"the docstring of gradcli/cli/{command}.py has no line Example: ..."
    return shlex.split(found[1])
