"""Runs compiled programs: registers, steps, and nothing that recurses.

Whatever goes wrong inside becomes a `ProgramError` that points at the operator or call;
only Ctrl-C passes through. Work is bounded by `max_steps`, counted when a loop starts
over.

    code = compile_program(parse("y = x*2"))
    run(code, {"x": 3.0}, library).value          # 6.0
"""

from collections.abc import Callable, Mapping
from types import FrameType

from .code import Code
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError
from .frame import UNSET, Frame
from .library import Library
from .limits import MAX_STEPS
from .link import bind_registers
from .process import is_out_of_memory, relieve
from .record import Record
from .span import Span
from .syntax import Note as Note

Trace = Callable[[Span, str | None, object], None]


class Result(Record):
    """The values that a program ended with.

    `value` is the last statement's, `name` what it was assigned to (None for a bare
    expression) and `span` that statement; a program may end without any.
    """

    environment: dict[str, object]
    value: object
    name: str | None
    span: Span | None
    notes: tuple[Note, ...]
    steps: int


def run(
    code: Code,
    env: Mapping[str, object],
    library: Library,
    *,
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> Result:
    """Run a program on the values in `env`; `trace` is called with every statement.

    Raises `ProgramError` and, if the user interrupts, `KeyboardInterrupt`.
    """
    return Machine(code, env, library, max_steps=max_steps, trace=trace).run()


class Machine:
    """A program linked to a library once, to be run as often as wanted.

    Each run starts from the same registers; nothing is left over from the one before.
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
        """Let names of the environment have other values from the next run on."""
        self._env.update(values)
        for name, value in values.items():
            self._start[self._code.variables[name].register] = value

    def run(self) -> Result:
        """Run the program from its first step; raises what `run` does."""
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
            raise _placed(error, code, position) from error.__cause__
        except Exception as error:
            if is_out_of_memory(error):
                relieve()
            raise _worded(error, code, position, registers, frame) from error
        finally:
            frame.close_modes(len(frame.modes))
        return _result(code, self._env, registers, frame)


def _result(
    code: Code, env: Mapping[str, object], registers: list[object], frame: Frame
) -> Result:
    final = dict(env)
    for name, read in code.variables.items():
        value = registers[read.register]
        if name in code.assigned and value is not UNSET:
            final[name] = value
    notes = tuple(Note(message, span) for message, span in frame.notes)
    return Result(
        final, frame.last_value, frame.last_name, frame.last_span, notes, frame.steps
    )


def running_at(frame: FrameType | None) -> tuple[Span, str] | None:
    """The text that a thread is at in a program; None if it runs none.

    Args:
        frame: the newest one of the thread, which stands still meanwhile.
    """
    while frame is not None:
        if frame.f_code is Machine.run.__code__:
            code, position = map(frame.f_locals.get, ("code", "position"))
            if code is not None and position is not None:
                for origin in code.origins[position : position + 1]:
                    return origin.at, code.source
        frame = frame.f_back
    return None


def _placed(error: ProgramError, code: Code, position: int) -> ProgramError:
    """An error raised without a span gets that of its step."""
    if error.span is None and not error.source:
        error.span, error.source = code.origins[position].at, code.source
    return error


def _worded(
    error: Exception, code: Code, position: int, registers: list[object], frame: Frame
) -> ProgramError:
    """Word an exception from outside the language as an error at this step."""
    origin = code.origins[position]
    args = tuple(registers[register] for register in origin.reads)
    found = _explained(frame.library, error, origin.kind, origin.name, args)
    code_name, message, hint = found or _general(error)
    return ProgramError(code_name, message, origin.at, code.source, hint=hint)


def _explained(
    library: Library, error: Exception, kind: str, name: str, args: tuple[object, ...]
) -> tuple[str, str, str | None] | None:
    try:
        return library.explain(error, kind, name, args)
    except Exception:
        # Wording must not hide the error that it words.
        return None


def _general(error: Exception) -> tuple[str, str, str | None]:
    if is_out_of_memory(error):
        return "E403", NO_MEMORY, MORE_MEMORY
    if isinstance(error, RecursionError):
        return "E404", "a value is nested too deeply", "nest it less deeply"
    text = str(error) or "no reason was given"
    return "E399", f"{type(error).__name__}: {text}", None
