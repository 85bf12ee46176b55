"""Options and arguments that commands on programs share, and how they are told apart.

Invariants: a word is an option if it is spelled like one (`--name`) or is a short
option that the command has; everything else is the program or a binding, whatever it
begins with. So `gradcli grad "-x**2" x=-3` works and `--jsn` is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature, cleandoc, signature
from math import isfinite
from shutil import get_terminal_size
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from typer.core import TyperCommand
from typer.main import get_command

from ..lang.maxima import MAX_PROGRAM_BYTES
from ..records import Record
from ..render.line import Layout
from . import anything_set
from .limits import (
    MAX_DIGITS,
    MAX_MEMORY_BYTES,
    MAX_SECONDS,
    MAX_SETTABLE_SECONDS,
    Limits,
    bytes_of,
    kept,
)
from .output import form
from .problems import wrong

OPTION = re.compile(r"--[A-Za-z][\w-]*(=|$)")

_OPTION_TEXT: Final = re.compile(
    r"^((?:-\w, )?--\w[-\w/]*)(?: (\S+))?: (.+(?:\n +.+)*)\n?", re.M
)
_ARGUMENT_TEXT: Final = re.compile(r"^<(\w+)> (.+?): (.+(?:\n +.+)*)\n?", re.M)
"""Patterns of the lines of a docstring that declare an option or an argument."""

NAMES_JOINED: Final = frozenset({"--wrt", "--keep", "--rename", "--columns"})
"""Options that may be given several times, each time for more names."""

HELP, WHOLE = "--help", "--help-all"
"""Options that show a page: in brief, or whole."""

HELP_NAMES: Final = {"help_option_names": ["-h", HELP, WHOLE]}

MIN_TABLE_COLUMNS: Final = 72
"""Smallest width at which names and explanations stand side by side, in columns."""

MIN_COLUMNS: Final = 20
"""Smallest width of a page, in columns."""

MAX_SHORT_HELP: Final = 200
"""Largest length of a page's first sentence, in characters."""

MAX_BRIEF: Final = 54
"""Largest length of an explanation that a page in brief does not cut, in characters."""

_EXAMPLE: Final = re.compile(r"^Example: .*$", re.M)

COMMON: Final = """
--grad-output VALUE: The cotangent of an output of several numbers: the gradient is that
    of sum(VALUE * output).
--times NAME=VALUE: Only the product with a vector, without the matrix: VALUE is the
    part of the vector for an input, of its shape; of inputs that are not named it is 0.
--require: Exit with status 1 if a verdict is weaker than this.
--verify-seconds SECONDS: Stop verifying after so many seconds.
--json: Print one JSON object.
--debug: Show Python's traceback of an error.
"""
"""Declarations of options that several commands have, as in a docstring."""

Requirement: TypeAlias = Literal["proved", "certified", "sampled"] | None
Seconds: TypeAlias = Annotated[float, {"min": 0, "max": MAX_SETTABLE_SECONDS}]


def _for_the_object(wanted: bool) -> bool:
    from ..render.remarks import keep

    keep(wanted)
    return wanted


Json: TypeAlias = Annotated[bool, {"callback": _for_the_object}]


def _size(option: str) -> dict[str, Any]:
    return {"parser": partial(bytes_of, option=option), "show_default": False}


class Request(Record):
    """The options and arguments that all commands on programs share.

    <words> EXPR [NAME=VALUE]...: The program and a value for each of its inputs. EXPR
        is '-' to read the program from standard input. VALUE is an expression, @FILE
        (.npy, .npz:key, .csv, .tsv, .json), a column of a table (@points.csv:x), or @-
        for standard input. What is read from a file is data: nothing is differentiated
        by it, unless --wrt names it or all inputs are read.
    -f, --file FILE: Read the program from a file ('-': standard input).
    --of NAME: The variable to differentiate (default: the last statement's value).
    --wrt NAMES: Differentiate by these inputs only: a,b; or by one value on the way.
    --shape NAME=SIZES: The shape of an input without a value: X=3,2. Without --shape it
        is a single number.
    --seed N: Seed of random numbers: inputs without a value, randn, rand.
    --strict/--no-strict: An input without a value is an error.
    --draw: Draw inputs without a value at random, also where others have one: else
        that is an error in a pipe, with -q and with --json.
    -q, --quiet: Print the numbers only.
    --precision N: Show numbers with N significant digits, though never in JSON, and
        with -q only if it is typed (default: all digits).
    --device: Where to compute; auto: on a CUDA GPU if there is one.
    --dtype: The precision of all numbers.
    --no-verify/--verify: Do not verify the result.
    --max-seconds SECONDS: Stop after so much processor time, not counting printing and
        the check; of a descent, in each step; of many points, at each row that is
        computed for itself.
    --max-memory SIZE: Stop a computation that takes more memory than this, such as 2GB
        (default: 450MB).
    --max-program SIZE: Refuse a longer program text, such as 10MB (default: 2MB).
    """

    words: list[str] | None = None
    file: str | None = None
    of: str | None = None
    wrt: str | None = None
    shape: list[str] | None = None
    seed: Annotated[int, {"min": 0}] = 0
    strict: bool = False
    draw: bool = False
    json: Json = False
    quiet: bool = False
    precision: Annotated[int | None, {"min": 1, "max": MAX_DIGITS}] = None
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["float64", "float32"] = "float64"
    no_verify: bool = False
    verify_seconds: Seconds = 5.0
    max_seconds: Seconds = MAX_SECONDS
    max_memory: Annotated[int, _size("--max-memory")] = MAX_MEMORY_BYTES
    max_program: Annotated[int, _size("--max-program")] = MAX_PROGRAM_BYTES
    debug: bool = False


PANELS: Final[Mapping[str, tuple[str, ...]]] = {
    "Inputs": ("file", "of", "wrt", "shape", "seed", "strict", "draw"),
    "Verifying": ("require", "no_verify", "verify_seconds"),
    "Computing": ("device", "dtype", "max_seconds", "max_memory", "max_program"),
    "Output": (
        *("json", "quiet", "precision", "keep", "out", "debug", "version"),
        *("install_completion", "show_completion", "help"),
    ),
}
"""Headings of a help page, and the options below each, whichever command has them."""

VERIFIES_NOTHING: Final = "verifies nothing"
IS_A_CHECK: Final = "is itself a check"
HAS_NO_DERIVATIVES: Final = "has no derivatives"
PRINTS_NOTHING_SHORTER: Final = "has nothing shorter to print"
DRAWS_NOTHING: Final = "draws no values"
NEEDS_ALL_VALUES: Final = "needs a value for every input anyway"
IS_EXACT: Final = "computes in high precision, on the processor"

IDLE: Final[Mapping[str, tuple[str, ...]]] = {
    VERIFIES_NOTHING: ("no_verify", "verify_seconds"),
    IS_A_CHECK: ("no_verify",),
    HAS_NO_DERIVATIVES: ("wrt",),
    PRINTS_NOTHING_SHORTER: ("quiet",),
    DRAWS_NOTHING: ("draw",),
    NEEDS_ALL_VALUES: ("strict", "draw"),
    IS_EXACT: ("dtype", "device"),
}
"""Shared options without effect, by the property of a command that makes them so."""

SO_ANYWAY: Final = frozenset({"no_verify", "strict"})
"""Options that only confirm how such a command works; just their opposites are
refused."""

IDLE_BESIDE: Final = {
    "condition": "quiet", "every": "quiet", "out": "code", "mode": "code", "wrt": "to",
    "strict": "draw",
}  # fmt: skip
"""Options of any command, each with the option beside which it has no effect."""

_OF_TEXT: Final = frozenset({"quiet", "code"})
"""Options that change the printed text, and have no effect on a JSON object."""

_typed: Final[dict[str, str]] = {}
"""Options on the command line as typed, by their parameters' names."""


def was_typed(name: str) -> bool:
    """Return True if an option was typed, so that its value is not a default."""
    return name in _typed


_Main: TypeAlias = Callable[..., int]
"""Function of a command, which returns its exit status."""


def refuse_idle(command: str, reason: str, hint: str = "leave it out") -> None:
    """Refuse the options that have no effect for a reason, a key of `IDLE`."""
    if reason == PRINTS_NOTHING_SHORTER and form.json:
        # A JSON object has no shorter form in any command.
        return
    for name in IDLE[reason]:
        option = _typed.get(name)
        so_anyway = name in SO_ANYWAY and option == "--" + name.replace("_", "-")
        if option is not None and not so_anyway:
            raise wrong("E590", f"{option} does nothing: {command} {reason}", hint)


def _refuse(called: str, reasons: Iterable[str], values: Mapping[str, object]) -> None:
    """Refuse options of a command on programs that have no effect for one of the
    reasons, keys of `IDLE`, or beside each other, and numbers that are not finite."""
    for name, value in values.items():
        if isinstance(value, float) and not isfinite(value):
            option = name.replace("_", "-")
            raise wrong("E595", f"--{option}: {value} is not a finite number")
    for reason in reasons:
        refuse_idle(called, reason)
    for name, other in IDLE_BESIDE.items():
        counts = not (form.json and other in _OF_TEXT)
        if counts and was_typed(name) and was_typed(other):
            message = f"--{name} does nothing beside --{other}"
            raise wrong("E590", message, "leave out one of the two")
    if values.get("require") is not None and values["no_verify"]:
        message = "--require asks for a verdict, --no-verify for none"
        raise wrong("E590", message, "leave out one of the two")


def without(*reasons: str) -> Callable[[_Main], _Main]:
    """Return a decorator for a command on programs whose help leaves shared options
    out, and which refuses them for these reasons, keys of `IDLE`."""

    def marked(function: _Main) -> _Main:
        vars(function)["reasons"] = reasons
        return function

    return marked


def read_by_typer(function: _Main) -> _Main:
    """Return the function of a command in a form that typer reads.

    A parameter whose type is a dataclass, such as `Request`, is a group: each of its
    fields is an option. ``function(request, groups..., options...)`` becomes a function
    of all options by name; the shared ones come last.
    """
    alone = declared(function)
    reasons: tuple[str, ...] = getattr(function, "reasons", ())
    idle = {name for reason in reasons for name in IDLE[reason]}
    groups: dict[str, Any] = {
        name: alone.pop(name).annotation
        for name, each in [*alone.items()]
        if is_dataclass(each.annotation)
    }
    members = {name: declared(kind, idle) for name, kind in groups.items()}
    called = "gradcli " + function.__module__.rpartition(".")[2]

    def command(**values: Any) -> int:
        if "request" in groups:
            form.json, form.quiet = values["json"], values["quiet"]
            shortened = form.full or (form.bare and was_typed("precision"))
            Layout.digits = values["precision"] if shortened else None
            _refuse(called, reasons, values)
        for name, group in groups.items():
            given = {option: values.pop(option) for option in members[name]}
            values[name] = group(**given)
        request = values.get("request")
        if request is None:
            return function(**values)
        with kept(Limits(request.max_seconds, request.max_memory)):
            return function(**values)

    shared = members.get("request", {})
    of_groups = [options for name, options in members.items() if name != "request"]
    kinds = (*of_groups, alone, shared)
    parameters = [option for options in kinds for option in options.values()]
    # Functions may have a signature of their own; typer reads it, mypy does not know.
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    told = _OPTION_TEXT.sub("", cleandoc(function.__doc__ or ""))
    command.__doc__ = _ARGUMENT_TEXT.sub("", told).rstrip()
    return command


def declared(owner: Any, hidden: Collection[str] = ()) -> dict[str, Parameter]:
    """Return the parameters of a function or the fields of a dataclass as options.

    The docstring declares an option by a line ``--name METAVAR: text``, and an argument
    by a line ``<name> METAVAR: text``. Limits on its value are a dictionary beside its
    type, with the words of `typer.Option`. The options of a dataclass stand below its
    ``TITLE`` in the help page, but for the ``hidden`` ones.
    """
    panel = getattr(owner, "TITLE", None)
    panels = {n: title for title, names in PANELS.items() for n in names}
    made: dict[str, Callable[..., Any]] = {}
    told = COMMON + cleandoc(owner.__doc__ or "")
    for spelled, metavar, about in _OPTION_TEXT.findall(told):
        *short, long = spelled.split(", ")
        name = long.partition("/")[0].removeprefix("--").replace("-", "_")
        text, shown_as = " ".join(about.split()), metavar or None
        made[name] = partial(typer.Option, long, *short, metavar=shown_as, help=text)
    for name, metavar, about in _ARGUMENT_TEXT.findall(told):
        text = " ".join(about.split())
        made[name] = partial(typer.Argument, metavar=metavar, help=text)
    hints = get_type_hints(owner, include_extras=True)
    found = {}
    for parameter in signature(owner).parameters.values():
        name, kind = parameter.name, hints[parameter.name]
        base, *more = get_args(kind) if get_origin(kind) is Annotated else (kind,)
        extras = more[0] if more else {}
        if name.rstrip("_") in made:
            shown = {"show_default": base is not bool, "rich_help_panel": panel}
            info = made[name.rstrip("_")](**{**shown, **extras})
            info.rich_help_panel = panels.get(name, info.rich_help_panel)
            info.hidden |= name in hidden
            kind = Annotated[base, info]
        found[name] = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=kind)
    return found


class Page:
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


class ExpressionCommand(Page, TyperCommand):
    """A command whose arguments may begin with a minus."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            spelling: (max(param.opts, key=len), not getattr(param, "is_flag", False))
            for param in self.get_params(ctx)
            for spelling in param.opts
            if spelling.startswith("-")
        }
        arranged = arrange(args, takes_value)
        if ctx.resilient_parsing:
            # The line is still being typed, and the shell asks for completions.
            return super().parse_args(ctx, arranged)
        options = arranged[: arranged.index("--")]
        names = {
            spelling: str(param.name)
            for param in self.get_params(ctx)
            for spelling in (*param.opts, *param.secondary_opts)
        }
        words = (word.partition("=")[0] for word in options)
        _typed.clear()
        _typed.update((names[word], word) for word in words if word in names)
        stand_in(ctx, self, options)
        return super().parse_args(ctx, arranged)


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


def arrange(args: list[str], known: Mapping[str, tuple[str, bool]]) -> list[str]:
    """Return the words with options first, then ``--``, the program and its bindings.

    ``known`` holds, for each spelling of an option, its long name and whether it takes
    a value.
    """
    options: list[str] = []
    others: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            others.extend(words)
            break
        if word in known:
            name, takes_value = known[word]
            value = next(words, None) if takes_value else ""
            if value is None:
                hint = "write it after the option"
                raise wrong("E590", f"option {word} needs a value", hint)
            word = f"{name}={value}" if takes_value else name
        elif not OPTION.match(word) and not (others and re.match("-.", word, re.S)):
            others.append(word)
            continue
        name, _, names = word.partition("=")
        at = [nr for nr, each in enumerate(options) if each.startswith(f"{name}=")]
        if name in NAMES_JOINED and at:
            options[at[0]] += f",{names}"
        else:
            options.append(word)
    return [*options, "--", *others]


def takes_program(name: str) -> bool:
    """Return whether a command takes a program and the values of its inputs."""
    return "request" in _module(name).main.__annotations__


def _module(name: str) -> Any:
    return import_module(f"gradcli.cli.commands.{name}")


def command_of(name: str) -> Any:
    """Return the command of a name, with its options; its file is imported now."""
    module = _module(name)
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    kind = getattr(module, "COMMAND", ExpressionCommand)
    main = read_by_typer(module.main)
    single.command(name, cls=kind, context_settings=HELP_NAMES)(main)
    return get_command(single)
