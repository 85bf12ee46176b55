"""Written by ``python -m tests.tools.stubs``."""

from .base import LRScheduler as LRScheduler
from .base import LambdaLR as LambdaLR
from .base import OneCycleLR as OneCycleLR
from .base import ReduceLROnPlateau as ReduceLROnPlateau
from .table import ConstantLR as ConstantLR
from .table import CosineAnnealingLR as CosineAnnealingLR
from .table import ExponentialLR as ExponentialLR
from .table import LinearLR as LinearLR
from .table import MultiStepLR as MultiStepLR
from .table import StepLR as StepLR

__all__: list[str]
