"""Functions that return the steps of a program.

Each decides as much as possible when the program is compiled, so that a step in a loop
does only its work. A step reads and writes registers by number; it writes last, so that
an error leaves every register as it was. It returns the number of the step to run after
it, or None for the next one.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any

from . import arithmetic
from .arithmetic import NUMBERS
from .code import Registers, Step
from .errors import ProgramError
from .excerpt import Span
from .frame import UNSET, Frame, Library, described
from .lexicon import METHODS_LEFT_OUT, MISSING_ATTRIBUTES, MISSING_METHODS
from .suggest import did_you_mean

Reads = tuple[int, ...]
Value = Callable[[Registers, Frame], object]
"""A function that returns a step's value, computed from the registers."""

Called = Callable[[Registers, Frame], Callable[..., object]]
"""A function that returns the function that a step calls."""


def write(out: int, value: Value) -> Step:
    """Return a step that writes a value, without reporting it to the library."""

    def step(registers: Registers, frame: Frame) -> None:
        registers[out] = value(registers, frame)

    return step


def write_result(out: int, span: Span, value: Value) -> Step:
    """Return a step that writes an operation's result and reports it to the library."""

    def step(registers: Registers, frame: Frame) -> None:
        result = value(registers, frame)
        frame.on_result(result, span)
        registers[out] = result

    return step


def check(source: int, name: str) -> Step:
    """Return a step that raises an error if a variable has no value yet."""

    def step(registers: Registers, frame: Frame) -> None:
        if registers[source] is UNSET:
            message = f"'{name}' has no value yet"
            hint = "the assignment to it did not run; give it a value first"
            raise ProgramError("E107", message, hint=hint)

    return step


def move(out: int, source: int) -> Step:
    return write(out, lambda registers, frame: registers[source])


def mark(source: int, name: str | None, span: Span) -> Step:
    """Return a step that records a statement's value as the program's value so far."""

    def step(registers: Registers, frame: Frame) -> None:
        frame.last_value = registers[source]
        frame.last_name = name
        frame.last_span = span
        if frame.trace is not None:
            frame.trace(span, name, registers[source])

    return step


def binary(out: int, reads: Reads, sign: str, span: Span, at: Span) -> Step:
    function = arithmetic.OPERATORS[sign]
    left, right = reads

    def step(registers: Registers, frame: Frame) -> None:
        a, b = registers[left], registers[right]
        foreign = frame.foreign
        if type(a) not in foreign or type(b) not in foreign:
            if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
                registers[out] = frame.compute(sign, a, b, at)
                return
            a, b = frame.admitted(a), frame.admitted(b)
        result = function(a, b)
        frame.on_result(result, span)
        registers[out] = result

    return step


def augment(out: int, reads: Reads, sign: str, span: Span, at: Span) -> Step:
    """Return a step for `a += b`; it changes `a` in place unless both are numbers."""
    function = arithmetic.IN_PLACE[sign]
    left, right = reads

    def step(registers: Registers, frame: Frame) -> None:
        a, b = registers[left], registers[right]
        if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
            registers[out] = frame.compute(sign, a, b, at)
            return
        a, b = frame.admitted(a), frame.admitted(b)
        with frame.library.changing():
            result = function(a, b)
        frame.on_result(result, span)
        registers[out] = result

    return step


def unary(out: int, reads: Reads, sign: str, span: Span) -> Step:
    (source,) = reads
    if sign == "not":
        return write(out, lambda registers, frame: not frame.truth(registers[source]))
    function = arithmetic.SIGNS[sign]

    def value(registers: Registers, frame: Frame) -> object:
        return function(frame.admitted(registers[source]))

    return write_result(out, span, value)


def _gather(reads: Reads) -> Callable[[Registers], tuple[object, ...]]:
    """Return a function that returns the values of several registers as a tuple."""
    if len(reads) > 1:
        return itemgetter(*reads)
    if not reads:
        return lambda registers: ()
    (only,) = reads
    return lambda registers: (registers[only],)


def _call(
    out: int, reads: Reads, keywords: tuple[str, ...], span: Span, called: Called
) -> Step:
    """Return a step that calls the function that ``called`` returns; the last operands
    are passed under the names ``keywords``."""
    count = len(reads) - len(keywords)
    gather, gather_named = _gather(reads[:count]), _gather(reads[count:])

    def value(registers: Registers, frame: Frame) -> object:
        return called(registers, frame)(*gather(registers))

    def value_with_keywords(registers: Registers, frame: Frame) -> object:
        named = dict(zip(keywords, gather_named(registers), strict=True))
        return called(registers, frame)(*gather(registers), **named)

    return write_result(out, span, value_with_keywords if keywords else value)


def call(
    out: int, reads: Reads, keywords: tuple[str, ...], span: Span, called: int
) -> Step:
    """Return a step that calls the function in the register ``called``."""
    return _call(out, reads, keywords, span, lambda registers, _: registers[called])


def method(
    out: int, reads: Reads, keywords: tuple[str, ...], span: Span, name: str
) -> Step:
    """Return a step that calls a method of the first operand."""
    receiver, *arguments = reads

    def found(registers: Registers, frame: Frame) -> Callable[..., object]:
        value = registers[receiver]
        if isinstance(value, list):
            value = frame.as_vector(value)
        return _method_of(frame.library, value, name)

    return _call(out, tuple(arguments), keywords, span, found)


def attribute(out: int, reads: Reads, name: str, span: Span) -> Step:
    (source,) = reads

    def value(registers: Registers, frame: Frame) -> object:
        value = registers[source]
        if isinstance(value, list):
            value = frame.as_vector(value)
        return _attribute_of(frame.library, value, name)

    return write_result(out, span, value)


def index(out: int, reads: Reads, span: Span) -> Step:
    source, key = reads
    item: Value = lambda registers, _: _item_of(registers[source], registers[key])
    return write_result(out, span, item)


def sequence(
    out: int, reads: Reads, kind: Callable[[tuple[object, ...]], object]
) -> Step:
    """Return a step that writes a list, a tuple or a slice of several registers."""
    gather = _gather(reads)
    return write(out, lambda registers, _: kind(gather(registers)))


def jump(destination: int, cost: int) -> Step:
    """Return a step that jumps; a jump backward adds ``cost`` to the counted steps."""

    def forward(registers: Registers, frame: Frame) -> int:
        return destination

    def backward(registers: Registers, frame: Frame) -> int:
        frame.steps += cost
        if frame.steps > frame.max_steps:
            message = f"the program ran for more than {frame.max_steps:,} steps"
            raise ProgramError("E401", message, hint="does the loop ever end?")
        return destination

    return backward if cost > 0 else forward


def jump_on(destination: int, wanted: bool, source: int) -> Step:
    """Return a step that jumps if the truth of a value is ``wanted``."""

    def step(registers: Registers, frame: Frame) -> int | None:
        value = registers[source]
        if value is not True and value is not False:
            value = frame.truth(value)
        return destination if value is wanted else None

    return step


def iterate(out: int, source: int) -> Step:
    """Return a step that writes an iterator over the items of a value."""
    return write(out, lambda registers, _: _iterator_of(registers[source]))


def advance(destination: int, out: int, source: int) -> Step:
    """Return a step that writes an iterator's next item, or jumps if there is none."""

    def step(registers: Registers, frame: Frame) -> int | None:
        items = registers[source]
        for item in items:
            registers[out] = item
            return None
        return destination

    return step


def unpack(outs: tuple[int, ...], source: int) -> Step:
    """Return a step that writes the items of a value to several registers; it refuses
    another number of items."""

    def step(registers: Registers, frame: Frame) -> None:
        iterator = _iterator_of(registers[source])
        items = list(islice(iterator, len(outs) + 1))
        if len(items) != len(outs):
            found = "more" if len(items) > len(outs) else str(len(items))
            message = f"{len(outs)} names on the left, but {found} values"
            raise ProgramError("E306", message, hint="one name for each value")
        for out, item in zip(outs, items, strict=True):
            registers[out] = item

    return step


def open_mode(enabled: bool) -> Step:
    return lambda registers, frame: frame.open_mode(enabled)


def close_modes(count: int) -> Step:
    return lambda registers, frame: frame.close_modes(count)


def _method_of(library: Library, value: object, name: str) -> Callable[..., object]:
    """Return the method `name` of a value; refuse a method that it does not have."""
    if name in METHODS_LEFT_OUT:
        message = f"'.{name}()' is not called here"
        raise ProgramError("E106", message, hint=METHODS_LEFT_OUT[name])
    found = library.method(value, name)
    if found is not None:
        return found
    hint, plain = MISSING_METHODS.get(name), name.rstrip("_")
    if library.attribute(value, name)[0]:
        hint = f"it is an attribute: write .{name} without ()"
    elif not hint and plain != name and library.method(value, plain) is not None:
        hint = f"a method gives a new value: write y = y.{plain}(...)"
    hint = hint or did_you_mean(name, library.method_names(value))
    raise ProgramError("E103", f"{described(value)} has no method '{name}'", hint=hint)


def _attribute_of(library: Library, value: object, name: str) -> object:
    """Return the attribute `name` of a value; refuse one that it does not have."""
    found, result = library.attribute(value, name)
    if found:
        return result
    hint = MISSING_ATTRIBUTES.get(name)
    if library.method(value, name) is not None:
        hint = f"it is a method: write .{name}()"
    hint = hint or did_you_mean(name, library.method_names(value))
    message = f"{described(value)} has no attribute '{name}'"
    raise ProgramError("E104", message, hint=hint)


def _item_of(value: Any, key: Any) -> Any:
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


def _iterator_of(value: Any) -> Iterator[object]:
    """Return an iterator over a value's items; refuse a value that has none."""
    if isinstance(value, (*NUMBERS, str)) or value is None:
        message = f"a loop cannot run over {described(value)}"
        raise ProgramError("E306", message, hint="write range(n)")
    return iter(value)
