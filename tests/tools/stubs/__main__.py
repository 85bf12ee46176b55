"""Writes all type stubs; with ``--check``, names the stubs that are out of date."""

from __future__ import annotations

import sys
from pathlib import Path

from . import declared, face

PACKAGE = Path(__file__).parents[3] / "gradcli"


def stubs() -> dict[Path, str]:
    """Return the text that every stub should have, by the file's path."""
    texts = face.stubs() | declared.stubs()
    return {PACKAGE / path: text for path, text in texts.items()}


def main(arguments: list[str]) -> int:
    """Write the stubs, or print those out of date; return the exit status."""
    if arguments == ["--check"]:
        wrong = [path for path, text in stubs().items() if path.read_text() != text]
        print("\n".join(map(str, wrong)) or "the stubs are as they should be")
        return 1 if wrong else 0
    for path, text in stubs().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
