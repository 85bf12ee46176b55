"""Pages of the table, places of spans, patterns of blocks, and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.answers.catalog import find, page
from gradcli.answers.graph_view import MAX_NOTE_CHARACTERS, SpanFinder, Where
from gradcli.answers.numbers import MAX_WHOLE_ENTRIES, Extent
from gradcli.answers.pattern import pattern_of
from gradcli.engine import NUMPY, Tensor, call
from gradcli.lang.excerpt import Span, locate
from gradcli.large import blocks
from gradcli.large.blocks import TooManyEntries, jacobian
from tests.pictures.conftest import AT, FIVE, MATRIX, MATRIX_AT, picture


def test_a_page_shows_the_defaults_of_parameters() -> None:
    found = find("softplus")
    assert found is not None
    head, *rest = ["".join(text for text, _ in line.parts) for line in page(found)]
    assert head == "softplus(x, beta=1.0, threshold=20.0)"
    assert "  parameters: x, beta=1.0, threshold=20.0" in rest


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_in_messages(end: str) -> None:
    source = end.join(["a = x", "", "b = sin(a)", "b*a"])
    for start in range(len(source)):
        where = SpanFinder(source).find((start, start + 1))
        place = locate(source, Span(start, start + 1))
        if source[start] not in "\r\n":
            assert (where.line, where.column) == (place.line, place.column)


def test_a_text_stands_on_one_line_and_has_an_end() -> None:
    source = "y = sum([x,\n   2*x]) + " + "+ ".join(["x"] * MAX_NOTE_CHARACTERS)
    places = SpanFinder(source)
    assert places.find((4, 20)) == Where("sum([x, 2*x])", 1, 5)
    whole = places.find((0, len(source))).text
    assert whole is not None
    assert whole.endswith("…")
    assert len(whole) <= MAX_NOTE_CHARACTERS + 1


def test_nothing_is_known_of_no_span() -> None:
    assert SpanFinder("x").find(None) == Where(None, None, None)


def leaf(values: object) -> Tensor:
    return Tensor(np.asarray(values, dtype=float), NUMPY, requires_grad=True)


@pytest.mark.parametrize(("size", "mode"), [(3, "fwd"), (1, "rev")])
def test_auto_takes_fewer_passes(size: int, mode: str) -> None:
    x = leaf([2.0])
    assert jacobian(x * Tensor(np.ones(size), NUMPY), [x]).mode == mode


def test_blocks_beyond_the_limit_are_refused_before_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "MAX_ENTRIES", 3)
    w, x = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([1.0, 2.0])
    with pytest.raises(TooManyEntries, match="4 entries"):
        jacobian(call("mv", w, x), [x])


@pytest.mark.parametrize(
    ("block", "rows", "expected"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], 2, "zero"),
        ([[1.0, 0.0], [0.0, 1.0]], 2, "identity"),
        ([[2.0, 0.0], [0.0, 1.0]], 2, "diagonal"),
        ([[2.0, 1.0], [0.0, 1.0]], 2, "upper triangular"),
        ([[2.0, 0.0], [3.0, 1.0]], 2, "lower triangular"),
        ([[2.0, 3.0], [3.0, 1.0]], 2, "symmetric"),
        ([[2.0, 3.0], [4.0, 1.0]], 2, "dense"),
        ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 2, "dense"),
        ([[[1.0, 0.0], [0.0, 1.0]]], 1, "dense"),
        (5.0, 1, "scalar"),
        ([], 0, "zero"),
        ([[float("nan"), 0.0], [0.0, 1.0]], 2, "diagonal"),
    ],
)
def test_a_blocks_pattern_is_named(block: object, rows: int, expected: str) -> None:
    entries = np.asarray(block, dtype=np.float64)
    columns = entries.size // rows if rows else 0
    assert pattern_of(entries.reshape(rows, columns)).structure() == expected


def test_values_and_gradients_stand_at_their_nodes() -> None:
    nodes = {n.node.variable or n.node.source: n for n in picture(FIVE, *AT).nodes}
    made = {name: (n.value, n.gradient) for name, n in nodes.items()}
    assert made["10 - d"] == (7.75, 1.0)
    assert made["w3*b + w4*c"] == (2.25, -1.0)
    assert made["w1*a"] == (1.0, -3.0)
    assert made["a"] == (2.0, -1.125)
    assert nodes["w3*b"].rules == ("g * b", "g * w3")
    assert (nodes["a"].verdict, nodes["w1"].verdict) == ("proved", None)


def test_a_matrix_rule_is_a_formula_in_the_programs_names() -> None:
    nodes = {n.node.name: n for n in picture(MATRIX, *MATRIX_AT).nodes}
    assert nodes["MmBackward0"].rules == ("g @ W.T", "X.T @ g")
    assert nodes["TanhBackward0"].rules == ("g * (1 - h * h)",)
    assert nodes["MmBackward0"].value == [[pytest.approx(0.7), pytest.approx(0.6)],
                                          [1.5, 1.0]]  # fmt: skip


def test_a_large_array_is_what_it_ranges_over() -> None:
    count = MAX_WHOLE_ENTRIES + 1
    root, square, leaf = picture("sum(x**2)", f"x=arange({count})").nodes
    assert square.value == Extent((count,), 0.0, (count - 1.0) ** 2, False)
    assert leaf.gradient == Extent((count,), 0.0, 2.0 * (count - 1), False)
    assert root.gradient == 1.0


def test_an_input_keeps_its_name_where_the_program_gives_it_away() -> None:
    names = {n.node.variable for n in picture("x = x*2; x = x + 1; x", "x=3").nodes}
    assert "x" in names


def test_values_changed_in_place_are_those_of_their_time() -> None:
    found = picture("y = x*2; y *= 3; sum(y + 1)", "x=[1]")
    made = [n.value for n in found.nodes]
    assert made == [7.0, [7.0], [6.0], [2.0], [1.0]]


def rules(program: str, *words: str) -> dict[str | None, tuple[str | None, ...]]:
    return {n.node.source: n.rules for n in picture(program, *words).nodes}


def test_a_rule_calls_values_as_the_program_does_and_not_by_letters_of_the_table() -> (
    None
):
    found = rules("(exp(x)*w).sum()", "x=[1,2]", "w=3")
    assert found["exp(x)*w"] == ("g * w", "g * exp(x)")
    expected = {"sin(x)*w": ("g * w", "g * sin(x)"), "sin(x)": ("g * cos(x)",)}
    for source in expected:
        again = rules("for i in range(3): x = sin(x)*w\nx", "x=1", "w=2")
        assert again[source] == expected[source]
    found = rules("(q @ k.T).sum()", "q=[[1,2]]", "k=[[3,4]]")
    assert found["q @ k.T"] == ("g @ k.T.T", "q.T @ g")


def test_letters_of_a_rule_are_no_names_of_the_program() -> None:
    found = rules("g = b*2; y = softmax(g @ (b + 1), 0); sum(y*b)", "b=[[1,2],[3,4]]")
    assert found["g @ (b + 1)"] == ("grad @ (b + 1).T", "g.T @ grad")
    assert found["softmax(g @ (b + 1), 0)"] == ("y * (grad - sum(y * grad, dim=0))",)
    found = rules("y = b; softmax(b*b*b*b*b*b*b*b*b*b*b*b*b, 0) @ b", "b=[1,2]")
    unnamed = next(found[text] for text in found if text and text.startswith("softmax"))
    assert "y" not in (unnamed[0] or "").replace("result", "")


def test_what_is_put_together_has_a_rule_for_each_part() -> None:
    found = rules("cat([v, w*2]).sum() + stack([v, v]).sum()", "v=[1,2]", "w=[3]")
    assert found["cat([v, w*2])"] == ("g[:2]", "g[2:3]")
    assert found["stack([v, v])"] == ("g[0]", "g[1]")
    found = rules("einsum('ij,j->i', A, exp(v)).sum()", "A=[[1,2]]", "v=[1,2]")
    assert found["einsum('ij,j->i', A, exp(v))"] == (
        "einsum('i,j->ij', g, exp(v))",
        "einsum('i,ij->j', g, A)",
    )
    many = rules("cat([v, v, v, v, v, v, v]).sum()", "v=[1]")
    assert many["cat([v, v, v, v, v, v, v])"] == (None,) * 7
