"""Written by ``python -m tests.tools.stubs``."""

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.nn.declare import Sizes
from gradcli.nn.functional.declare import Flag
from gradcli.nn.declare import Applied
from gradcli.nn.declare import _Adaptive
from gradcli.nn.declare import _Along
from gradcli.nn.declare import _AvgPool1d
from gradcli.nn.declare import _AvgPoolNd
from gradcli.nn.declare import _DropoutNd
from gradcli.nn.declare import _Loss
from gradcli.nn.declare import _MaxPoolNd
from gradcli.nn.declare import _WeightedLoss
from gradcli.nn.recurrent import RNNBase
from gradcli.nn.shaping import _ConstantPadNd
from gradcli.nn.shaping import _PadNd
from gradcli.nn.weighted import _BatchNorm
from gradcli.nn.weighted import _Conv
from gradcli.nn.weighted import _ConvTransposeNd
from gradcli.nn.weighted import _InstanceNorm

class ReLU(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class LeakyReLU(Applied):
    negative_slope: float
    inplace: bool
    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class ELU(Applied):
    alpha: float
    inplace: bool
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class CELU(Applied):
    alpha: float
    inplace: bool
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class SELU(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class SiLU(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Mish(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Sigmoid(Applied):
    def forward(self, input: Tensor) -> Tensor: ...

class LogSigmoid(Applied):
    def forward(self, input: Tensor) -> Tensor: ...

class Tanh(Applied):
    def forward(self, input: Tensor) -> Tensor: ...

class Softplus(Applied):
    beta: float
    threshold: float
    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Softsign(Applied):
    def forward(self, input: Tensor) -> Tensor: ...

class Tanhshrink(Applied):
    def forward(self, input: Tensor) -> Tensor: ...

class Threshold(Applied):
    threshold: float
    value: float
    inplace: bool
    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class GLU(Applied):
    dim: int
    def __init__(self, dim: int = -1) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class RReLU(Applied):
    lower: float
    upper: float
    inplace: bool
    def __init__(self, lower: float = 0.125, upper: float = 0.3333333333333333, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Hardtanh(Applied):
    min_val: float
    max_val: float
    inplace: bool
    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class ReLU6(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class GELU(Applied):
    approximate: str
    def __init__(self, approximate: str = 'none') -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Hardsigmoid(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Hardswish(Applied):
    inplace: bool
    def __init__(self, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Softmax(_Along):
    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class LogSoftmax(_Along):
    dim: int | None
    def __init__(self, dim: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Dropout(_DropoutNd):
    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Dropout2d(_DropoutNd):
    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Dropout3d(_DropoutNd):
    p: float
    inplace: bool
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class MaxPool1d(_MaxPoolNd):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    dilation: int | Sequence[int]
    return_indices: bool
    ceil_mode: bool
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class MaxPool2d(_MaxPoolNd):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    dilation: int | Sequence[int]
    return_indices: bool
    ceil_mode: bool
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class MaxPool3d(_MaxPoolNd):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    dilation: int | Sequence[int]
    return_indices: bool
    ceil_mode: bool
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, dilation: int | Sequence[int] = 1, return_indices: bool = False, ceil_mode: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class AvgPool1d(_AvgPool1d):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    ceil_mode: bool
    count_include_pad: bool
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AvgPool2d(_AvgPoolNd):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: int | None
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AvgPool3d(_AvgPoolNd):
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] | None
    padding: int | Sequence[int] | str
    ceil_mode: bool
    count_include_pad: bool
    divisor_override: int | None
    def __init__(self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: int | Sequence[int] | str = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool1d(_Adaptive):
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool2d(_Adaptive):
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveAvgPool3d(_Adaptive):
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class AdaptiveMaxPool1d(_Adaptive):
    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class AdaptiveMaxPool2d(_Adaptive):
    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class AdaptiveMaxPool3d(_Adaptive):
    output_size: Any
    return_indices: bool
    def __init__(self, output_size: Any, return_indices: bool = False) -> None: ...
    def forward(self, input: Tensor) -> Any: ...

class Unfold(Applied):
    kernel_size: int | Sequence[int]
    dilation: int | Sequence[int]
    padding: int | Sequence[int] | str
    stride: int | Sequence[int]
    def __init__(self, kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1, padding: int | Sequence[int] | str = 0, stride: int | Sequence[int] = 1) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Fold(Applied):
    output_size: Any
    kernel_size: int | Sequence[int]
    dilation: int | Sequence[int]
    padding: int | Sequence[int] | str
    stride: int | Sequence[int]
    def __init__(self, output_size: Any, kernel_size: int | Sequence[int], dilation: int | Sequence[int] = 1, padding: int | Sequence[int] | str = 0, stride: int | Sequence[int] = 1) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class PixelShuffle(Applied):
    upscale_factor: int
    def __init__(self, upscale_factor: int) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class PixelUnshuffle(Applied):
    downscale_factor: int
    def __init__(self, downscale_factor: int) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class LocalResponseNorm(Applied):
    size: Any
    alpha: float
    beta: float
    k: float
    def __init__(self, size: Any, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class Conv1d(_Conv):
    ...

class Conv2d(_Conv):
    ...

class Conv3d(_Conv):
    ...

class ConvTranspose1d(_ConvTransposeNd):
    ...

class ConvTranspose2d(_ConvTransposeNd):
    ...

class ConvTranspose3d(_ConvTransposeNd):
    ...

class BatchNorm1d(_BatchNorm):
    ...

class BatchNorm2d(_BatchNorm):
    ...

class BatchNorm3d(_BatchNorm):
    ...

class InstanceNorm1d(_InstanceNorm):
    ...

class InstanceNorm2d(_InstanceNorm):
    ...

class InstanceNorm3d(_InstanceNorm):
    ...

class ConstantPad1d(_ConstantPadNd):
    ...

class ConstantPad2d(_ConstantPadNd):
    ...

class ConstantPad3d(_ConstantPadNd):
    ...

class ZeroPad1d(_PadNd):
    ...

class ZeroPad2d(_PadNd):
    ...

class ZeroPad3d(_PadNd):
    ...

class ReflectionPad1d(_PadNd):
    ...

class ReflectionPad2d(_PadNd):
    ...

class ReflectionPad3d(_PadNd):
    ...

class ReplicationPad1d(_PadNd):
    ...

class ReplicationPad2d(_PadNd):
    ...

class ReplicationPad3d(_PadNd):
    ...

class GRU(RNNBase):
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: object = None, dtype: object = None) -> None: ...

class LSTM(RNNBase):
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: object = None, dtype: object = None) -> None: ...

class Flatten(Applied):
    start_dim: int
    end_dim: int
    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None: ...
    def forward(self, input: Tensor) -> Tensor: ...

class CosineSimilarity(Applied):
    dim: int
    eps: float
    def __init__(self, dim: int = 1, eps: float = 1e-08) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class PairwiseDistance(Applied):
    p: float
    eps: float
    keepdim: bool
    def __init__(self, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> None: ...
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor: ...

class MSELoss(_Loss):
    reduction: str
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class L1Loss(_Loss):
    reduction: str
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class HuberLoss(_Loss):
    reduction: str
    delta: float
    def __init__(self, reduction: str = 'mean', delta: float = 1.0) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class SmoothL1Loss(_Loss):
    reduction: str
    beta: float
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', beta: float = 1.0) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class SoftMarginLoss(_Loss):
    reduction: str
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class MarginRankingLoss(_Loss):
    margin: float
    reduction: str
    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor: ...

class TripletMarginLoss(_Loss):
    margin: float
    p: float
    eps: float
    swap: bool
    reduction: str
    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, size_average: Flag = None, reduce: Flag = None, reduction: str = 'mean') -> None: ...
    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor: ...

class NLLLoss(_WeightedLoss):
    weight: Tensor | None
    ignore_index: int
    reduction: str
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class KLDivLoss(_Loss):
    reduction: str
    log_target: bool
    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCELoss(_WeightedLoss):
    weight: Tensor | None
    reduction: str
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class BCEWithLogitsLoss(_Loss):
    weight: Tensor | None
    reduction: str
    pos_weight: Tensor | None
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', pos_weight: Tensor | None = None) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...

class CrossEntropyLoss(_WeightedLoss):
    weight: Tensor | None
    ignore_index: int
    reduction: str
    label_smoothing: float
    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0) -> None: ...
    def forward(self, input: Tensor, target: Tensor) -> Tensor: ...
