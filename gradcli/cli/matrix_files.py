"""Blocks written to files, in the format that a file's name ends with.

Invariant: a name of no known format is refused before any work.
"""

from __future__ import annotations

from pathlib import PurePath

from ..autograd.blocks import check_size
from ..engine.jacobian import Block
from ..engine.jacobian.files import WRITERS
from ..lang.errors import ProgramError
from ..lang.refusals import FOLDER, refusal
from ..lang.replacing import replacing
from .problems import wrong

DENSE = ".npy"


def check_format(path: str) -> str:
    """The ending of a file's name.

    Raises:
        ProgramError: it is not that of a known format.
    """
    suffix = PurePath(path).suffix.lower()
    if suffix not in WRITERS:
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
    suffix = check_format(path)
    if suffix == DENSE:
        check_size(block.output.numel() * block.x.numel())
    try:
        with replacing(path) as file:
            WRITERS[suffix](file, block)
    except OSError as error:
        message, hint = refusal(path, error, FOLDER, "written")
        raise ProgramError("E598", f"--out: {message}", hint=hint) from None
