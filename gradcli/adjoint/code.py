"""The adjoint program as text: in gradcli's own language, or for another library.

Invariant: a function for a library is complete: imports, helpers, and one function that
returns the value and a gradient per input. Its arguments are arrays of the shapes that
its docstring names.

    written(run, None, "numpy")      # import numpy as np\\n\\n\\ndef gradient(x): ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from keyword import kwlist
from textwrap import indent
from typing import Final

import numpy as np

from ..engine import Tensor
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


def program(run: Run, cotangent: Tensor | None = None) -> str:
    """The adjoint program in gradcli's own language, conditions as comments.

    Raises:
        Unwritable: the language has no word for a part of it.
    """
    found = adjoint(run, cotangent, TreeNamespace(words=True))
    steps = arranged(found.gradients, found.called, LANGUAGE, found.names, found.draws)
    lines = [f"# where {text}" for text in conditions(found)]
    return "\n".join([*lines, *map(_line, steps)])


def repeats(run: Run, text: str, gradients: Mapping[str, Tensor | None]) -> bool:
    """Whether an adjoint program, run at the run's point, gives these gradients."""
    host = [(given.name, given.tensor.detach().cpu()) for given in run.inputs]
    for name, g in gradients.items():
        true = 0.0 if g is None else np.asarray(g.detach().cpu().raw)
        found, _, _ = evaluate(text, dict(host), of=f"{name}_grad", seed=run.seed)
        close = np.isclose(found.raw, true, rtol=CLOSE, atol=CLOSE, equal_nan=True)
        if not close.all():
            return False
    return True


def written(run: Run, cotangent: Tensor | None, library: str) -> str:
    """A function ``gradient`` of NumPy or PyTorch.

    Raises:
        Unwritable: the library has no word for a part of it.
    """
    lib = LIBRARIES[library]
    found = adjoint(
        run, cotangent, TreeNamespace(words=lib.words, draws=False), lib.reserved
    )
    dialect = lib.dialect(next(iter(found.inputs.values())))
    outputs = [found.output, *found.gradients]
    steps = arranged(outputs, found.called, dialect, found.names)
    returned = ", ".join(
        [f"{name}," if len(outputs) == 2 else name for name, _ in found.gradients]
    )
    body = [*map(_line, steps), f"return {found.output[0]}, ({returned})"]
    code = indent("\n".join((*_described(found), *body)), "    ")
    function = f"def gradient({', '.join(found.inputs.values())}):\n{code}"
    helpers = [text.strip() for name, text in lib.helpers.items() if f"{name}(" in code]
    below = "\n\n\n".join([*helpers, function])
    head = [line for word, line in lib.imports.items() if word in below]
    return "\n\n\n".join(filter(None, ["\n".join(head), below]))


def _line(step: Step) -> str:
    return f"{step.name} = {step.text}"


def _described(found: Adjoint) -> list[str]:
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
        *holds,
        '"""',
    ]


def conditions(found: Adjoint) -> list[str]:
    """The decisions that depend on inputs, in the language, as they fell."""
    texts = []
    for tree in found.decisions:
        if any(part.head == NAME for part in reachable([tree])):
            text = _inline(tree)
            texts.append(text.written if tree.value else f"not {text.within(1)}")
    return texts


def _inline(tree: Tree) -> Text:
    """The tree in one expression; dots stand for what is long."""
    texts: dict[int, Text] = {}
    for part in reachable([tree]):
        text = LANGUAGE.text(part, texts)
        texts[part.serial] = text if len(text.written) <= LONGEST else Text("...")
    return texts[tree.serial]
