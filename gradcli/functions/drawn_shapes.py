"""Shapes of drawn arguments: whether a function takes them, and which ones it takes.

Invariant: a function that raises with drawn arguments is not refuted; nothing that it
prints while shapes are tried is shown.

    refuse_unfit(target, arguments, seed=0)     # raises, with shapes that it takes
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from itertools import product
from typing import Final

from ..engine.modes import enable_grad
from ..engine.tensor import Tensor, ones_for
from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..large.blocks import pull
from .function_call import FunctionCall, FunctionRun
from .user_files import Arguments, FileTarget, draw_tensor, text_of_draw
from .user_lines import words_of

SHAPES: Final = ((3,), (2, 3), (3, 4), (4, 3), (3, 3), (), (2, 3, 4), (2, 3, 4, 4))
"""Shapes that are tried for each drawn argument."""

MAX_TRIES: Final = 200
"""Largest number of combinations of shapes that are tried."""


def refuse_unfit(target: FileTarget, arguments: Arguments, seed: int) -> None:
    """Refuse drawn arguments with which the function, or its backward, raises.

    Raises:
        ProgramError: it raises; the hint has shapes with which it does not, if some
            were found.
    """
    names = [
        name for name, text in arguments.drawn.items() if text.startswith("randn(")
    ]
    if not names:
        return
    stage, error = _failure(target, arguments.values)
    if error is None:
        return
    shapes = _fitting(target, arguments, names, seed)
    if shapes is None and stage == "backward":
        return
    said = [f"{name}={arguments.drawn[name]}" for name in names]
    were = "were" if len(said) > 1 else "was"
    where = ", in backward," if stage == "backward" else ""
    message = (
        f"{target.title} raises{where} {words_of(error)}, with {enumerated(said)}, "
        f"which {were} drawn"
    )
    if shapes is None:
        example = " ".join(f"{name}=randn(2,4)" for name in names)
        hint = f"give each of its parameters a value that it takes: {example}"
    else:
        fit = " ".join(f"{n}={text_of_draw(s)}" for n, s in shapes.items())
        hint = f"give the shapes that are meant; it runs with {fit}"
    raise ProgramError("E519", message, hint=hint) from error


def _fitting(
    target: FileTarget, arguments: Arguments, names: Sequence[str], seed: int
) -> Mapping[str, tuple[int, ...]] | None:
    """Return shapes of drawn arguments with which both passes run; None if no tried
    ones do."""
    places = [*target.parameters]
    for nr, shapes in enumerate(_combinations(len(names))):
        if nr == MAX_TRIES:
            break
        values = [*arguments.values]
        chosen = dict(zip(names, shapes, strict=True))
        for name, shape in chosen.items():
            at = places.index(name)
            old = values[at]
            grad = not isinstance(old, Tensor) or old.requires_grad
            values[at] = draw_tensor(name, text_of_draw(shape), seed, grad)
        if _failure(target, values)[1] is None:
            return chosen
    return None


def _combinations(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield shapes for some arguments: few dimensions first, then different shapes."""
    most = SHAPES if count < 4 else SHAPES[:3]
    yield from sorted(
        product(most, repeat=count),
        key=lambda shapes: (sum(map(len, shapes)), count - len({*shapes})),
    )


def _failure(
    target: FileTarget, values: Sequence[object]
) -> tuple[str, BaseException | None]:
    """Return in which pass a call raises, and what; None if both passes run."""
    stage = "forward"
    silent = io.StringIO()
    try:
        with redirect_stdout(silent), redirect_stderr(silent), enable_grad():
            run = FunctionRun(FunctionCall(target.value, values, target.title))
            stage = "backward"
            if run.outputs:
                pull(run.outputs, run.wanted, [ones_for(y) for y in run.outputs])
    except Exception as error:
        return stage, error
    return stage, None
