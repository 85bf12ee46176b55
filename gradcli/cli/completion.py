"""Completion of a command line that is still being typed, and the shells that ask.

Invariants: an offer begins with what was typed, so that a shell only has to insert it;
nothing that is typed is run. The words before it are read by the option parser, as on a
line that runs. A shell's script inserts what it is told and evaluates nothing of it.
Text that a shell would read in a way not known here is taken literally, and an
unfinished line is no error.

    offers(["gradcli", "grad", "sin(x)*y"], "--wrt=")     # --wrt=x, --wrt=y
    begun('gradcli grad "sin(x)*ta')    # words ["gradcli", "grad"], text "sin(x)*ta"
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from typer import Context
from typer._click.shell_completion import CompletionItem

from ..answers.catalog import find, known_names
from ..lang.errors import ProgramError
from ..lang.factory import CONSTRUCTORS
from ..lang.lexicon import KEYWORDS
from ..lang.parser import parse
from ..lang.prepare import input_names
from ..lang.syntax import assigned_names
from ..tables.filesystem import replacing
from .commands import COMMANDS
from .group import command_of
from .options import takes_program
from .output import note
from .problems import wrong

VARIABLE: Final = "_GRADCLI_COMPLETE"
"""Variable by which a script asks: its value is `offers_` and the name of the shell."""

SHELLS: Final = ("bash", "zsh", "fish")
"""Shells whose scripts lie beside this file; the name is the suffix."""

_KEPT: Final = "@$"
"""Letters that bash breaks words at and keeps in the word."""

ENDS: Final = "|&;("
"""Signs outside quotes after which a new command begins."""

FILES_OF: Final = ("verify", "run")
"""Commands whose words are files."""

MAX_PROGRAM_BYTES: Final = 1_000_000
"""Largest file whose names are offered, in bytes."""

MAX_TOLD: Final = 20
"""Largest number of operations that are offered with descriptions."""

_GROUP: Final = (
    "--help", "--help-all", "--version", "--install-completion", "--show-completion",
)  # fmt: skip
"""Options before a command."""

_IDENTIFIER: Final = re.compile(r"(?<!\w)\d*+([^\W\d]\w*)$")

_OWN_NAME: Final = re.compile(r"#.*|(?<![\w.])([^\W\d]\w*)\b(?!\s*\()")
"""Pattern of a comment, or of a name that is neither called nor an attribute."""


def offer(text: str, about: str = "", **more: Any) -> CompletionItem:
    """Return an offer: a word that could replace the one that was begun.

    Of ``more``, ``more`` is true if something has to follow without a blank; ``then``
    is what usually follows it inside a program; ``use`` is how it is called.
    """
    return CompletionItem(text, help=about, **more)


def files(begun: str) -> list[str]:
    """Return the files and folders that begin as a path does, but for those whose names
    a terminal cannot show as they are."""
    folder, name = os.path.split(begun)
    try:
        found = sorted(os.listdir(os.path.expanduser(folder) or "."))
    except OSError:
        return []
    hidden = name.startswith(".")
    return [
        os.path.join(folder, each)
        for each in found
        if each.startswith(name) and (hidden or not each.startswith("."))
        if each.isprintable()
    ]


def functions() -> list[str]:
    """Return the names of all operations."""
    return sorted(known_names())


def describe(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return what operations are and how each is called, unless there are many."""
    known = map(find, names if len(names) <= MAX_TOLD else ())
    return {
        name: (each.doc, f"{name}({', '.join(each.parameters)})")
        for name, each in zip(names, known, strict=False)
        if each is not None
    }


def offers(words: Sequence[str], text: str) -> list[CompletionItem]:
    """Return the offers for a word that was begun, which is given without quotes,
    behind the words before it; the first of them is the program's name. Names that a
    terminal cannot show as they are, of files and of columns, are not offered."""
    if len(words) < 2:
        names = _GROUP if text.startswith("-") else COMMANDS
        return [
            offer(name, "" if name in _GROUP else command_of(name).get_short_help_str())
            for name in names
            if name.startswith(text)
        ]
    if words[1] not in COMMANDS:
        return []
    found = _Line(words[1], list(words[2:])).offers(text)
    shown = (e for e in found if e.value[len(text) :].isprintable())
    return [*{e.value: e for e in shown if e.value.startswith(text)}.values()]


class _Line:
    """A command's line before the cursor: its name and the words after it."""

    def __init__(self, name: str, words: list[str]) -> None:
        command = command_of(name)
        self._name = name
        params = command.get_params(Context(command, **command.context_settings))
        self._params = [p for p in params if not getattr(p, "hidden", False)]
        self._options = {
            spelling: param
            for param in self._params
            for spelling in (*param.opts, *param.secondary_opts)
            if spelling.startswith("-")
        }
        self._waiting: Any = None
        """Option whose value comes next."""
        while words and not getattr(self._options.get(words[-1]), "is_flag", True):
            last = self._options[words.pop()]
            self._waiting = self._waiting or last
        self._context = command.make_context(name, words, resilient_parsing=True)
        self._file: str | None = self._context.params.get("file")
        self._words: list[str] = list(self._context.params.get("words") or ())

    def offers(self, text: str) -> Iterator[CompletionItem]:
        name, equals, value = text.partition("=")
        if self._waiting is not None:
            yield from self._values(self._waiting, text)
        elif equals and name in self._options:
            yield from _behind(f"{name}=", self._values(self._options[name], value))
        elif text.startswith("-") and any(o.startswith(text) for o in self._options):
            for spelled, param in self._options.items():
                if spelled[:2] == "--" or text != "-":
                    about = " ".join((param.help or "").split())
                    if spelled in param.secondary_opts:
                        about = f"The opposite of {param.opts[0]}."
                    yield offer(spelled, about)
        elif takes_program(self._name):
            yield from self._of_program(text)
        elif self._name in FILES_OF:
            head, at, path = text.rpartition("=@")
            yield from _behind(head + at, _files(path))
        else:
            free = (p for p in self._params if p.param_type_name == "argument"
                    and not self._context.params.get(p.name))  # fmt: skip
            for argument in (*free,)[:1]:
                yield from argument.shell_complete(self._context, text)

    def _of_program(self, text: str) -> Iterator[CompletionItem]:
        """Yield offers for the program itself, or for values of its inputs after it."""
        name, equals, value = text.partition("=")
        if self._file is None and not self._words:
            yield from self._in_expression(text, ())
        elif not equals:
            bound = {word.partition("=")[0] for word in self._words}
            yield from _open(f"{n}=" for n in self._inputs() if n not in bound)
        elif value.startswith("@"):
            yield from _behind(f"{name}=@", _files(value[1:]))
        else:
            yield from _behind(f"{name}=", self._in_expression(value, ()))

    def _values(self, option: Any, text: str) -> Iterator[CompletionItem]:
        """Yield the values that an option could have, judging by its metavariable."""
        choices = [str(each) for each in getattr(option.type, "choices", ())]
        wanted = option.metavar or ""
        name, equals, value = text.partition("=")
        if choices:
            yield from map(offer, choices)
        elif wanted == "FILE":
            yield from _files(text)
        elif wanted.startswith("NAME=") and not equals:
            yield from _open(f"{n}=" for n in self._inputs())
        elif wanted.startswith("NAMES"):
            typed, comma, _ = text.rpartition(",")
            # The last assigned value is the one that is differentiated.
            for each in (*self._inputs(), *self._assigned()[:-1]):
                if each not in typed.split(","):
                    yield offer(f"{typed}{comma}{each}")
        elif wanted == "NAME":
            yield from map(offer, (*self._assigned(), *self._inputs()))
        elif text.startswith("@"):
            yield from _behind("@", _files(text[1:]))
        elif wanted in ("EXPR", "EQUATION", "VALUE", "NAME=VALUE"):
            names = [*self._inputs(), *self._assigned()]
            found_in = self._in_expression(value if equals else text, names)
            yield from _behind(f"{name}=" if equals else "", found_in)

    def _in_expression(
        self, text: str, names: Iterable[str]
    ) -> Iterator[CompletionItem]:
        """Yield operations and known names in place of the last word."""
        found = _IDENTIFIER.search(text)
        if found is None:
            return
        lead, begun = text[: found.start(1)], found[1]
        mentioned = {match[1] for match in _OWN_NAME.finditer(lead) if match[1]}
        own = {*names, *mentioned.difference(KEYWORDS)}
        called = {*functions(), *CONSTRUCTORS} - own
        names = [each for each in sorted(own | called) if each.startswith(begun)]
        known = describe(names)
        for each in names:
            about, use = known.get(each, ("", "")) if each in called else ("", "")
            then = "(" if each in called else " "
            yield offer(lead + each, about, use=use, more=True, then=then)

    def _program(self) -> str:
        if self._file is None:
            return self._words[0] if self._words else ""
        try:
            with open(self._file, encoding="utf-8-sig") as file:
                return file.read(MAX_PROGRAM_BYTES)
        except (OSError, ValueError):
            return ""

    def _inputs(self) -> list[str]:
        given = self._words[0 if self._file is not None else 1 :]
        bound = {word.partition("=")[0] for word in given}
        try:
            return [*input_names(parse(self._program(), bound), bound)]
        except ProgramError:
            return []

    def _assigned(self) -> list[str]:
        """Return the assigned names, even if the program is not complete."""
        text = self._program()
        try:
            return [*assigned_names(parse(text, ()))]
        except ProgramError:
            return re.findall(r"(?:^|[;\n])[^\S\n]*([^\W\d]\w*)\s*=(?!=)", text)


def _behind(lead: str, found: Iterable[CompletionItem]) -> Iterator[CompletionItem]:
    """Yield offers with ``lead``, the part of the word before them, put in front."""
    for each in found:
        each.value = lead + each.value
        yield each


def _open(texts: Iterable[str]) -> Iterator[CompletionItem]:
    """Yield offers that something has to follow without a blank."""
    return (offer(text, more=True) for text in texts)


def _files(begun: str) -> Iterator[CompletionItem]:
    """Yield the files that a path could become; after a folder the path may go on."""
    for path in files(begun):
        inside = os.path.isdir(os.path.expanduser(path))
        yield offer(path + "/" * inside, more=inside)


class Begun(NamedTuple):
    """The words before the cursor, and the word at the cursor: without its quotes, and
    as it was typed, from the place that a completion replaces. ``quote`` is the quote
    that is open, or nothing."""

    words: list[str]
    text: str
    raw: str
    quote: str


def _escapes(letter: str, quote: str, after: str) -> bool:
    """Return whether a letter makes the one after it literal: a backslash outside
    quotes, and inside double ones before some letters."""
    return letter == "\\" and (not quote or (quote == '"' and after in '"\\$`'))


def begun(line: str, breaks: str = "") -> Begun:
    """Return the words of a line up to the cursor, and the word at the cursor; outside
    quotes a shell completes a new part of a word after each of ``breaks``."""
    words: list[str] = []
    text, quote = "", ""
    inside = False
    start = at = 0
    while at < len(line):
        letter, after = line[at], line[at + 1 : at + 2]
        at += 1
        if _escapes(letter, quote, after):
            text += after
            inside = True
            at += 1
        elif quote and letter == quote:
            quote = ""
        elif quote:
            text += letter
        elif letter.isspace() or letter in ENDS:
            if inside:
                words.append(text)
            if letter in ENDS:
                words.clear()
            text, inside, start = "", False, at
        else:
            inside = True
            if letter in "'\"":
                quote, start = letter, at
            else:
                text += letter
                if letter in breaks:
                    start = at - 1 if letter in _KEPT else at
    return Begun(words, text, line[start:], quote)


def answer(asked: str, environment: Mapping[str, str]) -> str:
    """Return the answer to a shell's script, which sets `VARIABLE` to ``asked``.

    The environment has the text before the cursor in ``COMP_TEXT``, and the letters
    that bash breaks words at in ``COMP_BREAKS``.
    """
    question, _, shell = asked.partition("_")
    line = environment.get("COMP_TEXT", "")
    if question != "offers":
        return ""
    given = begun(line, environment.get("COMP_BREAKS", "") if shell == "bash" else "")
    if "\0" in given.text or (shell == "fish" and "\t" in given.text):
        return ""
    found = _offered(given)
    if given.quote and len(found) == 1 and found[0].more and shell != "zsh":
        # The shell closes the quote after a single offer, and with it an unfinished
        # program.
        (lone,) = found
        found.append(offer(lone.value + (lone.then or ""), lone.use or "", more=True))
    return "".join(f"{_as_fields(shell, given, each)}\0" for each in found)


def _offered(given: Begun) -> list[CompletionItem]:
    # Assignments of variables may stand before the command.
    first = next((i for i, word in enumerate(given.words) if "=" not in word), 0)
    return offers(given.words[first:], given.text) if given.words else []


def _as_fields(shell: str, given: Begun, each: CompletionItem) -> str:
    """Return an offer as the script of a shell reads it."""
    about = " ".join((each.help or "").split())
    if shell == "fish":
        return f"{each.value}\t{about}"
    mark = "+" if each.more else "="
    if shell == "zsh":
        # The part that is worth showing is the last name in a program.
        named = re.search(r"(?<![\w./-])[\w./-]*$", given.text)
        start = len(given.text) if named is None else named.start()
        return f"{mark}{each.value}\0{each.value[start:]}\0{about}"
    return mark + continued(given, each.value[len(given.text) :])


def continued(given: Begun, rest: str) -> str:
    """Return the word as typed so far, with a rest appended in the same quotes."""
    if not given.quote:
        rest = re.sub(r"[^\w@%+=:,./~-]", lambda found: "\\" + found[0], rest)
    elif given.quote == '"':
        rest = re.sub(r'["\\$`]', lambda found: "\\" + found[0], rest)
    return given.raw + rest


def print_script(shell: str) -> str:
    """Return the script of a shell."""
    if shell not in SHELLS:
        hint = f"name one: {', '.join(SHELLS)}"
        raise wrong("E595", f"no completion for the shell {shell!r}", hint)
    path = Path(__file__).with_name(f"completion.{shell}")
    return path.read_text(encoding="utf-8").strip("\n")


def install(shell: str) -> str:
    """Write a shell's script where the shell finds it, for zsh also an alias; return
    the path of the script."""
    script = print_script(shell)
    try:
        _, path = _typers().install(shell, "gradcli", VARIABLE)
        with replacing(str(path)) as file:
            file.write(f"{script}\n".encode())
        if shell == "zsh":
            _add_alias(Path.home() / ".zshrc")
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "gradcli --show-completion prints the script, to be put elsewhere"
        raise wrong("E598", f"cannot install completion: {reason}", hint) from None
    return str(path)


ZSH_ALIAS: Final = "alias gradcli='noglob gradcli'"
"""Line by which zsh leaves brackets, `*`, `?`, `^` and `(` in words to gradcli."""


def _add_alias(path: Path) -> None:
    """Add the alias to the file that zsh reads when it starts, unless the file has an
    alias of gradcli."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    if "alias gradcli=" not in text:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{ZSH_ALIAS}\n")


def _typers() -> Any:
    """Return typer's module on completion, which knows the shells' folders."""
    from typer import completion

    return completion


def complete(argv: list[str]) -> int:
    """Answer a shell's script; or install or show the script of a shell, if none is
    named, of this one."""
    asked = os.environ.get(VARIABLE)
    if asked:
        sys.stdout.write(answer(asked, os.environ))
        return 0
    option, *words = argv
    shell = words[0] if words else current_shell()
    if not shell or len(words) > 1:
        hint = f"name one: {option} {SHELLS[0]}"
        raise wrong("E590", f"{option} is for one shell", hint)
    if option == "--show-completion":
        print(print_script(shell))
    else:
        note(f"completion of {shell} is in {install(shell)}")
        if shell == "zsh":
            note("the alias in ~/.zshrc lets you write [ ] * ? ^ ( without quotes")
        note("it is there in a new terminal")
    return 0


def current_shell() -> str:
    """Return the name of the shell that runs this process, else the user's, or
    nothing."""
    found = getattr(_typers(), "_get_shell_name", lambda: None)()
    return str(found or os.path.basename(os.environ.get("SHELL", "")))
