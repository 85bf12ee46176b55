"""What the options of declared schedules may be, and the longer formulas of factors."""

from __future__ import annotations

from collections import Counter
from typing import Any

Options = dict[str, Any]


def constant_factor(given: Options) -> None:
    if not 0 <= given["factor"] <= 1:
        raise ValueError(
            "Constant multiplicative factor expected to be between 0 and 1."
        )


def linear_factors(given: Options) -> None:
    if not 0 < given["start_factor"] <= 1:
        raise ValueError(
            "Starting multiplicative factor expected to be greater than 0 and less or "
            "equal to 1."
        )
    if not 0 <= given["end_factor"] <= 1:
        raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")


def counted_milestones(given: Options) -> None:
    """Count how often each epoch is named."""
    given["milestones"] = Counter(given["milestones"])


def constant(s: Any) -> float:
    """Compute the factor: down at the beginning, and up again at the end."""
    if s.last_epoch == 0:
        return float(s.factor)
    return 1 / float(s.factor) if s.last_epoch == s.total_iters else 1


def linear(s: Any) -> float:
    """Compute the factor between neighbouring points of a line."""
    if s.last_epoch == 0:
        return float(s.start_factor)
    if s._is_initial or s.last_epoch > s.total_iters:
        return 1
    rise: float = s.end_factor - s.start_factor
    done: float = s.total_iters * s.start_factor + (s.last_epoch - 1) * rise
    return 1.0 + rise / done


def polynomial(s: Any) -> float:
    """Compute the factor between neighbouring powers of what is left."""
    epoch, total = s.last_epoch, s.total_iters
    if s._step_count == 1 or epoch > total:
        return 1
    left: float = (1.0 - epoch / total) / (1.0 - (epoch - 1) / total)
    return float(left**s.power)
