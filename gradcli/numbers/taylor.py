"""Derivatives of any order of one step by another, by power series through a graph.

Every step is computed as FLINT's power series, with as many terms as the order needs.

Invariant: a result is a ball that contains the derivative; bits are doubled until it is
narrow, or up to `MAX_COMPARISON_BITS`.

    derivative(terms, y.serial, x.serial, order=3)
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

from flint import arb_series

from .balls import FUNCTIONS, START_BITS, UNKNOWN, Ball, Moving, ball, working
from .graph import Evaluation, Graph
from .limits import ACCURATE_BITS, MAX_COMPARISON_BITS
from .system import exact


def derivative(
    graph: Graph, output: int, along: int, order: int,
    still: Callable[[], None] = lambda: None,
) -> Ball:  # fmt: skip
    """Return the derivative, of a given order, of one step by another; ``still`` is
    called at every step, and may raise to end the work."""
    steps = Evaluation(graph).below([output])
    bits = 2 * START_BITS
    while True:
        with working(bits, order + 1):
            found = _coefficient(graph, steps, along, order, still) * factorial(order)
        narrow = found.is_exact() or found.rel_accuracy_bits() >= ACCURATE_BITS
        if narrow or bits >= MAX_COMPARISON_BITS:
            return found
        bits *= 2


def _coefficient(
    graph: Graph, steps: list[int], along: int, order: int, still: Callable[[], None]
) -> Ball:
    values: dict[int, Any] = {}
    for step in steps:
        still()
        name = graph.name(step)
        if name == "symbol":
            start = ball(graph.leaf(step))
            values[step] = arb_series([start, 1]) if step == along else start
        elif name == "number":
            values[step] = ball(exact(graph.leaf(step)))
        else:
            values[step] = _applied(name, [values[a] for a in graph.args(step)])
    found = values[steps[-1]]
    return found[order] if isinstance(found, arb_series) else ball(0)


def _applied(name: str, args: list[Moving]) -> Any:
    if name == "stop":
        (held,) = args
        return held[0] if isinstance(held, arb_series) else held
    function = FUNCTIONS[name]
    moves = any(isinstance(a, arb_series) for a in args)
    try:
        return (function.series if moves else function.value)(*args)
    except (ZeroDivisionError, ValueError, OverflowError):
        return UNKNOWN
