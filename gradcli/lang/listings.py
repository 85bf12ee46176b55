"""Statements and functions of other programs and languages, rewritten in the language.

A function that is defined last is what the text computes. Types are left out; integers
are remembered, because C and Rust divide them in another way.

Invariant: each name that a text defines has the meaning that the text gives it.

    rewritten_from("R", "f <- function(x) 2*5 %% 3", {})        # "f(x) = 2*(5 % 3)"
    rewritten_from("C", "double f(double x) { return x*x; }", {})      # "f(x) = x*x"
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .dialects import TwoWays
from .errors import ProgramError
from .forms import FormReader
from .guards import BRACED, TYPED
from .notation import ATOM, NotationPiece, NotationToken
from .tensor_library import CONSTANTS

_OPENING, _CLOSING = "([{", ")]}"
_INTEGERS = frozenset(
    {
        "int",
        "long",
        "Integer",
        "Long",
        "unsigned",
        "size_t",
        "i32",
        "i64",
        "usize",
        "u32",
    }
)
"""Types of integers in C, Java and Rust."""

_SHOWN = frozenset({"N", "Simplify", "FullSimplify", "Expand", "TeXForm"})
"""Functions behind `//` in Mathematica that change no value."""

ARROWS = {"Julia": "->", "Maple": "->", "Java": "->", "JavaScript": "=>"}
"""Signs between the inputs and the body of a function, by titles."""

_DECLARED = re.compile(
    r"@\w+|\b(?!Integer|Long)[A-Z]\w{0,40}(?:<[\w ,<>?]{0,80}>)?[ ](?=\w{1,40} ?=[^=])"
)
"""Pattern of annotations of Java, and of its types of functions."""

_INTEGRAL = re.compile(r"(?:floor|ceil|round|trunc)\([^()]*\)")
"""Pattern of a call whose value is a whole number."""

_AUGMENTED = ("+", "-", "*", "/")


def rewritten_from(title: str, source: str, ranks: Mapping[str, int | None]) -> str:
    """Return a text of another program as one of the language.

    Raises:
        ProgramError: a part of it is not known, or can be meant in two ways.
    """
    if title == "Mathematica":
        source = re.sub(r"\\\[([A-Za-z]{1,30})\]", _letter, source)
    if title == "Java":
        source = _DECLARED.sub(lambda found: " " * len(found[0]), source)
    try:
        first = _ListingReader(title, source, dict(ranks))
        text = first.program()
        if not first.given:
            return text
        again = _ListingReader(title, source, dict(ranks))
        again.known = first.given
        return again.program()
    except RecursionError:
        message = f"this formula of {title} is nested too deeply"
        raise ProgramError("E404", message, None, source) from None
    except TwoWays as doubt:
        texts = []
        for way in range(doubt.ways):
            reader = _ListingReader(title, source, dict(ranks))
            reader.way = way
            texts.append(" ".join(reader.program().split()))
        hint = f"write {texts[-1]}"
        if doubt.ways > 1:
            hint = f"write {texts[0]} for what {title} computes, or {texts[-1]}"
        message = doubt.message
        raise ProgramError("E208", message, doubt.at, source, hint=hint) from None


def _letter(found: re.Match[str]) -> str:
    """Return the letter that Mathematica writes as a word: `\\[Alpha]`."""
    word = found[1]
    size = "CAPITAL" if word.startswith("Capital") else "SMALL"
    name = word.removeprefix("Capital").upper()
    signs = {"TIMES": "*", "INFINITY": "Infinity", "EXPONENTIALE": "E"}
    try:
        return signs.get(name) or unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return found[0]


class _FunctionHead:
    """The head of a function: its name, its inputs, and what closes its body.

    inputs  the names, each with the text of its value if it is left out
    out     the name of the result in MATLAB
    integer  whether the result is an integer
    """

    def __init__(
        self, name: str, inputs: dict[str, str], closing: str, out: str = ""
    ) -> None:
        self.name, self.inputs, self.closing, self.out = name, inputs, closing, out
        self.integer = False


def _is_whole(types: set[str]) -> bool:
    """Return whether the types before a name are those of an integer."""
    return bool(types & _INTEGERS) and "double" not in types


class _ListingReader(FormReader):
    """The reader of one text."""

    returns_integer = False
    """Whether the function that is read returns an integer."""

    def program(self) -> str:
        made: list[str] = []
        while self.token.kind != "end":
            if not self._skipped():
                made += self._statement(last=True)
        if not made:
            raise self.refused()
        several = any(each.startswith("def ") for each in made)
        return ("\n" if several else "; ").join(made)

    def _skipped(self) -> bool:
        ends = ("\n", ";", ":") if self.title == "Maple" else ("\n", ";")
        return self.take_if(*ends) is not None

    def _statement(self, last: bool = False) -> list[str]:
        """Return a statement; a function that is ``last`` may have several."""
        at = self.at
        head = self._head()
        if head is not None:
            return self._function(head, last)
        self.at = at
        typed = self._types()
        returned = self.is_word("if")
        if self.is_word("return") and self.tokens[self.at + 1].kind != "=":
            returned = bool(self.take())
        head_token, after = self.token, self.tokens[self.at + 1]
        if self.title in ("Rust", "JavaScript") and typed and after.kind == ":":
            self._type_behind()
            after = self.tokens[self.at + 1]
        if head_token.kind == "name" and after.kind in self.grammar.assigns:
            self.at += 2
            return self._assigned(head_token.text, _is_whole(typed))
        sign = self.tokens[self.at + 2].kind if after.kind in _AUGMENTED else ""
        if head_token.kind == "name" and sign == "=" and self.title != "SymPy":
            self.at += 3
            return self._assigned(head_token.text, False, after)
        if self.title == "SymPy" and self.is_word("Eq") and after.kind == "(":
            return [self._equation()]
        piece = self.expression()
        if returned and self.returns_integer and self.title == "C":
            piece = self._whole(piece, head_token)
        self._ended()
        return [piece.text]

    def _whole(self, piece: NotationPiece, token: NotationToken) -> NotationPiece:
        """Return what becomes of an expression that is assigned to an integer."""
        if self.both_integers(piece) or _INTEGRAL.fullmatch(piece.text):
            return piece
        message = f"an integer drops the digits behind the point in {self.title}"
        if self.asked(message, token) == 0:
            return NotationPiece(f"trunc({piece.text})", ATOM, 0)
        return piece

    def _assigned(
        self, name: str, integer: bool, sign: NotationToken | None = None
    ) -> list[str]:
        """Return an assignment to a name, and others that a comma adds to it.

        Args:
            sign: the operator in `y += 1`.
        """
        token, piece = self.token, self.expression()
        if sign is not None:
            own = NotationPiece(name, ATOM, self.ranks.get(name, 0))
            _, meant = self.grammar.infix[sign.kind]
            piece = self._joined(own, meant, piece, sign)
        if integer or (name in self.integers and self.title in TYPED):
            if self.title == "C" or sign is not None:  # Java takes integers alone
                piece = self._whole(piece, token)
            self.integers.add(name)
        self.ranks[name] = piece.rank
        is_constant = piece.text == name and name in CONSTANTS  # pi = Math.PI
        made = [] if is_constant else [f"{name} = {piece.text}"]
        if self.title in BRACED and self.take_if(","):
            name = self.take().text
            self.expect("=")
            return made + self._assigned(name, integer)
        self._ended()
        return made

    def _ended(self) -> None:
        while self.title == "Mathematica" and self.take_if("//"):
            if self.token.text not in _SHOWN:
                raise self.refused()
            self.take()
        ends = ("end", "\n", ";", "}", *((":",) if self.title == "Maple" else ()))
        if self.title == "JavaScript" and self.token.kind == "name":
            between = slice(self.tokens[self.at - 1].end, self.token.start)
            if "\n" in self.source[between]:  # such a line ends a statement there
                return
        if self.token.kind not in ends and not self.is_word("end"):
            raise self.refused()

    def _equation(self) -> str:
        """Return `Eq(y, x**2)` as a definition of y."""
        self.at += 2
        name = self.expression()
        self.expect(",")
        piece = self.expression()
        self.closed(")")
        self._ended()
        if not name.text.isidentifier():
            hint = f"write {name.text} - ({piece.text})"
            raise self.refused(why="is an equation, which is not read", hint=hint)
        return f"{name.text} = {piece.text}"

    # Functions.

    def _types(self) -> set[str]:
        """Pass over the types before a name, and return them."""
        found = set()
        while self.is_word(*self.grammar.types):
            found.add(self.take().text)
        return found

    def _type_behind(self) -> None:
        """Drop a type behind the name at the present place."""
        at = self.at + 1
        while self.tokens[at].kind not in ("=", ";", "end", "\n"):
            at += 1
        self.tokens[self.at + 1 : at] = []

    def _inputs(self, closing: str = ")") -> dict[str, str]:
        """Return the names in brackets, without their types."""
        names: dict[str, str] = {}
        while not self.take_if(closing):
            words: list[str] = []
            depth, default = 0, ""
            while depth or self.token.kind not in (",", closing):
                token = self.take()
                depth += token.kind in _OPENING
                depth -= token.kind in _CLOSING
                if token.kind == "end":
                    self.at -= 1
                    raise self.refused(why="among the inputs is not read")
                patterned = self.title == "Mathematica" and token.kind == ":"
                if patterned or token.kind == "=":
                    default = self.expression().text
                    break
                words += [token.text] if token.kind == "name" else []
            self.take_if(",")
            if not words:
                raise self.refused()
            name = words[-1] if self.title in TYPED else words[0]
            name = name.partition("_")[0] if self.title == "Mathematica" else name
            if _is_whole({*words}):
                self.integers.add(name)
            names[name] = default
        return names

    def _head(self) -> _FunctionHead | None:
        """Return the head of a function that begins here; None if none does."""
        kinds = [token.kind for token in self.tokens[self.at : self.at + 3]]
        name, title = self.token.text, self.title
        bracket = self._behind_brackets(self.at + 1)
        if title in ("C", "Java", "Rust"):
            typed = self._types()
            if title == "Java" and not typed:
                return self._arrow()
            if title == "Rust" and "fn" not in typed:
                return self._arrow()
            captured = self._captured() if title == "C" else None
            if captured is not None:
                return self._braced(captured)
            if not typed or self._behind_brackets(self.at + 1) is None:
                return None
            head = self._braced(self.take().text)
            if head is not None:
                head.integer = _is_whole(typed)
            return head
        if title == "JavaScript":
            self._types()
            if self.is_word("function"):
                self.take()
                return self._braced("" if self.token.kind == "(" else self.take().text)
            return self._arrow()
        if title == "Mathematica":
            patterned = kinds[:2] == ["name", "["] and self.tokens[self.at + 2].text
            if not patterned or not patterned.endswith("_"):
                return None
            self.at += 2
            inputs = self._inputs("]")
            return _FunctionHead(name, inputs, "") if self.take_if(":=", "=") else None
        if title in ("Julia", "MATLAB") and name == "function":
            return self._with_end()
        if title == "Julia" and kinds[:2] == ["name", "("] and bracket in ("=", "::"):
            self.at += 2
            inputs = self._inputs()
            if self.take_if("::"):
                self.take()
            return _FunctionHead(name, inputs, "") if self.take_if("=") else None
        return self._arrow()

    def _captured(self) -> str | None:
        """Return the name that a lambda of C++ is assigned to, `f = [](double x)`, or
        an empty one; None if none begins here."""
        at = self.at + 2 * (self.tokens[self.at + 1].kind == "=")
        opens = [token.kind for token in self.tokens[at : at + 2]]
        if opens != ["[", "]"] and opens[0] not in ("[&]", "[=]"):
            return None
        name = self.token.text if at > self.at else ""
        self.at = at + (2 if opens[0] == "[" else 1)
        return name

    def _braced(self, name: str) -> _FunctionHead | None:
        """Return the head of a function whose inputs come next, and a body in braces;
        None if it has none."""
        self.expect("(")
        inputs = self._inputs()
        while self.token.kind not in ("{", "end", ";"):
            self.take()
        return _FunctionHead(name, inputs, "}") if self.take_if("{") else None

    def _with_end(self) -> _FunctionHead:
        """Return the head of a function that `end` closes."""
        self.take()
        out = ""
        if self.tokens[self.at + 1].kind == "=":
            out = self.take().text
            self.take()
        name = self.take().text
        self.expect("(")
        inputs = self._inputs()
        if self.take_if("::"):
            self.take()
        return _FunctionHead(name, inputs, "end", out)

    def _arrow(self) -> _FunctionHead | None:
        """Return the head of a function without the word for one: `x ->`, `x =>`,
        `@(x)`, `function(x)`, `|x|`, perhaps behind a name that it is assigned to."""
        name = ""
        if self.tokens[self.at + 1].kind in self.grammar.assigns:
            name = self.take().text
            self.take()
        elif self.tokens[self.at + 1].kind == ":" and self.title == "Rust":
            return None
        opened = self.token.kind
        if self.title == "JavaScript" and self.is_word("function"):
            self.take()
            return self._braced(name)
        if self.title == "MATLAB" and self.take_if("@"):
            return (
                _FunctionHead(name, self._inputs(), "") if self.take_if("(") else None
            )
        if self.title == "Rust" and self.take_if("|"):
            return _FunctionHead(
                name, self._inputs("|"), "}" if self.take_if("{") else ""
            )
        if self.title == "R" and (self.is_word("function") or opened == "\\"):
            self.take()
            self.expect("(")
            inputs = self._inputs()
            while self.take_if("\n"):
                pass
            return _FunctionHead(name, inputs, "}" if self.take_if("{") else "")
        if self.title == "Maple" and self.is_word("proc"):
            self.take()
            self.expect("(")
            return _FunctionHead(name, self._inputs(), "end")
        arrow = ARROWS.get(self.title, "")
        typed = self.title == "JavaScript" and self._behind_brackets(self.at) == ":"
        if opened == "name" and self.tokens[self.at + 1].kind == arrow:
            inputs = {self.take().text: ""}
        elif opened == "(" and (typed or self._behind_brackets(self.at) == arrow):
            self.take()
            inputs = self._inputs()
            self.at += 2 * typed
        else:
            return None
        self.expect(arrow)
        braced = self.title == "JavaScript" and self.take_if("{")
        return _FunctionHead(name, inputs, "}" if braced else "")

    def _behind_brackets(self, at: int) -> str | None:
        """Return the kind of what follows the brackets that open at a token; None if
        none open there."""
        if self.tokens[at].kind != "(":
            return None
        depth = 0
        for number in range(at, len(self.tokens) - 1):
            kind = self.tokens[number].kind
            depth += kind in _OPENING
            depth -= kind in _CLOSING
            if not depth:
                return self.tokens[number + 1].kind
        return None

    def _function(self, head: _FunctionHead, last: bool) -> list[str]:
        """Return a function as a definition; the statements of the ``last`` one, which
        has several, as they are."""
        name = head.name
        used = sum(t.kind == "name" and t.text == name for t in self.tokens) > 1
        outside = dict(self.ranks)
        if used and name:
            none: list[int | None] = [None] * len(head.inputs)
            known = self.known.get(name, none)
            self.ranks |= dict(zip(head.inputs, known, strict=False))
        around, self.returns_integer = self.returns_integer, head.integer
        body = self._body(head)
        self.ranks = outside
        self.returns_integer = around
        if head.integer:
            self.integers.add(name)
        *before, value = body
        assigned = re.match(r"(\w+) = ", value)
        if assigned and (head.closing or head.out):
            before, value = body, assigned[1]
        value = head.out or value
        if head.out and body[-1].startswith(f"{head.out} = ") and len(body) == 1:
            before, value = [], body[0].partition(" = ")[2]
        while self._skipped():
            pass
        ended = self.token.kind == "end"
        if name:
            self.functions.add(name)
        if last and ended:
            given = {n: v for n, v in head.inputs.items() if v and n not in self.ranks}
            inputs = ", ".join(n for n in head.inputs if n not in given)
            before = [*(f"{n} = {v}" for n, v in given.items()), *before]
            named = name and len(before) == len(given)
            return [*before, f"{name}({inputs}) = {value}" if named else value]
        if not before and not any(head.inputs.values()):
            inputs = ", ".join(head.inputs)
            return [f"{name}({inputs}) = {value}" if name else value]
        inputs = ", ".join(f"{n}={v}" if v else n for n, v in head.inputs.items())
        if not name:
            raise self.refused()
        return [f"def {name}({inputs}): {'; '.join(before)}; return {value}"]

    def _body(self, head: _FunctionHead) -> list[str]:
        """Return the statements of a function."""
        if not head.closing:
            piece = self.expression()
            self._ended()
            return [piece.text]
        made: list[str] = []
        while True:
            if self._skipped():
                continue
            at_end = self.is_word("end") if head.closing == "end" else False
            if at_end or self.token.kind in ("}", "end"):
                break
            made += self._statement()
        if self.token.kind == "end" and self.title != "MATLAB":
            raise self.refused()
        closed = self.token.kind != "end"
        if closed:
            self.take()
        if self.is_word("proc") and closed:
            self.take()
        if not made:
            raise self.refused()
        return made
