"""Writes down what CuPy has: names, parameters, types and methods of ufuncs.

CuPy imports where there is no GPU, and its arrays can be given memory of the host, on
which nothing runs. What a method refuses it refuses before it asks for a GPU, so that
this too can be recorded. Run with a Python that has CuPy, and its linear algebra
(cuBLAS, cuSOLVER and cuSPARSE, for `cupyx.scipy.linalg` to import), from the
repository's root:

    python -m tests.cupy_stand_in.record
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("recorded.json")

MODULES = (
    "cupy", "cupy.linalg", "cupy.lib.stride_tricks", "cupy.cuda", "cupyx",
    "cupyx.scipy.special", "cupyx.scipy.linalg",
)  # fmt: skip
"""Where the package looks for names."""

METHODS = ("reduce", "accumulate", "at", "outer")
"""Methods of ufuncs that not all of them have."""


def parameters(function: Any) -> str | None:
    """Return a function's parameters, without types; None where nobody says them."""
    try:
        asked = inspect.signature(function)
    except (TypeError, ValueError):
        return _of_docstring(function)
    plain = [
        p.replace(
            annotation=p.empty,
            default=p.default if p.default is p.empty else _plain(p.default),
        )
        for p in asked.parameters.values()
    ]
    return str(inspect.Signature(plain))


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | None) else None


def _of_docstring(function: Any) -> str | None:
    """Return the parameters that compiled code says in its first line."""
    line = (function.__doc__ or "").partition("\n")[0]
    found = re.match(r"[\w.]+\((.*)\)( ->.*)?$", line)
    if found is None:
        return None
    parts = [part.strip() for part in found[1].split(",")]
    return f"({', '.join(re.sub(r'^[^=*]* (?=[a-z_]+)', '', p) for p in parts)})"


def methods(ufunc: Any, array: Any) -> str:
    """Return those methods that do not refuse to be there."""
    there = []
    for name in METHODS:
        given = {"at": (array, 0, array), "outer": (array, array)}.get(name, (array,))
        try:
            getattr(ufunc, name)(*given)
        except NotImplementedError:
            continue
        except Exception:
            pass  # No GPU.
        there.append(name)
    return " ".join(there)


def described(found: Any, array: Any) -> Any:
    """Return what is recorded of one thing that has a name."""
    import cupy

    if isinstance(found, cupy.ufunc):
        return {"types": " ".join(found.types), "methods": methods(found, array)}
    if inspect.ismodule(found):
        return "module"
    if inspect.isclass(found):
        return "class"
    if callable(found):
        return parameters(found) or "(*args, **kwargs)"
    return "value"


def host_array() -> Any:
    """Return an array of CuPy's on memory of the host."""
    import cupy
    import numpy

    held = numpy.zeros(16)
    memory = cupy.cuda.UnownedMemory(held.ctypes.data, held.nbytes, held, 0)
    return cupy.ndarray((4, 4), "float64", cupy.cuda.MemoryPointer(memory, 0))


def bases(x: Any) -> dict[str, str]:
    """Return whose view a view of a view is: its base's, nobody's, or the view's."""
    import cupy

    view = x[1:]
    seen = {
        "getitem": view[1:],
        "transpose": view.T,
        "reshape": view.reshape(-1),
        "broadcast_to": cupy.broadcast_to(view, (2, *view.shape)),
        "diagonal": view.diagonal(),
        "as_strided": cupy.lib.stride_tricks.as_strided(view, (2,), (8,)),
        "ndarray": cupy.ndarray((2,), "float64", view.data),
    }
    return {
        name: "base" if y.base is x else "none" if y.base is None else "view"
        for name, y in seen.items()
    }


def recorded() -> dict[str, Any]:
    """Return all that is recorded."""
    import cupy

    array = host_array()
    return {
        "version": cupy.__version__,
        "modules": {
            name: {
                each: described(getattr(module, each), array)
                for each in sorted(dir(module))
                if not each.startswith("_")
            }
            for name in MODULES
            for module in [import_module(name)]
        },
        "ndarray": {
            name: described(getattr(cupy.ndarray, name), array)
            for name in sorted(dir(cupy.ndarray))
            if not name.startswith("__")
        },
        "bases": bases(array),
    }


if __name__ == "__main__":
    RECORD.write_text(json.dumps(recorded(), indent=0, sort_keys=True) + "\n")
