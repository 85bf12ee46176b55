"""The parser, from a program's text to its syntax tree, in linear time.

A body is the rest of the line after the colon, or the indented lines below it. `else`
and `elif` may also follow a body on the same line.

    parse("for i in range(3): s += x").body.statements[0]     # For(...)
    parse("F = A @ x; L = F.sum()")       # here F is a variable, not a prefix

`variables` are names that the caller has values for; they are not read as prefixes.
"""

from collections.abc import Callable, Iterable
from typing import Any

from . import syntax
from .errors import ProgramError, Span
from .excerpt import shortened
from .expressions import A_RANGE, ExpressionParser
from .lexicon import AUGMENTED, DERIVATIVE, FOREIGN_WORDS, GRAD_MODES
from .syntax import Steps, bounce, uncollected

_BUILD_ANEW = "build a new value, for example with where(...) or cat([...])"
_A_NAME = "give the value a name instead"
_NOT_ASSIGNABLE: dict[type[syntax.Expression], tuple[str, str]] = {
    syntax.Index: ("an element cannot be assigned to", _BUILD_ANEW),
    syntax.Attribute: ("an attribute cannot be assigned to", _A_NAME),
    syntax.Call: (
        "a call cannot be assigned to",
        "functions are not defined: write y = ...",
    ),
    syntax.MethodCall: ("a call cannot be assigned to", _A_NAME),
}
_NO_FUNCTIONS = "functions are not defined: write"
_NO_TARGET = ("this cannot be assigned to", "only a name can stand on the left of '='")
_NO_EQUATION = "to compare, write '=='; an equation is not solved: write left - (right)"


def parse(source: str, variables: Iterable[str] = ()) -> syntax.Program:
    """Return the tree of a program.

    Raises:
        ProgramError: the text is no program; the hint has a corrected line if possible.
    """
    try:
        return _read(source, variables)
    except ProgramError as error:
        raise put_right(error, variables) from None


def put_right(error: ProgramError, variables: Iterable[str] = ()) -> ProgramError:
    """Return an error; if it has edits, its hint is the corrected line."""
    if not error.edits:
        return error
    from .mend import mended

    return mended(error, lambda text: _read(text, variables))


def _read(source: str, variables: Iterable[str]) -> syntax.Program:
    with uncollected():
        return bounce(_Parser(source, variables).program())


class _Parser(ExpressionParser):
    def __init__(self, source: str, variables: Iterable[str]) -> None:
        super().__init__(source, variables)
        self.loops = 0
        self.inline_bodies = 0
        self.compound: dict[str, Callable[[], Steps[syntax.Statement]]] = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "with": self._with,
        }

    def program(self) -> Steps[syntax.Program]:
        statements: list[syntax.Statement] = []
        while self.token.kind != "end":
            statements += yield self._line()
        if not statements:
            hint = "write an expression, for example x**2"
            raise ProgramError(
                "E211", "the program is empty", None, self.source, hint=hint
            )
        for each in statements[:-1]:
            value = each.value if isinstance(each, syntax.Evaluate) else None
            if value is not None and not isinstance(value, syntax.Literal):
                text = shortened(self.source[slice(*each.span)])
                message = f"the value of {text} is not used"
                self.notes.append(syntax.Note(message, each.span))
        span = Span(0, len(self.source))
        body = syntax.Block(
            Span(statements[0].span.start, statements[-1].span.end), tuple(statements)
        )
        return syntax.Program(span, self.source, body, tuple(self.notes))

    def _line(self) -> Steps[list[syntax.Statement]]:
        if self.token.kind == "indent":
            message = "this line is indented, but no body begins here"
            raise self.fail("E206", message, self.token.span, "remove the indentation")
        statements: list[syntax.Statement] = yield self._statements_until_break()
        if self.tokens[self.at - 1].kind != "dedent":
            self._expect_line_end()
        return statements

    def _statements_until_break(self) -> Steps[list[syntax.Statement]]:
        statements: list[syntax.Statement] = []
        while True:
            while self.take_if(";"):
                pass
            if self.token.kind in ("newline", "end", "else", "elif"):
                return statements
            statements.append((yield self._statement()))
            if self.token.kind != ";":
                return statements

    def _expect_line_end(self) -> None:
        if self.token.kind in ("else", "elif"):
            message = f"'{self.token.kind}' without an 'if'"
            hint = "it belongs to an 'if' with the same indentation; loops have none"
            raise self.fail("E207", message, self.token.span, hint)
        if self.token.kind == ":":
            hint = "types are not declared: write name = value"
            if self.tokens[self.at - 1].kind == "number":
                hint = A_RANGE
            raise self.unexpected("the end of the statement", hint)
        if not self.take_if("newline"):
            raise self.unexpected("an operator or the end of the statement")

    def _statement(self) -> syntax.Statement | Steps[syntax.Statement]:
        token, kind = self.token, self.token.kind
        if kind in self.compound:
            return self.compound[kind]()
        if kind in FOREIGN_WORDS:
            raise self.foreign_word()
        if kind not in ("break", "continue", "pass"):
            return self._assignment()
        self.take()
        if kind != "pass" and not self.loops:
            hint = "it belongs inside a 'for' or a 'while'"
            raise self.fail("E212", f"'{kind}' outside a loop", token.span, hint)
        return syntax.Word(token.span, kind)

    def _assignment(self) -> Steps[syntax.Statement]:
        start = self.token.start
        value: syntax.Expression = yield self.expressions()
        sign = self.token
        augmented = sign.kind in AUGMENTED
        if sign.kind != "=" and not augmented:
            return syntax.Evaluate(value.span, value)
        self.take()
        if augmented and not isinstance(value, syntax.Name):
            raise self._not_assignable(value)
        targets = self._targets(value)
        assigned = yield self.expressions()
        if self.token.kind == "=" or self.token.kind in AUGMENTED:
            message = "a statement assigns once"
            hint = "write a second statement, or '==' to compare"
            raise self.fail("E210", message, self.token.span, hint)
        self.variables.update(target.name for target in targets)
        span = self.span_from(start)
        if isinstance(value, syntax.Name) and augmented:
            operator, (target,) = AUGMENTED[sign.kind], targets
            return syntax.Augment(span, operator, value, assigned, target, sign.span)
        unpacks = isinstance(value, syntax.Sequence)
        return syntax.Assign(span, assigned, targets, unpacks, sign.span)

    def _targets(self, target: syntax.Expression) -> tuple[syntax.Target, ...]:
        """Return the targets on the left of `=`; `a, b` and `[a, b]` are several."""
        items = target.items if isinstance(target, syntax.Sequence) else (target,)
        formulas = (syntax.Binary, syntax.Call, syntax.Unary)
        *before, last = items or (None,)
        if isinstance(last, syntax.Name) and any(
            isinstance(b, formulas) for b in before
        ):
            hint = f"a value {last.name}=3 stands outside the quotes"
            raise self.fail("E210", _NO_TARGET[0], target.span, hint)
        targets = []
        for item in items or (target,):
            if not isinstance(item, syntax.Name) or item.qualified:
                raise self._not_assignable(item)
            targets.append(syntax.Target(item.span, item.name))
        return tuple(targets)

    def _not_assignable(self, target: syntax.Expression) -> ProgramError:
        message, hint = _NOT_ASSIGNABLE.get(type(target), _NO_TARGET)
        if isinstance(target, syntax.Binary) and self.token.kind != "in":
            hint = _NO_EQUATION
        error = self.fail("E210", message, target.span, hint)
        start, end = target.span
        if (
            isinstance(target, syntax.Call)
            and not target.keywords
            and all(isinstance(each, syntax.Name) for each in target.arguments)
        ):
            return error.mended_by((target.op_span.end, end, ""), lead=_NO_FUNCTIONS)
        derived = DERIVATIVE.fullmatch(self.source, start, end)
        if derived is not None:
            return error.mended_by((start, end, derived["output"] or "y"))
        return error

    def _if(self) -> Steps[syntax.Statement]:
        start = self.token.start
        branches: list[syntax.Branch] = []
        otherwise: syntax.Block | None = None
        while not branches or self.token.kind == "elif":
            begin = self.take().start
            test: syntax.Expression = yield self.expression()
            body: syntax.Block = yield self._body()
            branches.append(syntax.Branch(self._statement_span(begin), test, body))
            at_line_end = self.token.kind == "newline" and not self.inline_bodies
            if at_line_end and self.kind_after() in ("else", "elif"):
                self.take()
        if self.take_if("else"):
            otherwise = yield self._body()
        return syntax.If(self._statement_span(start), tuple(branches), otherwise)

    def _for(self) -> Steps[syntax.Statement]:
        start = self.take().start
        self.reading_targets = True
        target = yield self.expressions()
        self.reading_targets = False
        targets = self._targets(target)
        self.expect("in")
        self.within = "for"
        iterable = yield self.expressions()
        self.within = ""
        self.variables.update(target.name for target in targets)
        body = yield self._loop_body()
        unpacks = isinstance(target, syntax.Sequence)
        return syntax.For(self._statement_span(start), iterable, targets, body, unpacks)

    def _while(self) -> Steps[syntax.Statement]:
        start = self.take().start
        test = yield self.expression()
        body = yield self._loop_body()
        return syntax.While(self._statement_span(start), test, body)

    def _with(self) -> Steps[syntax.Statement]:
        start = self.take().start
        mode: syntax.Expression = yield self.expression()
        if (
            not isinstance(mode, syntax.Call)
            or mode.function not in GRAD_MODES
            or mode.arguments
            or mode.keywords
        ):
            message = "'with' is only for no_grad() and enable_grad()"
            hint = "write 'with no_grad():' or 'with enable_grad():'"
            raise self.fail("E207", message, mode.span, hint)
        body = yield self._body()
        return syntax.With(self._statement_span(start), GRAD_MODES[mode.function], body)

    def _loop_body(self) -> Steps[syntax.Block]:
        self.loops += 1
        body: syntax.Block = yield self._body()
        self.loops -= 1
        return body

    def _body(self) -> Steps[Any]:
        self.expect(":")
        start = self.token.start
        if self.take_if("newline"):
            return self._indented_body()
        self.inline_bodies += 1
        statements = yield self._statements_until_break()
        self.inline_bodies -= 1
        return self._block(start, statements)

    def _block(self, start: int, statements: list[syntax.Statement]) -> syntax.Block:
        if not statements:
            hint = "a body that does nothing is 'pass'"
            raise self.unexpected("a statement", hint)
        return syntax.Block(Span(start, statements[-1].span.end), tuple(statements))

    def _indented_body(self) -> Steps[syntax.Block]:
        if not self.take_if("indent"):
            message = "expected an indented body"
            hint = "indent it, or write 'pass'"
            raise self.fail("E206", message, self.token.span, hint)
        inline_bodies, self.inline_bodies = self.inline_bodies, 0
        start = self.token.start
        statements: list[syntax.Statement] = []
        while self.token.kind != "dedent":
            statements += yield self._line()
        block = self._block(start, statements)
        self.take()
        self.inline_bodies = inline_bodies
        return block

    def _statement_span(self, start: int) -> Span:
        """Return the span from `start` to the last visible token."""
        at = self.at - 1
        while self.tokens[at].kind in ("newline", "dedent"):
            at -= 1
        return Span(start, self.tokens[at].end)
