"""From trees to steps: a part that is used more than once gets a name.

Invariant: a step's text reads only inputs and steps before it, so the steps are a
program, and each shared part is computed once.

    arranged([("x_grad", tree)], {}, dialect, names)    # (("t1", "exp(x)"), ...)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from ...numbers.trees.texts import Text
from ...numbers.trees.tree import (
    FILLED,
    LEAVES,
    LITERAL,
    NAME,
    NUMBER,
    Names,
    Tree,
    below,
)
from .dialect import Dialect

MAX_STEP_CHARACTERS: Final = 72
"""Largest length of a step's text before parts of it become steps, in characters."""

MIN_PART_CHARACTERS: Final = 8
"""Smallest length of a part that becomes a step of its own, in characters."""

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
    names: Names,
    kept: Iterable[Tree] = (),
) -> tuple[Step, ...]:
    """Return the steps that compute the outputs; each output is a step of its name.

    Args:
        outputs: names and trees of the outputs.
        called: names of other trees, by serial.
        dialect: the language that the steps are written in.
        names: gives further names.
        kept: trees that must become steps, in order, even if nothing uses them.
    """
    forced = {tree.serial for tree in kept}
    first = dict(called)
    first |= {tree.serial: name for name, tree in reversed(outputs)}
    page = Page(dialect, names, [*(tree for _, tree in outputs), *kept])
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


class Page:
    """The texts of trees, and the steps that parts of them became."""

    def __init__(self, dialect: Dialect, names: Names, roots: Iterable[Tree]) -> None:
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
        """Write all trees, and make steps of those that need a name.

        Args:
            called: names of trees, by serial; such a tree becomes a step.
            forced: serials of trees that become steps in any case.
            inline: serials of trees that do not become steps because they have a name.
        """
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
        return tree.head in (NAME, NUMBER, FILLED) or (
            tree.head == LITERAL and tree.size <= 2
        )


_UNSPLIT: Final = LEAVES - {LITERAL}
