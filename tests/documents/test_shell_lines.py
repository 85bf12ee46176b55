"""Every shell line of the README, the changes and the pages runs in zsh, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.cli.commands import COMMANDS
from gradcli.cli.group import command_of

from .blocks import PAGES, README, ROOT, examples
from .shell_lines import open_words, other_lines, quoted

TEXTS = [README, ROOT / "CHANGELOG.md", *PAGES]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_shell_line_quotes_signs_of_patterns(path: Path) -> None:
    text = path.read_text()
    lines = [*(each.command for each in examples(text)), *other_lines(text)]
    assert {line: open_words(line) for line in lines if open_words(line)} == {}


def test_an_example_of_a_command_quotes_signs_of_patterns() -> None:
    for name in COMMANDS:
        for line in (command_of(name).help or "").splitlines():
            if line.startswith("Example: "):
                assert open_words(line) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gradcli value x[0] x=[1,2]", ["x[0]", "x=[1,2]"]),
        ("gradcli value 'x[0]' \"x=[1,2]\"", []),
        ("gradcli value x^2 -q", ["x^2"]),
        ("gradcli value x\\*y; echo $?", []),
        ("gradcli ops $(gradcli value '2*3')", []),
        ("cat > a.grad <<'END'\ny = x**2\nEND", []),
    ],
)
def test_open_words_are_those_outside_quotes(line: str, words: list[str]) -> None:
    assert open_words(line) == words
    assert open_words(quoted(line)) == []
