"""Written by ``python -m tests.tools.stubs``."""

from . import constraints as constraints
from .kinds import Bernoulli as Bernoulli
from .kinds import Categorical as Categorical
from .kinds import Distribution as Distribution
from .kinds import Independent as Independent
from .kinds import MultivariateNormal as MultivariateNormal
from .kinds import Normal as Normal
from .kinds import Uniform as Uniform
from .kinds import kl_divergence as kl_divergence

__all__: list[str]
