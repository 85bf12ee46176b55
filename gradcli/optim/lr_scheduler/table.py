"""The schedules that are a formula of the epoch: in steps, by a factor, along a line.

Invariant: the first formula is the factor from one epoch to the next, the second the
factor since the beginning; ``s`` is the schedule.
"""

from __future__ import annotations

from bisect import bisect_right

from .declare import REQUIRED, schedule
from .formulas import (
    constant,
    constant_factor,
    counted_milestones,
    linear,
    linear_factors,
    polynomial,
)

StepLR = schedule(
    "StepLR", "Times ``gamma`` after every ``step_size`` epochs.",
    lambda s: s.gamma if s.last_epoch and not s.last_epoch % s.step_size else 1,
    lambda s: s.gamma ** (s.last_epoch // s.step_size),
    step_size=REQUIRED, gamma=0.1,
)  # fmt: skip

MultiStepLR = schedule(
    "MultiStepLR", "Times ``gamma`` at each of the epochs in ``milestones``.",
    lambda s: s.gamma ** s.milestones[s.last_epoch],
    lambda s: s.gamma ** bisect_right(sorted(s.milestones.elements()), s.last_epoch),
    counted_milestones, milestones=REQUIRED, gamma=0.1,
)  # fmt: skip

ExponentialLR = schedule(
    "ExponentialLR", "Times ``gamma`` after every epoch.",
    lambda s: 1 if s._is_initial else s.gamma,
    lambda s: s.gamma**s.last_epoch,
    gamma=REQUIRED,
)  # fmt: skip

ConstantLR = schedule(
    "ConstantLR",
    "The initial rate times ``factor`` for the first ``total_iters`` epochs.",
    constant,
    lambda s: s.factor if s.last_epoch < s.total_iters else 1,
    constant_factor, factor=1.0 / 3, total_iters=5,
)  # fmt: skip

LinearLR = schedule(
    "LinearLR",
    "The initial rate times a factor that goes evenly from one value to another.",
    linear,
    lambda s: s.start_factor + (s.end_factor - s.start_factor)
    * (min(s.total_iters, s.last_epoch) / s.total_iters),
    linear_factors, start_factor=1.0 / 3, end_factor=1.0, total_iters=5,
)  # fmt: skip

PolynomialLR = schedule(
    "PolynomialLR",
    "The initial rate times ``(1 - epoch/total_iters)**power``, and then 0.",
    polynomial,
    lambda s: (1.0 - min(s.total_iters, s.last_epoch) / s.total_iters) ** s.power,
    total_iters=5, power=1.0,
)  # fmt: skip
