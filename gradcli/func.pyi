"""Written by ``python -m tests.tools.stubs``."""

from .autograd.transforms import grad as grad
from .autograd.transforms import grad_and_value as grad_and_value
from .autograd.transforms import hessian as hessian
from .autograd.transforms import jacfwd as jacfwd
from .autograd.transforms import jacrev as jacrev
from .autograd.transforms import jvp as jvp
from .autograd.transforms import linearize as linearize
from .autograd.transforms import vjp as vjp
from .autograd.transforms import vmap as vmap

__all__: list[str]
