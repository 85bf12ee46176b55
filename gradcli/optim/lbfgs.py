"""L-BFGS: quasi-Newton steps along directions from the last changes of the gradient.

Invariant: all parameters are one vector here; a closure is called for every value of
the loss, with the parameters set to the point. A line search for a step that satisfies
the strong Wolfe conditions first brackets such a step, then narrows the bracket by
cubic interpolation; ``low`` is always the end of the bracket with the lower loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..engine.modes import MODE
from ..engine.raw import Params, Raw
from ..engine.tensor import Tensor
from ..engine.versions import touch
from .optimizer import Optimizer, Rate, demand_at_least_0, evaluated

MIN_CURVATURE = 1e-10
"""Largest product of a change of the gradient with its step that is not kept."""


MIN_DECREASE_SHARE = 1e-4
MAX_SLOPE_SHARE = 0.9
MIN_BRACKET_LENGTH = 1e-9
MAX_GROWTH_FACTOR = 10
MIN_GROWTH_SHARE = 0.01
EDGE_SHARE = 0.1
"""Share of a bracket, at either end, in which a new point means little progress."""


@dataclass(slots=True)
class LinePoint:
    """The loss, its gradient and its slope at the step ``t`` along a direction."""

    t: float
    loss: float
    gradient: Any
    slope: Any = None


class LBFGS(Optimizer):
    """A quasi-Newton method; a call of `step` takes several steps with a closure.

    Args:
        max_iter: the largest number of steps per call.
        max_eval: the largest number of losses per call; None: ``max_iter*5//4``.
        tolerance_grad: stop when no entry of the gradient is larger.
        tolerance_change: stop when step or loss change by less.
        history_size: the number of changes that are remembered.
        line_search_fn: None, or "strong_wolfe".
    """

    def __init__(
        self, params: Any, lr: Rate = 1, max_iter: int = 20,
        max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        demand_at_least_0({"learning rate": lr}, "")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups)"
            )

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]  # type: ignore[no-any-return]

    def step(self, closure: Callable[[], object]) -> Any:  # type: ignore[override]
        """Take steps until one of the limits is reached.

        Args:
            closure: clears the gradients, computes the loss and its gradients, and
                returns the loss.

        Returns:
            The loss before the first step.
        """
        group = self.param_groups[0]
        search = group["line_search_fn"]
        if search not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluated(closure)
        here = LinePoint(0.0, float(first), self._gradient())
        calls = 1
        for taken in range(1, group["max_iter"] + 1):
            if abs(here.gradient).max() <= group["tolerance_grad"]:
                break
            state["n_iter"] += 1
            direction = self._direction(state, here.gradient)
            t = float(group["lr"])
            if state["n_iter"] == 1:
                t *= min(1.0, 1.0 / abs(here.gradient).sum())
            before = here.loss
            state["prev_flat_grad"] = self._as_state(here.gradient.copy())
            state["prev_loss"] = before
            state["d"], state["t"] = self._as_state(direction), t
            here = replace(here, t=0.0, slope=here.gradient.dot(direction))
            if here.slope > -group["tolerance_change"]:
                break
            last = taken == group["max_iter"]
            if search:
                most = group["max_eval"] - calls
                here, more = self._search(closure, here, t, direction, most)
                t = state["t"] = here.t
                calls += more
            else:
                self._move(t, direction, [p.raw for p in self._params])
                if not last:
                    loss = float(evaluated(closure))
                    here = LinePoint(t, loss, self._gradient())
                    calls += 1
            least = group["tolerance_change"]
            if last or calls >= group["max_eval"] or abs(here.loss - before) < least:
                break
            if abs(direction * t).max() <= least:
                break
        state["func_evals"] += calls
        return first

    def _as_state(self, raw: object) -> Tensor:
        return Tensor(raw, self._params[0].xp)

    def _gradient(self) -> Any:
        xp = self._params[0].xp
        parts = [
            xp.reshape(xp.zeros_like(p.raw) if p.grad is None else p.grad.raw, (-1,))
            for p in self._params
        ]
        return xp.cat(parts)

    def _move(self, t: float, direction: Any, began: list[Any]) -> None:
        """Put all parameters ``t*direction`` away from where they began."""
        start = 0
        for parameter, origin in zip(self._params, began, strict=True):
            raw = parameter._shareable()
            part = direction[start : start + raw.size]
            MODE.change(raw)
            raw[...] = origin + t * part.reshape(raw.shape)
            touch(raw)
            start += raw.size

    def _search(
        self,
        closure: Callable[..., object],
        here: LinePoint,
        t: float,
        direction: Any,
        most: int,
    ) -> tuple[LinePoint, int]:
        """Move to where a line search ends; return the evaluation there and the number
        of calls."""
        began = [p.raw.copy() for p in self._params]

        def evaluate(at: float) -> LinePoint:
            self._move(at, direction, began)
            loss, gradient = float(evaluated(closure)), self._gradient()
            return LinePoint(at, loss, gradient, gradient.dot(direction))

        found, calls = strong_wolfe(evaluate, here, t, abs(direction).max(), most)
        self._move(found.t, direction, began)
        return found, calls

    def _direction(self, state: Params, gradient: Any) -> Any:
        """Return the direction from the gradient and the remembered changes."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -gradient
        self._remember(state, gradient)
        changes = [y.raw for y in state["old_dirs"]]
        steps = [s.raw for s in state["old_stps"]]
        inverse = state["ro"]
        weights = state["al"] = [None] * self.param_groups[0]["history_size"]
        direction = -gradient
        for i in reversed(range(len(changes))):
            weights[i] = steps[i].dot(direction) * inverse[i]
            direction += -weights[i] * changes[i]
        direction *= state["H_diag"]
        for i, (y, s) in enumerate(zip(changes, steps, strict=True)):
            direction += (weights[i] - y.dot(direction) * inverse[i]) * s
        return direction

    def _remember(self, state: Params, gradient: Raw) -> None:
        change = gradient - state["prev_flat_grad"].raw
        step = state["d"].raw * state["t"]
        along = change.dot(step)
        if along <= MIN_CURVATURE:
            return
        for name, value in (
            ("old_dirs", self._as_state(change)),
            ("old_stps", self._as_state(step)),
            ("ro", 1.0 / along),
        ):
            if len(state[name]) == self.param_groups[0]["history_size"]:
                state[name].pop(0)
            state[name].append(value)
        state["H_diag"] = along / change.dot(change)


def between(a: LinePoint, b: LinePoint, bounds: Any = None) -> Any:
    """Return the step at which the cubic through two evaluations, with their slopes, is
    least, moved into ``bounds``."""
    low, high = bounds or sorted((a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square**0.5
    share = (b.slope + root - bend) / (b.slope - a.slope + 2 * root)
    return min(max(b.t - (b.t - a.t) * share, low), high)


def strong_wolfe(
    evaluate: Callable[[float], LinePoint],
    start: LinePoint,
    t: float,
    longest: float,
    most: int,
) -> tuple[LinePoint, int]:
    """Return a step that satisfies the strong Wolfe conditions, or the best one tried.

    Args:
        evaluate: returns the loss and its gradient at a step along a direction.
        start: the evaluation at step 0.
        t: the first step to try.
        longest: the direction's largest entry, to tell when a bracket is narrow.
        most: how many steps to try after the first one.

    Returns:
        The evaluation at the step that was found, and the number of evaluations.
    """

    def too_high(point: LinePoint) -> bool:
        return bool(
            point.loss > start.loss + MIN_DECREASE_SHARE * point.t * start.slope
        )

    def flat(point: LinePoint) -> bool:
        return bool(abs(point.slope) <= -MAX_SLOPE_SHARE * start.slope)

    previous, point = start, evaluate(t)
    tries = 0
    while tries < most:
        if too_high(point) or (tries > 1 and point.loss >= previous.loss):
            break
        if flat(point):
            return point, tries + 1
        if point.slope >= 0:
            break
        bounds = (
            point.t + MIN_GROWTH_SHARE * (point.t - previous.t),
            point.t * MAX_GROWTH_FACTOR,
        )
        t = between(previous, point, bounds)
        previous, point = point, evaluate(t)
        tries += 1
    else:
        previous = start
    return narrow(evaluate, [previous, point], too_high, flat, tries, longest, most)


def narrow(
    evaluate: Callable[[float], LinePoint], ends: list[LinePoint],
    too_high: Callable[[LinePoint], bool], flat: Callable[[LinePoint], bool],
    tries: int, longest: float, most: int,
) -> tuple[LinePoint, int]:  # fmt: skip
    """Narrow a bracket until an end will do; return it and the count of evaluations."""
    stuck = False
    low, high = _better_first(ends)
    while tries < most and abs(ends[1].t - ends[0].t) * longest >= MIN_BRACKET_LENGTH:
        t, stuck = _inside(between(*ends), ends, stuck)
        point = evaluate(t)
        tries += 1
        if too_high(point) or point.loss >= ends[low].loss:
            ends[high] = point
            low, high = _better_first(ends)
            continue
        done = flat(point)
        if not done and point.slope * (ends[high].t - ends[low].t) >= 0:
            ends[high] = ends[low]
        ends[low] = point
        if done:
            break
    return ends[low], tries + 1


def _better_first(ends: list[LinePoint]) -> tuple[int, int]:
    return (0, 1) if ends[0].loss <= ends[1].loss else (1, 0)


def _inside(t: float, ends: list[LinePoint], stuck: bool) -> tuple[float, bool]:
    """Return a new step, moved off the bracket's ends if it is near them twice in a
    row, and whether it was left near them."""
    left, right = sorted((ends[0].t, ends[1].t))
    margin = EDGE_SHARE * (right - left)
    if min(right - t, t - left) >= margin:
        return t, False
    if not (stuck or t >= right or t <= left):
        return t, True
    return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
