"""The compiler, from the syntax tree to steps that run without tree or recursion.

A variable has one register in the whole program. Where a name may be read before it has
a value, a `check` step precedes; where the text above proves that it has one, none
does. An expression writes directly to the variable that it is assigned to, but only in
its last step, so an error leaves the old value in place. A `mark` step after each
statement records its value, in case the program ends with it.

    [origin.name for origin in compile_program(parse("y = x*2")).origins]
    # ['*', '']
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from . import steps, syntax
from .code import Code, Origin, Read, Step
from .errors import ProgramError
from .excerpt import Span
from .parser import parse
from .syntax import Literal, Name, Node, Note, assigned_names
from .trampoline import Steps, bounce, uncollected

Constant = Callable[[Literal], object]
"""A function that returns the value that a literal of the program stands for."""

Jump = Callable[[int], Step]
"""A function that returns a jump to the step with a given number."""


def compile_program(
    program: syntax.Program, constant: Constant = lambda literal: literal.value
) -> Code:
    """Return a program compiled to steps.

    Args:
        program: the syntax tree.
        constant: returns the value of a literal; by default the number that was parsed.
    """
    assigned = frozenset(assigned_names(program))
    compiler = _Compiler(program.source, assigned, constant)
    with uncollected():
        bounce(compiler.block(program.body))
        return compiler.code(program.notes)


Into = int | None


class _Loop(NamedTuple):
    """The labels that `continue` and `break` jump to, and the number of `with` blocks
    that are open there."""

    again: int
    after: int
    modes: int


@cache
def _method(kind: type[Node]) -> str:
    return f"visit_{kind.__name__}"


class _Compiler:
    """A list of the steps of one program, with its registers, labels and jumps.

    A register holds a variable, a constant, a function or an intermediate value; those
    with intermediate values are reused. A label stands for the number of a step that is
    not known yet. `has_value` lists the variables that certainly have a value at the
    present step: an assignment or a `check` adds one, and names that are added in a
    part that may not run (`maybe`) are removed after it.

    There is one method for each class of nodes. That of an expression returns the
    register that will hold its value: `into`, if it is given, which only the last step
    writes to. Where several steps can write the result (`and`, a chain of comparisons,
    a condition), they write to an intermediate register, from which it is moved to
    `into` at the end, because they may still have to read the old value of `into`.
    """

    def __init__(
        self, source: str, assigned: frozenset[str], constant: Constant
    ) -> None:
        self.source = source
        self.assigned = assigned
        self.value_of = constant
        self.steps: list[Step] = []
        self.origins: list[Origin] = []
        self.jumps: dict[int, tuple[Jump, int]] = {}
        self.labels: list[int] = []
        self.register_count = 0
        self.spare: list[int] = []
        self.temporaries: set[int] = set()
        self.variables: dict[str, Read] = {}
        self.qualified: dict[str, Read] = {}
        self.functions: dict[str, Read] = {}
        self.constants: dict[tuple[type, object], tuple[int, object]] = {}
        self.has_value: dict[str, None] = {}
        self.assigned_above: set[str] = set()
        self.changes = False
        self.loops: list[_Loop] = []
        self.modes = 0

    def visit(self, node: Node, *given: object) -> Any:
        """Return the result, or its steps, of the method named after a node's class."""
        return getattr(self, _method(type(node)))(node, *given)

    def emit(
        self,
        step: Step,
        at: Span,
        kind: str = "",
        name: str = "",
        reads: tuple[int, ...] = (),
    ) -> None:
        self.steps.append(step)
        self.origins.append(Origin(at, kind, name, reads))

    def jump(
        self, to: int, make: Jump, at: Span, kind: str, reads: tuple[int, ...] = ()
    ) -> None:
        """Emit a step that jumps to the label ``to``, always or on a condition."""
        self.jumps[len(self.steps)] = make, to
        self.emit(steps.jump(0, 0), at, kind, "", reads)

    def jump_always(self, to: int, at: Span) -> None:
        number = len(self.steps)
        self.jump(to, lambda there: steps.jump(there, number - there + 1), at, "")

    def jump_on(self, wanted: bool, source: int, to: int, at: Span) -> None:
        """Emit a jump to the label ``to``, taken if a value's truth is ``wanted``."""
        make = lambda there: steps.jump_on(there, wanted, source)
        self.jump(to, make, at, "truth", (source,))

    def label(self) -> int:
        self.labels.append(-1)
        return len(self.labels) - 1

    def set_label(self, label: int) -> None:
        """Set the step that a label stands for to the next step emitted."""
        self.labels[label] = len(self.steps)

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """Return a context for emitting steps that may not run."""
        before = len(self.has_value)
        yield
        while len(self.has_value) > before:
            self.has_value.popitem()

    def temporary(self) -> int:
        register = self.spare.pop() if self.spare else self._register()
        self.temporaries.add(register)
        return register

    def release(self, *registers: int) -> None:
        """Free those of the registers that hold intermediate values, for reuse."""
        for register in registers:
            if register in self.temporaries:
                self.temporaries.remove(register)
                self.spare.append(register)

    def constant(self, value: object) -> int:
        # Different exact numbers may be equal as floats.
        key = (type(value), getattr(value, "args", value))
        if key not in self.constants:
            self.constants[key] = self._register(), value
        return self.constants[key][0]

    def operand(self, node: Literal | Name) -> int:
        """Return the register of a literal or a name, which needs no computation."""
        if isinstance(node, Literal):
            return self.constant(self.value_of(node))
        if node.qualified:
            return self._read(self.qualified, node.name, node.span)
        register = self._read(self.variables, node.name, node.span)
        if node.name in self.assigned and node.name not in self.has_value:
            self.emit(steps.check(register, node.name), node.span)
            self.has_value[node.name] = None
        return register

    def code(self, notes: tuple[Note, ...]) -> Code:
        for number, (make, label) in self.jumps.items():
            self.steps[number] = make(self.labels[label])
        return Code(
            self.source,
            tuple(self.steps),
            tuple(self.origins),
            self.register_count,
            self.variables,
            self.qualified,
            self.functions,
            dict(self.constants.values()),
            self.assigned,
            self.changes,
            notes,
        )

    def _read(self, known: dict[str, Read], name: str, span: Span) -> int:
        """Return the register of a name; a name not yet in ``known`` gets a new one."""
        if name not in known:
            known[name] = Read(self._register(), span)
        return known[name].register

    def _register(self) -> int:
        self.register_count += 1
        return self.register_count - 1

    def _values(self, *nodes: syntax.Expression) -> Steps[tuple[int, ...]]:
        registers = []
        for node in nodes:
            if isinstance(node, syntax.Literal | syntax.Name):
                registers.append(self.operand(node))
            else:
                registers.append((yield self.visit(node, None)))
        return tuple(registers)

    def _operation(
        self,
        make: Callable[..., Step],
        node: Any,
        into: Into,
        operands: Iterable[syntax.Expression],
        known: tuple[object, ...],
        kind: str = "",
        name: str = "",
    ) -> Steps[int]:
        """Emit the steps of an expression's operands, and then its own one, which
        ``make`` returns; return the register of the result."""
        reads = yield self._values(*operands)
        return self._finish(make, node, into, reads, known, kind, name)

    def _finish(
        self,
        make: Callable[..., Step],
        node: Any,
        into: Into,
        reads: tuple[int, ...],
        known: tuple[object, ...],
        kind: str,
        name: str,
    ) -> int:
        self.release(*reads)
        out = self.temporary() if into is None else into
        at = getattr(node, "op_span", node.span)
        self.emit(make(out, reads, *known), at, kind, name, reads)
        return out

    def _deliver(self, result: int, node: syntax.Expression, into: Into) -> int:
        """Emit a move of a value to ``into``, if needed; return its register."""
        if into is None or into == result:
            return result
        self.emit(steps.move(into, result), node.span)
        self.release(result)
        return into

    def visit_Literal(self, node: syntax.Literal, into: Into) -> int:
        return self._deliver(self.operand(node), node, into)

    visit_Name = visit_Literal

    def visit_Unary(self, node: syntax.Unary, into: Into) -> Steps[int]:
        made, sign = (steps.unary, node, into, (node.operand,)), node.operator
        return self._operation(*made, (sign, node.span), "operator", sign)

    def visit_Binary(self, node: syntax.Binary, into: Into) -> Steps[int]:
        made = steps.binary, node, into, (node.left, node.right)
        sign = node.operator
        return self._operation(*made, (sign, node.span, node.op_span), "operator", sign)

    def visit_Compare(self, node: syntax.Compare, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        first, *others = node.operands
        left: int = yield self.visit(first, None)
        right: int = yield self.visit(others[0], None)
        self._compared(node, 0, result, left, right)
        with self.maybe():
            for number, other in enumerate(others[1:], 1):
                self.jump_on(False, result, done, node.op_spans[number - 1])
                left, right = right, (yield self.visit(other, None))
                self._compared(node, number, result, left, right)
        self.release(right)
        self.set_label(done)
        return self._deliver(result, node, into)

    def _compared(
        self, node: syntax.Compare, number: int, out: int, left: int, right: int
    ) -> None:
        """Emit one comparison of a chain, and free the register of its left operand."""
        sign, at, reads = node.operators[number], node.op_spans[number], (left, right)
        step = steps.binary(out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self.release(left)

    def visit_Logic(self, node: syntax.Logic, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        yield self.visit(node.operands[0], result)
        with self.maybe():
            for before, operand in pairwise(node.operands):
                self.jump_on(node.operator == "or", result, done, before.span)
                yield self.visit(operand, result)
        self.set_label(done)
        return self._deliver(result, node, into)

    def visit_Conditional(self, node: syntax.Conditional, into: Into) -> Steps[int]:
        result, otherwise, done = self.temporary(), self.label(), self.label()
        test: int = yield self.visit(node.test, None)
        self.jump_on(False, test, otherwise, node.test.span)
        self.release(test)
        with self.maybe():
            yield self.visit(node.then, result)
            self.jump_always(done, node.span)
        self.set_label(otherwise)
        with self.maybe():
            yield self.visit(node.otherwise, result)
        self.set_label(done)
        return self._deliver(result, node, into)

    def visit_Call(self, node: syntax.Call, into: Into) -> Steps[int]:
        name = node.function
        if name in self.assigned_above:
            from .mend import multiplied

            message = f"'{name}' is a value here, not a function"
            error = ProgramError("E102", message, node.op_span, self.source)
            raise multiplied(error, node.op_span, parse)
        reads = yield self._values(*node.arguments, *(k.value for k in node.keywords))
        known = _names(node), node.span, self._read(self.functions, name, node.op_span)
        made = steps.call, node, into, reads
        return self._finish(*made, known, "function", name)

    def visit_MethodCall(self, node: syntax.MethodCall, into: Into) -> Steps[int]:
        named = (keyword.value for keyword in node.keywords)
        made = steps.method, node, into, (node.receiver, *node.arguments, *named)
        known, name = (_names(node), node.span, node.method), node.method
        return self._operation(*made, known, "method", name)

    def visit_Attribute(self, node: syntax.Attribute, into: Into) -> Steps[int]:
        made, name = (steps.attribute, node, into, (node.value,)), node.name
        return self._operation(*made, (name, node.span), "attribute", name)

    def visit_Index(self, node: syntax.Index, into: Into) -> Steps[int]:
        made = steps.index, node, into, (node.value, node.key)
        return self._operation(*made, (node.span,), "index")

    def visit_Slice(self, node: syntax.Slice, into: Into) -> Steps[int]:
        absent = syntax.Literal(node.span, None)
        bounds = (bound or absent for bound in (node.start, node.stop, node.step))
        make: Callable[..., slice] = lambda bounds: slice(*bounds)
        return self._operation(steps.sequence, node, into, bounds, (make,), "index")

    def visit_Sequence(self, node: syntax.Sequence, into: Into) -> Steps[int]:
        return self._operation(steps.sequence, node, into, node.items, (node.kind,))

    def block(self, block: syntax.Block) -> Steps[None]:
        for statement in block.statements:
            yield self.visit(statement)

    def _target(self, target: syntax.Target) -> int:
        self.assigned_above.add(target.name)
        self.has_value.setdefault(target.name)
        return self._read(self.variables, target.name, target.span)

    def visit_Assign(self, node: syntax.Assign) -> Steps[None]:
        if node.unpacks:
            out = self._unpack((yield self.visit(node.value, None)), node.targets)
        else:
            span, name = node.targets[0].span, node.targets[0].name
            yield self.visit(node.value, self._read(self.variables, name, span))
            out = self._target(node.targets[0])
        self._mark(out, node, node.targets[-1].name)

    def _unpack(self, value: int, targets: tuple[syntax.Target, ...]) -> int:
        registers = tuple(self._target(target) for target in targets)
        at = Span(targets[0].span.start, targets[-1].span.end)
        self.emit(steps.unpack(registers, value), at, "iterate", "", (value,))
        self.release(value)
        return registers[-1]

    def visit_Augment(self, node: syntax.Augment) -> Steps[None]:
        before = self.operand(node.before)
        value: int = yield self.visit(node.value, None)
        self.release(value)
        out = self._target(node.target)
        self.changes = True
        at, sign, reads = node.op_span, node.operator, (before, value)
        step = steps.augment(out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self._mark(out, node, node.target.name)

    def visit_Evaluate(self, node: syntax.Evaluate) -> Steps[None]:
        value: int = yield self.visit(node.value, None)
        self._mark(value, node, None)
        self.release(value)

    def _mark(self, register: int, node: syntax.Statement, name: str | None) -> None:
        self.emit(steps.mark(register, name, node.span), node.span)

    def visit_If(self, node: syntax.If) -> Steps[None]:
        done = self.label()
        # Only the first condition runs in any case.
        with ExitStack() as later:
            for branch in node.branches:
                other = yield self._test(branch.test)
                with self.maybe():
                    yield self.block(branch.body)
                    self.jump_always(done, branch.span)
                    self.set_label(other)
                later.enter_context(self.maybe())
            if node.otherwise is not None:
                yield self.block(node.otherwise)
        self.set_label(done)

    def _test(self, test: syntax.Expression) -> Steps[int]:
        """Emit a condition, and return the label that is jumped to if it is false."""
        other = self.label()
        register: int = yield self.visit(test, None)
        self.jump_on(False, register, other, test.span)
        self.release(register)
        return other

    def visit_For(self, node: syntax.For) -> Steps[None]:
        loop = _Loop(self.label(), self.label(), self.modes)
        source: int = yield self.visit(node.iterable, None)
        self.release(source)
        iterator = self.temporary()
        at = node.iterable.span
        self.emit(steps.iterate(iterator, source), at, "iterate", "", (source,))
        with self.maybe():
            self.set_label(loop.again)
            item = self.temporary() if node.unpacks else self._target(node.targets[0])
            advance = lambda there: steps.advance(there, item, iterator)
            self.jump(loop.after, advance, at, "iterate", (iterator,))
            if node.unpacks:
                self._unpack(item, node.targets)
            yield self._loop_body(node.body, loop)
        self.release(iterator)

    def visit_While(self, node: syntax.While) -> Steps[None]:
        loop = _Loop(self.label(), self.label(), self.modes)
        self.set_label(loop.again)
        test: int = yield self.visit(node.test, None)
        self.jump_on(False, test, loop.after, node.test.span)
        self.release(test)
        with self.maybe():
            yield self._loop_body(node.body, loop)

    def _loop_body(self, body: syntax.Block, loop: _Loop) -> Steps[None]:
        self.loops.append(loop)
        yield self.block(body)
        self.loops.pop()
        self.jump_always(loop.again, body.span)
        self.set_label(loop.after)

    def visit_With(self, node: syntax.With) -> Steps[None]:
        self.emit(steps.open_mode(node.enabled), node.span)
        self.modes += 1
        yield self.block(node.body)
        self.modes -= 1
        self.emit(steps.close_modes(1), node.span)

    def visit_Break(self, node: syntax.Break) -> None:
        self._leave(node, self.loops[-1].after)

    def visit_Continue(self, node: syntax.Continue) -> None:
        self._leave(node, self.loops[-1].again)

    def _leave(self, node: syntax.Statement, label: int) -> None:
        """Emit a jump to a loop's label, after closing the modes opened in the loop."""
        inside = self.modes - self.loops[-1].modes
        if inside:
            self.emit(steps.close_modes(inside), node.span)
        self.jump_always(label, node.span)

    def visit_Pass(self, node: syntax.Pass) -> None:
        pass


def _names(node: syntax.Call | syntax.MethodCall) -> tuple[str, ...]:
    return tuple(keyword.name for keyword in node.keywords)
