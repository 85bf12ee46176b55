"""Writes all type stubs, or with ``--check`` compares them with what is there."""

from __future__ import annotations

import sys
from pathlib import Path

from . import declared, entered, face

PACKAGE = Path(__file__).parents[1]


def stubs() -> dict[Path, str]:
    """Return the text of every stub, by its path."""
    texts = face.stubs() | declared.stubs() | entered.texts()
    return {PACKAGE / path: text for path, text in texts.items()}


def main(arguments: list[str]) -> int:
    """Write the stubs; or print those that are not as they should be, status 1."""
    if arguments == ["--check"]:
        wrong = [path for path, text in stubs().items() if path.read_text() != text]
        print("\n".join(map(str, wrong)) or "the stubs are as they should be")
        return 1 if wrong else 0
    for path, text in stubs().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
