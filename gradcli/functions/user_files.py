"""Functions in users' files: found by name, given arguments, and run unchanged.

Invariant: only `load` and `run` execute a file, and only the one that they are given;
while it runs, and in an `executing` block, ``import torch`` means gradcli. A class is
one object under PyTorch's and its own name, and can be found under the name that it has
at the time, so that pickles work; when a script ends, the names are restored.

    target = find("losses.py:Huber")
    arguments_of(target, ["x=randn(5)", "delta=0.7"], seed=0)
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter
from os.path import isfile
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Annotated, Any, Final, NoReturn, get_args, get_origin

import numpy as np

from ..engine.devices import NUMPY
from ..engine.dtypes import Size, device, dtype, int64
from ..engine.errors import CallError, LinAlgError
from ..engine.modes import enable_grad
from ..engine.tensor import Tensor, ones_for
from ..lang.bindings import Binding, read_bindings
from ..lang.errors import ProgramError
from ..lang.excerpt import Span, enumerated
from ..lang.factory import Factory
from ..lang.prepare import value_of
from ..lang.suggest import did_you_mean
from ..large.blocks import pull
from ..nn.module import Module
from ..nn.parameter import Parameter as ParameterTensor
from ..ops.checks import EngineError
from ..torch.creation import tensor
from ..torch.draws import Generator
from .function_call import FunctionCall, FunctionRun, is_custom, parameters_of
from .torch_names import as_torch, install_as_torch
from .user_lines import words_of

DRAWN: Final = (3,)
"""Shape that is drawn for an argument without a value."""

Shapes = Mapping[str, tuple[int, ...]]
"""Type of shapes that were asked for, by the parameter's name; empty: all others."""

NUMBERS: Final = (0.1, 1.0)
"""Ends of the range that a value of an argument annotated as a float is drawn from."""

WAY: Final = "write it as FILE.py:NAME, as in losses.py:Huber"


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A function, custom `Function` or module in a file.

    parameters  the parameters of its forward, without ``ctx``
    """

    title: str
    value: Any
    parameters: Mapping[str, Parameter]


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a target, and the texts of those that were drawn, by
    name."""

    values: tuple[object, ...]
    drawn: Mapping[str, str]


def split(text: str) -> tuple[Path, str]:
    """Return the file, which must exist, and the name in ``FILE.py:NAME``."""
    file, colon, name = text.replace("::", ":").rpartition(":")
    if not colon or not name or not file:
        path = Path(text.rstrip(":"))
        if path.suffix == ".py" and not isfile(path):
            raise ProgramError("E511", f"there is no file '{path}'", hint=WAY)
        whole = f"{WAY}; gradcli verify {path} is about all of them"
        hint = whole if isfile(path) else WAY
        message = f"{text!r} names no function of a file"
        raise ProgramError("E590", message, hint=hint)
    path = Path(file)
    if not isfile(path):
        raise ProgramError("E511", f"there is no file {file!r}", hint=WAY)
    return path, name


def load(path: Path) -> ModuleType:
    """Return the module that executing a file makes."""
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ProgramError("E513", f"{path} is no file of Python", hint=WAY)
    module = module_from_spec(spec)
    try:
        with executing(path):
            spec.loader.exec_module(module)
    except Exception as error:
        raise ProgramError(
            "E513", f"{path.name} raises {words_of(error)}",
            hint="the file is executed, with gradcli as torch, before anything of it "
            "can be verified",
        ) from error  # fmt: skip
    return module


@contextmanager
def executing(path: Path) -> Iterator[None]:
    """Let a file's code import what lies beside it, and gradcli as torch, while the
    block runs."""
    before = sys.path[:]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with as_torch():
            yield
    finally:
        sys.path[:] = before


class _ScriptLoader(SourceFileLoader):
    """A loader that writes no bytecode, as Python writes none of a script."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("bytecode of a script is not looked for")


def run(path: Path, arguments: Sequence[str]) -> None:
    """Execute a file as the script of this process, as Python does: the process is the
    script's from then on, also its threads' and exit handlers'."""
    place = path.resolve()
    main, loader = ModuleType("__main__"), _ScriptLoader("__main__", str(place))
    vars(main).update(
        __file__=str(place), __builtins__=builtins, __cached__=None, __package__=None,
        __loader__=loader,
    )  # fmt: skip
    sys.modules["__main__"] = main
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(place.parent))
    install_as_torch()
    _call(_pytorchs_names())
    loader.exec_module(main)


@contextmanager
def restored() -> Iterator[None]:
    """Undo what `run` changes in the process, when the block ends."""
    argv, paths, main = sys.argv, sys.path[:], sys.modules["__main__"]
    before = {
        kind: [getattr(kind, each) for each in CALLED] for kind in _pytorchs_names()
    }
    try:
        with as_torch():
            yield
    finally:
        _call(before)
        sys.argv, sys.path[:], sys.modules["__main__"] = argv, paths, main


def find(text: str) -> FileTarget:
    """Return the function that ``FILE.py:NAME`` names; the file is executed.

    Raises:
        ProgramError: the file or name does not exist, or cannot be verified.
    """
    path, name = split(text)
    return target_of(load(path), path, name)


def functions_of(path: Path) -> list[FileTarget]:
    """Return the custom Functions that a file defines, in their order; the file is
    executed.

    Raises:
        ProgramError: it defines none.
    """
    module = load(path)
    own = [
        FileTarget(f"{path}:{name}", value, parameters_of(value))
        for name, value in vars(module).items()
        if is_custom(value) and value.__module__ == module.__name__
    ]
    if not own:
        names = [n for n, v in vars(module).items() if n[:1] != "_" and callable(v)]
        hint = f"name a function or a module: {path}:{names[-1]}" if names else WAY
        raise ProgramError("E519", f"{path} defines no Function", hint=hint)
    return own


def value_in(module: ModuleType, path: Path, name: str) -> Any:
    """Return the value of this dotted name in a module that was loaded."""
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            names = [n for n in vars(found) if n[:1] != "_"]
            there = enumerated(sorted(names)) if names else "no names"
            hint = did_you_mean(part, names) or f"it has {there}"
            raise ProgramError("E101", f"{path.name} has no name {part!r}", hint=hint)
        found = getattr(found, part)
    return found


def target_of(module: ModuleType, path: Path, name: str) -> FileTarget:
    """Return the function of this dotted name in a module that was loaded."""
    text, found = f"{path}:{name}", value_in(module, path, name)
    if isinstance(found, type) and issubclass(found, Module):
        found = _build(found, text)
    if isinstance(found, Module):
        found = found.double()
    if not callable(found) or (isinstance(found, type) and not is_custom(found)):
        raise ProgramError(
            "E519", f"{name} is no function, Function or module, but "
            f"{type(found).__name__}", hint=WAY,
        )  # fmt: skip
    return FileTarget(text, found, parameters_of(found))


def _build(kind: type[Module], text: str) -> Module:
    try:
        return kind()
    except TypeError as error:
        raise ProgramError(
            "E302", f"{kind.__name__} cannot be made without arguments: {error}",
            hint=f"make one in the file and name it: model = {kind.__name__}(...), "
            f"then {text.rpartition(':')[0]}:model",
        ) from error  # fmt: skip


def arguments_of(
    target: FileTarget,
    words: Sequence[str],
    seed: int,
    whole: Sequence[str] = (),
    shapes: Shapes = MappingProxyType({}),
) -> Arguments:
    """Return the arguments from bindings ``NAME=VALUE``, annotations and defaults; the
    others are drawn, with the ``shapes`` that are asked for.

    A number that is written out stays a number unless its parameter is annotated as a
    tensor; all other values are float64 tensors that require a gradient, or integers
    for the parameters ``whole``.
    """
    bound = {b.name: b for b in read_bindings(words)}
    for binding in bound.values():
        if binding.name not in target.parameters:
            near = did_you_mean(binding.name, target.parameters)
            raise ProgramError(
                "E505", f"{target.title} has no parameter '{binding.name}'",
                Span(0, binding.value.start - 1), binding.argument,
                hint=near or f"its parameters are {', '.join(target.parameters)}",
            )  # fmt: skip
    values = []
    drawn: dict[str, str] = {}
    for name, parameter in target.parameters.items():
        if parameter.kind in (Parameter.VAR_KEYWORD, Parameter.KEYWORD_ONLY):
            continue
        given = bound.get(name)
        if given is None:
            if parameter.kind is Parameter.VAR_POSITIONAL:
                break
            text = _annotated(parameter, seed) if name not in shapes else None
            if text is None and _has_default(parameter, name in shapes):
                values.append(parameter.default)
                continue
            shape = shapes.get(name, shapes.get("", DRAWN))
            drawn[name] = text or _drawn(target, name, parameter, seed, shape)
            given = _binding(name, drawn[name])
        values.append(_value(given, parameter, seed, name in whole))
    return Arguments(tuple(values), drawn)


def detach_unwanted(
    arguments: Arguments, target: FileTarget, wanted: Sequence[str]
) -> Arguments:
    """Return the arguments, changed so that only ``wanted`` tensors require a
    gradient."""
    given = dict(zip(target.parameters, arguments.values, strict=False))
    real = [name for name, x in given.items() if _is_real(x)]
    for name in wanted:
        if name not in real:
            raise ProgramError(
                "E505", f"--wrt: {target.title} has no tensor '{name}' to "
                "differentiate by",
                hint=did_you_mean(name, real) or f"it has {', '.join(real)}",
            )  # fmt: skip
    values = [
        x.detach() if isinstance(x, Tensor) and name not in wanted else x
        for name, x in given.items()
    ]
    return replace(arguments, values=tuple(values))


def _is_real(x: object) -> bool:
    return isinstance(x, Tensor) and x.raw.dtype.kind == "f"


def taken_as_constants(target: FileTarget, arguments: Arguments) -> list[str]:
    """Return the names of the tensors for which a custom function's backward returns
    None; none if it does so for all."""
    if not is_custom(target.value):
        return []
    with suppress(Exception), enable_grad():
        call = FunctionCall(target.value, arguments.values, target.title)
        run = FunctionRun(call)
        found = pull(run.outputs, run.wanted, [ones_for(y) for y in run.outputs])
        pairs = zip(call.varied, found, strict=True)
        names = [slot.name for slot, g in pairs if g is None]
        return names if len(names) < len(found) else []
    return []


def _value(
    binding: Binding, parameter: Parameter, seed: int, whole: bool
) -> Tensor | float:
    array = np.asarray(value_of(binding, Factory(NUMPY, "float64", seed)))
    if whole:
        return tensor(array, dtype=int64)
    text = binding.text.strip()
    said = parameter.annotation
    shown = said if isinstance(said, str) else repr(said)
    plain = not text.startswith("@") or said in (float, int, "float", "int")
    if not array.ndim and plain and "Tensor" not in shown and "(" not in text:
        return int(text) if text.lstrip("+-").isdigit() else float(array)
    return Tensor(np.array(array), NUMPY, True)


def _has_default(parameter: Parameter, drawn: bool) -> bool:
    return parameter.default is not Parameter.empty and not drawn


def text_of_draw(shape: tuple[int, ...]) -> str:
    """Return the text of a value that is drawn with a shape: ``randn(2,3)``."""
    return f"randn({','.join(map(str, shape))})" if shape else "randn(())"


def draw_tensor(name: str, text: str, seed: int, requires_grad: bool) -> Tensor:
    """Return the tensor that is drawn for a parameter."""
    array = value_of(_binding(name, text), Factory(NUMPY, "float64", seed))
    return Tensor(np.array(array), NUMPY, requires_grad)


def _drawn(
    target: FileTarget,
    name: str,
    parameter: Parameter,
    seed: int,
    shape: tuple[int, ...],
) -> str:
    """Return the text of the value that is drawn for an argument without a value."""
    said = parameter.annotation
    kind = said if isinstance(said, str) else getattr(said, "__name__", "")
    if kind == "float":
        return f"{np.random.default_rng(seed).uniform(*NUMBERS):.3f}"
    if kind in ("int", "bool", "str"):
        raise ProgramError(
            "E302", f"{target.title} has no value for '{name}', which is annotated as "
            f"{kind}, and only tensors and floats are drawn",
            hint=f"give it one: {name}=2" if kind != "str" else
            "give it a default in the file",
        )  # fmt: skip
    return text_of_draw(shape)


def _annotated(parameter: Parameter, seed: int) -> str | None:
    """Return the value that an annotation such as ``x: "randn(3, 4)"`` gives, or a
    shape or value in ``Annotated[Tensor, ...]``; None if it gives none."""
    said = parameter.annotation
    if get_origin(said) is Annotated:
        said = get_args(said)[1]
    if isinstance(said, tuple) and all(isinstance(n, int) for n in said):
        return f"randn({', '.join(map(str, said))})" if said else "randn(())"
    if not isinstance(said, str) or "(" not in said:
        return None
    try:
        value_of(_binding(parameter.name, said), Factory(NUMPY, "float64", seed))
    except ProgramError:
        # The annotation is the name of a type.
        return None
    return said


def _binding(name: str, text: str) -> Binding:
    (made,) = read_bindings([f"{name}={text}"])
    return made


HOMES: Final[dict[type[Any], str]] = {
    Tensor: "torch.Tensor",
    ParameterTensor: "torch.nn.parameter.Parameter",
    Module: "torch.nn.modules.module.Module",
    Size: "torch.Size",
    device: "torch.device",
    dtype: "torch.dtype",
    Generator: "torch.Generator",
    LinAlgError: "torch._C._LinAlgError",
}
"""PyTorch's names of classes, with the modules that they are in."""

CALLED: Final = ("__module__", "__name__", "__qualname__")


def _pytorchs_names() -> dict[type[Any], Sequence[str]]:
    """Return PyTorch's names of types, and of errors those of builtin ones."""
    builtin = IndexError, ValueError, TypeError, NotImplementedError
    said: dict[type[Any], Sequence[str]] = {}
    errors: list[type[Any]] = [CallError, *_below(EngineError)]
    for error in errors:
        base = next((e for e in builtin if issubclass(error, e)), RuntimeError)
        said[error] = [getattr(base, each) for each in CALLED]
    for kind, home in HOMES.items():
        module, _, name = home.rpartition(".")
        said[kind] = [module, name, name]
    return said


def _call(said: Mapping[type[Any], Sequence[str]]) -> None:
    for kind, names in said.items():
        for attribute, name in zip(CALLED, names, strict=True):
            setattr(kind, attribute, name)


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)
