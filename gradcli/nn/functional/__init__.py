"""Layers, activations and losses as functions, as PyTorch's ``nn.functional`` has them.

    from gradcli.nn import functional as F
    F.cross_entropy(F.linear(x, weight, bias), target)
"""

from .activations import (
    celu, elu, elu_, gelu, glu, hardshrink, hardsigmoid, hardswish, hardtanh,
    leaky_relu, leaky_relu_, log_softmax, logsigmoid, mish, prelu, relu, relu6, relu_,
    selu, selu_, sigmoid, silu, softmax, softmin, softplus, softshrink, softsign, tanh,
    tanhshrink, threshold,
)  # fmt: skip
from .layers import (
    batch_norm, bilinear, cosine_similarity, dropout, embedding, layer_norm, linear,
    normalize, one_hot, pad,
)  # fmt: skip
from .losses import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cross_entropy,
    gaussian_nll_loss, hinge_embedding_loss, huber_loss, kl_div, l1_loss,
    margin_ranking_loss, mse_loss, nll_loss, poisson_nll_loss, smooth_l1_loss,
    soft_margin_loss,
)  # fmt: skip

__all__ = [
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "elu_",
    "embedding",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
]
