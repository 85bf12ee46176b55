"""Written by ``python -m tests.tools.stubs``."""

from .engine.draws import default_generator as default_generator
from .engine.draws import fork_rng as fork_rng
from .engine.draws import get_rng_state as get_rng_state
from .engine.draws import initial_seed as initial_seed
from .engine.draws import manual_seed as manual_seed
from .engine.draws import seed as seed
from .engine.draws import set_rng_state as set_rng_state

__all__: list[str]
