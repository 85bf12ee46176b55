"""Runs of prepared programs, and the derivatives of a run.

A `Session` is a program linked to its inputs; each of its runs starts from the same
random numbers and returns a `Run`: the output with its recorded graph. A run computes
derivatives, and turns the engine's errors into errors of the program. Warnings of the
array library are suppressed: infinite values and NaN are values like others.

    session = Session(prepare("y = x**3 + b", read_bindings(["x=2", "b=1"])))
    run = session.run()
    run.output_name, run.output.item()        # ("y", 9.0)
    run.gradients()                           # [tensor(12.), tensor(1.)]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..engine import NUMPY, Node, Tensor, grad
from ..engine.dtypes import default_dtype
from ..engine.errors import NOT_SCALAR, EngineError, UnknownSlope
from ..engine.walk import inputs_first
from ..ops import FUNCTIONS
from ..ops.records import record
from .compiler import compile_program
from .errors import OTHER_ARGUMENTS, ProgramError, Span
from .excerpt import enumerated, place_of, shortened
from .factory import Factory
from .machine import Code, Machine, ProgramResult, Trace
from .maxima import MAX_STEP_QUOTE_CHARACTERS, MAX_STEPS
from .parser import parse, put_right
from .prepare import Input as Input
from .prepare import Prepared as Prepared
from .prepare import input_names as input_names
from .prepare import prepare as prepare
from .suggest import did_you_mean
from .tensor_library import TensorLibrary, vector

if TYPE_CHECKING:
    from ..engine.jacobian import JacobianBlock
    from ..large.blocks import Jacobian, Mode

OUTPUT = "output"
"""Name of an output that the program did not name."""

_CONTRACTED = "give --grad-output, or use gradcli jacobian"

MAX_RECORDINGS = 4
"""Largest number of runs, the first one among them, after which none is recorded."""

Replays: TypeAlias = "list[Callable[[Sequence[Any]], tuple[Any, list[Any]]] | None]"
"""Replays of a program on arrays of the same shapes, one for each run that was none of
them; None for a run that was not recorded."""


class Session:
    """A program with its inputs, which can be run any number of times.

    Inputs are read anew at each run, so that a change in place, or another tensor given
    to `rebind`, counts from the next run on. Whatever is called raises a `ProgramError`
    if the program fails, or has no output.

    Args:
        prepared: the program and its inputs.
        of: the variable that is the output; None: the last statement's value.
        max_steps: the largest number of steps in loops.
        trace: called with every statement's span, name and value.
        library: the functions that the program calls; None: those on tensors.
        known: the replays of the program that were made so far; new ones are added.
    """

    def __init__(
        self,
        prepared: Prepared,
        of: str | None = None,
        *,
        max_steps: int = MAX_STEPS,
        trace: Trace | None = None,
        library: TensorLibrary | None = None,
        known: dict[Hashable, Replays] | None = None,
    ) -> None:
        self.prepared = prepared
        self.of = of
        self._rebound: dict[str, Tensor] = {}
        self._library = library or TensorLibrary(prepared.factory)
        self._library.sampled = {i.name: i.tensor for i in prepared.inputs if i.sampled}
        linked = prepared.code, prepared.environment, self._library
        self._machine = Machine(*linked, max_steps=max_steps, trace=trace)
        self._max_steps = max_steps
        self._known = {} if known is None else known

    def rebind(self, values: Mapping[str, Tensor]) -> None:
        """Replace the tensors of some inputs, from the next run on."""
        self._rebound.update(values)
        self._machine.rebind(values)

    def __call__(self) -> Tensor:
        """Run the program, and return its output with the recorded graph."""
        return self._ran()[1]

    def run(self) -> Run:
        """Run the program, and return the run with all its variables and notes."""
        with np.errstate(all="ignore"):
            result, output, name = self._ran()
        prepared = self.prepared.on(self._rebound)
        inputs = prepared.environment
        notes = [
            f"{note.message} ({place_of(note.span, prepared.source)})"
            for note in (*prepared.code.notes, *result.notes)
        ]
        own = {k: v for k, v in result.environment.items() if inputs.get(k) is not v}
        notes += self._library.functions.notes
        return Run(prepared, self.of, output, name, own, tuple(notes))

    def differentiate(self, names: Sequence[str]) -> tuple[Any, list[Any]]:
        """Return the value, one number, and its gradients by inputs of these names, as
        arrays; None for an input that it does not depend on.

        The first run records a graph. Later ones replay what a run on arrays of the
        same shapes did, if all that it read of their entries is the same again.
        """
        from ..large.recording import Departed

        prepared = self.prepared.on(self._rebound)
        raws = [given.tensor.raw[()] for given in prepared.inputs]
        key = (*names, *[(raw.shape, raw.dtype, raw.strides) for raw in raws])
        known = self._known.setdefault(key, [])
        with np.errstate(all="ignore"):
            for replay in filter(None, known):
                with suppress(Departed):
                    return replay(raws)
            if len(known) < MAX_RECORDINGS:
                known.append(None)
                if len(known) > 1 and prepared.factory.xp is NUMPY:
                    with suppress(Exception):  # what cannot be recorded runs below
                        known[-1] = self._recorded(prepared, raws, names)
            y, leaves = self(), prepared.environment
            grads = grad([y], [leaves[name] for name in names])
        return y.raw, [None if g is None else g.raw for g in grads]

    def _recorded(
        self, prepared: Prepared, raws: Sequence[Any], names: Sequence[str]
    ) -> Callable[[Sequence[Any]], tuple[Any, list[Any]]]:
        """Return a function that replays this run and its reverse pass on arrays."""
        from ..large.recording import CallRecorder, Replay
        from ..large.tracing import Trace

        trace = Trace()
        xp: Any = CallRecorder(NUMPY, trace)
        given = dict(zip(prepared.environment, map(xp.input, raws), strict=True))
        leaves = prepared.leaves(xp, given)
        on_leaves = prepared.on(leaves, prepared.factory.on(xp))
        xp.careful = True  # what fails there fails in a replay
        y = Session(on_leaves, self.of, max_steps=self._max_steps)()
        xp.careful = False
        found = grad([y], [leaves[name] for name in names])
        replay = Replay(trace, [y.raw, *[g.raw for g in found if g is not None]])

        def again(arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
            value, *parts = replay(arrays)
            each = iter(parts)
            return value, [None if g is None else next(each) for g in found]

        return again

    def _ran(self) -> tuple[ProgramResult, Tensor, str]:
        self._library.draws.restart()
        code, factory = self.prepared.code, self.prepared.factory
        with default_dtype(factory.dtype):
            result = self._machine.run()
            return result, *output_of(result, self.of, code, factory)


@record
class Run:
    """A run of a program: its output with the recorded graph, variables and notes."""

    prepared: Prepared
    of: str | None
    output: Tensor
    output_name: str
    variables: Mapping[str, object]
    notes: tuple[str, ...]

    @property
    def source(self) -> str:
        return self.prepared.source

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.prepared.inputs

    @property
    def device(self) -> str:
        return str(self.prepared.factory.xp.device)

    @property
    def dtype(self) -> str:
        return self.prepared.factory.dtype

    @property
    def seed(self) -> int:
        return self.prepared.factory.seed

    @property
    def differentiated(self) -> list[Input]:
        """The inputs that derivatives are taken for."""
        return [given for given in self.inputs if given.requires_grad]

    @property
    def leaves(self) -> list[Tensor]:
        """The tensors that derivatives are taken for."""
        return [given.tensor for given in self.differentiated]

    @property
    def names_output(self) -> bool:
        """True if the program named its output, False if it is called `OUTPUT`."""
        return self.output_name in {*self.variables, *self.prepared.environment}

    @property
    def output_span(self) -> Span | None:
        """The span of the operation that computed the output; None without one."""
        made = self.output.grad_fn
        return None if made is None or made.span is None else Span(*made.span)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of inputs and variables that are tensors, by name."""
        known = {**self.prepared.environment, **self.variables}
        tensors = {n: v for n, v in known.items() if isinstance(v, Tensor)}
        return {name: tuple(tensor.shape) for name, tensor in tensors.items()}

    def of_value(self, name: str, value: Tensor) -> Run:
        """Return this run with another of its values as the output."""
        return Run(self.prepared, name, value, name, self.variables, self.notes)

    def value(self, name: str) -> Tensor:
        """Return the value of an input or a variable as a tensor.

        Raises:
            ProgramError: the value is no tensor.
        """
        found = {**self.prepared.environment, **self.variables}[name]
        return _tensor(found, name, None, self.prepared.code, self.prepared.factory)

    def require_graph(self) -> None:
        """Refuse an output that has no derivative.

        Raises:
            ProgramError: the recorded graph leads from the output to no input.
        """
        if self.output.edge is not None:
            return
        message = "the output does not depend on any input"
        hint = "a name without a value is an input: use one in the program"
        if self.differentiated:
            raise no_gradient()
        own = min(self.prepared.code.assigned, default=None)
        if own is not None:
            hint = f"'{own}' has its value in the program: give it behind, {own}=3"
        if self.inputs:
            hint = "--wrt names no input that it depends on"
        raise ProgramError("E596", message, hint=hint)

    def require_scalar(self, other: str = "or choose one entry, as [0]") -> None:
        """Refuse an output of several entries, with PyTorch's message; ``other`` is the
        alternative to a sum, for the hint."""
        if self.output.numel() != 1:
            hint = f"shape {list(self.output.shape)}: add .sum(), {other}"
            raise self._refusal(NOT_SCALAR, hint)

    def cotangent(self, text: str) -> Tensor:
        """Return the value of ``--grad-output``; refuse one of another shape."""
        given = self.prepared.option_value(text, "--grad-output")
        shape, wanted = list(given.shape), list(self.output.shape)
        if shape == wanted:
            return given
        hint = "give a value of the output's shape" if wanted else "give one number"
        message = f"--grad-output has shape {shape}, the output {wanted}"
        raise self._refusal(message, hint)

    def first_cotangent(self, text: str | None) -> Tensor:
        """Return the output's cotangent: ``--grad-output`` if given, else 1."""
        if text is not None:
            return self.cotangent(text)
        self.require_scalar(_CONTRACTED)
        return Tensor(self.output.xp.ones_like(self.output.raw), self.output.xp)

    def gradients(self, cotangent: Tensor | None = None) -> list[Tensor | None]:
        """Return the gradient of the output by each differentiated input, in order."""
        with self.explained():
            return grad([self.output], self.leaves, [cotangent])

    def jacobian(self, mode: Mode = "auto") -> Jacobian:
        """Return the Jacobian of the output by the differentiated inputs."""
        from ..large.blocks import jacobian

        self.require_graph()
        with self.explained():
            return jacobian(self.output, self.leaves, mode)

    def hessian(self) -> list[list[JacobianBlock]]:
        """Return the second derivatives of a scalar: a block per pair of inputs."""
        from ..large.blocks import hessian

        self.require_graph()
        self.require_scalar()
        with self.explained():
            return hessian(self.output, self.leaves)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Return a context that makes the engine's errors errors of the program."""
        try:
            yield
        except EngineError as error:
            from ..engine.jacobian import TooManyEntries

            if isinstance(error, TooManyEntries):
                hint = "restrict the inputs with --wrt, or ask for gradcli grad"
                raise ProgramError("E403", str(error), hint=hint) from error
            if str(error) == NOT_SCALAR:
                self.require_scalar(_CONTRACTED)
            named = OTHER_ARGUMENTS if isinstance(error, UnknownSlope) else None
            raise self._refusal(str(error), named) from error

    def _refusal(self, message: str, hint: str | None = None) -> ProgramError:
        return ProgramError("E596", message, self.output_span, self.source, hint=hint)


def no_gradient() -> ProgramError:
    """Return the error for an output whose graph leads to no input."""
    message = "no gradient leads from the output to an input"
    none = "comparisons, item(), int() and float() have none"
    hint = f"{none}; detach() and no_grad() cut it off"
    return ProgramError("E596", message, hint=hint)


def evaluate(
    source: str,
    inputs: Mapping[str, Tensor],
    *,
    of: str | None = None,
    seed: int = 0,
    dtype: str = "float64",
    max_steps: int = MAX_STEPS,
    typed: Callable[[str], float] | None = None,
) -> tuple[Tensor, str, Mapping[str, object]]:
    """Run a program on tensors; return its output, the output's name, and all values.

    Constants of the program get the inputs' number system. In a symbolic one they are
    exact; a decimal is then its exact fraction, or the value that ``typed`` returns. If
    that system computes constants in floats (``in_floats``), they are as on arrays.
    """
    tensors = (each for each in inputs.values() if isinstance(each, Tensor))
    xp = next((tensor.xp for tensor in tensors), NUMPY)
    with default_dtype(dtype):
        if xp.symbolic and not xp.in_floats:
            from .exactly import (
                ExactFactory,
                ExactLibrary,
                exact_code,
                exactly_compiled,
            )

            exact = ExactLibrary(ExactFactory(xp, dtype, seed))
            if typed is None:
                code = exactly_compiled(source, frozenset(inputs))
            else:
                code = exact_code(parse(source, inputs), typed)
            with xp.taking_numbers():
                return computed(code, inputs, exact, of, max_steps)
        library = TensorLibrary(Factory(xp, dtype, seed))
        code = _compiled(source, frozenset(inputs))
        return computed(code, inputs, library, of, max_steps)


@lru_cache(maxsize=4)
def _compiled(source: str, names: frozenset[str]) -> Code:
    """Return a program compiled to steps; it is mostly run at several points."""
    return compile_program(parse(source, names))


def computed(
    code: Code,
    inputs: Mapping[str, Tensor],
    library: TensorLibrary,
    of: str | None = None,
    max_steps: int = MAX_STEPS,
    trace: Trace | None = None,
) -> tuple[Tensor, str, Mapping[str, object]]:
    """Run a compiled program; return its output, the output's name, and all values."""
    with np.errstate(all="ignore"):
        made = Machine(code, inputs, library, max_steps=max_steps, trace=trace)
        result = made.run()
        output, name = output_of(result, of, code, library.factory)
    return output, name, result.environment


def all_finite(tensor: Tensor) -> bool:
    """Return whether no entry is infinite or NaN; True for symbols and integers."""
    kind = getattr(getattr(tensor.raw, "dtype", None), "kind", None)
    if tensor.xp.symbolic or kind != "f":
        return True
    return bool(tensor.xp.isfinite(tensor.raw).all())


def output_of(
    result: ProgramResult, of: str | None, code: Code, factory: Factory
) -> tuple[Tensor, str]:
    """Return the output of a run, by default its last value, and its name.

    Raises:
        ProgramError: the output is no tensor, or there is none.
    """
    if of is not None:
        if of not in result.environment:
            names = tuple(result.environment)
            hint = did_you_mean(of, names) or f"the variables are {enumerated(names)}"
            if of in code.assigned:
                hint = "the assignment to it did not run"
            raise ProgramError("E507", f"--of: '{of}' has no value", hint=hint)
        value = result.environment[of]
        return _tensor(value, of, result.span, code, factory), of
    if result.span is None:
        hint = "end with the value itself, or name it with --of"
        message = "the program ends without a value"
        raise ProgramError("E520", message, None, code.source, hint=hint)
    name = result.name or OUTPUT
    return _tensor(result.value, name, result.span, code, factory), name


_NOT_OUTPUTS: dict[type, tuple[str, str]] = {
    bool: ("a truth value", "end with a tensor; --of NAME chooses a variable"),
    str: ("a string", "end with a tensor; --of NAME chooses a variable"),
    list: ("a list", "stack([...]) joins arrays of one shape, cat([...]) others"),
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
        try:
            float(value)
        except OverflowError:
            message = "an integer is too large to become a float"
            hint = "compute with floats from the start"
            raise ProgramError("E402", message, span, code.source, hint=hint) from None
        return factory.constant(value)
    if isinstance(value, list):
        made = vector(value, factory)
        if made is not None and hasattr(made.raw, "dtype"):
            return made
    general = (f"a {type(value).__name__}", "end with a tensor")
    known = tuple if isinstance(value, tuple) else type(value)
    kind, hint = _NOT_OUTPUTS.get(known, general)
    message = f"the output '{name}' is {kind}, not a tensor"
    error = ProgramError("E520", message, span, code.source, hint=hint)
    raise _with_points(error) if known is tuple and span is not None else error


_THOUSANDS = re.compile(r"(?<![\w.])[1-9]\d{0,2}(?:,\d{3})+(?!\d)")


def _with_points(error: ProgramError) -> ProgramError:
    """Return the error, with the edits that correct commas inside numbers, if any."""
    assert error.span is not None
    commas = re.compile(r"(?<=\d),(?=\d)").finditer(error.source, *error.span)
    lead, put = "a decimal number has a point: write", "."
    if not re.search(r"\d,\d", _THOUSANDS.sub("", error.source[slice(*error.span)])):
        lead, put = "thousands have no comma: write", ""
    edits = [(*comma.span(), put) for comma in commas]
    return put_right(error.mended_by(*edits, lead=lead))


class _NonFiniteStop(Exception):
    """An exception that ends a run at the first value that is not finite."""

    def __init__(self, value: Tensor, span: Span) -> None:
        self.value = value
        self.span = span


class _ResultObserver(TensorLibrary):
    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Tensor) and not all_finite(part):
                raise _NonFiniteStop(part, span)


def first_not_finite(run: Run, max_steps: int = MAX_STEPS) -> list[str]:
    """Return sentences on what is not finite; an empty list if the output is finite.

    The program is run once more, and the first step whose result is not finite is
    reported with its text, its place and, if known, the reason.
    """
    if all_finite(run.output):
        return []
    prepared = run.prepared
    given = [i.name for i in prepared.inputs if not all_finite(i.tensor)]
    if given:
        return [f"the input {name} is not finite" for name in given]
    library = _ResultObserver(prepared.factory)
    try:
        Session(prepared, run.of, max_steps=max_steps, library=library).run()
    except ProgramError as error:
        found = error.__cause__
        if isinstance(found, _NonFiniteStop):
            return [_sentence(found.value, found.span, prepared.source)]
    return []


def _sentence(value: Tensor, span: Span, source: str) -> str:
    kind = "-inf" if bool((value.raw == -np.inf).any()) else "inf"
    if bool(value.xp.isnan(value.raw).any()):
        kind = "nan"
    # One operator can make several nodes: 1/x is a Mul of a Reciprocal.
    edges = inputs_first([] if value.edge is None else [value.edge])
    made = [e for e in reversed(edges) if isinstance(e, Node) and e.span == span]
    known = [FUNCTIONS[n.op.base].not_finite for n in made if n.op.base in FUNCTIONS]
    reasons = [facts[kind] for facts in known if kind in facts]
    because = f": {reasons[0]}" if reasons else ""
    text = " ".join(source[span.start : span.end].split())
    quoted = shortened(text, MAX_STEP_QUOTE_CHARACTERS)
    return f"{quoted} is {kind}{because} ({place_of(span, source)})"
