"""The process's streams: results go to stdout, everything else to stderr.

Invariants: what is written is a `Line`, a note, or rows of a table, and in all of them
`printable` escapes what a terminal would obey; rows that go into a pipe or a file stay
as they are. A failed write is distinguished from every other failure, so that a full
disk is an error and a closed pipe is not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC
from io import StringIO
from typing import TYPE_CHECKING, Any, Final, TextIO

from ..answers.line import BREAKS as BREAKS
from ..answers.writer import (
    DRAWN,
    JSON,
    NOTE,
    capture,
    drop_odd_sizes,
    keep,
    left,
    open_writer,
    register,
    suited,
)
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from .ending import before_exit
from .limits import printing
from .problems import Exit

if TYPE_CHECKING:
    from ..answers.line import Line
    from ..answers.not_finite import Trouble
    from ..answers.writer import Writer


class OutputForm:
    """The form that answers are printed in, set once for a command line: as one JSON
    object, or quietly, the numbers alone; ``session``: a line was typed in one;
    ``strict``: no input may lack a value."""

    json = False
    quiet = False
    session = False
    strict = False

    @property
    def numbers_only(self) -> bool:
        """Whether only the numbers are printed, and no object."""
        return self.quiet and not self.json

    @property
    def full(self) -> bool:
        """Whether the full text for people is printed."""
        return not (self.json or self.quiet)

    @property
    def read(self) -> bool:
        """Whether a person reads the answer, at a terminal or in a session: nothing
        but text can be used where a number was expected."""
        return self.full and (self.session or sys.stdout.isatty())


form = OutputForm()

MORE_TIME = "note: --verify-seconds N gives more time for the check"


class OutputFailed(ProgramError):
    """Error that standard output cannot be written to."""

    def __init__(self, reason: str) -> None:
        message = f"cannot write to standard output: {reason}"
        hint = "is the disk full, or the stream closed?"
        super().__init__("E598", message, hint=hint)


_WRITING_FAILS = frozenset({ENOSPC, EDQUOT, EFBIG, EIO, EBADF})


def output_failure(error: Exception) -> OutputFailed | None:
    """Return the error as one of writing; None if it is another error."""
    if isinstance(error, OSError) and error.errno in _WRITING_FAILS:
        return OutputFailed(error.strerror or str(error))
    return error if isinstance(error, OutputFailed) else None


class PipeClosed(Exception):
    """Error that nobody reads standard output any more. It is no `OSError`, so that no
    handler on the way mistakes it for a failure of its own."""


def standard_output(json: bool = False) -> TextIO:
    """Return standard output; characters that it cannot encode are escaped or replaced.

    Raises:
        OutputFailed: it cannot be written to.
    """
    stream = sys.stdout
    if stream is None:
        raise OutputFailed("standard output is closed")
    drop_odd_sizes(os.environ)
    register()
    for each in (stream, sys.stderr):
        if each is not None and hasattr(each, "reconfigure"):
            each.reconfigure(errors=JSON if json else DRAWN)
    return stream


class Printer:
    """A writer of lines to standard output, which are written as they come."""

    def __init__(self) -> None:
        self._writer: Writer = open_writer(sys.stdout, bare=not form.full)
        self.layout = self._writer.layout

    def show(
        self, answer: Any, text: Iterable[Line], bare: Iterable[Line] | None = None
    ) -> int:
        """Write an answer as one JSON object, as text for people, or with ``--quiet``
        its numbers alone, if it has them; return the exit status of success."""
        if form.json:
            self.object(answer)
        else:
            self.lines(text if bare is None or not form.quiet else bare)
        return Exit.DONE

    def object(self, answer: Any) -> None:
        """Write an answer as one JSON object."""
        from ..answers.jsons import as_json

        self.lines(as_json(answer))

    def text(self, lines: Iterable[Line]) -> None:
        """Write some lines unless the answer is a JSON object."""
        if not form.json:
            self.lines(lines)

    def lines(self, lines: Iterable[Line], flush: bool = True) -> None:
        """Write some lines; without ``flush`` they may wait in the buffer."""
        with _write_failures(), printing():
            self._writer.lines(lines)
            if flush:
                self._writer.flush()

    def paged(self, lines: Iterable[Line]) -> None:
        """Write lines; before a person at a terminal, through a pager."""
        from .keyboard import terminal

        text, kept = StringIO(), list(lines)
        if terminal():
            open_writer(sys.stdout, text).lines(kept)
        if not text.getvalue() or not _shown_by_pager(text.getvalue()):
            self.lines(kept)

    def page(self, markdown: str) -> None:
        with _write_failures(), printing():
            self._writer.page(markdown)
            self._writer.flush()


def _shown_by_pager(text: str) -> bool:
    """Show a text by `PAGER`, or by ``less``; return False if that cannot be done."""
    import shlex
    import signal
    import subprocess

    if os.environ.get("TERM") == "dumb":
        return False
    # Keys are the pager's: Ctrl-C ends its search and not this process below it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        words = shlex.split(os.environ.get("PAGER", "less"))
        looks = {"LESS": "FRX", "LESSCHARSET": "utf-8", **os.environ}
        with subprocess.Popen(words, stdin=subprocess.PIPE, env=looks) as pager:
            before_exit.append(pager.terminate)
            try:
                pager.communicate(text.encode())
            finally:
                before_exit.remove(pager.terminate)
    except (OSError, ValueError, IndexError):
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True


@contextmanager
def _write_failures() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise PipeClosed from None
    except OSError as error:
        raise OutputFailed(error.strerror or str(error)) from error


_LONG_CELL: Final = re.compile(r"(?<![^,\t\n])-?\d+\.\d{6,}(e[+-]\d+)?(?![^,\t\n])")
"""Pattern of a cell with more digits than a terminal shows."""


class _Rows:
    """A terminal as a file of bytes, which shows the rows of a table, with six
    significant digits where they are not JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.flush = stream.flush

    def write(self, rows: bytes) -> None:
        text = rows.decode(errors="replace")
        if form.full:
            text = _LONG_CELL.sub(lambda cell: f"{float(cell[0]):.6g}", text)
        self._stream.write(printable(text, BREAKS))


def rows_output() -> Any:
    """Return standard output as a file of bytes, for the rows of a table.

    Raises:
        OutputFailed: it cannot be written to.
    """
    stream = standard_output()
    return _Rows(stream) if stream.isatty() else stream.buffer


def note(text: str, kept_breaks: str = "") -> None:
    """Write a line to stderr, if it is open, or keep it as a note for the JSON object
    that is going to be printed; a text of several lines is written with `BREAKS`."""
    if sys.stderr is not None and not capture(text):
        text = printable(text, kept_breaks)
        with suppress(OSError, ValueError):
            sys.stderr.write(suited(text, sys.stderr) + "\n")
            sys.stderr.flush()


def warn(text: str) -> None:
    """Write a remark on a result as a note."""
    note(f"note: {text}")


def warn_non_finite(arose: Trouble | None) -> None:
    """Tell where a gradient or the value stopped being finite, if one did."""
    if arose is None:
        return
    from ..answers.not_finite import trouble_notes

    for text in trouble_notes(arose):
        warn(text)


def flush_warnings() -> None:
    """Write the notes that are kept, and those to come, to stderr, because no JSON
    object is going to have them."""
    texts = left()
    keep(False)
    for text in texts:
        note(NOTE + text)


def nobody_reads() -> bool:
    """Tell whether standard output is a pipe whose reader has ended."""
    import select

    if sys.__stdout__ is None or not hasattr(select, "poll"):
        return True
    look = select.poll()
    look.register(sys.__stdout__.fileno(), 0)
    return bool(look.poll(0))


def silence() -> None:
    """Discard all further output to standard output, even what is buffered."""
    if sys.stdout is None:
        return
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
