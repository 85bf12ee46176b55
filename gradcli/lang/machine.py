"""The machine, which runs the steps of compiled programs without recursion.

An exception in a step becomes a `ProgramError` that points at the operator or call;
only Ctrl-C passes through. Work is bounded by `max_steps`, which counts the steps of a
loop each time that it starts over.

    code = compile_program(parse("y = x*2"))
    Machine(code, {"x": 3.0}, library).run().value          # 6.0
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType

from . import plain
from .arithmetic import binary
from .code import Code
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError
from .excerpt import Span
from .frame import UNSET, Frame, Library
from .lexicon import CALLS_LEFT_OUT
from .maxima import MAX_STEPS
from .parser import parse
from .process import is_out_of_memory, relieve
from .record import Record
from .suggest import before_function, did_you_mean, other_spelling
from .syntax import Note as Note

Trace = Callable[[Span, str | None, object], None]


class Result(Record):
    """The values that a program ended with.

    `value` is the value of the last statement, `name` the name that it was assigned to
    (None for a bare expression), `span` its span; None if no statement had a value.
    """

    environment: dict[str, object]
    value: object
    name: str | None
    span: Span | None
    notes: tuple[Note, ...]
    steps: int


class Machine:
    """A program linked to a library once, which can be run any number of times.

    Each run starts from the same registers and does not depend on earlier runs; `trace`
    is called with the span, name and value of every statement.
    """

    def __init__(
        self,
        code: Code,
        env: Mapping[str, object],
        library: Library,
        *,
        max_steps: int = MAX_STEPS,
        trace: Trace | None = None,
    ) -> None:
        self._code = code
        self._env = dict(env)
        self._start = bind_registers(code, env, library)
        self._own = library.own if code.changes else None
        self._frame = Frame(library, max_steps, trace)

    def rebind(self, values: Mapping[str, object]) -> None:
        """Replace values of the environment, from the next run on."""
        self._env.update(values)
        for name, value in values.items():
            self._start[self._code.variables[name].register] = value

    def run(self) -> Result:
        """Run the program from its first step, and return its result.

        Raises `ProgramError` and, if the user interrupts, `KeyboardInterrupt`.
        """
        code, frame, own, position = self._code, self._frame, self._own, 0
        steps, registers = code.steps, list(self._start)
        end = len(steps)
        if own is not None:
            registers = [own(value) for value in registers]
        frame.restart()
        try:
            while position < end:
                jump = steps[position](registers, frame)
                position = position + 1 if jump is None else jump
        except ProgramError as error:
            if error.span is None and not error.source:
                error.span, error.source = code.origins[position].at, code.source
            raise error from error.__cause__
        except Exception as error:
            if is_out_of_memory(error):
                relieve()
            raise _worded(error, code, position, registers, frame) from error
        finally:
            frame.close_modes(len(frame.modes))
        final = dict(self._env)
        for name, read in code.variables.items():
            value = registers[read.register]
            if name in code.assigned and value is not UNSET:
                final[name] = value
        notes = tuple(Note(message, span) for message, span in frame.notes)
        last = frame.last_value, frame.last_name, frame.last_span
        return Result(final, *last, notes, frame.steps)


def running_at(frame: FrameType | None) -> tuple[Span, str] | None:
    """Return the span and the text of the program's step that a thread is running; None
    if it runs no program.

    Args:
        frame: the newest frame of the thread, which must not run meanwhile.
    """
    while frame is not None:
        if frame.f_code is Machine.run.__code__:
            code, position = map(frame.f_locals.get, ("code", "position"))
            if code is not None and position is not None:
                for origin in code.origins[position : position + 1]:
                    return origin.at, code.source
        frame = frame.f_back
    return None


def _worded(
    error: Exception, code: Code, position: int, registers: list[object], frame: Frame
) -> ProgramError:
    """Return an exception from outside the language as an error at this step."""
    at, kind, name, reads = code.origins[position]
    args = tuple(registers[register] for register in reads)
    found = None
    # A failure of `explain` must not hide the error to be explained.
    with suppress(Exception):
        found = frame.library.explain(error, kind, name, args)
    if found is not None:
        number, message, hint = found
    elif is_out_of_memory(error):
        number, message, hint = "E403", NO_MEMORY, MORE_MEMORY
    elif isinstance(error, RecursionError):
        number, message = "E404", "a value is nested too deeply"
        hint = "nest it less deeply"
    else:
        text = str(error) or "no reason was given"
        number, message, hint = "E399", f"{type(error).__name__}: {text}", None
    return ProgramError(number, message, at, code.source, hint=hint)


def bind_registers(
    code: Code, env: Mapping[str, object], library: Library
) -> list[object]:
    """Return the registers as they are before the first step.

    Raises:
        ProgramError: the program calls an unknown function, or reads a name that
            nothing defines.
    """
    registers: list[object] = [UNSET] * code.register_count
    for register, value in code.constants.items():
        registers[register] = value
    for name, read in code.qualified.items():
        if name not in library.constants:
            raise _unknown_name(name, read.span, code, env, library)
        registers[read.register] = library.constants[name]
    for name, read in code.variables.items():
        if name in env:
            registers[read.register] = env[name]
        elif name in library.constants:
            registers[read.register] = library.constants[name]
        elif name not in code.assigned:
            raise _unknown_name(name, read.span, code, env, library)
    for name, read in code.functions.items():
        registers[read.register] = _function(name, read.span, code, library, env)
    return registers


def _function(
    name: str, at: Span, code: Code, library: Library, env: Mapping[str, object]
) -> Callable[..., object]:
    """Return the function of a name: the library's, or Python's own one for plain
    numbers and else the library's."""
    given = library.functions.get(name) or plain.CONVERSIONS.get(name)
    if name not in plain.FUNCTIONS:
        if given is None:
            raise _unknown_function(name, at, code, env, library)
        return given
    arithmetic = getattr(library, "arithmetic", binary)

    def either(*args: object, **keywords: object) -> object:
        if not keywords and all(map(plain.is_plain, args)):
            found = plain.called(name, args, arithmetic)
            if found is not NotImplemented:
                return found
        if given is None:
            message = f"'{name}' takes numbers or a list of numbers here"
            raise ProgramError("E302", message)
        return given(*args, **keywords)

    return either


def _unknown_function(
    name: str, at: Span, code: Code, env: Mapping[str, object], library: Library
) -> ProgramError:
    from .mend import TO_MULTIPLY, mended, multiplied, with_base

    if name in env or name in library.constants or name in code.assigned:
        message = f"'{name}' is a value, not a function"
        error = ProgramError("E102", message, at, code.source)
        return multiplied(error, at, parse)
    if name in CALLS_LEFT_OUT:
        message, hint = f"'{name}' is not part of the language", CALLS_LEFT_OUT[name]
        return ProgramError("E106", message, at, code.source, hint=hint)
    callables = {*library.functions, *plain.FUNCTIONS}
    found = did_you_mean(name, callables)
    if f"linalg.{name}" in callables:
        found = f"did you mean 'linalg.{name}'?"
    found = found or did_you_mean(name.rpartition(".")[2], callables)
    hint = found or "'gradcli ops' lists all functions"
    error = ProgramError("E101", f"unknown name '{name}'", at, code.source, hint=hint)
    meant = other_spelling(name, callables.__contains__)
    if meant is not None:
        lead = f"did you mean '{meant}'? write"
        return mended(error.mended_by((*at, meant), lead=lead), parse)
    based = re.fullmatch(r"log_?(\d+)", name)
    if based is not None:
        return with_base(error, at, based[1], parse)
    product = before_function(name, {*env, *library.constants}, callables.__contains__)
    if product is not None:
        return mended(error.mended_by((*at, product), lead=TO_MULTIPLY), parse)
    # A name of one letter is a factor, as in products that are written by hand.
    derived = re.search(r"(?:^|\W)[d∂]\w*\s*/\s*$", code.source[: at.start])
    factor = (found is None and len(name) == 1) or (name[0] in "d∂" and derived)
    return multiplied(error, at, parse) if factor else error


def _unknown_name(
    name: str, at: Span, code: Code, env: Mapping[str, object], library: Library
) -> ProgramError:
    if name in library.functions or name in plain.FUNCTIONS:
        from .mend import called

        message = f"'{name}' is a function, and it is used as a value"
        hint = f"call it: {name}(x)"
        error = ProgramError("E105", message, at, code.source, hint=hint)
        functions = library.functions
        meant = lambda t: t.value if t.kind == "name" and t.value in functions else None
        return called(error, at, meant, parse)
    names = {*env, *library.constants, *code.assigned}
    hint = did_you_mean(name, names) or f"give it a value: {name}=VALUE"
    return ProgramError("E101", f"unknown name '{name}'", at, code.source, hint=hint)
