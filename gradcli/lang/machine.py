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

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import EllipsisType, FrameType, NoneType
from typing import Any, NamedTuple

from . import plain
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError
from .excerpt import Span
from .foreign import written_out
from .lexicon import CALLS_LEFT_OUT
from .maxima import MAX_STEPS
from .plain import NUMBERS, Number, described
from .process import is_out_of_memory, relieve
from .suggest import did_you_mean
from .syntax import Note

Trace = Callable[[Span, str | None, object], None]

Registers = list[Any]

Step = Callable[[Registers, "Machine"], int | None]
"""A function that runs a step and returns the number of the step to run then, or None.
"""


class StepSource(NamedTuple):
    """The text and the operands of a step, which errors in the step refer to.

    at      the span of the operator or the called name, which an error points at
    kind    operator, function, method, attribute, index, iterate, truth, or empty
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


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A compiled program.

    steps, origins  a step and its origin for every operation, in order
    qualified       names of constants that have a prefix, such as `math.`
    functions       the names that are called
    changes         whether the program changes a value in place
    notes           the parser's notes on ambiguous text, which say how it was read
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


class Unset:
    """The class of the content of a variable before it has a value."""


UNSET = Unset()

_WITHOUT_OPERATORS = (
    *(str, bytes, list, tuple, dict, set, range, slice),
    *(NoneType, EllipsisType, Unset),
)


@dataclass(frozen=True, slots=True, eq=False)
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
        self.steps = 0
        self.notes: dict[Note, None] = {}
        self.last: tuple[object, str | None, Span | None] = (None, None, None)
        try:
            while position < end:
                jump = steps[position](registers, self)
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
