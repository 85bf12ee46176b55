"""Written by ``python -m gradcli.stubs``."""

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.tensor import Tensor
from .descent import Descent
from .lbfgs import QuasiNewton
from .optimizer import Params
from .muon import OfMatrices
from .rules import SummingFromTheStart

class SGD(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., momentum: float = ..., dampening: float = ..., weight_decay: float = ..., nesterov: bool = ..., *, maximize: bool = ..., foreach: bool | None = ..., differentiable: bool = ..., fused: bool | None = ...) -> None: ...

class Adam(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., betas: tuple[float, float] = ..., eps: float = ..., weight_decay: float = ..., amsgrad: bool = ..., *, foreach: bool | None = ..., maximize: bool = ..., capturable: bool = ..., differentiable: bool = ..., fused: bool | None = ..., decoupled_weight_decay: bool = ...) -> None: ...

class AdamW(Adam):
    def __init__(self, params: Params, lr: float | Tensor = ..., betas: tuple[float, float] = ..., eps: float = ..., weight_decay: float = ..., amsgrad: bool = ..., *, maximize: bool = ..., foreach: bool | None = ..., capturable: bool = ..., differentiable: bool = ..., fused: bool | None = ...) -> None: ...

class Adamax(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., betas: tuple[float, float] = ..., eps: float = ..., weight_decay: float = ..., foreach: bool | None = ..., *, maximize: bool = ..., differentiable: bool = ..., capturable: bool = ...) -> None: ...

class NAdam(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., betas: tuple[float, float] = ..., eps: float = ..., weight_decay: float = ..., momentum_decay: float = ..., decoupled_weight_decay: bool = ..., *, foreach: bool | None = ..., maximize: bool = ..., capturable: bool = ..., differentiable: bool = ...) -> None: ...

class RAdam(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., betas: tuple[float, float] = ..., eps: float = ..., weight_decay: float = ..., decoupled_weight_decay: bool = ..., *, foreach: bool | None = ..., maximize: bool = ..., capturable: bool = ..., differentiable: bool = ...) -> None: ...

class Adadelta(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., rho: float = ..., eps: float = ..., weight_decay: float = ..., foreach: bool | None = ..., *, capturable: bool = ..., maximize: bool = ..., differentiable: bool = ...) -> None: ...

class Adagrad(SummingFromTheStart):
    def __init__(self, params: Params, lr: float | Tensor = ..., lr_decay: float = ..., weight_decay: float = ..., initial_accumulator_value: float = ..., eps: float = ..., foreach: bool | None = ..., *, maximize: bool = ..., differentiable: bool = ..., fused: bool | None = ...) -> None: ...

class Adafactor(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., beta2_decay: float = ..., eps: tuple[float | None, float] = ..., d: float = ..., weight_decay: float = ..., *, foreach: bool | None = ..., maximize: bool = ...) -> None: ...

class ASGD(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., lambd: float = ..., alpha: float = ..., t0: float = ..., weight_decay: float = ..., foreach: bool | None = ..., maximize: bool = ..., differentiable: bool = ..., capturable: bool = ...) -> None: ...

class RMSprop(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., alpha: float = ..., eps: float = ..., weight_decay: float = ..., momentum: float = ..., centered: bool = ..., capturable: bool = ..., foreach: bool | None = ..., maximize: bool = ..., differentiable: bool = ...) -> None: ...

class Rprop(Descent):
    def __init__(self, params: Params, lr: float | Tensor = ..., etas: tuple[float, float] = ..., step_sizes: tuple[float, float] = ..., *, capturable: bool = ..., foreach: bool | None = ..., maximize: bool = ..., differentiable: bool = ...) -> None: ...

class Muon(OfMatrices):
    def __init__(self, params: Params, lr: float | Tensor = ..., weight_decay: float = ..., momentum: float = ..., nesterov: bool = ..., ns_coefficients: Tensor = ..., eps: float = ..., ns_steps: int = ..., adjust_lr_fn: Tensor | None = ...) -> None: ...

class LBFGS(QuasiNewton):
    def __init__(self, params: Params, lr: float | Tensor = ..., max_iter: int = ..., max_eval: int | None = ..., tolerance_grad: float = ..., tolerance_change: float = ..., history_size: int = ..., line_search_fn: str | None = ...) -> None: ...
