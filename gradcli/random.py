"""Functions that seed the random generator or keep its state, as in PyTorch."""

from .torch.absent import offer

_HOMES = {
    ".torch.draws": "default_generator fork_rng get_rng_state initial_seed "
    "manual_seed seed set_rng_state",
}
_MODULES = ()
offer(__name__, homes=_HOMES)
