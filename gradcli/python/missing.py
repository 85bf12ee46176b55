"""Names that a script asks of PyTorch and gradcli lacks, found before it runs.

The script and the files beside it that it imports are parsed, not executed: imports of
``torch``, names in it, and methods of values that the text shows to be tensors. Where
an object's type is unknown and no gradcli tensor has the method that is called on it,
this is reported as possible.

Invariant: nothing is guessed. A name is a tensor if everything that the file binds it
to is one: the result of a PyTorch function or a tensor's method, an arithmetic of
tensors and numbers, an entry of a tensor.

    for each in looked_through(path).missing: print(each)
    Script(ast.parse("import torch; torch.ones(2).foo()")).of_tensors()  # {(1, "foo")}
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

from ..engine.dtypes import NO_META
from ..lang.errors import ProgramError
from ..records import Values
from .torch_names import (
    BESIDE,
    PLACES,
    PYTORCH,
    SWITCHED,
    Placeholder,
    beside,
    counterpart,
    is_pytorchs,
    missing,
    placeholder,
    refusal,
)

META = "meta"
"""Name of PyTorch's device for tensors that have a shape and no values."""

CALLED = "()"
"""Ending of a name that is called, not only read."""

MAX_FILES = 1_000
"""Largest number of files that are read for one script."""


class Missing(Values):
    """A name that gradcli lacks, with the file and the line where it is first used."""

    file: Path
    line: int
    name: str
    text: str


class Look(Values):
    """The names that a script and its own files use and gradcli lacks.

    files     the files that were read, the script first
    missing   the names that gradcli lacks
    possible  the names that it lacks if the objects they are used on are tensors
    """

    files: tuple[Path, ...]
    missing: tuple[Missing, ...]
    possible: tuple[Missing, ...]


def looked_through(path: Path) -> Look:
    """Return what gradcli lacks for a script and its own imported files."""
    home = path.resolve().parent
    found: dict[Path, Script] = {}
    waiting = [path]
    while waiting and len(found) < MAX_FILES:
        file = waiting.pop(0)
        if file not in found:
            tree = _parsed(file)
            found[file] = Script(tree)
            waiting += _own_files(tree, file, path, home)
    lacking, possible = [], []
    for file, script in found.items():
        lacking += _missing_in(script, file)
        possible += _possible_in(script, file)
    return Look(tuple(found), tuple(lacking), tuple(possible))


def _own_files(tree: ast.AST, file: Path, script: Path, home: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _along(home, alias.name.split("."), script)
        elif isinstance(node, ast.ImportFrom):
            base = home
            if node.level:
                base = file.resolve().parents[node.level - 1]
            parts = node.module.split(".") if node.module else []
            yield from _along(base, parts, script)
            for alias in node.names:
                yield from list(_along(base, [*parts, alias.name], script))[-1:]


def _along(base: Path, parts: list[str], script: Path) -> Iterator[Path]:
    """Yield the files of a module and of the packages that contain it."""
    for count in range(1, len(parts) + 1):
        place = base.joinpath(*parts[:count])
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file() and file != script.resolve():
                yield file
                break


def _parsed(path: Path) -> ast.AST:
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path.name}:{line}" if line else path.name
        said = getattr(error, "msg", str(error))
        raise ProgramError("E513", f"{where}: {said}") from error


def _missing_in(script: Script, path: Path) -> list[Missing]:
    """Return the PyTorch names that a file uses and gradcli lacks, by line."""
    found: dict[str, Missing] = {}
    methods = {(line, _of_tensor(name)) for line, name in script.of_tensors()}
    for line, name in sorted({*script.asked(), *methods}):
        text = None if name in found else lack_of(name)
        if text is not None:
            found[name] = Missing(path, line, name, text)
    asked = [
        each
        for each in found.values()
        # A module that is missing as a whole stands for the names in it.
        if found.keys().isdisjoint(list(_beginnings(each.name))[:-1])
    ]
    for first in sorted(script.without_values())[:1]:
        text = f"gradcli has no device {META!r}{NO_META}"
        asked.append(Missing(path, first, META, text))
    return sorted(asked, key=lambda each: each.line)


def _possible_in(script: Script, path: Path) -> list[Missing]:
    """Return methods called on possible tensors that no tensor of gradcli has."""
    nodes = script.nodes
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    known = script.of_tensors()
    found: dict[str, Missing] = {}
    for node in nodes:
        asked = node.func if isinstance(node, ast.Call) else None
        if not isinstance(asked, ast.Attribute) or asked.attr in own:
            continue
        dotted, line = _dotted(asked), asked.end_lineno or asked.lineno
        of_module = dotted is not None and dotted[0] in script.modules
        why = refusal(_of_tensor(asked.attr))
        if why and not of_module and (line, asked.attr) not in known:
            text, name = f"if that is a tensor: {why}", _of_tensor(asked.attr)
            found.setdefault(asked.attr, Missing(path, line, name, text))
    return sorted(found.values(), key=lambda each: each.line)


def _of_tensor(attribute: str) -> str:
    return f"{PYTORCH}.Tensor.{attribute}"


WRITES = ("exec", "globals", "setattr", "hasattr")
"""Functions that bind or look for names in ways that the text does not show."""


class Script:
    """A parsed file: what it imports, binds and asks for.

    modules  the full names of what imports bind, by the names there
    theirs   those of PyTorch and of what is built on it
    values   the expressions that each name is assigned, if that is all it is bound to
    """

    def __init__(self, tree: ast.AST) -> None:
        self.nodes = list(ast.walk(tree))
        self.modules: dict[str, str] = {}
        self.values: dict[str, list[ast.expr]] = {}
        bound = Counter[str]()
        for node in self.nodes:
            match node:
                case ast.Import() | ast.ImportFrom():
                    for name, full in _imported(node).items():
                        bound[name] += self.modules.get(name) != full
                        self.modules[name] = full
                case ast.Assign():
                    for target in node.targets:
                        self._assign(target, node.value)
                case ast.AugAssign(ast.Name(name), op, value):
                    self._assign(
                        node.target, ast.BinOp(ast.Name(name, ast.Load()), op, value)
                    )
                case ast.Name(name, ast.Store() | ast.Del()):
                    bound[name] += 1
                case ast.alias() | ast.keyword():
                    pass
                case _:
                    fields = (getattr(node, f, None) for f in ("name", "arg", "rest"))
                    bound.update(name for name in fields if isinstance(name, str))
        self.once = {name for name, count in bound.items() if count == 1}
        for name in [n for n, known in self.values.items() if len(known) < bound[n]]:
            del self.values[name]
        self.theirs = {n: full for n, full in self.modules.items() if _is_theirs(full)}

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.values.setdefault(target.id, []).append(value)

    def asked(self) -> Iterator[tuple[int, str]]:
        """Yield the PyTorch names that the file uses, in full, with their lines.

        Importing a placeholder module is not reported; using a name from it is.
        """
        known = self.theirs
        for node in self.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names if alias.name != "*"]
                if isinstance(node, ast.ImportFrom):
                    home = f"{node.module}"
                    inside = [home, *(f"{home}.{name}" for name in names)]
                    names = [] if node.level else inside
                for name in filter(_is_theirs, names):
                    if placeholder(name) is None:
                        yield node.lineno, name
            elif isinstance(node, ast.Attribute):
                asked = _meant(node, known)
                if asked is not None:
                    yield node.lineno, asked
            elif isinstance(node, ast.Name) and placeholder(known.get(node.id, "")):
                yield node.lineno, known[node.id]
            elif isinstance(node, ast.Call) and not _is_switched_off(node):
                asked = _meant(node.func, known)
                if asked in SWITCHED:
                    yield node.lineno, f"{asked}{CALLED}"

    def without_values(self) -> Iterator[int]:
        """Yield the lines that use the device ``meta``."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                named = [k.value for k in node.keywords if k.arg == "device"]
                function = getattr(node.func, "attr", getattr(node.func, "id", None))
                first = node.args[:1] if function in ("device", "to") else []
                for value in (*named, *first):
                    if isinstance(value, ast.Constant) and value.value == META:
                        yield node.lineno

    def of_tensors(self) -> set[tuple[int, str]]:
        """Return the lines and names of attributes that are read of values known to be
        tensors, except names that the file sets."""
        read, given = [], set()
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id in WRITES:
                return set()
            if isinstance(node, ast.ImportFrom) and not is_pytorchs(f"{node.module}"):
                if any(alias.name == "*" for alias in node.names):
                    return set()
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.append(node)
            elif isinstance(node, ast.Attribute):
                given.add(node.attr)
        try:
            names = self._tensors()
            return {
                (node.end_lineno or node.lineno, node.attr)
                for node in read
                if node.attr not in given and self._is_tensor(node.value, names)
            }
        except RecursionError:
            return set()  # nested too deeply to be parsed recursively

    def _tensors(self) -> set[str]:
        """Return the names that are assigned nothing but tensors."""
        names = set(self.values)
        while True:
            wrong = {
                name
                for name in names
                if not all(self._is_tensor(v, names) for v in self.values[name])
            }
            if not wrong:
                return names
            names -= wrong

    def _is_tensor(self, node: object, names: set[str]) -> bool:
        """Tell whether an expression is a tensor if all ``names`` are tensors."""
        match node:
            case ast.Name(name):
                return name in names
            case ast.Call(func=ast.Attribute() as called) | (ast.Attribute() as called):
                dotted = self._full(called)
                if dotted is not None:
                    return isinstance(node, ast.Call) and _returns_tensor(dotted)
                inner = self._is_tensor(called.value, names)
                return inner and _returns_tensor(_of_tensor(called.attr))
            case ast.Call(func=ast.Name() as called):
                dotted = self._full(called)
                return dotted is not None and _returns_tensor(dotted)
            case ast.BinOp(left, _, right) | ast.Compare(left, [_], [right]):
                sides = [self._is_tensor(each, names) for each in (left, right)]
                plain = self._is_number(left) or self._is_number(right)
                return all(sides) or (any(sides) and plain)
            case ast.UnaryOp(ast.USub(), inner) | ast.Subscript(inner):
                return self._is_tensor(inner, names)
        return False

    def _is_number(self, node: object) -> bool:
        if isinstance(node, ast.Name):
            values = self.values.get(node.id, [None])
            return not any(isinstance(v, ast.Name) for v in values) and all(
                map(self._is_number, values)
            )
        return isinstance(node, ast.Constant) and type(node.value) in (int, float)

    def _full(self, node: ast.expr) -> str | None:
        """Return the full PyTorch name of an expression whose first name the file binds
        once; None if it is no such name."""
        parts = _dotted(node)
        known = parts is not None and parts[0] in self.once
        return _meant(node, self.theirs) if known else None


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Return the full names of what a statement imports, by the names that it binds."""
    found = {}
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            full = f"{'.' * node.level}{node.module}.{alias.name}"
            found[alias.asname or alias.name] = full
        else:
            first = alias.name.partition(".")[0]
            found[alias.asname or first] = alias.name if alias.asname else first
    return found


def _is_switched_off(node: ast.Call) -> bool:
    """Tell whether a call turns mixed precision off: it passes False or ``enabled``."""
    off = any(isinstance(a, ast.Constant) and a.value is False for a in node.args)
    return off or any(keyword.arg in ("enabled", None) for keyword in node.keywords)


def _meant(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """Return the full PyTorch name that ``a.b.c`` means; None if it means none."""
    dotted = _dotted(node)
    if dotted is None or dotted[0] not in known:
        return None
    return ".".join([known[dotted[0]], *dotted[1:]])


def _is_theirs(module: str) -> bool:
    return is_pytorchs(module) or module.partition(".")[0] in BESIDE


def _dotted(node: ast.expr) -> list[str] | None:
    """Return the parts of ``a.b.c``; None if the expression is no such chain."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


def lack_of(name: str) -> str | None:
    """Return the sentence about a name that gradcli lacks; None if gradcli has it."""
    first = name.partition(".")[0]
    if first in BESIDE:
        return beside(first)
    if name.endswith(CALLED):
        return refusal(name.removesuffix(CALLED))
    owner: Any = ModuleType
    for whole, value in _along_name(name):
        if value is None and isinstance(owner, ModuleType | type):
            return missing(whole, dir(owner) if whole != first else None)
        if isinstance(value, Placeholder) and whole not in PLACES:
            return missing(whole)
        if not isinstance(value, ModuleType | type):
            return None
        owner = value
    return None


def _beginnings(dotted: str) -> Iterator[str]:
    return accumulate(dotted.split("."), "{}.{}".format)


def _along_name(dotted: str) -> Iterator[tuple[str, Any]]:
    """Yield the beginnings of a PyTorch name, each with gradcli's object or None."""
    value: Any = None
    for whole in _beginnings(dotted):
        below = getattr(value, whole.rpartition(".")[2], None)
        if below is None and (value is None or isinstance(value, ModuleType)):
            below = counterpart(whole)
        value = below
        yield whole, value
        if value is None:
            return


OF_TENSORS = (f"{PYTORCH}.Tensor", f"{PYTORCH}.nn.Parameter")
"""Names of PyTorch's classes whose objects are tensors."""


@cache
def _returns_tensor(dotted: str) -> bool:
    """Tell whether a function, method, attribute or class of PyTorch always gives a
    tensor: its annotation or its stub says so."""
    if dotted in OF_TENSORS:
        return True
    home, _, name = dotted.rpartition(".")
    *_, (_, value) = _along_name(dotted)
    *_, (_, owner) = _along_name(home)
    if value is None or isinstance(value, type | ModuleType):
        return False
    with suppress(TypeError, ValueError):
        said = inspect.signature(getattr(value, "fget", value)).return_annotation
        if said in ("Tensor", "Tensor | None"):
            return True
    methods = isinstance(owner, type)
    stubs = [sys.modules["gradcli.engine.methods"] if methods else owner]
    stubs += [sys.modules.get(getattr(value, "__module__", None) or "")]
    return any(name in _tensors_of(getattr(m, "__file__", None) or "") for m in stubs)


@cache
def _tensors_of(file: str) -> set[str]:
    """Return the functions whose every overload gives a tensor, as a stub says."""
    path = Path(file).with_suffix(".pyi") if file else None
    if path is None or not path.is_file():
        return set()
    said: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef):
            result = "" if node.returns is None else ast.unparse(node.returns)
            said.setdefault(node.name, set()).add(result)
    return {name for name, results in said.items() if results == {"Tensor"}}
