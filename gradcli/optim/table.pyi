"""Written by ``python -m tests.tools.stubs``."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.nn.convolution import Sizes
from gradcli.nn.functional.declare import Flag
from gradcli.optim.optimizer import Optimizer
from gradcli.optim.lbfgs import QuasiNewton
from gradcli.optim.optimizer import Descent

class SGD(Descent):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 0.001, momentum: float = 0, dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False, fused: bool | None = None) -> None: ...

class Adam(Descent):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 0.001, betas: tuple[float, float] = ..., eps: float = 1e-08, weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False) -> None: ...

class AdamW(Adam):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 0.001, betas: tuple[float, float] = ..., eps: float = 1e-08, weight_decay: float = 0.01, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False, differentiable: bool = False, fused: bool | None = None) -> None: ...

class Adadelta(Descent):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-06, weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False) -> None: ...

class Adagrad(Descent):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 0.01, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, fused: bool | None = None) -> None: ...

class RMSprop(Descent):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 0.01, alpha: float = 0.99, eps: float = 1e-08, weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False) -> None: ...

class LBFGS(QuasiNewton):
    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-07, tolerance_change: float = 1e-09, history_size: int = 100, line_search_fn: str | None = None) -> None: ...
