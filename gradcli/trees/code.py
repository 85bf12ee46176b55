"""The adjoint program as text: in gradcli's own language, or for another library.

Invariant: a function for a library is complete: imports, helpers, and one function that
returns the value and a gradient per input. Its arguments are arrays of the shapes that
its docstring names.

    written(run, None, "numpy")      # import numpy as np\\n\\n\\ndef gradient(x): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from keyword import kwlist
from textwrap import indent
from typing import Final

import numpy as np

from ..engine import Tensor
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..lang.run import Run, evaluate
from ..views.spelling import Text
from .dialect import LANGUAGE, Dialect
from .namespace import TreeNamespace
from .numpy_words import HELPERS, NUMPY_WORDS
from .program import Adjoint, adjoint
from .steps import Step, arranged, reachable
from .torch_words import TorchWords
from .tree import NAME, Tree

CLOSE: Final = 1e-9
"""How far rounding may take a program from the gradients that it is of."""

LONGEST: Final = 200
"""Characters up to which a condition is written out."""


@dataclass(frozen=True, slots=True)
class Library:
    """How functions of a library are written.

    words    whether its functions are the language's own, rather than the basis
    dialect  of an input's name, whose dtype constants have
    imports  what is looked for in the text, and the line that brings it
    helpers  by name, functions that stand above where they are used
    """

    words: bool
    dialect: Callable[[str], Dialect]
    imports: Mapping[str, str]
    helpers: Mapping[str, str]

    @property
    def reserved(self) -> set[str]:
        """Names that inputs and steps must not have."""
        own = {line.rpartition(" ")[2] for line in self.imports.values()}
        return {*kwlist, *own, *self.helpers, "gradient"}


LIBRARIES: Final = {
    "numpy": Library(
        False,
        lambda like: NUMPY_WORDS,
        {"np.": "import numpy as np", "special.": "from scipy import special"},
        HELPERS,
    ),
    "torch": Library(
        True,
        TorchWords,
        {"torch.": "import torch", "F.": "import torch.nn.functional as F"},
        {},
    ),
}


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
            close = np.isclose(found.raw, true, rtol=CLOSE, atol=CLOSE, equal_nan=True)
            if not close.all():
                return False
        return True


def program(
    run: Run, cotangent: Tensor | None = None, notes: Iterable[str] = ()
) -> Program:
    """The adjoint program; notes and conditions are comments on top.

    Raises:
        Unwritable: the language has no word for a part of it.
        TooLong: it would be made of too many parts.
    """
    found = adjoint(run, cotangent, lambda: TreeNamespace(words=True))
    steps = arranged(found.gradients, found.called, LANGUAGE, found.names, found.draws)
    comments = [*notes, *(f"where {text}" for text in conditions(found))]
    asked = [given.name for given in run.inputs if given.requires_grad]
    named = dict(zip(asked, [name for name, _ in found.gradients], strict=True))
    comments += [
        f"{own} is the gradient by {name}"
        for name, own in named.items()
        if own != f"{name}_grad"
    ]
    return Program((*(f"# {text}" for text in comments), *map(_line, steps)), named)


def written(
    run: Run, cotangent: Tensor | None, library: str, notes: Iterable[str] = ()
) -> str:
    """A function ``gradient`` of NumPy or PyTorch; notes stand in its docstring.

    Raises:
        TooLong: it would be made of too many parts.
        Unwritable: the library has no word for a part of it.
    """
    lib = LIBRARIES[library]
    found = adjoint(
        run, cotangent, lambda: TreeNamespace(lib.words, draws=False), lib.reserved
    )
    names = tuple(found.inputs.values())
    dialect = lib.dialect(names[0])
    outputs = [found.output, *found.gradients]
    steps = arranged(outputs, found.called, dialect, found.names)
    returned = ", ".join(
        [f"{name}," if len(outputs) == 2 else name for name, _ in found.gradients]
    )
    body = [
        *_described(found, notes),
        *dialect.taken(names),
        *map(_line, steps),
        f"return {found.output[0]}, ({returned})",
    ]
    code = indent("\n".join(body), "    ")
    function = f"def gradient({', '.join(names)}):\n{code}"
    helpers = [text.strip() for name, text in lib.helpers.items() if f"{name}(" in code]
    below = "\n\n\n".join([*helpers, function])
    head = [line for word, line in lib.imports.items() if word in below]
    return "\n\n\n".join(filter(None, ["\n".join(head), below]))


def _line(step: Step) -> str:
    return f"{step.name} = {step.text}"


def _described(found: Adjoint, notes: Iterable[str]) -> list[str]:
    """The function's docstring."""
    shapes = [
        f"{printable(found.inputs[given.name])} {list(given.tensor.shape)}"
        for given in found.run.inputs
    ]
    holds = [f"Holds where {text}." for text in conditions(found)]
    return [
        '"""The value, and its gradient by each input that was asked for.',
        "",
        f"Shapes: {', '.join(shapes)}.",
        *notes,
        *holds,
        '"""',
    ]


_OPPOSITE: Final = {"eq": "ne", "ne": "eq"}
"""Comparisons of which one holds, whatever is compared."""


def conditions(found: Adjoint) -> list[str]:
    """The decisions that depend on inputs, in the language, as they fell."""
    texts = []
    for tree in found.decisions:
        if any(part.head == NAME for part in reachable([tree])):
            opposite = _OPPOSITE.get(tree.head)
            if not tree.value and opposite:
                tree = tree.xp.operate(opposite, *tree.args)
            text = _inline(tree)
            texts.append(text.written if tree.value else f"not {text.within(1)}")
    return list(dict.fromkeys(texts))


def _inline(tree: Tree) -> Text:
    """The tree in one expression; dots stand for what is long."""
    texts: dict[int, Text] = {}
    for part in reachable([tree]):
        text = LANGUAGE.text(part, texts)
        texts[part.serial] = text if len(text.written) <= LONGEST else Text("...")
    return texts[tree.serial]
