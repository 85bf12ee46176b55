"""The tokenizer, which turns a program's text into tokens.

The text is read once from left to right, in linear time. A sign or a keyword is its own
kind (`"**"`, `"if"`); the other kinds are `name`, `number`, `string`, `newline`,
`superscript`, `primes`, `indent`, `dedent` and `end`. Brackets in the result match, and
a line break inside them is no token. `^` has the kind `**` and `×` the kind `*`,
because they mean the same.

    [t.kind for t in tokenize("y = 2*x")]
    # ['name', '=', 'number', '*', 'name', 'newline', 'end']
"""

import re
from math import inf
from typing import NamedTuple

from . import lexicon
from .errors import ProgramError, Span
from .lexicon import CLOSING, FOREIGN_CHARACTERS, KEYWORDS, SUPERSCRIPTS
from .maxima import MAX_INTEGER_BITS, MAX_INTEGER_DIGITS, MAX_NAME_CHARACTERS


class Token(NamedTuple):
    """One word or sign; `value` is that of a number or string, or a word's text; of a
    bracket, the number of the token that is its other half."""

    kind: str
    value: int | float | str | None
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    @property
    def partner(self) -> int:
        """The number of the bracket that this one closes, or is closed by."""
        return int(self.value or 0)


_DIGITS = r"[0-9](?:_?[0-9])*"
_OWN_SIGNS = (
    *("...", "**", "//", "<=", ">=", "==", "!="),
    *(*lexicon.AUGMENTED, *lexicon.SAME_SIGN),
    *"+-*/%@<>=()[],.:;",
    *(lexicon.BAR, *lexicon.ROOTS, *lexicon.SIGNS_OF_NAMES),
)
_FOREIGN = {
    s: told for s, told in lexicon.FOREIGN_SIGNS.items() if lexicon.BAR not in s
}
"""Signs of other languages, except bars, which the parser handles."""
_SIGNS = sorted({*_OWN_SIGNS, *_FOREIGN}, key=len, reverse=True)
_RAISED = "".join(SUPERSCRIPTS)
_PATTERN = re.compile(
    rf"(?P<blank>[ \t\f{lexicon.BLANKS}]+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<based>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+)"
    rf"|(?P<number>(?:{_DIGITS}(?:\.(?!\.)(?:{_DIGITS})?)?|\.{_DIGITS})"
    rf"(?:[eE][+-]?{_DIGITS})?)"
    r"|(?P<newline>\r\n|\r|\n)"
    r"|(?P<comment>#[^\r\n]*)"
    r"|(?P<joined>\\[ \t]*(?:\r\n|\r|\n))"
    rf"|(?P<sign>{'|'.join(map(re.escape, _SIGNS))})"
    rf"|(?P<superscript>[⁺⁻]?[{_RAISED[2:]}]+)"
    r"|(?P<string>(?P<quotes>\"\"\"|''')[\s\S]*?(?P=quotes)"
    r"|\"(?:[^\"\\\r\n]|\\[^\r\n])*\"|'(?:[^'\\\r\n]|\\[^\r\n])*')"
)
_LINE_START = re.compile(r"(?P<blanks>[ \t\f]*)(?P<nothing>#[^\r\n]*|(?=[\r\n])|\Z)?")
_PRIMED = re.compile(r"'{1,3}(?:\s*\([^()'\"]*\))?(?=\s*=)")
_PRIMES = re.compile(r"['’′]{1,3}(?=\()")
"""Pattern of the primes of a derivative: f''(x)."""
TRIPLE = ("'''", '"""')
TAB_STOP = 8
_HUGE = f"the integer has more than {MAX_INTEGER_BITS} bits"


def tokenize(source: str) -> list[Token]:
    """Return all tokens of a program, the last one of kind `end`."""
    return _Tokenizer(source).read()


class _Tokenizer:
    """The tokens read so far; a method that reads one returns where the next begins."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.brackets: list[int] = []
        self.margins: list[tuple[int, int]] = []

    def read(self) -> list[Token]:
        source, match = self.source, _PATTERN.match
        handlers = {
            "name": self._name,
            "number": self._number,
            "based": self._number,
            "newline": self._newline,
            "sign": self._sign,
            "superscript": self._superscript,
            "string": self._string,
        }
        position = self._line_start(1 if source.startswith("\ufeff") else 0)
        while position < len(source):
            found = match(source, position)
            if found is None:
                position = self._unmatched(position)
                continue
            handler = handlers.get(found.lastgroup or "")
            end = found.end()
            position = handler(position, end) if handler else end
        self._finish()
        return self.tokens

    def fail(
        self, code: str, message: str, start: int, end: int, hint: str | None = None
    ) -> ProgramError:
        return ProgramError(code, message, Span(start, end), self.source, hint=hint)

    def _add(
        self, kind: str, value: int | float | str | None, start: int, end: int
    ) -> int:
        self.tokens.append(Token(kind, value, start, end))
        return end

    def _name(self, start: int, end: int) -> int:
        """Add a name, in the form NFC if it has characters beyond ASCII."""
        source = self.source
        if source[end : end + 1] in ("'", '"') and not self._has_primes(end):
            raise self._prefixed_string(source[start:end], start, end)
        wide = not source[start : end + 1].isascii()
        while wide and end < len(source) and _continues_name(source[end]):
            end += 1
        text = source[start:end]
        if not text.isascii():
            import unicodedata

            text = unicodedata.normalize("NFC", text)
        self._add_name(text, start, end)
        if source[end : end + 1] in ("'", "’", "′") and self._has_primes(end):
            primes = _PRIMES.match(source, end)
            assert primes is not None
            return self._add("primes", len(primes[0]), end, primes.end())
        return end

    def _has_primes(self, at: int) -> bool:
        """Return whether primes of a derivative stand here, and none is assigned."""
        assigned = _PRIMED.match(self.source, at)
        if not _PRIMES.match(self.source, at):
            return False
        if assigned is None:
            return True
        after = self.source[assigned.end() : assigned.end() + 20]
        return after.lstrip().startswith("==")

    def _add_name(self, text: str, start: int, end: int) -> int:
        if end - start > MAX_NAME_CHARACTERS:
            message = f"a name of {end - start:,} characters"
            hint = f"a name has {MAX_NAME_CHARACTERS:,} characters at most"
            raise self.fail("E404", message, start, end, hint)
        return self._add(text if text in KEYWORDS else "name", text, start, end)

    def _unmatched(self, start: int) -> int:
        character = self.source[start]
        self._refuse_phrase(start)
        import unicodedata

        if character.isidentifier() and _continues_name(character):
            return self._name(start, start + 1)
        plain = unicodedata.normalize("NFKC", character)
        if character in FOREIGN_CHARACTERS or plain != character:
            meant = FOREIGN_CHARACTERS.get(character, plain)
            quote = "a shell knows only straight quotes: type " + meant
            hint = quote if meant in ("'", '"') else f"write {meant}"
            message = f"'{character}' is a typographic character"
            error = self.fail("E202", message, start, start + 1, hint)
            raise error if hint == quote else error.mended_by((start, start + 1, meant))
        if character in "\"'":
            end = start + len(re.split(r"[\r\n]", self.source[start:], maxsplit=1)[0])
            hint = f"close it with {character} on the same line"
            raise self.fail("E204", "a string is not closed", start, end, hint)
        hint = f"it is U+{ord(character):04X}; the language does not use it"
        message = f"unexpected character {character!r}"
        raise self.fail("E201", message, start, start + 1, hint)

    def _number(self, start: int, end: int) -> int:
        text = self.source[start:end]
        self._check_number_ends(start, end)
        digits = text.replace("_", "")
        if text[:2].lower() in ("0x", "0o", "0b"):
            value = int(text, 0)
            if value.bit_length() > MAX_INTEGER_BITS:
                raise self.fail("E402", _HUGE, start, end)
            return self._add("number", value, start, end)
        if not digits.isdigit():
            number = float(text)
            if not number or number == inf:
                from .nested import beyond_floats

                beyond = beyond_floats(text, number)
                if beyond is not None:
                    hint = f"write {'inf' if number else 0}"
                    raise self.fail("E214", f"{text} is {beyond}", start, end, hint)
            return self._add("number", number, start, end)
        if len(text) > MAX_INTEGER_DIGITS:
            raise self.fail("E402", _HUGE, start, end, "write it as a float: 1e30")
        if text[0] == "0" and digits.strip("0"):
            hint = f"write {text.lstrip('0_')}"
            raise self.fail("E203", "leading zeros in an integer", start, end, hint)
        return self._add("number", int(text), start, end)

    def _superscript(self, start: int, end: int) -> int:
        digits = "".join(SUPERSCRIPTS[each] for each in self.source[start:end])
        if len(digits) > MAX_INTEGER_DIGITS:
            raise self.fail("E402", _HUGE, start, end)
        return self._add("superscript", int(digits), start, end)

    def _check_number_ends(self, start: int, end: int) -> None:
        """Refuse a number that a letter or a second point follows, such as `3j`; a name
        that follows it is a factor."""
        source = self.source
        follower = source[end : end + 1]
        if follower == "." and source[end + 1 : end + 2].isdigit():
            stop = end + len(re.split(r"[\s()\[\],;]", source[end:], maxsplit=1)[0])
            message = "a number with two decimal points"
            raise self.fail("E203", message, start, stop, "keep one of the points")
        if follower != "_" and not _continues_name(follower):
            return
        stop = end
        while _continues_name(source[stop : stop + 1]):
            stop += 1
        number, word = source[start:end], source[end:stop]
        message, hint = f"'{number}{word}' is not a number", None
        if word in KEYWORDS:
            hint = f"put a space: {number} {word}"
        elif word in ("j", "J"):
            message = "complex numbers are not supported"
            hint = f"numbers are real; to multiply write {number}*{word}"
        elif word.isidentifier() and not (number == "0" and word[0] in "xXoObB"):
            if word[0] != "_":
                return
            hint = "underscores are written between digits"
        raise self.fail("E203", message, start, stop, hint)

    def _string(self, start: int, end: int) -> int:
        if self.source[start : start + 3] in TRIPLE and end - start > 5:
            return self._add("string", self.source[start + 3 : end - 3], start, end)
        body = self.source[start + 1 : end - 1]

        def meaning(escape: re.Match[str]) -> str:
            if escape[0][1] in lexicon.STRING_ESCAPES:
                return lexicon.STRING_ESCAPES[escape[0][1]]
            at = start + 1 + escape.start()
            message = f"unknown escape {escape[0]!r} in a string"
            hint = r"write '\\' for a backslash"
            raise self.fail("E204", message, at, at + 2, hint)

        return self._add("string", re.sub(r"\\.", meaning, body), start, end)

    def _prefixed_string(self, prefix: str, start: int, end: int) -> ProgramError:
        primed = _PRIMED.match(self.source, end)
        if primed and prefix not in KEYWORDS:
            message = f"{prefix}' is a derivative, and a program has values"
            error = self.fail("E208", message, start, primed.end(), "leave ' out")
            return error.mended_by((end, primed.end(), ""))
        if prefix in KEYWORDS or prefix.lower() not in ("f", "r", "b", "u", "rb", "br"):
            hint = "a transpose is x.T" if self.source[end] == "'" else None
            message = f"no operator between {prefix} and the quote"
            return self.fail("E208", message, start, end + 1, hint)
        message = f"strings with a prefix ({prefix}) are not supported"
        return self.fail("E209", message, start, end + 1, "drop the prefix")

    def _sign(self, start: int, end: int) -> int:
        sign = self.source[start:end]
        sign = lexicon.SAME_SIGN.get(sign, sign)
        if sign in _FOREIGN:
            self._refuse_phrase(start)
            message, (hint, meant) = f"'{sign}' is not an operator here", _FOREIGN[sign]
            error = self.fail("E201", message, start, end, hint)
            if meant is not None:
                raise error.mended_by((start, end, meant))
            raise error
        if sign in lexicon.SIGNS_OF_NAMES:
            return self._add_name(lexicon.SIGNS_OF_NAMES[sign], start, end)
        partner = None
        if sign in CLOSING:
            self.brackets.append(len(self.tokens))
        elif sign in ")]":
            partner = self._close(sign, start, end)
        return self._add(sign, partner, start, end)

    def _close(self, sign: str, start: int, end: int) -> int:
        """Return the number of the bracket that this one closes, and tell that one."""
        if not self.brackets:
            message = f"'{sign}' closes nothing"
            raise self.fail("E205", message, start, end, "delete it")
        at = self.brackets.pop()
        opened = self.tokens[at]
        if sign != CLOSING[opened.kind]:
            message = f"'{sign}' does not close '{opened.kind}'"
            hint = f"write '{CLOSING[opened.kind]}'"
            raise self.fail("E205", message, start, end, hint)
        self.tokens[at] = opened._replace(value=len(self.tokens))
        return at

    def _refuse_phrase(self, start: int) -> None:
        """Refuse a phrase of another notation, such as LaTeX, if one begins here."""
        source = self.source
        for pattern, message, hint in lexicon.FOREIGN_PHRASES:
            found = re.compile(pattern).match(source, start)
            if not found:
                continue
            error = self.fail("E201", message, start, found.end(), hint)
            derived = lexicon.DERIVATIVE.match(source, start)
            if derived is not None:
                raise error.mended_by((start, derived.end(), ""))
            raise error

    def _newline(self, start: int, end: int) -> int:
        if self.brackets:
            return end
        return self._line_start(self._add("newline", None, start, end))

    def _line_start(self, position: int) -> int:
        """Skip empty lines, and add tokens for the indentation of the next line."""
        source = self.source
        while True:
            found = _LINE_START.match(source, position)
            assert found is not None
            position = found.end()
            if found["nothing"] is None:
                self._indent(found["blanks"], found.start(), position)
                return position
            if position >= len(source):
                return position
            position += 2 if source.startswith("\r\n", position) else 1

    def _indent(self, blanks: str, start: int, end: int) -> None:
        margin = (len(blanks.expandtabs(TAB_STOP)), len(blanks))
        margins = self.margins
        if not margins:
            margins.append(margin)
        if margin == margins[-1]:
            return
        if margin[0] > margins[-1][0] and margin[1] > margins[-1][1]:
            margins.append(margin)
            self._add("indent", None, start, end)
            return
        while len(margins) > 1 and margin[0] < margins[-1][0]:
            margins.pop()
            self._add("dedent", None, end, end)
        if margin != margins[-1]:
            mixed = margin[0] == margins[-1][0] or "\t" in blanks
            hint = "use only spaces" if mixed else "line it up with a line above"
            message = "this indentation matches no line above"
            raise self.fail("E206", message, start, max(end, start + 1), hint)

    def _finish(self) -> None:
        if self.brackets:
            kind, _, start, end = self.tokens[self.brackets[-1]]
            hint = f"add '{CLOSING[kind]}'"
            raise self.fail("E205", f"'{kind}' is never closed", start, end, hint)
        end = len(self.source)
        if self.tokens and self.tokens[-1].kind != "newline":
            self._add("newline", None, end, end)
        self.tokens += [Token("dedent", None, end, end)] * (len(self.margins) - 1)
        self._add("end", None, end, end)


def _continues_name(character: str) -> bool:
    """Return whether a character can be inside a name; False for an empty text."""
    if character.isascii():
        return character == "_" or character.isalnum()
    import unicodedata

    foreign = character in FOREIGN_CHARACTERS or character in lexicon.SAME_SIGN
    raised = unicodedata.decomposition(character).startswith("<su")
    raised = raised and unicodedata.category(character) != "Lo"
    return not (foreign or raised) and ("a" + character).isidentifier()
