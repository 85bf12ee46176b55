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
    meaning_of_mean,
    of_row,
    one_target_a_logit,
    one_target_each,
    same_size,
)

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
gelu = of_row("gelu", out=True)
glu = of_row("glu")
hardshrink = of_row("hardshrink", out=True)
logsigmoid = of_row("logsigmoid", out=True)
prelu = of_row("prelu")
sigmoid = of_row("sigmoid")
softplus = of_row("softplus", out=True)
softshrink = of_row("softshrink", out=True)
softsign = of_row("softsign")
tanh = of_row("tanh")
tanhshrink = of_row("tanhshrink")
softmax = along("softmax")
log_softmax = along("log_softmax")
softmin = along("softmin")

# Layers

linear = of_row("linear", out=True)
bilinear = of_row("bilinear", "input1 input2")
layer_norm = of_row("layer_norm")
group_norm = of_row("group_norm")
normalize = of_row("normalize", out=True)
pad = of_row("pad")
cosine_similarity = of_row("cosine_similarity", "x1 x2")

# Windows

conv1d = of_row("conv1d")
conv2d = of_row("conv2d")
conv3d = of_row("conv3d")
conv_transpose1d = of_row("conv_transpose1d")
conv_transpose2d = of_row("conv_transpose2d")
conv_transpose3d = of_row("conv_transpose3d")
max_pool1d = of_row("max_pool1d")
max_pool2d = of_row("max_pool2d")
max_pool3d = of_row("max_pool3d")
avg_pool1d = of_row("avg_pool1d", hidden="divisor_override")
avg_pool2d = of_row("avg_pool2d", out=True)
avg_pool3d = of_row("avg_pool3d", out=True)
adaptive_avg_pool1d = of_row("adaptive_avg_pool1d")
adaptive_avg_pool2d = of_row("adaptive_avg_pool2d")
adaptive_avg_pool3d = of_row("adaptive_avg_pool3d")
adaptive_max_pool1d = of_row("adaptive_max_pool1d")
adaptive_max_pool2d = of_row("adaptive_max_pool2d")
adaptive_max_pool3d = of_row("adaptive_max_pool3d")
max_unpool1d = of_row("max_unpool1d")
max_unpool2d = of_row("max_unpool2d")
max_unpool3d = of_row("max_unpool3d")
unfold = of_row("im2col", called="unfold")
fold = of_row("col2im", called="fold")
interpolate = of_row("interpolate")
upsample = of_row(
    "interpolate", hidden="recompute_scale_factor antialias", called="upsample"
)
pixel_shuffle = of_row("pixel_shuffle")
pixel_unshuffle = of_row("pixel_unshuffle")
affine_grid = of_row("affine_grid")
grid_sample = of_row("grid_sample")
local_response_norm = of_row("local_response_norm")
pdist = of_row("pdist")

# Losses

mse_loss = loss("mse_loss", check=same_size)
l1_loss = loss("l1_loss", check=same_size)
smooth_l1_loss = loss("smooth_l1_loss", check=same_size)
huber_loss = loss("huber_loss", check=same_size, flags="")
binary_cross_entropy = loss("binary_cross_entropy", check=one_target_each)
binary_cross_entropy_with_logits = loss(
    "binary_cross_entropy_with_logits", check=one_target_a_logit
)
nll_loss = loss("nll_loss", check=class_numbers, flags="ignore_index")
cross_entropy = loss(
    "cross_entropy", check=classes_or_probabilities, flags="ignore_index"
)
kl_div = loss("kl_div", check=meaning_of_mean)
poisson_nll_loss = loss("poisson_nll_loss", flags="eps")
gaussian_nll_loss = loss("gaussian_nll_loss", flags="")
soft_margin_loss = loss("soft_margin_loss")
hinge_embedding_loss = loss("hinge_embedding_loss")
margin_ranking_loss = loss("margin_ranking_loss", "input1 input2 target", margin=0)
