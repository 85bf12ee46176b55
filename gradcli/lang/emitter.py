"""Registers, labels and instructions: what the compiler writes with.

A register holds a variable, a constant, or an intermediate value; those of the last
kind are used again. A label is a place that jumps go to before its index is known.
`settled` tells which variables surely have a value here: an assignment or a passed
`check` adds one, and leaving a part that may not have run takes its additions back.
"""

from gradcli.lang.code import NOWHERE, Code, Instruction, Read
from gradcli.lang.errors import Span
from gradcli.lang.syntax import Literal, Name

JUMPS = frozenset({"jump", "jump_if", "jump_unless", "next"})


class Emitter:
    """Collects the instructions of one program."""

    def __init__(self, source: str, assigned: frozenset[str]) -> None:
        self.source = source
        self.assigned = assigned
        self.instructions: list[Instruction] = []
        self.places: list[int] = []
        self.register_count = 0
        self.spare: list[int] = []
        self.temporaries: set[int] = set()
        self.variables: dict[str, Read] = {}
        self.qualified: dict[str, Read] = {}
        self.constants: dict[tuple[type, object], int] = {}
        self.settled: dict[str, None] = {}

    def emit(
        self,
        name: str,
        span: Span,
        *,
        out: int = NOWHERE,
        ins: tuple[int, ...] = (),
        extra: object = None,
        at: Span | None = None,
    ) -> None:
        self.instructions.append(Instruction(name, out, ins, extra, span, at or span))

    def label(self) -> int:
        self.places.append(NOWHERE)
        return len(self.places) - 1

    def place(self, label: int) -> None:
        self.places[label] = len(self.instructions)

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
            return self.constant(node.value)
        if node.qualified:
            if node.name not in self.qualified:
                self.qualified[node.name] = Read(self._register(), node.span)
            return self.qualified[node.name].register
        register = self.variable(node.name, node.span)
        if node.name in self.assigned and node.name not in self.settled:
            self.emit("check", node.span, ins=(register,), extra=node.name)
            self.settled[node.name] = None
        return register

    def forget_since(self, mark: int) -> None:
        """Drop what was settled since `len(self.settled)` was `mark`."""
        while len(self.settled) > mark:
            self.settled.popitem()

    def code(self) -> Code:
        places = self.places
        return Code(
            self.source,
            tuple(
                step._replace(extra=places[step.extra]) if step.name in JUMPS else step
                for step in self.instructions
            ),
            self.register_count,
            self.variables,
            self.qualified,
            {register: value for (_, value), register in self.constants.items()},
            self.assigned,
        )

    def _register(self) -> int:
        self.register_count += 1
        return self.register_count - 1
