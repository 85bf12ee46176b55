"""A run as a picture, and files of pictures: the name's suffix decides the format.

Invariant: a library that a file needs is looked for before any work is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ..answers.jobs import claimed, job_for
from ..lang.errors import ProgramError
from ..lang.filesystem import replacing
from ..render.graphs.shown import ENDINGS, ShownGraph
from ..render.theme import chosen
from .checking import Check
from .output import note
from .problems import unwritable, wrong

if TYPE_CHECKING:
    from ..answers.explanation import StepView
    from ..answers.question import Question
    from ..engine import Tensor
    from ..lang.factory import Factory
    from ..lang.run import Run
    from ..views.graph import GraphView
    from ..views.names import Names

LAYOUT: Final = ("igraph",)
"""Libraries that place boxes."""

PIXELS: Final = {".png": ("cairosvg",), ".pdf": ("cairosvg",)}
"""Libraries that a suffix needs, for formats that are not text."""


def check_ending(path: str, endings: Iterable[str] = ENDINGS) -> str:
    """Return the suffix of a picture's file.

    Raises:
        ProgramError: there is no such format.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in endings:
        said = f"ends with {suffix!r}, which is no picture"
        said = said if suffix else "has no ending that says which picture"
        hint = f"end the name with one of {', '.join(endings)}"
        raise wrong("E595", f"--out: {path!r} {said}", hint)
    return suffix


def require(suffix: str, libraries: Iterable[str], otherwise: str) -> None:
    """Refuse a picture whose libraries are not installed.

    Args:
        suffix: the suffix of the picture's file.
        libraries: the libraries that it needs besides those of its suffix.
        otherwise: another way to a picture, for the hint.

    Raises:
        ProgramError: a library is missing.
    """
    needed = (*libraries, *PIXELS.get(suffix, ()))
    missing = [name for name in needed if find_spec(name) is None]
    if not missing:
        return
    if missing == ["cairosvg"]:
        otherwise = "a .svg needs it not, and any browser prints that as PDF"
    raise wrong(
        "E595",
        f"a picture that ends with {suffix} needs {' and '.join(missing)}",
        f"pip install {' '.join(missing)}, or gradcli with its extra 'pictures'; "
        f"{otherwise}",
    )


def drawn(
    question: Question, grad_output: str | None, checked: bool, folded: bool
) -> ShownGraph:
    """Run the program and return its graph with all that a picture shows.

    Args:
        question: the program and its point.
        grad_output: the cotangent of an output of several numbers, as text.
        checked: whether the verdicts on the gradients are shown, too.
        folded: whether parts that repeat may be drawn as one.
    """
    check = Check.start(question) if checked else None
    from ..answers.picture import Listener, picture_of, values
    from ..render.code.rules import Rules
    from ..views.graph import graph_of

    listeners: list[Listener] = []

    def listening(factory: Factory) -> Listener:
        listeners.append(Listener(factory))
        return listeners[-1]

    run, names = question.run_with_names(listening)
    run.require_graph()
    view = graph_of(run, local_gradients=True)
    made = values(run.output, listeners[-1].heard)
    rules = Rules(names, view)
    # Rules read what the nodes saved, which the pass frees.
    picture = picture_of(run.output, view, made, rules, folded)
    steps, cotangent = _passed(run, names, view, grad_output)
    verdicts = {}
    if check is not None and check.wanted and cotangent is not None:
        verdicts = _verdicts(check, question, run, cotangent if grad_output else None)
    return ShownGraph(view, picture.after(steps, verdicts))


def _passed(
    run: Run, names: Names, view: GraphView, grad_output: str | None
) -> tuple[tuple[StepView, ...], Tensor | None]:
    """Return the backward pass and its cotangent, or neither if it cannot start."""
    from ..answers.explanation import explain
    from ..views.briefly import briefly

    if grad_output is None and run.output.numel() != 1:
        shape = list(run.output.shape)
        note(
            f"note: the output has the shape {shape}, so no gradients are shown: add "
            ".sum() or give --grad-output"
        )
        return (), None
    cotangent = run.first_cotangent(grad_output)
    with run.explained():
        return explain(run.output, cotangent, names, view, briefly), cotangent


def _verdicts(
    check: Check, question: Question, run: Run, cotangent: Tensor | None
) -> dict[str, str]:
    """Return the verdict of the check on each gradient, by input."""
    found = {i.name: (i.tensor, i.tensor.grad) for i in run.differentiated}
    check.submit(job_for(run, question.seconds, "gradient", claimed(found), cotangent))
    verification = check.finish()
    given = verification.inputs if verification is not None else ()
    return {each.name: each.verdict for each in given}


def write(path: str, suffix: str, found: ShownGraph, heated: bool) -> None:
    """Write a picture to a file.

    Raises:
        ProgramError: the file cannot be written, or the graph is too large to draw.
    """
    try:
        content = found.content(
            suffix, heated, chosen.name, lambda text: note(f"note: {text}")
        )
    except ValueError as error:
        hint = "--of NAME draws the graph of one value"
        raise ProgramError("E403", str(error), hint=hint) from None
    put(path, content)
    note_letters(suffix, found.picture.program)


def note_letters(suffix: str, text: str) -> None:
    """Write a note if a file with this suffix may lack letters of a text."""
    if suffix not in (".png", ".pdf"):
        return
    from ..render.graphs.pixels import undrawn

    letter = undrawn(text)
    if letter:
        note(
            f"note: letters such as {letter!r} may be missing from a {suffix} or stand "
            "in the wrong order: a .svg or .html has them right"
        )


def put(path: str, content: bytes) -> None:
    """Write a file.

    Raises:
        ProgramError: the file cannot be written.
    """
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        hint = "give a file in a folder that can be written to"
        raise unwritable(path, error, hint) from None
