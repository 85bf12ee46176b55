"""Writes the type stubs of the face: what is put in place while a program runs.

Invariant: names, parameters and results are read from the table, from the modules'
own signatures and from the tables below; a stub is never edited by hand.

    python tests/engine/stubs.py             # write them anew
    python tests/engine/stubs.py --check     # exit 1 if one is not what it should be
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import gradcli
from gradcli.engine import members, public, signatures
from gradcli.engine.public import IN_PLACE
from gradcli.engine.returns import FIELDS
from gradcli.engine.tensor import Tensor
from gradcli.ops import ALIASES, FUNCTIONS

try:
    from . import declared
except ImportError:  # run as a script
    import declared  # type: ignore[no-redef]

PACKAGE = Path(gradcli.__file__).parent
HEAD = '"""Written by tests/engine/stubs.py from the table of operations."""\n\n'
IMPORTS = """\
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, overload

"""
OPERAND = "Operand"
TYPES = {
    "dim": "Dims", "keepdim": "builtins.bool", "dtype": "Any", "size": "Any",
    "shape": "Any", "reduction": "builtins.str", "equation": "builtins.str",
}  # fmt: skip
"""What parameters of a name take; of any other name, anything."""

SEVERAL = frozenset({
    "split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit",
    "split_with_sizes", "meshgrid", "broadcast_tensors", "var_mean", "std_mean",
})  # fmt: skip
"""Functions that return a tuple of tensors without names."""

CHOOSING = frozenset({"max", "min", "median", "nanmedian"})
"""Functions that name their results if they are told a dimension."""

ATTRIBUTES = ("T", "mT", "H", "mH", "real", "imag")
ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
BITS = ("and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("lt", "le", "gt", "ge")
NAMED = {
    ("values", "indices"): "Chosen",
    ("min", "max"): "Extremes",
    ("sign", "logabsdet"): "SignAndLogabsdet",
}
FROM_METHODS = f"from .engine.methods import Dims, Operand, {', '.join(NAMED.values())}"


def named_classes() -> Iterator[str]:
    for fields, name in NAMED.items():
        yield f"class {name}(NamedTuple):"
        yield from (f"    {field}: Tensor" for field in fields)
        yield ""


def entry_of(name: str) -> Any:
    return FUNCTIONS[ALIASES.get(name, name)]


def result_of(name: str) -> str:
    name = ALIASES.get(name, name)
    if name in SEVERAL:
        return "tuple[Tensor, ...]"
    fields = FIELDS.get(name)
    return "Tensor" if fields is None or name in CHOOSING else NAMED[fields]


def listed(name: str, method: bool) -> list[str]:
    """The parameters of a function of the table, as a stub writes them."""
    shown: list[str] = []
    keyword_only = False
    for parameter in signatures.listed(entry_of(name)):
        if parameter.kind is parameter.VAR_POSITIONAL:
            shown.append(f"*{parameter.name}: Any")
            keyword_only = True
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
            keyword_only = True
        kind = OPERAND if parameter.name == "other" else TYPES.get(parameter.name)
        default = "" if parameter.default is parameter.empty else " = ..."
        shown.append(f"{parameter.name}: {kind or 'Any'}{default}")
    if method:
        return ["self", *shown[1:]]
    return shown


def function_stub(name: str, entry: str, indent: str = "", method: bool = False) -> str:
    """``def name(...) -> Tensor: ...`` for a function of the table."""
    shown = listed(entry, method)
    if FUNCTIONS[ALIASES.get(entry, entry)].casts:
        shown += [] if any(s.startswith("*") for s in shown) else ["*"]
        shown.append("dtype: Any = ...")
    table_name = ALIASES.get(entry, entry)
    if table_name in CHOOSING:
        return choosing_stub(name, table_name, indent, method)
    return f"{indent}def {name}({', '.join(shown)}) -> {result_of(entry)}: ..."


def choosing_stub(name: str, entry: str, indent: str, method: bool) -> str:
    first = "self" if method else "input: Tensor"
    kinds = [
        (first, "Tensor"),
        (f"{first}, dim: builtins.int, keepdim: builtins.bool = ...", "Chosen"),
    ]
    if entry in ("max", "min"):
        kinds.append((f"{first}, other: Tensor", "Tensor"))
    lines = []
    for shown, result in kinds:
        lines += [f"{indent}@overload", f"{indent}def {name}({shown}) -> {result}: ..."]
    return "\n".join(lines)


def own_stub(name: str, function: Callable[..., Any], indent: str) -> str:
    """A method that a module defines, with that definition's parameters."""
    signature = inspect.signature(function)
    shown = []
    for place, parameter in enumerate(signature.parameters.values()):
        bare = parameter.replace(annotation=parameter.empty)
        text = "self" if place == 0 else str(bare).partition("=")[0]
        starred = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        default = parameter.default is not parameter.empty
        if place:
            text += ": Any" + (" = ..." if default and not starred else "")
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(shown):
            shown.append("*")
        shown.append(text)
    written = str(signature.return_annotation).removeprefix("builtins.")
    known = {
        "bool": "builtins.bool",
        "int": "builtins.int",
        "None": "None",
        "str": "builtins.str",
    }
    result = known.get(written, written if "Tensor" in written else "Any")
    return f"{indent}def {name}({', '.join(shown)}) -> {result}: ..."


def method_stubs() -> Iterator[str]:
    taken = vars(Tensor)
    elsewhere = {
        name: (module, function)
        for name, module, function in members.defined(members.ELSEWHERE)
        if name not in taken
    }
    for name in sorted(public.names()):
        if name in taken or name in elsewhere:
            continue
        yield function_stub(name, name, "    ", method=True)
        if name in IN_PLACE:
            shown = ", ".join(listed(name, True))
            yield f"    def {name}_({shown}) -> Tensor: ..."
    for name, (module, function) in sorted(elsewhere.items()):
        home = import_module(f"gradcli.engine.{module}")
        yield own_stub(name, getattr(home, function), "    ")


def operator_stubs() -> Iterator[str]:
    for name in (*ARITHMETIC, *BITS):
        yield f"    def __{name}__(self, other: Any) -> Tensor: ..."
        yield f"    def __r{name}__(self, other: Any) -> Tensor: ..."
    for name in COMPARISONS:
        yield f"    def __{name}__(self, other: Any) -> Tensor: ..."
    for name in ("eq", "ne"):
        yield (f"    def __{name}__(self, other: object) -> Tensor: ..."
               "  # type: ignore[override]")  # fmt: skip
    for name in ("neg", "pos", "abs", "invert"):
        yield f"    def __{name}__(self) -> Tensor: ..."
    yield "    def __hash__(self) -> builtins.int: ..."
    yield "    def __getitem__(self, index: Any) -> Tensor: ..."
    yield "    def __iter__(self) -> Iterator[Tensor]: ..."
    for name in ATTRIBUTES:
        yield f"    @property\n    def {name}(self) -> Tensor: ..."


def methods() -> str:
    """``gradcli/engine/methods.pyi``."""
    lines = [
        "from .tensor import Tensor", "", f"{OPERAND}: TypeAlias = Tensor | Any",
        "Dims: TypeAlias = builtins.int | Sequence[builtins.int] | None", "",
        *named_classes(),
        "class Methods:", *operator_stubs(), *method_stubs(), "",
        "class NodeMethods:",
        "    @property",
        "    def metadata(self) -> dict[builtins.str, Any]: ...",
        "    def register_hook(self, hook: Callable[..., Any]) -> Any: ...",
        "    def register_prehook(self, hook: Callable[..., Any]) -> Any: ...",
        "    def __getattr__(self, name: builtins.str) -> Any: ...", "",
        "class Late:",
        "    def __init__(self, home: type, name: Any, find: Callable[[], Any]) "
        "-> None: ...",
    ]  # fmt: skip
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def face() -> str:
    """``gradcli/__init__.pyi``."""
    lines = ["from . import (", *(f"    {m} as {m}," for m in gradcli._MODULES), ")"]
    own: dict[str, list[str]] = {}
    for name, home in gradcli._HOME.items():
        own.setdefault(home, []).append(name)
    for home, names in own.items():
        lines += [f"from .{home} import (", *(f"    {n} as {n}," for n in names), ")"]
    lines.append(FROM_METHODS)
    lines += ["", "__version__: builtins.str", ""]
    lines += [f"{name}: dtype" for name in (*gradcli._SPELLINGS, "bool")]
    lines += [
        f"{name}: {'None' if value is None else f'builtins.{type(value).__name__}'}"
        for name, value in gradcli._CONSTANTS.items()
    ]
    lines.append("")
    shown = sorted({*public.names()} - {*gradcli._HOME})
    lines += [function_stub(name, name) for name in shown]
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def members_stub(known: dict[str, str]) -> str:
    """``gradcli/linalg.pyi`` and ``gradcli/special.pyi``."""
    lines = [FROM_METHODS, "from .engine.tensor import Tensor", ""]
    lines += [function_stub(name, entry) for name, entry in sorted(known.items())]
    return HEAD + IMPORTS + "\n".join(lines) + "\n"


def stubs() -> dict[Path, str]:
    """What every stub has to hold."""
    return {
        PACKAGE / "engine" / "methods.pyi": methods(),
        PACKAGE / "__init__.pyi": face(),
        PACKAGE / "linalg.pyi": members_stub(public.linalg()),
        PACKAGE / "special.pyi": members_stub(public.special()),
        **{PACKAGE / path: text for path, text in declared.stubs().items()},
    }


def main() -> int:
    if "--check" in sys.argv:
        wrong = [p for p, text in stubs().items() if p.read_text() != text]
        print("\n".join(map(str, wrong)) or "the stubs are as they should be")
        return 1 if wrong else 0
    for path, text in stubs().items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
