"""A derivative as a program: the one place that decides what is written, and how.

A gradient is written on whole arrays where the dialect has them, anything else entry by
entry. Both are steps, and a dialect turns steps into text.

Invariant: the text is complete: it runs, compiles or imports by itself; where it holds
stands in a comment. The numbers that the engine found have no part in it.

    written(run, "numpy")       # ["import numpy as np", "", "", "def gradient(x):", …]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from ...engine import Tensor
from ...lang.errors import ProgramError
from ...lang.excerpt import printable
from ...lang.run import Run, evaluate
from ...numbers.trees.names import Names
from ...numbers.trees.namespace import TreeNamespace
from ...numbers.trees.program import (
    MAX_CODE_STEPS,
    TOO_MANY_STEPS,
    adjoint,
    entrywise,
)
from ...numbers.trees.texts import Text
from ...numbers.trees.tree import NAME, TooLong, Tree, Unwritable
from ...ops.spellings import OPPOSITES
from .c import C
from .dialect import LANGUAGE, Dialect, Language, Result, Written
from .latex import Latex
from .libraries import NumPy, PyTorch
from .steps import Page, arranged, reachable

DIALECTS: Final[Mapping[str, type[Dialect]]] = {
    "gradcli": Language, "numpy": NumPy, "torch": PyTorch, "c": C, "latex": Latex
}  # fmt: skip

CALLED: Final = {
    "gradient": ("gradient", "grad"),
    "jacobian": ("Jacobian", "jac"),
    "hessian": ("Hessian", "hess"),
}
"""What a derivative is called, and what the names of its results end with."""

RELATIVE_ROUNDING: Final = 1e-9
"""How far rounding may take a program from the gradients that it is of."""

MAX_CONDITION_CHARACTERS: Final = 200
"""Up to here a condition is written out."""

PIVOTS: Final = (
    "The pivots of a matrix are those of the point that it was made at: elsewhere",
    "digits may be lost, and a pivot that is 0 gives nan.",
)


@dataclass(frozen=True, slots=True)
class Program:
    """The adjoint program in gradcli's own language.

    lines      comments and steps
    gradients  per input that was asked for, the name of its gradient
    """

    lines: tuple[str, ...]
    gradients: Mapping[str, str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def repeats(self, run: Run, gradients: Mapping[str, Tensor | None]) -> bool:
        """Whether it gives these gradients when it is run at the run's point."""
        host = {given.name: given.tensor.detach().cpu() for given in run.inputs}
        for name, g in gradients.items():
            true = 0.0 if g is None else np.asarray(g.detach().cpu().raw)
            try:
                found, _, _ = evaluate(
                    self.text, host, of=self.gradients[name], seed=run.seed
                )
            except ProgramError:
                return False
            close = np.isclose(found.raw, true, rtol=RELATIVE_ROUNDING,
                               atol=RELATIVE_ROUNDING, equal_nan=True)  # fmt: skip
            if not close.all():
                return False
        return True


def program(
    run: Run, cotangent: Tensor | None = None, notes: Sequence[str] = ()
) -> Program:
    """The gradient as a program; notes and conditions are comments on top.

    Raises:
        Unwritable: the language has no word for a part of it.
        TooLong: it would be made of too many parts.
    """
    made = parts(run, "gradcli", "gradient", cotangent, notes)
    asked = [given.name for given in run.inputs if given.requires_grad]
    named = {
        name: result.name for name, result in zip(asked, made.results[-len(asked) :],
                                                  strict=True)
    }  # fmt: skip
    return Program(tuple(LANGUAGE.program(made)), named)


def written(
    run: Run, language: str, kind: str = "gradient", cotangent: Tensor | None = None,
    notes: Sequence[str] = (), output: str = "", by_entries: bool = False,
) -> list[str]:  # fmt: skip
    """The lines of a program that computes the value and a derivative.

    Args:
        run: a program that has run on arrays.
        language: one of `DIALECTS`.
        kind: ``gradient``, ``jacobian`` or ``hessian``.
        cotangent: what a vector output is contracted with.
        notes: what else has to be known of the numbers, a line each.
        output: the output's name, if the program gave it one.
        by_entries: write it entry by entry also where whole arrays would do.

    Raises:
        Unwritable: the dialect has no word for a part of it.
        TooLong: it would be made of too many parts.
    """
    made = parts(run, language, kind, cotangent, notes, output, by_entries)
    return list(_dialect(language, made.inputs).program(made))


def parts(
    run: Run, language: str, kind: str, cotangent: Tensor | None = None,
    notes: Sequence[str] = (), output: str = "", by_entries: bool = False,
) -> Written:  # fmt: skip
    """The steps of a derivative and what there is to say about them, as `written`."""
    describe = partial(_described, run, kind, output, tuple(notes))
    if kind == "gradient" and language != "c" and not by_entries:
        try:
            return _on_arrays(run, language, cotangent, describe)
        except Unwritable as refused:
            try:
                return _by_entries(run, language, kind, cotangent, describe)
            except Unwritable:
                raise refused from None
    return _by_entries(run, language, kind, cotangent, describe)


def _dialect(language: str, inputs: Sequence[tuple[str, tuple[int, ...]]]) -> Dialect:
    return DIALECTS[language](inputs[0][0] if inputs else "")


def _names(language: str, kind: str) -> Names:
    dialect = DIALECTS[language]
    return Names({*dialect.reserved, kind}, dialect.ascii)


def _on_arrays(
    run: Run, language: str, cotangent: Tensor | None, describe: partial[Written]
) -> Written:
    """Steps on whole arrays, of a gradient."""
    own = language == "gradcli"
    words = DIALECTS[language].words
    found = adjoint(
        run, cotangent, lambda: TreeNamespace(words, draws=own),
        lambda: _names(language, "gradient"),
    )  # fmt: skip
    inputs = tuple((found.inputs[i.name], tuple(i.tensor.shape)) for i in run.inputs)
    asked = [given.name for given in run.inputs if given.requires_grad]
    # In the language itself a value is had by the program that it is the value of.
    value = [] if language in ("gradcli", "latex") else [((), found.output)]
    gradients = zip(asked, found.gradients, strict=True)
    outputs = [*value, *(((name,), each) for name, each in gradients)]
    steps = arranged(
        [each for _, each in outputs], found.called, _dialect(language, inputs),
        found.names, found.draws if own else (),
    )  # fmt: skip
    results = [(by, Result(name, tree.shape)) for by, (name, tree) in outputs]
    return describe(inputs, steps, results, list(conditions(found.decisions)), True)


def _by_entries(
    run: Run, language: str, kind: str, cotangent: Tensor | None,
    describe: partial[Written],
) -> Written:  # fmt: skip
    """Steps on single entries."""
    names = _names(language, kind)
    found = entrywise(run, kind, cotangent, names)
    ending = CALLED[kind][1]
    blocks = found.blocks[1:] if language in ("gradcli", "latex") else found.blocks
    called = [names.take("_".join([*by, ending]) if by else "value")
              for by, _, _ in blocks]  # fmt: skip
    dialect = _dialect(language, found.inputs)
    roots = [tree for _, _, trees in blocks for tree in trees]
    if len(reachable(roots)) > MAX_CODE_STEPS:
        raise TooLong(TOO_MANY_STEPS)
    page = Page(dialect, names, roots)
    page.write({})
    results = [
        (by, Result(name, shape, tuple(page.entry(tree) for tree in trees)))
        for name, (by, shape, trees) in zip(called, blocks, strict=True)
    ]
    held = list(conditions(found.decisions))
    return describe(
        found.inputs, tuple(page.steps), results, held, False, found.pivoted
    )


def _described(
    run: Run, kind: str, output: str, notes: tuple[str, ...],
    inputs: tuple[tuple[str, tuple[int, ...]], ...], steps: tuple[tuple[str, str], ...],
    results: Sequence[tuple[tuple[str, ...], Result]], held: list[str], whole: bool,
    pivoted: bool = False,
) -> Written:  # fmt: skip
    renamed = [
        f"{result.name} is the gradient by {by[0]}"
        for by, result in results
        if by and kind == "gradient" and result.name != f"{by[0]}_grad"
    ]
    about = [
        f"The {CALLED[kind][0]} of:",
        *(f"    {printable(line.rstrip())}" for line in run.source.strip().split("\n")),
        "",
    ]
    for (name, shape), given in zip(inputs, run.inputs, strict=True):
        for_name = "" if name == given.name else f" (here for {printable(given.name)})"
        about.append(f"in   {name}: {_shape(shape)}{for_name}")
    for by, result in results:
        meaning = _meaning(by, printable(output))
        about.append(f"out  {result.name}: {meaning}, {_shape(result.shape)}")
    return Written(
        kind, tuple(about), (*notes, *(PIVOTS if pivoted else ())), tuple(held),
        tuple(renamed), inputs, steps, tuple(result for _, result in results), whole,
    )  # fmt: skip


def _shape(shape: Sequence[int]) -> str:
    return f"shape {list(shape)}" if shape else "a number"


def _meaning(by: Sequence[str], of: str) -> str:
    if not by:
        return of or "the output"
    power = len(by) if len(by) > 1 else ""
    return f"d{power}{of}/d{' d'.join(map(printable, by))}"


def conditions(decisions: Iterable[Tree]) -> Iterator[str]:
    """The decisions that depend on inputs, in the language, as they fell."""
    said = set()
    for tree in decisions:
        if any(part.head == NAME for part in reachable([tree])):
            opposite = OPPOSITES.get(tree.head)
            if not tree.value and opposite:
                tree = tree.xp.operate(opposite, *tree.args)
            text = _inline(tree)
            shown = text.written if tree.value else f"not {text:SUM}"
            if shown not in said:
                said.add(shown)
                yield shown


def _inline(tree: Tree) -> Text:
    """The tree in one expression; dots stand for what is long."""
    texts: dict[int, Text] = {}
    for part in reachable([tree]):
        text = LANGUAGE.text(part, texts)
        is_short = len(text.written) <= MAX_CONDITION_CHARACTERS
        texts[part.serial] = text if is_short else Text("...")
    return texts[tree.serial]
