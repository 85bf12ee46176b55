"""The group of commands: each command's file is imported when it is called by name.

Invariant: only the list in `cli/commands` decides what commands there are; the help
page of the group imports them all, a run imports one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from shutil import get_terminal_size
from typing import Annotated, Any, Final

import typer
from typer import Option
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from . import anything_set, installed
from . import version as own_version
from .commands import COMMANDS
from .options import (
    HELP_NAMES,
    OPTION,
    PANELS,
    SO_ANYWAY,
    WHOLE,
    arrange,
    expand,
    module_of,
)
from .problems import unknown_command, wrong

MIN_TABLE_COLUMNS: Final = 72
"""Smallest width at which names and explanations stand side by side, in columns."""

MIN_COLUMNS: Final = 20
"""Smallest width of a page, in columns."""

MAX_SHORT_HELP: Final = 200
"""Largest length of a page's first sentence, in characters."""

MAX_BRIEF: Final = 54
"""Largest length of an explanation that a page in brief does not cut, in characters."""

_EXAMPLE: Final = re.compile(r"^Example: .*$", re.M)

LIBRARIES = {
    "NumPy": ("numpy",), "SymPy": ("sympy",), "python-flint": ("python-flint",),
    "CuPy": ("cupy-cuda12x", "cupy-cuda13x", "cupy"),
}  # fmt: skip
"""Libraries that numbers come from, each with the packages that hold it."""

HELP = """Gradients, Jacobians and autograd graphs of a formula or a program.

Every number comes with its graph and, unless --no-verify, with a verdict: a second
process computes the same derivatives in other ways, with error bounds and with SymPy.

Example: gradcli grad "L = (w1*a + w2*a - 1)^2" a=2 w1=0.5 w2=-1.5
"""


class HelpPage:
    """A command or a group whose help page comes in brief or whole, for any width."""

    def get_short_help_str(self, limit: int = MAX_SHORT_HELP) -> str:
        """Return the first sentence of the help page."""
        return str(super().get_short_help_str(limit))  # type: ignore[misc]

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """Return the spellings of the option that shows the page, in their order."""
        return [*ctx.help_option_names]

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option that shows the page."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        option.help = f"Show what this is for; with {WHOLE}, every option."
        option.rich_help_panel = [*PANELS][-1]
        return option

    def get_help(self, ctx: Any) -> str:
        """Return the help page."""
        columns = get_terminal_size().columns
        formatter = ctx.make_formatter()
        if columns < MIN_TABLE_COLUMNS:
            width = max(columns - 1, MIN_COLUMNS)
            formatter = _stacked(ctx.formatter_class)(width=width)
        self.format_help(ctx, formatter)  # type: ignore[attr-defined]
        return str(formatter.getvalue()).rstrip("\n")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command is for; in brief, in two sentences and examples."""
        told = self.help  # type: ignore[attr-defined]
        if not ctx.meta.get(WHOLE):
            sentences = re.split(r"(?<=\.)\s+", _EXAMPLE.sub("", told).strip())
            short = [sentences[0], *map(in_brief, sentences[1:2])]
            told = f"{' '.join(short)}\n\n\b\n" + "\n".join(_EXAMPLE.findall(told))
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(told)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options below their headings: the command's own
        come first, those that all commands have last. In brief, of the others only the
        names are told."""
        sections: dict[str, list[Any]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):  # type: ignore[attr-defined]
            panel = getattr(param, "rich_help_panel", None) or "Options"
            if param.param_type_name == "argument":
                panel = "Arguments"
            if param.get_help_record(ctx) is not None:
                sections.setdefault(panel, []).append(param)
        own = [title for title in sections if title not in PANELS]
        whole, more = ctx.meta.get(WHOLE), []
        for title in filter(sections.get, (*own, *PANELS)):
            params = sections[title]
            records = [param.get_help_record(ctx) for param in params]
            if not whole and title not in ("Arguments", "Options"):
                more.append((title, ", ".join(p.opts[0] for p in params)))
            else:
                told = zip(params, records, strict=True)
                short = [(name, in_brief(p.help or "")) for p, (name, _) in told]
                with formatter.section(title):
                    formatter.write_dl(records if whole else short)
        if more:
            with formatter.section(f"More, with {ctx.command_path} {WHOLE}"):
                formatter.write_dl(more)


def in_brief(text: str) -> str:
    """Return an explanation, or its first clause if it is long."""
    first = re.match(r"(\([^)]*\)|[^(])*?[.:;](?=\s)", text)
    return text if first is None or len(text) <= MAX_BRIEF else first[0][:-1] + "."


def _stacked(base: Any) -> Any:
    """Return a formatter that writes each explanation below its name."""

    class Stacked(base):  # type: ignore[misc]
        def write_dl(self, rows: Iterable[tuple[str, str]], *_: object) -> None:
            for name, explanation in rows:
                self.write_text(name)
                with self.indentation(), self.indentation():
                    self.write_text(explanation)

    return Stacked


class ExpressionCommand(HelpPage, TyperCommand):
    """A command whose arguments may begin with a minus."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options, others = arrange(args, self.params)
        words = [*options, "--", *others]
        if not ctx.resilient_parsing:
            stand_in(ctx, self, options)
        return super().parse_args(ctx, words)


def accepted_by(command: Any) -> set[str]:
    """Return the options that a command does not refuse, by their parameters' names."""
    return {
        str(param.name)
        for param in command.params
        if not getattr(param, "hidden", False) or param.name in SO_ANYWAY
    }


def stand_in(ctx: typer.Context, command: TyperCommand, options: Iterable[str]) -> None:
    """Use the defaults that people set for options that were not typed."""
    if ctx.resilient_parsing or not anything_set():
        return
    from .defaults import for_command

    typed = {word.partition("=")[0] for word in options}
    if typed.intersection(ctx.help_option_names):
        return
    for param in command.get_params(ctx):
        if typed.intersection((*param.opts, *param.secondary_opts)):
            typed.update(name for name in param.opts if name.startswith("--"))
    ctx.default_map = for_command(ctx.info_name or "", typed, accepted_by(command))


def command_of(name: str) -> Any:
    """Return the command of a name, with its options; its file is imported now."""
    module = module_of(name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    kind = getattr(module, "COMMAND", ExpressionCommand)
    single.command(name, cls=kind, context_settings=HELP_NAMES)(expand(module.main))
    return get_command(single)


class Commands(HelpPage, TyperGroup):
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
            raise unknown_command(args[0])
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; report an expression or an option before the command."""
        word = args[0] if args else ""
        ctx.meta[WHOLE] = WHOLE in args
        own = {spelling for param in self.params for spelling in param.opts}
        if word.startswith("-") and word not in {*own, *ctx.help_option_names}:
            command = next((each for each in args if each in COMMANDS), None)
            if command is not None:
                hint = f"write it behind: gradcli {command} {word} ..."
                raise wrong("E591", f"{word} comes before the command", hint)
            if not OPTION.match(word):
                raise unknown_command(args[0])
        return super().parse_args(ctx, args)


def _version(wanted: bool) -> None:
    if wanted:
        found = [f"{n} {installed(*p) or 'not found'}" for n, p in LIBRARIES.items()]
        typer.echo(f"gradcli {own_version()}\nwith {', '.join(found)}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    context_settings=HELP_NAMES,
    add_completion=False,
)


def _options(
    version: Annotated[
        bool,
        Option(
            "--version",
            "-V",
            callback=_version,
            is_eager=True,
            help="Show the version, and those of the libraries that were found.",
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        Option(
            "--install-completion",
            help="Complete words in this shell, or in the one that is named behind: "
            "bash, zsh, fish.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        Option("--show-completion", help="Print the shell's script instead."),
    ] = False,
) -> int:
    """Declare the options of the group itself."""
    return 0


app.callback(help=HELP)(expand(_options))


def application(argv: list[str]) -> int:
    """Run a command line; return its exit status, or raise what went wrong."""
    status = get_command(app).main(argv, prog_name="gradcli", standalone_mode=False)
    return int(status or 0)
