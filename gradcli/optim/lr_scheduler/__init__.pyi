"""Written by ``python -m gradcli.stubs``."""

from .base import LRScheduler as LRScheduler
from .compose import ChainedScheduler as ChainedScheduler
from .compose import SequentialLR as SequentialLR
from .cosine import CosineAnnealingLR as CosineAnnealingLR
from .cosine import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .cycle import CyclicLR as CyclicLR
from .cycle import OneCycleLR as OneCycleLR
from .functions import LambdaLR as LambdaLR
from .functions import MultiplicativeLR as MultiplicativeLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .table import ConstantLR as ConstantLR
from .table import ExponentialLR as ExponentialLR
from .table import LinearLR as LinearLR
from .table import MultiStepLR as MultiStepLR
from .table import PolynomialLR as PolynomialLR
from .table import StepLR as StepLR

__all__: list[str]
