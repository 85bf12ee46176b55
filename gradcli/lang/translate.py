"""Expressions to flat code: the compiler's half that computes values.

`value(node, into)` yields the register that will hold the value. With `into` the last
instruction writes there, and no earlier one does; where several instructions may write
the result (`and`, a chain of comparisons, a condition) they write an intermediate
register, which is then moved, because they may still have to read the old value.
"""

from collections.abc import Callable
from typing import Any

from gradcli.lang import syntax
from gradcli.lang.code import Called
from gradcli.lang.emitter import Emitter
from gradcli.lang.errors import ProgramError
from gradcli.lang.trampoline import Steps

Into = int | None
Handler = Callable[[Any, Into], Steps[int]]


class Translator(Emitter):
    """Writes the instructions of expressions."""

    def __init__(self, source: str, assigned: frozenset[str]) -> None:
        super().__init__(source, assigned)
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
        self.emit("move", node.span, out=into, ins=(source,))
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
        name: str,
        node: Any,
        into: Into,
        ins: tuple[int, ...],
        extra: object = None,
    ) -> int:
        """The last instruction of an expression: its operands are done with."""
        self.release(*ins)
        out = self.temporary() if into is None else into
        at = getattr(node, "op_span", None)
        self.emit(name, node.span, out=out, ins=ins, extra=extra, at=at)
        return out

    def _unary(self, node: syntax.Unary, into: Into) -> Steps[int]:
        ins = yield self._all((node.operand,))
        return self._finish("unary", node, into, ins, node.operator)

    def _binary(self, node: syntax.Binary, into: Into) -> Steps[int]:
        ins = yield self._all((node.left, node.right))
        return self._finish("binary", node, into, ins, node.operator)

    def _compare(self, node: syntax.Compare, into: Into) -> Steps[int]:
        if len(node.operators) == 1:
            ins = yield self._all(node.operands)
            return self._finish("binary", node, into, ins, node.operators[0])
        result, done = self.temporary(), self.label()
        left: int = yield self.value(node.operands[0])
        mark = len(self.settled)
        last = len(node.operators) - 1
        for number, sign in enumerate(node.operators):
            right: int = yield self.value(node.operands[number + 1])
            at = node.op_spans[number]
            self.emit(
                "binary", node.span, out=result, ins=(left, right), extra=sign, at=at
            )
            if number == 0:
                mark = len(self.settled)
            if number < last:
                self.emit("jump_unless", node.span, ins=(result,), extra=done, at=at)
            self.release(left)
            left = right
        self.release(left)
        self.place(done)
        self.forget_since(mark)
        return self._deliver(result, node, into)

    def _logic(self, node: syntax.Logic, into: Into) -> Steps[int]:
        result, done = self.temporary(), self.label()
        jump = "jump_unless" if node.operator == "and" else "jump_if"
        mark = len(self.settled)
        for number, operand in enumerate(node.operands):
            if number:
                before = node.operands[number - 1].span
                self.emit(jump, before, ins=(result,), extra=done)
            yield self.value(operand, result)
            if number == 0:
                mark = len(self.settled)
        self.place(done)
        self.forget_since(mark)
        return self._deliver(result, node, into)

    def _conditional(self, node: syntax.Conditional, into: Into) -> Steps[int]:
        result, otherwise, done = self.temporary(), self.label(), self.label()
        test: int = yield self.value(node.test)
        self.emit("jump_unless", node.test.span, ins=(test,), extra=otherwise)
        self.release(test)
        mark = len(self.settled)
        yield self.value(node.then, result)
        self.emit("jump", node.span, extra=done)
        self.forget_since(mark)
        self.place(otherwise)
        yield self.value(node.otherwise, result)
        self.forget_since(mark)
        self.place(done)
        return self._deliver(result, node, into)

    def _deliver(self, result: int, node: syntax.Expression, into: Into) -> int:
        if into is None:
            return result
        self.emit("move", node.span, out=into, ins=(result,))
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
        ins = yield self._all(node.arguments + _values(node.keywords))
        called = Called(node.function, tuple(k.name for k in node.keywords))
        return self._finish("call", node, into, ins, called)

    def _method_call(self, node: syntax.MethodCall, into: Into) -> Steps[int]:
        parts = (node.receiver, *node.arguments, *_values(node.keywords))
        ins = yield self._all(parts)
        called = Called(node.method, tuple(k.name for k in node.keywords))
        return self._finish("method", node, into, ins, called)

    def _attribute(self, node: syntax.Attribute, into: Into) -> Steps[int]:
        ins = yield self._all((node.value,))
        return self._finish("attribute", node, into, ins, node.name)

    def _index(self, node: syntax.Index, into: Into) -> Steps[int]:
        ins = yield self._all((node.value, node.key))
        return self._finish("index", node, into, ins)

    def _slice(self, node: syntax.Slice, into: Into) -> Steps[int]:
        absent = syntax.Literal(node.span, None)
        bounds = (node.start or absent, node.stop or absent, node.step or absent)
        ins = yield self._all(bounds)
        return self._finish("slice", node, into, ins)

    def _sequence(self, node: syntax.Sequence, into: Into) -> Steps[int]:
        ins = yield self._all(node.items)
        return self._finish("sequence", node, into, ins, node.kind)


def _values(keywords: tuple[syntax.Keyword, ...]) -> tuple[syntax.Expression, ...]:
    return tuple(keyword.value for keyword in keywords)
