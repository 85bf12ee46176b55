"""The syntax tree to a list of steps: running needs neither tree nor recursion.

A variable has one register in all of the program. Where a name may be read before it
was given a value, a `check` stands in front; where the text above shows that it has
one, none does. Expressions write straight into the variable they are assigned to, but
only with their last step, so an error leaves the old value in place. A `mark` after
each statement keeps which value the program ends with.

    [origin.name for origin in compile_program(parse("y = x*2")).origins]
    # ['*', '']
"""

from typing import NamedTuple

from . import steps, syntax
from .code import Code
from .emitter import Constant
from .names import assigned_names
from .span import Span
from .trampoline import Steps, bounce
from .translate import Translator
from .uncollected import uncollected


def compile_program(
    program: syntax.Program, constant: Constant = lambda literal: literal.value
) -> Code:
    """The program's steps.

    Args:
        program: what was parsed.
        constant: the value that a literal stands for, if not the number it is read as.
    """
    assigned = frozenset(assigned_names(program))
    compiler = _Compiler(program.source, assigned, constant)
    with uncollected():
        bounce(compiler.block(program.body))
        return compiler.code(program.notes)


class _Loop(NamedTuple):
    """Where `continue` and `break` go, and how many `with` are open there."""

    again: int
    after: int
    modes: int


class _Compiler(Translator):
    """Writes the steps of statements; one method for each class of them."""

    def __init__(
        self, source: str, assigned: frozenset[str], constant: Constant
    ) -> None:
        super().__init__(source, assigned, constant)
        self.loops: list[_Loop] = []
        self.modes = 0

    def block(self, block: syntax.Block) -> Steps[None]:
        for statement in block.statements:
            yield self.visit(statement)

    def _target(self, target: syntax.Target) -> int:
        self.assigned_above.add(target.name)
        self.has_value.setdefault(target.name)
        return self.variable(target.name, target.span)

    def visit_Assign(self, node: syntax.Assign) -> Steps[None]:
        if node.unpacks:
            value: int = yield self.value(node.value)
            out = self._unpack(value, node.targets)
        else:
            register = self.variable(node.targets[0].name, node.targets[0].span)
            yield self.value(node.value, register)
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
        value: int = yield self.value(node.value)
        self.release(value)
        out = self._target(node.target)
        self.changes = True
        at, sign, reads = node.op_span, node.operator, (before, value)
        step = steps.augment(out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self._mark(out, node, node.target.name)

    def visit_Evaluate(self, node: syntax.Evaluate) -> Steps[None]:
        value: int = yield self.value(node.value)
        self._mark(value, node, None)
        self.release(value)

    def _mark(self, register: int, node: syntax.Statement, name: str | None) -> None:
        self.emit(steps.mark(register, name, node.span), node.span)

    def visit_If(self, node: syntax.If) -> Steps[None]:
        done = self.label()
        first, *others = node.branches
        other = yield self._test(first.test)
        with self.maybe():
            yield self._branch(first.body, first.span, other, done)
        with self.maybe():
            for branch in others:
                other = yield self._test(branch.test)
                with self.maybe():
                    yield self._branch(branch.body, branch.span, other, done)
            if node.otherwise is not None:
                yield self.block(node.otherwise)
        self.set_label(done)

    def _test(self, test: syntax.Expression) -> Steps[int]:
        """Emit a condition; the label where it goes on if that is not true."""
        other = self.label()
        register: int = yield self.value(test)
        self.jump_on(False, register, other, test.span)
        self.release(register)
        return other

    def _branch(
        self, body: syntax.Block, span: Span, other: int, done: int
    ) -> Steps[None]:
        yield self.block(body)
        self.jump_always(done, span)
        self.set_label(other)

    def visit_For(self, node: syntax.For) -> Steps[None]:
        loop = _Loop(self.label(), self.label(), self.modes)
        source: int = yield self.value(node.iterable)
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
        test: int = yield self.value(node.test)
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

    def visit_Break(self, node: syntax.Break) -> Steps[None]:
        self._leave(node, self.loops[-1].after)
        return
        yield

    def visit_Continue(self, node: syntax.Continue) -> Steps[None]:
        self._leave(node, self.loops[-1].again)
        return
        yield

    def _leave(self, node: syntax.Statement, label: int) -> None:
        """Go on at a loop's label, with the modes closed that were opened inside."""
        inside = self.modes - self.loops[-1].modes
        if inside:
            self.emit(steps.close_modes(inside), node.span)
        self.jump_always(label, node.span)

    def visit_Pass(self, node: syntax.Pass) -> Steps[None]:
        return
        yield
