"""Commands by name; a command's file is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.main import get_command

from .options import ExpressionCommand, read_by_typer

HELP_NAMES: Final = {"help_option_names": ["-h", "--help"]}


def takes_program(name: str) -> bool:
    """Return whether a command takes a program and the values of its inputs."""
    return "request" in _module(name).main.__annotations__


def _module(name: str) -> Any:
    return import_module(f"gradcli.cli.commands.{name}")


def command_of(name: str) -> Any:
    """Return the command of a name, with its options."""
    module = _module(name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    kind = getattr(module, "COMMAND", ExpressionCommand)
    main = read_by_typer(module.main)
    single.command(name, cls=kind, context_settings=HELP_NAMES)(main)
    return get_command(single)
