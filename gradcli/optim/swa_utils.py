"""Averages of a module's weights along its training.

Izmailov et al. 2018: weights averaged over late epochs generalise better; and the
running mean that shrinks the past by a decay, which is called EMA.

    ema = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    optimizer.step(); ema.update_parameters(net)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from ..engine.creation import tensor
from ..engine.dtypes import int64
from ..engine.modes import no_grad
from ..engine.raw import Params
from ..engine.tensor import Tensor
from ..nn.module import Module
from ..nn.norm import _BatchNorm
from .lr_scheduler.base import Rate, Rule, check_strategy, per_group
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Count = Tensor | int
"""How many were averaged."""

Average = Callable[[Tensor, Tensor, Count], Tensor]
"""The mean so far, the new value, how many were averaged: the new mean."""

Averages = Callable[[list[Tensor], list[Tensor], Count], None]
"""The same for all weights at once, in place."""


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
            "range."
        )


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """``decay*mean + (1 - decay)*new``."""
    _check_decay(decay)

    def update(mean: Tensor, new: Tensor, count: object) -> Tensor:
        with no_grad():
            moved: Tensor = decay * mean + (1 - decay) * new
        return moved

    return update


def get_swa_avg_fn() -> Average:
    """The mean of all values."""

    def update(mean: Tensor, new: Tensor, count: Count) -> Tensor:
        with no_grad():
            moved: Tensor = mean + (new - mean) / (count + 1)
        return moved

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Averages:
    """``decay*mean + (1 - decay)*new`` for all weights."""
    _check_decay(decay)
    return _all_by_share(lambda count: 1 - decay)


def get_swa_multi_avg_fn() -> Averages:
    """The mean of all values for all weights."""
    return _all_by_share(lambda count: 1 / (float(count) + 1))


def _all_by_share(share: Callable[[Any], float]) -> Averages:
    """Move means towards new values by a share; integers are replaced."""

    def update(means: list[Tensor], new: list[Tensor], count: object) -> None:
        with no_grad():
            for mean, value in zip(means, new, strict=True):
                if mean.is_floating_point():
                    mean.lerp_(value, share(count))
                else:
                    mean.copy_(value)

    return update


class AveragedModel(Module):
    """A module with the averages of another's weights.

    Args:
        model: whose weights are averaged; it is copied.
        device: where the averages are kept.
        avg_fn: how one weight is averaged; None: the mean of all values.
        multi_avg_fn: how all are averaged at once; one of the two at most.
        use_buffers: average buffers as well, rather than copy them.
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None,
        multi_avg_fn: Averages | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError(
                "Only one of avg_fn and multi_avg_fn should be provided"
            )
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _averaged(self, model: Module) -> list[Tensor]:
        if not self.use_buffers:
            return list(model.parameters())
        return list(chain(model.parameters(), model.buffers()))

    def update_parameters(self, model: Module) -> None:
        """Take the model's weights as they are now into the averages."""
        means = [p.detach() for p in self._averaged(self.module)]
        fresh = self._averaged(model)
        new = [p.detach().to(m.device) for p, m in zip(fresh, means, strict=True)]
        if not int(self.n_averaged):
            for mean, value in zip(means, new, strict=True):
                mean.copy_(value)
        elif self.avg_fn is not None:
            for mean, value in zip(means, new, strict=True):
                mean.copy_(self.avg_fn(mean, value, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(means, new, self.n_averaged)
        if not self.use_buffers:
            pairs = zip(self.module.buffers(), model.buffers(), strict=True)
            for mine, theirs in pairs:
                mine.copy_(theirs)
        self.n_averaged.add_(1)


def update_bn(loader: Iterable[Any], model: Module, device: object = None) -> None:
    """Compute the running statistics of batch normalisations anew, from data.

    Args:
        loader: inputs, or tuples that begin with the input.
        model: whose statistics are set; left in the mode that it was in.
        device: where to put inputs first.
    """
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    with no_grad():
        for item in loader:
            given = item[0] if isinstance(item, list | tuple) else item
            model(given if device is None else given.to(device))
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(Rule):
    """From the rates as they are to a constant rate, at which weights are averaged.

    Args:
        optimizer: whose rates are changed.
        swa_lr: the constant rate, one number or one for each group.
        anneal_epochs: how many epochs it takes to get there.
        anneal_strategy: "cos" or "linear".
        last_epoch: the epoch to go on from; -1: the beginning.

    Raises:
        ValueError: no such strategy, less than no epochs, a list of a wrong length.
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float, anneal_epochs: int = 10,
        anneal_strategy: str = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        rates = per_group("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        check_strategy(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}"
            )
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, epoch: int) -> float:
        """Compute how much of the way is done after an epoch, from 0 to 1."""
        way = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        if self._anneal_strategy == "linear":
            return way
        return (1 - math.cos(math.pi * way)) / 2

    def _rates(self) -> list[Rate]:
        # With no epochs to anneal in, the first step goes all the way.
        epoch = self._step_count - 1
        if not self.anneal_epochs:
            epoch = max(1, epoch)
        before, now = self._share(epoch - 1), self._share(epoch)

        def moved(group: Params) -> Any:
            rate, end = group["lr"], group["swa_lr"]
            start = end if before == 1 else (rate - before * end) / (1 - before)
            return end * now + start * (1 - now)

        return self._each(moved)
