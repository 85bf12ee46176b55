"""The lines of a session so far, and the command lines that run them.

Invariants: a workspace is text alone; every line is run as a command line of its own,
so that no error, limit or interruption of one affects the session. That process is the
command as the shell would start it, with the same streams, limits and Ctrl-C; where the
system can, it is a fork of this one, with all that is imported by then.

    typed = Workspace()
    typed.take("x = 3")            # ["value", "x", "x=3", "--of", "x"], to be run
    typed.take("y = x^2")
    typed.take("grad")             # ["grad", "y = x^2", "x=3"]
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING

from ..answers.box import RANGE
from ..lang.bindings import read_binding
from ..lang.errors import ProgramError
from ..lang.parser import parse
from ..lang.prepare import input_names, read_program
from ..lang.process import end_with
from ..lang.suggest import did_you_mean, nearest
from ..lang.syntax import Evaluate, Name, assigned_names
from ..lang.tensor_library import CONSTANTS
from .commands import COMMANDS
from .ending import FIRST_OF_SIGNALS, before_exit
from .keyboard import person
from .options import takes_program
from .problems import unknown_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_BINDING = re.compile(r"[^\W\d]\w*=(?!=)")
_CHANGE = re.compile(r"[-+*/%@^]?\*?=(?!=)|,")
"""Pattern of what follows a name in an assignment, even if a command has that name."""

_BLOCKS = frozenset({"if", "for", "while", "with"})

_OPENING, _CLOSING = "([{", ")]}"

ALONE_SECONDS, ASKED_SECONDS = 0.2, 1.0
"""Seconds that a command has to end by itself, then by SIGTERM, with its session."""

LOOK_SECONDS = 0.01
"""Seconds between two looks whether it has ended."""


@dataclass(slots=True)
class Workspace:
    """The inputs' values, and the statements in the order in which they were typed."""

    values: dict[str, str] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    output: str | None = None
    """Expression typed after the last statement, whose value is the program's."""

    @property
    def program(self) -> str:
        """Text of all statements, and of the expression after them."""
        return "\n".join([*self.statements, *([self.output] if self.output else [])])

    @property
    def missing(self) -> list[str]:
        """Inputs of the program that have no value yet."""
        names = input_names(parse(self.program, self.values), self.values)
        return [name for name in names if name not in self.values]

    @property
    def names(self) -> list[str]:
        """Names that have a meaning in the session, for completion."""
        return sorted({*self.values, *_assigned(self.program)})

    def take(self, line: str) -> list[str] | None:
        """Add a line to the session; return the words of the command line that shows
        its result, or None if there is nothing to show."""
        line = re.sub(r"^\s*gradcli\s+(?=\w)", "", line).lstrip(" \t")
        first, *_ = line.split(maxsplit=1)
        if re.fullmatch(r"[Ee]\d{3}", line.strip()) and line.strip() not in self.names:
            return ["help", line.strip()]
        if first in COMMANDS and not _CHANGE.match(line[len(first) :].lstrip()):
            return self._command(first, line)
        given = _parse_binding(line)
        if given is not None and given[0] not in _assigned(self.program):
            name, text = given
            self.values[name] = text
            return self._words("value", name, ["--of", name])
        try:
            body = parse(line).body.statements
        except ProgramError as error:
            slip = first.isalpha() and " " in line and nearest(first, COMMANDS)
            raise unknown_command(first) if slip else error from None
        lone = body[0].value if isinstance(body[0], Evaluate) else None
        known = {*self.names, *CONSTANTS}
        if len(body) == 1 and isinstance(lone, Name) and lone.name not in known:
            # A word without a value is a slip, and no input of the session.
            hint = did_you_mean(lone.name, {*known, *COMMANDS}) or f"write {first} = 3"
            message = f"unknown name {lone.name!r}"
            raise ProgramError("E101", message, lone.span, line, hint=hint)
        self.output = None
        if len(body) == 1 and isinstance(body[0], Evaluate):
            self.output = line
        else:
            self.statements.append(line)
        if not self.missing:
            return self._words("value", self.program, [])
        read_program(self.program, (), {}, lambda text: None, self.values)
        return None

    def saved(self, path: str) -> str:
        """Return the text of a program's file, which begins with the command that runs
        it."""
        values = [f"{name}={text}" for name, text in self._read(self.program)]
        command = shlex.join(["gradcli", "grad", "-f", path, *values])
        return f"# {command}\n{self.program}\n"

    def _command(self, name: str, line: str) -> list[str]:
        """Return the words of a command line: its program is the session's, or the
        expression after the command."""
        try:
            words = shlex.split(line)[1:]
        except ValueError:
            message = "a quote is opened and not closed"
            hint = "close it, or leave it out"
            raise ProgramError("E204", message, hint=hint) from None
        if not takes_program(name) or "-f" in words or "--file" in words:
            return [name, *words]
        end = 0
        # Options, ranges, and bindings but in the first place, follow the program.
        while end < len(words) and not (
            re.match(r"--[A-Za-z]|-[A-Za-z]$", words[end])
            or RANGE.fullmatch(words[end])
            or (end > 0 and _BINDING.match(words[end]))
        ):
            end += 1
        expression, rest = " ".join(words[:end]), words[end:]
        if not expression:
            return self._words(name, self.program, rest)
        text = "\n".join([*self.statements, expression])
        return self._words(name, text, rest)

    def _words(self, command: str, program: str, rest: Sequence[str]) -> list[str]:
        own = {word.split("=", 1)[0] for word in rest if _BINDING.match(word)}
        values = [f"{n}={text}" for n, text in self._read(program) if n not in own]
        return [command, program, *values, *rest]

    def _read(self, program: str) -> list[tuple[str, str]]:
        try:
            names = input_names(parse(program, self.values), self.values)
        except ProgramError:
            # The command line itself reports what is wrong.
            names = tuple(self.values)
        return [(name, self.values[name]) for name in names if name in self.values]


def parted(text: str) -> list[str]:
    """Return the lines that a line with `;` stands for, each of which is shown; a
    command, a block or a line with quotes stays whole."""
    first, *_ = text.split(maxsplit=1) or [""]
    whole = first in COMMANDS or first.rstrip(":") in _BLOCKS
    if whole or re.search(r"[\n#'\"]|^\s*[%?]", text):
        return [text]
    return [part for part in text.split(";") if part.strip()]


def goes_on(text: str) -> bool:
    """Return True if more lines belong to what was typed: a block that no empty line
    has ended, an open bracket, or a line that ends with a backslash."""
    first, *_ = text.split(maxsplit=1) or [""]
    if first in COMMANDS:
        return False
    bare = re.sub(r"#.*|'[^'\n]*'|\"[^\"\n]*\"", "", text)
    depth = sum(map(bare.count, _OPENING)) - sum(map(bare.count, _CLOSING))
    if depth > 0 or bare.rstrip(" ").endswith("\\"):
        return True
    lines = bare.rstrip("\n").split("\n")
    block = any(line.rstrip().endswith(":") for line in lines)
    return block and not text.endswith("\n")


def _parse_binding(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a line ``NAME=VALUE`` whose value reads no
    names; None for any other line."""
    name, equals, text = (part.strip() for part in line.partition("="))
    if not equals or text.startswith("=") or not name.isidentifier():
        return None
    if text.startswith("@"):
        return read_binding(f"{name}={text}").name, text
    try:
        return None if input_names(parse(text)) else (name, text)
    except ProgramError:
        return None


def _assigned(program: str) -> frozenset[str]:
    try:
        return frozenset(assigned_names(parse(program)))
    except ProgramError:
        return frozenset()


def ran(words: Sequence[str]) -> int:
    """Run a command line to its end; return its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.getsignal(signal.SIGINT)
    if person():
        # Ctrl-C is meant for the child, which shares the terminal.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if hasattr(os, "fork"):
            return _forked(words)
        import subprocess

        return subprocess.run([sys.executable, "-m", "gradcli", *words]).returncode
    finally:
        signal.signal(signal.SIGINT, before)


def load() -> None:
    """Import what commands need, so that forked processes have it."""
    from ..answers import question  # noqa: F401
    from . import group  # noqa: F401
    from .commands import grad, graph  # noqa: F401


def _forked(words: Sequence[str]) -> int:
    session = os.getpid()
    pid = os.fork()
    if pid == 0:
        from .app import main

        end_with(session)
        if person():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv[1:] = words
        main()
    stop = partial(_end, pid)
    before_exit.append(stop)
    try:
        _, status = os.waitpid(pid, 0)
    finally:
        before_exit.remove(stop)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else FIRST_OF_SIGNALS - code


def _end(pid: int) -> None:
    """End the command that is running. It may have had the signal, too, as from its
    terminal, and be about to end; one that does not end by SIGTERM is killed."""
    for number, seconds in ((0, ALONE_SECONDS), (signal.SIGTERM, ASKED_SECONDS)):
        os.kill(pid, number)
        over = monotonic() + seconds
        while monotonic() < over:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
            sleep(LOOK_SECONDS)
    os.kill(pid, signal.SIGKILL)
