"""The language: text to syntax tree to steps to values.

    program = parse("y = x**3 + b", variables=bindings)
    inputs = free_names(program, known=library.constants)
    result = machine.run(compile_program(program), bindings, library)

Nothing here knows tensors: values, functions and methods come from a `Library`. The
only exceptions that leave are `ProgramError` and `KeyboardInterrupt`.
"""

from gradcli.lang.code import Code as Code
from gradcli.lang.compiler import compile_program as compile_program
from gradcli.lang.errors import CODES as CODES
from gradcli.lang.errors import ProgramError as ProgramError
from gradcli.lang.errors import Span as Span
from gradcli.lang.library import Library as Library
from gradcli.lang.machine import Note as Note
from gradcli.lang.machine import Result as Result
from gradcli.lang.names import assigned_names as assigned_names
from gradcli.lang.names import free_names as free_names
from gradcli.lang.parser import parse as parse
from gradcli.lang.syntax import Program as Program
