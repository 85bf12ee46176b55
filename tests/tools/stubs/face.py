"""Stubs of the functions and methods that are made from the operation table.

Invariant: names, parameters and numbers of results are read from the table; a method
that a module of the engine defines has the parameters of that definition.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import Parameter
from types import ModuleType

from gradcli.engine.call import classes
from gradcli.engine.operators import TRANSPOSES
from gradcli.engine.record import function
from gradcli.engine.tensor import Tensor
from gradcli.ops import (
    ALIASES,
    FUNCTIONS,
    OPS,
    Composite,
    Fixed,
    Op,
    overloads,
    plain_types,
)
from gradcli.ops import parameters as names_of
from gradcli.ops.basis import COMPARISONS
from gradcli.ops.families import NAMES
from gradcli.torch import public, tensor_methods
from gradcli.torch.creation import arange, eye, ones
from gradcli.torch.signatures import SELF, keyword, listed

from . import parameters, stub

FACE: ModuleType = import_module("gradcli")
"""The package, imported so that the type checker does not read its stub."""

IMPORTS = """\
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, overload

"""
TYPES = {
    "other": "Operand", "dim": "Dims", "keepdim": "builtins.bool",
    "reduction": "builtins.str", "equation": "builtins.str",
}  # fmt: skip
"""Types of parameters, by name; a parameter of any other name takes anything."""

NAMED = {
    fields: "And".join(name.capitalize() for name in fields)
    for fields in sorted({kind.fields for kind in classes().values()})
}
"""Names of the classes of several results, by the names of their fields."""

OF_TWO = ("max", "min")
"""Functions of one tensor that can be called with two tensors as well."""

FROM_METHODS = f"from .engine.methods import Dims, Operand, {', '.join(NAMED.values())}"


def types_of(name: str) -> Callable[[Parameter], str]:
    """Return a function that returns the type of a parameter of the function ``name``:
    from `TYPES`, or else from its default and from the values in the rows' cases."""
    entry = FUNCTIONS[name]
    plain = plain_types(entry)
    floats = {
        parameter
        for row in (entry, *overloads(name))
        for parameter, kind in plain_types(row).items()
        if kind is float
    }

    def type_of(parameter: Parameter) -> str:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            return "Any"
        default = parameter.default
        kind = float if isinstance(default, float) else type(default)
        number = kind is int and parameter.name in floats
        known = kind in (bool, str, float) and plain.get(parameter.name) is kind
        found = "float" if number else kind.__name__ if known else ""
        return TYPES.get(parameter.name, f"builtins.{found}" if found else "Any")

    return type_of


def as_method(shown: list[Parameter]) -> list[Parameter]:
    """Return a function's parameters with the first operand replaced by ``self``."""
    several = shown[0].kind is Parameter.VAR_POSITIONAL
    return [SELF, *(shown if several else shown[1:])]


def named_classes() -> Iterator[str]:
    """Yield the lines that define the classes of several results."""
    for fields, name in NAMED.items():
        yield f"class {name}(NamedTuple):"
        yield from (f"    {field}: Tensor" for field in fields)
        yield ""


def counts(name: str) -> set[int]:
    """Return the counts of tensors that a function can return; 0 means any count."""
    entry = FUNCTIONS[name]
    if not isinstance(entry, Composite) or not entry.cases:
        return {row.returns for row in overloads(name)} or {1}
    case = entry.cases[0]
    inputs = [
        x.value if isinstance(x, Fixed) else None if x is None else _operand(x)
        for x in case.inputs
    ]
    handed = [inputs] if names_of(entry)[:1] == ("tensors",) else inputs
    return {0 if isinstance(function(name)(*handed, **case.params), tuple) else 1}


def _operand(shape: tuple[int, ...]) -> Tensor:
    """Return a tensor that a function can be tried on: a square matrix is positive
    definite, a tensor of higher rank has entries that differ, so that it may have an
    inverse, and any other is of ones."""
    if len(shape) > 1 and shape[-1] == shape[-2]:
        return ones(shape) + eye(shape[-1])
    if len(shape) < 3:
        return ones(shape)
    return 1 / arange(1, math.prod(shape) + 1).reshape(shape)


def result_of(name: str) -> str:
    """Return the type of the result of a function with a fixed number of results."""
    if counts(name) == {1}:
        return "Tensor"
    kind = classes().get(name.replace(".", "_"))
    return "tuple[Tensor, ...]" if kind is None else NAMED[kind.fields]


def function_stub(name: str, entry: str, indent: str = "", method: bool = False) -> str:
    """Write ``def name(...) -> Tensor: ...`` for a function of the table."""
    entry = ALIASES.get(entry, entry)
    shown = listed(FUNCTIONS[entry])
    if method:
        shown = as_method(shown)
    if FUNCTIONS[entry].casts:
        shown.append(keyword("dtype"))
    if counts(entry) != {1, 2}:
        return (
            f"{indent}def {name}{parameters(shown, types_of(entry))} -> "
            f"{result_of(entry)}: ..."
        )
    first = "self" if method else "input: Tensor"
    kinds = [
        (first, "Tensor"),
        (
            f"{first}, dim: builtins.int, keepdim: builtins.bool = ...",
            NAMED[classes()[entry].fields],
        ),
    ]
    if entry in OF_TWO:
        kinds.append((f"{first}, other: Tensor", "Tensor"))
    return "\n".join(
        f"{indent}@overload\n{indent}def {name}({taken}) -> {result}: ..."
        for taken, result in kinds
    )


KNOWN = {
    "bool": "builtins.bool", "int": "builtins.int", "str": "builtins.str",
    "None": "None",
}  # fmt: skip
"""Spellings in a stub, by return annotations of methods that the engine defines."""


def own_stub(name: str, defined: Callable[..., object]) -> str:
    """Return the stub of a method that a module of the engine defines."""
    signature = inspect.signature(defined)
    shown = [SELF, *list(signature.parameters.values())[1:]]
    written = str(signature.return_annotation).removeprefix("builtins.")
    result = KNOWN.get(written, written if "Tensor" in written else "Any")
    return f"    def {name}{parameters(shown, lambda each: 'Any')} -> {result}: ..."


def method_stubs() -> Iterator[str]:
    """Yield the stubs of tensor methods that are looked up when they are first used."""
    taken = vars(Tensor)
    elsewhere = {
        name: (module, defined)
        for name, module, defined in tensor_methods.defined(tensor_methods.ELSEWHERE)
        if name not in taken
    }
    for name in sorted(public.names()):
        if name in taken or name in elsewhere:
            continue
        yield function_stub(name, name, "    ", method=True)
        if public.has_in_place(name) and f"{name}_" not in elsewhere:
            entry = ALIASES.get(name, name)
            taken_by = parameters(as_method(listed(FUNCTIONS[entry])), types_of(entry))
            yield f"    def {name}_{taken_by} -> Tensor: ..."
    for name, (module, defined) in sorted(elsewhere.items()):
        home = import_module(f"gradcli.torch.{module}")
        yield own_stub(name, getattr(home, defined))


OVERRIDES = "  # type: ignore[override]"


def operator_stubs() -> Iterator[str]:
    """Yield the stubs of Python's operators on tensors."""
    own = vars(Tensor)
    for name in own:
        reflected = f"__r{name[2:]}"
        if name.startswith("__") and reflected in own:
            yield f"    def {name}(self, other: Any) -> Tensor: ..."
            yield f"    def {reflected}(self, other: Any) -> Tensor: ..."
    for name in COMPARISONS:
        of_any = name in ("eq", "ne")  # these take any object
        takes, excuse = ("object", OVERRIDES) if of_any else ("Any", "")
        yield f"    def __{name}__(self, other: {takes}) -> Tensor: ...{excuse}"
    for name in ("neg", "pos", "abs", "invert"):
        yield f"    def __{name}__(self) -> Tensor: ..."
    yield "    def __hash__(self) -> builtins.int: ..."
    yield "    def __getitem__(self, index: Any) -> Tensor: ..."
    yield "    def __iter__(self) -> Iterator[Tensor]: ..."
    for name in (*TRANSPOSES, "real", "imag"):
        yield f"    @property\n    def {name}(self) -> Tensor: ..."


def methods() -> str:
    """Return the text of ``gradcli/engine/methods.pyi``."""
    return stub(IMPORTS, [
        "from .tensor import Tensor", "", "Operand: TypeAlias = Tensor | Any",
        "Dims: TypeAlias = builtins.int | Sequence[builtins.int] | None", "",
        *named_classes(),
        "class Methods:", *operator_stubs(), *method_stubs(), "",
        "class NodeMethods:",
        "    @property",
        "    def metadata(self) -> dict[builtins.str, Any]: ...",
        "    def register_hook(self, hook: Callable[..., Any]) -> Any: ...",
        "    def register_prehook(self, hook: Callable[..., Any]) -> Any: ...",
        "    def __getattr__(self, name: builtins.str) -> Any: ...", "",
        "def named(run: Any, name: builtins.str, doc: builtins.str) -> Any: ...", "",
        "def late(home: type, name: Any, find: Callable[[], Any]) -> None: ...",
    ])  # fmt: skip


def face() -> str:
    """Return the text of ``gradcli/__init__.pyi``."""
    lines = ["from . import (", *(f"    {m} as {m}," for m in FACE._MODULES), ")"]
    own: dict[str, list[str]] = {}
    for name, home in FACE._HOME.items():
        own.setdefault(home, []).append(name)
    for home, names in own.items():
        lines += [f"from .{home} import (", *(f"    {n} as {n}," for n in names), ")"]
    lines.append(FROM_METHODS)
    lines += ["", "__version__: builtins.str", ""]
    lines += [f"{name}: dtype" for name in (*FACE._SPELLINGS, "bool")]
    lines += [
        f"{name}: {'None' if value is None else f'builtins.{type(value).__name__}'}"
        for name, value in FACE._CONSTANTS.items()
    ]
    lines.append("")
    shown = sorted({*public.names()} - {*FACE._HOME})
    lines += (function_stub(name, name) for name in shown)
    return stub(IMPORTS, lines)


def members_stub(known: dict[str, str]) -> str:
    """Return the stub of a module of functions, such as ``gradcli/linalg.pyi``."""
    lines = [FROM_METHODS, "from .engine.tensor import Tensor", ""]
    lines += [function_stub(name, entry) for name, entry in sorted(known.items())]
    return stub(IMPORTS, lines)


def in_order(family: str) -> Iterator[str]:
    """Yield a family's names: its functions, each with its other spellings, then its
    other rows; ``base.`` stands for all rows of a base that is no function."""
    for name, entry in FUNCTIONS.items():
        if entry.family == family:
            yield name
            yield from (alias for alias in entry.aliases if ALIASES[alias] == name)
    rows = [op for op in OPS.values() if op.family == family]
    further = [op for op in rows if op.name not in FUNCTIONS]
    others = [op for op in further if getattr(_base(op), "family", "") != family]
    yield from dict.fromkeys(op.name if _base(op) else f"{op.base}." for op in others)


def _base(op: Op) -> Op | Composite | None:
    """Return the function that a row belongs to, or None."""
    return FUNCTIONS.get(op.base)


def marked(name: str) -> str:
    """Return a name with its mark: ``_`` if the function has an in-place form, ``!`` if
    it is a function that users are not offered."""
    if "." not in name and not public.is_public(name):
        return f"{name}!"
    return f"{name}_" if public.is_public(name) and public.has_in_place(name) else name


def entered() -> str:
    """Return the text of ``ops/entered.txt``: the names that each family enters, in the
    order in which they are entered."""
    return "".join(
        f"{key}: {' '.join(map(marked, in_order(key.rpartition('.')[2])))}\n"
        for key in NAMES
    )


def stubs() -> dict[str, str]:
    """Return the text of every stub that this module makes, by its path in gradcli."""
    return {
        "engine/methods.pyi": methods(),
        "__init__.pyi": face(),
        "linalg.pyi": members_stub(public.linalg()),
        "special.pyi": members_stub(public.special()),
        "ops/entered.txt": entered(),
    }
