"""What is done to many gradients at once, to a module's weights, and to sequences.

Clipping gradients, weights of given lengths, packed sequences.
"""

from ...torch.absent import Path, offer
from . import rnn, weights

offer(
    __name__, weights, but=("WeightNorm", "SpectralNorm"),
    also={"clip_grad": Path.at(f"{__name__}.clip_grad", weights), "rnn": rnn},
)  # fmt: skip
