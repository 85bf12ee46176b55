"""Registers, labels and steps: what the compiler writes with.

A register holds a variable, a constant, a function or an intermediate value; those of
the last kind are used again. A label stands for the number of a step that is not known
yet. `has_value` lists the variables that surely have a value here: an assignment or a
passed `check` adds one, and what is added in a part that may not run (`maybe`) is
removed after it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import steps
from .code import Code, Origin, Read, Step
from .span import Span
from .syntax import Literal, Name, Node, Note

Constant = Callable[[Literal], object]
"""The value that a literal of the program stands for."""

Jump = Callable[[int], Step]
"""Makes a jump from the number of the step that it leads to."""


class Emitter:
    """Collects the steps of one program."""

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
        self.visitors: dict[type[Node], Callable[..., object]] = {}
        self.changes = False

    def visit(self, node: Node, *given: object) -> Any:
        """What the method does that is called after the node's class."""
        kind = type(node)
        visitor = self.visitors.get(kind)
        if visitor is None:
            visitor = self.visitors[kind] = getattr(self, f"visit_{kind.__name__}")
        return visitor(node, *given)

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
        """Emit a step that goes on at a label, or may."""
        self.jumps[len(self.steps)] = make, to
        self.emit(_unmade, at, kind, "", reads)

    def jump_always(self, to: int, at: Span) -> None:
        number = len(self.steps)
        self.jump(to, lambda there: steps.jump(there, number - there + 1), at, "")

    def jump_on(self, wanted: bool, source: int, to: int, at: Span) -> None:
        """Go on at a label if the truth of a value is ``wanted``."""
        make = lambda there: steps.jump_on(there, wanted, source)
        self.jump(to, make, at, "truth", (source,))

    def label(self) -> int:
        self.labels.append(-1)
        return len(self.labels) - 1

    def set_label(self, label: int) -> None:
        """Let a label stand for the next step."""
        self.labels[label] = len(self.steps)

    @contextmanager
    def maybe(self) -> Iterator[None]:
        """What is emitted inside may not run."""
        before = len(self.has_value)
        yield
        while len(self.has_value) > before:
            self.has_value.popitem()

    def temporary(self) -> int:
        register = self.spare.pop() if self.spare else self._register()
        self.temporaries.add(register)
        return register

    def release(self, *registers: int) -> None:
        """Let intermediate values be overwritten; other registers are kept."""
        for register in registers:
            if register in self.temporaries:
                self.temporaries.remove(register)
                self.spare.append(register)

    def constant(self, value: object) -> int:
        # Two exact numbers may have one float.
        key = (type(value), getattr(value, "args", value))
        if key not in self.constants:
            self.constants[key] = self._register(), value
        return self.constants[key][0]

    def variable(self, name: str, span: Span) -> int:
        return self._read(self.variables, name, span)

    def function(self, name: str, at: Span) -> int:
        """The register of a function that is called."""
        return self._read(self.functions, name, at)

    def operand(self, node: Literal | Name) -> int:
        """The register of a value that needs no computing."""
        if isinstance(node, Literal):
            return self.constant(self.value_of(node))
        if node.qualified:
            return self._read(self.qualified, node.name, node.span)
        register = self.variable(node.name, node.span)
        if node.name in self.assigned and node.name not in self.has_value:
            self.emit(steps.check(register, node.name), node.span)
            self.has_value[node.name] = None
        return register

    def code(self, notes: tuple[Note, ...] = ()) -> Code:
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
        """The register of a name, which is new where it is first read."""
        if name not in known:
            known[name] = Read(self._register(), span)
        return known[name].register

    def _register(self) -> int:
        self.register_count += 1
        return self.register_count - 1


def _unmade(registers: object, frame: object) -> None:
    """Stands where a jump will be, until the numbers of all steps are known."""
