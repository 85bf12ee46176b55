"""Flat code: what a program compiles to and the machine runs.

Every instruction reads registers `ins`, writes register `out` (or none: `NOWHERE`),
and knows two stretches of text: `span`, the whole expression, and `at`, the operator
or the called name, where an error points. Registers hold variables, constants and
intermediate values alike; `extra` is what else the instruction needs, for a jump the
index of its destination.
"""

from typing import Any, NamedTuple

from gradcli.lang.errors import Span
from gradcli.lang.record import Record

NOWHERE = -1


class Instruction(NamedTuple):
    """One step of the machine."""

    name: str
    out: int
    ins: tuple[int, ...]
    extra: Any
    span: Span
    at: Span


class Called(NamedTuple):
    """What a call or method call needs besides its arguments."""

    name: str
    keywords: tuple[str, ...]


class Read(NamedTuple):
    """A variable or qualified constant: its register and where it is first read."""

    register: int
    span: Span


class Code(Record):
    """A compiled program."""

    source: str
    instructions: tuple[Instruction, ...]
    register_count: int
    variables: dict[str, Read]
    qualified: dict[str, Read]
    constants: dict[int, object]
    assigned: frozenset[str]
