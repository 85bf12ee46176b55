"""Registers, labels and steps: what the compiler writes with.

A register holds a variable, a constant, a function or an intermediate value; those of
the last kind are used again. A label stands for the number of a step that is not known
yet. `settled` tells which variables surely have a value here: an assignment or a passed
`check` adds one, and leaving a part that may not have run takes its additions back.
"""

from collections.abc import Callable

from gradcli.lang import steps
from gradcli.lang.code import Code, Origin, Read, Step
from gradcli.lang.span import Span
from gradcli.lang.syntax import Literal, Name

UNKNOWN = -1
"""The number of a label's step before it is known."""

Constant = Callable[[Literal], object]
"""The value that a literal of the program stands for."""

Jump = Callable[[int, int], Step]
"""A jump, made of its own step's number and of that of its destination."""


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
        self.jumps: list[tuple[int, Jump, int]] = []
        self.destinations: list[int] = []
        self.register_count = 0
        self.spare: list[int] = []
        self.temporaries: set[int] = set()
        self.variables: dict[str, Read] = {}
        self.qualified: dict[str, Read] = {}
        self.functions: dict[str, Read] = {}
        self.constants: dict[tuple[type, object], int] = {}
        self.settled: dict[str, None] = {}
        self.changes = False

    @property
    def following(self) -> int:
        """The number of the step after the one that is emitted next."""
        return len(self.steps) + 1

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
        self, to: int, make: Jump, at: Span, kind: str = "", reads: tuple[int, ...] = ()
    ) -> None:
        """Emit what goes on at a label, or may."""
        self.jumps.append((len(self.steps), make, to))
        self.emit(steps.end, at, kind, "", reads)

    def label(self) -> int:
        self.destinations.append(UNKNOWN)
        return len(self.destinations) - 1

    def place(self, label: int) -> None:
        self.destinations[label] = len(self.steps)

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
        key = (type(value), value)
        if key not in self.constants:
            self.constants[key] = self._register()
        return self.constants[key]

    def variable(self, name: str, span: Span) -> int:
        read = self.variables.get(name)
        if read is None:
            read = self.variables[name] = Read(self._register(), span)
        return read.register

    def operand(self, node: Literal | Name) -> int:
        """The register of a value that needs no computing."""
        if isinstance(node, Literal):
            return self.constant(self.value_of(node))
        if node.qualified:
            if node.name not in self.qualified:
                self.qualified[node.name] = Read(self._register(), node.span)
            return self.qualified[node.name].register
        register = self.variable(node.name, node.span)
        if node.name in self.assigned and node.name not in self.settled:
            self.emit(steps.check(self.following, register, node.name), node.span)
            self.settled[node.name] = None
        return register

    def forget_since(self, mark: int) -> None:
        """Drop what was settled since `len(self.settled)` was `mark`."""
        while len(self.settled) > mark:
            self.settled.popitem()

    def function(self, name: str, at: Span) -> int:
        """The register of a function that is called."""
        if name not in self.functions:
            self.functions[name] = Read(self._register(), at)
        return self.functions[name].register

    def code(self) -> Code:
        for number, make, label in self.jumps:
            self.steps[number] = make(number, self.destinations[label])
        return Code(
            self.source,
            tuple(self.steps),
            tuple(self.origins),
            self.register_count,
            self.variables,
            self.qualified,
            self.functions,
            {register: value for (_, value), register in self.constants.items()},
            self.assigned,
            self.changes,
        )

    def _register(self) -> int:
        self.register_count += 1
        return self.register_count - 1
