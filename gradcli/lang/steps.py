"""The steps that a program is made of, each as a function that makes it.

A maker receives the number of the following step, then registers, then what else is
known when the program is compiled; what can be decided there is decided there, so that
a step in a loop does only its work. A step writes its register last: an error leaves
every register as it was.
"""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from gradcli.lang import arithmetic, values
from gradcli.lang.arithmetic import NUMBERS
from gradcli.lang.code import Step
from gradcli.lang.errors import ProgramError
from gradcli.lang.frame import UNSET, Frame
from gradcli.lang.span import Span

Registers = list[Any]
Reads = tuple[int, ...]


def check(following: int, source: int, name: str) -> Step:
    """See that a variable has a value."""

    def step(registers: Registers, frame: Frame) -> int:
        if registers[source] is UNSET:
            message = f"'{name}' has no value yet"
            hint = "the assignment to it did not run; give it a value first"
            raise ProgramError("E107", message, hint=hint)
        return following

    return step


def move(following: int, out: int, source: int) -> Step:
    def step(registers: Registers, frame: Frame) -> int:
        registers[out] = registers[source]
        return following

    return step


def mark(following: int, source: int, name: str | None, span: Span) -> Step:
    """End a statement, whose value is the program's if it is the last."""

    def step(registers: Registers, frame: Frame) -> int:
        frame.last_value = registers[source]
        frame.last_name = name
        frame.last_span = span
        if frame.trace is not None:
            frame.trace(span, name, registers[source])
        return following

    return step


def end(registers: Registers, frame: Frame) -> int:
    return -1


def binary(
    following: int, out: int, reads: Reads, sign: str, span: Span, at: Span
) -> Step:
    function = arithmetic.OPERATORS[sign]
    left, right = reads

    def step(registers: Registers, frame: Frame) -> int:
        a, b = registers[left], registers[right]
        foreign = frame.foreign
        if type(a) not in foreign or type(b) not in foreign:
            if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
                registers[out] = frame.compute(sign, a, b, at)
                return following
            frame.admit(a)
            frame.admit(b)
        result = function(a, b)
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def augment(
    following: int, out: int, reads: Reads, sign: str, span: Span, at: Span
) -> Step:
    """Change the left operand in place, where it is no plain number."""
    function = arithmetic.IN_PLACE[sign]
    left, right = reads

    def step(registers: Registers, frame: Frame) -> int:
        a, b = registers[left], registers[right]
        if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
            registers[out] = frame.compute(sign, a, b, at)
            return following
        frame.admit(a)
        frame.admit(b)
        with frame.library.changing():
            result = function(a, b)
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def unary(following: int, out: int, reads: Reads, sign: str, span: Span) -> Step:
    (source,) = reads

    def negation(registers: Registers, frame: Frame) -> int:
        registers[out] = not frame.truth(registers[source])
        return following

    if sign == "not":
        return negation
    function = arithmetic.SIGNS[sign]

    def step(registers: Registers, frame: Frame) -> int:
        value = registers[source]
        frame.admit(value)
        result = function(value)
        if not isinstance(value, NUMBERS):
            frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def _gather(reads: Reads) -> Callable[[Registers], tuple[Any, ...]]:
    """Reads several registers at once."""
    if len(reads) > 1:
        return itemgetter(*reads)
    if not reads:
        return lambda registers: ()
    (only,) = reads
    return lambda registers: (registers[only],)


def call(
    following: int, out: int, reads: Reads, keywords: tuple[str, ...], span: Span,
    called: int,
) -> Step:  # fmt: skip
    """Call a function; the last operands are those given by ``keywords``."""
    count = len(reads) - len(keywords)
    gather, gather_named = _gather(reads[:count]), _gather(reads[count:])

    def step(registers: Registers, frame: Frame) -> int:
        result = registers[called](*gather(registers))
        frame.on_result(result, span)
        registers[out] = result
        return following

    def step_with_keywords(registers: Registers, frame: Frame) -> int:
        named = dict(zip(keywords, gather_named(registers), strict=True))
        result = registers[called](*gather(registers), **named)
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step_with_keywords if keywords else step


def method(
    following: int, out: int, reads: Reads, keywords: tuple[str, ...], span: Span,
    name: str,
) -> Step:  # fmt: skip
    """Call a method of the first operand."""
    count = len(reads) - len(keywords)
    receiver, gather, gather_named = (
        reads[0],
        _gather(reads[1:count]),
        _gather(reads[count:]),
    )

    def step(registers: Registers, frame: Frame) -> int:
        found = values.method(frame.library, registers[receiver], name)
        named = dict(zip(keywords, gather_named(registers), strict=True))
        result = found(*gather(registers), **named)
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def attribute(following: int, out: int, reads: Reads, name: str, span: Span) -> Step:
    (source,) = reads

    def step(registers: Registers, frame: Frame) -> int:
        result = values.attribute(frame.library, registers[source], name)
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def index(following: int, out: int, reads: Reads, span: Span) -> Step:
    source, key = reads

    def step(registers: Registers, frame: Frame) -> int:
        result = values.item(registers[source], registers[key])
        frame.on_result(result, span)
        registers[out] = result
        return following

    return step


def bounds(following: int, out: int, reads: Reads) -> Step:
    """A slice, of its start, stop and step."""
    gather = itemgetter(*reads)

    def step(registers: Registers, frame: Frame) -> int:
        registers[out] = slice(*gather(registers))
        return following

    return step


def sequence(
    following: int, out: int, reads: Reads, kind: Callable[[tuple[Any, ...]], Any]
) -> Step:
    gather = _gather(reads)

    def step(registers: Registers, frame: Frame) -> int:
        registers[out] = kind(gather(registers))
        return following

    return step


def jump(number: int, destination: int) -> Step:
    """Go on elsewhere; going back counts as the steps that are run again."""
    cost = number - destination + 1

    def forward(registers: Registers, frame: Frame) -> int:
        return destination

    def backward(registers: Registers, frame: Frame) -> int:
        frame.steps += cost
        if frame.steps > frame.max_steps:
            message = f"the program ran for more than {frame.max_steps:,} steps"
            raise ProgramError("E401", message, hint="does the loop ever end?")
        return destination

    return backward if cost > 0 else forward


def jump_on(wanted: bool, source: int) -> Callable[[int, int], Step]:
    """A jump if a value is true, or if it is not."""

    def make(number: int, destination: int) -> Step:
        following = number + 1

        def step(registers: Registers, frame: Frame) -> int:
            value = registers[source]
            if value is not True and value is not False:
                value = frame.truth(value)
            return destination if value is wanted else following

        return step

    return make


def iterate(following: int, out: int, source: int) -> Step:
    """Begin to go through a value."""

    def step(registers: Registers, frame: Frame) -> int:
        registers[out] = values.iterator(frame.library, registers[source])
        return following

    return step


def advance(out: int, source: int) -> Callable[[int, int], Step]:
    """Take the next item; a jump if there is none."""

    def make(number: int, destination: int) -> Step:
        following = number + 1

        def step(registers: Registers, frame: Frame) -> int:
            items: Iterator[Any] = registers[source]
            for item in items:
                registers[out] = item
                return following
            return destination

        return step

    return make


def unpack(following: int, outs: tuple[int, ...], source: int) -> Step:
    def step(registers: Registers, frame: Frame) -> int:
        items = values.unpacked(frame.library, registers[source], len(outs))
        for out, item in zip(outs, items, strict=True):
            registers[out] = item
        return following

    return step


def open_mode(following: int, enabled: bool) -> Step:
    def step(registers: Registers, frame: Frame) -> int:
        frame.open_mode(enabled)
        return following

    return step


def close_modes(following: int, count: int) -> Step:
    def step(registers: Registers, frame: Frame) -> int:
        frame.close_modes(count)
        return following

    return step
