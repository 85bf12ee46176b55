"""A picture has every value, every gradient and the rule of every edge."""

from __future__ import annotations

import pytest

from gradcli.views.briefly import MAX_WHOLE_ENTRIES, Extent
from tests.render.graphs.conftest import AT, FIVE, MATRIX, MATRIX_AT, picture


def test_values_and_gradients_stand_at_their_nodes() -> None:
    nodes = {n.node.variable or n.node.source: n for n in picture(FIVE, *AT).nodes}
    made = {name: (n.value, n.gradient) for name, n in nodes.items()}
    assert made["10 - d"] == (7.75, 1.0)
    assert made["w3*b + w4*c"] == (2.25, -1.0)
    assert made["w1*a"] == (1.0, -3.0)
    assert made["a"] == (2.0, -1.125)
    assert nodes["w3*b"].rules == ("b", "w3")
    assert (nodes["a"].verdict, nodes["w1"].verdict) == ("proved", None)


def test_a_matrix_rule_is_a_formula_in_the_programs_names() -> None:
    nodes = {n.node.name: n for n in picture(MATRIX, *MATRIX_AT).nodes}
    assert nodes["MmBackward0"].rules == ("g @ W.T", "X.T @ g")
    assert nodes["TanhBackward0"].rules == ("1 - h * h",)
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
    assert found["exp(x)*w"] == ("w", "exp(x)")
    for source in ("sin(x)*w", "sin(x)"):
        again = rules("for i in range(3): x = sin(x)*w\nx", "x=1", "w=2")
        assert again[source] == {"sin(x)*w": ("w", "sin(x)"), "sin(x)": ("cos(x)",)}[
            source
        ]  # fmt: skip
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
