"""The registers that a program starts with: constants, values and functions.

Names are resolved here, before anything runs: a program that calls an unknown function
or reads a name that nothing defines stops before its first step.
"""

import re
from collections.abc import Callable, Mapping

from . import plain
from .arithmetic import binary
from .code import Code
from .errors import ProgramError
from .frame import UNSET
from .lexicon import CALLS_LEFT_OUT
from .library import Library
from .parser import parse
from .span import Span
from .suggest import before_function, did_you_mean, other_spelling


def bind_registers(
    code: Code, env: Mapping[str, object], library: Library
) -> list[object]:
    """The registers as they are before the first step."""
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
    """Find the function of a name: the library's, Python's, or both."""
    given = library.functions.get(name) or plain.CONVERSIONS.get(name)
    if name in plain.FUNCTIONS:
        return _either(name, given, getattr(library, "arithmetic", binary))
    if given is None:
        raise _unknown_function(name, at, code, env, library)
    return given


def _either(
    name: str,
    given: Callable[..., object] | None,
    arithmetic: Callable[..., object],
) -> Callable[..., object]:
    """Call Python's own function for plain numbers, and the library's for others."""

    def call(*args: object, **keywords: object) -> object:
        if not keywords and all(map(plain.is_plain, args)):
            found = plain.called(name, args, arithmetic)
            if found is not NotImplemented:
                return found
        if given is None:
            message = f"'{name}' takes numbers or a list of numbers here"
            raise ProgramError("E302", message)
        return given(*args, **keywords)

    return call


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
    last_part = name.rpartition(".")[2]
    prefixed = f"linalg.{name}"
    found = (
        f"did you mean '{prefixed}'?"
        if prefixed in callables
        else did_you_mean(name, callables) or did_you_mean(last_part, callables)
    )
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
    # A name this short is a factor, as products are written by hand.
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
        meant = lambda token: (
            token.value
            if token.kind == "name" and token.value in library.functions
            else None
        )
        return called(error, at, meant, parse)
    known = {*env, *library.constants, *code.assigned}
    hint = did_you_mean(name, known) or f"give it a value: {name}=VALUE"
    return ProgramError("E101", f"unknown name '{name}'", at, code.source, hint=hint)
