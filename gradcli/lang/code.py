"""What a program compiles to: a step for each operation, and where its text stands.

Registers hold variables, constants, called functions and intermediate values alike.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .excerpt import Span
from .frame import Frame
from .record import Record
from .syntax import Note

Registers = list[Any]

Step = Callable[[Registers, Frame], int | None]
"""A step, which returns the number of the step to go on with; None: the next one."""


class Origin(NamedTuple):
    """The text and the operands that a step was made from, for errors in it.

    at      the operator or the called name, where an error points
    kind    what it does: operator, function, method, attribute, index, iterate, truth
    name    the operator's sign or the name that is called
    reads   the registers of its operands
    """

    at: Span
    kind: str
    name: str
    reads: tuple[int, ...]


class Read(NamedTuple):
    """A name: its register and where it is first read."""

    register: int
    span: Span


class Code(Record):
    """A compiled program.

    steps, origins  one of each for every operation
    functions       the names that are called
    changes         whether it changes a value in place
    notes           how its text was read where people read it in two ways
    """

    source: str
    steps: tuple[Step, ...]
    origins: tuple[Origin, ...]
    register_count: int
    variables: dict[str, Read]
    qualified: dict[str, Read]
    functions: dict[str, Read]
    constants: dict[int, object]
    assigned: frozenset[str]
    changes: bool
    notes: tuple[Note, ...] = ()
