"""Gradients at one point written to files.

Invariant: a name of no known format is refused before any work.

    gradcli grad "(a*b).sum()" a=@a.npy b=@b.npy --out g.npz
    # numpy.load("g.npz"): value, grad_a, grad_b
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from ..engine.devices import host
from ..lang.errors import ProgramError
from ..lang.refusals import FOLDER, refusal
from ..lang.replacing import replacing
from .matrices import NAME
from .problems import wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..answers.gradients import Gradients

ARCHIVE: Final = ".npz"
SUFFIXES: Final = (ARCHIVE, ".npy")


def is_for_one_point(path: str) -> bool:
    """Whether the name's ending is one of arrays."""
    return PurePath(path).suffix.lower() in SUFFIXES


def write_gradients(path: str, found: Gradients) -> dict[str, str]:
    """Write the value and the gradients; by input where its gradient is.

    Raises:
        ProgramError: a file cannot be written, or several gradients would go to one
            .npy.
    """
    known = {name: g.raw for name, g in found.by_name.items() if g is not None}
    if PurePath(path).suffix.lower() == ARCHIVE:
        parts = {"value": found.run.output.raw}
        parts |= {f"grad_{name}": raw for name, raw in known.items()}
        _save(path, parts)
        return {name: f"{path}:grad_{name}" for name in known}
    if len(known) > 1 and NAME not in path:
        raise wrong(
            "E590",
            f"--out writes one gradient to a .npy, and there are {len(known)}: "
            f"{', '.join(known)}",
            f"write all of them to {PurePath(path).with_suffix(ARCHIVE)}, or let {{}} "
            "in the name stand for the input's",
        )
    places = {name: path.replace(NAME, name) for name in known}
    for name, raw in known.items():
        _save(places[name], raw)
    return places


def _save(path: str, arrays: object | Mapping[str, object]) -> None:
    try:
        with replacing(path) as file:
            if isinstance(arrays, dict):
                np.savez(file, **{n: host(raw) for n, raw in arrays.items()})
            else:
                np.save(file, host(arrays))
    except OSError as error:
        message, hint = refusal(path, error, FOLDER, "written")
        raise ProgramError("E598", f"--out: {message}", hint=hint) from None
