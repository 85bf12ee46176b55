"""Options and arguments that commands on programs share, and how they are told apart.

Invariants: a word is an option if it is spelled like one (`--name`) or is a short
option that the command has; everything else is the program or a binding, whatever it
begins with. So `gradcli grad "-x**2" x=-3` works and `--jsn` is an error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from inspect import Parameter, Signature, signature
from math import isfinite
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)
from unicodedata import normalize

from typer import Argument, Option

from ..answers.line import Layout
from ..answers.writer import keep
from ..lang.maxima import MAX_PROGRAM_BYTES
from ..ops.records import record
from .limits import (
    MAX_DIGITS,
    MAX_MEMORY_BYTES,
    MAX_SECONDS,
    MAX_SETTABLE_SECONDS,
    Limits,
    bytes_of,
    enforced,
)
from .output import form
from .problems import typed, wrong

OPTION = re.compile(r"-h$|--[A-Za-z][\w-]*(=|$)")

NAMES_JOINED: Final = frozenset({"--wrt", "--keep", "--rename", "--columns"})
"""Options that may be given several times, each time for more names."""

HELP, WHOLE = "--help", "--help-all"
"""Options that show a page: in brief, or whole."""

HELP_NAMES: Final = {"help_option_names": ["-h", HELP, WHOLE]}

Requirement: TypeAlias = Annotated[
    Literal["proved", "certified", "sampled", "finite"] | None,
    Option("--require", help="Exit with status 1 if a verdict is weaker than this."),
]
GradOutput: TypeAlias = Annotated[
    str | None,
    Option(
        "--grad-output",
        metavar="VALUE",
        help="Weights for an output of several numbers: the gradient is that of "
        "sum(VALUE * output).",
    ),
]
Times: TypeAlias = Annotated[
    list[str] | None,
    Option(
        "--times",
        "--along",
        metavar="NAME=VALUE",
        help="Only the product with a vector: the derivative along it. VALUE is the "
        "part of the vector for an input, and has the input's shape. For other inputs "
        "it is 0.",
    ),
]
VerifySeconds: TypeAlias = Annotated[
    float,
    Option(
        "--verify-seconds",
        metavar="SECONDS",
        min=0,
        max=MAX_SETTABLE_SECONDS,
        help="Limit of processor time for the check.",
    ),
]
Json: TypeAlias = Annotated[bool, Option("--json", help="Print one JSON object.")]
Debug: TypeAlias = Annotated[
    bool, Option("--debug", help="Show Python's traceback of an error.")
]
"""Options that several commands have."""


def _size(option: str) -> dict[str, Any]:
    return {"parser": partial(bytes_of, option=option), "show_default": False}


@record
class Request:
    """The options and arguments that all commands on programs share."""

    words: Annotated[
        list[str] | None,
        Argument(
            metavar="EXPR [NAME=VALUE]...",
            help="The program and a value for each of its inputs. EXPR is '-' to read "
            "the program from standard input. VALUE is an expression, @FILE (.npy, "
            ".npz:key, .csv, .tsv, .json), a column of a table (@points.csv:x), or "
            "@- for standard input. A value from a file is data: nothing is "
            "differentiated by it, unless --wrt names it or all inputs are read.",
        ),
    ] = None
    file: Annotated[
        str | None,
        Option(
            "--file",
            "-f",
            metavar="FILE",
            help="Read the program from a file ('-': standard input).",
        ),
    ] = None
    of: Annotated[
        str | None,
        Option(
            "--of",
            metavar="NAME",
            help="The variable to differentiate (default: the last statement's value).",
        ),
    ] = None
    wrt: Annotated[
        str | None,
        Option(
            "--wrt",
            metavar="NAMES",
            help="Differentiate only by these inputs: a,b. Or by one variable.",
        ),
    ] = None
    shape: Annotated[
        list[str] | None,
        Option(
            "--shape",
            metavar="NAME=SIZES",
            help="The shape of an input without a value: X=3,2. By default it "
            "is a single number, or in formulas the shape that the program needs.",
        ),
    ] = None
    seed: Annotated[
        int,
        Option(
            "--seed",
            metavar="N",
            min=0,
            help="Seed for the random numbers of --draw, rand and randn.",
        ),
    ] = 0
    strict: Annotated[
        bool,
        Option(
            "--strict/--no-strict",
            help="An input without a value is an error. Without this option the answer "
            "may be a formula.",
        ),
    ] = False
    draw: Annotated[
        bool,
        Option(
            "--draw/--no-draw",
            help="Draw inputs without a value at random. Without this option the "
            "answer is a formula, or an error in a pipe, with -q and with --json.",
        ),
    ] = False
    json: Json = False
    quiet: Annotated[
        bool,
        Option("--quiet", "-q", help="Print the numbers only."),
    ] = False
    precision: Annotated[
        int | None,
        Option(
            "--precision",
            metavar="N",
            min=1,
            max=MAX_DIGITS,
            help="Show numbers with N significant digits (default: 6 in a terminal, "
            "else all digits). JSON always has all digits.",
        ),
    ] = None
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        Option(
            "--device",
            help="Where to compute; auto: on a CUDA GPU if there is one and an input "
            "has a million entries or more.",
        ),
    ] = "auto"
    dtype: Annotated[
        Literal["float64", "float32"],
        Option("--dtype", help="The precision of all numbers."),
    ] = "float64"
    no_verify: Annotated[
        bool,
        Option("--no-verify/--verify", help="Do not verify the result."),
    ] = False
    verify_seconds: VerifySeconds = 5.0
    max_seconds: Annotated[
        float,
        Option(
            "--max-seconds",
            metavar="SECONDS",
            min=0,
            max=MAX_SETTABLE_SECONDS,
            help="CPU-time limit for the computation (not for verification). In a "
            "descent it applies per step, in a table per row. Rows on a cluster are "
            "not limited one by one.",
        ),
    ] = MAX_SECONDS
    max_memory: Annotated[
        int,
        Option(
            "--max-memory",
            metavar="SIZE",
            **_size("--max-memory"),
            help="Stop a computation that takes more memory than this, such as 2GB "
            "(default: 450MB).",
        ),
    ] = MAX_MEMORY_BYTES
    max_program: Annotated[
        int,
        Option(
            "--max-program",
            metavar="SIZE",
            **_size("--max-program"),
            help="Refuse a longer program text, such as 10MB (default: 2MB).",
        ),
    ] = MAX_PROGRAM_BYTES
    debug: Debug = False


@record
class Many:
    """A group of options: where points come from, and where results go."""

    TITLE: ClassVar = "Many points"

    table: Annotated[
        str | None,
        Option(
            "--table",
            metavar="FILE",
            help="Compute at every row of a table. Its columns are the inputs without "
            "a value. FILE is .csv, .tsv, .json or .jsonl, also compressed (.csv.gz), "
            ".npy, .parquet, or '-' for standard input. A unit behind a name, as in "
            "mass [kg], may be omitted. Nothing is verified without --require.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        Option(
            "--columns",
            metavar="NAMES",
            help="The names of the columns of a table without a header: x,y.",
        ),
    ] = None
    keep: Annotated[
        str | None,
        Option(
            "--keep",
            metavar="NAMES",
            help="Columns of the table to copy to the results: id,name.",
        ),
    ] = None
    rename: Annotated[
        str | None,
        Option(
            "--rename",
            metavar="OLD=NEW",
            help="Read the column OLD of the table as the input NEW: "
            "old=new,old2=new2. If NEW is not an input, rename the column OLD of the "
            "results.",
        ),
    ] = None
    sweep: Annotated[
        list[str] | None,
        Option(
            "--sweep",
            metavar="NAME=START..STOP:COUNT",
            help="Compute at evenly spaced values of an input, such as x=0..1:101, or "
            "at those of a list, x=[0,1,5]. With several inputs, compute at all "
            "combinations.",
        ),
    ] = None
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write what is computed to a file, in the format that its name ends "
            "with: rows to a table, also packed, as out.csv.gz; at one point "
            "gradients to a .npz or .npy, a block of derivatives to a .npz "
            "(scipy.sparse), .mtx (Matrix Market), .npy or .csv. With several blocks, "
            "{} in the name is replaced by the input's name.",
        ),
    ] = None
    on_error: Annotated[
        Literal["skip", "stop", "nan"] | None,
        Option(
            "--on-error",
            help="For rows that fail or are nan: skip them, stop, or write nan. By "
            "default rows that fail are skipped, and nan is written.",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        Option(
            "--cluster",
            metavar="ADDRESS",
            help="Compute on the workers of a Dask cluster, or in N processes of this "
            "machine: local:N.",
        ),
    ] = None

    def asked(self, *endings: str) -> bool:
        """Return whether many points were asked for; refuse options without effect, and
        for one point a file whose name ends with none of the ``endings``."""
        for name in ("table", "out"):
            if getattr(self, name) == "":
                raise wrong("E595", f"--{name}: there is no file name", "give one")
        if self.table is not None and self.sweep:
            hint = "leave out one of the two"
            raise wrong("E590", "--table and --sweep both give points", hint)
        odd, out = self.on_error is not None, self.out or ""
        odd_out = not out.lower().endswith(endings) and out
        extra = typed(columns=self.columns, keep=self.keep)
        if not self.sweep:
            one = {"cluster": self.cluster, "on_error": odd, "rename": self.rename}
            extra += typed(**one, out=odd_out)
        if extra and self.table is None:
            hint = f"give points with --table{'' if self.sweep else ' or --sweep'}"
            message = f"{extra[0]} is for many points"
            if endings and extra == ["--out"]:
                message = f"--out: {out!r} is no file for one point"
                hint = f"end its name with {' or '.join(endings)}; else {hint}"
            raise wrong("E590", message, hint)
        return self.table is not None or bool(self.sweep)

    @property
    def renamed(self) -> dict[str, str]:
        """The old names by the new ones."""
        pairs = [pair.partition("=") for pair in listed(self.rename) or ()]
        if not all(old and new for old, _, new in pairs):
            hint = "as in --rename speed=v,weight=m"
            raise wrong("E595", f"--rename: {self.rename!r} is not OLD=NEW", hint)
        return {new.strip(): old.strip() for old, _, new in pairs}

    def refuse(
        self, request: Request, require: str | None = None, **others: object
    ) -> None:
        """Refuse further options, by name, that have no effect at many points, where
        verdicts are reached only if some are required."""
        own = {"precision": was_typed("precision")}
        if require is None:
            own["verify_seconds"] = was_typed("verify_seconds")
        extra = typed(**others, shape=request.shape, **own)
        if extra:
            message = f"{extra[0]} is not for many points"
            raise wrong("E590", message, "leave it out, or ask at one point")


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

TYPED: Final[dict[str, str]] = {}
"""Options on the command line as typed, by their parameters' names."""


def was_typed(name: str) -> bool:
    """Return True if an option was typed, so that its value is not a default."""
    return name in TYPED


def listed(text: str | None) -> list[str] | None:
    """Return the names in an option's text, as the language spells them."""
    if text is None:
        return None
    names = normalize("NFC", text).split(",")
    return [name.strip() for name in names if name.strip()]


_Main: TypeAlias = Callable[..., int]
"""Function of a command, which returns its exit status."""


def refuse_idle(command: str, reason: str, hint: str = "leave it out") -> None:
    """Refuse the options that have no effect for a reason, a key of `IDLE`."""
    if reason == PRINTS_NOTHING_SHORTER and form.json:
        # A JSON object has no shorter form in any command.
        return
    for name in IDLE[reason]:
        option = TYPED.get(name)
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


TERMINAL_DIGITS: Final = 6
"""Number of significant digits that a terminal shows."""

_SHOWS_ALL: Final = ("gradcli check", "gradcli descend", "gradcli kinks")
"""Commands whose numbers differ in late digits, or are copied to another command."""


def _digits_of_a_terminal(called: str) -> int | None:
    """Return the number of digits that a command shows in a terminal; None in a pipe,
    and for a command that shows all digits."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    return TERMINAL_DIGITS if terminal and called not in _SHOWS_ALL else None


def expand(function: _Main) -> Callable[..., int]:
    """Return a command with the parameters that typer reads: each field of a parameter
    that is a dataclass, such as `Request`, is a parameter of its own.

    Options without effect, which ``without`` names, are hidden. The shared options come
    last.
    """
    reasons: tuple[str, ...] = getattr(function, "reasons", ())
    idle = {name for reason in reasons for name in IDLE[reason]}
    own = {n: h for n, h in _annotations(function).items() if n != "return"}
    groups: dict[str, Any] = {n: own.pop(n) for n in [*own] if is_dataclass(own[n])}
    called = "gradcli " + function.__module__.rpartition(".")[2]

    def command(**values: Any) -> int:
        keep(values.get("json", False))
        if "request" in groups:
            form.json, form.quiet = values["json"], values["quiet"]
            form.strict = values["strict"]
            shortened = form.full or (form.numbers_only and was_typed("precision"))
            digits = values["precision"]
            if digits is None and values.get("out") is None:
                digits = _digits_of_a_terminal(called)
            Layout.digits = digits if shortened else None
            _refuse(called, reasons, values)
        for name, group in groups.items():
            fields = {each: values.pop(each) for each in _annotations(group)}
            values[name] = group(**fields)
        request = values.get("request")
        if request is None:
            return function(**values)
        with enforced(Limits(request.max_seconds, request.max_memory)):
            return function(**values)

    parameters = []
    last = [group for name, group in groups.items() if name == "request"]
    for owner in (*(g for g in groups.values() if g not in last), function, *last):
        hints = own if owner is function else _annotations(owner)
        for name, default in signature(owner).parameters.items():
            if name in hints:
                kind = _with_panel(name, hints[name], owner, name in idle)
                parameters.append(
                    default.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY)
                )
    made: Any = command
    made.__signature__ = Signature(parameters)
    made.__annotations__ = {each.name: each.annotation for each in parameters}
    made.__doc__ = function.__doc__
    return command


def _annotations(owner: Any) -> dict[str, Any]:
    """Return the annotations of a function's parameters, or of a dataclass's fields."""
    hints = get_type_hints(owner, include_extras=True)
    return {name: hints[name] for name in signature(owner).parameters}


def _with_panel(name: str, hint: Any, owner: Any, hidden: bool) -> Any:
    """Return an option's annotation with the heading that it stands below in the help
    page: that of `PANELS`, else the ``TITLE`` of its group."""
    if get_origin(hint) is not Annotated:
        return hint
    base, declared = get_args(hint)
    declared = copy(declared)
    panels = {each: title for title, names in PANELS.items() for each in names}
    declared.rich_help_panel = panels.get(name, getattr(owner, "TITLE", None))
    declared.hidden |= hidden
    declared.show_default &= base is not bool
    return Annotated[base, declared]


def arrange(args: list[str], params: Iterable[Any]) -> tuple[list[str], list[str]]:
    """Return the options among words, each with its value, and the other words; note
    which of the command's parameters were typed."""
    by = {spelling: param for param in params for spelling in param.opts}
    off = {spelling: param for param in params for spelling in param.secondary_opts}
    options: list[str] = []
    others: list[str] = []
    words = iter(args)
    TYPED.clear()
    for word in words:
        if word == "--":
            others.extend(words)
            break
        param = by.get(word)
        if param is not None and word.startswith("-"):
            value = "" if param.is_flag else next(words, None)
            if value is None:
                hint = "write it after the option"
                raise wrong("E590", f"option {word} needs a value", hint)
            word = max(param.opts, key=len)
            word = word if param.is_flag else f"{word}={value}"
        elif not (OPTION.match(word) or (others and re.match("-.", word, re.S))):
            others.append(word)
            continue
        name, _, names = word.partition("=")
        if name in by or name in off:
            TYPED[(by.get(name) or off[name]).name] = name
        at = [nr for nr, each in enumerate(options) if each.startswith(f"{name}=")]
        if name in NAMES_JOINED and at:
            options[at[0]] += f",{names}"
        else:
            options.append(word)
    return options, others


def takes_program(name: str) -> bool:
    """Return whether a command takes a program and the values of its inputs."""
    return "request" in module_of(name).main.__annotations__


def module_of(name: str) -> Any:
    """Return the module of a command, which is imported now."""
    return import_module(f"gradcli.cli.commands.{name}")
