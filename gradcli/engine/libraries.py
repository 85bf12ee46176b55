"""SciPy's modules, imported when their functions are called.

Invariant: what `import scipy.special` gives. SciPy takes every name that NumPy lists
(``from numpy import *`` in ``scipy._lib.array_api_compat``), and with them NumPy's
tools for tests and for Fortran, which NumPy itself imports when asked for, and SciPy
does not use. They are executed when somebody does: half of the import's time.

    scipy("sparse").csr_array
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
from typing import Final

import numpy

UNUSED: Final = ("ctypeslib", "f2py", "ma", "polynomial", "testing")
"""NumPy's modules that no function of SciPy's needs which is called here."""


def scipy(name: str) -> ModuleType:
    """Return the module ``scipy.name``."""
    if "scipy" not in sys.modules:
        for unused in UNUSED:
            _put_off(f"numpy.{unused}", unused)
    return import_module(f"scipy.{name}")


def _put_off(module: str, name: str) -> None:
    """Put a module in place that is executed when it is first used."""
    spec = None if module in sys.modules else find_spec(module)
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    made = sys.modules[module] = module_from_spec(spec)
    setattr(numpy, name, made)
    spec.loader.exec_module(made)
