"""Functions that return the steps of a program, and the operations that steps apply.

Each decides as much as possible when the program is compiled, so that a step in a loop
does only its work. A step reads and writes registers by number; it writes last, so that
an error leaves every register as it was.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from .errors import ProgramError
from .excerpt import Span
from .lexicon import METHODS_LEFT_OUT, MISSING_ATTRIBUTES, MISSING_METHODS
from .machine import UNSET, Machine, Registers, Step
from .plain import IN_PLACE, NUMBERS, OPERATORS, SIGNS, described
from .suggest import did_you_mean

Reads = tuple[int, ...]

Operation = Callable[..., object]
"""A function of the machine and of operands, which returns a step's value."""

Label = list[int]
"""The number of the step that a jump leads to; empty until it is known."""


def refuse(message: str, hint: str) -> Step:
    """Return a step that raises the error that a library's function is not computed at
    its operands."""

    def step(registers: Registers, machine: Machine) -> None:
        raise ProgramError("E108", message, hint=hint)

    return step


def operation(
    out: int, reads: Reads, function: Operation, span: Span | None = None
) -> Step:
    """Return a step that writes an operation's value, and reports it to the library as
    the value of the text at ``span``, if that is given."""
    first, second = (*reads, 0, 0)[:2]
    gather = _gather(reads)

    def of_two(registers: Registers, machine: Machine) -> object:
        return function(machine, registers[first], registers[second])

    def of_many(registers: Registers, machine: Machine) -> object:
        return function(machine, *gather(registers))

    value = of_two if len(reads) == 2 else of_many

    def silent(registers: Registers, machine: Machine) -> None:
        registers[out] = value(registers, machine)

    def of_one(registers: Registers, machine: Machine) -> None:
        result = function(machine, registers[first])
        machine.on_result(result, span)
        registers[out] = result

    def step(registers: Registers, machine: Machine) -> None:
        result = value(registers, machine)
        machine.on_result(result, span)
        registers[out] = result

    if span is None:
        return silent
    return of_one if len(reads) == 1 else step


def call(
    out: int,
    reads: Reads,
    names: tuple[str, ...],
    span: Span,
    find: Callable[[Machine, Any], Callable[..., object]] | None,
) -> Step:
    """Return a step that calls a function with the operands behind the first, the last
    of them under ``names``; ``find`` returns the function from the first operand, which
    is the function itself without it."""
    first, *others = reads
    count = len(others) - len(names)
    gather, gather_named = _gather(others[:count]), _gather(others[count:])

    def step(registers: Registers, machine: Machine) -> None:
        result = registers[first](*gather(registers))
        machine.on_result(result, span)
        registers[out] = result

    def run_step(registers: Registers, machine: Machine) -> None:
        assert find is not None
        result = find(machine, registers[first])(*gather(registers))
        machine.on_result(result, span)
        registers[out] = result

    def named(registers: Registers, machine: Machine) -> None:
        function = registers[first] if find is None else find(machine, registers[first])
        last = dict(zip(names, gather_named(registers), strict=True))
        result = function(*gather(registers), **last)
        machine.on_result(result, span)
        registers[out] = result

    if names:
        return named
    return step if find is None else run_step


def _gather(reads: Sequence[int]) -> Callable[[Registers], tuple[object, ...]]:
    """Return a function that returns the values of several registers as a tuple."""
    if len(reads) > 1:
        return itemgetter(*reads)
    if not reads:
        return lambda registers: ()
    (only,) = reads
    return lambda registers: (registers[only],)


def check(source: int, name: str) -> Step:
    """Return a step that raises an error if a variable has no value yet."""

    def step(registers: Registers, machine: Machine) -> None:
        if registers[source] is UNSET:
            message = f"'{name}' has no value yet"
            hint = "the assignment to it did not run; give it a value first"
            raise ProgramError("E107", message, hint=hint)

    return step


def mark(source: int, name: str | None, span: Span) -> Step:
    """Return a step that records a statement's value as the program's value so far."""

    def step(registers: Registers, machine: Machine) -> None:
        machine.last = registers[source], name, span
        if machine.trace is not None:
            machine.trace(span, name, registers[source])

    return step


def binary(out: int, reads: Reads, sign: str, span: Span, at: Span) -> Step:
    function = OPERATORS[sign]
    left, right = reads

    def step(registers: Registers, machine: Machine) -> None:
        a, b = registers[left], registers[right]
        foreign = machine.foreign
        if type(a) not in foreign or type(b) not in foreign:
            if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
                registers[out] = machine.compute(sign, a, b, at)
                return
            a, b = machine.admitted(a), machine.admitted(b)
        result = function(a, b)
        machine.on_result(result, span)
        registers[out] = result

    return step


def augment(out: int, reads: Reads, sign: str, span: Span, at: Span) -> Step:
    """Return a step for `a += b`; it changes `a` in place unless both are numbers."""
    left, right = reads

    def step(registers: Registers, machine: Machine) -> None:
        a, b = registers[left], registers[right]
        if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
            registers[out] = machine.compute(sign, a, b, at)
            return
        a, b = machine.admitted(a), machine.admitted(b)
        with machine.library.changing():
            result = IN_PLACE[sign](a, b)
        machine.on_result(result, span)
        registers[out] = result

    return step


def jump(label: Label, cost: int) -> Step:
    """Return a step that jumps; a jump backward adds ``cost`` to the counted steps."""

    def forward(registers: Registers, machine: Machine) -> int:
        return label[0]

    def backward(registers: Registers, machine: Machine) -> int:
        machine.steps += cost
        if machine.steps > machine.max_steps:
            message = f"the program ran for more than {machine.max_steps:,} steps"
            raise ProgramError("E401", message, hint="does the loop ever end?")
        return label[0]

    return backward if cost else forward


def jump_on(label: Label, wanted: bool, source: int) -> Step:
    """Return a step that jumps if the truth of a value is ``wanted``."""

    def step(registers: Registers, machine: Machine) -> int | None:
        value = registers[source]
        if value is not True and value is not False:
            value = machine.truth(value)
        return label[0] if value is wanted else None

    return step


def advance(label: Label, out: int, source: int) -> Step:
    """Return a step that writes an iterator's next item, or jumps if there is none."""

    def step(registers: Registers, machine: Machine) -> int | None:
        for item in registers[source]:
            registers[out] = item
            return None
        return label[0]

    return step


def unpack(outs: tuple[int, ...], source: int) -> Step:
    """Return a step that writes the items of a value to several registers; it refuses
    another number of items."""

    def step(registers: Registers, machine: Machine) -> None:
        iterator = iterate(machine, registers[source])
        items = list(islice(iterator, len(outs) + 1))
        if len(items) != len(outs):
            found = "more" if len(items) > len(outs) else str(len(items))
            message = f"{len(outs)} names on the left, but {found} values"
            raise ProgramError("E306", message, hint="one name for each value")
        for out, item in zip(outs, items, strict=True):
            registers[out] = item

    return step


def unary(sign: str) -> Operation:
    if sign == "not":
        return lambda machine, value: not machine.truth(value)
    function = SIGNS[sign]
    return lambda machine, value: function(machine.admitted(value))


def method(name: str) -> Callable[[Machine, object], Callable[..., object]]:
    """Return a function that gives the method `name` of a value."""

    def look_up(machine: Machine, value: object) -> Callable[..., object]:
        library = machine.library
        if isinstance(value, list):
            value = machine.as_vector(value)
        if name in METHODS_LEFT_OUT:
            message = f"'.{name}()' is not called here"
            raise ProgramError("E106", message, hint=METHODS_LEFT_OUT[name])
        made: Callable[..., object] | None = library.method(value, name)
        if made is not None:
            return made
        hint, plain = MISSING_METHODS.get(name), name.rstrip("_")
        if library.attribute(value, name)[0]:
            hint = f"it is an attribute: write .{name} without ()"
        elif not hint and plain != name and library.method(value, plain) is not None:
            hint = f"a method gives a new value: write y = y.{plain}(...)"
        hint = hint or did_you_mean(name, library.method_names(value))
        hint = hint or "'gradcli ops' lists all functions"
        message = f"{described(value)} has no method '{name}'"
        raise ProgramError("E103", message, hint=hint)

    return look_up


def attribute(name: str) -> Operation:
    """Return an operation that gives the attribute `name` of its operand."""

    def value_of(machine: Machine, value: object) -> object:
        library = machine.library
        if isinstance(value, list):
            value = machine.as_vector(value)
        found, result = library.attribute(value, name)
        if found:
            return result
        hint = MISSING_ATTRIBUTES.get(name)
        if library.method(value, name) is not None:
            hint = f"it is a method: write .{name}()"
        hint = hint or did_you_mean(name, library.method_names(value))
        hint = hint or "'gradcli ops' lists all functions"
        message = f"{described(value)} has no attribute '{name}'"
        raise ProgramError("E104", message, hint=hint)

    return value_of


def item(machine: Machine, value: Any, key: Any) -> Any:
    """Return `value[key]`; refuse a value without elements, or an unfit key."""
    if isinstance(value, (*NUMBERS, str)) or value is None:
        message = f"{described(value)} cannot be indexed"
        raise ProgramError("E304", message, hint="only tensors and lists have elements")
    if not isinstance(value, list | tuple | range):
        return value[key]
    try:
        return value[key]
    except IndexError:
        message = f"index {key} is outside a list of {len(value)}"
        raise ProgramError("E304", message, hint="counting starts at 0") from None
    except (TypeError, ValueError):
        message = f"{described(key)} is no index of a list"
        hint = "write tensor([...]) to index by several keys"
        raise ProgramError("E304", message, hint=hint) from None


def iterate(machine: Machine, value: Any) -> Iterator[object]:
    """Return an iterator over a value's items; refuse a value that has none."""
    if isinstance(value, (*NUMBERS, str)) or value is None:
        message = f"a loop cannot run over {described(value)}"
        raise ProgramError("E306", message, hint="write range(n)")
    return iter(value)
