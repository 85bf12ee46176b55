"""Written by ``python -m gradcli.stubs``."""

from .base import LRScheduler as LRScheduler
from .table import ConstantLR as ConstantLR
from .table import CosineAnnealingLR as CosineAnnealingLR
from .table import ExponentialLR as ExponentialLR
from .table import LinearLR as LinearLR
from .table import MultiStepLR as MultiStepLR
from .table import StepLR as StepLR
from .written import LambdaLR as LambdaLR
from .written import ReduceLROnPlateau as ReduceLROnPlateau

__all__: list[str]
