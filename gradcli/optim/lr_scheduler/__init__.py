"""Schedules: how an optimizer's learning rates change from epoch to epoch.

schedule = StepLR(optimizer, step_size=10)
for epoch in range(30):
    ...
    optimizer.step()
    schedule.step()
"""

from ...engine.absent import offer
from . import base

offer(__name__, base, kind=base.LRScheduler, but=("ByFormula",))
