"""Automatic differentiation as PyTorch's users know it: `backward`, `grad`, `Function`.

Invariant: a name is looked up in its module when it is first used, so that the command
line, which needs one of them, pays for one.

    from gradcli.autograd import grad

    (g,) = grad(y, x)
"""

from ..torch.absent import offer

_HOMES = {
    "..torch.node_hooks": "detect_anomaly set_detect_anomaly",
    "..engine.modes": "enable_grad inference_mode is_grad_enabled",
    ".checks": "GradcheckError gradcheck gradgradcheck",
    ".entry": "backward grad",
    ".function": "Function",
    ".grad_mode": "no_grad set_grad_enabled",
    ".variable": "Variable",
    "..functions.verify_function": "verify",
}
_MODULES = ("function", "functional", "grad_mode", "graph")
offer(__name__, homes=_HOMES, modules=_MODULES)
