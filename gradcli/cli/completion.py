"""Completion of a command line that is still being typed.

Invariant: an offer begins with what was typed, so that a shell only has to insert it;
nothing that is typed is run. The words before it are read by the option parser, as on a
line that runs.

    offers(["gradcli", "grad", "sin(x)*y"], "--wrt=")     # --wrt=x, --wrt=y
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from typer._click.shell_completion import CompletionItem

from .command import command_of, takes_program
from .commands import COMMANDS

FILES_OF: Final = ("verify", "run")
"""Commands whose words are files."""

MAX_PROGRAM_BYTES: Final = 1_000_000
"""Largest file whose names are offered, in bytes."""

MAX_TOLD: Final = 20
"""Largest number of operations that are offered with descriptions."""

_GROUP: Final = ("--help", "--version", "--install-completion", "--show-completion")
"""Options before a command."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*$")

_OWN_NAME: Final = re.compile(r"#.*|(?<![\w.])([^\W\d]\w*)\b(?!\s*\()")
"""Pattern of a comment, or of a name that is neither called nor an attribute."""


def offer(text: str, about: str = "", **more: Any) -> CompletionItem:
    """Return an offer: a word that could replace the one that was begun.

    Args:
        text: the word.
        about: its description.
        more: ``more`` is true if something has to follow without a blank; ``then`` is
            what usually follows it inside a program; ``use`` is how it is called.
    """
    return CompletionItem(text, help=about, **more)


def files(begun: str) -> list[str]:
    """Return the files and folders that begin as a path does."""
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
    ]


def functions() -> list[str]:
    """Return the names of all operations."""
    from ..answers.catalog import known_names

    return sorted(known_names())


def told(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return what operations are and how each is called, unless there are many."""
    from ..answers.catalog import find

    known = map(find, names if len(names) <= MAX_TOLD else ())
    return {
        name: (each.doc, f"{name}({', '.join(each.parameters)})")
        for name, each in zip(names, known, strict=False)
        if each is not None
    }


def offers(words: Sequence[str], text: str) -> list[CompletionItem]:
    """Return the offers for the word that was begun.

    Args:
        words: the words before it, the command's name first.
        text: the word so far, without quotes.
    """
    if len(words) < 2:
        return list(_commands(text))
    if words[1] not in COMMANDS:
        return []
    found = _Line(words[1], list(words[2:])).offers(text)
    return list({each.value: each for each in found}.values())


def _commands(text: str) -> Iterator[CompletionItem]:
    if text.startswith("-"):
        yield from (offer(name) for name in _GROUP if name.startswith(text))
        return
    for name in COMMANDS:
        if name.startswith(text):
            yield offer(name, str(command_of(name).get_short_help_str()))


class _Line:
    """A command's line before the cursor: its name and the words after it."""

    def __init__(self, name: str, words: list[str]) -> None:
        command = command_of(name)
        self._name = name
        self._params = [p for p in command.params if not getattr(p, "hidden", False)]
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
        """Yield the offers for the word that was begun."""
        name, equals, value = text.partition("=")
        if self._waiting is not None:
            yield from self._values(self._waiting, text)
        elif equals and name in self._options:
            yield from _behind(f"{name}=", self._values(self._options[name], value))
        elif text.startswith("-") and any(o.startswith(text) for o in self._options):
            yield from self._spelled(text)
        elif takes_program(self._name):
            yield from self._of_program(text)
        elif self._name in FILES_OF:
            head, at, path = text.rpartition("=@")
            yield from _behind(head + at, _files(path))
        else:
            free = (p for p in self._params if p.param_type_name == "argument"
                    and self._context.params.get(p.name) is None)  # fmt: skip
            for argument in (*free,)[:1]:
                yield from argument.shell_complete(self._context, text)

    def _spelled(self, text: str) -> Iterator[CompletionItem]:
        """Yield the options whose spelling begins as the word does."""
        for name, parameter in self._options.items():
            if name.startswith(text) and (name.startswith("--") or len(text) > 1):
                about = " ".join((parameter.help or "").split())
                if name in parameter.secondary_opts:
                    about = f"The opposite of {parameter.opts[0]}."
                yield offer(name, about)

    def _of_program(self, text: str) -> Iterator[CompletionItem]:
        """Yield offers for the program itself, or for values of its inputs after it."""
        if self._file is None and not self._words:
            yield from self._in_expression(text, ())
            return
        name, equals, value = text.partition("=")
        if not equals:
            bound = {word.partition("=")[0] for word in self._words}
            free = [each for each in self._inputs() if each not in bound]
            yield from _open(f"{n}=" for n in free if n.startswith(text))
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
            yield from (offer(each) for each in choices if each.startswith(text))
        elif wanted == "FILE":
            yield from _files(text)
        elif wanted.startswith("NAME=") and not equals:
            yield from _open(f"{n}=" for n in self._inputs() if n.startswith(text))
        elif wanted.startswith("NAMES"):
            typed, comma, last = text.rpartition(",")
            named = typed.split(",")
            # The last assigned value is the one that is differentiated.
            for each in (*self._inputs(), *self._assigned()[:-1]):
                if each.startswith(last) and each not in named:
                    yield offer(f"{typed}{comma}{each}")
        elif wanted == "NAME":
            found = [*self._assigned(), *self._inputs()]
            yield from (offer(n) for n in found if n.startswith(text))
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
        lead, begun = text[: found.start()], found[0]
        from ..lang.factory import CONSTRUCTORS

        own = {*names, *_mentioned(lead)}
        called = {*functions(), *CONSTRUCTORS} - own
        names = [each for each in sorted(own | called) if each.startswith(begun)]
        known = told(names)
        for each in names:
            about, use = known.get(each, ("", "")) if each in called else ("", "")
            then = "(" if each in called else " "
            yield offer(lead + each, about, use=use, more=True, then=then)

    def _program(self) -> str:
        """Return the text of the program that was typed, or of its file."""
        if self._file is None:
            return self._words[0] if self._words else ""
        try:
            with open(self._file, encoding="utf-8-sig") as file:
                return file.read(MAX_PROGRAM_BYTES)
        except (OSError, ValueError):
            return ""

    def _inputs(self) -> list[str]:
        from ..lang.errors import ProgramError
        from ..lang.parser import parse
        from ..lang.prepare import input_names

        given = self._words[0 if self._file is not None else 1 :]
        bound = {word.partition("=")[0] for word in given}
        try:
            return [*input_names(parse(self._program(), bound), bound)]
        except ProgramError:
            return []

    def _assigned(self) -> list[str]:
        """Return the assigned names, even if the program is not complete."""
        from ..lang.errors import ProgramError
        from ..lang.parser import parse
        from ..lang.syntax import assigned_names

        text = self._program()
        try:
            return [*assigned_names(parse(text, ()))]
        except ProgramError:
            return re.findall(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*=(?!=)", text)


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


def _mentioned(text: str) -> set[str]:
    """Return the inputs and variables in the beginning of a program."""
    from ..lang.lexicon import KEYWORDS

    found = {match[1] for match in _OWN_NAME.finditer(text) if match[1]}
    return found.difference(KEYWORDS)
