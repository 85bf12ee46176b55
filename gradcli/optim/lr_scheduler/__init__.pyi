"""Written by ``python -m gradcli.stubs``."""

from .base import LRScheduler as LRScheduler
from .compose import ChainedScheduler as ChainedScheduler
from .compose import SequentialLR as SequentialLR
from .cosine import CosineAnnealingLR as CosineAnnealingLR
from .cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .functions import LambdaLR as LambdaLR
from .functions import MultiplicativeLR as MultiplicativeLR
from .one_cycle import OneCycleLR as OneCycleLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .table import ConstantLR as ConstantLR
from .table import ExponentialLR as ExponentialLR
from .table import LinearLR as LinearLR
from .table import MultiStepLR as MultiStepLR
from .table import StepLR as StepLR

__all__: list[str]
