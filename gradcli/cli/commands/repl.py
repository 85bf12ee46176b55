"""``gradcli repl``: a session in which names stay."""

from __future__ import annotations

import re
import signal
from collections import deque
from copy import deepcopy

from ...lang.errors import ProgramError
from ...lang.excerpt import Span, enumerated
from ...lang.suggest import did_you_mean
from ..commands import COMMANDS
from ..completion import files, functions, offers
from ..keyboard import person, terminal, typed
from ..output import BREAKS, form, note
from ..problems import Exit, problem_of, put, wrong
from ..workspace import Workspace, goes_on, load, parted, ran

WELCOME = """\
Type a value (x = 3), a formula (y = x^2), then grad, graph --tree, ...
Tab completes, %help says more, Ctrl-D ends."""

HELP = """\
x = 3            a value of the input x; a new one changes what is made of it
y = x^2 + 1      a line of the program; a single expression is its value
grad             any command, on what was typed; its options go behind it
grad (y-z)^2 z=2 the same, of another expression, with further values
help sin         what an operation is; help without a word lists the pages
x = @data.csv    a value from a file
%names           the values and the program so far
%undo            forget the last line
%save FILE       write the program to a file, with the command that runs it
%reset           forget all
%quit            end; so does Ctrl-D"""

ENDING = ("%quit", "quit", "exit", "quit()", "exit()", ":q")
"""Words that end a session, including those of other programs."""

MAX_UNDONE = 1000
"""Number of lines that can be undone."""

OWN = ("%help", "%names", "%undo", "%reset", "%save", "%quit")


def main() -> int:
    """A session at a prompt, in which names stay defined.

    Every command works on it. Lines of a pipe are run as if they were typed.

    Example: gradcli repl
    """
    if terminal():
        note(WELCOME, BREAKS)
    form.session = True
    load()
    if person():
        # Ctrl-C drops what is being typed here; elsewhere it ends the process.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return ReplSession().run()


class ReplSession:
    """A session: the lines that were typed, and the state to undo to."""

    def __init__(self) -> None:
        self.typed = Workspace()
        self._before: deque[Workspace] = deque(maxlen=MAX_UNDONE)

    def run(self) -> int:
        """Read lines to their end; return the status of the last one that failed."""
        status: int = Exit.DONE
        for text in typed(self.complete, goes_on):
            if text.strip() in ENDING:
                break
            try:
                for line in parted(text):
                    failed = self.take(line)
                    status = failed or status
                    if failed:
                        break
            except KeyboardInterrupt:
                continue
        return status

    def take(self, text: str) -> int:
        """Run what was typed and return its exit status; a line that fails changes
        nothing."""
        before = deepcopy(self.typed)
        try:
            if "\0" in text:
                at = text.index("\0")
                message, hint = "unexpected character NUL", "leave it out"
                raise ProgramError("E201", message, Span(at, at + 1), text, hint=hint)
            if text.lstrip().startswith("#") and "\n" not in text:
                return Exit.DONE
            if text.lstrip().startswith(("%", "?")):
                return self._perform(text.strip())
            words = self.typed.take(text)
        except Exception as error:
            problem = problem_of(error)
            self.typed = before
            note(problem.render(), BREAKS)
            return problem.exit_status
        status = ran(words) if words else Exit.DONE
        if words is None:
            names = enumerated(self.typed.missing)
            note(f"note: no value for {names} yet: without one, grad gives the formula")
        if status == Exit.INTERRUPTED and terminal():
            note("")
        if status and self.typed != before:
            self.typed = before
        elif self.typed != before:
            self._before.append(before)
        return status

    def complete(self, before: str) -> tuple[str, list[str]]:
        """Return the word begun before the cursor, and its completions."""
        found = re.search(r"(?:(?<!\S)[^\s@]*+@|%save )(\S*)$", before)
        if found is not None:
            return found[1], files(found[1])
        first = before.split(maxsplit=1)[0] if before.split() else ""
        begun = re.search(r"(?:^|(?<=\s))-[-\w]*$|^\s*%\w*$|(?<!\w)\w*$", before)
        word = begun[0].lstrip() if begun else ""
        if word.startswith("%"):
            return word, [name for name in OWN if name.startswith(word)]
        if word.startswith("-"):
            known = (str(each.value) for each in offers(["gradcli", first], word))
            return word, sorted(each for each in known if each.startswith("--"))
        names = [*self.typed.names, *functions()]
        if word == before.lstrip():
            names += COMMANDS
        return word, sorted({n for n in names if n.startswith(word)}) if word else []

    def _perform(self, text: str) -> int:
        name, _, rest = ("%help" if text[0] == "?" else text).partition(" ")
        match name:
            case "%help":
                note(HELP, BREAKS)
            case "%names":
                for input_name, value in self.typed.values.items():
                    note(f"{input_name} = {value}")
                if self.typed.program:
                    note(self.typed.program, BREAKS)
            case "%undo":
                if not self._before:
                    hint = "%names shows what is there"
                    raise wrong("E590", "there is nothing to undo", hint)
                self.typed = self._before.pop()
            case "%reset":
                self._before.append(self.typed)
                self.typed = Workspace()
            case "%save":
                self._save(rest.strip())
            case _:
                hint = did_you_mean(name, OWN) or "%help lists what there is"
                raise wrong("E592", f"no command {name!r}", hint)
        return Exit.DONE

    def _save(self, path: str) -> None:
        if not path:
            raise wrong("E590", "%save needs the name of a file", "%save mine.grad")
        if not self.typed.program:
            raise wrong("E593", "no program", "type one first: y = x^2")
        hint = "name a file in a folder that can be written to"
        text = self.typed.saved(path)
        put(path, text.encode(errors="surrogateescape"), hint)
        note(f"wrote {path}")
