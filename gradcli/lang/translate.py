"""Expressions to steps: the compiler's half that computes values.

`value(node, into)` yields the register that will hold the value; the method for a kind
of node is called after its class. With `into` the last step writes there, and no
earlier one does; where several steps may write the result (`and`, a chain of
comparisons, a condition) they write an intermediate register, which is then moved,
because they may still have to read the old value.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from . import steps, syntax
from .code import Step
from .emitter import Emitter
from .errors import ProgramError
from .parser import parse
from .trampoline import Steps

Into = int | None


class Translator(Emitter):
    """Writes the steps of expressions."""

    def value(self, node: syntax.Expression, into: Into = None) -> Steps[int]:
        made: Steps[int] = self.visit(node, into)
        return made

    def _values(self, *nodes: syntax.Expression) -> Steps[tuple[int, ...]]:
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
        """Emit the last step of an expression, whose operands are read for good."""
        self.release(*reads)
        out = self.temporary() if into is None else into
        at = getattr(node, "op_span", node.span)
        self.emit(make(out, reads, *known), at, kind, name, reads)
        return out

    def _deliver(self, result: int, node: syntax.Expression, into: Into) -> int:
        """Move a value to where it is wanted."""
        if into is None or into == result:
            return result
        self.emit(steps.move(into, result), node.span)
        self.release(result)
        return into

    def visit_Literal(self, node: syntax.Literal, into: Into) -> Steps[int]:
        return self._deliver(self.operand(node), node, into)
        yield

    def visit_Name(self, node: syntax.Name, into: Into) -> Steps[int]:
        return self._deliver(self.operand(node), node, into)
        yield

    def visit_Unary(self, node: syntax.Unary, into: Into) -> Steps[int]:
        reads = yield self._values(node.operand)
        known, sign = (node.operator, node.span), node.operator
        return self._finish(
            steps.unary, node, into, reads, *known, kind="operator", name=sign
        )

    def visit_Binary(self, node: syntax.Binary, into: Into) -> Steps[int]:
        reads = yield self._values(node.left, node.right)
        known, sign = (node.operator, node.span, node.op_span), node.operator
        return self._finish(
            steps.binary, node, into, reads, *known, kind="operator", name=sign
        )

    def visit_Compare(self, node: syntax.Compare, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        first, *others = node.operands
        left: int = yield self.value(first)
        right: int = yield self.value(others[0])
        self._compared(node, 0, result, left, right)
        with self.maybe():
            for number, other in enumerate(others[1:], 1):
                self.jump_on(False, result, done, node.op_spans[number - 1])
                left, right = right, (yield self.value(other))
                self._compared(node, number, result, left, right)
        self.release(right)
        self.set_label(done)
        return self._deliver(result, node, into)

    def _compared(
        self, node: syntax.Compare, number: int, out: int, left: int, right: int
    ) -> None:
        """Emit one comparison, and let its left operand be overwritten."""
        sign, at, reads = node.operators[number], node.op_spans[number], (left, right)
        step = steps.binary(out, reads, sign, node.span, at)
        self.emit(step, at, "operator", sign, reads)
        self.release(left)

    def visit_Logic(self, node: syntax.Logic, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        yield self.value(node.operands[0], result)
        with self.maybe():
            for before, operand in pairwise(node.operands):
                self.jump_on(node.operator == "or", result, done, before.span)
                yield self.value(operand, result)
        self.set_label(done)
        return self._deliver(result, node, into)

    def visit_Conditional(self, node: syntax.Conditional, into: Into) -> Steps[int]:
        result, otherwise, done = self.temporary(), self.label(), self.label()
        test: int = yield self.value(node.test)
        self.jump_on(False, test, otherwise, node.test.span)
        self.release(test)
        with self.maybe():
            yield self.value(node.then, result)
            self.jump_always(done, node.span)
        self.set_label(otherwise)
        with self.maybe():
            yield self.value(node.otherwise, result)
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
        known = _names(node), node.span, self.function(name, node.op_span)
        return self._finish(
            steps.call, node, into, reads, *known, kind="function", name=name
        )

    def visit_MethodCall(self, node: syntax.MethodCall, into: Into) -> Steps[int]:
        named = [keyword.value for keyword in node.keywords]
        reads = yield self._values(node.receiver, *node.arguments, *named)
        known = _names(node), node.span, node.method
        return self._finish(
            steps.method, node, into, reads, *known, kind="method", name=node.method
        )

    def visit_Attribute(self, node: syntax.Attribute, into: Into) -> Steps[int]:
        reads = yield self._values(node.value)
        known, kind = (node.name, node.span), "attribute"
        return self._finish(
            steps.attribute, node, into, reads, *known, kind=kind, name=node.name
        )

    def visit_Index(self, node: syntax.Index, into: Into) -> Steps[int]:
        reads = yield self._values(node.value, node.key)
        return self._finish(steps.index, node, into, reads, node.span, kind="index")

    def visit_Slice(self, node: syntax.Slice, into: Into) -> Steps[int]:
        absent = syntax.Literal(node.span, None)
        bounds = (bound or absent for bound in (node.start, node.stop, node.step))
        reads = yield self._values(*bounds)
        make: Callable[..., slice] = lambda bounds: slice(*bounds)
        return self._finish(steps.sequence, node, into, reads, make, kind="index")

    def visit_Sequence(self, node: syntax.Sequence, into: Into) -> Steps[int]:
        reads = yield self._values(*node.items)
        return self._finish(steps.sequence, node, into, reads, node.kind)


def _names(node: syntax.Call | syntax.MethodCall) -> tuple[str, ...]:
    return tuple(keyword.name for keyword in node.keywords)
