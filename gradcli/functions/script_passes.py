"""The backward passes of a script: where each is started, and the computations before
it, which can be run again on other tensors.

Invariant: the script computes what it would compute unwatched. Each line's first pass
is reported before its saved values are freed; further passes are counted. A replay
repeats the recorded calls with the values that tensors had when they were used; a
custom function is one call, so that its own backward is judged. What cannot be
replayed raises `NoMeaning` with the reason.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..answers.callers import outside, variables
from ..autograd import entry
from ..autograd.function import Function
from ..check.namespace import setting
from ..check.system import NoMeaning
from ..engine.modes import MODE
from ..engine.node import AccumulateGrad
from ..engine.raw import Params
from ..engine.record import apply
from ..engine.tensor import Tensor
from ..engine.versions import version
from ..torch import passes
from .user_lines import caller

Line = tuple[str, int]
"""Type of a line: the name of its file, and its number."""


@dataclass(frozen=True, slots=True)
class ScriptPass:
    """A backward pass that is about to run.

    root       the tensor that is differentiated
    cotangent  the gradient that the pass starts with; None: 1
    variables  the tensors that have names in the script there
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
        """The script's name of the root; ``output`` if it has none."""
        found = (n for n, t in self.variables.items() if t is self.root)
        return next(found, "output")


Run = Callable[..., object]
"""Type of a function that runs the pass itself; a cotangent may replace its own."""

Report = Callable[[ScriptPass, Run], None]
"""Type of a function that gets a pass and a function that runs it, to call once."""


@contextmanager
def watched(
    report: Report, after: Callable[[bool], None] | None = None
) -> Iterator[Counter[Line]]:
    """Report each line's first backward pass while the block runs, and count all; call
    ``after`` each with whether the graph was retained."""
    counts: Counter[Line] = Counter()
    plain: Any = vars(passes)["backward"]
    inside = False

    def started(
        outputs: Any, gradients: Any, retain_graph: bool, create_graph: bool,
        inputs: Any = None,
    ) -> None:  # fmt: skip
        def again(cotangent: Tensor | None = None) -> None:
            given = gradients if cotangent is None else [cotangent]
            plain(outputs, given, retain_graph, create_graph, inputs)

        nonlocal inside
        root = outputs[0] if len(outputs) == 1 else None
        if inside or not isinstance(root, Tensor) or root.edge is None:
            again()
            return
        frame = outside(sys._getframe(1))
        line = caller(frame)
        counts[line] += 1
        if counts[line] > 1:
            again()
        else:
            inside = True
            try:
                report(ScriptPass(*line, root, gradients[0], variables(frame)), again)
            finally:
                inside = False
        if after is not None:
            after(retain_graph)

    with setting(passes, "backward", started), setting(entry, "_backward", started):
        yield counts


def times(counts: Counter[Line]) -> Iterator[str]:
    """Yield, for each line that started passes, how many it started."""
    for (file, line), count in sorted(counts.items()):
        how_often = "once" if count == 1 else f"{count} times"
        yield f"{Path(file).name}:{line}: {how_often}"


UNSEEN: Final = (
    "a value that the pass starts from was computed before, or in a way that was not "
    "recorded"
)
CHANGED: Final = "a tensor was changed in place on the way"


APPLY: Final = "apply"
"""Name of the method of custom functions that is recorded as one call."""


@dataclass(frozen=True, slots=True)
class CallStep:
    """One recorded call, with the numbers of the values that it reads and makes."""

    run: Callable[..., object]
    reads: tuple[int | None, ...]
    given: tuple[object, ...]
    made: tuple[int, ...]


KEPT: Final = 1_000
"""Largest number of values that are kept after a pass whose graph is retained."""


class CallRecording:
    """The calls that were recorded since the last backward pass that freed its graph.

    Values are numbered; a tensor gets a new number when it is changed in
    place.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.clear()

    def clear(self) -> None:
        self._numbers: dict[int, tuple[int, int]] = {}
        self._held: list[Any] = []
        self._makers: dict[int, CallStep] = {}
        self._values: dict[int, Tensor] = {}
        self._lost: dict[int, str] = {}
        self.custom: list[tuple[type[Function], list[object]]] = []
        """Calls of custom functions, with copies of their arguments."""

    def passed(self, retained: bool) -> None:
        """Forget all, unless the pass retained its graph and that is small."""
        if not retained or len(self._held) > KEPT:
            self.clear()

    def number(self, t: Tensor) -> int:
        """Return the number of the value that a tensor has now."""
        found = self._numbers.get(id(t))
        if found is not None and found[1] == version(t.raw):
            return found[0]
        number = self._enter(t)
        if t.edge is None or isinstance(t.edge, AccumulateGrad):
            self._values[number] = _copied(t)
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
        """Add a call that the engine has made and recorded."""
        reads = tuple(self.number(x) if isinstance(x, Tensor) else None for x in given)
        parts = out if isinstance(out, tuple | list) else (out,)
        made = tuple(self._enter(y) for y in parts if isinstance(y, Tensor))
        kept = tuple(None if isinstance(x, Tensor) else x for x in given)
        if function is not None:
            values = [_copied(x) if isinstance(x, Tensor) else x for x in given]
            self.custom.append((function, values))
        self._makers.update(dict.fromkeys(made, CallStep(run, reads, kept, made)))

    def _below(self, goal: int) -> tuple[list[CallStep], set[int]]:
        steps: dict[int, CallStep] = {}
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
        self, root: Tensor
    ) -> tuple[Callable[..., object], list[Tensor], list[Tensor]]:
        """Return a function of leaves that computes ``root``, copies of these leaves,
        and the leaves themselves; raise `NoMeaning` if a value cannot be computed."""
        goal = self.number(root)
        order, needed = self._below(goal)
        starts = [n for n in sorted(needed) if n not in self._makers]
        leaves = [n for n in starts if self._values[n].requires_grad]
        fixed = {n: self._values[n] for n in starts if n not in leaves}

        def replay(*given: Tensor) -> Tensor:
            values = {n: _fitting(t, given) for n, t in fixed.items()}
            values.update(zip(leaves, given, strict=True))
            for step in order:
                inputs = [
                    x if n is None else values[n]
                    for n, x in zip(step.reads, step.given, strict=True)
                ]
                out = step.run(*inputs)
                parts = out if isinstance(out, tuple | list) else (out,)
                tensors = [y for y in parts if isinstance(y, Tensor)]
                values.update(zip(step.made, tensors, strict=True))
            return values[goal]

        copies = [self._values[n] for n in leaves]
        return replay, copies, [self._held[n] for n in leaves]


def _copied(t: Tensor) -> Tensor:
    return Tensor(t.xp.clone(t.raw), t.xp, t.requires_grad)


def _fitting(t: Tensor, given: Sequence[Tensor]) -> Tensor:
    """Return a constant, converted to float64 if all given tensors have that type."""
    doubles = all(x.raw.dtype.name == "float64" for x in given)
    if not doubles or t.raw.dtype.kind != "f":
        return t
    return Tensor(t.raw.astype("float64"), t.xp)


@contextmanager
def recording() -> Iterator[CallRecording]:
    """Record the calls that are made while the block runs."""
    tape = CallRecording()

    def look(op: Any, inputs: Any, params: Params, raw: object, out: Any) -> None:
        if not tape.depth and MODE.enabled:
            tape.note(lambda *given: apply(op, given, dict(params)), inputs, out)

    plain = vars(Function)[APPLY]

    def applied(cls: type[Function], *args: Any, **kwargs: Any) -> object:
        tape.depth += 1
        try:
            out = plain.__func__(cls, *args, **kwargs)
        finally:
            tape.depth -= 1
        if not tape.depth and MODE.enabled:
            tape.note(lambda *given: cls.apply(*given, **kwargs), args, out, cls)
        return out

    setattr(Function, APPLY, classmethod(applied))
    try:
        with MODE.having(on_call=(*MODE.on_call, look)):
            yield tape
    finally:
        setattr(Function, APPLY, plain)
