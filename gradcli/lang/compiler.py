"""The compiler, from the syntax tree to steps that run without tree or recursion.

A variable has one register in the whole program. A `check` step precedes the reading of
a name that the program assigns to, because the assignment may not have run. An
expression writes directly to the variable that it is assigned to, but only in its last
step, so an error leaves the old value in place. A `mark` step after each statement
records its value, in case the program ends with it.

    [origin.name for origin in compile_program(parse("y = x*2")).origins]
    # ['*', '']
"""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from . import machine as steps
from . import syntax
from .derivatives import derived_by, is_derivative, orders_of
from .errors import ProgramError
from .excerpt import Span
from .fields import FieldDerivative, coordinates_in, coordinates_of, field_of
from .machine import Code, Label, Read, Step, StepSource
from .syntax import (
    Literal,
    Name,
    Steps,
    SyntaxNode,
    assigned_names,
    bounce,
    uncollected,
)

Constant = Callable[[Literal], object]
"""A function that returns the value that a literal of the program stands for."""


def compile_program(
    program: syntax.Program, constant: Constant = lambda literal: literal.value
) -> Code:
    """Return a program compiled to steps; ``constant`` returns the value of a literal,
    by default the number that was parsed."""
    compiler = _Compiler(program, constant)
    with uncollected():
        bounce(compiler.block(program.body))
        return compiler.code()


Into = int | None


class _Loop(NamedTuple):
    """The labels that `continue` and `break` jump to, and the number of `with` blocks
    that are open there."""

    again: Label
    after: Label
    modes: int


@cache
def _method(kind: type[SyntaxNode]) -> str:
    return f"visit_{kind.__name__}"


class _Compiler:
    """A list of the steps of one program, with its registers and jumps.

    A register holds a variable, a constant, a function or an intermediate value; those
    of intermediate values are numbered from the end, and `depth` of them are in use.

    There is one method for each class of nodes. That of an expression returns the
    register that will hold its value: `into`, if it is given, which only the last step
    writes to. Where several steps can write the result (`and`, a chain of comparisons,
    a condition), they write to an intermediate register, from which it is moved to
    `into` at the end, because they may still have to read the old value of `into`.
    """

    def __init__(self, program: syntax.Program, constant: Constant) -> None:
        self.program = program
        self.assigned = frozenset(assigned_names(program))
        self.derived_by = derived_by(program) | coordinates_in(program)
        self.value_of = constant
        self.steps: list[Step] = []
        self.origins: list[StepSource] = []
        self.named = 0
        self.depth = self.deepest = 0
        self.variables: dict[str, Read] = {}
        self.qualified: dict[str, Read] = {}
        self.functions: dict[str, Read] = {}
        self.constants: dict[tuple[type, object], tuple[int, object]] = {}
        self.assigned_above: set[str] = set()
        self.changes = False
        self.loops: list[_Loop] = []
        self.modes = 0

    def code(self) -> Code:
        return Code(
            self.program.source,
            tuple(self.steps),
            tuple(self.origins),
            self.named + self.deepest,
            self.variables,
            self.qualified,
            self.functions,
            dict(self.constants.values()),
            self.assigned,
            self.changes,
            self.program.notes,
            self.derived_by & self.variables.keys(),
        )

    def visit(self, node: SyntaxNode, *given: object) -> Any:
        """Return the result, or its steps, of the method named after a node's class."""
        return getattr(self, _method(type(node)))(node, *given)  # type: ignore[arg-type]

    def emit(
        self,
        step: Step,
        at: Span,
        kind: str = "",
        name: str = "",
        reads: tuple[int, ...] = (),
    ) -> None:
        self.steps.append(step)
        self.origins.append(StepSource(at, kind, name, reads))

    def jump(self, label: Label, at: Span) -> None:
        cost = len(self.steps) - label[0] + 1 if label else 0
        self.emit(steps.jump(label, cost), at)

    def jump_on(self, wanted: bool, source: int, label: Label, at: Span) -> None:
        """Emit a jump that is taken if a value's truth is ``wanted``."""
        self.emit(steps.jump_on(label, wanted, source), at, "truth", "", (source,))

    def here(self, label: Label) -> None:
        """Set the step that a label stands for to the next step emitted."""
        label.append(len(self.steps))

    def temporary(self) -> int:
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        return -self.depth

    def operand(self, node: Literal | Name) -> int:
        """Return the register of a literal or a name, which needs no computation."""
        if isinstance(node, Literal):
            value = self.value_of(node)
            # Different exact numbers may be equal as floats.
            key = (type(value), getattr(value, "args", value))
            if key not in self.constants:
                self.constants[key] = self._register(), value
            return self.constants[key][0]
        if node.qualified:
            return self._read(self.qualified, node.name, node.span)
        register = self._read(self.variables, node.name, node.span)
        if node.name in self.assigned:
            self.emit(steps.check(register, node.name), node.span)
        return register

    def _read(self, known: dict[str, Read], name: str, span: Span) -> int:
        """Return the register of a name; a name not yet in ``known`` gets a new one."""
        if name not in known:
            known[name] = Read(self._register(), span)
        return known[name].register

    def _register(self) -> int:
        self.named += 1
        return self.named - 1

    def _operation(
        self,
        function: steps.Operation,
        node: Any,
        into: Into,
        operands: Iterable[syntax.Expression],
        kind: str = "",
        name: str = "",
        *,
        told: bool = True,
    ) -> Steps[int]:
        """Emit the steps of an expression's operands, and then its own one, which tells
        the library its result if ``told``; return the register of the result."""
        before = self.depth
        reads: tuple[int, ...] = yield self._values(operands)
        out = self._out(before, into)
        step = steps.operation(out, reads, function, node.span if told else None)
        self.emit(step, getattr(node, "op_span", node.span), kind, name, reads)
        return out

    def _values(self, nodes: Iterable[syntax.Expression]) -> Steps[tuple[int, ...]]:
        registers = []
        for node in nodes:
            if isinstance(node, Literal | Name):
                registers.append(self.operand(node))
            else:
                registers.append((yield self.visit(node, None)))
        return tuple(registers)

    def _out(self, before: int, into: Into) -> int:
        """Return the register of a result, after the intermediate values above the
        depth ``before`` were read for the last time."""
        self.depth = before
        return self.temporary() if into is None else into

    def _deliver(self, result: int, at: Span, before: int, into: Into) -> int:
        """Emit a move of an intermediate value to ``into``, if that is given."""
        out = self._out(before, into)
        if out != result:
            move = steps.operation(out, (result,), lambda machine, value: value)
            self.emit(move, at)
        return out

    def visit_Literal(self, node: Literal | Name, into: Into) -> int:
        result = self.operand(node)
        if into is None:
            return result
        return self._deliver(result, node.span, self.depth, into)

    visit_Name = visit_Literal

    def visit_Unary(self, node: syntax.Unary, into: Into) -> Steps[int]:
        sign, told = node.operator, node.operator != "not"
        made = steps.unary(sign), node, into, (node.operand,)
        return self._operation(*made, "operator", sign, told=told)

    def visit_Binary(self, node: syntax.Binary, into: Into) -> Steps[int]:
        before = self.depth
        reads = yield self._values((node.left, node.right))
        out = self._out(before, into)
        self._binary(out, reads, node.operator, node.span, node.op_span)
        return out

    def _binary(
        self, out: int, reads: tuple[int, ...], sign: str, span: Span, at: Span
    ) -> None:
        step = steps.binary(out, reads, sign, span, at)
        self.emit(step, at, "operator", sign, reads)

    def visit_Compare(self, node: syntax.Compare, into: Into) -> Steps[int]:
        before, result, done = self.depth, self.temporary(), Label()
        signs = list(zip(node.operators, node.op_spans, strict=True))
        first, second, *others = node.operands
        left, right = yield self._values((first, second))
        self._binary(result, (left, right), signs[0][0], node.span, signs[0][1])
        pairs = zip(signs, signs[1:], others, strict=False)
        for (_, at), (sign, following), other in pairs:
            self.jump_on(False, result, done, at)
            left, (right,) = right, (yield self._values((other,)))
            self._binary(result, (left, right), sign, node.span, following)
        self.here(done)
        return self._deliver(result, node.span, before, into)

    def visit_Logic(self, node: syntax.Logic, into: Into) -> Steps[int]:
        before, result, done = self.depth, self.temporary(), Label()
        yield self.visit(node.operands[0], result)
        for tested, operand in pairwise(node.operands):
            self.jump_on(node.operator == "or", result, done, tested.span)
            yield self.visit(operand, result)
        self.here(done)
        return self._deliver(result, node.span, before, into)

    def visit_Conditional(self, node: syntax.Conditional, into: Into) -> Steps[int]:
        before, result, done = self.depth, self.temporary(), Label()
        otherwise = yield self._test(node.test)
        yield self.visit(node.then, result)
        self.jump(done, node.span)
        self.here(otherwise)
        yield self.visit(node.otherwise, result)
        self.here(done)
        return self._deliver(result, node.span, before, into)

    def visit_Refusal(self, node: syntax.Refusal, into: Into) -> int:
        out = self._out(self.depth, into)
        self.emit(steps.refuse(node.message, node.hint), node.span)
        return out

    def visit_Call(self, node: syntax.Call, into: Into) -> Steps[int]:
        name, at = node.function, node.op_span
        if name in self.assigned_above:
            message = f"'{name}' is a value here, not a function"
            hint = f"to multiply, write {name}*(...)"
            raise ProgramError("E102", message, at, self.program.source, hint=hint)
        if is_derivative(node):
            return self._derivative(node, into)
        field = field_of(node)
        if field is not None:
            return self._field_derivative(node, field, into)
        called = (self._read(self.functions, name, at),)
        return self._call(node, into, node.arguments, "function", name, called)

    def _field_derivative(
        self, node: syntax.Call, field: FieldDerivative, into: Into
    ) -> Steps[int]:
        """Emit the divergence, the curl or the Laplacian of a field."""
        before, at = self.depth, coordinates_of(field, self.program)
        self.emit(lambda _, machine: machine.open_mode(True), node.span)
        reads = yield self._values((field.of, *(each for each in at if each)))
        self._close(1, node.span)
        out = self._out(before, into)
        step = steps.field_derivative(field, at)
        operation = steps.operation(out, reads, step, node.span)
        self.emit(operation, node.op_span, "derivative", node.function, reads)
        return out

    def _derivative(self, node: syntax.Call, into: Into) -> Steps[int]:
        """Emit the derivative of the first operand, which is recorded whatever the mode
        is, by the names that follow."""
        before, inputs = self.depth, orders_of(node, self.program.source)
        self.emit(lambda _, machine: machine.open_mode(True), node.span)
        reads = yield self._values((node.arguments[0], *inputs))
        self._close(1, node.span)
        out = self._out(before, into)
        step = steps.operation(out, reads, steps.derivative(inputs), node.span)
        self.emit(step, node.op_span, "derivative", node.function, reads)
        return out

    def _follow(self, target: syntax.Target, moved: bool) -> None:
        """Emit a step that makes a variable one that derivatives can be taken by, if
        the program takes any by it; ``moved``: its value has another name too."""
        if target.name in self.derived_by:
            at = self.variables[target.name].register
            step = lambda machine, value: machine.library.followed(value, moved)
            self.emit(steps.operation(at, (at,), step), target.span)

    def visit_MethodCall(self, node: syntax.MethodCall, into: Into) -> Steps[int]:
        operands = node.receiver, *node.arguments
        return self._call(node, into, operands, "method", node.method)

    def _call(
        self,
        node: syntax.Call | syntax.MethodCall,
        into: Into,
        operands: tuple[syntax.Expression, ...],
        kind: str,
        name: str,
        called: tuple[int, ...] = (),
    ) -> Steps[int]:
        """Emit a call of the function in the register ``called``, or of a method."""
        before = self.depth
        named = (keyword.value for keyword in node.keywords)
        reads: tuple[int, ...] = yield self._values((*operands, *named))
        out, names = self._out(before, into), tuple(k.name for k in node.keywords)
        find = None if called else steps.method(name)
        step = steps.call(out, (*called, *reads), names, node.span, find)
        self.emit(step, node.op_span, kind, name, reads)
        return out

    def visit_Attribute(self, node: syntax.Attribute, into: Into) -> Steps[int]:
        made = steps.attribute(node.name), node, into, (node.value,)
        return self._operation(*made, "attribute", node.name)

    def visit_Index(self, node: syntax.Index, into: Into) -> Steps[int]:
        return self._operation(steps.item, node, into, (node.value, node.key), "index")

    def visit_Slice(self, node: syntax.Slice, into: Into) -> Steps[int]:
        absent = Literal(node.span, None)
        bounds = (bound or absent for bound in (node.start, node.stop, node.step))
        made: steps.Operation = lambda machine, *bounds: slice(*bounds)
        return self._operation(made, node, into, bounds, "index", told=False)

    def visit_Sequence(self, node: syntax.Sequence, into: Into) -> Steps[int]:
        made: steps.Operation = lambda machine, *items: node.kind(items)
        return self._operation(made, node, into, node.items, told=False)

    def block(self, block: syntax.Block) -> Steps[None]:
        for statement in block.statements:
            before = self.depth
            yield self.visit(statement)
            self.depth = before

    def _target(self, target: syntax.Target) -> int:
        self.assigned_above.add(target.name)
        return self._read(self.variables, target.name, target.span)

    def visit_Assign(self, node: syntax.Assign) -> Steps[None]:
        if node.unpacks:
            out = self._unpack((yield self.visit(node.value, None)), node.targets)
        else:
            span, name = node.targets[0].span, node.targets[0].name
            yield self.visit(node.value, self._read(self.variables, name, span))
            out = self._target(node.targets[0])
        for target in node.targets:
            self._follow(target, node.unpacks or isinstance(node.value, Name))
        self._mark(out, node, node.targets[-1].name)

    def _unpack(self, value: int, targets: tuple[syntax.Target, ...]) -> int:
        registers = tuple(self._target(target) for target in targets)
        at = Span(targets[0].span.start, targets[-1].span.end)
        self.emit(steps.unpack(registers, value), at, "iterate", "", (value,))
        return registers[-1]

    def visit_Augment(self, node: syntax.Augment) -> Steps[None]:
        reads = self.operand(node.before), (yield self.visit(node.value, None))
        out = self._target(node.target)
        self.changes = True
        at, sign = node.op_span, node.operator
        step = steps.augment(out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self._follow(node.target, False)
        self._mark(out, node, node.target.name)

    def visit_Evaluate(self, node: syntax.Evaluate) -> Steps[None]:
        self._mark((yield self.visit(node.value, None)), node, None)

    def _mark(self, register: int, node: syntax.Statement, name: str | None) -> None:
        self.emit(steps.mark(register, name, node.span), node.span)

    def visit_If(self, node: syntax.If) -> Steps[None]:
        done, branches = Label(), iter(node.branches)
        branch: syntax.Branch | None = next(branches)
        other = yield self._test(node.branches[0].test)
        while branch is not None:
            yield self.block(branch.body)
            self.jump(done, branch.span)
            self.here(other)
            branch = next(branches, None)
            if branch is not None:
                other = yield self._test(branch.test)
        if node.otherwise is not None:
            yield self.block(node.otherwise)
        self.here(done)

    def _test(self, test: syntax.Expression) -> Steps[Label]:
        """Emit a condition, and return the label that is jumped to if it is false."""
        other, before = Label(), self.depth
        self.jump_on(False, (yield self.visit(test, None)), other, test.span)
        self.depth = before
        return other

    def visit_For(self, node: syntax.For) -> Steps[None]:
        return self._over(node, lambda loop: self._loop_body(node.body, loop))

    def _over(
        self,
        node: syntax.For | syntax.Comprehension,
        body: Callable[[_Loop], Steps[None]],
    ) -> Steps[None]:
        """Emit a loop over the items of an iterable."""
        before, at = self.depth, node.iterable.span
        reads = ((yield self.visit(node.iterable, None)),)
        iterator = self._out(before, None)
        step = steps.operation(iterator, reads, steps.iterate)
        self.emit(step, at, "iterate", "", reads)
        loop = _Loop(Label(), Label(), self.modes)
        self.here(loop.again)
        item = self.temporary() if node.unpacks else self._target(node.targets[0])
        step = steps.advance(loop.after, item, iterator)
        self.emit(step, at, "iterate", "", (iterator,))
        if node.unpacks:
            self._unpack(item, node.targets)
        for target in node.targets:
            self._follow(target, True)
        yield body(loop)

    def visit_Comprehension(self, node: syntax.Comprehension, into: Into) -> Steps[int]:
        before, items = self.depth, self.temporary()
        self.emit(steps.operation(items, (), lambda machine: []), node.span)

        def body(loop: _Loop) -> Steps[None]:
            if node.test is not None:
                truth = yield self.visit(node.test, None)
                self.jump_on(False, truth, loop.again, node.test.span)
            reads = items, *(yield self._values((node.value,)))
            add = steps.operation(self.temporary(), reads, lambda _, a, b: a.append(b))
            self.emit(add, node.span)
            self.jump(loop.again, node.span)
            self.here(loop.after)

        yield self._over(node, body)
        return self._deliver(items, node.span, before, into)

    def visit_Apply(self, node: syntax.Apply, into: Into) -> Steps[int]:
        before = self.depth
        values = yield self._values(node.arguments)
        for target, value in zip(node.targets, values, strict=True):
            move = steps.operation(self._target(target), (value,), lambda _, v: v)
            self.emit(move, target.span)
            self._follow(target, True)
        for statement in node.body:
            yield self.visit(statement)
        result = yield self.visit(node.value, None)
        return self._deliver(result, node.span, before, into)

    def visit_While(self, node: syntax.While) -> Steps[None]:
        again = Label()
        self.here(again)
        after = yield self._test(node.test)
        yield self._loop_body(node.body, _Loop(again, after, self.modes))

    def _loop_body(self, body: syntax.Block, loop: _Loop) -> Steps[None]:
        self.loops.append(loop)
        yield self.block(body)
        self.loops.pop()
        self.jump(loop.again, body.span)
        self.here(loop.after)

    def visit_With(self, node: syntax.With) -> Steps[None]:
        self.emit(lambda _, machine: machine.open_mode(node.enabled), node.span)
        self.modes += 1
        yield self.block(node.body)
        self.modes -= 1
        self._close(1, node.span)

    def _close(self, count: int, at: Span) -> None:
        self.emit(lambda _, machine: machine.close_modes(count), at)

    def visit_Word(self, node: syntax.Word) -> None:
        """Emit a jump to a loop's label, after closing the modes opened in the loop."""
        if node.word == "pass":
            return
        loop = self.loops[-1]
        if self.modes > loop.modes:
            self._close(self.modes - loop.modes, node.span)
        self.jump(loop.after if node.word == "break" else loop.again, node.span)
