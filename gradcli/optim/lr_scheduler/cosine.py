"""Schedules along a cosine, without and with restarts.

Loshchilov and Hutter 2017, SGDR, equation 5.
"""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .base import Rate, Rule


class _Cosine(Rule):
    """A schedule between the first rates and ``eta_min``."""

    eta_min: float

    def _down(self, epoch: float, epochs: float) -> list[Rate]:
        """Compute the rates at an epoch of a fall that takes so many epochs."""
        height = (1 + math.cos(math.pi * epoch / epochs)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingLR(_Cosine):
    """Down to ``eta_min`` in ``T_max`` epochs along half a cosine, and up again."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        epoch, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._scaled(1)
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(self.base_lrs, self.optimizer.param_groups, strict=True)
            return [group["lr"] + (base - low) * rise for base, group in pairs]
        ratio = (1 + math.cos(math.pi * epoch / self.T_max)) / (
            1 + math.cos(math.pi * (epoch - 1) / self.T_max)
        )
        return self._each(lambda group: ratio * (group["lr"] - low) + low)

    def _get_closed_form_lr(self) -> list[Rate]:
        return self._down(self.last_epoch, self.T_max)


class CosineAnnealingWarmRestarts(_Cosine):
    """Down to ``eta_min`` along half a cosine, and at once up again.

    Args:
        optimizer: whose rates are changed.
        T_0: epochs until the first restart.
        T_mult: how much longer each round is than the one before.
        eta_min: the lowest rate.
        last_epoch: the epoch to go on from; -1: the beginning.

    Raises:
        ValueError: lengths that are no integers of at least 1.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0 = T_0
        self.T_i: float = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        return self._down(self.T_cur, self.T_i)

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to any, which may be a fraction."""
        if epoch is not None:
            self._go_to(epoch)
        elif self.last_epoch < 0:
            self._go_to(0)
        else:
            self._go_on()

    def _go_on(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult
        self._update_lr(self.last_epoch + 1)

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            more = self.T_mult - 1
            rounds = int(math.log(epoch / self.T_0 * more + 1, self.T_mult))
            before = self.T_0 * (self.T_mult**rounds - 1) / more
            self.T_i, self.T_cur = self.T_0 * self.T_mult**rounds, epoch - before
        self._update_lr(math.floor(epoch))
