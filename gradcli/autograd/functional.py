"""Jacobians, Hessians and products with them, of a function and its inputs.

jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from .transforms import hessian_at as hessian
from .transforms import hvp, jacobian, vhp
from .transforms import jvp_at as jvp
from .transforms import vjp_at as vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy
