"""``gradcli tour``: the five-neuron network in eight keystrokes."""

from __future__ import annotations

from textwrap import wrap
from typing import Final

from ...answers.line import BLANK, unbroken
from ..keyboard import ENDS, key, terminal
from ..output import Printer, note
from ..problems import Exit
from ..workspace import Workspace, load, ran

VALUES: Final = ("a = 2", "w1 = 0.5", "w2 = -1.5", "w3 = 3", "w4 = 0.25")

NETWORK: Final = ("b = w1*a", "c = w2*a", "d = w3*b + w4*c", "L = 10 - d")

STEPS: Final = (
    ("A network of five neurons. Two weights lead from a to b and c, two more from b "
     "and c to d. The loss is L = 10 - d. Its value at these weights is:",
     "value"),
    ("One backward pass gives all gradients of L. The last line says how far they can "
     "be trusted.", "grad"),
    ("The backward pass goes through this graph. It is the graph that PyTorch records.",
     "graph --tree"),
    ("The backward pass, step by step: the gradient that arrives at each node, and the "
     "gradients that go on.", "explain"),
    ("L depends on a through b and through c. The chain rule multiplies along each "
     "path and adds up the products.", "paths --wrt a"),
    ("The same derivatives as formulas, found by SymPy.",
     "grad --symbolic --wrt a,w1"),
    ("A derivative worked out on paper is proved or refuted, and the slip is named.",
     'check --claim "dL/da = -w3*w1 - w4*w2" --claim "dL/da = -w3*w1 + w4*w2"'),
    ("Gradient descent changes the weights to make (L - 1)^2 small.",
     'descend "(L - 1)^2" a=2 --wrt w1,w2,w3,w4 --steps 20 --lr 0.01'),
)  # fmt: skip
"""Sentences of the tour, each with the line of a session that is run after it."""

COLUMNS: Final = 78
"""Width of the tour's sentences, in columns."""

ASKED: Final = "(any key goes on, q ends)"


def main() -> int:
    """A first look around, step by step.

    Values, gradients, graph, paths and claims. In a pipe all steps follow each other.

    Example: gradcli tour
    """
    load()
    waits = terminal()
    typed = Workspace()
    for line in (*VALUES, *NETWORK):
        typed.take(line)
    shown = Printer()
    shown.lines(unbroken(f"> {line}") for line in (*VALUES, *NETWORK))
    for number, (text, line) in enumerate(STEPS, start=1):
        said = wrap(f"{number} of {len(STEPS)}. {text}", width=COLUMNS)
        shown.lines(map(unbroken, ["", *said, f"> {line}"]))
        words = typed.take(line)
        if words:
            ran(words)
        if waits and number < len(STEPS):
            note(ASKED)
            if key() in ENDS:
                break
    shown.lines([BLANK, unbroken("Go on by yourself: gradcli repl, or gradcli --help")])
    return Exit.DONE
