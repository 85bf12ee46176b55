"""The graph view is the recorded graph, node for node, at any depth."""

from __future__ import annotations

from gradcli.answers.graph_view import MAX_SOURCE_CHARACTERS, GraphView, graph_view
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, prepare


def recorded(program: str, *bindings: str) -> Run:
    return Session(prepare(program, read_bindings(bindings))).run()


def view_of(run: Run, local_gradients: bool = True) -> GraphView:
    named = {i.name: i.tensor for i in run.inputs}
    return graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables={**named, **run.variables},
        local_gradients=local_gradients,
    )


def seen(program: str, *bindings: str) -> GraphView:
    return view_of(recorded(program, *bindings))


def test_ids_follow_the_order_in_which_next_functions_discovers() -> None:
    view = seen("y = (a*b) + (b*c)", "a=1", "b=2", "c=3")
    assert [n.variable or n.name for n in view.nodes] == [
        "AddBackward0", "MulBackward0", "a", "b", "MulBackward0", "c",
    ]  # fmt: skip
    assert [n.id for n in view.nodes] == list(range(6))
    assert view.nodes[4].next_functions == ((3, 0), (5, 0))


def test_both_edges_of_a_square_are_kept() -> None:
    view = seen("y = x*x", "x=3")
    assert view.nodes[0].next_functions == ((1, 0), (1, 0))
    assert view.nodes[0].local_gradients == (3.0, 3.0)
    assert view.uses() == [0, 2]


def test_an_input_without_gradient_is_a_none_edge() -> None:
    view = seen("y = x*tensor([1., 2.])", "x=3")
    assert view.nodes[0].next_functions == ((1, 0), (None, 0))
    assert view.nodes[0].local_gradients == ([1.0, 2.0], None)


def test_local_gradients_are_the_partials_at_the_saved_values() -> None:
    view = seen("y = (a - b)*exp(a)", "a=0", "b=2")
    by_name = {node.name: node.local_gradients for node in view.nodes}
    assert by_name["MulBackward0"] == (1.0, -2.0)
    assert by_name["SubBackward0"] == (1.0, -1.0)
    assert by_name["ExpBackward0"] == (1.0,)


def test_shapes_are_those_of_the_nodes_outputs() -> None:
    view = seen("y = ((W @ x).reshape(1, 2) + b).sum()", "W=ones(2,3)", "x=ones(3)",
                "b=ones(4,1,2)")  # fmt: skip
    shapes = {node.variable or node.name: node.shape for node in view.nodes}
    assert shapes["SumBackward0"] == ()
    assert shapes["AddBackward0"] == (4, 1, 2)
    assert shapes["b"] == (4, 1, 2)
    assert shapes["MvBackward0"] == (2,)
    assert (shapes["W"], shapes["x"]) == ((2, 3), (3,))


def test_source_line_and_column_are_the_programs() -> None:
    view = seen("# first\ny = x\nz = 2 + sin(y)\n", "x=1")
    sine = next(node for node in view.nodes if node.name == "SinBackward0")
    assert (sine.source, sine.line, sine.column) == ("sin(y)", 3, 9)
    assert (view.nodes[0].output, view.nodes[0].source) == ("z", "2 + sin(y)")


def test_a_long_text_is_cut_but_its_span_is_exact() -> None:
    program = "+".join(["x"] * 2000)
    view = seen(program, "x=1")
    first = view.nodes[0]
    assert first.source is not None
    assert len(first.source) == MAX_SOURCE_CHARACTERS + 1
    assert first.span == (0, len(program))


def test_a_constant_has_no_graph_and_a_leaf_is_its_own() -> None:
    assert seen("2 + 3").root is None
    leaf = seen("x", "x=1")
    assert [node.variable for node in leaf.nodes] == ["x"]


def test_a_graph_of_a_hundred_thousand_nodes_needs_no_recursion() -> None:
    run = recorded("y = x\nfor i in range(100000): y = y*1.0", "x=2")
    view = view_of(run)
    assert len(view.nodes) == 100_001
