"""The parser, from a program's text to its syntax tree, in linear time.

A body is the rest of the line after the colon, or the indented lines below it. `else`
and `elif` may also follow a body on the same line.

    parse("for i in range(3): s += x").body.statements[0]     # For(...)
    parse("F = A @ x; L = F.sum()")       # here F is a variable, not a prefix

`variables` are names that the caller has values for; they are not read as prefixes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Any

from . import syntax
from .derivatives import FIELDS
from .errors import Edit, ProgramError, Span
from .excerpt import shortened
from .expressions import A_RANGE, ExpressionParser
from .foreign import program_of
from .lexicon import AUGMENTED, DERIVATIVE, FOREIGN_WORDS, GRAD_MODES
from .marks import language_of
from .maxima import MAX_MENDED_CHARACTERS, MAX_TYPED_CHARACTERS
from .syntax import Definition, Parameter, Steps, bounce, uncollected
from .tokens import TRIPLE

_BUILD_ANEW = "build a new value, for example with where(...) or cat([...])"
_A_NAME = "give the value a name instead"
_NOT_ASSIGNABLE: dict[type[syntax.Expression], tuple[str, str]] = {
    syntax.Index: ("an element cannot be assigned to", _BUILD_ANEW),
    syntax.Attribute: ("an attribute cannot be assigned to", _A_NAME),
    syntax.Call: (
        "a call cannot be assigned to",
        "a function is defined by the names of its inputs: f(x, y) = ...",
    ),
    syntax.MethodCall: ("a call cannot be assigned to", _A_NAME),
}
_NO_TARGET = ("this cannot be assigned to", "the left side of '=' has to be a name")
_ENDS_STATEMENT = frozenset({"newline", ";", "end"})
_AS_DIFFERENCE = "for dy/dx: gradcli grad 'x*y = 1' --of y; for a value: write"
_NO_EQUATION = "'==' compares; for dy/dx of an equation: gradcli grad 'x*y = 1' --of y"


_MAY_BE_COPIED = re.compile(
    r"[\u3000\uff01-\uff5e\$↦]|\\displaystyle|\\[\[(]|>|\bIn \["
    r"|\b(?:lambda|print|integra|deriva|grad)|\A\s*[d∂]\w?\s?/"
)
"""Pattern of what may surround a formula; see `copied`."""

DOTS = "·⋅∙•"
"""Signs that mean a product of numbers, and the inner product of vectors."""

Ranks = Callable[[], Mapping[str, int | None]]
"""A function that returns the number of dimensions of each name that has a value; None
where it is not known."""


def parse(
    source: str, variables: Iterable[str] = (), ranks: Ranks | None = None
) -> syntax.Program:
    """Return the tree of a program; mathematical notation in it is rewritten, and a
    note says how it was read.

    Raises:
        ProgramError: the text is no program; the hint has a corrected line if possible.
    """
    given = frozenset(variables)
    text, remarks = without_surroundings(source)
    if text != source:
        meant = _parsed(text, given, ranks)
        notes = *(syntax.Note(each, meant.span) for each in remarks), *meant.notes
        return syntax.Program(meant.span, meant.source, meant.body, notes)
    return _parsed(source, given, ranks)


def without_surroundings(source: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without what surrounds its formulas, and notes on this."""
    if len(source) > MAX_TYPED_CHARACTERS or not _MAY_BE_COPIED.search(source):
        return source, ()
    from .copied import strip_surroundings

    return strip_surroundings(source)


def _parsed(source: str, given: frozenset[str], ranks: Ranks | None) -> syntax.Program:
    """Return the tree of a text that nothing surrounds."""
    title = language_of(source, given) or program_of(source, given)
    if title is not None:
        from .listings import rewritten_from

        known = dict.fromkeys(given) if ranks is None else ranks()
        text = rewritten_from(title, source, known)
        meant = parse(text, given, ranks)
        most = MAX_MENDED_CHARACTERS
        note = f"{shortened(source.strip(), most)} is read as {shortened(text, most)}"
        notes = (*meant.notes, syntax.Note(note, meant.span))
        return syntax.Program(meant.span, text, meant.body, notes)
    found = _read(source, given)
    if isinstance(found, syntax.Program) and not found.doubts:
        return found
    from .mend import read_as_meant

    known = dict.fromkeys(given) if ranks is None else ranks()
    dots = isinstance(found, syntax.Program) and all(
        source[at.start] in DOTS for at in found.doubts
    )
    if isinstance(found, syntax.Program) and dots and not any(known.values()):
        return found
    program = read_as_meant(source, found, known, lambda text: _read(text, given))
    if program is not None:
        return program
    if isinstance(found, ProgramError):
        raise put_right(found.again(), given) from None
    return found


def is_program_as_it_stands(source: str, variables: Iterable[str]) -> bool:
    """Return whether a text is a program without a correction; its notation may still
    be in doubt."""
    return isinstance(_read(source, frozenset(variables)), syntax.Program)


def put_right(error: ProgramError, variables: Iterable[str] = ()) -> ProgramError:
    """Return an error; if it has edits, its hint is the corrected line."""
    if not error.edits:
        return error
    from .mend import mended

    given = frozenset(variables)
    return mended(error, lambda text: _read(text, given))


@lru_cache(maxsize=4)
def _read(source: str, variables: frozenset[str]) -> syntax.Program | ProgramError:
    """Return the tree of a program, or the error that it has no tree."""
    try:
        with uncollected():
            return bounce(_Parser(source, variables).program())
    except ProgramError as error:
        return error


class _Parser(ExpressionParser):
    def __init__(self, source: str, variables: Iterable[str]) -> None:
        super().__init__(source, variables)
        self.given = frozenset(variables)
        self.loops = 0
        self.inline_bodies = 0
        self.bodies = self.bodies_of_function = 0
        self.returned: Span | None = None
        self.compound: dict[str, Callable[[], Steps[Any]]] = {
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "with": self._with,
            "def": self._function,
            "return": self._return,
            "import": self._left_out,
            "from": self._left_out,
            "@": self._left_out,
        }

    def program(self) -> Steps[syntax.Program]:
        statements: list[syntax.Statement] = []
        while self.token.kind != "end":
            statements += yield self._line()
        last = statements[-1] if statements else None
        if isinstance(last, Definition):
            # The function is what the program computes: its inputs are the program's.
            statements[-1:] = last.body
            if len(self.definitions) > 1:
                message = f"the program is the function {last.name}, which is last"
                self.notes.append(syntax.Note(message, last.span))
            end, name = last.value.span, syntax.Target(last.span, last.name)
            statements.append(syntax.Assign(end, last.value, (name,), False, last.span))
        statements = [s for s in statements if not isinstance(s, Definition)]
        if statements:
            statements.append(self._ended(statements.pop()))
        if not statements:
            hint = "write an expression, for example x**2"
            message = "the program is empty"
            raise ProgramError("E211", message, None, self.source, hint=hint)
        for each in statements[:-1]:
            value = each.value if isinstance(each, syntax.Evaluate) else None
            if value is not None and not isinstance(value, syntax.Literal):
                text = shortened(self.source[slice(*each.span)])
                message = f"the value of {text} is not used"
                self.notes.append(syntax.Note(message, each.span))
        span, start = Span(0, len(self.source)), statements[0].span.start
        body = self._block(start, statements)
        self._refuse_uncalled(body)
        notes, doubts = tuple(self.notes), tuple(self._doubts())
        return syntax.Program(span, self.source, body, notes, doubts)

    def _refuse_uncalled(self, body: syntax.Block) -> None:
        """Refuse a function of the program that is read as a value is."""
        names = self.definitions.keys() - self.given - self.variables
        for node in syntax.walk(body) if names else ():
            if isinstance(node, syntax.Name) and node.name in names:
                parameters = self.definitions[node.name].parameters
                inputs = ", ".join(target.name for target, _ in parameters)
                message = f"'{node.name}' is a function, and is not called here"
                hint = f"write {node.name}({inputs})"
                raise self.fail("E209", message, node.span, hint)

    def _ended(self, last: syntax.Statement) -> syntax.Statement:
        """Return the last statement; several values in it are a vector, unless a comma
        may be that of a decimal number."""
        value = getattr(last, "value", None)
        if not isinstance(value, syntax.Expression):
            return last
        items = self._vector(value)
        if items is value:
            return last
        if isinstance(last, syntax.Assign):
            return syntax.Assign(last.span, items, last.targets, False, last.op_span)
        return syntax.Evaluate(last.span, items)

    def _vector(self, value: syntax.Expression) -> syntax.Expression:
        """Return several values as a vector, with a note, unless a comma may be that of
        a decimal number; return any other expression as it is."""
        if not isinstance(value, syntax.Sequence) or value.kind is not tuple:
            return value
        text = self.source[slice(*value.span)]
        if len(value.items) < 2 or re.search(r"\d,\d", text):
            return value
        note = f"{shortened(text)} is read as a vector"
        self.notes.append(syntax.Note(note, value.span))
        return syntax.Sequence(value.span, list, value.items)

    def _doubts(self) -> Iterator[Span]:
        """Yield the places of names that may be written in mathematical notation: of
        functions that are unknown, or not called, and of several names together."""
        source, values = self.source, self.given | self.variables
        unknown = {n: at for n, at in self.read.items() if n not in values}
        called = {n: at for n, at in self.called.items() if n not in self.definitions}
        if self.given and not source.isascii():
            products = (t for t in self.tokens if t.kind == "*")
            yield from (t.span for t in products if source[t.start] in DOTS)
        slopes = {f"d{name}" for name in self.definitions}
        if "d" in unknown or "d" in called:
            slopes |= {f"d{name}" for name in self.read}
        yield from (at for name, at in unknown.items() if name in slopes)
        if not unknown and not called and not self.indexed:
            return
        from .factory import CONSTRUCTORS
        from .plain import FUNCTIONS
        from .suggest import names_letter, other_spelling, parted, synonym
        from .tensor_library import CONSTANTS, is_function

        own = {*FUNCTIONS, *CONSTRUCTORS, *GRAD_MODES, *FIELDS}
        for name, at in called.items():
            meant = name in own or is_function(name) or synonym(name)
            if name in values or not meant:
                yield at
        for name, at in self.indexed.items():
            if name.islower() and other_spelling(name, is_function):
                yield at
        known = self.given | {*CONSTANTS}

        def named(word: str) -> bool:
            return not names_letter(word) and is_function(word)

        def is_word(word: str) -> bool:
            return word in known or named(word)

        for name, at in unknown.items():
            if not self.given or name in CONSTANTS:
                continue
            turned = name[0] == "T" and source[at.start - 1] in "^*"
            entry = name.partition("_")[0] in self.given and name[-1].isdecimal()
            together = named(name) or parted(name, is_word, is_function)
            if turned or (entry and "_" in name) or (len(name) > 1 and together):
                yield at

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
            statement: syntax.Statement | None = yield self._statement()
            if statement is not None:
                statements.append(statement)
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

    def _statement(self) -> syntax.Statement | Steps[Any]:
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

    def _left_out(self) -> Steps[None]:
        """Pass over the rest of a line that means nothing here."""
        start = self.token.start
        yield None
        while self.token.kind not in ("newline", ";", "end"):
            self.take()
        span = self.span_from(start)
        self.remember_imports(self.source[slice(*span)])
        message = f"{shortened(self.source[slice(*span)])} is left out"
        self.notes.append(syntax.Note(f"{message}: all functions are there", span))

    def _return(self) -> Steps[syntax.Statement]:
        start, inside = self.take().start, self.bodies != self.bodies_of_function
        value: syntax.Expression = yield self.expressions()
        after = (self.token.kind == "newline" and self.kind_after()) or self.token.kind
        last = self.inline_bodies or after in ("dedent", "end", "newline")
        if inside or not last:
            hint = "end with one 'return'; for two cases write a if condition else b"
            message = "'return' is not the last statement"
            raise self.fail("E209", message, Span(start, start + 6), hint)
        self.returned = value.span
        return syntax.Evaluate(value.span, value)

    def _function(self) -> Steps[syntax.Statement]:
        """Read `def f(x, y=1): ...`, whose last statement is its value."""
        self.take()
        begun = self.at, self.applied
        self._expect_name("a name")
        self.expect("(")
        parameters = yield self._parameters(")")
        self.expect(")")
        outside = self.bodies_of_function, self.loops, set(self.variables)
        self.bodies_of_function, self.loops = self.bodies + 1, 0
        self.variables.update(target.name for target, _ in parameters)
        block: syntax.Block = yield self._body()
        self.bodies_of_function, self.loops, self.variables = outside
        *body, last = block.statements
        if not isinstance(last, syntax.Evaluate) or last.span != self.returned:
            hint = "end with 'return' and the value"
            raise self.fail("E209", "the function returns no value", last.span, hint)
        return self._defined(*begun, parameters, tuple(body), last.value)

    def _parameters(self, end: str) -> Steps[list[Parameter]]:
        found: list[Parameter] = []
        while self.token.kind == "name":
            token, default = self.take(), None
            if end == ")" and self.take_if(":"):
                yield self._operation(0)  # a type means nothing here
            if self.take_if("="):
                default = yield self.expression()
            found.append((syntax.Target(token.span, str(token.value)), default))
            if not self.take_if(","):
                break
        return found

    def _defined(
        self,
        at: int,
        applied: int,
        parameters: list[Parameter],
        body: tuple[syntax.Statement, ...],
        value: syntax.Expression,
    ) -> syntax.Statement:
        """Return the definition of the function whose name is the token ``at``."""
        name, size = str(self.tokens[at].value), self.at - at + self.applied - applied
        span, inputs = self.span_from(self.tokens[at].start), tuple(parameters)
        made = Definition(span, name, inputs, body, value, size)
        self.definitions[name] = made
        return made

    def _assignment(self) -> Steps[syntax.Statement | None]:
        start, begun = self.token.start, (self.at, self.applied)
        value: syntax.Expression = yield self.expressions()
        sign = self.token
        augmented = sign.kind in AUGMENTED
        if sign.kind != "=" and not augmented:
            if self.source[start : start + 3] in TRIPLE and sign.kind == "newline":
                return None  # a comment, as of a function
            return syntax.Evaluate(value.span, value)
        self.take()
        if augmented and not isinstance(value, syntax.Name):
            raise self._not_assignable(value)
        given = self._inputs_of(value)
        if given is not None:
            assigned = yield self.expressions()
            if self.source[assigned.span.start] == "(":
                assigned = self._vector(assigned)
            return self._defined(*begun, given, (), assigned)
        if isinstance(value, syntax.Name) and self.take_if("lambda"):
            given = yield self._parameters(":")
            self.expect(":")
            assigned = yield self.expressions()
            return self._defined(*begun, given, (), assigned)
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

    def _inputs_of(self, call: syntax.Expression) -> list[Parameter] | None:
        """Return the inputs of a function that is defined as `f(x, y) = ...`; None if
        the left side is something else."""
        if isinstance(call, syntax.Apply):
            inputs: tuple[syntax.Expression, ...] = call.arguments
        elif isinstance(call, syntax.Call) and not call.keywords:
            inputs = call.arguments
        else:
            return None
        names = [i for i in inputs if isinstance(i, syntax.Name) and not i.qualified]
        if not names or len(names) < len(inputs):
            return None
        return [(syntax.Target(each.span, each.name), None) for each in names]

    def _targets(self, target: syntax.Expression) -> tuple[syntax.Target, ...]:
        """Return the targets on the left of `=`; `a, b` and `[a, b]` are several."""
        items = target.items if isinstance(target, syntax.Sequence) else (target,)
        formulas = (syntax.Binary, syntax.Call, syntax.Unary)
        *before, last = items or (None,)
        beside = any(isinstance(each, formulas) for each in before)
        if isinstance(last, syntax.Name) and beside:
            hint = f"a value {last.name}=3 is written outside the quotes"
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
        derived = DERIVATIVE.fullmatch(self.source, start, end)
        if derived is not None:
            return error.mended_by((start, end, derived["output"] or "y"))
        if hint == _NO_EQUATION:
            return error.mended_by(*self._as_difference(end), lead=_AS_DIFFERENCE)
        return error

    def _as_difference(self, left: int) -> Iterator[Edit]:
        """Yield the edits that make an equation, whose left side ends at ``left``, the
        difference of its sides."""
        behind = [token for token in self.tokens if token.start >= left]
        side = [*takewhile(lambda t: t.kind not in _ENDS_STATEMENT, behind)]
        if len(side) < 2 or side[0].kind != "=":
            return
        sign, first, last = side[0], side[1], side[-1]
        if len(side) > 2:
            yield sign.start, first.start, "- ("
            yield last.end, last.end, ")"
        elif self.text(first) == "0":
            yield left, last.end, ""
        else:
            yield sign.start, sign.end, "-"

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
        self.bodies += 1
        if self.take_if("newline"):
            block = yield self._indented_body()
        else:
            self.inline_bodies += 1
            statements = yield self._statements_until_break()
            self.inline_bodies -= 1
            block = self._block(start, statements)
        self.bodies -= 1
        return block

    def _block(self, start: int, statements: list[syntax.Statement]) -> syntax.Block:
        if not statements:
            hint = "write 'pass' for an empty body"
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
