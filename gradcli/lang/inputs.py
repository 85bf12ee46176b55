"""Values of bindings, as arrays: a number, a list, an expression, or a file.

Numbers and lists of numbers, however long, are read directly and in linear time; any
other text is a program of one expression that reads no names. Errors point at a place
in the argument as it was typed.

    value_of(read_binding("x=[[1, 2], [3, 4]]"), factory)     # float64, shape (2, 2)
    value_of(read_binding("x=2*pi*eye(3)"), factory)
    value_of(read_binding("x=@points.csv:x"), factory)     # a column of a table
"""

import os
import re

import numpy as np

from ..engine import Tensor
from .bindings import Binding
from .compiler import compile_program
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError, Span
from .factory import Factory
from .machine import Machine
from .nested import EXTREME, Floats, array_of
from .parser import parse
from .process import relieve
from .suggest import did_you_mean
from .syntax import Evaluate, Name, Program, free_names, walk
from .tensor_library import CONSTANTS, TensorLibrary

Array = Floats | np.float64
_NUMBER = re.compile(r"\s*[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\s*")
_LIST = re.compile(r"\s*\[[-+0-9.eE,\[\]\s]*\]\s*")


def value_of(binding: Binding, factory: Factory) -> Array:
    """Return the binding's value as a NumPy array of real numbers.

    Raises:
        ProgramError: the text or the file is wrong, or has no real numbers.
    """
    text = binding.text
    try:
        place = binding.place
        if place is not None:
            from .files import read_file

            return read_file(place)
        number = np.float64(text) if _NUMBER.fullmatch(text) else None
        if number and np.isfinite(number):
            return number
        listed = _numbers_listed(text)
        return _evaluated(binding, factory) if listed is None else array_of(listed)
    except ProgramError as error:
        raise _in_argument(error, binding) from error.__cause__
    except MemoryError:
        relieve()
        lack = ProgramError("E403", NO_MEMORY, hint=MORE_MEMORY)
        raise _in_argument(lack, binding) from None


def _numbers_listed(text: str) -> object:
    """Return a nested list of numbers, read as JSON; None for any other text.

    Lists that are not JSON, as with `.5` or a trailing comma, are left to the language;
    so are numbers that may be too large or too small for a float.
    """
    if not _LIST.fullmatch(text):
        return None
    import json

    if EXTREME.search(text):
        return None
    try:
        return json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return None


def _evaluated(binding: Binding, factory: Factory) -> Array:
    """Return the value of an expression that reads no names."""
    program = parse(binding.text)
    first, *others = program.body.statements
    if others or not isinstance(first, Evaluate):
        message = "a value is one expression"
        advice = "the statements belong in the program"
        raise ProgramError("E519", message, program.span, program.source, hint=advice)
    _refuse_names(program, binding.name)
    library = TensorLibrary(factory, stream=binding.name)
    value = Machine(compile_program(program), {}, library).run().value
    if isinstance(value, Tensor):
        # Nested lists would lose the shape of an array without entries.
        return np.asarray(value.detach().cpu().raw, dtype=np.float64)
    if isinstance(value, int | float | list | tuple):
        return array_of(_number_of(value), _number_of)
    kind = "a string" if isinstance(value, str) else repr(value)
    file_hint = f"to read a file, write {binding.name}=@FILE"
    hint = file_hint if isinstance(value, str) else None
    message = f"the value of '{binding.name}' is {kind}, not numbers"
    raise ProgramError("E519", message, program.span, program.source, hint=hint)


def _number_of(entry: object) -> object:
    """Return an entry; one that is a tensor, as in `[sin(1), cos(1)]`, as numbers."""
    return entry.tolist() if isinstance(entry, Tensor) else entry


def _refuse_names(program: Program, bound: str) -> None:
    names = free_names(program, known=CONSTANTS)
    if not names:
        return
    read = (node for node in walk(program) if isinstance(node, Name))
    span = next(node.span for node in read if node.name == names[0])
    hint = did_you_mean(names[0], CONSTANTS)
    if hint is None and os.path.exists(program.source.strip()):
        hint = f"to read the file, write {bound}=@{program.source.strip()}"
    hint = hint or "a value cannot use other names"
    message = f"unknown name '{names[0]}' in a value"
    raise ProgramError("E101", message, span, program.source, hint=hint)


def _in_argument(error: ProgramError, binding: Binding) -> ProgramError:
    """Return an error in VALUE with its span moved to the whole argument NAME=VALUE."""
    span = error.span or Span(0, len(binding.text))
    start = binding.value.start
    right = f"{error.lead} {binding.name}={error.right}" if error.right else None
    return ProgramError(
        error.code,
        error.message,
        Span(span.start + start, span.end + start),
        binding.argument,
        hint=right or error.hint,
        exit_status=error.exit_status,
    )
