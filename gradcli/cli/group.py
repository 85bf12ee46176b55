"""The group of commands: each command's file is imported when it is called by name.

Invariant: only the list in `cli/commands` decides what commands there are; the help
page of the group imports them all, a run imports one.
"""

from __future__ import annotations

from os import environ
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from . import installed
from . import version as own_version
from .commands import COMMANDS
from .options import HELP_NAMES, OPTION, WHOLE, Page, command_of, read_by_typer
from .output import note
from .problems import unknown_command, wrong

LIBRARIES = {
    "NumPy": ("numpy",), "SymPy": ("sympy",), "python-flint": ("python-flint",),
    "CuPy": ("cupy-cuda12x", "cupy-cuda13x", "cupy"),
}  # fmt: skip
"""Libraries that numbers come from, each with the packages that hold it."""

COMPLETION = ("--install-completion", "--show-completion")

HELP = """Gradients, Jacobians and autograd graphs of a formula or a program.

Every number comes with its graph and, unless --no-verify, with a verdict: a second
process computes the same derivatives in other ways, with error bounds and with SymPy.

Example: gradcli grad "L = (w1*a + w2*a - 1)^2" a=2 w1=0.5 w2=-1.5
"""


class Commands(Page, TyperGroup):
    """The group of all commands, which imports a command's module to find it."""

    def list_commands(self, ctx: object) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        return command_of(cmd_name) if cmd_name in COMMANDS else None

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write each command with the first sentence of its page, and the options."""
        with formatter.section("Commands"):
            formatter.write_dl([
                (name, command_of(name).get_short_help_str()) for name in COMMANDS
            ])  # fmt: skip
        super().format_options(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS:
            raise unknown_command(*args)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; report an expression or an option before the command."""
        word = args[0] if args else ""
        ctx.meta[WHOLE] = WHOLE in args
        if word in COMPLETION:
            _complete(word, args[1:])
            raise typer.Exit
        own = {spelling for param in self.params for spelling in param.opts}
        if word.startswith("-") and word not in {*own, *ctx.help_option_names}:
            command = next((each for each in args if each in COMMANDS), None)
            if command is not None:
                hint = f"write it behind: gradcli {command} {word} ..."
                raise wrong("E591", f"{word} stands before the command", hint)
            if not OPTION.match(word):
                raise unknown_command(*args)
        return super().parse_args(ctx, args)


def _version(wanted: bool) -> None:
    if wanted:
        found = [f"{n} {installed(*p) or 'not found'}" for n, p in LIBRARIES.items()]
        typer.echo(f"gradcli {own_version()}\nwith {', '.join(found)}")
        raise typer.Exit


def _complete(option: str, words: list[str]) -> None:
    """Install or show the completion of a shell; if none is named, of this one."""
    from .completion import SCRIPTS, install, own_shell, print_script

    shell = words[0] if words else own_shell()
    if not shell or len(words) > 1:
        hint = f"name one: {option} {next(iter(SCRIPTS))}"
        raise wrong("E590", f"{option} is for one shell", hint)
    if option == "--show-completion":
        typer.echo(print_script(shell))
    else:
        note(f"completion of {shell} is in {install(shell)}")
        note("it is there in a new terminal")


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    context_settings=HELP_NAMES,
    add_completion=False,
)


def _options(
    version: Annotated[bool, {"callback": _version, "is_eager": True}] = False,
    install_completion: bool = False,
    show_completion: bool = False,
) -> int:
    """Declare the options of the group itself.

    -V, --version: Show the version, and those of the libraries that were found.
    --install-completion: Complete words in this shell, or in the one that is named
        behind: bash, zsh, fish, powershell.
    --show-completion: Print the shell's script instead.
    """
    return 0


app.callback(help=HELP)(read_by_typer(_options))


def application(argv: list[str]) -> int:
    """Run a command line; return its exit status, or raise what went wrong."""
    asked = environ.get("_GRADCLI_COMPLETE", "")
    if asked:
        from .completion import answer

        typer.echo(answer(asked, environ), nl=False)
        return 0
    status = get_command(app).main(argv, prog_name="gradcli", standalone_mode=False)
    return int(status or 0)
