"""Written by ``python -m tests.tools.stubs``."""

from .torch.draws import default_generator as default_generator
from .torch.draws import fork_rng as fork_rng
from .torch.draws import get_rng_state as get_rng_state
from .torch.draws import initial_seed as initial_seed
from .torch.draws import manual_seed as manual_seed
from .torch.draws import seed as seed
from .torch.draws import set_rng_state as set_rng_state

__all__: list[str]
