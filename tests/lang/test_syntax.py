"""The parser reads Python's expressions as Python does, and keeps every span."""

import unicodedata
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradcli.lang.errors import ProgramError
from gradcli.lang.parser import parse
from gradcli.lang.syntax import (
    Assign,
    Attribute,
    Binary,
    Call,
    Compare,
    Evaluate,
    Expression,
    For,
    If,
    Index,
    Literal,
    Logic,
    MethodCall,
    Name,
    Sequence,
    Slice,
    Target,
    Unary,
    free_names,
    walk,
)
from tests.grouped import by_row

numbers = st.one_of(
    st.integers(0, 12).map(str),
    st.floats(0, 9, allow_subnormal=False).map(lambda x: repr(round(x, 3))),
)
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def expressions(operand: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    between = st.sampled_from((*ARITHMETIC, *COMPARISONS, "and", "or"))
    joined = st.tuples(operand, between, operand).map(" ".join)
    chained = st.tuples(
        operand,
        st.sampled_from(COMPARISONS),
        operand,
        st.sampled_from(COMPARISONS),
        operand,
    ).map(" ".join)
    signed = st.tuples(st.sampled_from(("-", "+")), operand).map("".join)
    negated = operand.map(lambda text: f"(not {text})")
    grouped = operand.map(lambda text: f"({text})")
    conditional = st.tuples(operand, operand, operand).map(
        lambda parts: f"({parts[0]} if {parts[1]} else {parts[2]})"
    )
    return st.one_of(joined, chained, signed, negated, grouped, conditional)


def python_value(source: str) -> Any:
    """Python's own answer, or None where its numbers have none."""
    try:
        value = eval(source, {"__builtins__": {}})
    except (ZeroDivisionError, OverflowError):
        return None
    return None if isinstance(value, complex) else value


def refusal(call: Callable[[], object]) -> ProgramError | None:
    """The error that a call ends with, if it does."""
    try:
        call()
    except ProgramError as error:
        return error
    return None


def agree_with_python(source: str, evaluate: Any) -> None:
    refused = refusal(lambda: evaluate(source))
    if refused is not None:
        assert refused.code == "E402"
        return
    # Where Python has no value, the language has one (inf or nan): nothing to compare.
    expected = python_value(source)
    if expected is not None:
        value = evaluate(source).value
        assert type(value) is type(expected)
        assert value == expected or (value != value and expected != expected)


@settings(max_examples=150)
@given(source=st.recursive(numbers, expressions, max_leaves=12))
def test_precedence_is_that_of_python(source: str, evaluate: Any) -> None:
    agree_with_python(source, evaluate)


@by_row(
    "first, second, third",
    product(ARITHMETIC, ARITHMETIC, [*ARITHMETIC, "<", "==", "and", "or"]),
    " ".join,
    lambda operators: operators.partition(" ")[0],
)
def test_operators_side_by_side_group_as_in_python(
    first: str, second: str, third: str, evaluate: Any
) -> None:
    agree_with_python(f"7 {first} 3 {second} 2 {third} 5", evaluate)
    agree_with_python(f"-7 {first} -3.5 {second} -2 {third} -1", evaluate)


def only(source: str, kind: type[Any]) -> Any:
    (found,) = [node for node in walk(parse(source)) if isinstance(node, kind)]
    return found


def cut(source: str, span: Any) -> str:
    return source[span.start : span.end]


def test_spans_cut_each_node_from_the_text() -> None:
    source = "y = torch.sin( (a + b)*-c )[1:, 0].sum(dim = 1).T if p<q<r else not x"
    program = parse(source)
    texts = {program.text(n) for n in walk(program) if isinstance(n, Expression)}
    assert texts == {
        source[4:],
        "torch.sin( (a + b)*-c )[1:, 0].sum(dim = 1).T",
        "torch.sin( (a + b)*-c )[1:, 0].sum(dim = 1)",
        "torch.sin( (a + b)*-c )[1:, 0]",
        "torch.sin( (a + b)*-c )",
        "(a + b)*-c",
        "a + b",
        "-c",
        "1:, 0",
        "1:",
        "p<q<r",
        "not x",
        *"abcpqrx10",
    }


def test_operators_have_their_own_span() -> None:
    source = "a  +  b.sum(3)[k].T; f(x); -y; p < q"
    operators = (Binary, MethodCall, Index, Attribute, Call, Unary, Compare)
    shown = ["+", "sum", "[k]", "T", "f", "-", "<"]
    assert [cut(source, only(source, kind).op_span) for kind in operators] == shown


names = st.sampled_from(["x", "y1", "µ", "漢字"])
pieces = st.recursive(
    names | numbers,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(ARITHMETIC), inner).map(" ".join),
        inner.map(lambda text: f"( {text} )"),
        inner.map(lambda text: f"sin({text})"),
        inner.map(lambda text: f"({text})[{text}, ::2]"),
        st.lists(inner, min_size=1).map(lambda texts: f"[{', '.join(texts)}]"),
    ),
    max_leaves=10,
)


def shape(node: Any) -> list[Any]:
    """Everything about a tree but its spans."""
    return [
        (
            type(n),
            *(
                getattr(n, f)
                for f in ("operator", "name", "value", "function")
                if isinstance(getattr(n, f, None), str | int | float)
            ),
        )
        for n in walk(node)
    ]


@given(source=pieces)
def test_a_cut_expression_reads_as_itself(source: str) -> None:
    program = parse(source)
    for node in walk(program):
        if isinstance(node, Expression) and not isinstance(node, Slice):
            again = parse(f"z[{program.text(node)}]").body.statements[0]
            assert isinstance(again, Evaluate)
            assert isinstance(again.value, Index)
            assert shape(again.value.key) == shape(node)


@pytest.mark.parametrize(
    ("source", "free"),
    [
        ("b = w1*a; c = w2*a", ["w1", "a", "w2"]),
        ("x = x + 1", ["x"]),
        ("s += x", ["s", "x"]),
        ("for i in range(n): s = i*k", ["n", "k"]),
        ("for p, q in z: y = p*q", ["z"]),
        ("sin(sin)", ["sin"]),
        ("a if c else b", ["a", "c", "b"]),
        ("math.pi*r + torch.sin(x)", ["r", "x"]),
        ("f(x, dim=d).sum(e)[i:j]", ["x", "d", "e", "i", "j"]),
        ("while t: t = u\nif v: w = 1\nelse: z = w", ["t", "u", "v"]),
    ],
)
def test_free_names_come_in_order_of_first_use(source: str, free: list[str]) -> None:
    assert list(free_names(parse(source))) == free


@pytest.mark.parametrize(
    "prefix",
    [
        *("torch", "torch.nn.functional", "torch.special", "F", "nn.functional"),
        *("np", "numpy", "math", "jnp", "sympy"),
    ],
)
def test_pasted_prefixes_are_dropped(prefix: str) -> None:
    call = only(f"{prefix}.sin(x)", Call)
    assert (call.function, call.op_span.end) == ("sin", len(prefix) + 4)
    constant = only(f"{prefix}.pi", Name)
    assert (constant.name, constant.span.end) == ("pi", len(prefix) + 3)
    for before in ("", "torch.", "np.", "numpy."):
        assert only(f"{before}linalg.norm(x)", Call).function == "linalg.norm"


def test_a_variable_named_like_a_prefix_stays_a_variable() -> None:
    assert only("F = x; F.sum()", MethodCall).method == "sum"
    assert only("F*2", Binary).left.name == "F"
    bound = parse("F.sum()", variables={"F"}).body.statements[0]
    assert isinstance(bound, Evaluate)
    assert isinstance(bound.value, MethodCall)
    assert only("for np in x: np.sum()", MethodCall).receiver.name == "np"


def test_any_identifier_is_a_name_in_normal_form() -> None:
    for name in ("θ", "_", "x_1", "漢字", "ñandú", "Δx", "ªb"):
        assert free_names(parse(name)) == (name,)
    decomposed = unicodedata.normalize("NFD", "é1")
    assert free_names(parse(f"{decomposed} + é1")) == ("é1",)
    assert free_names(parse("µ + μ")) == ("µ", "μ")


@settings(deadline=None, max_examples=150)
@example("\n\\e")
@given(st.text(alphabet="xy01.+-*/()[]:;,='\"\\ \n\t#ifels²é\x00", max_size=40))
def test_any_text_is_read_or_refused_within_itself(source: str) -> None:
    refused = refusal(lambda: parse(source))
    if refused is None:
        program = parse(source)
        source, spans = program.source, [node.span for node in walk(program)]
    else:
        spans = [refused.span] if refused.span else []
        assert refused.render().startswith("error[E")
    assert all(0 <= span.start <= span.end <= len(source) for span in spans)


def test_a_body_on_one_line_reaches_to_its_end() -> None:
    (loop,) = parse("for i in x: a = i; if a: break").body.statements
    assert isinstance(loop, For)
    assert [type(s) for s in loop.body.statements] == [Assign, If]


@pytest.mark.parametrize(
    "source",
    [
        "if x > 0: y = x; else: y = -x",
        "if x > 0: y = x\nelse: y = -x",
        "if x > 0:\n  y = x\nelse:\n  y = -x",
        "if x > 0:\n\ty = x\n\n # note\nelse: y = -x",
        "  if x > 0:\n      y = x\n  else: y = -x",
    ],
)
def test_else_belongs_to_its_if_in_every_layout(source: str, evaluate: Any) -> None:
    assert [evaluate(source, x=x).value for x in (2.0, -3.0)] == [2.0, 3.0]


def test_nodes_compare_by_identity_and_have_all_their_fields() -> None:
    node = Literal(parse("x").span, 1)
    assert node != Literal(node.span, 1)
    assert Sequence(node.span, list, (node,)).items == (node,)
    with pytest.raises(TypeError):
        Target(node.span)  # type: ignore[call-arg]


def test_logic_and_comparisons_are_one_node_however_long() -> None:
    assert len(only("a and b and c and d", Logic).operands) == 4
    assert only("a < b >= c != d", Compare).operators == ("<", ">=", "!=")
