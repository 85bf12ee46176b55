"""The modules that are a function and its options.

Invariant: nothing is computed here; a module has the name of its function, which is
written in small letters with underscores, and the function's parameters with their
defaults. The parts that modules of a family share are in their base, in `declare`.

    LeakyReLU(0.1)(x)           # functional.leaky_relu(x, 0.1)
"""

from __future__ import annotations

from typing import Any

from . import functional as F
from .declare import (
    Applied,
    _Adaptive,
    _Along,
    _AvgPool1d,
    _AvgPoolNd,
    _DropoutNd,
    _Loss,
    _MaxPoolNd,
    _WeightedLoss,
    module,
    ranks,
)
from .recurrent import network
from .shaping import _ConstantPadNd, _PadNd
from .weighted import _BatchNorm, _Conv, _ConvTransposeNd, _InstanceNorm

_FUNCTIONS = {
    name.replace("_", ""): getattr(F, name)
    for name in F.__all__
    if not name.endswith("_")
}


def _offer(names: str, base: type[Applied] = Applied, **options: Any) -> None:
    """Define modules of the functions that have their names."""
    for name in names.split():
        made = module(name, _FUNCTIONS[name.lower()], base, **options)
        globals()[name] = made


# Activations

_offer("ReLU LeakyReLU ELU CELU SELU SiLU Mish Sigmoid LogSigmoid Tanh Softplus")
_offer("Softsign Tanhshrink Threshold GLU RReLU Hardtanh ReLU6")
_offer("GELU", shown="approximate={approximate!r}")
_offer("Hardsigmoid Hardswish", shown="")
_offer("Softmax LogSoftmax", _Along)

# Dropout and windows

_offer("Dropout Dropout2d Dropout3d", _DropoutNd)
_offer("MaxPool1d MaxPool2d MaxPool3d", _MaxPoolNd)
_offer("AvgPool1d", _AvgPool1d)
_offer("AvgPool2d AvgPool3d", _AvgPoolNd)
_offer("AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d", _Adaptive)
_offer("AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d", _Adaptive)
_offer("Unfold Fold PixelShuffle PixelUnshuffle")
_offer("LocalResponseNorm", shown="{size}, alpha={alpha}, beta={beta}, k={k}")

# Layers by the number of dimensions that windows or channels have

Conv1d, Conv2d, Conv3d = ranks("Conv", _Conv, function=(F.conv1d, F.conv2d, F.conv3d))
ConvTranspose1d, ConvTranspose2d, ConvTranspose3d = ranks(
    "ConvTranspose",
    _ConvTransposeNd,
    function=(F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d),
)
BatchNorm1d, BatchNorm2d, BatchNorm3d = ranks(
    "BatchNorm", _BatchNorm, ranks=((2, 3), (4,), (5,))
)
InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = ranks(
    "InstanceNorm", _InstanceNorm, ranks=((2, 3), (3, 4), (4, 5))
)
ConstantPad1d, ConstantPad2d, ConstantPad3d = ranks("ConstantPad", _ConstantPadNd)
ZeroPad1d, ZeroPad2d, ZeroPad3d = ranks("ZeroPad", _PadNd)
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = ranks(
    "ReflectionPad", _PadNd, mode=("reflect",) * 3
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = ranks(
    "ReplicationPad", _PadNd, mode=("replicate",) * 3
)

GRU = network("GRU", "Gated recurrent units.", "proj_size")
LSTM = network("LSTM", "Long short-term memories; the state is (h, c).")

# Shapes, distances and losses

Flatten = module("Flatten", "flatten", start_dim=1)
_offer("CosineSimilarity PairwiseDistance", operands=2, shown="")
_offer("MSELoss L1Loss HuberLoss SmoothL1Loss SoftMarginLoss", _Loss)
_offer("MarginRankingLoss", _Loss, operands=3, margin=0.0)
_offer("TripletMarginLoss", _Loss, operands=3, p=2.0)
_offer("NLLLoss", _WeightedLoss)
KLDivLoss = module("KLDivLoss", F.kl_div, _Loss)
BCELoss = module("BCELoss", F.binary_cross_entropy, _WeightedLoss)
BCEWithLogitsLoss = module(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, _Loss
)
CrossEntropyLoss = module("CrossEntropyLoss", F.cross_entropy, _WeightedLoss)
