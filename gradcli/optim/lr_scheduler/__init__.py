"""Schedules: how an optimizer's learning rates change from epoch to epoch.

schedule = StepLR(optimizer, step_size=10)
for epoch in range(30):
    ...
    optimizer.step()
    schedule.step()
"""

from typing import TYPE_CHECKING

from ...engine.absent import absent
from .base import LRScheduler
from .compose import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cycle import CyclicLR, OneCycleLR
from .decay import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .functions import LambdaLR, MultiplicativeLR
from .plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
