"""The stand-in under the name that programs import (see `tests.cupy_stand_in`)."""

import sys

from tests.cupy_stand_in.modules import MODULES

sys.modules.update(MODULES)
