"""Each error is one block that says what, where, why, and the way out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import gradcli.lang
from gradcli.lang.errors import ProgramError, Span
from gradcli.lang.parser import parse

SESSION = Path(__file__).parents[1] / "cli" / "sessions" / "errors.md"

BLOCKS: dict[str, str] = {
    "y = x\nz = weight*x": """\
error[E101]: unknown name 'weight'
  2 | z = weight*x
    |     ^^^^^^ give it a value: weight=VALUE""",
    "b.duoble()": """\
error[E103]: a Box has no method 'duoble'
  1 | b.duoble()
    |   ^^^^^^ did you mean 'double'?""",
    "b.double_()": """\
error[E103]: a Box has no method 'double_'
  1 | b.double_()
    |   ^^^^^^^ a method gives a new value: write y = y.double(...)""",
    "b.content()": """\
error[E103]: a Box has no method 'content'
  1 | b.content()
    |   ^^^^^^^ it is an attribute: write .content without ()""",
    "b.double": """\
error[E104]: a Box has no attribute 'double'
  1 | b.double
    |   ^^^^^^ it is a method: write .double()""",
    "np.stdd(x)": """\
error[E108]: NumPy's stdd is not computed here
  1 | np.stdd(x)
    | ^^^^^^^ did you mean 'std'?""",
    "cmath.sin(x)": """\
error[E108]: cmath's sin is not computed here
  1 | cmath.sin(x)
    | ^^^^^^^^^ sin(...) without a prefix is PyTorch's""",
    "np.std(x, where=x)": """\
error[E108]: NumPy's std is not computed with these arguments
  1 | np.std(x, where=x)
    | ^^^^^^ write std(a, axis, ddof, keepdims)""",
    "[0]*10**9": """\
error[E301]: a list cannot be an operand
  1 | [0]*10**9
    |    ^ write tensor([...])""",
    "2*x + (b + x)": """\
error[E303]: +: shapes 1.0 and 3.0 do not fit
  1 | 2*x + (b + x)
    |          ^ reshape one of them""",
    "crash('key')": """\
error[E399]: KeyError: 'boom'
  1 | crash('key')
    | ^^^^^""",
    "crash('overflow')": """\
error[E399]: OverflowError: boom
  1 | crash('overflow')
    | ^^^^^""",
    "while True: pass": """\
error[E401]: the program ran for more than 1,000 steps
  1 | while True: pass
    |             ^^^^ does the loop ever end?""",
    "crash('memory')": """\
error[E403]: there is no memory left for this value
  1 | crash('memory')
    | ^^^^^ take fewer entries or steps, or allow more with --max-memory""",
    "crash('recursion')": """\
error[E404]: a value is nested too deeply
  1 | crash('recursion')
    | ^^^^^ nest it less deeply""",
}
"""Errors of values that the command line does not have, or not so soon."""


@pytest.mark.parametrize("source", BLOCKS)
def test_an_error_is_exactly_this_block(source: str, evaluate: Any, box: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate(source, max_steps=1000, x=3.0, b=box(1.0))
    assert caught.value.render() == BLOCKS[source]
    limit = BLOCKS[source].startswith("error[E4")
    assert caught.value.exit_status == (4 if limit else 3)


def test_every_code_of_the_language_is_shown() -> None:
    room = Path(gradcli.lang.__file__).parent
    written = {
        code
        for file in room.glob("*.py")
        if file.name != "errors.py"
        for code in re.findall(r'"(E[1-4]\d{2})"', file.read_text())
    }
    texts = [*BLOCKS.values(), SESSION.read_text()]
    shown = set(re.findall(r"error\[(E\d{3})\]", "\n".join(texts)))
    assert written <= shown


def test_json_counts_columns_from_one_in_characters() -> None:
    error = ProgramError("E101", "unknown", Span(4, 8), "x\ny\x1b漢tahn", hint="h")
    assert json.loads(json.dumps(error.as_dict())) == {
        "schema": "gradcli/1",
        "error": {
            "code": "E101",
            "message": "unknown",
            "line": 2,
            "column": 3,
            "end_column": 7,
            "hint": "h",
            "source_line": "y\x1b漢tahn",
        },
    }
    shown = ProgramError("E211", "empty").as_dict()["error"]
    assert [shown[key] for key in ("line", "column", "source_line")] == [None] * 3


@pytest.mark.parametrize(
    ("before", "columns"),
    [("漢字", 4), ("e\u0301", 1), ("\t", 1), ("\x1b", 4), ("\u202e", 6), ("a", 1)],
)
def test_carets_stand_by_display_width(before: str, columns: int) -> None:
    source = before + "bad"
    start = len(before)
    block = ProgramError("E101", "m", Span(start, start + 3), source).render()
    assert block.splitlines()[2] == "    | " + " " * columns + "^^^"


@pytest.mark.parametrize("character", ["\x1b", "\u202e", "\x07", "\x9b", "\udc80"])
def test_no_character_that_steers_a_terminal_is_let_through(character: str) -> None:
    text = f"a{character}b"
    block = ProgramError("E101", text, Span(0, 1), text, hint=text).render()
    assert character not in block
    assert block.count(ascii(character)[1:-1]) == 3


@pytest.mark.parametrize("start", [0, 1, 50, 250_000, 499_990, 499_999])
@pytest.mark.parametrize("length", [1, 5, 100, 400_000])
def test_a_long_line_is_shown_as_a_window_around_the_span(
    start: int, length: int
) -> None:
    source = "".join(chr(ord("a") + i % 26) for i in range(500_000))
    end = min(start + length, len(source))
    error = ProgramError("E101", "m", Span(start, end), source)
    _, line, carets = (part[6:] for part in error.render().splitlines())
    assert len(line) <= 78
    assert len(carets) <= 78
    first = carets.index("^")
    assert line[first] == source[start]
    shown = line[first : first + carets.count("^")]
    assert source[start:end].startswith(shown.rstrip("…"))
    assert line.startswith("…") == (not source.startswith(line[:5]))
    assert line.endswith("…") == (not source.endswith(line[-5:]))


def test_a_span_over_several_lines_ends_with_its_first() -> None:
    source = "a = (b +\n c)"
    block = ProgramError("E101", "m", Span(4, 12), source).render()
    assert block.splitlines()[1:] == ["  1 | a = (b +", "    |     ^^^^"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_with_any_ending(ending: str) -> None:
    source = ending.join(["a = 1"] * 11 + ["b = )"])
    with pytest.raises(ProgramError) as caught:
        parse(source)
    assert caught.value.render().splitlines()[1:] == [
        "  12 | b = )",
        "     |     ^ delete it",
    ]
