"""Write what the commands of the pages print into the pages.

    python -m tests.pages.record errors tutorial

Read the difference before it is kept: a page may say of it what is no longer so.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from gradcli.views.pages import parts
from tests.processes import warm

from .blocks import PAGES, examples, printed, without_seconds


def main(names: list[str]) -> None:
    with warm() as gradcli:
        for path in PAGES:
            if not names or path.stem in names:
                text = "".join(recorded(p, gradcli) for p in parts(path.read_text()))
                path.write_text(text)


def recorded(section: str, gradcli: list[str]) -> str:
    """The section with what its commands print now."""
    written, at = "", 0
    with tempfile.TemporaryDirectory() as folder:
        for each in examples(section):
            text = printed(each.command, gradcli, Path(folder))
            if without_seconds(text) == without_seconds(each.shown):
                text = each.shown
            written += section[at : each.start] + text
            at = each.end
    return written + section[at:]


if __name__ == "__main__":
    main(sys.argv[1:])
