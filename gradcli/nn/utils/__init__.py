"""What is done to many gradients at once, to a module's weights, and to sequences.

Clipping gradients, weights of given lengths, packed sequences.
"""

from ...engine.absent import offer
from . import clip_grad, rnn, weights

offer(
    __name__, clip_grad, weights, but=("WeightNorm", "SpectralNorm"),
    also={"clip_grad": clip_grad, "rnn": rnn},
)  # fmt: skip
