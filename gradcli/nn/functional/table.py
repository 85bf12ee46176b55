"""The functions of ``nn.functional`` that are functions of the table of operations.

Invariant: nothing is computed here; formulas, parameters and defaults are the rows'.
"""

from __future__ import annotations

from .declare import (
    along,
    changing,
    class_numbers,
    classes_or_probabilities,
    loss,
    of_row,
    one_target_each,
    same_size,
)


def _offer(names: str) -> None:
    """Define functions that are rows of the table as they are."""
    for name in names.split():
        globals()[name] = of_row(name)


# Activations

relu, relu_ = changing("relu")
leaky_relu, leaky_relu_ = changing("leaky_relu")
elu, elu_ = changing("elu", hidden="scale input_scale")
selu, selu_ = changing("selu")
celu, celu_ = changing("celu")
hardtanh, hardtanh_ = changing("hardtanh")
threshold, threshold_ = changing("threshold")
relu6, _ = changing("relu6")
silu, _ = changing("silu")
mish, _ = changing("mish")
hardsigmoid, _ = changing("hardsigmoid")
hardswish, _ = changing("hardswish")
softmax = along("softmax")
log_softmax = along("log_softmax")
_offer("glu prelu sigmoid softsign tanh tanhshrink")
_offer("gelu logsigmoid softplus")

# Layers

_offer("layer_norm group_norm local_response_norm pad")
_offer("linear normalize")
bilinear = of_row("bilinear", "input1 input2")
cosine_similarity = of_row("cosine_similarity", "x1 x2")

# Windows

_offer("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d")
_offer("max_pool1d max_pool2d max_pool3d")
_offer("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d")
_offer("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d")
_offer("avg_pool2d avg_pool3d")
_offer("interpolate pixel_shuffle pixel_unshuffle")
avg_pool1d = of_row("avg_pool1d", hidden="divisor_override")
unfold = of_row("im2col", called="unfold")
fold = of_row("col2im", called="fold")
upsample = of_row("interpolate", hidden="recompute_scale_factor", called="upsample")

# Losses

mse_loss = loss("mse_loss", check=same_size)
l1_loss = loss("l1_loss", check=same_size)
smooth_l1_loss = loss("smooth_l1_loss", check=same_size)
huber_loss = loss("huber_loss", check=same_size, flags="")
binary_cross_entropy = loss("binary_cross_entropy", check=one_target_each)
binary_cross_entropy_with_logits = loss(
    "binary_cross_entropy_with_logits", check=one_target_each
)
nll_loss = loss("nll_loss", check=class_numbers, flags="ignore_index")
cross_entropy = loss(
    "cross_entropy", check=classes_or_probabilities, flags="ignore_index"
)
kl_div = loss("kl_div")
soft_margin_loss = loss("soft_margin_loss")
margin_ranking_loss = loss("margin_ranking_loss", "input1 input2 target", margin=0)
