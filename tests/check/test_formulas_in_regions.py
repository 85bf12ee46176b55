"""A formula that is shown is the gradient wherever its conditions hold.

Programs with branches, choices, roundings and numbers that leave the symbols are drawn;
each formula is evaluated, by the language, at points in and outside the piece that it
was found in.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from random import Random

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import evaluate

from .jobs import checked, job

PARTS = (
    "x*x", "sin(x)", "x*y", "exp(x/2)", "2*x", "y", "x + y", "x^3", "x*y^2", "cos(y)*x",
)  # fmt: skip

CHOICES = (
    "where(x > {c}, {f}, {g})", "max({f}, {g})", "min({f}, {g})",
    "clamp({f}, {c}, {d})",
    "relu({f})", "abs({f})", "int(x)*({f})", "floor(x)*({f})", "round(x)*({f})",
    "trunc(x)*({f})", "sign(x)*({f})", "({f}) if x > {c} else ({g})",
    "({f}) if int(x) == 1 else ({g})", "({f}) if detach(x) > {c} else ({g})",
    "detach(x)*({f})", "x.item()*({f})", "remainder(x, 2)*({f})",
    "s = 0\nfor i in range(int(abs(x))):\n  s = s + {f}\ns", "relu({f})**2",
    "sort(stack([{f}, {g}])).values[0]", "stack([{f}, {g}])[int(x > {c})]",
    "heaviside(x, tensor(0.5))*({f})", "fmod(x, 1.5) + {f}",
    "x < {c} and {f} or {g}",
)  # fmt: skip
"""Ways in which a program goes by its values."""

POINTS = 20


def drawn(seed: int) -> tuple[str, dict[str, float]]:
    """Return the program of a seed, and the point at which it is asked."""
    r = Random(seed)
    f, g = r.choice(PARTS), r.choice(PARTS)
    c, d = r.choice(("0", "1", "0.5", "-1")), r.choice(("2", "1.5", "3"))
    return r.choice(CHOICES).format(f=f, g=g, c=c, d=d), point(r)


def point(r: Random) -> dict[str, float]:
    """Return values of which some are whole, halves or equal."""
    kinds = (lambda: r.uniform(-3, 3), lambda: float(r.randint(-3, 3)),
             lambda: r.randint(-6, 6) / 2)  # fmt: skip
    x, y = r.choice(kinds)(), r.choice(kinds)()
    return {"x": x, "y": x if r.random() < 0.1 else y}


def holds(condition: str, at: dict[str, float]) -> bool:
    return bool(number(condition, at))


def number(text: str, at: dict[str, float]) -> float:
    """Evaluate a formula of the language."""
    values = {name: Tensor(np.array(value), NUMPY) for name, value in at.items()}
    return float(evaluate(text, values)[0])


def gradients(source: str, at: dict[str, float]) -> dict[str, float] | None:
    """Return the engine's gradients; None where the program does not run."""
    try:
        return {i.name: float(i.claim.values()[0]) for i in job(source, at).inputs}
    except (ProgramError, ArithmeticError, ValueError, RuntimeError):
        return None


def false_formulas(seed: int) -> Iterator[str]:
    """The formulas of a program that are not its gradient where they should be."""
    source, at = drawn(seed)
    try:
        given = job(source, at)
    except (ProgramError, ArithmeticError, ValueError, RuntimeError):
        return
    verification = checked(given)
    conditions = verification.side_conditions
    if any("more" in each or "too long" in each for each in conditions):
        return
    r = Random(seed + 1)
    others = [at, *[{k: point(r).get(k, 0.0) for k in at} for _ in range(POINTS)]]
    for each in verification.inputs:
        if each.closed_form is None:
            continue
        for other in others:
            if not all(holds(c, other) for c in conditions):
                continue
            true = gradients(source, other)
            if true is None:
                continue
            shown = number(each.closed_form, other)
            if not isclose(shown, true[each.name], rel_tol=1e-9, abs_tol=1e-9):
                yield (f"{seed}: {source!r} at {at}: d/d{each.name} = "
                       f"{each.closed_form} where {conditions}; at {other} that is "
                       f"{shown}, the gradient {true[each.name]}")  # fmt: skip
                break


@pytest.mark.parametrize("seed", range(60))
def test_a_formula_is_the_gradient_wherever_its_conditions_hold(seed: int) -> None:
    assert list(false_formulas(seed)) == []
