"""Commands by name; a command's file is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.main import get_command

from .options import ExpressionCommand, plain

HELP_NAMES: Final = {"help_option_names": ["-h", "--help"]}


def command_of(name: str) -> Any:
    """Return the command of a name, with its options."""
    module = import_module(f"gradcli.cli.{name}")
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    kind = getattr(module, "COMMAND", ExpressionCommand)
    main = module.main if hasattr(module.main, "__signature__") else plain(module.main)
    single.command(name, cls=kind, context_settings=HELP_NAMES)(main)
    return get_command(single)
