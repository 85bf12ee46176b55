"""A program at many points: the rows of a table, or evenly spaced values.

Invariant: rows come in their order and are written as they are computed; a row that
cannot be computed is reported on stderr by its number, and the exit status tells that
there was one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from math import floor, isfinite, log10, nan, prod
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from ..answers.plot import Curve, Field, Surface
from ..answers.question import notes_on_data
from ..engine import resolve
from ..lang import compiled
from ..lang.bindings import read_bindings
from ..lang.compiled import check_names
from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..lang.factory import Factory
from ..lang.points import (
    STANDARD_INPUT,
    point_blocks,
    refuse_one_of_several,
    text_format,
    total_size,
)
from ..lang.prepare import data_among, value_of
from ..lang.rows import Ways
from ..lang.text_tables import Block, Points
from ..render.columns import columns_to, format_of, open_columns
from ..render.notes import ways_notes
from ..render.progress import Bar, wants_bar
from .ending import before_exit
from .executors import Done, Task, header, results, workers
from .limits import once, renew
from .option_groups import Many
from .output import form, note, standard_output, tell_at_once
from .problems import Exit, wrong

if TYPE_CHECKING:
    from ..answers.question import Question
    from ..lang.nested import Floats

HALVINGS = 40
EDGE_DIGITS = 9
"""Number of times that the distance to an edge is halved, and of digits, beyond those
of the distance between points, that an edge is rounded to."""

MAX_TOLD_ROWS = 20
"""Largest number of bad rows that are reported one by one."""

MAX_SWEPT_POINTS = 1 << 24
"""Largest number of points of a grid."""

BLOCK_POINTS = 1 << 14
"""Number of points of a grid in a block."""

FEW_POINTS = 256
"""Number of points in a block whose rows are computed one by one."""

MANY_POINTS = 1 << 17
"""Number of points in a block whose rows are computed together."""


def run(question: Question, many: Many, trace: bool = False) -> int:
    """Compute value and gradients at every point; return the exit status. With
    ``trace`` stderr tells how the rows are computed."""
    work = _Work(question, many, trace)
    tell_at_once()
    return work.run()


class _Work:
    """A program and its points, with what is known of its run."""

    def __init__(self, question: Question, many: Many, trace: bool = False) -> None:
        self.many = many
        self.trace = trace
        compile_by = partial(
            compiled.compile,
            question.program,
            dtype=question.dtype,
            device=question.device,
            seed=question.seed,
            of=question.of,
        )
        self.program = compile_by(wrt=question.wrt)
        bindings = question.values
        factory = Factory(resolve(question.device), question.dtype, question.seed)
        self.shared = {b.name: value_of(b, factory) for b in bindings}
        self.swept = swept(many.sweep or (), factory)
        twice = next((name for name in self.swept if name in self.shared), None)
        if twice is not None:
            hint = "leave out one of the two"
            raise wrong("E503", f"--sweep: {twice} has a value already", hint)
        known = {*self.shared, *self.swept}
        names = self.program.reading(known).names
        self.free = [name for name in names if name not in known]
        check_names(names, known, self.free)
        data = data_among(names, bindings)
        if data and question.wrt is None:
            for text in notes_on_data([name for name in names if name in data]):
                question.tell(text)
            self.program = compile_by(wrt=[n for n in names if n not in data])
        wrt = self.program.settings.wrt
        self.given = tuple(self.swept or self.free)
        """Inputs that differ from point to point."""
        self.wanted = tuple(name for name in names if wrt is None or name in wrt)
        """Inputs whose gradients are written."""
        self.bad = 0
        self.count = 1
        self.ways: Ways | None = None

    def run(self) -> int:
        """Compute the rows and write them as they come; return the exit status."""
        blocks, table, out = self._blocks(), self.many.table, self.many.out
        suffix = ".jsonl" if form.json else ".csv"
        if table is not None and not form.json:
            suffix = text_format(table)
        # Mistakes in the table are reported before anything is written.
        for block in islice(blocks, 1):
            points = block()
            blocks = chain([Block(partial(Points, *points), block.size)], blocks)
        columns = header(self.given, self.wanted)
        names = columns[len(self.given) :]
        for usual, name in zip(results(self.wanted), names, strict=True):
            if name != usual:
                note(f"note: {usual} is an input: the result is in the column {name}")
        task = Task(
            self.program, self.shared, self.given, self.wanted,
            suffix if out is None else format_of(out), self.many.on_error,
        )  # fmt: skip
        # The rows of a pipe may come slowly, so results are not held back for more of
        # them.
        held_back = table != STANDARD_INPUT
        if out is not None and table is not None:
            refuse_one_of_several(table, out)
        written = (
            columns_to(standard_output().buffer, suffix, columns)
            if out is None
            else open_columns(out, columns)
        )
        try:
            with (
                once(),
                workers(self.many.cluster, task, held_back) as found,
                written as file,
                self._progress() as moved,
            ):
                for done in found.in_order(self._in_sizes(blocks)):
                    renew()
                    if done.ways is not None:
                        ways = self.ways
                        self.ways = (
                            done.ways if ways is None else ways.and_then(done.ways)
                        )
                    file.write(done.rows)
                    file.flush()
                    self._tell(done)
                    moved(done.size)
                    if done.error is not None:
                        raise done.error
        except KeyboardInterrupt:
            unwritten = "" if out is None else f"; {out} is not written"
            note(f"interrupted: {_rows(self.count - 1)} done{unwritten}")
            return Exit.INTERRUPTED
        self._tell_ways(self.ways)
        if self.bad:
            be = "is" if self.bad == 1 else "are"
            became = f"{be} nan" if self.many.on_error == "nan" else f"{be} left out"
            note(f"note: {_rows(self.bad)} could not be computed and {became}")
        return Exit.PROGRAM if self.bad else Exit.DONE

    def _tell_ways(self, ways: Ways | None) -> None:
        """Write how the rows were computed to stderr, if that was asked for."""
        if self.trace and ways is not None:
            for line in ways_notes(ways):
                note(line)

    def _in_sizes(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks in parts: small ones at first, and wherever rows are
        computed one by one, so that the first rows are soon written."""

        def together() -> bool:
            """Return whether most rows so far were computed together."""
            return self.ways is not None and self.ways.alone < self.ways.rows / 10

        for block in blocks:
            if together():
                yield block
            else:
                size = lambda: MANY_POINTS if together() else FEW_POINTS
                yield from block.parts(size)

    def edges(self, name: str, x: Floats, value: Floats) -> Floats:
        """Return where values begin or end, with the value and the slope there, a row
        for each: found by halving the distance between a point that has a value and one
        that has none, and rounded if there is a value, too."""
        known = ~np.isnan(value)
        (left,) = np.nonzero(known[1:] != known[:-1])
        if not left.size:
            return np.empty((0, 3))
        ends = np.stack([x[left], x[left + 1]])
        inside, outside = np.where(known[left], ends, ends[::-1])
        at = partial(self.program.at_rows, shared=self.shared, failed={})
        digits = EDGE_DIGITS - floor(log10(np.diff(x).min()))
        for turn in range(HALVINGS, -1, -1):
            middle = inside / 2 + outside / 2 if turn else np.round(inside, digits)
            known = ~np.isnan(at({name: middle}).value)
            inside = np.where(known, middle, inside)
            outside = np.where(known, outside, middle)
        found = at({name: inside})
        slopes = found.grads.get(name, inside * nan)
        return np.column_stack([inside, found.value, slopes])

    @contextmanager
    def _progress(self) -> Iterator[Callable[[int], None]]:
        """Yield a function that moves a bar on stderr, if the bar may be shown."""
        beside = self.many.out is None and sys.stdout.isatty()
        if beside or not wants_bar(sys.stderr):
            yield lambda size: None
            return
        table = self.many.table
        total = None if table is None else total_size(table)
        bar = Bar(sys.stderr, 100 if total else None)
        start, done = monotonic(), 0

        def moved(size: int) -> None:
            nonlocal done
            done += size
            rate = self.count / max(monotonic() - start, 1e-9)
            text = f"{self.count - 1:,} rows, {rate:,.0f} a second"
            bar.at(100 * done // total if total else self.count - 1, lambda: text)

        before_exit.append(bar.stop)
        try:
            yield moved
        finally:
            bar.stop()

    def _blocks(self) -> Iterator[Block]:
        if self.many.table is not None:
            if self.free:
                return point_blocks(self.many.table, self.free)
            hint = "leave out a NAME=VALUE"
            raise wrong("E590", "--table: every input has a value already", hint)
        if self.free:
            hint = f"add {self.free[0]}=VALUE"
            raise wrong("E506", f"no value for {enumerated(self.free)}", hint)
        return _grid(self.swept)

    def _tell(self, done: Done) -> None:
        told = [
            text if nr is None else f"row {self.count + nr}: {text}"
            for nr, text in done.bad
        ]
        shown = told[: max(0, MAX_TOLD_ROWS - self.bad)]
        self.bad += len(told)
        self.count += done.count
        for text in shown:
            note(f"note: {text}")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def swept(texts: Sequence[str], factory: Factory) -> dict[str, Floats]:
    """Return the values of the inputs that are swept, by name, from texts
    ``NAME=START:STOP:COUNT``."""
    found = {}
    for text in texts:
        try:
            start, stop, count = text.partition("=")[2].split(":")
            number = int(count)
        except ValueError:
            hint = "as in --sweep x=0:1:101"
            message = f"--sweep: {text!r} is not NAME=START:STOP:COUNT"
            raise wrong("E595", message, hint) from None
        (binding,) = read_bindings([text])
        if binding.name in found:
            message = f"--sweep: {binding.name} is swept over twice"
            raise wrong("E503", message, "leave out one of the two")
        if not 1 <= number <= MAX_SWEPT_POINTS:
            hint = f"give 1 to {MAX_SWEPT_POINTS:,}"
            raise wrong("E595", f"--sweep {text}: {number:,} points", hint)
        first, last = (_end(binding.name, end, factory) for end in (start, stop))
        if not isfinite(last - first):
            message = f"the range {text.rpartition(':')[0]} has no end"
            raise wrong("E595", message, "give two finite ends, as in x=-3:3")
        found[binding.name] = np.linspace(first, last, number)
    if prod(len(values) for values in found.values()) > MAX_SWEPT_POINTS:
        hint = f"{MAX_SWEPT_POINTS:,} are allowed"
        raise wrong("E595", "--sweep: the grid has too many points", hint)
    return found


def _end(name: str, text: str, factory: Factory) -> float:
    """Return the number that an end of a range, an expression, means."""
    (binding,) = read_bindings([f"{name}={text}"])
    value = np.asarray(value_of(binding, factory))
    if value.shape:
        raise wrong("E595", f"--sweep {name}: {text} is no number", "give a number")
    return float(value)


def _grid(axes: Mapping[str, Floats]) -> Iterator[Block]:
    """Yield all combinations of values in blocks, the last name's changing fastest."""
    sizes = tuple(len(values) for values in axes.values())
    for start in range(0, prod(sizes), BLOCK_POINTS):
        numbers = np.arange(start, min(start + BLOCK_POINTS, prod(sizes)))
        places = np.unravel_index(numbers, sizes)
        pairs = zip(axes.items(), places, strict=True)
        columns = {name: values[at] for (name, values), at in pairs}
        yield Block(partial(Points, columns, ()))


def over_sweep(question: Question, many: Many, log: str) -> Curve | Field:
    """Return value and derivatives over one sweep, or two, NaN where there are none;
    the places on a logarithmic axis "x" have equal ratios."""
    program, work = question.program, _Work(question, many)
    if work.free:
        hint = f"add {work.free[0]}=VALUE, or a range: {work.free[0]}=-3:3"
        raise wrong("E506", f"no value for {enumerated(work.free)}", hint)
    for name, values in work.swept.items():
        low, high = sorted(map(float, values[[0, -1]]))
        if low == high:
            hint = "give two different ends, and 2 points or more"
            raise wrong("E595", f"plot: the range of {name} has one point", hint)
        if "x" in log and low <= 0:
            message = f"--log x: the range of {name} goes down to 0"
            raise wrong("E595", message, "give positive ends, as in x=0.01:100")
        spread = np.geomspace if "x" in log else np.linspace
        work.swept[name] = spread(low, high, len(values))
    grid = np.meshgrid(*work.swept.values(), indexing="ij")
    columns = {n: g.ravel() for n, g in zip(work.swept, grid, strict=True)}
    failed: dict[int, ProgramError] = {}
    # A grid is one piece of work: the limit on seconds is for all its points.
    found = work.program.at_rows(columns, work.shared, failed)
    if failed and len(failed) == prod(map(len, work.swept.values())):
        raise next(iter(failed.values()))
    if np.ndim(found.value) > 1:
        hint = "choose one, as in y[0], or add .sum()"
        raise wrong("E590", "plot: the value is not one number", hint)
    unknown = int(np.isnan(found.value).sum())
    if unknown:
        note(f"note: no value at {unknown:,} of the {len(found.value):,} points")
    (name, x), *others = work.swept.items()
    if not others:
        edges, slope = work.edges(name, x, found.value), found.grads.get(name)
        return Curve(program, None, (name,), x, found.value, slope, None, edges)
    ((up, y),) = others
    slopes = [found.grads.get(each, found.value * nan) for each in (name, up)]
    value, *slopes = (np.reshape(n, grid[0].shape).T for n in (found.value, *slopes))
    shown = Surface((name, up), x, y, value, (slopes[0], slopes[1]))
    return Field(program, None, shown)
