"""Written by ``python -m tests.tools.stubs``."""

from . import rnn as rnn
from . import weights as clip_grad
from .weights import clip_grad_norm_ as clip_grad_norm_
from .weights import clip_grad_value_ as clip_grad_value_
from .weights import spectral_norm as spectral_norm
from .weights import weight_norm as weight_norm

__all__: list[str]
