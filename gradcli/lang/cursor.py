"""The cursor: a position in the list of tokens, with the errors about its token.

cursor.take_if(",")          # the token; None, without moving, if it is no comma
cursor.expect(")")           # the token, or an error that says what was found
"""

from collections.abc import Iterable

from .errors import ProgramError, Span
from .excerpt import shortened
from .lexicon import BESIDE, FOREIGN_WORDS, ROOTS
from .tokens import Token, tokenize

_VALUES = frozenset({"name", "number", "string", "True", "False", "None"})
OPERAND_STARTS = _VALUES | {"(", "[", *ROOTS}
OPERAND_ENDS = _VALUES | {")", "]", "superscript"}
_UNSEEN = {
    "newline": "the end of the line",
    "end": "the end of the program",
    "indent": "an indented line",
    "dedent": "the end of the body",
}
AN_EXPRESSION = "an expression"
_BODY = "':'"


class Cursor:
    """A reader of tokens one by one, with the names that are assigned so far."""

    def __init__(self, source: str, variables: Iterable[str]) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.at = 0
        self.token = self.tokens[0]
        self.variables = set(variables)

    def take(self) -> Token:
        taken = self.token
        self.at += 1
        if self.at < len(self.tokens):
            self.token = self.tokens[self.at]
        return taken

    def take_if(self, kind: str) -> Token | None:
        return self.take() if self.token.kind == kind else None

    def expect(self, kind: str, hint: str | None = None) -> Token:
        if self.token.kind != kind:
            raise self.unexpected(f"'{kind}'", hint)
        return self.take()

    def expect_name(self, wanted: str) -> tuple[str, Token]:
        token = self.token
        if token.kind != "name":
            raise self.unexpected(wanted)
        self.take()
        return str(token.value), token

    def kind_after(self) -> str:
        at = self.at + 1
        return self.tokens[at].kind if at < len(self.tokens) else "end"

    def kind_before(self, distance: int = 1) -> str:
        at = self.at - distance
        return self.tokens[at].kind if at >= 0 else ""

    def span_from(self, start: int) -> Span:
        """Return the span from `start` to the end of the last token taken."""
        return Span(start, self.tokens[self.at - 1].end)

    def fail(
        self, code: str, message: str, span: Span, hint: str | None = None
    ) -> ProgramError:
        return ProgramError(code, message, span, self.source, hint=hint)

    def unexpected(self, wanted: str, hint: str | None = None) -> ProgramError:
        """Return the error for the present token, which is not what is wanted here."""
        token = self.token
        if token.kind in FOREIGN_WORDS:
            return self.foreign_word()
        before = self.tokens[self.at - 1] if self.at else None
        side_by_side = (
            before and before.kind in OPERAND_ENDS and token.kind in OPERAND_STARTS
        )
        if before and side_by_side and wanted != _BODY:
            return self.missing_operator(before, token)
        found = _UNSEEN.get(token.kind) or f"'{self.text(token)}'"
        counted = self.at > 1 and before and before.kind in ("+", "-")
        if before and before.kind == token.kind == "%":
            hint = hint or "a remainder is one '%'"
        elif hint is not None:
            pass
        elif token.kind == "=":
            hint = "to compare, write '=='"
        elif before and counted and self.tokens[self.at - 2].kind == before.kind:
            hint = "to count, write i += 1 or i -= 1"
        elif wanted.startswith("'"):
            hint = f"write {wanted} before it"
        elif wanted == AN_EXPRESSION and before:
            hint = f"write a value after '{self.text(before)}'"
        elif wanted == AN_EXPRESSION:
            hint = f'write a value before {found}; a shell takes $x out of "$x"'
        error = self.fail("E207", f"expected {wanted}, found {found}", token.span, hint)
        if before and before.kind == token.kind == "%":
            return error
        if token.kind == ";" and wanted == "')'":
            edit = (*token.span, ",")
            return error.mended_by(edit, lead="arguments are split by commas: write")
        if token.kind == "=" and (before is None or before.kind in ("newline", ";")):
            lead = "a program begins without '=': write"
            return error.mended_by((*token.span, ""), lead=lead)
        if before and before.kind == "%" and wanted != _BODY:
            edit = before.start, before.end, "/100"
            return error.mended_by(edit, lead="a percentage is a number: write")
        return error

    def foreign_word(self) -> ProgramError:
        word = self.token.kind
        message = f"'{word}' is not part of the language"
        return self.fail("E209", message, self.token.span, FOREIGN_WORDS[word])

    def missing_operator(self, before: Token, after: Token) -> ProgramError:
        """Return the error for two operands side by side, with the hint to multiply
        them, or to call the first one if it is a function's name."""
        left, right = self.text(before), self.text(after)
        bracketless = not {before.kind, after.kind} & set("()[]")
        product = f"{left}*{right}" if bracketless else "'*' between them"
        message = f"no operator between {left} and {right}"
        span = Span(before.start, after.end)
        at = self.tokens.index(after)
        signed = self.tokens[at - 2].kind in ("+", "-")
        raised = at > 2 and self.tokens[at - 2 - signed].kind == "**"
        directly = before.kind == "number" and before.end == after.start
        ambiguous = raised and directly and after.kind == "name"
        if ambiguous and not self.function_meant(self.tokens[at - 3 - signed]):
            message += f"; if both are in the exponent, write ^({left}{right})"
        outside = "a value {}=3 stands outside the quotes"
        if after.kind == "name" and self.tokens[at + 1].kind == "=":
            hint = f"';' ends a statement; {outside.format(right)}"
            return self.fail("E208", message, span, hint)
        follows = [token.kind for token in self.tokens[at + 1 : at + 3]]
        if after.value in BESIDE and follows == ["name", "="]:
            hint = outside.format(self.text(self.tokens[at + 1]))
            return self.fail("E208", message, span, hint)
        error = self.fail("E208", message, span, f"to multiply, write {product}")
        if "string" in (before.kind, after.kind):
            return error
        from .mend import between

        return between(error, self.tokens, at, self.function_meant)

    def function_meant(self, token: Token) -> str | None:
        """Return the name of the function that a token means, also in other spellings;
        None for a variable or another token."""
        name = str(token.value)
        if token.kind != "name" or len(name) == 1 or name in self.variables:
            return None
        if self.names_function(name):
            return name
        from .suggest import other_spelling

        return other_spelling(name, self.names_function)

    def names_function(self, name: str) -> bool:
        """Return whether a name is that of a function; a single letter or a variable's
        name is not."""
        from .tensor_library import is_function

        return len(name) > 1 and name not in self.variables and is_function(name)

    def text(self, token: Token) -> str:
        return shortened(self.source[token.start : token.end])
