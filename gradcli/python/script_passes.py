"""The backward passes of a script: where each is, what may be said of it, and what was
computed before it, run again on other tensors.

Invariant: the script computes what it computes; a report is made the first time that a
line of it starts a pass, before saved values are freed, and passes are counted. A
replay computes what was recorded, with the values that tensors had when they were used;
a custom function is one call, so that its own backward is what is judged. What cannot
be replayed is named.

    with recording() as tape, watched(report):
        run(path, arguments)
    replay, leaves, originals = tape.function(loss)
    replay(*leaves)
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Final

from .. import autograd
from ..autograd.function import Function
from ..engine.backward import backward_of
from ..engine.modes import MODE
from ..engine.node import AccumulateGrad
from ..engine.raw import Params
from ..engine.record import apply
from ..engine.tensor import Tensor
from ..engine.versions import version
from ..nn.module import Module
from ..numbers.system import NoMeaning
from .user_lines import caller, outside

BACKWARD = "backward"
"""Name of the method of tensors, and of the function, that start a pass."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A backward pass that is about to run.

    root       what is differentiated
    cotangent  what it starts with; None: 1
    variables  the tensors that the script has names for there
    """

    file: str
    line: int
    root: Tensor
    cotangent: Tensor | None
    variables: Mapping[str, Tensor]

    @property
    def place(self) -> str:
        return f"{Path(self.file).name}:{self.line}"

    @property
    def name(self) -> str:
        """Return the script's name of the root."""
        found = (n for n, t in self.variables.items() if t is self.root)
        return next(found, "output")


Run = Callable[..., object]
"""A function that runs the pass itself, with further options."""

Report = Callable[[Pass, Run], None]
"""A function that is told of a pass and has to run it, once."""


@dataclass(slots=True)
class Passes:
    """How often each line started a pass."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        for (file, line), count in sorted(self.counts.items()):
            times = "once" if count == 1 else f"{count} times"
            yield f"{Path(file).name}:{line}: {times}"


@contextmanager
def watched(
    report: Report, after: Callable[[bool], None] | None = None
) -> Iterator[Passes]:
    """Report the passes that are run inside.

    Args:
        report: is given each line's first pass.
        after: is called after every pass, with whether its graph was retained.
    """
    passes = Passes()
    inside = [False]

    def run(root: Tensor, cotangent: Tensor | None, again: Run, retained: bool) -> None:
        frame = sys._getframe(2)
        at = caller(frame)
        first = not passes.counts[at]
        passes.counts[at] += 1
        if not first or inside[0]:
            again()
        else:
            inside[0] = True
            made = Pass(*at, root, cotangent, _variables(frame))
            try:
                report(made, again)
            finally:
                inside[0] = False
        if after is not None:
            after(retained)

    def backward(
        self: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,
        create_graph: bool = False, inputs: Any = None,
    ) -> None:  # fmt: skip
        def again(cotangent: Tensor | None = None) -> None:
            given = gradient if cotangent is None else cotangent
            backward_of(self, given, retain_graph, create_graph, inputs)

        if inside[0] or self.edge is None:
            again()
        else:
            run(self, gradient, again, _retains(retain_graph, create_graph))

    def of_module(
        tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
        create_graph: bool = False, *rest: object, **named: object,
    ) -> None:  # fmt: skip
        alone = isinstance(tensors, Tensor)

        def again(cotangent: Tensor | None = None) -> None:
            plain(tensors, grad_tensors, retain_graph, create_graph, *rest, **named)

        if inside[0] or not (alone or len(tensors) == 1):
            again()
            return
        single = isinstance(grad_tensors, Tensor | None)
        given = grad_tensors if single else grad_tensors[0]
        root = tensors if alone else tensors[0]
        run(root, given, again, _retains(retain_graph, create_graph))

    plain: Any = autograd.backward
    setattr(Tensor, BACKWARD, backward)
    setattr(autograd, BACKWARD, of_module)
    try:
        yield passes
    finally:
        delattr(Tensor, BACKWARD)
        setattr(autograd, BACKWARD, plain)


def _retains(retain_graph: bool | None, create_graph: bool) -> bool:
    return create_graph if retain_graph is None else retain_graph


def _variables(frame: FrameType | None) -> dict[str, Tensor]:
    """Return the tensors that the nearest of the script's frames has names for; a
    module's parameters by their own."""
    frame = outside(frame)
    if frame is None:
        return {}
    found: dict[str, Tensor] = {}
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        if isinstance(value, Tensor):
            found[name] = value
        elif isinstance(value, Module):
            for inner, parameter in value.named_parameters():
                found.setdefault(f"{name}.{inner}", parameter)
    return found


UNSEEN: Final = (
    "a value that the pass starts from was computed before, or in a way that was not "
    "recorded"
)
CHANGED: Final = "a tensor was changed in place on the way"


APPLY: Final = "apply"
"""The method of custom functions that is recorded as one call."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call: what it runs, the numbers of the values that it reads and makes.

    function  the custom function that it is a call of
    """

    run: Callable[..., object]
    reads: tuple[int | None, ...]
    given: tuple[object, ...]
    made: tuple[int, ...]
    function: type[Function] | None = None


KEPT: Final = 1_000
"""Largest number of values held of a graph that stays after its pass."""


class Recording:
    """The calls since the last backward pass that freed its graph.

    Values are numbered; a tensor that is changed in place is another value from then
    on.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.clear()

    def clear(self) -> None:
        """Forget what was recorded."""
        self._numbers: dict[int, tuple[int, int]] = {}
        self._held: list[Any] = []
        self._makers: dict[int, Step] = {}
        self._values: dict[int, Tensor] = {}
        self._lost: dict[int, str] = {}
        self.custom: list[tuple[type[Function], list[object]]] = []
        """The calls of custom functions, with copies of their arguments."""

    def passed(self, retained: bool) -> None:
        """Forget what was recorded before a pass, unless its graph was retained."""
        if not retained or len(self._held) > KEPT:
            self.clear()

    def number(self, t: Tensor) -> int:
        """Return the number of the value that a tensor has now."""
        found = self._numbers.get(id(t))
        if found is not None and found[1] == version(t.raw):
            return found[0]
        number = self._enter(t)
        leaf = isinstance(t.edge, AccumulateGrad)
        if t.edge is None or leaf:
            self._values[number] = Tensor(t.xp.clone(t.raw), t.xp, leaf)
        else:
            self._lost[number] = UNSEEN if found is None else CHANGED
        return number

    def _enter(self, t: Tensor) -> int:
        number = len(self._held)
        self._held.append(t)
        self._numbers[id(t)] = number, version(t.raw)
        return number

    def note(
        self, run: Callable[..., object], given: Sequence[object], out: object,
        function: type[Function] | None = None,
    ) -> None:  # fmt: skip
        """Enter a call that was made and recorded by the engine."""
        reads = tuple(self.number(x) if isinstance(x, Tensor) else None for x in given)
        parts = out if isinstance(out, tuple | list) else (out,)
        made = tuple(self._enter(y) for y in parts if isinstance(y, Tensor))
        kept = tuple(None if isinstance(x, Tensor) else x for x in given)
        step = Step(run, reads, kept, made, function)
        if function is not None:
            values = [
                Tensor(x.xp.clone(x.raw), x.xp, x.requires_grad)
                if isinstance(x, Tensor)
                else x
                for x in given
            ]
            self.custom.append((function, values))
        self._makers.update(dict.fromkeys(made, step))

    def steps(self, root: Tensor) -> list[Step]:
        """Return the calls that made a tensor, in order.

        Raises:
            NoMeaning: a part of it cannot be computed again.
        """
        return self._below(self.number(root))[0]

    def _below(self, goal: int) -> tuple[list[Step], set[int]]:
        steps: dict[int, Step] = {}
        needed: set[int] = set()
        stack = [goal]
        while stack:
            number = stack.pop()
            if number in needed:
                continue
            needed.add(number)
            if number in self._lost:
                raise NoMeaning(self._lost[number])
            step = self._makers.get(number)
            if step is not None:
                steps[max(step.made)] = step
                stack.extend(n for n in step.reads if n is not None)
        return [steps[n] for n in sorted(steps)], needed

    def function(
        self, root: Tensor, instead: Mapping[tuple[int, ...], Sequence[object]] = {}
    ) -> tuple[Callable[..., object], list[Tensor], list[Tensor]]:
        """Return a function of leaves that computes ``root``, the leaves' copies, and
        the leaves.

        Args:
            root: a tensor that was computed.
            instead: plain operands that steps are given in place of their own, by the
                numbers of what they made.

        Raises:
            NoMeaning: a part of it cannot be computed again.
        """
        goal = self.number(root)
        order, needed = self._below(goal)
        starts = [n for n in sorted(needed) if n not in self._makers]
        leaves = [n for n in starts if self._values[n].requires_grad]
        fixed = {n: self._values[n] for n in starts if n not in leaves}

        def replay(*given: Tensor) -> Tensor:
            values = {n: _fitting(t, given) for n, t in fixed.items()}
            values.update(zip(leaves, given, strict=True))
            for step in order:
                plain = instead.get(step.made, step.given)
                inputs = [
                    x if n is None else values[n]
                    for n, x in zip(step.reads, plain, strict=True)
                ]
                out = step.run(*inputs)
                parts = out if isinstance(out, tuple | list) else (out,)
                tensors = [y for y in parts if isinstance(y, Tensor)]
                values.update(zip(step.made, tensors, strict=True))
            return values[goal]

        copies = [self._values[n] for n in leaves]
        return replay, copies, [self._held[n] for n in leaves]


def _fitting(t: Tensor, given: Sequence[Tensor]) -> Tensor:
    """Return a constant, in float64 where all that is given is."""
    doubles = all(x.raw.dtype.name == "float64" for x in given)
    if not doubles or t.raw.dtype.kind != "f":
        return t
    return Tensor(t.raw.astype("float64"), t.xp)


@contextmanager
def recording() -> Iterator[Recording]:
    """Record the calls that are made inside."""
    tape = Recording()

    def look(op: Any, inputs: Any, params: Params, raw: object, out: Any) -> None:
        if not tape.depth and MODE.recording:
            tape.note(lambda *given: apply(op, given, dict(params)), inputs, out)

    plain = Function.__dict__[APPLY]

    def applied(cls: type[Function], *args: Any, **kwargs: Any) -> object:
        tape.depth += 1
        try:
            out = plain.__func__(cls, *args, **kwargs)
        finally:
            tape.depth -= 1
        if not tape.depth and MODE.recording:
            tape.note(lambda *given: cls.apply(*given, **kwargs), args, out, cls)
        return out

    setattr(Function, APPLY, classmethod(applied))
    try:
        with MODE.watching(call=look):
            yield tape
    finally:
        setattr(Function, APPLY, plain)
