"""Written by ``python -m tests.tools.stubs``."""

from . import lr_scheduler as lr_scheduler
from .lbfgs import LBFGS as LBFGS
from .optimizer import Adadelta as Adadelta
from .optimizer import Adagrad as Adagrad
from .optimizer import Adam as Adam
from .optimizer import AdamW as AdamW
from .optimizer import Optimizer as Optimizer
from .optimizer import RMSprop as RMSprop
from .optimizer import SGD as SGD

__all__: list[str]
