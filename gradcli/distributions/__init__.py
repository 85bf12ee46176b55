"""Distributions, with their samples and log probabilities, under PyTorch's names.

from gradcli.distributions import Categorical

m = Categorical(logits=policy(state))
action = m.sample()
loss = -m.log_prob(action) * reward
"""

from ..engine.absent import offer
from . import kinds

offer(__name__, kinds)
