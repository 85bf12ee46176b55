"""The errors of programs, which say what is wrong, where, why, and what to do.

`ProgramError` is the only exception that the language raises (besides Ctrl-C). Its code
is stable and listed in `CODES`; its span counts characters of `source`, from 0, end
excluded. The first digits of a code are its group, which determines the exit status.

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

CODES: dict[str, str] = {
    "E101": "a name that nothing defines",
    "E102": "a value is called as if it were a function",
    "E103": "a method that the value does not have",
    "E104": "an attribute that the value does not have",
    "E105": "a function's name is used as a value",
    "E106": "a call that the command line makes itself or does not offer",
    "E107": "a name that has no value yet, because its assignment did not run",
    "E108": "another library's function that is not computed here",
    "E201": "a character that the language does not use",
    "E202": "a typographic character in place of an operator or quote",
    "E203": "a malformed number",
    "E204": "a malformed string",
    "E205": "brackets that do not match",
    "E206": "indentation that does not fit",
    "E207": "something else was expected here",
    "E208": "an operator is missing",
    "E209": "a construct of Python that the language leaves out",
    "E210": "something that cannot be assigned to",
    "E211": "a program without statements",
    "E212": "break or continue outside a loop",
    "E213": "arguments of a call that are out of order, doubled or starred",
    "E214": "a number that is too large or too small for a float",
    "E301": "an operator that these values do not have",
    "E302": "arguments that do not fit the function",
    "E303": "shapes that do not fit each other",
    "E304": "an index or key that does not fit",
    "E305": "a value that is neither true nor false",
    "E306": "a value that cannot be iterated over or unpacked so",
    "E307": "a plain number that cannot be converted",
    "E398": "a program that cannot be written as expressions",
    "E399": "an operation refused its values",
    "E401": "the limit on executed steps",
    "E402": "the limit on the size of an integer",
    "E403": "the limit on memory",
    "E404": "the limit on depth or length",
    "E405": "the limit on time",
    "E406": "the limit on the length of code",
    "E501": "an argument that is not NAME=VALUE",
    "E502": "a name that no program can use",
    "E503": "a name with two values",
    "E504": "a name without a value",
    "E505": "a value for a name that the program does not read",
    "E506": "inputs without a value",
    "E507": "an option names what the program does not have",
    "E508": "standard input is asked for twice",
    "E509": "an option's value that cannot be used",
    "E511": "a file that does not exist",
    "E512": "a file that cannot be read or written",
    "E513": "a file whose content is not what it should be",
    "E514": "a file of values that are not real numbers",
    "E515": "the limit on the size of a file",
    "E516": "rows of different lengths",
    "E517": "an entry that is not a number",
    "E518": "an array that the file does not have, or none was named",
    "E519": "a value that is no tensor",
    "E520": "an output that is no tensor",
    "E521": "a loss or a gradient that is not finite",
    "E590": "a command line that does not fit the command",
    "E591": "an option that does not exist",
    "E592": "a command that does not exist",
    "E593": "no program was given",
    "E594": "a program that cannot be read",
    "E595": "an option's value that does not fit",
    "E596": "a derivative that the output does not have",
    "E597": "an operation that does not exist",
    "E598": "output that cannot be written",
    "E599": "an error inside gradcli",
}

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
