"""Input from a terminal: one key, or lines with history and completion.

Invariants: however the process ends, the terminal is left as it was found. Lines are
read by the interpreter's own readline; those of a pipe are read without a prompt.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import TextIOWrapper, UnsupportedOperation
from pathlib import Path

from ..lang.errors import ProgramError
from ..tables.filesystem import STANDARD_INPUT, guarded
from .ending import before_exit

PROMPT, MORE = "> ", ". "

ENDS = frozenset({"q", "Q", "\x04", ""})
"""Keys that end a series of steps; Ctrl-D and a closed terminal are among them."""

MAX_TYPED_BYTES = 1 << 20
"""Longest text that is run at once, in bytes."""

MAX_TYPED_LINES = 2000
"""Largest number of lines of a text that is run at once."""

MAX_KEY_BYTES = 32
"""Largest number of bytes that one key sends; an arrow sends several."""

Complete = Callable[[str], tuple[str, list[str]]]
"""Function that returns the word begun before the cursor, and its completions."""


def terminal() -> bool:
    """Return True if input and output are terminals."""
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams)


def person() -> bool:
    """Return True if a person types the input."""
    return sys.stdin is not None and sys.stdin.isatty()


def key(asked: str = "") -> str:
    """Wait for a key behind a line on stderr, which is overwritten with blanks then;
    return what the key sends as text."""
    print(asked, end="", file=sys.stderr, flush=True)
    pressed = _pressed()
    if asked:
        print("\r" + " " * len(asked), end="\r", file=sys.stderr, flush=True)
    return pressed


def _pressed() -> str:
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.getwch()
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def restore() -> None:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    before_exit.append(restore)
    try:
        tty.setcbreak(terminal)
        return os.read(terminal, MAX_KEY_BYTES).decode(errors="replace")
    finally:
        restore()
        before_exit.remove(restore)


def typed(complete: Complete, goes_on: Callable[[str], bool]) -> Iterator[str]:
    """Yield what is typed until Ctrl-D, a line or, where a text ``goes_on``, a block at
    a time. Ctrl-C drops what is being typed."""
    line = _with_readline(complete) if terminal() else _piped
    if isinstance(sys.stdin, TextIOWrapper):
        # Bytes that are no text come as characters that no program has.
        with suppress(UnsupportedOperation):  # in a session that another one started
            sys.stdin.reconfigure(errors="surrogateescape")
    while True:
        try:
            text, count = line(PROMPT), 1
            while goes_on(text):
                more, count = line(MORE), count + 1
                text = f"{text}\n{more}"
                if len(text) > MAX_TYPED_BYTES or count > MAX_TYPED_LINES:
                    raise _too_long()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip():
            yield text.rstrip("\n")


def _piped(prompt: str) -> str:
    line = ""
    if sys.stdin is not None:
        with guarded(STANDARD_INPUT, "type the lines", codes=("E594", "E594", "E594")):
            line = sys.stdin.readline(MAX_TYPED_BYTES + 1)
    if len(line) > MAX_TYPED_BYTES:
        raise _too_long()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _too_long() -> ProgramError:
    message = f"a text of more than {MAX_TYPED_BYTES:,} bytes or {MAX_TYPED_LINES:,} "
    hint = "is a bracket not closed? a long program goes into a file: -f FILE"
    return ProgramError("E404", f"{message}lines", hint=hint)


def _input(prompt: str) -> str:
    """Return a line; what is broken off by a key ends its line on the screen."""
    try:
        return input(prompt)
    except (KeyboardInterrupt, EOFError):
        print()
        raise


def _with_readline(complete: Complete) -> Callable[[str], str]:
    try:
        import readline
    except ImportError:
        return _input
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    path = Path(state) / "gradcli" / "readline"

    def keep() -> None:
        with suppress(OSError):
            readline.write_history_file(path)

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        readline.read_history_file(path)
    # The process ends without running Python's exit handlers.
    before_exit.append(keep)

    def nth(begun: str, state: int) -> str | None:
        word, words = complete(readline.get_line_buffer()[: readline.get_endidx()])
        # Readline's word begins after a sign with which gradcli's word may begin.
        known = len(word) - len(begun)
        return words[state][known:] if state < len(words) else None

    readline.set_completer(nth)
    readline.set_completer_delims(" \t\n()[]{},;=+-*/^%@'\"")
    readline.parse_and_bind("tab: complete")
    return _input
