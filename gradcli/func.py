"""Transforms of pure functions: gradients, Jacobians, batches; they can be nested.

Invariant: a transform differentiates its function on tensors of its own, and its result
does not depend on their graph. The result is recorded only if the function used an
outer transform's input or another tensor that requires a gradient.

    grad(grad(lambda x: x**3))(torch.tensor(2.0))        # tensor(12.)
    vmap(grad(loss), in_dims=(None, 0))(weights, samples)
"""

from .torch.absent import offer

_HOMES = {
    ".autograd.transforms": "grad grad_and_value hessian jacfwd jacrev jvp linearize "
    "vjp vmap",
}
_MODULES = ()
offer(__name__, homes=_HOMES)
