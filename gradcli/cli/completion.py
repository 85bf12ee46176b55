"""What could follow on a command line that is still being typed.

Invariant: an offer begins with what was typed, so that a shell only has to put it
there; nothing that is typed is run.

    offers(["gradcli", "grad", "sin(x)*y"], "--wrt=")     # --wrt=x, --wrt=y
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from .commands import COMMANDS, ON_PROGRAMS

FILES_OF: Final = ("verify", "run")
"""The commands whose words are files."""

MAX_PROGRAM_BYTES: Final = 1_000_000
"""Of a file whose names are offered."""

MAX_TOLD: Final = 20
"""Operations of which each is offered with what it is."""

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*$")

_OWN_NAME: Final = re.compile(r"#.*|(?<![\w.])([^\W\d]\w*)\b(?!\s*\()")
"""A remark, or a name that neither is called nor belongs to something."""


class Offer(NamedTuple):
    """A word that could stand in the place of the one that was begun."""

    text: str
    about: str = ""
    more: bool = False
    """Whether something has to follow without a blank."""

    then: str = ""
    """What mostly follows it inside a program."""

    use: str = ""
    """How it is used, where that is more than its text."""


def files(begun: str) -> list[str]:
    """The files and folders that a path could be."""
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
    """The names of all operations."""
    from ..answers.catalog import known_names

    return sorted(known_names())


def _told(found: list[Offer], names: Sequence[str]) -> Iterator[Offer]:
    """Operations with what they are, unless there are very many."""
    from ..answers.catalog import find

    for offer, name in zip(found, names, strict=True):
        wanted = offer.then != " " and len(found) <= MAX_TOLD
        known = find(name) if wanted else None
        if known is None:
            yield offer
        else:
            use = f"{name}({', '.join(known.parameters)})"
            yield offer._replace(about=known.doc, use=use)


def options(command: str) -> list[str]:
    """The long options of a command."""
    if command not in COMMANDS:
        return []
    return sorted(
        option
        for parameter in _parameters(command)
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    )


def _parameters(command: str) -> list[Any]:
    from .command import command_of

    made = command_of(command)
    return [param for param in made.params if not getattr(param, "hidden", False)]


def offers(words: Sequence[str], text: str) -> list[Offer]:
    """What the word could be that was begun.

    Args:
        words: those before it, the command's name first.
        text: the word so far, without quotes.
    """
    if len(words) < 2:
        return list(_commands(text))
    line = _Line(words[1], list(words[2:]))
    return list({each.text: each for each in line.offers(text)}.values())


def _commands(text: str) -> Iterator[Offer]:
    if text.startswith("-"):
        group = ("--help", "--version", "--install-completion", "--show-completion")
        yield from (Offer(name) for name in group if name.startswith(text))
        return
    for name in COMMANDS:
        if name.startswith(text):
            from .command import command_of

            yield Offer(name, str(command_of(name).get_short_help_str(limit=200)))


class _Line:
    """A command with the words behind it."""

    def __init__(self, command: str, words: list[str]) -> None:
        self.command = command
        self.options: dict[str, Any] = {}
        if command in COMMANDS:
            for parameter in _parameters(command):
                for name in (*parameter.opts, *parameter.secondary_opts):
                    if name.startswith("-"):
                        self.options[name] = parameter
        self.given: list[str] = []
        self.file: str | None = None
        self.waiting: Any = None
        """The option whose value comes next."""
        for word in words:
            self._take(word)

    def _take(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if self.waiting is not None:
            name, value = max(self.waiting.opts, key=len), word
            self.waiting = None
        elif name not in self.options:
            self.given.append(word)
            return
        elif not equals:
            if not getattr(self.options[name], "is_flag", False):
                self.waiting = self.options[name]
            return
        if name in ("--file", "-f"):
            self.file = value

    def offers(self, text: str) -> Iterator[Offer]:
        """What the word could be that was begun."""
        if self.command not in COMMANDS:
            return
        name, equals, value = text.partition("=")
        if self.waiting is not None:
            yield from self._values(self.waiting, text)
        elif equals and name in self.options:
            for offer in self._values(self.options[name], value):
                yield offer._replace(text=f"{name}={offer.text}")
        elif text.startswith("-") and any(o.startswith(text) for o in self.options):
            yield from self._options(text)
        elif self.command in ON_PROGRAMS:
            yield from self._of_program(text)
        else:
            yield from self._of_others(text)

    def _options(self, text: str) -> Iterator[Offer]:
        for name, parameter in self.options.items():
            if name.startswith(text) and (name.startswith("--") or len(text) > 1):
                about = " ".join((parameter.help or "").split())
                if name in parameter.secondary_opts:
                    about = f"The opposite of {parameter.opts[0]}."
                yield Offer(name, about)

    def _of_program(self, text: str) -> Iterator[Offer]:
        """The program itself, and values of its inputs behind it."""
        if self.file is None and not self.given:
            yield from self._in_expression(text, ())
            return
        name, equals, value = text.partition("=")
        if not equals:
            bound = {word.partition("=")[0] for word in self.given}
            free = [each for each in self._inputs() if each not in bound]
            yield from (Offer(f"{n}=", more=True) for n in free if n.startswith(text))
        elif value.startswith("@"):
            for path in files(value[1:]):
                yield _file(f"{name}=@{path}", path)
        else:
            for offer in self._in_expression(value, ()):
                yield offer._replace(text=f"{name}={offer.text}")

    def _of_others(self, text: str) -> Iterator[Offer]:
        """The words of commands that take no program."""
        if self.command in FILES_OF:
            _, at, path = text.partition("=@")
            for found in files(path if at else text):
                yield _file(
                    text[: len(text) - len(path)] + found if at else found, found
                )
            return
        topics: Iterable[str] = ()
        if not self.given and self.command == "help":
            from .help import topics as all_topics

            topics = all_topics()
        elif not self.given and self.command == "ops":
            names = [name for name in functions() if name.startswith(text)]
            yield from _told([Offer(name) for name in names], names)
            return
        elif not self.given and self.command == "config":
            from .defaults import BY_KEY

            topics = BY_KEY
        elif len(self.given) == 1 and self.command == "config":
            from .defaults import BY_KEY

            setting = BY_KEY.get(self.given[0])
            topics = setting.choices if setting else ()
        yield from (Offer(name) for name in topics if name.startswith(text))

    def _values(self, option: Any, text: str) -> Iterator[Offer]:
        """What an option's value could be, by what its help calls it."""
        choices = getattr(option.type, "choices", ())
        if choices:
            yield from (Offer(str(c)) for c in choices if str(c).startswith(text))
            return
        wanted = option.metavar or ""
        name, equals, value = text.partition("=")
        if wanted == "FILE":
            yield from (_file(path, path) for path in files(text))
        elif wanted.startswith("NAME=") and not equals:
            found = [n for n in self._inputs() if n.startswith(text)]
            yield from (Offer(f"{n}=", more=True) for n in found)
        elif wanted.startswith("NAMES"):
            typed, comma, last = text.rpartition(",")
            named = typed.split(",")
            # The last value is what is differentiated.
            for each in (*self._inputs(), *self._assigned()[:-1]):
                if each.startswith(last) and each not in named:
                    yield Offer(f"{typed}{comma}{each}")
        elif wanted == "NAME":
            found = [*self._assigned(), *self._inputs()]
            yield from (Offer(n) for n in found if n.startswith(text))
        elif text.startswith("@"):
            yield from (_file(f"@{path}", path) for path in files(text[1:]))
        elif wanted in ("EXPR", "EQUATION", "VALUE", "NAME=VALUE"):
            for offer in self._in_expression(value if equals else text, self._names()):
                lead = f"{name}=" if equals else ""
                yield offer._replace(text=lead + offer.text)

    def _in_expression(self, text: str, names: Iterable[str]) -> Iterator[Offer]:
        """Operations, and names that are there, in the place of the last word."""
        found = _IDENTIFIER.search(text)
        if found is None:
            return
        lead, begun = text[: found.start()], found[0]
        from ..lang.factory import CONSTRUCTORS

        own = {*names, *_mentioned(lead)}
        called = {*functions(), *CONSTRUCTORS} - own
        names = [each for each in sorted(own | called) if each.startswith(begun)]
        offers = [
            Offer(lead + each, more=True, then="(" if each in called else " ")
            for each in names
        ]
        yield from _told(offers, names)

    def _program(self) -> str:
        """The text of the program that was typed, or of its file."""
        if self.file is None:
            return self.given[0] if self.given else ""
        try:
            with open(self.file, encoding="utf-8-sig") as file:
                return file.read(MAX_PROGRAM_BYTES)
        except (OSError, ValueError):
            return ""

    def _inputs(self) -> list[str]:
        from ..lang.errors import ProgramError
        from ..lang.parser import parse
        from ..lang.prepare import input_names

        text = self._program()
        given = self.given[0 if self.file is not None else 1 :]
        bound = {word.partition("=")[0] for word in given}
        try:
            return [*input_names(parse(text, bound), bound)]
        except ProgramError:
            return []

    def _assigned(self) -> list[str]:
        return _assigned(self._program())

    def _names(self) -> list[str]:
        return [*self._inputs(), *self._assigned()]


def _file(text: str, path: str) -> Offer:
    """The offer of a file; into a folder the path goes on."""
    inside = os.path.isdir(os.path.expanduser(path))
    return Offer(text + "/" if inside else text, more=inside)


def _assigned(text: str) -> list[str]:
    """The names that a program gives values to, also while it is being typed."""
    from ..lang.errors import ProgramError
    from ..lang.names import assigned_names
    from ..lang.parser import parse

    try:
        return [*assigned_names(parse(text, ()))]
    except ProgramError:
        return re.findall(r"(?:^|[;\n])\s*([^\W\d]\w*)\s*=(?!=)", text)


def _mentioned(text: str) -> set[str]:
    """The inputs and variables that occur in the beginning of a program."""
    from ..lang.lexicon import KEYWORDS

    found = {match[1] for match in _OWN_NAME.finditer(text) if match[1]}
    return found.difference(KEYWORDS)
