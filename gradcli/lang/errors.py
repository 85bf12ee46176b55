"""The errors of programs, which say what is wrong, where, why, and what to do.

`ProgramError` is the only exception that the language raises (besides Ctrl-C). Its code
is stable and has a section in `documents/errors.md`; its span counts characters of
`source`, from 0, end excluded. The first digits of a code are its group, which
determines the exit status.

    raise ProgramError("E101", "unknown name 'tahn'", Span(4, 8), source,
                       hint="did you mean 'tanh'?")

renders as

    error[E101]: unknown name 'tahn'
      1 | y = tahn(x)
        |     ^^^^ did you mean 'tanh'?
"""

from functools import partial
from typing import Any

from .excerpt import Span as Span
from .excerpt import block, locate

Edit = tuple[int, int, str]
"""A change of a program's text: the start and the end, excluded, of the part that is
replaced, in characters, and its replacement."""

NO_MEMORY = "there is no memory left for this value"
MORE_MEMORY = "take fewer entries or steps, or allow more with --max-memory"
OTHER_ARGUMENTS = "name the inputs of its other arguments with --wrt"
MORE_SECONDS = "does it ever end? allow more time with --max-seconds"

COMMAND_LINE_IS_WRONG = 2
PROGRAM_IS_WRONG = 3
LIMIT_REACHED = 4
OUTPUT_FAILED = 74
INTERNAL_ERROR = 70
"""Exit status of a fault in gradcli; it and `OUTPUT_FAILED`, the status when output
cannot be written, are those of BSD's ``sysexits.h``."""

_EXIT_STATUS = {
    "E4": LIMIT_REACHED,
    "E515": LIMIT_REACHED,
    "E50": COMMAND_LINE_IS_WRONG,
    "E506": PROGRAM_IS_WRONG,
    "E59": COMMAND_LINE_IS_WRONG,
    "E596": PROGRAM_IS_WRONG,
    "E598": OUTPUT_FAILED,
    "E599": INTERNAL_ERROR,
}
"""Exit statuses by the beginning of an error's code, of which the longest one counts;
all other errors have the status 3."""


def text_of(error: BaseException) -> str:
    """Return an exception's message; nothing if its class fails to write it."""
    try:
        return str(error)
    except Exception:
        return ""


class ProgramError(Exception):
    """An error in a program or in a value, with its span and a way out.

    missing  the inputs without a value, where that is the error
    """

    def __init__(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        source: str = "",
        *,
        hint: str | None = None,
        exit_status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.source = source
        self.hint = hint
        self.edits: tuple[Edit, ...] = ()
        self.lead = "write"
        self.right = ""
        self.missing: tuple[str, ...] = ()
        if exit_status is None:
            begins = [begin for begin in _EXIT_STATUS if code.startswith(begin)]
            longest = max(begins, key=len, default="")
            exit_status = _EXIT_STATUS.get(longest, PROGRAM_IS_WRONG)
        self.exit_status = exit_status

    def __reduce__(self) -> "tuple[partial[ProgramError], tuple[Any, ...]]":
        """Return how to pickle the error, so that another process can receive it."""
        again = partial(ProgramError, hint=self.hint, exit_status=self.exit_status)
        return again, (self.code, self.message, self.span, self.source)

    def __str__(self) -> str:
        return self.render()

    def mended_by(self, *edits: Edit, lead: str = "write") -> "ProgramError":
        """Add the edits of the text that correct this error, and return the error.

        `gradcli.lang.mend` makes a hint of them: ``lead``, then the corrected line.
        """
        self.edits, self.lead = edits, lead
        return self

    def again(self) -> "ProgramError":
        """Return the error anew, without what was raised with it."""
        make, given = self.__reduce__()
        return make(*given).mended_by(*self.edits, lead=self.lead)

    def render(self) -> str:
        """Return the error as a block of text without escape codes or a final
        newline."""
        return block(self.code, self.message, self.span, self.source, self.hint)

    def as_dict(self) -> dict[str, object]:
        """Return the error as the object that `--json` prints."""
        place = locate(self.source, self.span) if self.span is not None else None
        return {
            "schema": "gradcli/1",
            "error": {
                "code": self.code,
                "message": self.message,
                "line": place.line if place else None,
                "column": place.column if place else None,
                "end_column": place.end_column if place else None,
                "hint": self.hint,
                "source_line": place.text if place else None,
            },
        }
