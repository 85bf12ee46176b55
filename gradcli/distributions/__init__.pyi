"""Written by ``python -m tests.tools.stubs``."""

from .kinds import Bernoulli as Bernoulli
from .kinds import Categorical as Categorical
from .kinds import Distribution as Distribution
from .kinds import Normal as Normal
from .kinds import kl_divergence as kl_divergence

__all__: list[str]
