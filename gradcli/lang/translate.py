"""Expressions to steps: the compiler's half that computes values.

`value(node, into)` yields the register that will hold the value. With `into` the last
step writes there, and no earlier one does; where several steps may write the result
(`and`, a chain of comparisons, a condition) they write an intermediate register, which
is then moved, because they may still have to read the old value.
"""

from collections.abc import Callable
from typing import Any

from gradcli.lang import steps, syntax
from gradcli.lang.code import Step
from gradcli.lang.emitter import Constant, Emitter
from gradcli.lang.errors import ProgramError
from gradcli.lang.span import Span
from gradcli.lang.trampoline import Steps

Into = int | None
Handler = Callable[[Any, Into], Steps[int]]


class Translator(Emitter):
    """Writes the steps of expressions."""

    def __init__(
        self, source: str, assigned: frozenset[str], constant: Constant
    ) -> None:
        super().__init__(source, assigned, constant)
        self.assigned_above: set[str] = set()
        self.handlers: dict[type[syntax.Expression], Handler] = {
            syntax.Unary: self._unary,
            syntax.Binary: self._binary,
            syntax.Compare: self._compare,
            syntax.Logic: self._logic,
            syntax.Conditional: self._conditional,
            syntax.Call: self._call,
            syntax.MethodCall: self._method_call,
            syntax.Attribute: self._attribute,
            syntax.Index: self._index,
            syntax.Slice: self._slice,
            syntax.Sequence: self._sequence,
        }

    def value(self, node: syntax.Expression, into: Into = None) -> Steps[int]:
        if isinstance(node, syntax.Literal | syntax.Name):
            return self._lone(node, into)
        return self.handlers[type(node)](node, into)

    def _lone(self, node: syntax.Literal | syntax.Name, into: Into) -> Steps[int]:
        source = self.operand(node)
        if into is None or into == source:
            return source
        self.emit(steps.move(self.following, into, source), node.span)
        return into
        yield

    def _all(self, nodes: tuple[syntax.Expression, ...]) -> Steps[tuple[int, ...]]:
        registers = []
        for node in nodes:
            if isinstance(node, syntax.Literal | syntax.Name):
                registers.append(self.operand(node))
            else:
                registers.append((yield self.value(node)))
        return tuple(registers)

    def _finish(
        self,
        make: Callable[..., Step],
        node: Any,
        into: Into,
        reads: tuple[int, ...],
        *known: object,
        kind: str = "",
        name: str = "",
    ) -> int:
        """The last step of an expression: its operands are done with."""
        self.release(*reads)
        out = self.temporary() if into is None else into
        at = getattr(node, "op_span", node.span)
        self.emit(make(self.following, out, reads, *known), at, kind, name, reads)
        return out

    def _operator(
        self, node: Any, into: Into, reads: tuple[int, ...], sign: str, at: Span
    ) -> int:
        known = sign, node.span, at
        kind = "operator"
        return self._finish(
            steps.binary, node, into, reads, *known, kind=kind, name=sign
        )

    def _unary(self, node: syntax.Unary, into: Into) -> Steps[int]:
        reads = yield self._all((node.operand,))
        sign = node.operator
        return self._finish(
            steps.unary, node, into, reads, sign, node.span, kind="operator", name=sign
        )

    def _binary(self, node: syntax.Binary, into: Into) -> Steps[int]:
        reads = yield self._all((node.left, node.right))
        return self._operator(node, into, reads, node.operator, node.op_span)

    def _compare(self, node: syntax.Compare, into: Into) -> Steps[int]:
        if len(node.operators) == 1:
            reads = yield self._all(node.operands)
            return self._operator(node, into, reads, node.operators[0], node.op_span)
        result, done = self.temporary(), self.label()
        left: int = yield self.value(node.operands[0])
        mark = len(self.settled)
        last = len(node.operators) - 1
        for number, sign in enumerate(node.operators):
            right: int = yield self.value(node.operands[number + 1])
            at = node.op_spans[number]
            reads = left, right
            step = steps.binary(self.following, result, reads, sign, node.span, at)
            self.emit(step, at, "operator", sign, reads)
            if number == 0:
                mark = len(self.settled)
            if number < last:
                self.jump_on(False, result, done, at)
            self.release(left)
            left = right
        self.release(left)
        self.place(done)
        self.forget_since(mark)
        return self._deliver(result, node, into)

    def _logic(self, node: syntax.Logic, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        ending = node.operator == "or"
        mark = len(self.settled)
        for number, operand in enumerate(node.operands):
            if number:
                before = node.operands[number - 1].span
                self.jump_on(ending, result, done, before)
            yield self.value(operand, result)
            if number == 0:
                mark = len(self.settled)
        self.place(done)
        self.forget_since(mark)
        return self._deliver(result, node, into)

    def _conditional(self, node: syntax.Conditional, into: Into) -> Steps[int]:
        result, otherwise, done = self.temporary(), self.label(), self.label()
        test: int = yield self.value(node.test)
        self.jump_on(False, test, otherwise, node.test.span)
        self.release(test)
        mark = len(self.settled)
        yield self.value(node.then, result)
        self.jump(done, steps.jump, node.span)
        self.forget_since(mark)
        self.place(otherwise)
        yield self.value(node.otherwise, result)
        self.forget_since(mark)
        self.place(done)
        return self._deliver(result, node, into)

    def _deliver(self, result: int, node: syntax.Expression, into: Into) -> int:
        if into is None:
            return result
        self.emit(steps.move(self.following, into, result), node.span)
        self.release(result)
        return into

    def _call(self, node: syntax.Call, into: Into) -> Steps[int]:
        if node.function in self.assigned_above:
            raise ProgramError(
                "E102",
                f"'{node.function}' is a value here, not a function",
                node.op_span,
                self.source,
                hint=f"it is assigned above; to multiply, write {node.function}*(...)",
            )
        reads = yield self._all(node.arguments + _values(node.keywords))
        called = self.function(node.function, node.op_span)
        known = _names(node.keywords), node.span, called
        kind, name = "function", node.function
        return self._finish(steps.call, node, into, reads, *known, kind=kind, name=name)

    def _method_call(self, node: syntax.MethodCall, into: Into) -> Steps[int]:
        parts = (node.receiver, *node.arguments, *_values(node.keywords))
        reads = yield self._all(parts)
        known = _names(node.keywords), node.span, node.method
        kind, name = "method", node.method
        return self._finish(
            steps.method, node, into, reads, *known, kind=kind, name=name
        )

    def _attribute(self, node: syntax.Attribute, into: Into) -> Steps[int]:
        reads = yield self._all((node.value,))
        known = node.name, node.span
        kind, name = "attribute", node.name
        return self._finish(
            steps.attribute, node, into, reads, *known, kind=kind, name=name
        )

    def _index(self, node: syntax.Index, into: Into) -> Steps[int]:
        reads = yield self._all((node.value, node.key))
        return self._finish(steps.index, node, into, reads, node.span, kind="index")

    def _slice(self, node: syntax.Slice, into: Into) -> Steps[int]:
        absent = syntax.Literal(node.span, None)
        bounds = (node.start or absent, node.stop or absent, node.step or absent)
        reads = yield self._all(bounds)
        return self._finish(steps.bounds, node, into, reads, kind="index")

    def _sequence(self, node: syntax.Sequence, into: Into) -> Steps[int]:
        reads = yield self._all(node.items)
        return self._finish(steps.sequence, node, into, reads, node.kind)

    def jump_on(self, wanted: bool, source: int, to: int, at: Span) -> None:
        """Go to a label if a value is ``wanted``."""
        self.jump(to, steps.jump_on(wanted, source), at, "truth", (source,))


def _names(keywords: tuple[syntax.Keyword, ...]) -> tuple[str, ...]:
    return tuple(keyword.name for keyword in keywords)


def _values(keywords: tuple[syntax.Keyword, ...]) -> tuple[syntax.Expression, ...]:
    return tuple(keyword.value for keyword in keywords)
