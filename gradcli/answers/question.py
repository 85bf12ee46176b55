"""Questions: a program, the values of its inputs, and how it is to be run.

To differentiate by an intermediate value, the program is run once; then the assignment
of the value is cut from the program's text, and its name is an input with that value.

Invariant: a question is frozen; the numbers of an answer come from its run
(`gradcli.lang.run`), and remarks on that run go to ``tell``.

    question = Question("x**3", read_bindings(["x=2"]))
    question.run().output.item()                # 8.0
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from sys import maxsize
from typing import TYPE_CHECKING, Final, TypeAlias

from ..engine.devices import MIN_ENTRIES_OF_A_GPU, host
from ..lang.bindings import Binding
from ..lang.errors import LIMIT_REACHED, ProgramError, Span
from ..lang.excerpt import enumerated, printable, shortened
from ..lang.machine import Trace
from ..lang.maxima import MIN_ENTRIES_IN_PARTS
from ..lang.parser import parse
from ..lang.prepare import without_value
from ..lang.run import (
    Prepared,
    Run,
    Session,
    all_finite,
    first_not_finite,
    input_names,
    prepare,
)
from ..lang.syntax import Assign, Target, assigned_names, decides, walk
from ..ops.records import record

if TYPE_CHECKING:
    from ..lang.factory import Factory
    from ..lang.implicit import Equation
    from ..lang.tensor_library import TensorLibrary
    from .graph_view import NameCollector
    from .inferred_sizes import InferredSizes


DOMAINS: Final = (1.0, 0.1, -0.3, 10.0, 300.0)
"""Sizes of the numbers that are tried for symbols; positive ones are added to them, so
that they lie beyond it."""

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Shapes by the name of the input."""


@record
class Question:
    """Question to a program: the program, its values, and how it is to be run.

    program      the program's text
    values       the values of its inputs
    of           the variable that is the output; None: the last statement's value
    wrt          names to differentiate by; None: all inputs but those read from files
    shapes       the shapes of inputs without a value
    seed         the seed of random values
    strict       whether an input without a value is an error
    tied         the equation that the program stands for; None: it is a program
    inferred     the shapes that were read from the program; None: none were
    symbols      whether an input without a value stays a symbol: the run has drawn
                 numbers for it, and no number that depends on these is shown
    dtype        the precision of all numbers
    device       the device that computes: auto, cpu or cuda
    grad_output  the cotangent of an output of several numbers, as text; None: none
    seconds      the time that a check may take, in seconds
    verified     whether the answer is to be checked
    tell         called with each remark beside the answer
    """

    program: str
    values: tuple[Binding, ...] = ()
    of: str | None = None
    wrt: Sequence[str] | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    seed: int = 0
    strict: bool = False
    tied: Equation | None = None
    inferred: InferredSizes | None = None
    symbols: bool = False
    dtype: str = "float64"
    device: str = "auto"
    grad_output: str | None = None
    seconds: float = 5.0
    verified: bool = True
    tell: Callable[[str], None] = lambda text: None

    def run(
        self,
        trace: Trace | None = None,
        library: Callable[[Factory], TensorLibrary] | None = None,
        differentiate: bool = True,
    ) -> Run:
        """Run the program, and return the run.

        ``trace`` is called with each statement; ``library`` makes the functions that
        the program calls, by default those on tensors; ``differentiate`` tells whether
        derivatives are going to be asked for.
        """
        prepared = self._settled(self._prepared())
        return self._noted(self._executed(prepared, trace, library), differentiate)

    def lacks_values(self) -> bool:
        """Return whether an input has no value."""
        return bool(self._prepared().missing)

    def refuse_decisions(self, run: Run) -> None:
        """Refuse a program in which an input without a value decides what is recorded.

        Raises:
            ProgramError: the input is a symbol, and a test or a loop needs its value.
        """
        missing = run.prepared.missing if self.symbols else ()
        given = {binding.name for binding in self.values} | {*self.shapes}
        if missing and decides(parse(run.source, given), missing):
            why = ", and the way through the program depends on it"
            raise without_value(missing, run.prepared.code, why)

    def run_in_parts(self) -> Run:
        """Run the program for its value and gradients alone, in parts if its arrays are
        large enough, and return the run."""
        program = self._settled(self._prepared())
        run = None
        least = MIN_ENTRIES_IN_PARTS
        if self.of is None and any(i.tensor.numel() >= least for i in program.inputs):
            from ..lang.in_parts import run_in_parts

            run = run_in_parts(program)
        return self._noted(run or self._executed(program))

    def run_with_names(
        self, library: Callable[[Factory], TensorLibrary] | None = None
    ) -> tuple[Run, NameCollector]:
        """Run the program; return the run and the names of the values in its graph."""
        from .graph_view import NameCollector

        names = NameCollector()
        run = self.run(names.record_statement, library)
        names.settle(run.inputs, run.variables, run.prepared.code.assigned)
        return run, names

    def _prepared(self) -> Prepared:
        """Return the program with its inputs, or with an intermediate value as its
        input."""
        bound = {*self.shapes, *(binding.name for binding in self.values)}
        midway: list[str] = []
        if self.wrt is not None:
            program = parse(self.program, bound)
            others = {*assigned_names(program)} - {*input_names(program, bound)}
            midway = [name for name in self.wrt if name in others]
            if midway and len(self.wrt) > 1:
                message = f"--wrt: '{midway[0]}' is a variable, and not the only name"
                hint = f"ask for it by itself: --wrt {midway[0]}"
                raise ProgramError("E507", message, hint=hint)
        found = prepare(
            self.program,
            self.values,
            wrt=None if midway else self.wrt,
            seed=self.seed,
            strict=self.strict,
            dtype=self.dtype,
            device=self.device,
            shapes=self.shapes,
        )
        given = [i.name for i in found.inputs]
        refuse_shapes(self.shapes, given, [i.name for i in found.inputs if i.sampled])
        return self._cut(found, midway[0]) if midway else found

    def _cut(self, prepared: Prepared, name: str) -> Prepared:
        """Return the program with an intermediate value as an input: the one assignment
        to its name is replaced by 0 and blanks."""
        source = prepared.source
        bound = {binding.name for binding in self.values}
        start, end = _assignment(source, name, bound)
        blank = re.sub(r"[^\r\n]", " ", source[start + 1 : end])
        text = f"{source[:start]}0{blank}{source[end:]}"
        value = Session(prepared, of=name).run().output
        names = input_names(parse(text, {*bound, name}), {*bound, name})
        if name not in names:
            message = f"--wrt: nothing depends on '{name}'"
            raise ProgramError("E507", message, hint="ask for another")
        cut = prepare(
            text,
            [binding for binding in self.values if binding.name in names],
            wrt=[name],
            seed=self.seed,
            dtype=prepared.factory.dtype,
            device=str(prepared.factory.xp.device),
        )
        given = {i.name: i.tensor.detach() for i in prepared.inputs if i.name in names}
        symbols = {*prepared.missing, *([name] if prepared.missing else ())}
        leaf = prepared.factory.leaf(host(value.raw))
        said = shortened(source[start:end], 40)
        note = f"{name} is used as its value: its computation, {said}, is left out"
        self.tell(printable(note))
        return cut.on({**given, name: leaf}, sampled=symbols if self.symbols else ())

    def _settled(self, prepared: Prepared) -> Prepared:
        """Return the program with other numbers for its symbols if its value is not
        finite, or its run fails, with those that are drawn first.

        Raises:
            ProgramError: the program needs the value of an input to run at all.
        """
        if not self.symbols or not prepared.missing:
            return prepared
        failures: list[ProgramError] = []
        for point in _points(prepared):
            try:
                if all_finite(Session(point, of=self.of).run().output):
                    return point
            except ProgramError as error:
                failures.append(error)
                if error.exit_status == LIMIT_REACHED:
                    break
        texts = {error.message for error in failures}
        if len(texts) > 1:
            why = " that the program needs to run"
            raise without_value(prepared.missing, prepared.code, why)
        if failures:
            raise failures[0]
        return prepared

    def _executed(
        self,
        program: Prepared,
        trace: Trace | None = None,
        library: Callable[[Factory], TensorLibrary] | None = None,
    ) -> Run:
        own = None if library is None else library(program.factory)
        return Session(
            program, of=self.of, max_steps=maxsize, trace=trace, library=own
        ).run()

    def _noted(self, run: Run, differentiate: bool = True) -> Run:
        """Tell the remarks on a run, and return the run."""
        if differentiate:
            for text in notes_on_data([i.name for i in run.inputs if i.data]):
                self.tell(text)
        if self.device == "auto" and run.device == "cuda":
            most = f"an input has {MIN_ENTRIES_OF_A_GPU:,} entries or more"
            self.tell(f"computed on the GPU, because {most}: see --device")
        symbols = self.symbols and bool(run.prepared.missing)
        notes = (*_notes_on_inputs(run, symbols), *run.notes)
        for text in (*notes, *(() if symbols else first_not_finite(run, maxsize))):
            self.tell(text)
        return run


def _points(prepared: Prepared) -> Iterator[Prepared]:
    """Yield the program at points for its symbols: the drawn one, then others, so that
    some lie in the domains of most functions."""
    yield prepared
    drawn = {i.name: host(i.tensor.raw) for i in prepared.inputs if i.sampled}
    for size in DOMAINS:
        for turned in (abs, lambda x: -abs(x), lambda x: x):
            made = {n: turned(x) * abs(size) + max(size, 0) for n, x in drawn.items()}
            leaves = {
                i.name: prepared.factory.leaf(made[i.name])
                if i.requires_grad
                else prepared.factory.constant(made[i.name])
                for i in prepared.inputs
                if i.sampled
            }
            yield prepared.on(leaves, sampled=leaves)


def _assignment(source: str, name: str, bound: Collection[str]) -> Span:
    program = parse(source, bound)
    targets = [t for t in walk(program) if isinstance(t, Target) and t.name == name]
    for statement in program.body.statements[:-1]:
        if isinstance(statement, Assign) and statement.targets == tuple(targets):
            return statement.span
    message = f"--wrt: '{name}' is assigned in a block, several times, or last"
    hint = "give the value that is meant a name of its own"
    raise ProgramError("E507", message, hint=hint)


def refuse_shapes(
    shapes: Shapes, names: Collection[str], sampled: Collection[str]
) -> None:
    """Refuse shapes of unknown inputs and of inputs that have a value."""
    for name in shapes:
        if name not in names:
            from ..lang.suggest import did_you_mean

            listed = f"the inputs are {enumerated(tuple(names))}" if names else None
            hint = did_you_mean(name, tuple(names)) or listed
            message = f"--shape: no input is called '{name}'"
            raise ProgramError("E595", message, hint=hint)
        if name not in sampled:
            message = f"--shape: '{name}' has a value, and so a shape"
            raise ProgramError("E595", message, hint="leave --shape out for it")


def notes_on_data(names: Sequence[str]) -> Iterator[str]:
    """Yield a note on the inputs that are data: how to differentiate by them."""
    if not names:
        return
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    yield printable(
        f"{enumerated(names)} {are} read in, not typed, so taken as data: nothing is "
        f"differentiated by {them}; --wrt {','.join(names)} does"
    )


def _notes_on_inputs(run: Run, symbols: bool) -> Iterator[str]:
    """Yield notes on the inputs that were sampled, unless they are symbols, and on
    names that look mistyped."""
    sampled = run.prepared.missing
    if not sampled:
        return
    from ..lang.suggest import describe_difference, lookalike, other_reading
    from ..lang.tensor_library import CONSTANTS, is_function

    names = [given.name for given in run.inputs]
    for name in sampled:
        twin = lookalike(name, names)
        if twin:
            apart = describe_difference(name, twin)
            yield printable(f"two inputs look alike: {name} and {twin}: {apart}")
        others = {*names, *CONSTANTS} - {name}
        meant = other_reading(name, others, CONSTANTS, is_function)
        if meant is not None:
            yield printable(f"{name} is read as one input: {meant}")
    if symbols:
        return
    them = "it has" if len(sampled) == 1 else "they have"
    example = f"{enumerated(sampled[:1])}=VALUE"
    yield printable(
        f"{enumerated(sampled)}: sampled with seed {run.seed}, as {them} no value; "
        f"give one with {example}"
    )
