"""Written by ``python -m tests.tools.stubs``."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.nn.convolution import Sizes
from gradcli.nn.functional.declare import Flag
from gradcli.optim.optimizer import Optimizer
from gradcli.optim.lr_scheduler.base import ByFormula

class StepLR(ByFormula):
    step_size: int
    gamma: float
    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None: ...

class MultiStepLR(ByFormula):
    milestones: Any
    gamma: float
    def __init__(self, optimizer: Optimizer, milestones: Any, gamma: float = 0.1, last_epoch: int = -1) -> None: ...

class ExponentialLR(ByFormula):
    gamma: float
    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None: ...

class ConstantLR(ByFormula):
    factor: float
    total_iters: int
    def __init__(self, optimizer: Optimizer, factor: float = 0.3333333333333333, total_iters: int = 5, last_epoch: int = -1) -> None: ...

class LinearLR(ByFormula):
    start_factor: float
    end_factor: float
    total_iters: int
    def __init__(self, optimizer: Optimizer, start_factor: float = 0.3333333333333333, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1) -> None: ...

class CosineAnnealingLR(ByFormula):
    T_max: int
    eta_min: float
    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None: ...
