"""Verdicts: the number systems of the witnesses, and what they prove or refute.

The room has the name of the public function ``gradcli.check``, so it can be called: the
call goes to the function that the package names as its home.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A module that is called like the public function of its name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        package, _, name = self.__name__.partition(".")
        home = vars(sys.modules[package])["_HOME"][name]
        function = vars(import_module(f"{package}.{home}"))[name]
        return function(*args, **kwargs)


sys.modules[__name__].__class__ = CallableRoom
