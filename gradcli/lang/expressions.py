"""The parser of expressions, by precedence of operators and without recursion.

Each operator has a binding power; `_operation(floor)` reads operands joined by the
operators that bind at least as tightly as `floor`. Methods that return `Steps` are
generators for `gradcli.lang.syntax.bounce`: they yield where they would recurse. The
span of a node begins at its first token; parentheses around an operand are in the span
of the operation, not of the operand.

A number, a closed bracket or a superscript that is followed by a name, a bracket or a
root makes a product, which binds as `*` does. Text that can be read in two ways is
either refused with a corrected line, or a note in `notes` says how it was read.

    parser.expression()   # on 'a + b*c': Binary('+', Name a, Binary('*', ...))
    parser.expression()   # on '2x^2': Binary('*', Literal 2, Binary('**', ...))
"""

from collections.abc import Callable, Iterable
from typing import Any, cast

from . import syntax
from .derivatives import applied_function, derived_at, with_inputs
from .errors import ProgramError, Span
from .excerpt import shortened
from .foreign import PrefixReader, is_formula
from .lexicon import (
    BAR,
    BESIDE,
    CLOSING,
    DOTTED,
    FOREIGN_SIGNS,
    FOREIGN_WORDS,
    MISPLACED,
    ROOTS,
    UNSEEN,
)
from .maxima import MAX_APPLIED_TOKENS
from .syntax import Definition, Steps, assigned_names
from .tokens import Token, tokenize

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
LOGIC = {"or": 1, "and": 2}
NEGATION, COMPARISON, PRODUCT, SIGNED, POWER = 3, 4, 6, 7, 8
BINDING: dict[str, int] = {
    **LOGIC,
    **dict.fromkeys(COMPARISONS, COMPARISON),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "//", "%", "@"), PRODUCT),
    "**": POWER,
}
PREFIX_FLOOR = {"-": POWER, "+": POWER, "not": NEGATION}
CONSTANTS: dict[str, object] = {"True": True, "False": False, "None": None}
_VALUES = frozenset({"name", "number", "string", *CONSTANTS})
_OPERAND_STARTS = _VALUES | {"(", "[", *ROOTS}
_OPERAND_ENDS = _VALUES | {")", "]", "superscript"}
_OPENERS = frozenset({*"([.", "superscript", "primes"})
_FACTOR_ENDS = frozenset({"number", ")", "superscript", BAR})
_FACTOR_STARTS = frozenset({"name", "(", BAR, *ROOTS})
_FOLLOWERS = _OPENERS | _FACTOR_STARTS
"""Kinds of tokens that continue an operand after a number or a name."""
_QUOTIENTS = frozenset({"/", "//", "%"})
_AN_EXPRESSION = "an expression"
_BODY = "':'"
A_RANGE = "a range is for gradcli plot, --sweep x=0..1:101 or --box x=0..1"


class ExpressionParser(PrefixReader):
    """A parser that reads expressions from its position in the list of tokens.

    variables  the names that are assigned so far, or have values
    within     the innermost enclosure of the operand: a bracket, `|` or `for`
    """

    def __init__(self, source: str, variables: Iterable[str]) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.at = 0
        self.token = self.tokens[0]
        self.variables = set(variables)
        self.read: dict[str, Span] = {}
        self.called: dict[str, Span] = {}
        self.indexed: dict[str, Span] = {}
        self.notes: list[syntax.Note] = []
        self.functions: set[str] = set()
        self.definitions: dict[str, Definition] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.own_prefixes: dict[tuple[str, ...], str] = {}
        self.applied = 0
        self.reading_targets = False
        self.within = ""

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

    def _expect_name(self, wanted: str, hint: str | None = None) -> tuple[str, Token]:
        if self.token.kind != "name":
            raise self.unexpected(wanted, hint)
        token = self.take()
        return str(token.value), token

    def kind_after(self) -> str:
        at = self.at + 1
        return self.tokens[at].kind if at < len(self.tokens) else "end"

    def _kind_before(self, distance: int) -> str:
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
        # Before the first token stands the last one, the end of the program.
        token, before = self.token, self.tokens[self.at - 1]
        if token.kind in FOREIGN_WORDS:
            return self.foreign_word()
        side_by_side = before.kind in _OPERAND_ENDS and token.kind in _OPERAND_STARTS
        if side_by_side and wanted != _BODY:
            return self._missing_operator(before, token)
        found = UNSEEN.get(token.kind) or f"'{self.text(token)}'"
        doubled = before.kind in ("+", "-") and self._kind_before(2) == before.kind
        if hint is not None:
            pass
        elif before.kind == token.kind == "%":
            hint = "a remainder is one '%'"
        elif token.kind in MISPLACED:
            hint = MISPLACED[token.kind]
        elif doubled:
            hint = "to count, write i += 1 or i -= 1"
        elif wanted.startswith("'"):
            hint = f"write {wanted} before it"
        elif wanted == _AN_EXPRESSION and before.kind != "end":
            hint = f"write a value after '{self.text(before)}'"
        elif wanted == _AN_EXPRESSION:
            hint = f'write a value before {found}; a shell takes $x out of "$x"'
        error = self.fail("E207", f"expected {wanted}, found {found}", token.span, hint)
        if before.kind == token.kind == "%":
            return error
        if token.kind == ";" and wanted == "')'":
            edit = (*token.span, ",")
            return error.mended_by(edit, lead="arguments are split by commas: write")
        if token.kind == "=" and before.kind in ("end", "newline", ";"):
            lead = "a program begins without '=': write"
            return error.mended_by((*token.span, ""), lead=lead)
        if before.kind == "%" and wanted != _BODY:
            edit = before.start, before.end, "/100"
            return error.mended_by(edit, lead="a percentage is a number: write")
        return error

    def foreign_word(self) -> ProgramError:
        word = self.token.kind
        message = f"'{word}' is not part of the language"
        return self.fail("E209", message, self.token.span, FOREIGN_WORDS[word])

    def _missing_operator(self, before: Token, after: Token) -> ProgramError:
        """Return the error for two operands side by side, which notation cannot read as
        a product."""
        left, right = self.text(before), self.text(after)
        message = f"no operator between {left} and {right}"
        span = Span(before.start, after.end)
        at = self.tokens.index(after)
        outside = "a value {}=3 is written outside the quotes"
        if after.kind == "name" and self.tokens[at + 1].kind == "=":
            hint = f"';' ends a statement; {outside.format(right)}"
            return self.fail("E208", message, span, hint)
        follows = [token.kind for token in self.tokens[at + 1 : at + 3]]
        if after.value in BESIDE and follows == ["name", "="]:
            hint = outside.format(self.text(self.tokens[at + 1]))
            return self.fail("E208", message, span, hint)
        error = self.fail("E208", message, span, "to multiply, write '*' between them")
        if "string" in (before.kind, after.kind):
            return error
        from .mend import between

        return between(error, self.tokens, at)

    def _names_function(self, name: str) -> bool:
        """Return whether a name is that of a function; a letter's or a variable's name
        is not."""
        from .suggest import names_letter
        from .tensor_library import is_function

        value = name in self.variables or names_letter(name)
        return not value and is_function(name)

    def text(self, token: Token) -> str:
        return shortened(self.source[token.start : token.end])

    def expressions(self) -> Steps[syntax.Expression]:
        start = self.token.start
        first: syntax.Expression = yield self.expression()
        if self.token.kind != ",":
            return first
        items = [first]
        while self.take_if(","):
            if self.token.kind in ("newline", ";", "end", "=", "in"):
                break
            items.append((yield self.expression()))
        return syntax.Sequence(self.span_from(start), tuple, tuple(items))

    def expression(self) -> Steps[syntax.Expression]:
        start = self.token.start
        value: syntax.Expression = yield self._operation(0)
        asked = self.take_if("if")
        if asked is None:
            return value
        test = yield self._operation(0)
        self.expect("else", "inside an expression every 'if' needs an 'else'")
        otherwise = yield self.expression()
        span = self.span_from(start)
        return syntax.Conditional(span, value, test, otherwise, asked.span)

    def _operation(self, floor: int) -> Steps[syntax.Expression]:
        start = self.token.start
        left: syntax.Expression
        if self.token.kind in PREFIX_FLOOR:
            left = yield self._prefixed(floor)
        else:
            left = self._single_operand() or (yield self._postfixed())
        before = ""
        while True:
            sign = self.token.kind
            power = BINDING.get(sign)
            if power is None or power < floor:
                if sign in _FACTOR_STARTS and floor <= PRODUCT and self._joins(left):
                    left = yield self._joined(left, start, before)
                    before = "*"
                    continue
                # The parser of `for` statements reads the `in` behind the targets.
                if sign == "is" or (sign == "in" and not self.reading_targets):
                    raise self.foreign_word()
                return left
            if sign in COMPARISONS or sign in LOGIC:
                left = yield self._chain(left, start, power)
                continue
            op_span = self.take().span
            if sign in _QUOTIENTS:
                self._note_quotient(left, start, op_span)
            inner = power if sign == "**" else power + 1
            right = self._single_operand(inner) or (yield self._operation(inner))
            left = syntax.Binary(self.span_from(start), sign, left, right, op_span)
            before = sign

    def _note_quotient(self, left: syntax.Expression, start: int, sign: Span) -> None:
        """Add a note on how `x^1/2` or `5% x` was read, where `x^(1/2)` or a percentage
        may be meant."""
        source, after = self.source, self.text(self.token)
        percent = source[sign.start] == "%" and sign.start == left.span.end
        if percent and self.token.start > sign.end:
            whole = f"{shortened(source[start : sign.start])}% {after}"
            message = f"{whole} is read as the remainder by {after}"
            self.notes.append(syntax.Note(message, sign))
        if not isinstance(left, syntax.Binary) or left.operator != "**":
            return
        power = left.right
        if isinstance(power, syntax.Unary):
            power = power.operand
        opened = self.tokens[self.at - 2].kind == ")"
        if not opened and isinstance(power, syntax.Literal) and power.value == 1:
            base = source[start : left.op_span.start].strip()
            exponent = source[left.op_span.end : sign.start].strip()
            message = (
                f"{base}^{exponent}/{after} is read as ({base}^{exponent})/{after}; "
                f"a root is {base}^({exponent}/{after})"
            )
            self.notes.append(syntax.Note(message, sign))

    def _joins(self, left: syntax.Expression) -> bool:
        """Return whether the present token begins a factor that no `*` precedes;
        refuse text that can be read in two ways."""
        token, last = self.token, self.tokens[self.at - 1]
        if token.kind == BAR and (self.within == BAR or last.kind not in _FACTOR_ENDS):
            if self.within != BAR:
                if last.kind == "name" and self._bar_closes():
                    raise self._missing_operator(last, token)
                raise self._refused_bar()
            return False
        if token.kind == BAR and not self._bar_closes():
            raise self._refused_bar()
        if last.kind == BAR and token.kind == "name" and self.text(token)[0] == "_":
            # A subscript of a norm names its kind: `||w||_2`.
            raise self._missing_operator(last, token)
        if last.kind not in _FACTOR_ENDS or self.within == "for":
            return False
        if self.within == "[" and token.start > last.end:
            return False
        # In `x^2 y`, `y` could be a factor or a part of the exponent.
        signed = self._kind_before(2) in ("+", "-")
        exponent = last.kind == "number" and self._kind_before(2 + signed) == "**"
        base = isinstance(left, syntax.Binary) and left.operator == "**" and left.left
        function = isinstance(base, syntax.Name) and self._names_function(base.name)
        if exponent or function:
            raise self._missing_operator(last, token)
        return True

    def _bar_closes(self) -> bool:
        """Return whether another bar follows in the statement, as in `sin|x|`, but not
        in `x | y`."""
        for token in self.tokens[self.at + 1 :]:
            if token.kind in ("newline", ";", BAR):
                return token.kind == BAR and token.start > self.token.end
        return False

    def _refused_bar(self) -> ProgramError:
        sign, start = BAR * (1 + (self.kind_after() == BAR)), self.token.start
        message = f"'{sign}' is not an operator here"
        span = Span(start, start + len(sign))
        return self.fail("E201", message, span, FOREIGN_SIGNS[sign][0])

    def _joined(
        self, left: syntax.Expression, start: int, before: str
    ) -> Steps[syntax.Expression]:
        """Return the product of ``left`` and the factor that follows without a `*`."""
        last, first = self.tokens[self.at - 1], self.token
        right: syntax.Expression = yield self._operation(PRODUCT + 1)
        span = self.span_from(start)
        # In `√2x`, `x` may be meant to be under the root.
        sign = left.op_span.start if isinstance(left, syntax.Call) else last.start
        root = last.kind == "number" and self.source[sign] in ROOTS
        if before in _QUOTIENTS or root:
            whole, one, other = (
                shortened(self.source[a:b])
                for a, b in (span, (start, last.end), (first.start, span.end))
            )
            message = f"{whole} is read as ({one})*{other}"
            self.notes.append(syntax.Note(message, span))
        return syntax.Binary(span, "*", left, right, span)

    def _prefixed(self, floor: int) -> Steps[syntax.Expression]:
        sign = self.take()
        if sign.kind == "not" and floor > NEGATION:
            hint = "put parentheses around it: (not ...)"
            raise self.fail("E207", "'not' cannot follow an operator", sign.span, hint)
        operand = yield self._operation(PREFIX_FLOOR[sign.kind])
        return syntax.Unary(self.span_from(sign.start), sign.kind, operand, sign.span)

    def _chain(
        self, first: syntax.Expression, start: int, power: int
    ) -> Steps[syntax.Expression]:
        operands, signs = [first], []
        opening = self.token.kind
        while BINDING.get(self.token.kind) == power:
            signs.append(self.take())
            operands.append((yield self._operation(power + 1)))
        span = self.span_from(start)
        op_spans = tuple(sign.span for sign in signs)
        if opening in LOGIC:
            return syntax.Logic(span, tuple(operands), op_spans, opening)
        kinds = tuple(sign.kind for sign in signs)
        return syntax.Compare(span, tuple(operands), op_spans, kinds)

    def _single_operand(self, floor: int = POWER + 1) -> syntax.Expression | None:
        """Return a number or name that is an operand by itself; None if the operand has
        more tokens. It is a fast path that needs no generator."""
        token, follower = self.token, self.kind_after()
        if follower in _FOLLOWERS or BINDING.get(follower, 0) >= floor:
            return None
        if token.kind == "number":
            self.take()
            return syntax.Literal(token.span, token.value)
        if token.kind == "name":
            self.take()
            name, span = str(token.value), token.span
            if name not in self.read:
                self.read[name] = span
            return syntax.Name(span, name, False)
        return None

    def _postfixed(self, raised: bool = True) -> Steps[syntax.Expression]:
        """Return an operand with the calls, indices and attributes after it, and with
        superscripts if ``raised``."""
        start, opened = self.token.start, self.token.kind == "("
        value: syntax.Expression = yield self._atom()
        while self.token.kind in _OPENERS:
            if self.token.kind == "[":
                value = yield self._index(value, start)
            elif self.token.kind == ".":
                value = yield self._member(value, start)
            elif self.token.kind == "superscript":
                if not raised:
                    return value
                value = self._raised(value, start, opened)
            elif self.token.kind == "primes":
                value = yield self._primed(value, start)
            elif isinstance(value, syntax.Name) and not opened:
                arguments, named = yield self._arguments()
                span = self.span_from(start)
                if value.source:
                    given = value.source, value.name, arguments, named, span, value.span
                    value = self.called_of(*given)
                elif value.name in self.definitions:
                    value = self._applied(value, arguments, named, span)
                else:
                    name = self._spelled(value, arguments)
                    of = with_inputs(name, arguments, self.definitions, self._applied)
                    value = syntax.Call(span, name, of, named, value.span)
            elif isinstance(value, syntax.Call) and value.function[0].isupper():
                raise self._no_call(value)
            else:
                return value
        return value

    def _spelled(
        self, called: syntax.Name, arguments: tuple[syntax.Expression, ...]
    ) -> str:
        """Return the name of a called function, which other notations call otherwise,
        as `arcsin`; a note says so."""
        name = called.name
        if name in self.functions:
            return name
        from .factory import CONSTRUCTORS
        from .plain import FUNCTIONS
        from .suggest import other_spelling
        from .tensor_library import is_function

        if name in {*FUNCTIONS, *CONSTRUCTORS, *self.variables} or is_function(name):
            self.functions.add(name)
            return name
        if name[0].isupper() and (self.token.kind == "(" or not arguments):
            return name  # it is a layer
        meant = other_spelling(name, lambda n: is_function(n) or n in CONSTRUCTORS)
        if meant in (None, name):
            return name
        self.notes.append(syntax.Note(f"{name} is read as {meant}", called.span))
        return meant

    def _applied(
        self,
        name: syntax.Name,
        arguments: tuple[syntax.Expression, ...],
        named: tuple[syntax.Keyword, ...],
        span: Span,
    ) -> syntax.Expression:
        """Return a call of a function of the program; its variables are its own."""
        function = self.definitions[name.name]
        names = [target.name for target, _ in function.parameters]
        given = dict(zip(names, arguments, strict=False))
        given |= {keyword.name: keyword.value for keyword in named}
        values = [given.get(t.name, default) for t, default in function.parameters]
        full = [value for value in values if value is not None]
        if len(full) < len(names) or len(arguments) + len(named) > len(names):
            count = f"{len(names)} input{'s' * (len(names) != 1)}"
            message = f"'{name.name}' is defined with {count}: {', '.join(names)}"
            raise self.fail("E302", message, span, "give each of them a value")
        self.applied += function.size
        if self.applied > MAX_APPLIED_TOKENS:
            message = f"'{name.name}' is too long a formula"
            raise self.fail("E404", message, span, "name a value that is used twice")
        own = {*names}.union(*map(assigned_names, function.body))
        inside = {each: f"{name.name}.{each}" for each in own}
        targets = tuple(syntax.renamed(t, inside) for t, _ in function.parameters)
        body = syntax.renamed(function.body, inside)
        result = syntax.renamed(function.value, inside)
        return syntax.Apply(span, tuple(full), targets, body, result)

    def _primed(self, value: syntax.Expression, start: int) -> Steps[syntax.Expression]:
        """Read `f'(x)`: the derivative of a function at a value of its input."""
        primes = self.take()
        arguments, named = yield self._arguments()
        span = self.span_from(start)
        name = value if isinstance(value, syntax.Name) else syntax.Name(span, "")
        made: syntax.Expression | None
        if name.name in self.definitions:
            made = self._applied(name, arguments, named, span)
        else:
            known = self._names_function(name.name) and not named
            made = applied_function(name, arguments, span, known)
        return derived_at(made, int(primes.value or 1), span, self.fail)

    def _raised(
        self, value: syntax.Expression, start: int, opened: bool
    ) -> syntax.Expression:
        exponent = self.take()
        function = isinstance(value, syntax.Name) and self._names_function(value.name)
        if function and not opened and self.token.kind in (*_FACTOR_STARTS, "number"):
            raise self._missing_operator(exponent, self.token)
        number = syntax.Literal(exponent.span, exponent.value)
        span = self.span_from(start)
        return syntax.Binary(span, "**", value, number, exponent.span)

    def _root(self) -> Steps[syntax.Expression]:
        sign = self.take()
        operand: syntax.Expression = yield self._postfixed(raised=False)
        if self.token.kind in ("superscript", "**"):
            root, power = self.text(sign), self.text(self.token)
            message = f"it is not clear whether {power} is of the root, or under it"
            hint = f"write {root}(...){power} or {root}(...{power})"
            raise self.fail("E208", message, self.span_from(sign.start), hint)
        span = self.span_from(sign.start)
        return syntax.Call(span, ROOTS[sign.kind], (operand,), (), sign.span)

    def _bars(self) -> Steps[syntax.Expression]:
        """Return the call that `|x|`, an absolute value, or `||x||`, a norm, means."""
        opened = self.take()
        outside, self.within = self.within, BAR
        inside: syntax.Expression = yield self.expression()
        self.within = outside
        closed = self.expect(BAR, "close it with '|', or write abs(...)")
        span = self.span_from(opened.start)
        filled = inside.span == (opened.end, closed.start)
        if filled and isinstance(inside, syntax.Call) and inside.op_span == inside.span:
            return syntax.Call(span, "norm", inside.arguments, (), span)
        return syntax.Call(span, "abs", (inside,), (), span)

    def _no_call(self, value: syntax.Call) -> ProgramError:
        message = f"the layer '{value.function}' is not part of the language"
        lowered = value.function.lower()
        there_is = f"the function is {lowered}(...)"
        hint = there_is if self._names_function(lowered) else "write its formula"
        return self.fail("E209", message, value.op_span, hint)

    def _atom(self) -> syntax.Expression | Steps[syntax.Expression]:
        token = self.token
        if token.kind == "name":
            return self._name()
        if token.kind in ("number", "string"):
            return syntax.Literal(self.take().span, token.value)
        if token.kind in CONSTANTS:
            return syntax.Literal(self.take().span, CONSTANTS[token.kind])
        if token.kind == "(":
            return self._parentheses()
        if token.kind == "[":
            return self._list()
        if token.kind in ROOTS:
            return self._root()
        if token.kind == BAR:
            return self._bars()
        raise self.unexpected(_AN_EXPRESSION)

    def _name(self) -> syntax.Expression:
        text, token = self._expect_name("a name")
        if text not in self.variables:
            if text in self.imported:
                title, name = self.imported[text]
                return self.of_library(title, name, token.start)
            if self.dot_and_name_follow() and (
                text in DOTTED or (text,) in self.prefixes
            ):
                return self.qualified(text, token)
        where = self.called if self.token.kind in ("(", "primes") else self.read
        where.setdefault(text, token.span)
        return syntax.Name(token.span, text, False)

    def _parentheses(self) -> Steps[Any]:
        start = self.token.start
        items, lone = yield self._items("(", self.expression)
        if lone:
            return items[0]
        return syntax.Sequence(self.span_from(start), tuple, items)

    def _list(self) -> Steps[syntax.Expression]:
        start = self.token.start
        items, _ = yield self._items("[", self._list_item)
        if len(items) == 1 and isinstance(items[0], syntax.Comprehension):
            return items[0]
        return syntax.Sequence(self.span_from(start), list, items)

    def _list_item(self) -> syntax.Expression | Steps[syntax.Expression]:
        lone = self._single_operand() if self.kind_after() in (",", "]") else None
        return lone or self.expression()

    def _items(
        self, within: str, item: Callable[[], object]
    ) -> Steps[tuple[tuple[Any, ...], bool]]:
        """Return what ``item`` reads between the commas in brackets, and whether that
        is a single one without a comma; ``within`` is ``self.within`` meanwhile."""
        closing = CLOSING[self.take().kind]
        outside, self.within = self.within, within
        items, commas = [], 0
        while self.token.kind != closing:
            read = item()
            items.append(read if isinstance(read, syntax.SyntaxNode) else (yield read))
            if not self.take_if(","):
                break
            commas += 1
        if self.token.kind == "for" and len(items) == 1 and not commas:
            items = [(yield self._comprehension(cast(syntax.Expression, items[0])))]
            commas = within == "["
        self.expect(closing)
        self.within = outside
        return tuple(items), len(items) == 1 and not commas

    def _comprehension(self, value: syntax.Expression) -> Steps[syntax.Expression]:
        """Read `for i in range(3) if i > 0` behind the value of each item, whose
        variables are its own."""
        at = self.take().start
        found = [self._expect_name("a name")]
        while self.take_if(","):
            found.append(self._expect_name("a name"))
        self.expect("in")
        iterable: syntax.Expression = yield self._operation(0)
        test = (yield self._operation(0)) if self.take_if("if") else None
        own = {name: f"{name}.{at}" for name, _ in found}
        targets = tuple(syntax.Target(token.span, own[name]) for name, token in found)
        test, value = syntax.renamed((test, value), own)
        span = self.span_from(value.span.start)
        several = len(found) > 1
        return syntax.Comprehension(span, iterable, targets, test, value, several)

    def _member(self, value: syntax.Expression, start: int) -> Steps[syntax.Expression]:
        dot = self.take()
        if self.token.kind in ("*", "/", "**", "//") and self.token.start == dot.end:
            sign = self.text(self.token)
            message = f"'.{sign}' is not an operator here: all are entry by entry"
            span = Span(dot.start, self.token.end)
            error = self.fail("E201", message, span, f"write {sign}")
            raise error.mended_by((*dot.span, ""))
        hint = A_RANGE if self.token.kind in (".", "number") else None
        name, token = self._expect_name("a method or attribute", hint)
        if self.token.kind != "(":
            return syntax.Attribute(self.span_from(start), value, name, token.span)
        arguments, named = yield self._arguments()
        span = self.span_from(start)
        if self.arrays and is_formula(self.arrays, name):
            given = (value, *arguments), named, span, token.span
            return self.called_of(self.arrays, name, *given)
        return syntax.MethodCall(span, value, name, arguments, named, token.span)

    def _arguments(
        self,
    ) -> Steps[tuple[tuple[syntax.Expression, ...], tuple[syntax.Keyword, ...]]]:
        keywords: dict[str, syntax.Keyword] = {}
        items, _ = yield self._items("(", lambda: self._argument(keywords))
        arguments = [item for item in items if not isinstance(item, syntax.Keyword)]
        return tuple(arguments), tuple(keywords.values())

    def _argument(
        self, keywords: dict[str, syntax.Keyword]
    ) -> Steps[syntax.Expression | syntax.Keyword]:
        """Return one argument; one with a name is added to ``keywords``."""
        if self.token.kind in ("*", "**"):
            message = "starred arguments are not part of the language"
            raise self.fail("E213", message, self.token.span, "write each one")
        if self.token.kind != "name" or self.kind_after() != "=":
            argument: syntax.Expression = yield self.expression()
            if keywords:
                message = "an argument without a name follows one with a name"
                hint = "put it before the named ones"
                raise self.fail("E213", message, argument.span, hint)
            return argument
        name, token = self._expect_name("a name")
        self.take()
        if name in keywords:
            message = f"the argument '{name}' is given twice"
            raise self.fail("E213", message, token.span, "keep one of them")
        value = yield self.expression()
        keywords[name] = syntax.Keyword(self.span_from(token.start), name, value)
        return keywords[name]

    def _index(self, value: syntax.Expression, start: int) -> Steps[syntax.Expression]:
        opened, begin = self.token, self.tokens[self.at + 1].start
        if self.kind_after() == "]":
            self.take()
            raise self.unexpected("an index")
        if isinstance(value, syntax.Name) and not value.qualified:
            self.indexed.setdefault(value.name, value.span)
        keys, lone = yield self._items("(", self._key)
        inside = Span(begin, self.tokens[self.at - 2].end)
        key = keys[0] if lone else syntax.Sequence(inside, tuple, keys)
        op_span = self.span_from(opened.start)
        return syntax.Index(self.span_from(start), value, key, op_span)

    def _key(self) -> Steps[syntax.Expression]:
        start = self.token.start
        dots = self.take_if("...")
        if dots:
            return syntax.Literal(dots.span, ...)
        parts: list[syntax.Expression | None] = [None]
        while len(parts) <= 3 and self.token.kind not in (",", "]"):
            if self.token.kind == ":" and len(parts) < 3:
                self.take()
                parts.append(None)
            elif parts[-1] is None:
                parts[-1] = yield self.expression()
            else:
                break
        if len(parts) == 1 and parts[0] is not None:
            return parts[0]
        if len(parts) == 1:
            raise self.unexpected("an index")
        bounds = (*parts, None, None)[:3]
        return syntax.Slice(Span(start, self.tokens[self.at - 1].end), *bounds)
