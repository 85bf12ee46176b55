"""The syntax tree to a list of steps: running needs neither tree nor recursion.

A variable has one register for the whole program. Where a name may be read before it
was given a value, a `check` stands in front; where the text above shows that it has
one, none does. Expressions write straight into the variable they are assigned to, but
only with their last step, so an error leaves the old value in place. A `mark`
after each statement tells which value the program ends with.

    [origin.name for origin in compile_program(parse("y = x*2")).origins]
    # ['*', '', '']
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from gradcli.lang import steps
from gradcli.lang.code import Code
from gradcli.lang.emitter import Constant
from gradcli.lang.names import assigned_names
from gradcli.lang.span import Span
from gradcli.lang.syntax import (
    Assign,
    Augment,
    Block,
    Break,
    Continue,
    Evaluate,
    For,
    If,
    Pass,
    Program,
    Statement,
    Target,
    While,
    With,
)
from gradcli.lang.trampoline import Steps, bounce
from gradcli.lang.translate import Translator
from gradcli.lang.uncollected import uncollected


def compile_program(
    program: Program, constant: Constant = lambda literal: literal.value
) -> Code:
    """The program's steps.

    Args:
        constant: the value that a literal stands for, if not the number it is read as.
    """
    assigned = frozenset(assigned_names(program))
    compiler = _Compiler(program.source, assigned, constant)
    with uncollected():
        bounce(compiler.block(program.body))
        compiler.emit(steps.end, program.span)
        return compiler.code()


class _Loop(NamedTuple):
    """Where `continue` and `break` go, and how many `with` are open there."""

    again: int
    after: int
    modes: int


class _Compiler(Translator):
    def __init__(
        self, source: str, assigned: frozenset[str], constant: Constant
    ) -> None:
        super().__init__(source, assigned, constant)
        self.loops: list[_Loop] = []
        self.modes = 0
        self.statements: dict[type[Statement], Callable[[Any], Steps[None]]] = {
            Assign: self._assign,
            Augment: self._augment,
            Evaluate: self._evaluate,
            If: self._if,
            For: self._for,
            While: self._while,
            With: self._with,
            Break: self._break,
            Continue: self._continue,
            Pass: self._pass,
        }

    def block(self, block: Block) -> Steps[None]:
        for statement in block.statements:
            yield self.statements[type(statement)](statement)

    def _target(self, target: Target) -> int:
        self.assigned_above.add(target.name)
        self.settled.setdefault(target.name)
        return self.variable(target.name, target.span)

    def _assign(self, node: Assign) -> Steps[None]:
        if node.unpacks:
            value: int = yield self.value(node.value)
            out = self._unpack(value, node.targets, node)
        else:
            register = self.variable(node.targets[0].name, node.targets[0].span)
            value = yield self.value(node.value, register)
            out = self._target(node.targets[0])
        self._mark(out, node, node.targets[-1].name)

    def _unpack(
        self, value: int, targets: tuple[Target, ...], node: Assign | For
    ) -> int:
        registers = tuple(self._target(target) for target in targets)
        at = Span(targets[0].span.start, targets[-1].span.end)
        step = steps.unpack(self.following, registers, value)
        self.emit(step, at, "iterate", "", (value,))
        self.release(value)
        return registers[-1]

    def _augment(self, node: Augment) -> Steps[None]:
        before = self.operand(node.before)
        value: int = yield self.value(node.value)
        self.release(value)
        out = self._target(node.target)
        self.changes = True
        at, sign, reads = node.op_span, node.operator, (before, value)
        step = steps.augment(self.following, out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self._mark(out, node, node.target.name)

    def _evaluate(self, node: Evaluate) -> Steps[None]:
        value: int = yield self.value(node.value)
        self._mark(value, node, None)
        self.release(value)

    def _mark(self, register: int, node: Statement, name: str | None) -> None:
        self.emit(steps.mark(self.following, register, name, node.span), node.span)

    def _if(self, node: If) -> Steps[None]:
        done = self.label()
        mark = 0
        for number, branch in enumerate(node.branches):
            other = self.label()
            test: int = yield self.value(branch.test)
            self.jump_on(False, test, other, branch.test.span)
            self.release(test)
            inner = len(self.settled)
            mark = mark if number else inner
            yield self.block(branch.body)
            self.forget_since(inner)
            self.jump(done, steps.jump, branch.span)
            self.place(other)
        if node.otherwise is not None:
            yield self.block(node.otherwise)
        self.place(done)
        self.forget_since(mark)

    def _for(self, node: For) -> Steps[None]:
        loop = _Loop(self.label(), self.label(), self.modes)
        source: int = yield self.value(node.iterable)
        self.release(source)
        iterator = self.temporary()
        at = node.iterable.span
        step = steps.iterate(self.following, iterator, source)
        self.emit(step, at, "iterate", "", (source,))
        mark = len(self.settled)
        self.place(loop.again)
        item = self.temporary() if node.unpacks else self._target(node.targets[0])
        following = steps.advance(item, iterator)
        self.jump(loop.after, following, at, "iterate", (iterator,))
        if node.unpacks:
            self._unpack(item, node.targets, node)
        yield self._loop_body(node.body, loop)
        self.forget_since(mark)
        self.release(iterator)

    def _while(self, node: While) -> Steps[None]:
        loop = _Loop(self.label(), self.label(), self.modes)
        self.place(loop.again)
        test: int = yield self.value(node.test)
        self.jump_on(False, test, loop.after, node.test.span)
        self.release(test)
        mark = len(self.settled)
        yield self._loop_body(node.body, loop)
        self.forget_since(mark)

    def _loop_body(self, body: Block, loop: _Loop) -> Steps[None]:
        self.loops.append(loop)
        yield self.block(body)
        self.loops.pop()
        self.jump(loop.again, steps.jump, body.span)
        self.place(loop.after)

    def _with(self, node: With) -> Steps[None]:
        self.emit(steps.open_mode(self.following, node.enabled), node.span)
        self.modes += 1
        yield self.block(node.body)
        self.modes -= 1
        self.emit(steps.close_modes(self.following, 1), node.span)

    def _leave(self, node: Statement, destination: int, modes: int) -> None:
        if self.modes > modes:
            step = steps.close_modes(self.following, self.modes - modes)
            self.emit(step, node.span)
        self.jump(destination, steps.jump, node.span)

    def _break(self, node: Break) -> Steps[None]:
        self._leave(node, self.loops[-1].after, self.loops[-1].modes)
        return
        yield

    def _continue(self, node: Continue) -> Steps[None]:
        self._leave(node, self.loops[-1].again, self.loops[-1].modes)
        return
        yield

    def _pass(self, node: Pass) -> Steps[None]:
        return
        yield
