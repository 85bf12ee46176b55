"""A program runs as Python would run it, within bounds, and tells what it did."""

import gc
import math
from typing import Any

import pytest

from gradcli.lang import process
from gradcli.lang.compiler import compile_program
from gradcli.lang.errors import ProgramError
from gradcli.lang.parser import parse


@pytest.mark.parametrize(
    ("source", "name", "text"),
    [
        ("y = x; z = y*2", "z", "z = y*2"),
        ("y = x\ny + 1", None, "y + 1"),
        ("p, q = x, x", "q", "p, q = x, x"),
        ("for i in range(2): y = i", "y", "y = i"),
        ("y = x\npass", "y", "y = x"),
    ],
)
def test_the_last_statement_run_gives_the_output(
    source: str, name: str | None, text: str, evaluate: Any
) -> None:
    result = evaluate(source, x=3)
    assert result.name == name
    assert source[result.span.start : result.span.end] == text


def test_a_program_may_end_without_a_value(evaluate: Any) -> None:
    result = evaluate("if 0: y = 1")
    assert (result.value, result.name, result.span) == (None, None, None)


def test_the_environment_has_bindings_and_assigned_names(evaluate: Any) -> None:
    bindings = {"x": 2, "unused": 5}
    result = evaluate("y = x*pi; x = 1; if 0: z = 3", **bindings)
    assert result.environment == {"x": 1, "y": 2 * math.pi, "unused": 5}
    assert bindings == {"x": 2, "unused": 5}


@pytest.mark.parametrize(
    "source",
    [
        "9**9**9",
        "2**4096",
        "(2**4000)*(2**4000)",
        "a = 3\nfor i in range(100): a = a*a",
        "2**4000 + 0.5",
        "sum(range(10**12))",
        "max(range(10**12))",
        "pow(9, 9**9)",
        "a = 1\nwhile a: a = 1",
        "for i in range(10**12): y = i",
    ],
)
def test_unbounded_work_is_refused_at_once(source: str, evaluate: Any) -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate(source, max_steps=10_000)
    assert caught.value.exit_status == 4
    assert caught.value.span is not None


@pytest.mark.parametrize(
    "source",
    [
        *("[0]*10**9", "'a'*10**9", "[1] + [2]", "'a' + 'b'", "b*[1]", "-[1]"),
        *("'a' < 'b'", "None == 1", "(1, 2)*3", "y = [1]; y += [2]", "range(3)*2"),
        "1 @ 2",
    ],
)
def test_lists_strings_and_none_have_no_operators(
    source: str, evaluate: Any, box: Any
) -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate(source, b=box(1.0))
    assert caught.value.code == "E301"


def test_round_cannot_be_made_to_compute_a_huge_power(evaluate: Any) -> None:
    assert evaluate("round(5, -10**9)").value == 0


def test_the_library_decides_about_other_values(evaluate: Any, box: Any) -> None:
    assert evaluate("max(b, 1)", b=box(1.0)).value == ("library max", 0)
    assert evaluate("max(1, 2, dim=1)").value == ("library max", 1)
    assert evaluate("s = 0\nfor i in b: s += i", b=box(1.0)).value == 3.0
    assert evaluate("p, q = b; q", b=box(1.0)).value == 2.0
    assert evaluate("1 if b else 2", b=box(0.0)).value == 2
    assert evaluate("not b", b=box(0.0)).value is True
    assert evaluate("b.double(times=3).content", b=box(1.0)).value == 8.0
    positions = (slice(1, None, None), ..., None, slice(None, None, 2))
    assert evaluate("b[1:, ..., None, ::2]", b=box(1.0)).value == positions


def test_the_library_is_told_each_result_and_its_text(
    evaluate: Any, box: Any, library: Any
) -> None:
    source = "y = torch.box(3)*b; z = y.double()[0]"
    evaluate(source, library, b=box(1.0))
    shown = ["torch.box(3)", "torch.box(3)*b", "y.double()", "y.double()[0]"]
    assert [source[span.start : span.end] for _, span in library.results] == shown


def test_the_trace_is_told_each_statement_in_order(evaluate: Any) -> None:
    told: list[Any] = []
    evaluate(
        "y = 1\nfor i in range(2): y += i\ny*2",
        trace=lambda span, name, value: told.append((span.start, name, value)),
    )
    assert told == [(0, "y", 1), (25, "y", 1), (25, "y", 2), (32, None, 4)]


TWICE = [False, "closed", False, "closed"]


@pytest.mark.parametrize(
    ("source", "modes"),
    [
        ("with no_grad(): y = 1", [False, "closed"]),
        ("with torch.enable_grad():\n  y = 1", [True, "closed"]),
        ("for i in range(3):\n  with no_grad():\n    if i: break", TWICE),
        ("for i in range(2):\n  with no_grad():\n    continue", TWICE),
        (
            "with no_grad():\n  for i in range(2): break\n  with enable_grad(): y = 1",
            [False, True, "closed", "closed"],
        ),
    ],
)
def test_every_mode_that_is_entered_is_left(
    source: str, modes: list[object], evaluate: Any, library: Any
) -> None:
    evaluate(source, library)
    assert library.modes == modes


def test_an_error_leaves_every_mode(evaluate: Any, library: Any) -> None:
    with pytest.raises(ProgramError):
        evaluate("with no_grad():\n with enable_grad(): sin('a')", library)
    assert library.modes == [False, True, "closed", "closed"]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("y = tahn(x); z = 1/0", "E101"),
        ("if 0: y = tahn(x)", "E101"),
        ("if 0: y = nowhere", "E101"),
        ("for i in range(2): y = q; q = 1", "E107"),
        ("for i in range(0): q = 1\ny = q", "E107"),
        ("z = 0 and q\nif 0: q = 1\nz = q", "E107"),
        ("while 0: q = 1\ny = q", "E107"),
        ("if 0: q = 1\nelif 0: q = 2\nq", "E107"),
        ("del_ = 3; q = 1 if del_ else 0; q = 0 < 1 < w\nif 0: w = 1", "E107"),
    ],
)
def test_a_name_without_a_value_is_never_read(
    source: str, code: str, evaluate: Any
) -> None:
    with pytest.raises(ProgramError) as caught:
        evaluate(source, x=1.0)
    assert caught.value.code == code


def test_an_error_leaves_the_old_value_in_place(evaluate: Any) -> None:
    told: list[Any] = []
    with pytest.raises(ProgramError):
        evaluate("y = 1; y = y + 'a'", trace=lambda *event: told.append(event[1:]))
    assert told == [("y", 1)]


def test_memory_is_freed_before_its_lack_is_worded(
    evaluate: Any, library: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the operation let out an error of its own that memory led to."""
    left: list[str] = []
    monkeypatch.setattr(process, "relief", [lambda: left.append("memory")])

    def greedy(value: float) -> None:
        raise RuntimeError("sin: refused") from MemoryError()

    def worded(*asked: object) -> tuple[str, str, None]:
        if not left:
            raise MemoryError
        return "E403", "sin: refused", None

    library.functions["sin"], library.explain = greedy, worded
    with pytest.raises(ProgramError, match="sin: refused") as error:
        evaluate("sin(2)", library)
    assert error.value.code == "E403"


def test_an_interrupt_passes_through(evaluate: Any, library: Any) -> None:
    def interrupt(value: float) -> float:
        raise KeyboardInterrupt

    library.functions["sin"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        evaluate("with no_grad(): sin(1)", library)
    assert library.modes == [False, "closed"]


DEEP = 10_000
SHAPES: dict[str, tuple[str, str, str]] = {
    "parentheses": ("(", "x", ")"),
    "lists": ("[", "x", "]"),
    "calls": ("float(", "x", ")"),
    "signs": ("-", "x", ""),
    "powers": ("x**", "x", ""),
    "indices": ("", "t", "[0]"),
    "conditions": ("x if x else ", "x", ""),
    "negations": ("not ", "x", ""),
    "sum": ("x + ", "x", ""),
    "chain": ("x <= ", "x", ""),
    "logic": ("x and ", "x", ""),
    "statements": ("y = x\n", "x", ""),
    "methods": ("", "b", ".double(0)"),
    "inner indices": ("[0][", "0", "]"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_depth_is_no_limit(name: str, evaluate: Any, box: Any) -> None:
    before, middle, after = SHAPES[name]
    nested: list[Any] = []
    nested.append(nested)
    text = before * DEEP + middle + after * DEEP
    evaluate(text, x=1.0, t=nested, b=box(1.0))
    nested.clear()


def test_a_deep_body_is_read_and_run(evaluate: Any) -> None:
    depth = 300
    lines = [" " * level + "if 1:" for level in range(depth)]
    assert evaluate("\n".join([*lines, " " * depth + "y = 7"])).value == 7
    assert evaluate("if 1: " * 5000 + "y = 8").value == 8


def test_a_hundred_thousand_terms_are_read_and_run(evaluate: Any) -> None:
    assert evaluate(" + ".join(["x"] * 100_000), x=1.0).value == 100_000


def test_the_collector_runs_again_after_parsing() -> None:
    compile_program(parse("x + 1"))
    with pytest.raises(ProgramError):
        parse("x +")
    assert gc.isenabled()
