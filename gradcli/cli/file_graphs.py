"""Graphs of what Python files define: a tensor of a file, or what a function of it
returns.

Invariant: only a word ``FILE.py:NAME`` names one; the file is executed, with gradcli in
the place of torch.

    file_target("train.py:loss")            # (Path("train.py"), "loss")
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os.path import isfile
from pathlib import Path
from typing import Any, Final

from ..answers.callers import tensors_in
from ..engine import Tensor
from ..engine.modes import enable_grad
from ..lang.errors import ProgramError
from ..pictures.shown import ShownGraph, graph_of
from . import ending
from .output import note
from .sources import shapes_of

_TARGET: Final = re.compile(r"(.+\.py):([^\W\d][\w.]*)")
"""Pattern of a word that names something in a file."""


def file_target(word: str) -> tuple[Path, str] | None:
    """Return the file and the name in a word; None if it is a program.

    Raises:
        ProgramError: there is no such file.
    """
    parts = _TARGET.fullmatch(word)
    if parts is None:
        return None
    if not isfile(parts[1]):
        hint = "write it as FILE.py:NAME, as in train.py:loss"
        raise ProgramError("E511", f"there is no file {parts[1]!r}", hint=hint)
    return Path(parts[1]), parts[2]


def graph_of_file(
    path: Path,
    name: str,
    bindings: Sequence[str],
    shapes: Sequence[str] | None,
    seed: int,
    fold: bool,
) -> ShownGraph:
    """Execute a file and return the graph of one of its tensors, or of what one of its
    functions, Functions or modules returns; arguments without a value are drawn.

    Raises:
        ProgramError: there is no such name, or it gives no tensor with a graph.
    """
    from ..functions.user_files import executing, load, value_in

    note(f"note: {path} is executed, with gradcli in the place of torch")
    ending.runs_users_code = True
    module = load(path)
    value = value_in(module, path, name)
    names: Mapping[str, Any] = tensors_in(vars(module))
    if not isinstance(value, Tensor):
        value, names = _called(module, path, name, bindings, shapes, seed)
    elif bindings or shapes:
        hint = f"leave it out, or draw the function that makes {name}"
        message = f"{name} is a tensor, and takes no values"
        raise ProgramError("E590", message, hint=hint)
    if value.edge is None:
        hint = "name a tensor that is computed from one with requires_grad=True"
        raise ProgramError("E519", f"{path}:{name} has no graph", hint=hint)
    with executing(path):
        return graph_of(value, names, fold=fold)


def _called(
    module: Any,
    path: Path,
    name: str,
    bindings: Sequence[str],
    shapes: Sequence[str] | None,
    seed: int,
) -> tuple[Any, Mapping[str, Any]]:
    """Return what a function returns, if it is a tensor, and the names of its
    arguments and of a module's parameters."""
    from ..functions.drawn_shapes import refuse_unfit
    from ..functions.function_call import is_custom
    from ..functions.user_files import arguments_of, executing, target_of
    from ..functions.user_lines import words_of

    target = target_of(module, path, name)
    wanted = shapes_of(shapes)
    arguments = arguments_of(target, bindings, seed, shapes=wanted)
    for drawn, text in arguments.drawn.items():
        note(f"note: {drawn}={text} was drawn with seed {seed}")
    run = target.value.apply if is_custom(target.value) else target.value
    try:
        with executing(path), enable_grad():
            refuse_unfit(target, arguments, seed)
            value = run(*arguments.values)
    except ProgramError:
        raise
    except Exception as error:
        hint = "give each of its parameters a value that it takes: x=randn(2,4)"
        message = f"{target.title} raises {words_of(error)}"
        raise ProgramError("E519", message, hint=hint) from error
    outputs = value if isinstance(value, tuple | list) else (value,)
    tensors = [y for y in outputs if isinstance(y, Tensor)]
    if not tensors:
        kind = type(value).__name__
        message = f"{target.title} returns no tensor, but {kind}"
        raise ProgramError("E519", message, hint="name a function that returns one")
    given = dict(zip(target.parameters, arguments.values, strict=False))
    return tensors[0], tensors_in({**given, name.rpartition(".")[2]: target.value})
