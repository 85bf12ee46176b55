"""Blocks written to files, in the format that a file's name ends with.

Invariant: a sparse format holds the block as a matrix, with a row for each entry of
what is differentiated; a dense one holds it in its own shape.

    write("J.npz", block)           # scipy.sparse.load_npz reads it
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from ..autograd.blocks import check_size
from ..engine.jacobian import Block
from ..lang.errors import ProgramError
from .problems import wrong


def _npz(file: Any, block: Block) -> None:
    from scipy.sparse import save_npz

    save_npz(file, _on_host(block.csr()))


def _mtx(file: Any, block: Block) -> None:
    from scipy.io import mmwrite

    mmwrite(file, _on_host(block.csr()), symmetry="general")


def _npy(file: Any, block: Block) -> None:
    import numpy

    check_size(block.output.numel() * block.x.numel())
    numpy.save(file, _on_host(block.dense().raw))


def _on_host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


FORMATS: dict[str, Callable[[Any, Block], None]] = {
    ".npz": _npz,
    ".mtx": _mtx,
    ".npy": _npy,
}


def check_format(path: str) -> str:
    """The ending of a file's name.

    Raises:
        ProgramError: it is not that of a known format.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in FORMATS:
        ending = f"ends with {suffix!r}" if suffix else "has no ending"
        raise wrong(
            "E595",
            f"--out: {path!r} {ending}, which is no format of matrices",
            "write .npz (scipy.sparse), .mtx (Matrix Market) or .npy (dense)",
        )
    return suffix


def write(path: str, block: Block) -> None:
    """Write a block.

    Raises:
        ProgramError: the file cannot be written.
        TooManyEntries: with its zeros the block is too large.
    """
    save = FORMATS[check_format(path)]
    try:
        with open(path, "wb") as file:
            save(file, block)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "give --out a file in a folder that can be written to"
        raise ProgramError("E598", f"cannot write {path}: {reason}", hint=hint) from None
