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
from sys import maxsize
from typing import TYPE_CHECKING, TypeAlias

from ..lang.bindings import Binding
from ..lang.errors import ProgramError, Span
from ..lang.excerpt import enumerated, printable, shortened
from ..lang.fusion import MIN_ENTRIES
from ..lang.machine import Trace
from ..lang.parser import parse
from ..lang.run import Prepared, Run, execute, first_not_finite, input_names, prepare
from ..lang.syntax import Assign, Target, assigned_names, walk
from ..records import Values

if TYPE_CHECKING:
    from ..lang.factory import Factory
    from ..lang.fusion import Fusion
    from ..lang.tensor_library import TensorLibrary
    from ..views.names import Names


Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
"""Shapes by the name of the input."""


class Question(Values):
    """Question to a program: the program, its values, and how it is to be run.

    program      the program's text
    values       the values of its inputs
    of           the variable that is the output; None: the last statement's value
    wrt          names to differentiate by; None: all inputs but those read from files
    shapes       the shapes of inputs without a value
    seed         the seed of random values
    strict       whether an input without a value is an error; None: where others have
                 a value
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
    shapes: Mapping[str, tuple[int, ...]] = {}
    seed: int = 0
    strict: bool | None = False
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
        return self._told(
            self._executed(self._prepared(), trace, library), differentiate
        )

    def run_in_parts(self, fusion: Fusion | None) -> Run:
        """Run the program for its value and gradients alone, in parts if its arrays are
        large enough, and return the run; ``fusion`` records why it is not run in
        parts."""
        program = self._prepared()
        run = None
        large = any(i.tensor.numel() >= MIN_ENTRIES for i in program.inputs)
        if self.of is not None and fusion is not None:
            fusion.refused("--of asks for another value than the last")
        elif self.of is None and (large or fusion is not None):
            from ..lang.in_parts import run_in_parts

            run = run_in_parts(program, fusion)
        return self._told(run or self._executed(program))

    def run_with_names(
        self, library: Callable[[Factory], TensorLibrary] | None = None
    ) -> tuple[Run, Names]:
        """Run the program; return the run and the names of the values in its graph."""
        from ..views.names import Names

        names = Names()
        run = self.run(names.heard, library)
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
                message = f"--wrt: '{midway[0]}' is a value on the way, and not alone"
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
        value = execute(prepared, of=name).output
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
        leaf = prepared.factory.leaf(value.detach().cpu().raw)
        said = shortened(source[start:end], 40)
        note = f"{name} stands for its value: what made it, {said}, is left out"
        self.tell(printable(note))
        return cut.on({**given, name: leaf})

    def _executed(
        self,
        program: Prepared,
        trace: Trace | None = None,
        library: Callable[[Factory], TensorLibrary] | None = None,
    ) -> Run:
        own = None if library is None else library(program.factory)
        return execute(program, of=self.of, max_steps=maxsize, trace=trace, library=own)

    def _told(self, run: Run, differentiate: bool = True) -> Run:
        """Tell the remarks on a run, and return the run."""
        if differentiate:
            for text in notes_on_data([i.name for i in run.inputs if i.data]):
                self.tell(text)
        notes = (*_notes_on_inputs(run), *run.notes)
        for text in (*notes, *first_not_finite(run, maxsize)):
            self.tell(text)
        return run


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


def _notes_on_inputs(run: Run) -> Iterator[str]:
    """Yield notes on the inputs that were sampled, and on names that look mistyped."""
    sampled = [i.name for i in run.inputs if i.sampled]
    if not sampled:
        return
    from ..lang.suggest import letters_apart, lookalike, other_reading
    from ..lang.tensor_library import CONSTANTS, is_function

    names = [given.name for given in run.inputs]
    for name in sampled:
        twin = lookalike(name, names)
        if twin:
            apart = letters_apart(name, twin)
            yield printable(f"two inputs look alike: {name} and {twin}: {apart}")
        others = {*names, *CONSTANTS} - {name}
        meant = other_reading(name, others, CONSTANTS, is_function)
        if meant is not None:
            yield printable(f"{name} is read as one input: {meant}")
    them = "it has" if len(sampled) == 1 else "they have"
    example = f"{enumerated(sampled[:1])}=VALUE"
    yield printable(
        f"{enumerated(sampled)}: sampled with seed {run.seed}, as {them} no value; "
        f"give one with {example}"
    )
