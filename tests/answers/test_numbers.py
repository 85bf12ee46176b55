"""Numbers as text and as JSON: what is written reads back, what is left out is marked,
and large arrays are written piece by piece, as the same numbers in lists are."""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from re import sub
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.answers import numbers
from gradcli.answers.jsons import answer, dumps, entries, line_of, listed
from gradcli.answers.line import Layout, Line, Part, aligned
from gradcli.answers.numbers import (
    MANY,
    LargeArray,
    draw,
    flat,
    inline,
    number,
    number_line,
    plain,
    shown,
    sizes,
    value_lines,
)
from gradcli.answers.terminal import TerminalWriter
from gradcli.answers.writer import PlainWriter

rows = st.lists(st.floats(allow_nan=False), min_size=3, max_size=3)
matrices = st.lists(rows, min_size=1, max_size=4)


@given(st.floats(allow_nan=False), st.floats(width=32, allow_nan=False))
def test_a_number_reads_back_as_itself_and_is_no_longer_than_it_need_be(
    value: float, short: float
) -> None:
    back = float(number(value))
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)
    single = np.float32(short)
    text = number(plain(single))  # type: ignore[arg-type]
    assert np.float32(float(text)) == single
    assert float(text) == float(str(single))


@given(matrices, st.integers(40, 120))
def test_a_matrix_fits_its_layout_and_reads_back_unless_it_is_cut(
    matrix: list[list[float]], width: int
) -> None:
    for layout in (Layout(), Layout(width, 3)):
        lines = draw(matrix, layout)
        assert layout.width is None or max(map(len, lines)) <= width
        assert not layout.cut or layout.width
        if not layout.cut:
            assert json.loads("".join(lines).replace("inf", "Infinity")) == matrix
    assert json.loads(inline(matrix).replace("inf", "Infinity")) == matrix


def test_columns_are_aligned_and_the_middle_is_left_out_and_marked() -> None:
    assert draw([[1.0, -10.5], [0.25, 2.0]], Layout()) == [
        "[[1.0,  -10.5],",
        " [0.25, 2.0]]",
    ]
    layout = Layout(80, 4)
    drawn = draw([[float(i)] for i in range(100)], layout)
    assert layout.cut
    assert drawn == ["[[0.0],", " [1.0],", " …,", " [98.0],", " [99.0]]"]


@pytest.mark.parametrize("value", [[], [[], []], [[[]]]])
def test_empty_arrays_are_drawn(value: Any) -> None:
    assert json.loads("".join(draw(value, Layout(40, 3)))) == value


SHAPES = [(7,), (20,), (3, 4), (9, 3), (2, 3, 5), (1, 30), (0,), (4, 0), (40, 60)]


def array(shape: tuple[int, ...], kind: str = "f8") -> Any:
    entries = np.random.default_rng(0).normal(size=shape).astype(kind)
    if entries.size > 5:
        entries.flat[3], entries.flat[4] = np.nan, -np.inf
    return entries


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "PIECE", 5)


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_pieces_are_the_text_of_the_list(shape: tuple[int, ...], kind: str) -> None:
    raw = array(shape, kind)
    assert number_line(LargeArray(raw)).text == inline(plain(raw))
    assert line_of({"a": [LargeArray(raw), 1]}).text == dumps({"a": [plain(raw), 1]})
    assert flat(LargeArray(raw)) == pytest.approx(flat(plain(raw)), nan_ok=True)
    assert sizes(LargeArray(raw))[: len(sizes(plain(raw)))] == sizes(plain(raw))


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("rows", [None, 2, 5, 6])
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if 0 not in shape])
def test_they_are_drawn_alike_but_in_a_pipe_not_aligned(
    shape: tuple[int, ...], rows: int | None
) -> None:
    raw = array(shape)
    layout = Layout(None if rows is None else 60, rows)
    drawn = [
        [line.text for line in value_lines("dL/dx", value, layout, "a note", 6)]
        for value in (LargeArray(raw), plain(raw))
    ]
    if rows is None:
        drawn = [
            [sub(r"(?<=[,[]) +(?![\[ ])", "", t) for t in lines] for lines in drawn
        ]
    assert drawn[0] == drawn[1]
    assert draw(LargeArray(raw).around([r or 99 for r in (rows,) * raw.ndim]), layout)


def test_only_large_arrays_stay_arrays() -> None:
    assert shown(np.zeros(3)) == [0.0, 0.0, 0.0]
    assert shown(np.float64(2)) == 2.0
    assert isinstance(shown(np.zeros(MANY + 1)), LargeArray)


def test_a_long_line_is_written_to_a_pipe_and_to_a_terminal_as_it_is() -> None:
    for make in (PlainWriter, lambda stream: TerminalWriter(stream, 40, False)):
        stream = io.StringIO()
        writer = make(stream)
        writer.lines([Line(("before", "plain")), number_line(LargeArray(np.zeros(30)))])
        assert stream.getvalue() == "before\n" + repr([0.0] * 30) + "\n"


def test_the_first_parts_of_rows_are_as_wide_as_the_widest() -> None:
    rows: list[list[Part]] = [
        [("a", "name"), ("  one", "plain"), ("  end", "dim")],
        [("long", "name"), ("  1", "plain")],
    ]
    assert [line.text for line in aligned(rows, 2)] == ["a     one  end", "long  1  "]
    capped = [line.text for line in aligned(rows, 1, most=2)]
    assert capped == ["a   one  end", "long  1"]
    assert list(aligned([], 3)) == []


@dataclass(frozen=True, slots=True)
class Inner:
    value: float


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    inner: Inner
    several: tuple[Any, ...]
    hidden: int = 0


def test_views_are_objects_wherever_they_stand_and_strings_numbers_that_json_lacks(
) -> None:  # fmt: skip
    view = Outer("x", Inner(1.0), (Inner(math.nan), [math.inf, {"b": -math.inf}]))
    assert json.loads(dumps({"view": view})) == {
        "view": {
            "name": "x", "inner": {"value": 1.0},
            "several": [{"value": "nan"}, ["inf", {"b": "-inf"}]], "hidden": 0,
        }
    }  # fmt: skip
    assert list(entries(view, "hidden")) == ["name", "inner", "several"]


@pytest.mark.usefixtures("_small_pieces")
def test_a_list_with_a_line_each_is_one_object() -> None:
    big = LargeArray(array((20,)))
    for objects in ([], [1], [Inner(0.5), {"a": None}], [{"v": big}, {"n": [2.0]}]):
        told = listed(answer("graph", x=1), "nodes", objects)
        head, *lines, end = [each.text for each in told]
        assert head.endswith('"nodes": [')
        assert end == "]}"
        expected = [line_of(o).text for o in objects]
        assert [line.rstrip(",") for line in lines] == expected
        told = json.loads("\n".join([head, *lines, end]))
        assert (told["x"], len(told["nodes"])) == (1, len(objects))
