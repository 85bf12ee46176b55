"""The machine's instruction set: one binder per instruction.

A binder receives the frame, the instruction, its index and the program's functions,
and returns the step: a function of no arguments that does the work and returns the
index of the next instruction. What can be decided once is decided in the binder, so
that a step in a loop does only its work. A step writes its register last: an error
leaves every register as it was.
"""

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from gradcli.lang import arithmetic, values
from gradcli.lang.arithmetic import NUMBERS
from gradcli.lang.code import Instruction
from gradcli.lang.errors import ProgramError
from gradcli.lang.frame import UNSET, Frame
from gradcli.lang.library import Library

Step = Callable[[], int]
Functions = Mapping[str, Callable[..., Any]]
Binder = Callable[[Frame, Instruction, int, Functions], Step]


def _check(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, (source,), name, following = frame.registers, it.ins, it.extra, index + 1

    def step() -> int:
        if registers[source] is UNSET:
            message = f"'{name}' has no value yet"
            hint = "the assignment to it did not run; give it a value first"
            raise ProgramError("E107", message, hint=hint)
        return following

    return step


def _move(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source,), following = frame.registers, it.out, it.ins, index + 1

    def step() -> int:
        registers[out] = registers[source]
        return following

    return step


def _mark(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, (source,), name, span = frame.registers, it.ins, it.extra, it.span
    following, trace = index + 1, frame.trace

    def step() -> int:
        frame.last_value = registers[source]
        frame.last_name = name
        frame.last_span = span
        return following

    def traced_step() -> int:
        trace_it = trace
        assert trace_it is not None
        step()
        trace_it(span, name, registers[source])
        return following

    return step if trace is None else traced_step


def _end(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    return lambda: -1


Operator = Callable[[Any, Any], Any]


def _changing(library: Library, operator: Operator) -> Operator:
    """An operator that changes its left operand in place."""

    def run(a: Any, b: Any) -> Any:
        with library.changing():
            return operator(a, b)

    return run


def _binary_with(
    table: Mapping[str, Operator],
    within: Callable[[Library, Operator], Operator] = lambda library, operator: (
        operator
    ),
) -> Binder:
    def bind(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
        registers, out, (left, right) = frame.registers, it.out, it.ins
        sign, span, following = it.extra, it.span, index + 1
        function = within(frame.library, table[sign])
        on_result = frame.library.on_result
        foreign, admit, compute, at = frame.foreign, frame.admit, frame.compute, it.at

        def step() -> int:
            a, b = registers[left], registers[right]
            if type(a) not in foreign or type(b) not in foreign:
                if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
                    registers[out] = compute(sign, a, b, at)
                    return following
                admit(a)
                admit(b)
            result = function(a, b)
            on_result(result, span)
            registers[out] = result
            return following

        return step

    return bind


def _unary(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source,), following = frame.registers, it.out, it.ins, index + 1
    on_result, admit, span = frame.library.on_result, frame.admit, it.span
    truth = frame.truth

    def negation() -> int:
        registers[out] = not truth(registers[source])
        return following

    if it.extra == "not":
        return negation
    function = arithmetic.SIGNS[it.extra]

    def step() -> int:
        value = registers[source]
        admit(value)
        result = function(value)
        if not isinstance(value, NUMBERS):
            on_result(result, span)
        registers[out] = result
        return following

    return step


def _gather(ins: tuple[int, ...]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """Reads several registers at once."""
    if len(ins) > 1:
        return itemgetter(*ins)
    if not ins:
        return lambda registers: ()
    (only,) = ins
    return lambda registers: (registers[only],)


def _call(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, span, following = frame.registers, it.out, it.span, index + 1
    function, on_result = functions[it.extra.name], frame.library.on_result
    keywords = it.extra.keywords
    count = len(it.ins) - len(keywords)
    gather, gather_named = _gather(it.ins[:count]), _gather(it.ins[count:])

    def step() -> int:
        result = function(*gather(registers))
        on_result(result, span)
        registers[out] = result
        return following

    def step_with_keywords() -> int:
        named = dict(zip(keywords, gather_named(registers), strict=True))
        result = function(*gather(registers), **named)
        on_result(result, span)
        registers[out] = result
        return following

    return step_with_keywords if keywords else step


def _method(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, span, following = frame.registers, it.out, it.span, index + 1
    receiver, name, keywords = it.ins[0], it.extra.name, it.extra.keywords
    count = len(it.ins) - len(keywords)
    gather, gather_named = _gather(it.ins[1:count]), _gather(it.ins[count:])
    library, on_result = frame.library, frame.library.on_result
    find = values.method_finder(library, name)

    def step() -> int:
        method = find(registers[receiver])
        named = dict(zip(keywords, gather_named(registers), strict=True))
        result = method(*gather(registers), **named)
        on_result(result, span)
        registers[out] = result
        return following

    return step


def _attribute(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source,), following = frame.registers, it.out, it.ins, index + 1
    library, name, span = frame.library, it.extra, it.span

    def step() -> int:
        result = values.attribute(library, registers[source], name)
        library.on_result(result, span)
        registers[out] = result
        return following

    return step


def _index(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source, key) = frame.registers, it.out, it.ins
    on_result, span, following = frame.library.on_result, it.span, index + 1

    def step() -> int:
        result = values.item(registers[source], registers[key])
        on_result(result, span)
        registers[out] = result
        return following

    return step


def _slice(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, following = frame.registers, it.out, index + 1
    start, stop, pace = it.ins

    def step() -> int:
        registers[out] = slice(registers[start], registers[stop], registers[pace])
        return following

    return step


def _sequence(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, following = frame.registers, it.out, index + 1
    kind, gather = it.extra, _gather(it.ins)

    def step() -> int:
        registers[out] = kind(gather(registers))
        return following

    return step


def _jump(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    destination: int = it.extra
    cost = index - destination + 1
    limit = frame.max_steps

    def forward() -> int:
        return destination

    def backward() -> int:
        frame.steps += cost
        if frame.steps > limit:
            message = f"the program ran for more than {limit:,} steps"
            raise ProgramError("E401", message, hint="does the loop ever end?")
        return destination

    return backward if cost > 0 else forward


def _jump_on(wanted: bool) -> Binder:
    def bind(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
        registers, (source,), destination = frame.registers, it.ins, it.extra
        truth, following = frame.truth, index + 1

        def step() -> int:
            value = registers[source]
            if value is not True and value is not False:
                value = truth(value)
            return destination if value is wanted else following

        return step

    return bind


def _iterate(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source,), following = frame.registers, it.out, it.ins, index + 1
    library = frame.library

    def step() -> int:
        registers[out] = values.iterator(library, registers[source])
        return following

    return step


def _next(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, out, (source,), following = frame.registers, it.out, it.ins, index + 1
    after: int = it.extra

    def step() -> int:
        items: Iterator[Any] = registers[source]
        for item in items:
            registers[out] = item
            return following
        return after

    return step


def _unpack(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    registers, (source,), outs = frame.registers, it.ins, it.extra
    library, following = frame.library, index + 1

    def step() -> int:
        items = values.unpacked(library, registers[source], len(outs))
        for out, item in zip(outs, items, strict=True):
            registers[out] = item
        return following

    return step


def _open_mode(frame: Frame, it: Instruction, index: int, functions: Functions) -> Step:
    enabled, following = it.extra, index + 1

    def step() -> int:
        frame.open_mode(enabled)
        return following

    return step


def _close_modes(
    frame: Frame, it: Instruction, index: int, functions: Functions
) -> Step:
    count, following = it.extra, index + 1

    def step() -> int:
        frame.close_modes(count)
        return following

    return step


BINDERS: dict[str, Binder] = {
    "check": _check,
    "move": _move,
    "mark": _mark,
    "end": _end,
    "unary": _unary,
    "binary": _binary_with(arithmetic.OPERATORS),
    "augment": _binary_with(arithmetic.IN_PLACE, _changing),
    "call": _call,
    "method": _method,
    "attribute": _attribute,
    "index": _index,
    "slice": _slice,
    "sequence": _sequence,
    "jump": _jump,
    "jump_if": _jump_on(True),
    "jump_unless": _jump_on(False),
    "iterate": _iterate,
    "next": _next,
    "unpack": _unpack,
    "open_mode": _open_mode,
    "close_modes": _close_modes,
}
