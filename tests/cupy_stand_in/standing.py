"""A GPU for tests: the machine's own, or the stand-in.

Invariant: after the block the process knows as much of CuPy as before it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from gradcli.engine import devices
from gradcli.engine.arrays import ArrayNamespace

from . import PATH
from .modules import MODULES


@cache
def is_real() -> bool:
    """Whether this machine has a GPU that CuPy reaches."""
    return not devices.why_no_cuda()


@contextmanager
def gpu() -> Iterator[ArrayNamespace]:
    """Yield the namespace of a GPU's arrays; the stand-in's where there is no GPU."""
    if is_real():
        yield devices.cuda()
        return
    kept = {name: sys.modules[name] for name in MODULES if name in sys.modules}
    sys.modules.update(MODULES)
    try:
        devices._cupy[:] = [_stand_in()]
        yield devices.cuda()
    finally:
        devices._cupy.clear()
        for name in MODULES:
            del sys.modules[name]
        sys.modules.update(kept)


@cache
def _stand_in() -> ArrayNamespace:
    devices._cupy.clear()
    return devices.cuda()


def search_path() -> str:
    """Return where a process of its own looks for modules, so that it has a GPU."""
    places = [str(PATH.parents[2]), *([] if is_real() else [str(PATH)])]
    # Where this process looks a child has to look as well: CuPy may lie there.
    own = os.environ.get("PYTHONPATH")
    return os.pathsep.join([*places, own] if own else places)
