"""The machine, which runs the steps of compiled programs without recursion.

It handles control flow and plain numbers; every other value, function, method and
attribute comes from a library, `gradcli.lang.tensor_library.TensorLibrary` or one with
the same methods. So the same program can run on tensors, on symbols or on numbers of
any precision.

A register holds a variable, a constant, a called function or an intermediate value. An
exception in a step becomes a `ProgramError` that points at the operator or call; only
Ctrl-C passes through. Work is bounded by `max_steps`, which counts the steps of a loop
each time that it starts over.

    code = compile_program(parse("y = x*2"))
    Machine(code, {"x": 3.0}, library).run().value          # 6.0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import islice, zip_longest
from operator import itemgetter
from types import EllipsisType, FrameType, NoneType
from typing import Any, NamedTuple

from ..ops.records import record
from . import plain
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError
from .excerpt import Span
from .fields import COORDINATES, FieldDerivative
from .foreign import written_out
from .lexicon import (
    CALLS_LEFT_OUT,
    METHODS_LEFT_OUT,
    MISSING_ATTRIBUTES,
    MISSING_METHODS,
)
from .maxima import MAX_STEPS
from .plain import IN_PLACE, NUMBERS, OPERATORS, SIGNS, Number, described
from .process import is_out_of_memory, relieve
from .suggest import did_you_mean
from .syntax import Name, Note

Trace = Callable[[Span, str | None, object], None]

Registers = list[Any]

Step = Callable[[Registers, "Machine"], int | None]
"""A function that runs a step and returns the number of the step to run then, or None.
"""


class StepSource(NamedTuple):
    """The text and the operands of a step, which errors in the step refer to.

    at      the span of the operator or the called name, which an error points at
    kind    operator, function, derivative, method, attribute, index, iterate, truth, or
            empty
    name    the operator's sign or the name that is called
    reads   the registers of its operands
    """

    at: Span
    kind: str
    name: str
    reads: tuple[int, ...]


class Read(NamedTuple):
    """The register of a name, and the span where the program first uses the name."""

    register: int
    span: Span


@record
class Code:
    """A compiled program.

    steps, origins  a step and its origin for every operation, in order
    qualified       names of constants that have a prefix, such as `math.`
    functions       the names that are called
    changes         whether the program changes a value in place
    notes           the parser's notes on ambiguous text, which say how it was read
    derived_by      the names that the program itself takes derivatives by
    """

    source: str
    steps: tuple[Step, ...]
    origins: tuple[StepSource, ...]
    register_count: int
    variables: dict[str, Read]
    qualified: dict[str, Read]
    functions: dict[str, Read]
    constants: dict[int, object]
    assigned: frozenset[str]
    changes: bool
    notes: tuple[Note, ...] = ()
    derived_by: frozenset[str] = frozenset()


class Unset:
    """The class of the content of a variable before it has a value."""


UNSET = Unset()

_WITHOUT_OPERATORS = (
    *(str, bytes, list, tuple, dict, set, range, slice),
    *(NoneType, EllipsisType, Unset),
)


@record
class ProgramResult:
    """The values that a program ended with.

    `value` is the value of the last statement, `name` the name that it was assigned to
    (None for a bare expression), `span` its span; None if no statement had a value.
    """

    environment: dict[str, object]
    value: object
    name: str | None
    span: Span | None
    notes: tuple[Note, ...]


class Machine:
    """A program linked to a library once, which can be run any number of times.

    Each run starts from the same registers and does not depend on earlier runs; `trace`
    is called with the span, name and value of every statement. `last` is the value, the
    name and the span of the last statement that was run.

    Raises:
        ProgramError: the program calls an unknown function, or reads a name that
            nothing defines.
    """

    def __init__(
        self,
        code: Code,
        env: Mapping[str, object],
        library: Any,
        *,
        max_steps: int = MAX_STEPS,
        trace: Trace | None = None,
    ) -> None:
        self._code = code
        self._env = dict(env)
        self.library = library
        self.on_result = library.on_result
        self.max_steps = max_steps
        self.trace = trace
        # A library of exact numbers computes with plain numbers itself.
        self.arithmetic = getattr(library, "arithmetic", plain.binary)
        # Types of operands that are left to the library, each added when first met.
        self.foreign: set[type] = set()
        self.modes: list[AbstractContextManager[object]] = []
        self._start = self._bound()

    def rebind(self, values: Mapping[str, object]) -> None:
        """Replace values of the environment, from the next run on."""
        self._env.update(values)
        for name, value in values.items():
            self._start[self._code.variables[name].register] = value

    def run(self) -> ProgramResult:
        """Run the program from its first step, and return its result.

        Raises `ProgramError` and, if the user interrupts, `KeyboardInterrupt`.
        """
        code, position, steps = self._code, 0, self._code.steps
        registers, end = list(self._start), len(steps)
        if code.changes:
            registers = [self.library.copied(value) for value in registers]
        for name in code.derived_by:
            at = code.variables[name].register
            if registers[at] is not UNSET:
                registers[at] = self.library.followed(registers[at])
        self.steps = 0
        self.notes: dict[Note, None] = {}
        self.last: tuple[object, str | None, Span | None] = (None, None, None)
        # A GPU's checks are put off until here, where their place is known.
        doubts = getattr(self.library, "doubts", ())
        try:
            while position < end:
                jump = steps[position](registers, self)
                if doubts:
                    self.library.settle()
                position = position + 1 if jump is None else jump
        except ProgramError as error:
            if error.span is None and not error.source:
                error.span, error.source = code.origins[position].at, code.source
            raise error from error.__cause__
        except Exception as error:
            if is_out_of_memory(error):
                relieve()
            raise self._worded(error, code.origins[position], registers) from error
        finally:
            self.close_modes(len(self.modes))
        final = dict(self._env)
        for name, read in code.variables.items():
            value = registers[read.register]
            if name in code.assigned and value is not UNSET:
                final[name] = value
        return ProgramResult(final, *self.last, tuple(self.notes))

    def compute(self, sign: str, left: Number, right: Number, at: Span) -> object:
        """Return an operator's value on two plain numbers; note a division by zero."""

        def note(message: str) -> None:
            self.notes[Note(message, at)] = None

        return self.arithmetic(sign, left, right, note)

    def admitted(self, value: object) -> object:
        """Return the value as an operand; a list of numbers becomes a vector.

        Raises:
            ProgramError: the value cannot be an operand.
        """
        if isinstance(value, list):
            value = self.as_vector(value)
        if isinstance(value, _WITHOUT_OPERATORS):
            kind = described(value)
            inside = isinstance(value, (list, tuple))
            hint = "write tensor([...])" if inside else "use numbers and tensors"
            raise ProgramError("E301", f"{kind} cannot be an operand", hint=hint)
        if not isinstance(value, NUMBERS):
            self.foreign.add(type(value))
        return value

    def as_vector(self, value: list[object]) -> object:
        """Return the vector that the library makes of a list, or else the list."""
        made = self.library.vector(value)
        return value if made is None else made

    def truth(self, value: object) -> bool:
        """Return the truth of a value; refuse a list, a string or a range."""
        if isinstance(value, (*NUMBERS, NoneType)):
            return bool(value)
        if isinstance(value, _WITHOUT_OPERATORS):
            message = f"{described(value)} is neither true nor false"
            raise ProgramError("E305", message, hint="compare it: a > b")
        return bool(self.library.truth(value))

    def open_mode(self, enabled: bool) -> None:
        """Turn recording on or off, until the mode is closed."""
        mode = self.library.grad_mode(enabled)
        mode.__enter__()
        self.modes.append(mode)

    def close_modes(self, count: int) -> None:
        """Close the ``count`` modes that were opened last."""
        for _ in range(count):
            self.modes.pop().__exit__(None, None, None)

    def _worded(
        self, error: Exception, origin: StepSource, registers: Registers
    ) -> ProgramError:
        """Return an exception from outside the language as an error at a step."""
        at, kind, name, reads = origin
        args = tuple(registers[register] for register in reads)
        found = None
        # A failure of `explain` must not hide the error to be explained.
        with suppress(Exception):
            found = self.library.explain(error, kind, name, args)
        if found is None:
            text = str(error) or "no reason was given"
            found = "E399", f"{type(error).__name__}: {text}", None
            if is_out_of_memory(error):
                found = "E403", NO_MEMORY, MORE_MEMORY
            elif isinstance(error, RecursionError):
                found = "E404", "a value is nested too deeply", "nest it less deeply"
        code, message, hint = found
        return ProgramError(code, message, at, self._code.source, hint=hint)

    def _bound(self) -> Registers:
        """Return the registers as they are before the first step."""
        code, env, constants = self._code, self._env, self.library.constants
        registers: Registers = [UNSET] * code.register_count
        for register, value in code.constants.items():
            registers[register] = value
        for name, read in code.qualified.items():
            if name not in constants:
                raise self._unknown_name(name, read.span)
            registers[read.register] = constants[name]
        for name, read in code.variables.items():
            if name in env or name in constants:
                values = env if name in env else constants
                registers[read.register] = values[name]
            elif name not in code.assigned:
                raise self._unknown_name(name, read.span)
        for name, read in code.functions.items():
            registers[read.register] = self._function(name, read.span)
        return registers

    def _function(self, name: str, at: Span) -> Callable[..., object]:
        """Return the function of a name: the library's, or Python's own one for plain
        numbers and else the library's."""
        given = self.library.functions.get(name) or plain.CONVERSIONS.get(name)
        if name not in plain.FUNCTIONS:
            if given is None:
                raise self._unknown_function(name, at)
            function: Callable[..., object] = given
            return function

        def either(*args: object, **keywords: object) -> object:
            if not keywords and all(map(plain.is_plain, args)):
                found = plain.called(name, args, self.arithmetic)
                if found is not NotImplemented:
                    return found
            if given is None:
                message = f"'{name}' takes numbers or a list of numbers here"
                raise ProgramError("E302", message)
            return given(*args, **keywords)

        return either

    def _unknown_function(self, name: str, at: Span) -> ProgramError:
        source = self._code.source
        if name in CALLS_LEFT_OUT:
            message = f"'{name}' is not part of the language"
            return ProgramError("E106", message, at, source, hint=CALLS_LEFT_OUT[name])
        text = written_out(name, source, at)
        if text is not None:
            message = f"'{name}' is not a function here"
            return ProgramError("E101", message, at, source, hint=f"write {text}")
        callables = {*self.library.functions, *plain.FUNCTIONS}
        found = did_you_mean(name, callables)
        if f"linalg.{name}" in callables:
            found = f"did you mean 'linalg.{name}'?"
        found = found or did_you_mean(name.rpartition(".")[2], callables)
        hint = found or "'gradcli ops' lists all functions"
        return ProgramError("E101", f"unknown name '{name}'", at, source, hint=hint)

    def _unknown_name(self, name: str, at: Span) -> ProgramError:
        source, functions = self._code.source, self.library.functions
        if name in functions or name in plain.FUNCTIONS:
            message = f"'{name}' is a function, and it is used as a value"
            hint = f"call it: {name}(x)"
            return ProgramError("E105", message, at, source, hint=hint)
        names = {*self._env, *self.library.constants, *self._code.assigned}
        hint = did_you_mean(name, names) or f"give it a value: {name}=VALUE"
        return ProgramError("E101", f"unknown name '{name}'", at, source, hint=hint)


def running_at(frame: FrameType | None) -> tuple[Span, str] | None:
    """Return the span and the text of the program's step that a thread is running; None
    if it runs no program. ``frame`` is the newest frame of the thread, which must not
    run meanwhile."""
    while frame is not None:
        if frame.f_code is Machine.run.__code__:
            code, position = map(frame.f_locals.get, ("code", "position"))
            if code is not None and position is not None:
                for origin in code.origins[position : position + 1]:
                    return origin.at, code.source
        frame = frame.f_back
    return None


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
    gather = _gather(reads)

    def step(registers: Registers, machine: Machine) -> None:
        result = function(machine, *gather(registers))
        if span is not None:
            machine.on_result(result, span)
        registers[out] = result

    return step


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
        function = registers[first] if find is None else find(machine, registers[first])
        named = dict(zip(names, gather_named(registers), strict=True))
        result = function(*gather(registers), **named)
        machine.on_result(result, span)
        registers[out] = result

    return step


def derivative(names: Sequence[Name]) -> Operation:
    """Return an operation that gives the derivative of its first operand by each of the
    others in turn; these are the values of ``names``."""

    def value_of(machine: Machine, value: object, *inputs: object) -> object:
        for name, given in zip(names, inputs, strict=True):
            value = machine.library.derivative(value, given, name.name)
        return value

    return value_of


def field_derivative(field: FieldDerivative, at: Sequence[Name | None]) -> Operation:
    """Return an operation that gives the derivative of a field, its first operand; the
    others are the values of the coordinates that there are."""

    def value_of(machine: Machine, value: object, *inputs: object) -> object:
        there = iter(inputs)
        letters = zip_longest(COORDINATES, at)
        known = [
            (letter, None) if name is None else (name.name, next(there))
            for letter, name in islice(letters, len(at))
        ]
        named = field.by is not None
        return machine.library.field_derivative(field.kind, value, known, named)

    return value_of


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
