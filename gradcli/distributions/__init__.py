"""Distributions to draw from and to score with, under PyTorch's names.

from gradcli.distributions import Categorical

m = Categorical(logits=policy(state))
action = m.sample()
loss = -m.log_prob(action) * reward
"""

from __future__ import annotations

from . import constraints as constraints
from . import divergence as kl
from .base import Distribution
from .composed import Independent, MixtureSameFamily, MultivariateNormal
from .continuous import (
    Exponential,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from .discrete import (
    Bernoulli,
    Categorical,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from .divergence import kl_divergence, register_kl

__all__ = [
    "Bernoulli",
    "Categorical",
    "Distribution",
    "Exponential",
    "Independent",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Uniform",
    "kl",
    "kl_divergence",
    "register_kl",
]
