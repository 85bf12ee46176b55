"""Layers, activations and losses as functions, as PyTorch's ``nn.functional`` has them.

from gradcli.nn import functional as F
F.cross_entropy(F.linear(x, weight, bias), target)
"""

from ...torch.absent import offer
from . import attention, layers, table

offer(__name__, table, layers, attention, but=("check_probability",))
