"""Runs the README's examples beside the oldest packages that pyproject.toml allows.

python -m tests.documents.bounds          # prints what to install
python -m tests.documents.bounds run      # runs the examples, where that is installed
"""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def pins() -> dict[str, str]:
    """Return the oldest allowed version of each package that gradcli needs."""
    needed = tomllib.loads(PROJECT.read_text())["project"]["dependencies"]
    found = [re.match(r"([\w-]+)>=([\d.]+)", each) for each in needed]
    assert all(found), needed
    return {each[1]: each[2] for each in found if each is not None}


def run() -> int:
    """Run the examples; print those that print something else, and return a status."""
    from tests.processes import COLD

    from .blocks import README, ROOT, examples, printed, without_seconds

    for name, oldest in pins().items():
        newer = version(name)
        assert newer == oldest or newer.startswith(f"{oldest}."), f"{name} {newer}"
    wrong = 0
    for each in examples(README.read_text()):
        text = printed(each.command, COLD, ROOT)
        if without_seconds(text) != without_seconds(each.shown):
            print(f"$ {each.command}\n{text}", file=sys.stderr)
            wrong += 1
    return min(wrong, 1)


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        sys.exit(run())
    print(*[f"{name}=={oldest}" for name, oldest in pins().items()])
