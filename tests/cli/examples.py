"""The example that each command's help shows, which laws of all commands run."""

from __future__ import annotations

import re
import shlex
from importlib import import_module

from gradcli.cli.commands import COMMANDS
from gradcli.cli.defaults import Setting
from gradcli.cli.group import accepted_by, command_of
from gradcli.cli.options import takes_program

ON_PROGRAMS = [name for name in COMMANDS if takes_program(name)]
"""Commands that take a program and the values of its inputs."""

_EXAMPLE = re.compile(r"^\s*Example: gradcli (.*)$", re.M)


def example(command: str) -> list[str]:
    """The words of the first example in a command's help."""
    help_text = import_module(f"gradcli.cli.commands.{command}").main.__doc__ or ""
    found = _EXAMPLE.search(help_text)
    assert found, (
        f"the docstring of gradcli/cli/commands/{command}.py has no line Example: ..."
    )
    return shlex.split(found[1])


def users_of(setting: Setting) -> list[str]:
    """The commands that use a default."""
    return [n for n in COMMANDS if setting.counts(n, accepted_by(command_of(n)))]
