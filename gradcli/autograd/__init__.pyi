"""Written by ``python -m tests.tools.stubs``."""

from . import function as function
from . import functional as functional
from . import grad_mode as grad_mode
from . import graph as graph
from ..engine.modes import enable_grad as enable_grad
from ..engine.modes import inference_mode as inference_mode
from ..engine.modes import is_grad_enabled as is_grad_enabled
from ..functions.verify_function import verify as verify
from ..torch.node_hooks import detect_anomaly as detect_anomaly
from ..torch.node_hooks import set_detect_anomaly as set_detect_anomaly
from .checks import GradcheckError as GradcheckError
from .checks import gradcheck as gradcheck
from .checks import gradgradcheck as gradgradcheck
from .entry import backward as backward
from .entry import grad as grad
from .function import Function as Function
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .variable import Variable as Variable

__all__: list[str]
