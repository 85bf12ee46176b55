"""Object arrays share memory exactly where the arrays of the engine do.

So a change in place is seen by the same views, whatever a program is run with.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from gradcli.check.namespace import ObjectArray, ObjectNamespace
from gradcli.check.system import Balls
from gradcli.check.tape import Tape, TapeNamespace
from gradcli.engine import NUMPY, Tensor, function
from gradcli.engine.record import apply
from gradcli.engine.versions import owner
from gradcli.ops import Op
from gradcli.ops.checks import ShapeError
from tests.grouped import by_row
from tests.laws.recorded import Trial, name_of
from tests.laws.sharing import Sharers, laid_out, sharers, trials

TRIALS = [t for t in trials() if not t.name.startswith(("empty", "view.fits"))]
SYSTEMS: dict[str, Callable[[], Any]] = {
    "numbers": lambda: ObjectNamespace(Balls()),
    "a tape": lambda: TapeNamespace(Tape()),
}


def on_objects(namespace: Any, array: Any) -> Tensor:
    """The numbers as elements, in the array's own layout."""
    data = namespace.elements(array)
    laid_out = np.empty_like(array, dtype=data.dtype)
    laid_out[...] = data
    return Tensor(ObjectArray(laid_out, namespace), namespace)


def shared(trial: Trial, tensor: Callable[[Any], Tensor]) -> Sharers | str:
    """Who shares with whom; the error's words where it does not run."""
    inputs = [
        tensor(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for x in laid_out(trial)
    ]
    entry = trial.entry
    try:
        with np.errstate(all="ignore"):
            made = (
                apply(entry, tuple(inputs), trial.params)
                if isinstance(entry, Op)
                else function(trial.name)(*inputs, **trial.params)
            )
        return sharers(made, inputs, memory)
    except (AttributeError, ShapeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def memory(x: Any) -> int | None:
    held = isinstance(x, Tensor) and isinstance(x.raw, np.ndarray | ObjectArray)
    return id(owner(x.raw)) if held and x.raw.size > 0 else None


@pytest.mark.parametrize("system", SYSTEMS)
@by_row("trial", TRIALS, attrgetter("ident"), name_of, share=6)
def test_memory_is_shared_where_the_engines_arrays_share_it(
    trial: Trial, system: str
) -> None:
    plain = shared(trial, lambda x: Tensor(x, NUMPY))
    namespace = SYSTEMS[system]()
    found = shared(trial, lambda x: on_objects(namespace, x))
    if not isinstance(found, str) and not isinstance(plain, str):
        assert found == plain
