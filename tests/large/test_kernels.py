"""Recorded pointwise programs: the engine's own numbers, bit for bit, tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY
from gradcli.lang import in_parts
from gradcli.lang.compiled import compile
from gradcli.large import kernel
from gradcli.large.columns import is_elementwise
from gradcli.large.kernel import Results, chosen, needed, traced_plan
from gradcli.large.tracing import Sample, SampleNamespace, Trace
from gradcli.ops import FUNCTIONS, Op, offered
from gradcli.ops.op import overloads
from tests.grouped import by_row

COUNT = 1003

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e-40, 1e300, 1.0, -1.0]
"""Beside ordinary numbers; of the last tile too."""

OTHERS = {"prelu": "its weight is one number or one for each channel",
          "polylog": "its order is a plain number, and comes first",
          "square": "it is a power",
          **dict.fromkeys(("igamma", "igammac", "zeta"),
                          "it has no derivative by its first operand")}  # fmt: skip
"""Elementwise functions that are not run on arrays of one shape here, and why."""

ELEMENTWISE = [n for n in offered() if is_elementwise(n) and n not in OTHERS]

PROGRAMS = [
    "(tanh(a*b + c)*exp(-a*a)).sum()",
    "mean((k*a + m - b)**2)",
    "sum(where(a > b, sin(a)*b, c/(1 + a*a)))",
    "h = relu(a - m)\nmean(h*c + k*k*h)",
    "sum(logaddexp(a, b)*sigmoid(c) - k)",
    "mean(a + b)",
    "sum(k*(m + k*a))",
    "sum(abs(a)**0.5 + b**2.0 + c**3 + 2**a + a**-1)",
    "sum(a*sign(b) + k*(a > c))",
    "h = relu(a - m); h *= b; mean(h*c)",
    "sum(lgamma(a))",
    "sum(a*b) + k*m",
    "mean((k*a + m - b)**2) + 0.1*k**2",
    "sqrt(mean((a - k*b)**2))",
    "sum(a*b)/sqrt(sum(a*a)*sum(b*b))",
    "h = mean(a)\nmean((a - h)**2*b)",
    "k*log(sum(exp(a - m)))",
    "h = a\nfor i in range(3): h = sin(h)*b\nsum(h*h)",
    "if k > 0.5: a = 2*a\nsum(a*b)",
    "mse_loss(k*a + m, b)",
    "h = a - mean(a)\nh = h/sqrt(mean(h*h) + 0.1)\nsum(h*b)*k",
    "h = sum(a)*b\nsum(exp(h/1000)/sum(b*b))",
    "mean(a*a)**1.7 + 2**mean(b) + mean(a + 3)**mean(b)",
]
"""Programs of arrays a, b, c and numbers k, m, also with several sums, some of numbers
that are known only after others."""


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "TILE_ENTRIES", (1, 300))
    monkeypatch.setattr(in_parts, "MIN_ENTRIES_IN_PARTS", 500)


def plans(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each program that is to be recorded from now on, whether it was."""
    told: list[bool] = []

    def spied(*args: Any) -> Any:
        found = traced_plan(*args)
        told.append(found is not None)
        return found

    monkeypatch.setattr(in_parts, "traced_plan", spied)
    return told


def both(
    text: str, given: dict[str, Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Any]:
    """The value and the gradients by tiles, and in one piece."""
    by_tiles = compile(text, dtype=dtype).grad(**given)
    with monkeypatch.context() as patch:
        patch.setattr(in_parts, "MIN_ENTRIES_IN_PARTS", 1 << 40)
        return by_tiles, compile(text, dtype=dtype).grad(**given)


def bits(x: Any) -> bytes:
    """All bits, but for those that tell one NaN from another."""
    if x is None:
        return b"None"
    found = np.asarray(x)
    return np.where(np.isnan(found), np.nan, found).astype(found.dtype).tobytes()


def agree(found: Any, whole: Any) -> None:
    assert bits(found.value) == bits(whole.value)
    for name, g in whole.grads.items():
        assert bits(found.grads[name]) == bits(g), name


def arrays(names: str, dtype: str, low: float = -3.0) -> dict[str, Any]:
    rng = np.random.default_rng(len(names))
    return {n: rng.uniform(low, 3, COUNT).astype(dtype) for n in names}


def with_special(given: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    found = {}
    for name, x in given.items():
        x = x.copy()
        at = rng.permutation(COUNT)[: 4 * len(SPECIAL)]
        with np.errstate(over="ignore"):
            x[at] = np.tile(SPECIAL, 4)
        found[name] = x
    return found


def program_of(name: str) -> tuple[str, int]:
    """A sum of an elementwise function's values, and how many arrays it is of."""
    entry = FUNCTIONS[name]
    row = entry if isinstance(entry, Op) else overloads(name)[0]
    count = len(row.partials or ()) or len(row.cases[0].inputs)
    words = list("abcd"[:count])
    words += [repr(value) for value in row.cases[0].params.values()]
    if name in ("where", "masked_fill"):
        words[0] = "a > 0"
    return f"sum({name}({', '.join(words)})*a)", count


@by_row("name, dtype", product(ELEMENTWISE, ["float32", "float64"]), str, str)
def test_an_elementwise_function_is_recorded_bit_for_bit(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, count = program_of(name)
    given = arrays("abcd"[:count], dtype, 0.1)
    told = plans(monkeypatch)
    agree(*both(text, given, dtype, monkeypatch))
    agree(*both(text, with_special(given), dtype, monkeypatch))
    assert all(told)


@pytest.mark.parametrize("shape", [(COUNT,), (17, 59)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_a_program_is_recorded_bit_for_bit(
    text: str, dtype: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    told, given = plans(monkeypatch), arrays("abc", dtype)
    for values in (given, with_special(given)):
        numbers = {"k": 0.7, "m": 0.3}
        known = numbers | {n: x.reshape(shape) for n, x in values.items()}
        known = {n: known[n] for n in compile(text).inputs}
        agree(*both(text, known, dtype, monkeypatch))
    assert told == [True, True]


@pytest.mark.parametrize("most", [128, 300, COUNT])
@pytest.mark.parametrize("cores", [1, 2, 5])
def test_cores_and_the_size_of_tiles_change_no_bit(
    cores: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "cores", lambda: cores)
    monkeypatch.setattr(kernel, "TILE_ENTRIES", (1, most))
    given = {**arrays("ab", "float32"), "k": 0.7, "m": 0.3}
    text = "mean(tanh(k*a + b)*exp(k*m - a*a))"
    agree(*both(text, given, "float32", monkeypatch))


def test_what_would_be_done_again_and_again_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = plans(monkeypatch)
    given = arrays("ab", "float64")
    for times in (8, 40):
        loop = f"for i in range({times}): a = a*b/sqrt(mean(a*a) + 1)"
        agree(*both(f"{loop}\nsum(a)", given, "float64", monkeypatch))
    assert told == [False, False]


def test_a_mean_is_of_as_many_entries_as_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told, program = plans(monkeypatch), compile("mean(a)**2")
    (a,) = arrays("a", "float64").values()
    for count in (COUNT, 900, COUNT):
        assert program.grad(a=a[:count]).value == np.mean(a[:count]) ** 2
    assert told == [True, True]


def test_what_a_program_draws_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    told = plans(monkeypatch)
    given = arrays("ab", "float64")
    agree(*both("u = rand(3)\nsum(a*b)*u[1] + u[2]", given, "float64", monkeypatch))
    assert told == [True]


PLANTED: dict[str, Callable[[Any, Any], Any]] = {
    "a truth value": lambda xp, x: x*2 if xp.sum(x) > 0 else x,
    "a truth value, caught": lambda xp, x: caught(lambda: x*2 if bool(x) else x, x),
    "whether any": lambda xp, x: xp.where(xp.any(x < 0), x, 2*x),
    "a number": lambda xp, x: x*float(x[0]),
    "an entry": lambda xp, x: x*x[0],
    "an entry that is read": lambda xp, x: x*xp.getitem(x, 0),
    "all entries, as another array": lambda xp, x: np.asarray(x)*x,
    "a maximum": lambda xp, x: x - xp.amax(x),
    "how many are looked at": lambda xp, x: x*x.size,
    "which number": lambda xp, x: x*np.arange(1000),
    "what is known": lambda xp, x: x*x.data.max(),
    "an array's own function": lambda xp, x: x*x.argmax(),
    "an order": lambda xp, x: xp.getitem(x, xp.argsort(x)),
    "a product of matrices": lambda xp, x: x*(x @ x),
    "a running sum": lambda xp, x: xp.cumsum(x, 0),
    "other entries": lambda xp, x: caught(lambda: x.__setitem__(0, 1), x),
    "entries in another order": lambda xp, x: xp.flip(x, 0),
    "several in one": lambda xp, x: xp.cat([x, x]),
    "memory": lambda xp, x: np.multiply(x, 2, out=x),
    "an attribute, caught": lambda xp, x: x*2 if hasattr(x, "ctypes") else x,
}  # fmt: skip
"""What a rule might ask of an array, other than entry by entry."""


def caught(ask: Callable[[], Any], other: Any) -> Any:
    try:
        return ask()
    except TypeError:
        return other


@pytest.mark.parametrize("what", PLANTED)
def test_what_looks_at_entries_is_not_traced(what: str) -> None:
    def program(xp: SampleNamespace, given: list[Sample]) -> Results:
        y = PLANTED[what](xp, given[0])
        return Results([(xp.traced(y), y.dtype)], [])

    (x,) = arrays("a", "float64").values()
    assert traced_plan(program, [x], x.shape) is None


def test_a_number_of_all_entries_may_be_worked_on() -> None:
    def program(xp: SampleNamespace, given: list[Sample]) -> Results:
        total = xp.sum(given[0] * 2)
        return Results([(xp.exp(given[0]), given[0].dtype)], [total / 3 - 1, 5.0])

    (x,) = arrays("a", "float64").values()
    plan, out = traced_plan(program, [x], x.shape), np.empty_like(x)
    assert plan is not None
    assert kernel.Kernel(plan, [x], [out]).run() == [np.sum(x * 2) / 3 - 1, 5.0]
    assert bits(out) == bits(np.exp(x))


def test_a_step_stands_once_and_only_where_it_is_read() -> None:
    trace = Trace((1000,))
    xp = SampleNamespace(NUMPY, trace)
    x = trace.input(np.linspace(0, 1, 9), xp)
    one = xp.ones_like(x)
    unread, y = xp.cos(x), xp.sin(x)
    again = one * xp.sin(x)
    steps, results = needed(trace, [again + y, one * x])
    assert [step.function for step in steps.values()] == [np.sin, np.add, np.multiply]
    assert results[0].nr in steps
    assert unread.value.nr not in steps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choosing_by_bits_is_numpys_choice(dtype: str) -> None:
    draw = np.random.default_rng(0)
    a, b = (draw.normal(size=(70, 80)).astype(dtype) for _ in "ab")
    with np.errstate(all="ignore"):
        a.flat[: len(SPECIAL)] = b.flat[3 : 3 + len(SPECIAL)] = np.array(
            SPECIAL
        ).astype(dtype)
    mask, out = draw.random(a.shape) < 0.5, np.empty_like(a)
    choices: list[tuple[Any, Any]] = [(a, b), (0, b), (a, 0)]
    for one, other in choices:
        assert chosen(mask, one, other, out) is out
        assert out.tobytes() == np.where(mask, one, other).tobytes()
    for one, other in ((a, np.ones(a.shape, "float16")), (a, b[:1]), (a, 0.5)):
        assert chosen(mask, one, other, out) is None
    assert chosen(mask.T, a.T, b.T, out.T) is None
