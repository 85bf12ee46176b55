"""The options for how a derivative's blocks are shown and where they are written.

Invariant: what cannot be done is refused before any work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from .problems import wrong

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..answers.derivatives import Form
    from ..engine.jacobian import Block


@dataclass(frozen=True, slots=True)
class Matrices:
    """A group of options: blocks with or without their zeros, and files of them.

    --sparse: Show every block by the coordinates and values of its entries, as large
        ones that are mostly zeros are shown anyway.
    --dense: Show every block with all its zeros.
    --spy: Show a picture of where the entries of each block are, and how many colours
        its columns need.
    --out FILE: Write the block to a file: .npz (scipy.sparse), .mtx (Matrix Market),
        .npy (with its zeros). {} in the name of FILE stands for the input's, where
        there are several blocks.
    """

    TITLE: ClassVar = "Blocks"

    sparse: bool = False
    dense: bool = False
    spy: bool = False
    out: str | None = None

    @property
    def form(self) -> Form:
        return "sparse" if self.sparse else "dense" if self.dense else "auto"

    def check(self) -> None:
        """Refuse options that exclude each other, and files of no known format."""
        if self.sparse and self.dense:
            hint = "leave out one of the two"
            raise wrong("E590", "--sparse leaves zeros out, --dense shows them", hint)
        if self.out is not None:
            from .array_files import check_format

            check_format(self.out)

    def write(self, blocks: Mapping[tuple[str, ...], Block]) -> list[str] | None:
        """Write the blocks; return the file of each, or None if none was asked for.

        Raises:
            ProgramError: a file cannot be written, or several blocks would go to one.
        """
        if self.out is None:
            return None
        from .array_files import NAME, write_block

        names = ["-".join(by) for by in blocks]
        if len(names) > 1 and NAME not in self.out:
            stem, dot, suffix = self.out.rpartition(".")
            raise wrong(
                "E590",
                f"--out writes one block, and there are {len(names)}: "
                f"{', '.join(names)}",
                f"choose one input with --wrt, or let {{}} stand for the names: "
                f"--out {stem}-{{}}{dot}{suffix}",
            )
        files = [self.out.replace(NAME, name) for name in names]
        for path, block in zip(files, blocks.values(), strict=True):
            write_block(path, block)
        return files
