"""Blocks in files.

Invariant: a sparse format holds a block as a matrix, with a row for each entry of what
is differentiated; a dense one holds it in its own shape.

    WRITERS[".npz"](file, block)       # scipy.sparse.load_npz reads it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

import numpy as np

from ..devices import host
from .blocks import Block


def _npz(file: IO[bytes], block: Block) -> None:
    from scipy.sparse import save_npz

    save_npz(file, host(block.csr()))


def _mtx(file: IO[bytes], block: Block) -> None:
    from scipy.io import mmwrite

    mmwrite(file, host(block.csr()), symmetry="general")


def _npy(file: IO[bytes], block: Block) -> None:
    np.save(file, host(block.dense().raw))


WRITERS: Mapping[str, Callable[[IO[bytes], Block], None]] = {
    ".npz": _npz,
    ".mtx": _mtx,
    ".npy": _npy,
}
"""Writers by the ending of a file's name: SciPy's, Matrix Market's, NumPy's format."""
