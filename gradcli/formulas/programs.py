"""A derivative as a program: this module alone decides what is written, and how.

A gradient is written on arrays where the dialect has them, anything else entry by
entry. Both are steps: a part that is used more than once gets a name, and a dialect
turns it into text.

Invariants: the text is complete: it runs, compiles or imports by itself, and a comment
says where it holds. A step reads only inputs and steps before it, so each shared part
is computed once. The numbers that the engine found are not used.

    Wanted(run, "numpy").lines()    # ["import numpy as np", "", "", "def gradient(x): …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from ..engine import NUMPY, Tensor
from ..engine.devices import host
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..lang.run import Run, evaluate
from ..ops.spellings import OPPOSITES
from .c import C
from .dialect import LANGUAGE, Dialect, Language, ReturnedArray, Written
from .latex import LatexDialect
from .libraries import NumPy, PyTorch
from .namespace import TreeNamespace
from .program import MAX_CODE_STEPS, TOO_MANY_STEPS, adjoint, entrywise
from .texts import Text
from .tree import (
    FILLED,
    LEAVES,
    LITERAL,
    NAME,
    NUMBER,
    FreshNames,
    TooLong,
    Tree,
    Unwritable,
    below,
)

DIALECTS: Final[Mapping[str, type[Dialect]]] = {
    "gradcli": Language, "numpy": NumPy, "torch": PyTorch, "c": C, "latex": LatexDialect
}  # fmt: skip

CALLED: Final = {
    "gradient": ("gradient", "grad"),
    "jacobian": ("Jacobian", "jac"),
    "hessian": ("Hessian", "hess"),
}
"""Noun for each kind of derivative, and the ending of its results' names."""

RELATIVE_ROUNDING: Final = 1e-9
"""Largest relative distance of a program's result from the gradients."""

MAX_CONDITION_CHARACTERS: Final = 200
"""Largest length of a condition that is written out, in characters."""

PIVOTS: Final = (
    "The pivots of a matrix are those of the point that it was made at: elsewhere",
    "digits may be lost, and a pivot that is 0 gives nan.",
)


MAX_STEP_CHARACTERS: Final = 72
"""Largest length of a step's text before parts of it become steps, in characters."""

MIN_PART_CHARACTERS: Final = 8
"""Smallest length of a part that becomes a step of its own, in characters."""

_UNSPLIT: Final = LEAVES - {LITERAL}
"""Heads of trees that are no parts to make steps of."""

Step: TypeAlias = tuple[str, str]
"""Name of a step, and the text of its value."""


def reachable(roots: Iterable[Tree]) -> list[Tree]:
    """Return all trees below the roots, each after those it is made of."""
    found: dict[int, Tree] = {}
    waiting = list(roots)
    while waiting:
        tree = waiting.pop()
        if tree.serial not in found:
            found[tree.serial] = tree
            waiting.extend(below(tree))
    return [found[serial] for serial in sorted(found)]


def arranged(
    outputs: Sequence[tuple[str, Tree]],
    called: Mapping[int, str],
    dialect: Dialect,
    names: FreshNames,
    kept: Iterable[Tree] = (),
) -> tuple[Step, ...]:
    """Return the steps that compute the outputs; each output is a step of its name.
    Some other trees are ``called`` by names, by serial; those that are ``kept`` become
    steps, in order, even if nothing uses them."""
    forced = {tree.serial for tree in kept}
    first = dict(called)
    first |= {tree.serial: name for name, tree in reversed(outputs)}
    page = CodePage(dialect, names, [*(tree for _, tree in outputs), *kept])
    last = {t.serial for _, t in outputs if not page.uses[t.serial]} - forced
    page.write(first, forced, last)
    made = {name for name, _ in page.steps}
    for name, tree in outputs:
        if name in made:
            continue
        if tree.head == NUMBER:
            page.steps.append((name, dialect.returned(tree.args[0])))
        else:
            page.name(tree, name)
    return tuple(page.steps)


class CodePage:
    """The texts of trees, and the steps that parts of them became."""

    def __init__(
        self, dialect: Dialect, names: FreshNames, roots: Iterable[Tree]
    ) -> None:
        self._dialect = dialect
        self._names = names
        self._trees = reachable(roots)
        self.uses = Counter(part.serial for tree in self._trees for part in below(tree))
        self.texts: dict[int, Text] = {}
        self.steps: list[Step] = []

    def write(
        self, called: Mapping[int, str], forced: Collection[int] = (),
        inline: Collection[int] = (),
    ) -> None:  # fmt: skip
        """Write all trees, and make steps of those that need a name: trees that are
        ``called`` by one, by serial, and those that are ``forced``, but not those that
        stay ``inline`` because they have a name."""
        for tree in self._trees:
            self._write(tree)
            serial = tree.serial
            shared = self.uses[serial] > 1 and not self._is_slight(tree)
            wanted = serial in called or serial in forced
            own = wanted and serial not in inline and tree.head not in LEAVES
            if shared or own:
                self.name(tree, called.get(serial))

    def _write(self, tree: Tree) -> None:
        """Write a tree's text; while it is too long, make a step of its longest
        part."""
        for part in self._dialect.repeated(tree):
            if not self._is_slight(part) and not self.texts[part.serial].is_name:
                self.name(part, None)
        text = self._dialect.text(tree, self.texts)
        while len(text.written) > MAX_STEP_CHARACTERS:
            longest = max(below(tree), key=self._length, default=None)
            if longest is None or self._length(longest) < MIN_PART_CHARACTERS:
                break
            self.name(longest, None)
            text = self._dialect.text(tree, self.texts)
        self.texts[tree.serial] = text

    def name(self, tree: Tree, name: str | None) -> None:
        """Make a step of a tree whose text is written."""
        step = name or self._names.step(), self.texts[tree.serial].written
        self.steps.append(step)
        self.texts[tree.serial] = self._dialect.named(step[0])

    def entry(self, tree: Tree) -> str:
        """Return the text of an entry of a result; a number has the library's type."""
        if tree.head == NUMBER:
            return self._dialect.returned(tree.args[0])
        return self.texts[tree.serial].written

    def _length(self, tree: Tree) -> int:
        return 0 if tree.head in _UNSPLIT else len(self.texts[tree.serial].written)

    def _is_slight(self, tree: Tree) -> bool:
        """Tell whether a part is so short that it is repeated rather than named."""
        if tree.head in ("T", "mT", "neg"):
            return tree.args[0].head in (NAME, NUMBER)
        if tree.head == "getitem" and not tree.ndim:
            return len(below(tree)) == 1 and tree.args[0].head == NAME
        small = tree.head == LITERAL and tree.size <= 2
        return small or tree.head in (NAME, NUMBER, FILLED)


@dataclass(frozen=True, slots=True)
class AdjointProgram:
    """The adjoint program in gradcli's own language.

    lines      comments and steps
    gradients  the name of each gradient, by the input's name
    """

    lines: tuple[str, ...]
    gradients: Mapping[str, str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def repeats(self, run: Run, gradients: Mapping[str, Tensor | None]) -> bool:
        """Tell whether the program, run at the run's point, gives these gradients."""
        values = {
            given.name: Tensor(host(given.tensor.raw), NUMPY) for given in run.inputs
        }
        for name, g in gradients.items():
            true = 0.0 if g is None else np.asarray(host(g.raw))
            try:
                found, _, _ = evaluate(
                    self.text, values, of=self.gradients[name], seed=run.seed
                )
            except ProgramError:
                return False
            close = np.isclose(found.raw, true, rtol=RELATIVE_ROUNDING,
                               atol=RELATIVE_ROUNDING, equal_nan=True)  # fmt: skip
            if not close.all():
                return False
        return True


@dataclass(frozen=True, slots=True)
class WantedCode:
    """A derivative of a program that has run on arrays, to be written in a language.

    language    one of `DIALECTS`
    kind        ``gradient``, ``jacobian`` or ``hessian``
    cotangent   the cotangent of an output of several numbers
    notes       remarks on the numbers, a line each
    output      the output's name, if the program gave it one
    by_entries  write it entry by entry also where arrays would do
    """

    run: Run
    language: str
    kind: str = "gradient"
    cotangent: Tensor | None = None
    notes: Sequence[str] = ()
    output: str = ""
    by_entries: bool = False

    def lines(self) -> list[str]:
        """Return the lines of a program that computes the value and the derivative.

        Raises:
            Unwritable: the dialect has no word for a part of it.
            TooLong: the program would have too many parts.
        """
        made = self.written()
        return list(self._dialect(made.inputs).program(made))

    def written(self) -> Written:
        """Return the steps with all comments; raise what `lines` does."""
        if self.kind == "gradient" and self.language != "c" and not self.by_entries:
            try:
                return self._on_arrays()
            except Unwritable as refused:
                try:
                    return self._by_entries()
                except Unwritable:
                    raise refused from None
        return self._by_entries()

    def _dialect(self, inputs: Sequence[tuple[str, tuple[int, ...]]]) -> Dialect:
        return DIALECTS[self.language](inputs[0][0] if inputs else "")

    def _names(self) -> FreshNames:
        dialect = DIALECTS[self.language]
        return FreshNames({*dialect.reserved, self.kind}, dialect.ascii)

    @property
    def _by_itself(self) -> bool:
        """Whether the result leaves out the value, because the program itself says
        it."""
        return self.language in ("gradcli", "latex")

    def _on_arrays(self) -> Written:
        """Return a gradient as steps on arrays."""
        run, own = self.run, self.language == "gradcli"
        dialect = DIALECTS[self.language]
        words, lacks = dialect.words, dialect.lacks()
        found = adjoint(
            run, self.cotangent,
            lambda: TreeNamespace(words, draws=own, lacks=lacks), self._names,
        )  # fmt: skip
        inputs = tuple(
            (found.inputs[i.name], tuple(i.tensor.shape)) for i in run.inputs
        )
        asked = [given.name for given in run.inputs if given.requires_grad]
        value = [] if self._by_itself else [((), found.output)]
        gradients = zip(asked, found.gradients, strict=True)
        outputs = [*value, *(((name,), each) for name, each in gradients)]
        steps = arranged(
            [each for _, each in outputs], found.called, self._dialect(inputs),
            found.names, found.draws if own else (),
        )  # fmt: skip
        results = [ReturnedArray(name, t.shape, by=by) for by, (name, t) in outputs]
        return self._described(inputs, steps, results, found.decisions, True)

    def _by_entries(self) -> Written:
        """Return a derivative as steps on single entries."""
        names = self._names()
        found = entrywise(self.run, self.kind, self.cotangent, names)
        ending = CALLED[self.kind][1]
        blocks = found.blocks[1:] if self._by_itself else found.blocks
        called = [names.take("_".join([*by, ending]) if by else "value")
                  for by, _, _ in blocks]  # fmt: skip
        roots = [tree for _, _, trees in blocks for tree in trees]
        if len(reachable(roots)) > MAX_CODE_STEPS:
            raise TooLong(TOO_MANY_STEPS)
        page = CodePage(self._dialect(found.inputs), names, roots)
        page.write({})
        results = [
            ReturnedArray(name, shape, tuple(map(page.entry, trees)), tuple(by))
            for name, (by, shape, trees) in zip(called, blocks, strict=True)
        ]
        pivots = PIVOTS if found.pivoted else ()
        return self._described(
            found.inputs, tuple(page.steps), results, found.decisions, False, pivots
        )

    def _described(
        self,
        inputs: tuple[tuple[str, tuple[int, ...]], ...],
        steps: tuple[tuple[str, str], ...],
        results: Sequence[ReturnedArray],
        decisions: Iterable[Tree],
        on_arrays: bool,
        notes: tuple[str, ...] = (),
    ) -> Written:
        """Return the steps with comments on their inputs, their results and
        conditions."""
        renamed = [
            f"{each.name} is the gradient by {each.by[0]}"
            for each in results
            if self.kind == "gradient" and each.by and each.name != f"{each.by[0]}_grad"
        ]
        source = self.run.source.strip().split("\n")
        about = [
            f"The {CALLED[self.kind][0]} of:",
            *(f"    {printable(line.rstrip())}" for line in source),
            "",
        ]
        for (name, shape), given in zip(inputs, self.run.inputs, strict=True):
            other = "" if name == given.name else f" (here for {printable(given.name)})"
            about.append(f"in   {name}: {_shape(shape)}{other}")
        for each in results:
            meaning = _meaning(each.by, printable(self.output))
            about.append(f"out  {each.name}: {meaning}, {_shape(each.shape)}")
        return Written(
            self.kind, tuple(about), (*self.notes, *notes),
            tuple(conditions(decisions)), tuple(renamed), inputs, steps,
            tuple(results), on_arrays,
        )  # fmt: skip


def program(
    run: Run, cotangent: Tensor | None = None, notes: Sequence[str] = ()
) -> AdjointProgram:
    """Return the gradient as a program; notes and conditions are comments on top.

    Raises:
        Unwritable: the language has no word for a part of it.
        TooLong: the program would have too many parts.
    """
    made = WantedCode(run, "gradcli", cotangent=cotangent, notes=notes).written()
    named = {result.by[0]: result.name for result in made.results}
    return AdjointProgram(tuple(LANGUAGE.program(made)), named)


def _shape(shape: Sequence[int]) -> str:
    return f"shape {list(shape)}" if shape else "a number"


def _meaning(by: Sequence[str], of: str) -> str:
    if not by:
        return of or "the output"
    power = len(by) if len(by) > 1 else ""
    return f"d{power}{of}/d{' d'.join(map(printable, by))}"


def conditions(decisions: Iterable[Tree], dialect: Dialect = LANGUAGE) -> Iterator[str]:
    """Yield the decisions that depend on inputs as conditions of the language that
    held."""
    said = set()
    for tree in decisions:
        if any(part.head == NAME for part in reachable([tree])):
            opposite = OPPOSITES.get(tree.head)
            if not tree.value and opposite:
                tree = tree.xp.operate(opposite, *tree.args)
            text = inline(tree, dialect)
            shown = text.written if tree.value else f"not {text:SUM}"
            if shown not in said:
                said.add(shown)
                yield shown


def inline(
    tree: Tree, dialect: Dialect = LANGUAGE, cut: str = "...",
    limit: int = MAX_CONDITION_CHARACTERS,
) -> Text:  # fmt: skip
    """Return the tree in one expression; ``cut`` replaces parts of more than ``limit``
    characters."""
    texts: dict[int, Text] = {}
    for part in reachable([tree]):
        text = dialect.text(part, texts)
        is_short = len(text.written) <= limit
        texts[part.serial] = text if is_short else Text(cut)
    return texts[tree.serial]
