"""The preparation of a program: its text is compiled, its bindings become inputs.

An input is a name that the program reads before it assigns to it; inputs are in order
of first use. The value of an input without a binding is drawn at random, from the seed.
No step of the program runs here.

The value of a binding is a number, a list, an expression, or a file. Numbers and lists
of numbers, however long, are read directly and in linear time; any other text is a
program of one expression that reads no names. Errors point at a place in the argument
as it was typed.

    prepared = prepare("y = x**3 + b", read_bindings(["x=2", "b=1"]))
    [given.name for given in prepared.inputs]                 # ["x", "b"]
    value_of(read_binding("x=[[1, 2], [3, 4]]"), factory)     # float64, shape (2, 2)
    value_of(read_binding("x=@points.csv:x"), factory)        # a column of a table
"""

import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import numpy as np

from ..engine import Tensor, resolve
from ..engine.devices import host
from ..engine.dtypes import default_dtype
from ..engine.errors import DeviceError
from ..ops.checks import LimitError, check_size
from ..ops.records import record
from .bindings import Binding
from .compiler import compile_program
from .errors import MORE_MEMORY, NO_MEMORY, ProgramError, Span
from .excerpt import enumerated, printable, shortened
from .factory import Factory
from .foreign import program_of
from .machine import Code, Machine
from .marks import language_of
from .maxima import MAX_LIST_DEPTH, MAX_SHOWN_NAMES, MAX_TYPED_CHARACTERS
from .nested import EXTREME, Floats, array_of
from .parser import parse, put_right, without_surroundings
from .process import relieve
from .suggest import did_you_mean, names_letter, other_reading
from .syntax import Evaluate, Literal, Name, Program, free_names, read_names, walk
from .tensor_library import CONSTANTS, TensorLibrary, is_function

Array = Floats | np.float64
DTYPES = ("float64", "float32")


@record
class Input:
    """One input of a program, with its value.

    sampled  whether the value was drawn at random, and not given
    data     whether no derivative is taken for it because it was read from a file
    """

    name: str
    tensor: Tensor
    sampled: bool
    requires_grad: bool
    data: bool = False


@record
class Prepared:
    """A program with its inputs, ready to run."""

    source: str
    code: Code
    factory: Factory
    inputs: tuple[Input, ...]

    @property
    def environment(self) -> dict[str, Tensor]:
        return {given.name: given.tensor for given in self.inputs}

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the inputs without a value."""
        return tuple(given.name for given in self.inputs if given.sampled)

    def on(
        self,
        values: Mapping[str, Tensor],
        factory: Factory | None = None,
        sampled: Container[str] = (),
    ) -> "Prepared":
        """Return the program with other tensors for some of its inputs, those of
        ``sampled`` names drawn at random, and with another factory if they are of
        another number system."""
        if not values:
            return self
        inputs = [*self.inputs]
        for at, i in enumerate(inputs):
            if (name := i.name) in values:
                inputs[at] = Input(name, values[name], name in sampled, i.requires_grad)
        return Prepared(self.source, self.code, factory or self.factory, tuple(inputs))

    def leaves(self, xp: Any, raws: Mapping[str, Any]) -> dict[str, Tensor]:
        """Return the inputs as tensors of the namespace ``xp``, made of ``raws`` where
        these have an array of an input's name."""
        raw = {i.name: raws.get(i.name, i.tensor.raw) for i in self.inputs}
        return {i.name: Tensor(raw[i.name], xp, i.requires_grad) for i in self.inputs}

    def option_value(self, text: str, option: str) -> Tensor:
        """Return the VALUE of an option, such as `--grad-output`, as a constant tensor.

        Raises:
            ProgramError: the text is no value; the error shows it with carets.
        """
        binding = Binding(option, text, Span(0, len(text)))
        return self.factory.constant(value_of(binding, self.factory))


def prepare(
    source: str,
    bindings: Sequence[Binding] = (),
    *,
    wrt: Iterable[str] | None = None,
    seed: int = 0,
    strict: bool = False,
    dtype: str = "float64",
    device: str = "cpu",
    shapes: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
) -> Prepared:
    """Return a program, compiled, with its inputs.

    Args:
        bindings: values of inputs; the other inputs are drawn at random.
        wrt: the inputs that gradients are taken for; None: all, except those read from
            files if there are others.
        seed: the seed of the random numbers.
        strict: refuse inputs without a value.
        dtype: ``float64`` or ``float32``, for all tensors of the run.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one and an input
            is large enough to gain from it.
        shapes: the shapes of inputs without a value; by default they are numbers.

    Raises:
        ProgramError: the program, a value or an option is wrong.
    """
    if dtype not in DTYPES:
        hint = f"the dtypes are {' and '.join(DTYPES)}"
        raise ProgramError("E595", f"unknown dtype {dtype!r}", hint=hint)
    if seed < 0:
        raise ProgramError("E595", f"the seed {seed} is negative", hint="use 0 or more")
    try:
        factory = Factory(resolve(device), dtype, seed)
    except DeviceError as error:
        hint = "leave --device out, or use --device cpu"
        raise ProgramError("E595", str(error), hint=hint) from None
    given = {binding.name: binding for binding in bindings}
    program = parse(source, {*given, *shapes}, lambda: ranks_of(bindings, shapes))
    source = program.source
    _refuse_quoted(program)
    names = input_names(program, {*given, *shapes})
    code = compile_program(program)
    _refuse_unread(bindings, names, code, program)
    data = data_among(names, bindings) if wrt is None else frozenset()
    chosen = differentiated(wrt, names) - data
    missing = [name for name in names if name not in given]
    if missing and strict:
        raise without_value(missing, code)
    readers = [binding for binding in bindings if binding.text.strip() == "@-"]
    for second in readers[1:]:
        message = f"standard input is read for '{readers[0].name}' already"
        hint = "save one of them to a file"
        raise ProgramError("E508", message, second.value, second.argument, hint=hint)
    inputs = []
    with np.errstate(all="ignore"), default_dtype(dtype):
        read: dict[str, Array] = {
            name: value_of(given[name], factory)
            if name in given
            else _drawn(name, shapes.get(name, ()), factory)
            for name in names
        }
        if device == "auto":
            largest = max(map(np.size, read.values()), default=0)
            factory = factory.on(resolve(device, largest))
        for name in names:
            sampled, wanted = name not in given, name in chosen
            make = factory.leaf if wanted else factory.constant
            tensor = make(read.pop(name))
            inputs.append(Input(name, tensor, sampled, wanted, name in data))
    return Prepared(source, code, factory, tuple(inputs))


def ranks_of(
    bindings: Iterable[Binding], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, int | None]:
    """Return the number of dimensions of each input with a value or a shape; None for
    standard input, which is not read before the program is."""
    found: dict[str, int | None] = {name: len(shape) for name, shape in shapes.items()}
    factory = Factory(resolve("cpu"), "float64", 0)
    for binding in bindings:
        on_the_way = binding.place is not None and binding.place.startswith("-")
        found[binding.name] = None if on_the_way else value_of(binding, factory).ndim
    return found


def read_program(
    source: str,
    values: Sequence[Binding],
    shapes: Mapping[str, tuple[int, ...]],
    tell: Callable[[str], None],
    others: Iterable[str] | None = (),
) -> str:
    """Return a program's text with mathematical notation rewritten in the language; how
    it was read is told.

    ``others`` are further names that have values; None: all may have one. Words without
    a value in a line that was rewritten, or as factors, are refused.
    """
    names = {*shapes, *(binding.name for binding in values)}
    program = parse(source, names, lambda: ranks_of(values, shapes))
    text, _ = without_surroundings(source)
    title = language_of(text, names) or program_of(text, names)
    words = title in (None, "Mathematica")
    if others is not None and len(source) <= MAX_TYPED_CHARACTERS and words:
        program = _without_words(text, program, names, {*others}, values, shapes)
    if program.source != source:
        # What the new text has a note on as well is told when it is run.
        later = {note.message for note in parse(program.source, names).notes}
        for note in program.notes:
            if note.message not in later:
                tell(printable(note.message))
    return program.source


def _without_words(
    source: str,
    program: Program,
    names: set[str],
    others: set[str],
    values: Sequence[Binding],
    shapes: Mapping[str, tuple[int, ...]],
) -> Program:
    """Return a program that has no words among its inputs without a value; letters that
    stand together, such as `kx`, are read as factors."""
    known = {*names, *others}
    missing = {*input_names(program, known)} - {*known}
    if not missing and program.source == source:
        return program
    from .mend import letters_together, refuse_imaginary, refuse_words

    letters = letters_together(source, program, missing)
    if letters:
        ranks = lambda: {**dict.fromkeys(letters, 0), **ranks_of(values, shapes)}
        with suppress(ProgramError):
            program = parse(source, names | letters, ranks)
        missing = {*input_names(program, known)} - {*known}
    refuse_words(source, program, missing)
    refuse_imaginary(program, missing)
    return program


def input_names(program: Program, bound: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of a program's inputs, in order of first use.

    A bound name that is read is always an input. A function's name is no input unless
    it is bound or names a letter: `t` is an input, though it is also the transpose, and
    so is `gamma` where it is not called.
    """
    bound = frozenset(bound)
    names = read_names(program, CONSTANTS, bound)
    return tuple(
        n for n in names if n in bound or names_letter(n) or not is_function(n)
    )


def data_among(names: Sequence[str], bindings: Iterable[Binding]) -> frozenset[str]:
    """Return the inputs that are read from files or from standard input, and so are
    data; none if all inputs are."""
    read = {binding.name for binding in bindings if binding.place is not None}
    found = read.intersection(names)
    return frozenset() if len(found) == len(names) else frozenset(found)


def _drawn(name: str, shape: tuple[int, ...], factory: Factory) -> Array:
    """Return random entries for an input without a value, unless it is too large."""
    try:
        check_size(shape)
    except LimitError as error:
        hint = f"give {name} fewer entries, or allow more with --max-memory"
        raise ProgramError("E403", f"{name}: {error}", hint=hint) from None
    if len(shape) > MAX_LIST_DEPTH:
        message = f"{name} has {len(shape)} dimensions, more than {MAX_LIST_DEPTH}"
        raise ProgramError("E404", message, hint="give it fewer")
    return factory.draw(name, shape)


def _refuse_quoted(program: Program) -> None:
    """Refuse a program that is a single string, because it was quoted twice."""
    lone = program.body.statements[0]
    if len(program.body.statements) > 1 or not isinstance(lone, Evaluate):
        return
    value, (start, end) = lone.value, lone.span
    if isinstance(value, Literal) and isinstance(value.value, str):
        message = "the program is in quotes twice, so it is a string"
        hint = "leave out one pair"
        error = ProgramError("E207", message, lone.span, program.source, hint=hint)
        edits = (start, start + 1, ""), (end - 1, end, "")
        raise put_right(error.mended_by(*edits))


def without_value(missing: Sequence[str], code: Code, why: str = "") -> ProgramError:
    """Return the error for inputs without a value, at the first that seems mistyped, or
    at the first; ``why`` says what needs their values."""
    known = {*code.variables, *CONSTANTS} - {*missing}
    meant = {
        n: other_reading(n, known, CONSTANTS, is_function) or did_you_mean(n, known)
        for n in missing
    }
    first = next(filter(meant.get, missing), missing[0])
    values = " ".join(f"{name}=VALUE" for name in missing[:MAX_SHOWN_NAMES])
    hint = f"give {values}, or write --draw for random values"
    hint = f"{meant[first]}; else {hint}".replace("?;", "?") if meant[first] else hint
    message = f"no value for {enumerated(missing)}{why}"
    span = code.variables[first].span
    error = ProgramError("E506", message, span, code.source, hint=hint)
    error.missing = tuple(missing)
    return error


def unread(name: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the message and the hint for a value that no input of ``names`` takes."""
    reads = f"it reads {enumerated(names)}" if names else "it has no inputs"
    return f"the program does not read '{name}'", did_you_mean(name, names) or reads


def _refuse_unread(
    bindings: Sequence[Binding], names: tuple[str, ...], code: Code, program: Program
) -> None:
    """Refuse a value for a name that the program does not read."""
    for binding in bindings:
        name = binding.name
        if name in names:
            continue
        if name in code.assigned:
            message = f"the program gives '{name}' a value itself"
            hint = "leave the argument out, or the assignment"
        else:
            message, hint = unread(name, names)
        span = Span(0, max(1, binding.value.start - 1))
        raise ProgramError("E505", message, span, binding.argument, hint=hint)


def differentiated(
    wrt: Iterable[str] | None, names: Sequence[str], where: str = "--wrt"
) -> frozenset[str]:
    """Return the inputs that derivatives are taken for; all if ``wrt`` is None.

    Raises:
        ProgramError: a name of ``wrt`` is no input.
    """
    if wrt is None:
        return frozenset(names)
    chosen = tuple(wrt)
    for name in chosen:
        if name not in names:
            known = f"the inputs are {enumerated(names)}" if names else None
            hint = did_you_mean(name, names) or known
            message = f"{where}: no input is called '{name}'"
            raise ProgramError("E507", message, hint=hint)
    return frozenset(chosen)


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
            from ..tables.files import read_file

            return read_file(place)
        number = np.float64(text.strip()) if _NUMBER.fullmatch(text) else None
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
    if not _LIST.fullmatch(text) or EXTREME.search(text):
        return None
    import json

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
    for name in free_names(program, known=CONSTANTS):
        read = (node for node in walk(program) if isinstance(node, Name))
        span = next(node.span for node in read if node.name == name)
        hint, text = did_you_mean(name, CONSTANTS), program.source.strip()
        if hint is None and os.path.exists(text):
            hint = f"to read the file, write {binding.name}=@{text}"
        if hint is None and re.search(r"[\s*/^+(-]", text):
            assigned = f"{binding.name} = {shortened(text, 40)}; ..."
            hint = f"put it into the program: '{assigned}'"
        hint = hint or "a value cannot use other names"
        message = f"unknown name '{name}' in a value"
        raise ProgramError("E101", message, span, program.source, hint=hint)
    library = TensorLibrary(factory, stream=binding.name)
    value = Machine(compile_program(program), {}, library).run().value
    if isinstance(value, Tensor):
        # Nested lists would lose the shape of an array without entries.
        return np.asarray(host(value.raw), dtype=np.float64)
    if isinstance(value, int | float | list | tuple):
        # An entry may be a tensor, as in `[sin(1), cos(1)]`.
        number = lambda e: e.tolist() if isinstance(e, Tensor) else e
        return array_of(value, number)
    kind, hint = repr(value), None
    if isinstance(value, str):
        kind, hint = "a string", f"to read a file, write {binding.name}=@FILE"
    message = f"the value of '{binding.name}' is {kind}, not numbers"
    raise ProgramError("E519", message, program.span, program.source, hint=hint)


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
