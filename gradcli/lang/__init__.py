"""The language: text to syntax tree to steps to values.

    program = parse("y = x**3 + b", variables=bindings)
    inputs = free_names(program, known=library.constants)
    result = machine.run(compile_program(program), bindings, library)

Nothing here knows tensors: values, functions and methods come from a `Library`. The
only exceptions that leave are `ProgramError` and `KeyboardInterrupt`.
"""

from .code import Code as Code
from .compiler import compile_program as compile_program
from .errors import CODES as CODES
from .errors import ProgramError as ProgramError
from .errors import Span as Span
from .library import Library as Library
from .machine import Note as Note
from .machine import Result as Result
from .parser import parse as parse
from .syntax import Program as Program
from .syntax import assigned_names as assigned_names
from .syntax import free_names as free_names
