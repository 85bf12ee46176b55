"""Each error is one block that says what, where, why, and the way out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import gradcli.lang
from gradcli.lang import CODES, ProgramError, Span, parse

BLOCKS: dict[str, str] = {
    "y = tahn(x)": """\
error[E101]: unknown name 'tahn'
  1 | y = tahn(x)
    |     ^^^^ did you mean 'tanh'?""",
    "y = lg(x)": """\
error[E101]: unknown name 'lg'
  1 | y = lg(x)
    |     ^^ did you mean 'log10'? write y = log10(x)""",
    "y = x\nz = weight*x": """\
error[E101]: unknown name 'weight'
  2 | z = weight*x
    |     ^^^^^^ give it a value: weight=VALUE""",
    "y = torch.foo(x)": """\
error[E101]: unknown name 'foo'
  1 | y = torch.foo(x)
    |     ^^^^^^^^^ 'gradcli ops' lists all functions""",
    "x(3)": """\
error[E102]: 'x' is a value, not a function
  1 | x(3)
    | ^ to multiply, write x*(3)""",
    "sin = 2*x; sin(x)": """\
error[E102]: 'sin' is a value here, not a function
  1 | sin = 2*x; sin(x)
    |            ^^^ to multiply, write sin = 2*x; sin*(x)""",
    "sin x": """\
error[E208]: no operator between sin and x
  1 | sin x
    | ^^^^^ to call it, write sin(x)""",
    "sin^2(x)": """\
error[E208]: no operator between 2 and (
  1 | sin^2(x)
    |     ^^ to raise its result to a power, write sin(x)^2""",
    "for i in range(3) x": """\
error[E207]: expected ':', found 'x'
  1 | for i in range(3) x
    |                   ^ write ':' before it""",
    "x++": """\
error[E207]: expected an expression, found the end of the line
  1 | x++
    |    ^ to count, write i += 1 or i -= 1""",
    "nn.ReLU()(x)": """\
error[E209]: the layer 'ReLU' is not part of the language
  1 | nn.ReLU()(x)
    | ^^^^^^^ the function is relu(...)""",
    "nn.Linear(2, 3)(x)": """\
error[E209]: the layer 'Linear' is not part of the language
  1 | nn.Linear(2, 3)(x)
    | ^^^^^^^^^ the function is linear(...)""",
    "y = \\frac{x}{2}": """\
error[E201]: LaTeX is not read
  1 | y = \\frac{x}{2}
    |     ^^^^^ write y = (x/2)""",
    "x^{2}": """\
error[E201]: LaTeX is not read
  1 | x^{2}
    |   ^ write x^2""",
    "```python\nx\n```": """\
error[E201]: a fence of Markdown is not part of a program
  1 | ```python
    | ^^^^^^^^^ leave its lines out""",
    ">>> x": """\
error[E201]: a prompt is not part of a program
  1 | >>> x
    | ^^^ leave it out""",
    "∂x": """\
error[E201]: derivatives are not written in a program
  1 | ∂x
    | ^ write what to derive""",
    "y = x + \\": """\
error[E201]: nothing follows to be joined to this line
  1 | y = x + \\
    |         ^ delete it""",
    "sіn(x)": """\
error[E101]: unknown name 'sіn'
  1 | sіn(x)
    | ^^^ did you mean 'sin'? 'і' is U+0456, 'i' is U+0069""",
    "factorial(x)": """\
error[E106]: 'factorial' is not part of the language
  1 | factorial(x)
    | ^^^^^^^^^ write exp(lgamma(n + 1))""",
    "max()": """\
error[E302]: max needs a value
  1 | max()
    | ^^^ write max(a, b) or max([a, b])""",
    "round(1, 2, 3)": """\
error[E302]: round does not take a number, a number, a number
  1 | round(1, 2, 3)
    | ^^^^^ write round(x) or round(x, digits)""",
    "max([])": """\
error[E302]: max does not take an empty list
  1 | max([])
    | ^^^ write max(a, b) or max([a, b])""",
    "x.foo()": """\
error[E103]: a number has no method 'foo'
  1 | x.foo()
    |   ^^^""",
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
    "sin + 1": """\
error[E105]: 'sin' is a function, and it is used as a value
  1 | sin + 1
    | ^^^ call it: sin(x)""",
    "x.backward()": """\
error[E106]: '.backward()' is not called here
  1 | x.backward()
    |   ^^^^^^^^ leave it out: the command line runs backward for you""",
    "print(x)": """\
error[E106]: 'print' is not part of the language
  1 | print(x)
    | ^^^^^ leave it out: the last value is printed""",
    "if x > 5: q = 1\ny = q": """\
error[E107]: 'q' has no value yet
  2 | y = q
    |     ^ the assignment to it did not run; give it a value first""",
    "x && y": """\
error[E201]: '&&' is not an operator here
  1 | x && y
    |   ^^ write 'and'""",
    "x\x1by": """\
error[E201]: unexpected character '\\x1b'
  1 | x\\x1by
    |  ^^^^ it is U+001B; the language does not use it""",
    "x ＋ 2": """\
error[E202]: '＋' is a typographic character
  1 | x ＋ 2
    |   ^^ write x + 2""",
    "3j": """\
error[E203]: complex numbers are not supported
  1 | 3j
    | ^^ numbers are real; to multiply write 3*j""",
    "'abc": """\
error[E204]: a string is not closed
  1 | 'abc
    | ^^^^ close it with ' on the same line""",
    "(x]": """\
error[E205]: ']' does not close '('
  1 | (x]
    |   ^ write ')'""",
    "if x:\ny = 1": """\
error[E206]: expected an indented body
  2 | y = 1
    | ^ indent it, or write 'pass'""",
    "y = x +": """\
error[E207]: expected an expression, found the end of the line
  1 | y = x +
    |        ^ write a value after '+'""",
    "if x = 3: y = 1": """\
error[E207]: expected ':', found '='
  1 | if x = 3: y = 1
    |      ^ to compare, write '=='""",
    "y = 1\nz = x e^x + 2 sin x": """\
error[E208]: no operator between x and e
  2 | z = x e^x + 2 sin x
    |     ^^^ to multiply, write z = x*e^x + 2 sin(x)""",
    "(x+1)2": """\
error[E208]: no operator between ) and 2
  1 | (x+1)2
    |     ^^ to multiply, write (x+1)*2""",
    "import torch": """\
error[E209]: 'import' is not part of the language
  1 | import torch
    | ^^^^^^ drop it: every function is already there""",
    "x[0] = 1": """\
error[E210]: an element cannot be assigned to
  1 | x[0] = 1
    | ^^^^ build a new value, for example with where(...) or cat([...])""",
    "# nothing": """\
error[E211]: the program is empty
  = help: write an expression, for example x**2""",
    "break": """\
error[E212]: 'break' outside a loop
  1 | break
    | ^^^^^ it belongs inside a 'for' or a 'while'""",
    "sin(a=1, a=2)": """\
error[E213]: the argument 'a' is given twice
  1 | sin(a=1, a=2)
    |          ^ keep one of them""",
    "2*1e-400": """\
error[E214]: 1e-400 is less than any float, which would be 0
  1 | 2*1e-400
    |   ^^^^^^ write 0""",
    "[0]*10**9": """\
error[E301]: a list cannot be an operand
  1 | [0]*10**9
    |    ^ write tensor([...])""",
    "range(1, 2, 0)": """\
error[E302]: the step of a range cannot be 0
  1 | range(1, 2, 0)
    | ^^^^^ write 1, or -1 to count down""",
    "2*x + (b + x)": """\
error[E303]: +: shapes 1.0 and 3.0 do not fit
  1 | 2*x + (b + x)
    |          ^ reshape one of them""",
    "[1, 2][2]": """\
error[E304]: index 2 is outside a list of 2
  1 | [1, 2][2]
    |       ^^^ counting starts at 0""",
    "if [x]: y = 1": """\
error[E305]: a list is neither true nor false
  1 | if [x]: y = 1
    |    ^^^ compare it: a > b""",
    "p, q = [1, 2, 3]": """\
error[E306]: 2 names on the left, but more values
  1 | p, q = [1, 2, 3]
    | ^^^^ one name for each value""",
    "for i in x: y = i": """\
error[E306]: a loop cannot run over a number
  1 | for i in x: y = i
    |          ^ write range(n)""",
    "int(1/0)": """\
error[E307]: inf cannot become an integer
  1 | int(1/0)
    | ^^^""",
    "sin(x, x)": """\
error[E399]: TypeError: math.sin() takes exactly one argument (2 given)
  1 | sin(x, x)
    | ^^^""",
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
    "9**9**9": """\
error[E402]: an integer would have more than 4096 bits
  1 | 9**9**9
    |  ^^ compute with floats: 9.0 instead of 9""",
    "crash('memory')": """\
error[E403]: there is no memory left for this value
  1 | crash('memory')
    | ^^^^^ take fewer entries or steps, or allow more with --max-memory""",
    "crash('recursion')": """\
error[E404]: a value is nested too deeply
  1 | crash('recursion')
    | ^^^^^ nest it less deeply""",
}


@pytest.mark.parametrize("source", BLOCKS)
def test_an_error_is_exactly_this_block(source: str, evaluate: Any, box: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate(source, max_steps=1000, x=3.0, b=box(1.0))
    assert caught.value.render() == BLOCKS[source]
    limit = BLOCKS[source].startswith("error[E4")
    assert caught.value.exit_status == (4 if limit else 3)


def test_every_code_of_the_language_is_listed_and_shown_above() -> None:
    room = Path(gradcli.lang.__file__).parent
    written = {
        code
        for file in room.glob("*.py")
        if file.name != "errors.py"
        for code in re.findall(r'"(E[1-4]\d{2})"', file.read_text())
    }
    shown = set(re.findall(r"error\[(E\d{3})\]", "\n".join(BLOCKS.values())))
    assert written <= set(CODES)
    assert written == shown


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


def test_json_without_a_place_has_nulls() -> None:
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
