"""From a program's text and its bindings to a recorded run.

`prepare` makes the inputs and runs nothing of the program; `execute` runs it, as often
as one likes and always with the same draws; `evaluate` runs a program on tensors of any
number system. An input is a name that the program reads before it gives it a value, in
order of first use. A warning of the array library never gets out: values that are not
finite are values, and the run's notes say where they began.

    prepared = prepare("y = x**3 + b", read_bindings(["x=2", "b=1"]))
    run = execute(prepared)
    run.output_name, run.output.item()        # ("y", 9.0)
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, resolve
from gradcli.engine.dtypes import default_dtype
from gradcli.engine.errors import DeviceError
from gradcli.lang.bindings import Binding
from gradcli.lang.code import Code
from gradcli.lang.compiler import compile_program
from gradcli.lang.errors import ProgramError, Span
from gradcli.lang.excerpt import MOST_NAMES, enumerated, locate
from gradcli.lang.factory import Factory
from gradcli.lang.inputs import value_of
from gradcli.lang.limits import MAX_STEPS
from gradcli.lang.machine import Note, Result, Trace
from gradcli.lang.machine import run as run_code
from gradcli.lang.names import free_names
from gradcli.lang.parser import parse
from gradcli.lang.record import Record
from gradcli.lang.syntax import Call, Program, walk
from gradcli.lang.tensors import BARE_CONSTANTS, TensorLibrary, is_function

OUTPUT = "output"
"""What a result is called that the program gave no name."""

DTYPES = ("float64", "float32")


class Input(Record):
    """One input: its value, and whether that was drawn rather than given."""

    name: str
    tensor: Tensor
    sampled: bool
    requires_grad: bool


class Prepared(Record):
    """A program with its inputs, ready to run."""

    source: str
    code: Code
    factory: Factory
    inputs: tuple[Input, ...]

    @property
    def environment(self) -> dict[str, Tensor]:
        return {given.name: given.tensor for given in self.inputs}


class Run(Record):
    """A program that has run: its output with the recorded graph below it."""

    source: str
    output: Tensor
    output_name: str
    inputs: tuple[Input, ...]
    variables: Mapping[str, object]
    device: str
    dtype: str
    seed: int
    notes: tuple[str, ...]
    prepared: Prepared
    of: str | None


def prepare(
    source: str,
    bindings: Sequence[Binding] = (),
    *,
    wrt: Iterable[str] | None = None,
    seed: int = 0,
    strict: bool = False,
    dtype: str = "float64",
    device: str = "cpu",
) -> Prepared:
    """Read the program and make its inputs.

    Args:
        source: the program's text.
        bindings: values of inputs; the others are drawn from the seed.
        wrt: the inputs that gradients are taken for; None: all.
        strict: refuse to draw.
        dtype: ``float64`` or ``float32``, for all tensors of the run.
        device: ``cpu``, ``cuda``, or ``auto`` for a GPU if there is one.

    Raises:
        ProgramError: the program, a value or an option does not fit.
    """
    factory = _factory(device, dtype, seed)
    given = {binding.name: binding for binding in bindings}
    program = parse(source, given)
    names = input_names(program, given)
    code = compile_program(program)
    _refuse_unread(bindings, names, code, program)
    chosen = _differentiated(wrt, names)
    if strict:
        _refuse_missing([name for name in names if name not in given])
    _refuse_second_reading(bindings)
    with np.errstate(all="ignore"), default_dtype(dtype):
        inputs = [
            _input(name, given.get(name), name in chosen, factory) for name in names
        ]
    return Prepared(source, code, factory, tuple(inputs))


def execute(
    prepared: Prepared,
    *,
    of: str | None = None,
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> Run:
    """Run the program and find its output.

    Args:
        of: the variable that is the output; None: the last statement's value.
        max_steps: how many steps in loops are allowed.
        trace: told of every statement's span, name and value.

    Raises:
        ProgramError: the program fails, or has no output.
    """
    factory, code = prepared.factory, prepared.code
    library = TensorLibrary(factory)
    library.sampled = {i.name: i.tensor for i in prepared.inputs if i.sampled}
    with np.errstate(all="ignore"), default_dtype(factory.dtype):
        result = run_code(
            code, prepared.environment, library, max_steps=max_steps, trace=trace
        )
        output, name = output_of(result, of, code, factory)
    notes = tuple(_placed(note, prepared.source) for note in result.notes)
    inputs = prepared.environment
    return Run(
        prepared.source,
        output,
        name,
        prepared.inputs,
        {k: v for k, v in result.environment.items() if inputs.get(k) is not v},
        factory.xp.device,
        factory.dtype,
        factory.seed,
        notes,
        prepared,
        of,
    )


def evaluate(
    source: str,
    inputs: Mapping[str, Tensor],
    *,
    of: str | None = None,
    seed: int = 0,
    dtype: str = "float64",
    max_steps: int = MAX_STEPS,
) -> tuple[Tensor, str, Mapping[str, object]]:
    """Run a program on tensors of any number system: the output, its name, all values.

    Constants that the program makes are of the inputs' number system.
    """
    xp = next((tensor.xp for tensor in inputs.values()), NUMPY)
    factory = Factory(xp, dtype, seed)
    code = compile_program(parse(source, inputs))
    with np.errstate(all="ignore"), default_dtype(dtype):
        result = run_code(code, inputs, TensorLibrary(factory), max_steps=max_steps)
        output, name = output_of(result, of, code, factory)
    return output, name, result.environment


def option_value(text: str, option: str, prepared: Prepared) -> Tensor:
    """The constant tensor that the VALUE of an option means, as `--grad-output`.

    Raises:
        ProgramError: with the option's text and a caret.
    """
    binding = Binding(option, text, Span(0, len(text)))
    return prepared.factory.constant(value_of(binding, prepared.factory))


def input_names(program: Program, bound: Iterable[str] = ()) -> tuple[str, ...]:
    """The names that a program reads and does not make, in order of first use.

    A name that is bound is an input whatever else it could mean. A function's name is
    none by itself, except a single letter: `t` is time before it is a transpose.
    """
    bound = frozenset(bound)
    names = free_names(program, known=BARE_CONSTANTS - bound)
    return tuple(n for n in names if n in bound or len(n) == 1 or not is_function(n))


def all_finite(tensor: Tensor) -> bool:
    """Whether no entry is infinite or NaN, as far as that can be asked."""
    kind = getattr(getattr(tensor.raw, "dtype", None), "kind", None)
    if tensor.xp.symbolic or kind != "f":
        return True
    return bool(tensor.xp.isfinite(tensor.raw).all())


def _factory(device: str, dtype: str, seed: int) -> Factory:
    if dtype not in DTYPES:
        hint = f"the dtypes are {' and '.join(DTYPES)}"
        raise ProgramError("E509", f"unknown dtype {dtype!r}", hint=hint)
    if seed < 0:
        raise ProgramError("E509", f"the seed {seed} is negative", hint="use 0 or more")
    try:
        return Factory(resolve(device), dtype, seed)
    except DeviceError as error:
        hint = "leave --device out, or use --device cpu"
        raise ProgramError("E509", str(error), hint=hint) from None


def _input(name: str, binding: Binding | None, wanted: bool, factory: Factory) -> Input:
    values = factory.draw(name) if binding is None else value_of(binding, factory)
    tensor = factory.leaf(values) if wanted else factory.constant(values)
    return Input(name, tensor, binding is None, wanted)


def _refuse_unread(
    bindings: Sequence[Binding], names: tuple[str, ...], code: Code, program: Program
) -> None:
    """A value that the program does not read is a slip of the pen, and so an error."""
    for binding in bindings:
        name = binding.name
        if name in names:
            continue
        _refuse_call(name, program)
        if name in code.assigned:
            message = f"the program gives '{name}' a value itself"
            hint: str | None = "leave the argument out, or the assignment"
        else:
            from gradcli.lang.suggest import did_you_mean

            message = f"the program does not read '{name}'"
            reads = f"it reads {enumerated(names)}" if names else "it has no inputs"
            hint = did_you_mean(name, names) or reads
        span = Span(0, max(1, binding.value.start - 1))
        raise ProgramError("E505", message, span, binding.argument, hint=hint)


def _refuse_call(name: str, program: Program) -> None:
    """A name with a value, and a bracket behind it: a product, as it is written by
    hand."""
    for node in walk(program):
        if isinstance(node, Call) and node.function == name and not is_function(name):
            message = f"'{name}' is a value, not a function"
            hint = f"to multiply, write {name}*(...)"
            raise ProgramError("E102", message, node.op_span, program.source, hint=hint)


def _differentiated(
    wrt: Iterable[str] | None, names: tuple[str, ...]
) -> frozenset[str]:
    if wrt is None:
        return frozenset(names)
    chosen = tuple(wrt)
    for name in chosen:
        if name not in names:
            from gradcli.lang.suggest import did_you_mean

            known = f"the inputs are {enumerated(names)}" if names else None
            hint = did_you_mean(name, names) or known
            raise ProgramError("E507", f"--wrt: no input is called '{name}'", hint=hint)
    return frozenset(chosen)


def _refuse_missing(names: Sequence[str]) -> None:
    if names:
        message = f"--strict: no value for {enumerated(names)}"
        values = " ".join(f"{name}=VALUE" for name in names[:MOST_NAMES])
        raise ProgramError("E506", message, hint=f"add {values}")


def _refuse_second_reading(bindings: Sequence[Binding]) -> None:
    readers = [binding for binding in bindings if binding.text.strip() == "@-"]
    if len(readers) > 1:
        second = readers[1]
        message = f"standard input is read for '{readers[0].name}' already"
        hint = "save one of them to a file"
        raise ProgramError("E508", message, second.value, second.argument, hint=hint)


def output_of(
    result: Result, of: str | None, code: Code, factory: Factory
) -> tuple[Tensor, str]:
    """What a run gave, or the variable ``of``, and what it is called.

    Raises:
        ProgramError: that is no tensor, or nothing.
    """
    if of is not None:
        return _tensor(_variable(result, of, code), of, result.span, code, factory), of
    if result.span is None:
        hint = "end with the value itself, or name it with --of"
        message = "the program ends without a value"
        raise ProgramError("E520", message, None, code.source, hint=hint)
    name = result.name or OUTPUT
    return _tensor(result.value, name, result.span, code, factory), name


def _variable(result: Result, of: str, code: Code) -> object:
    if of in result.environment:
        return result.environment[of]
    if of in code.assigned:
        hint: str | None = "the assignment to it did not run"
    else:
        from gradcli.lang.suggest import did_you_mean

        names = tuple(result.environment)
        hint = did_you_mean(of, names) or f"the variables are {enumerated(names)}"
    raise ProgramError("E507", f"--of: '{of}' has no value", hint=hint)


_NOT_OUTPUTS: dict[type, tuple[str, str]] = {
    bool: ("a truth value", "end with a tensor; --of NAME chooses a variable"),
    str: ("a string", "end with a tensor; --of NAME chooses a variable"),
    list: ("a list", "join it with stack([...]) or cat([...])"),
    tuple: ("several values", "take one: [0], or name them: a, b = ..., and --of a"),
    range: ("a range", "write arange(n)"),
    type(None): ("None", "end with a tensor; --of NAME chooses a variable"),
}


def _tensor(
    value: object, name: str, span: Span | None, code: Code, factory: Factory
) -> Tensor:
    if isinstance(value, Tensor) and hasattr(value.raw, "dtype"):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return factory.constant(_as_float(value, span, code))
    general = (f"a {type(value).__name__}", "end with a tensor")
    known = tuple if isinstance(value, tuple) else type(value)
    kind, hint = _NOT_OUTPUTS.get(known, general)
    message = f"the output '{name}' is {kind}, not a tensor"
    raise ProgramError("E520", message, span, code.source, hint=hint)


def _as_float(value: float, span: Span | None, code: Code) -> float:
    try:
        return float(value)
    except OverflowError:
        message = "an integer is too large to become a float"
        hint = "compute with floats from the start"
        raise ProgramError("E402", message, span, code.source, hint=hint) from None


def _placed(note: Note, source: str) -> str:
    return f"{note.message} ({place_of(note.span, source)})"


def place_of(span: Span, source: str) -> str:
    """Where a span begins, in words."""
    place: Any = locate(source, span)
    return f"line {place.line}, column {place.column}"
