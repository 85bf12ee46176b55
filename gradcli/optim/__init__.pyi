"""Written by ``python -m tests.tools.stubs``."""

from . import lr_scheduler as lr_scheduler
from .optimizer import Optimizer as Optimizer
from .table import Adadelta as Adadelta
from .table import Adagrad as Adagrad
from .table import Adam as Adam
from .table import AdamW as AdamW
from .table import LBFGS as LBFGS
from .table import RMSprop as RMSprop
from .table import SGD as SGD

__all__: list[str]
