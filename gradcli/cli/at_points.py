"""A program at many points: the rows of a table, or evenly spaced values.

Invariant: rows come in their order and are written as they are computed; a row that
cannot be computed is reported on stderr by its number, and the exit status tells that
there was one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, islice, product
from math import floor, isfinite, log10, nan, prod
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.box import read_range
from ..answers.gradients import gradients
from ..answers.question import Question, notes_on_data
from ..answers.writer import Bar, wants_bar
from ..engine import resolve
from ..lang import compiled
from ..lang.bindings import read_binding
from ..lang.compiled import Compiled, check_names
from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..lang.factory import Factory
from ..lang.prepare import data_among, value_of
from ..lang.suggest import did_you_mean
from ..tables.column_files import format_of, open_columns
from ..tables.points import (
    STANDARD_INPUT,
    point_blocks,
    refuse_one_of_several,
    total_size,
)
from ..tables.text_tables import Points, RowBlock, WantedColumns
from ..tables.workers import Done, NanRow, Task, workers
from .checking import CheckProcess
from .ending import before_exit, status_of
from .limits import once, printing, renew, rows
from .options import Many, listed
from .output import flush_warnings, form, note, rows_output, warn
from .problems import Exit, wrong

if TYPE_CHECKING:
    from ..answers.curves import Curve, Field
    from ..answers.question import Question
    from ..check.process.job import Verification
    from ..lang.nested import Floats

ROW_POINTS = 11
CURVE_POINTS = 401
SIDE_POINTS = 81
"""Number of points of a range without a count: for rows, for a curve, and along each
side where lines of equal value are drawn."""

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


def run(
    question: Question,
    many: Many,
    kind: str,
    require: str | None = None,
) -> int:
    """Compute the value and what is of this ``kind``, a command's name, at every point;
    return the exit status. ``require`` is what each row is to be."""
    work = _Work(question, many, kind)
    if require is not None:
        plain = replace(question, tell=lambda text: None, wrt=work.program.settings.wrt)
        work.required = Required(plain, kind, require)
    flush_warnings()
    return work.run()


FINITE = "finite"
"""Requirement that no number is infinite or nan."""


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement of the rows of a table.

    question  the program, with the values that all rows share
    kind      what is computed: the command's name
    least     the weakest verdict that is no failure, or `FINITE`
    """

    question: Question
    kind: str
    least: str

    def shortfalls(
        self, given: Mapping[str, Any], results: Sequence[Any], rows: Sequence[int]
    ) -> list[tuple[int, str]]:
        """Return the numbers of the rows that fall short, of these ``rows``, and why.

        Args:
            given: the columns of the inputs.
            results: the columns of values and derivatives.
        """
        found = []
        for nr in rows:
            if not all(np.isfinite(column[nr]).all() for column in results):
                found.append((nr, f"not {FINITE}"))
            elif self.least != FINITE:
                text = self._weakness({name: c[nr] for name, c in given.items()})
                found += [(nr, text)] if text else []
        return found

    def _weakness(self, values: Mapping[str, Any]) -> str:
        """Return why the verdict on one row is too weak; nothing if it is not."""
        from ..check.process.job import is_weaker

        words = (f"{name}={np.asarray(v).tolist()!r}" for name, v in values.items())
        bound = (*self.question.values, *map(read_binding, words))
        try:
            verification = self._verified(replace(self.question, values=bound))
        except ProgramError as error:
            return error.message
        weak = [v for v in verification.inputs if is_weaker(v.verdict, self.least)]
        if not weak:
            return ""
        reason = f": {weak[0].note}" if weak[0].note else ""
        return f"{weak[0].name}: {weak[0].verdict}, not {self.least}{reason}"

    def _verified(self, question: Question) -> Verification:
        """Return the verdicts on the derivatives at one point."""
        check = CheckProcess(question, needed=True)
        run = question.run()
        if self.kind == "grad":
            found = gradients(run, question.grad_output, with_graph=False)
            check.submit(*found.job(question.seconds))
        else:
            from ..answers.derivatives import hessian, jacobian

            every = self.kind == "hessian"
            blocks = hessian(run) if every else jacobian(run, "auto")
            check.submit(blocks.job(question.seconds, False))
        verification: Verification = check.finish()
        return verification


class _Work:
    """A program and its points, with what is known of its run."""

    def __init__(self, question: Question, many: Many, kind: str) -> None:
        wrt = () if kind == "value" else question.wrt
        self.many, self.kind = many, kind
        same = {n: getattr(question, n) for n in ("dtype", "device", "seed", "of")}
        self.program = compiled.compile(question.program, wrt=wrt, **same)
        bindings = question.values
        factory = Factory(resolve(question.device), question.dtype, question.seed)
        self.shared = {b.name: value_of(b, factory) for b in bindings}
        self.swept = swept(many.sweep or (), factory, kind == "plot")
        known = {*self.shared, *self.swept}
        names = self.program.reading(known).names
        self.free = [name for name in names if name not in known]
        check_names(names, known, self.free)
        data = data_among(names, bindings)
        if data and wrt is None:
            for text in notes_on_data([name for name in names if name in data]):
                question.tell(text)
            wrt = tuple(n for n in names if n not in data)
            settings = self.program.settings._replace(wrt=wrt)
            self.program = Compiled(question.program, settings)
        # The inputs that differ from point to point, and those differentiated by.
        self.given = tuple(self.swept or self.free)
        self.wanted = tuple(name for name in names if wrt is None or name in wrt)
        renamed = many.renamed
        read = {new: old for new, old in renamed.items() if new in self.free}
        self.written_as = {n: old for n, old in renamed.items() if n not in read}
        self.kept = tuple(n for n in listed(many.keep) or () if n not in self.given)
        free, named = tuple(self.free), tuple(listed(many.columns) or ())
        self.asked = WantedColumns(free, self.kept, read, named)
        self.bad = self.nan = self.first_nan = self.weak = 0
        self.count = 1
        self.single = 0
        self.required: Required | None = None

    def run(self) -> int:
        """Compute the rows and write them as they come; return the exit status."""
        blocks, table, out = self._blocks(), self.many.table, self.many.out
        suffix = ".jsonl" if form.json else ".csv"
        # Mistakes in the table are reported before anything is written.
        for block in islice(blocks, 1):
            points = block()
            suffix = suffix if form.json else block.look
            blocks = chain([RowBlock(partial(Points, *points), block.size)], blocks)
        columns = self._columns()
        task = Task(
            self.program, self.shared, self.given, self.kept, self.kind, columns,
            suffix if out is None else format_of(out), self.many.on_error, rows,
            None if self.required is None else self.required.shortfalls,
        )  # fmt: skip
        # The rows of a pipe may come slowly, so results are not held back for more of
        # them.
        held_back = table != STANDARD_INPUT
        if out is not None and table is not None:
            refuse_one_of_several(table, out)
        written = open_columns(out, rows_output(), task.suffix, columns)
        try:
            with once(), ExitStack() as stack:
                with printing():  # a cluster may take its time to answer
                    here = workers(self.many.cluster, task, held_back)
                    found = stack.enter_context(here)
                file = stack.enter_context(written)
                moved = stack.enter_context(self._progress())
                for done in found.in_order(self._in_sizes(blocks)):
                    renew()
                    self.single += done.single
                    file.write(done.rows)
                    file.file.flush()
                    before = self.count
                    self._report(done)
                    moved(done.size)
                    if isinstance(done.error, NanRow):
                        raise done.error.at(before)
                    if done.error is not None:
                        raise done.error
        except KeyboardInterrupt as interrupt:
            unwritten = "" if out is None else f"; {out} is not written"
            note(f"interrupted: {_rows(self.count - 1)} done{unwritten}")
            return status_of(interrupt)
        if self.bad:
            be = "is" if self.bad == 1 else "are"
            became = f"{be} nan" if self.many.on_error == "nan" else f"{be} skipped"
            note(f"note: {_rows(self.bad)} could not be computed and {became}")
        if self.nan:
            be = "is" if self.nan == 1 else "are"
            out_of = " and skipped" if self.many.on_error == "skip" else ""
            first = f"the first is row {self.first_nan}"
            note(f"note: {_rows(self.nan)} {be} nan{out_of}; {first}")
        if self.bad or (self.nan and self.many.on_error is not None):
            return Exit.PROGRAM
        return Exit.REFUTED if self.weak else Exit.DONE

    def _columns(self) -> tuple[str, ...]:
        """Return the names of the columns that are written, all different: a result
        whose name another column has is numbered."""
        by = product(self.wanted, repeat=1 + (self.kind == "hessian"))
        names = [*self.kept, *self.given]
        for usual in ("value", *("_".join([self.kind, *each]) for each in by)):
            numbered = (f"{usual}_{number}" for number in count(2))
            name = next(n for n in chain([usual], numbered) if n not in names)
            names.append(name)
            if name != usual:
                what = "an input" if usual in self.given else "kept"
                note(f"note: {usual} is {what}: the result is in the column {name}")
        for new, old in self.written_as.items():
            if old not in names:
                known = f"the columns are {enumerated(names)}"
                hint = did_you_mean(old, names) or known
                raise wrong("E595", f"--rename: there is no column {old!r}", hint)
            names[names.index(old)] = new
        return tuple(names)

    def _in_sizes(self, blocks: Iterable[RowBlock]) -> Iterator[RowBlock]:
        """Yield the blocks in parts: small ones at first, and wherever rows are
        computed one by one, so that the first rows are soon written."""

        def together() -> bool:
            """Return whether most rows so far were computed together."""
            return self.single < (self.count - 1) / 10

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

    def _blocks(self) -> Iterator[RowBlock]:
        if self.many.table is not None:
            if self.free:
                return point_blocks(self.many.table, self.asked)
            hint = "leave out a NAME=VALUE"
            raise wrong("E590", "--table: every input has a value already", hint)
        if self.free:
            hint = f"add {self.free[0]}=VALUE"
            raise wrong("E506", f"no value for {enumerated(self.free)}", hint)
        return _grid(self.swept)

    def _report(self, done: Done) -> None:
        told = [
            text if nr is None else f"row {self.count + nr}: {text}"
            for nr, text in done.bad
        ]
        shown = told[: max(0, MAX_TOLD_ROWS - self.bad)]
        self.bad += len(told)
        if done.nan and not self.nan:
            self.first_nan = self.count + done.nan[0]
        self.nan += len(done.nan)
        for nr, text in done.weak[: max(0, MAX_TOLD_ROWS - self.weak)]:
            note(f"row {self.count + nr}: {text}")
        self.weak += len(done.weak)
        self.count += done.count
        for text in shown:
            note(f"note: {text}")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def swept(texts: Sequence[str], factory: Factory, drawn: bool) -> dict[str, Floats]:
    """Return the values of the inputs that are swept, by name, from texts
    ``NAME=START..STOP:COUNT`` or ``NAME=[VALUES]``; more points if they are
    ``drawn``."""
    found: dict[str, Floats] = {}
    usual = (SIDE_POINTS if len(texts) > 1 else CURVE_POINTS) if drawn else ROW_POINTS
    ranges = [(text, read_range(text)) for text in texts]
    old = next((each.text for _, each in ranges if each and each.old), None)
    if old is not None:
        warn(f"a range is written with two dots: {old}")
    for text, each in ranges:
        count = each and (str(usual) if each.points is None else each.points)
        listed = None if each else _listed(text, factory)
        if listed is not None:
            name, number = read_binding(text).name, len(listed)
        elif each and count and count.lstrip("-").isdecimal():
            name, number = each.start.name, int(count)
        else:
            hint = "as in --sweep x=0..1:101, for 101 points, or --sweep x=[0,1,5]"
            message = f"--sweep: {text!r} is not NAME=START..STOP:COUNT"
            raise wrong("E595", message, hint)
        if name in found:
            message = f"--sweep: {name} is swept over twice"
            raise wrong("E503", message, "leave out one of the two")
        most = MAX_SWEPT_POINTS // prod(len(values) for values in found.values())
        if not 1 <= number <= most:
            hint = f"all sweeps together have 1 to {MAX_SWEPT_POINTS:,}"
            raise wrong("E595", f"--sweep {text}: {number:,} points", hint)
        if listed is not None:
            found[name] = listed
            continue
        ends = (each.start, each.stop) if each else ()
        both = [np.asarray(value_of(end, factory)) for end in ends]
        if any(end.shape for end in both):
            raise wrong("E595", f"--sweep {text}: an end is no number", "give a number")
        first, last = map(float, both)
        if not isfinite((last - first) * number):
            shown = each._replace(points=None).text if each else text
            message = f"the range {shown} has no end"
            raise wrong("E595", message, "give two finite ends, as in x=-3..3")
        # Rounded once, so that 0..3:11 has 0.9 among its points.
        steps = np.arange(number) * (last - first) / max(1, number - 1)
        found[name] = np.append(first + steps[:-1], last if number > 1 else first)
    return found


def _listed(text: str, factory: Factory) -> Floats | None:
    """Return the values in ``NAME=[VALUES]``; None if the text is not that."""
    _, equals, listed = text.partition("=")
    if not equals or not listed.strip().startswith("["):
        return None
    values = np.asarray(value_of(read_binding(text), factory))
    return values.astype(float) if values.ndim == 1 and values.size else None


def _grid(axes: Mapping[str, Floats]) -> Iterator[RowBlock]:
    """Yield all combinations of values in blocks, the last name's changing fastest."""
    sizes = tuple(len(values) for values in axes.values())
    for start in range(0, prod(sizes), BLOCK_POINTS):
        numbers = np.arange(start, min(start + BLOCK_POINTS, prod(sizes)))
        places = np.unravel_index(numbers, sizes)
        pairs = zip(axes.items(), places, strict=True)
        columns = {name: values[at] for (name, values), at in pairs}
        yield RowBlock(partial(Points, columns, ()))


def over_sweep(question: Question, many: Many, log: str) -> Curve | Field:
    """Return value and derivatives over one sweep, or two, NaN where there are none;
    the places on a logarithmic axis "x" have equal ratios."""
    from ..answers.curves import Curve, Field, Surface

    program, work = question.program, _Work(question, many, "plot")
    if work.free:
        hint = f"add {work.free[0]}=VALUE, or a range: {work.free[0]}=-3..3"
        raise wrong("E506", f"no value for {enumerated(work.free)}", hint)
    for name, values in work.swept.items():
        low, high = sorted(map(float, values[[0, -1]]))
        if low == high:
            hint = "give two different ends, and 2 points or more"
            raise wrong("E595", f"plot: the range of {name} has one point", hint)
        if "x" in log and low <= 0:
            message = f"--log x: the range of {name} goes down to 0"
            raise wrong("E595", message, "give positive ends, as in x=0.01..100")
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
