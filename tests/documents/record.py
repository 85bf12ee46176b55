"""Write what commands print now into the pages, the README and its picture, and into
the sessions of `tests/cli`.

    python -m tests.documents.record errors tutorial
    python -m tests.documents.record README terminal pictures
    python -m tests.documents.record sessions

Read the difference before it is kept: a page may say of it what is no longer so.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from gradcli.answers.pages import parts
from tests.processes import warm

from .blocks import PAGES, README, ROOT, SESSIONS, examples, printed, without_seconds
from .pictures import PAGE, page_picture, pictures
from .screenshot import PICTURE, taken


def main(names: list[str]) -> None:
    with warm() as gradcli:
        for path in PAGES:
            if not names or path.stem in names:
                text = "".join(recorded(p, gradcli) for p in parts(path.read_text()))
                path.write_text(text)
        for path in SESSIONS if not names or "sessions" in names else ():
            sections = parts(path.read_text())
            found = [recorded(s, gradcli, status=True) for s in sections]
            path.write_text("".join(found))
        if not names or README.stem in names:
            README.write_text(recorded(README.read_text(), gradcli, ROOT))
        if not names or "pictures" in names:
            for path, text in pictures(gradcli).items():
                path.write_text(text)
            page = page_picture(gradcli)
            if page is not None:
                PAGE.write_bytes(page)
        if not names or PICTURE.stem in names:
            with tempfile.TemporaryDirectory() as folder:
                kept = PICTURE.read_text() if PICTURE.is_file() else ""
                PICTURE.write_text(_newer(taken(gradcli, Path(folder)), kept))


def recorded(
    section: str, gradcli: list[str], folder: Path | None = None, status: bool = False
) -> str:
    """The section with what its commands print now, in a folder of their own."""
    if folder is None:
        with tempfile.TemporaryDirectory() as own:
            return recorded(section, gradcli, Path(own), status)
    written, at = "", 0
    for each in examples(section):
        text = _newer(printed(each.command, gradcli, folder, status), each.shown)
        written += section[at : each.start] + text
        at = each.end
    return written + section[at:]


def _newer(text: str, kept: str) -> str:
    """The text, or what is kept of it where only seconds differ."""
    return kept if without_seconds(text) == without_seconds(kept) else text


if __name__ == "__main__":
    main(sys.argv[1:])
