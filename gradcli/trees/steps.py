"""From trees to steps: what is used more than once gets a name.

Invariant: a step's text reads nothing but inputs and steps before it, so the steps are
a program; each shared part stands in it once.

    arranged([("x_grad", tree)], {}, DIALECT)       # (Step("t1", "exp(x)"), ...)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..views.spelling import Text
from .dialect import Dialect
from .names import Names
from .tree import FILLED, LEAVES, LITERAL, NAME, NUMBER, Tree, below

LONGEST: Final = 72
"""Characters up to which a step's text may grow before parts of it become steps."""

SHORTEST: Final = 8
"""Characters of a part that is not worth a step of its own."""


@dataclass(frozen=True, slots=True)
class Step:
    """``name = text``."""

    name: str
    text: str


def reachable(roots: Iterable[Tree]) -> list[Tree]:
    """All trees below the roots, each after those it is made of."""
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
    names: Names,
    kept: Iterable[Tree] = (),
) -> tuple[Step, ...]:
    """The steps that give the outputs.

    Args:
        outputs: names and trees.
        called: what other trees are called, by serial.
        dialect: the language that the steps are written in.
        names: where further names come from.
        kept: trees that have to be made, in order, whether they are used or not.
    """
    kept = tuple(kept)
    trees = reachable([*(tree for _, tree in outputs), *kept])
    uses = Counter(part.serial for tree in trees for part in below(tree))
    first = dict(called)
    first |= {tree.serial: name for name, tree in reversed(outputs)}
    forced = {tree.serial for tree in kept}
    last = {tree.serial for _, tree in outputs if not uses[tree.serial]} - forced
    page = _Page(dialect, names)
    for tree in trees:
        page.write(tree)
        shared = uses[tree.serial] > 1 and not _slight(tree)
        wanted = tree.serial in first or tree.serial in forced
        if shared or (wanted and tree.serial not in last and tree.head not in LEAVES):
            page.name(tree, first.get(tree.serial))
    made = {step.name for step in page.steps}
    for name, tree in outputs:
        if name in made:
            continue
        if tree.head == NUMBER:
            page.steps.append(Step(name, dialect.returned(tree.args[0])))
        else:
            page.name(tree, name)
    return tuple(page.steps)


class _Page:
    """Texts as they grow, and the steps that were taken out of them."""

    def __init__(self, dialect: Dialect, names: Names) -> None:
        self._dialect = dialect
        self._names = names
        self.texts: dict[int, Text] = {}
        self.steps: list[Step] = []

    def write(self, tree: Tree) -> None:
        """The tree's text; of what is too long its longest parts become steps."""
        text = self._dialect.text(tree, self.texts)
        while len(text.written) > LONGEST:
            part = max(below(tree), key=self._length, default=None)
            if part is None or self._length(part) < SHORTEST:
                break
            self.name(part, None)
            text = self._dialect.text(tree, self.texts)
        self.texts[tree.serial] = text

    def name(self, tree: Tree, name: str | None) -> None:
        """Make a step of a tree that has a text."""
        step = Step(name or self._names.step(), self.texts[tree.serial].written)
        self.steps.append(step)
        self.texts[tree.serial] = Text(step.name)

    def _length(self, tree: Tree) -> int:
        return 0 if tree.head in _WHOLE else len(self.texts[tree.serial].written)


_WHOLE: Final = LEAVES - {LITERAL}


def _slight(tree: Tree) -> bool:
    """Whether a part is written again rather than named."""
    if tree.head in ("T", "mT", "neg"):
        return tree.args[0].head in (NAME, NUMBER)
    return tree.head in (NAME, NUMBER, FILLED) or (
        tree.head == LITERAL and tree.size <= 2
    )
