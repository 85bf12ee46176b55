"""Written by ``python -m tests.tools.stubs``."""

from .base import CosineAnnealingLR as CosineAnnealingLR
from .base import ExponentialLR as ExponentialLR
from .base import LRScheduler as LRScheduler
from .base import LambdaLR as LambdaLR
from .base import ReduceLROnPlateau as ReduceLROnPlateau
from .base import StepLR as StepLR

__all__: list[str]
