"""The engine: tensors, the recorded graph, the reverse and the forward pass."""

from .backward import grad
from .devices import NUMPY, resolve
from .modes import RecordingMode, RecordingOff, enable_grad, is_grad_enabled
from .node import AccumulateGrad, Node, Port
from .operators import install
from .record import call, function
from .tensor import Tensor, constant

install()

__all__ = [
    "NUMPY",
    "AccumulateGrad",
    "Node",
    "Port",
    "RecordingMode",
    "RecordingOff",
    "Tensor",
    "call",
    "constant",
    "enable_grad",
    "function",
    "grad",
    "is_grad_enabled",
    "resolve",
]
