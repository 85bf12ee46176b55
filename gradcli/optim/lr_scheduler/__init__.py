"""Schedules: how an optimizer's learning rates change from epoch to epoch.

schedule = StepLR(optimizer, step_size=10)
for epoch in range(30):
    ...
    optimizer.step()
    schedule.step()
"""

from ...engine.absent import offer
from . import table, written
from .base import LRScheduler

offer(__name__, table, written, kind=LRScheduler, also={"LRScheduler": LRScheduler})
