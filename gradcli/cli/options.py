"""Options and arguments that commands on programs share, and how they are told apart.

Invariants: a word is an option if it is spelled like one (`--name`) or is a short
option that the command has; everything else is the program or a binding, whatever it
begins with. So `gradcli grad "-x**2" x=-3` works and `--jsn` is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from math import isfinite
from types import NoneType
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

from ..lang.maxima import MAX_PROGRAM_BYTES
from ..render.line import Layout
from ..render.remarks import keep
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

OPTION = re.compile(r"-h$|--[A-Za-z][\w-]*(=|$)")

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

COMMON: Final = """
--grad-output VALUE: The cotangent of an output of several numbers: the gradient is that
    of sum(VALUE * output).
--times NAME=VALUE: Only the product with a vector, without the matrix: VALUE is the
    part of the vector for an input, of its shape; of inputs that are not named it is 0.
--require: Exit with status 1 if a verdict is weaker than this.
--verify-seconds SECONDS: Limit of processor time for the check.
--json: Print one JSON object.
--debug: Show Python's traceback of an error.
"""
"""Declarations of options that several commands have, as in a docstring."""

Requirement: TypeAlias = Literal["proved", "certified", "sampled", "finite"] | None
Seconds: TypeAlias = Annotated[float, {"min": 0, "max": MAX_SETTABLE_SECONDS}]


def _size(option: str) -> dict[str, Any]:
    return {"parser": partial(bytes_of, option=option), "show_default": False}


@dataclass(frozen=True, slots=True)
class Request:
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
    --seed N: Seed of random numbers: inputs that --draw draws, randn, rand.
    --strict/--no-strict: An input without a value is an error, also where the answer
        can be a formula.
    --draw/--no-draw: Draw inputs without a value at random. Without it the answer is
        the formula, and where a number is asked for (in a pipe, with -q, with --json)
        an error.
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
    json: bool = False
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

TYPED: Final[dict[str, str]] = {}
"""Options on the command line as typed, by their parameters' names."""


def was_typed(name: str) -> bool:
    """Return True if an option was typed, so that its value is not a default."""
    return name in TYPED


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


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """An option, or an argument, which has no spellings.

    base       the type of its value
    spellings  how it is written, first at length: ``--on/--off``
    facts      what else is declared of it, in the words of `typer.Option`
    """

    name: str
    base: Any
    default: Any
    spellings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


def as_options(function: _Main) -> tuple[list[Declared], _Main]:
    """Return the options of a command, and its function of all options by name.

    A parameter whose type is a record, such as `Request`, is a group: each of its
    fields is an option. ``function(request, groups..., options...)`` becomes a function
    of its options; the shared ones come last.
    """
    alone = declared(function)
    reasons: tuple[str, ...] = getattr(function, "reasons", ())
    idle = {name for reason in reasons for name in IDLE[reason]}
    groups: dict[str, Any] = {
        name: alone.pop(name).base
        for name, each in [*alone.items()]
        if is_dataclass(each.base)
    }
    members = {name: declared(kind, idle) for name, kind in groups.items()}
    called = "gradcli " + function.__module__.rpartition(".")[2]

    def command(**values: Any) -> int:
        keep(values.get("json", False))
        if "request" in groups:
            form.json, form.quiet = values["json"], values["quiet"]
            form.strict = values["strict"]
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

    told = _OPTION_TEXT.sub("", cleandoc(function.__doc__ or ""))
    command.__doc__ = _ARGUMENT_TEXT.sub("", told).rstrip()
    of_groups = [each for name, each in members.items() if name != "request"]
    listed = (*of_groups, alone, members.get("request", {}))
    return [option for options in listed for option in options.values()], command


def declared(owner: Any, hidden: Collection[str] = ()) -> dict[str, Declared]:
    """Return the parameters of a function or the fields of a record as options.

    The docstring declares an option by a line ``--name METAVAR: text``, and an argument
    by a line ``<name> METAVAR: text``. Limits on its value are a dictionary beside its
    type, with the words of `typer.Option`. The options of a record stand below its
    ``TITLE`` in the help page, but for the ``hidden`` ones.
    """
    panel = getattr(owner, "TITLE", None)
    panels = {n: title for title, names in PANELS.items() for n in names}
    made: dict[str, tuple[tuple[str, ...], str, str]] = {}
    text = COMMON + cleandoc(owner.__doc__ or "")
    for spelled, metavar, about in _OPTION_TEXT.findall(text):
        *short, long = spelled.split(", ")
        name = long.partition("/")[0].removeprefix("--").replace("-", "_")
        made[name] = (long, *short), metavar, about
    for name, metavar, about in _ARGUMENT_TEXT.findall(text):
        made[name] = (), metavar, about
    hints = get_type_hints(owner, include_extras=True)
    found = {}
    for parameter in signature(owner).parameters.values():
        name, kind = parameter.name, hints[parameter.name]
        base, *more = get_args(kind) if get_origin(kind) is Annotated else (kind,)
        facts: dict[str, Any] = {}
        spellings, metavar, about = made.get(name.rstrip("_"), ((), "", ""))
        if about:
            facts = {"metavar": metavar or None, "help": " ".join(about.split())}
            facts |= {"show_default": base is not bool, "hidden": name in hidden}
            facts |= {"rich_help_panel": panels.get(name, panel), **dict(*more)}
        found[name] = Declared(name, base, parameter.default, spellings, facts)
    return found


def spelled(options: Iterable[Declared]) -> dict[str, tuple[Declared, bool]]:
    """Return options by their spellings, each with whether that turns it on."""
    return {
        spelling: (option, on)
        for option in options
        for each in option.spellings
        for spelling, on in zip(each.split("/"), (True, False), strict=False)
    }


def arrange(
    args: list[str], by: Mapping[str, tuple[Declared, bool]]
) -> tuple[list[str], list[str]]:
    """Return the options among words, each with its value, and the other words; note
    which options, as `spelled` returns them, were typed."""
    options: list[str] = []
    others: list[str] = []
    words = iter(args)
    TYPED.clear()
    for word in words:
        if word == "--":
            others.extend(words)
            break
        option, on = by.get(word, (None, False))
        if option is not None and on:
            value = "" if option.base is bool else next(words, None)
            if value is None:
                hint = "write it after the option"
                raise wrong("E590", f"option {word} needs a value", hint)
            word = option.spellings[0].partition("/")[0]
            word = word if option.base is bool else f"{word}={value}"
        elif not (OPTION.match(word) or (others and re.match("-.", word, re.S))):
            others.append(word)
            continue
        name, _, names = word.partition("=")
        if name in by:
            TYPED[by[name][0].name] = name
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


class Unread(Exception):
    """Words of a command line that typer has to read: they ask for help or are wrong,
    defaults of options are set, or the command reads them in a way of its own."""


def read(argv: list[str]) -> Callable[[], int]:
    """Return what runs a command on its words; raise `Unread` if typer has to."""
    module = module_of(argv[0])
    if anything_set() or hasattr(module, "COMMAND") or hasattr(module, "typer"):
        raise Unread
    options, run = as_options(module.main)
    by = spelled(options)
    given, others = arrange(argv[1:], by)
    values = {option.name: option.default for option in options}
    for word in given:
        name, equals, text = word.partition("=")
        option, on = by.get(name, (None, False))
        if option is None or (option.base is bool) == bool(equals):
            raise Unread
        before = values[option.name]
        values[option.name] = _value(option, text, before) if equals else on
    for option in options:
        while others and not option.spellings:
            before = values[option.name]
            values[option.name] = _value(option, others.pop(0), before)
            if type(values[option.name]) is not list:
                break
    if others or Parameter.empty in values.values():
        raise Unread
    return partial(run, **values)


def _value(option: Declared, text: str, before: Any) -> Any:
    """Return the value of an option's text, behind those of the same option before."""
    facts, kind = option.facts, option.base
    if NoneType in get_args(kind):
        (kind,) = {*get_args(kind)} - {NoneType}
    if get_origin(kind) is list:
        return [*(before if type(before) is list else ()), text]
    if "parser" in facts:
        return facts["parser"](text)
    if get_origin(kind) is Literal:
        kind = {each: each for each in get_args(kind)}.__getitem__
    with suppress(ValueError, KeyError):
        value = kind(text)
        if facts.get("min", value) <= value <= facts.get("max", value):
            return value
    raise Unread
