"""The modules that are a function and its options.

Invariant: nothing is computed here; a line names the function, and its parameters with
their defaults are the module's. What modules of a family have in common beside that
stands in `families`.
"""

from __future__ import annotations

from . import functional as F
from .convolution import _Conv, _ConvTransposeNd
from .declare import module, ranks
from .families import (
    _Adaptive,
    _Along,
    _AvgPool1d,
    _AvgPoolNd,
    _DropoutNd,
    _Loss,
    _MaxPoolNd,
    _WeightedLoss,
)
from .norm import _BatchNorm, _InstanceNorm
from .recurrent import network
from .shaping import _ConstantPadNd, _MaxUnpoolNd, _PadNd

# Activations

ReLU = module("ReLU", F.relu)
LeakyReLU = module("LeakyReLU", F.leaky_relu)
ELU = module("ELU", F.elu)
CELU = module("CELU", F.celu)
SELU = module("SELU", F.selu)
GELU = module("GELU", F.gelu, shown="approximate={approximate!r}")
SiLU = module("SiLU", F.silu)
Mish = module("Mish", F.mish)
Sigmoid = module("Sigmoid", F.sigmoid)
LogSigmoid = module("LogSigmoid", F.logsigmoid)
Tanh = module("Tanh", F.tanh)
Softplus = module("Softplus", F.softplus)
Softsign = module("Softsign", F.softsign)
Tanhshrink = module("Tanhshrink", F.tanhshrink)
Hardshrink = module("Hardshrink", F.hardshrink, shown="{lambd}")
Softshrink = module("Softshrink", F.softshrink, shown="{lambd}")
Hardsigmoid = module("Hardsigmoid", F.hardsigmoid, shown="")
Hardswish = module("Hardswish", F.hardswish, shown="")
Threshold = module("Threshold", F.threshold)
GLU = module("GLU", F.glu)
RReLU = module("RReLU", F.rrelu)
Hardtanh = module("Hardtanh", F.hardtanh)
ReLU6 = module("ReLU6", F.relu6)

Softmax = module("Softmax", F.softmax, _Along)
LogSoftmax = module("LogSoftmax", F.log_softmax, _Along)
Softmin = module("Softmin", F.softmin, _Along)

# Dropout

Dropout = module("Dropout", F.dropout, _DropoutNd)
Dropout1d = module("Dropout1d", F.dropout1d, _DropoutNd)
Dropout2d = module("Dropout2d", F.dropout2d, _DropoutNd)
Dropout3d = module("Dropout3d", F.dropout3d, _DropoutNd)

# Windows

MaxPool1d = module("MaxPool1d", F.max_pool1d, _MaxPoolNd)
MaxPool2d = module("MaxPool2d", F.max_pool2d, _MaxPoolNd)
MaxPool3d = module("MaxPool3d", F.max_pool3d, _MaxPoolNd)
AvgPool1d = module("AvgPool1d", F.avg_pool1d, _AvgPool1d)
AvgPool2d = module("AvgPool2d", F.avg_pool2d, _AvgPoolNd)
AvgPool3d = module("AvgPool3d", F.avg_pool3d, _AvgPoolNd)
AdaptiveAvgPool1d = module("AdaptiveAvgPool1d", F.adaptive_avg_pool1d, _Adaptive)
AdaptiveAvgPool2d = module("AdaptiveAvgPool2d", F.adaptive_avg_pool2d, _Adaptive)
AdaptiveAvgPool3d = module("AdaptiveAvgPool3d", F.adaptive_avg_pool3d, _Adaptive)
AdaptiveMaxPool1d = module("AdaptiveMaxPool1d", F.adaptive_max_pool1d, _Adaptive)
AdaptiveMaxPool2d = module("AdaptiveMaxPool2d", F.adaptive_max_pool2d, _Adaptive)
AdaptiveMaxPool3d = module("AdaptiveMaxPool3d", F.adaptive_max_pool3d, _Adaptive)
Unfold = module("Unfold", F.unfold)
Fold = module("Fold", F.fold)
PixelShuffle = module("PixelShuffle", F.pixel_shuffle)
PixelUnshuffle = module("PixelUnshuffle", F.pixel_unshuffle)
LocalResponseNorm = module(
    "LocalResponseNorm",
    F.local_response_norm,
    shown="{size}, alpha={alpha}, beta={beta}, k={k}",
)

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
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = ranks(
    "MaxUnpool",
    _MaxUnpoolNd,
    function=(F.max_unpool1d, F.max_unpool2d, F.max_unpool3d),
)

GRU = network("GRU", "Gated recurrent units.", "proj_size")
LSTM = network("LSTM", "Long short-term memories; the state is (h, c).")

# Shapes and distances

Flatten = module("Flatten", "flatten", start_dim=1)
CosineSimilarity = module("CosineSimilarity", F.cosine_similarity, operands=2, shown="")
PairwiseDistance = module("PairwiseDistance", F.pairwise_distance, operands=2, shown="")

# Losses

MSELoss = module("MSELoss", F.mse_loss, _Loss, hidden="weight")
L1Loss = module("L1Loss", F.l1_loss, _Loss, hidden="weight")
SmoothL1Loss = module("SmoothL1Loss", F.smooth_l1_loss, _Loss)
HuberLoss = module("HuberLoss", F.huber_loss, _Loss, hidden="weight")
SoftMarginLoss = module("SoftMarginLoss", F.soft_margin_loss, _Loss)
KLDivLoss = module("KLDivLoss", F.kl_div, _Loss)
PoissonNLLLoss = module("PoissonNLLLoss", F.poisson_nll_loss, _Loss)
GaussianNLLLoss = module(
    "GaussianNLLLoss", F.gaussian_nll_loss, _Loss, operands=3, keyword_only=True
)
HingeEmbeddingLoss = module("HingeEmbeddingLoss", F.hinge_embedding_loss, _Loss)
MarginRankingLoss = module(
    "MarginRankingLoss", F.margin_ranking_loss, _Loss, operands=3, margin=0.0
)
BCELoss = module("BCELoss", F.binary_cross_entropy, _WeightedLoss)
BCEWithLogitsLoss = module(
    "BCEWithLogitsLoss", F.binary_cross_entropy_with_logits, _Loss
)
NLLLoss = module("NLLLoss", F.nll_loss, _WeightedLoss)
CrossEntropyLoss = module("CrossEntropyLoss", F.cross_entropy, _WeightedLoss)
TripletMarginLoss = module(
    "TripletMarginLoss", F.triplet_margin_loss, _Loss, operands=3, p=2.0
)
