"""Files of arrays: a derivative's blocks, or the gradients at one point.

gradcli grad "(a*b).sum()" a=@a.npy b=@b.npy --out g.npz
# numpy.load("g.npz"): value, grad_a, grad_b
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import BytesIO
from pathlib import PurePath
from stat import S_ISREG
from typing import IO, Final

import numpy as np

from ..engine import Tensor
from ..engine.devices import host
from ..engine.jacobian import WRITERS, JacobianBlock
from ..lang.errors import ProgramError
from ..large.blocks import check_size
from .filesystem import FOLDER, refusal, replacing

NAME: Final = "{}"
"""Part of a file's name that stands for the name of an input or a block."""

ARCHIVE: Final = ".npz"
ARRAY: Final = ".npy"
TEXTS: Final = (".csv", ".tsv")


def places(
    path: str, names: Iterable[str], what: str, otherwise: str
) -> dict[str, str]:
    """Return the file of each block or gradient by its name; refuse several of one
    place, with another way out beside a place for each."""
    names = [*names]
    if len(names) > 1 and NAME not in path:
        stem, dot, suffix = path.rpartition(".")
        message = f"--out writes one {what}, and there are {len(names)}: "
        hint = f"{otherwise}, or write {{}} for the names: --out {stem}-{{}}{dot}"
        raise ProgramError("E590", message + ", ".join(names), hint=hint + suffix)
    return {name: path.replace(NAME, name) for name in names}


def write_blocks(
    path: str, blocks: Mapping[tuple[str, ...], JacobianBlock]
) -> list[str]:
    """Write each block to a file in the format of its suffix; return their paths."""
    suffix = PurePath(path).suffix.lower()
    named = {"-".join(by): block for by, block in blocks.items()}
    files = places(path, named, "block", "choose one input with --wrt")
    for name, block in named.items():
        if suffix in (ARRAY, *TEXTS):
            check_size(block.output.numel() * block.x.numel())
        written: Callable[..., None] = WRITERS[suffix]
        _write(files[name], partial(written, block=block))
    return [*files.values()]


def write_gradients(
    path: str, output: Tensor, grads: Mapping[str, Tensor | None]
) -> dict[str, str]:
    """Write the value and the gradients; return the place of each gradient by input."""
    known = {name: host(g.raw) for name, g in grads.items() if g is not None}
    if PurePath(path).suffix.lower() == ARCHIVE:
        parts = {f"grad_{name}": raw for name, raw in known.items()}
        value = host(output.raw)
        _write(path, lambda file: np.savez(file, value=value, **parts))
        return {name: f"{path}:grad_{name}" for name in known}
    archive = f"write all of them to {PurePath(path).with_suffix(ARCHIVE)}"
    files = places(path, known, "gradient to a .npy", archive)
    for name, raw in known.items():
        _write(files[name], partial(np.save, arr=raw))
    return files


def _write(path: str, put: Callable[[IO[bytes]], None]) -> None:
    try:
        with replacing(path) as file:
            if S_ISREG(os.fstat(file.fileno()).st_mode):
                put(file)
            else:
                # An archive is written at several places, which a device lacks.
                whole = BytesIO()
                put(whole)
                file.write(whole.getbuffer())
    except OSError as error:
        message, hint = refusal(path, error, FOLDER, "written")
        raise ProgramError("E598", f"--out: {message}", hint=hint) from None
