"""Names that a script asks of PyTorch and gradcli lacks, found before it runs.

The script and the files beside it that it imports are parsed, not executed: imports of
``torch``, names in it, and methods of values that the text shows to be tensors. Where
an object's type is unknown and no gradcli tensor has the method that is called on it,
this is reported as possible.

Invariant: nothing is guessed. A name is a tensor if everything that its scope binds it
to is one: the result of a PyTorch function or a tensor's method, an arithmetic of
tensors and numbers, an entry of a tensor. A parameter's type is unknown, because even
one annotated as a tensor may belong to a subclass.

    for each in looked_through(path).missing: print(each)
    attributes_of_tensors(ast.parse("import torch; torch.ones(2).foo()"))  # (1, "foo")
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

from ..engine.dtypes import NO_META
from ..lang.errors import ProgramError
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


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that gradcli lacks, with the file and the line where it is first used."""

    file: Path
    line: int
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Look:
    """The names that a script and its own files use and gradcli lacks.

    files     the files that were read, the script first
    missing   the names that gradcli lacks
    possible  the names that it lacks if the objects they are used on are tensors
    """

    files: tuple[Path, ...]
    missing: tuple[Missing, ...]
    possible: tuple[Missing, ...]


def looked_through(path: Path) -> Look:
    """Return the names that a script and its own imported files lack.

    Raises:
        ProgramError: a file is not valid Python.
    """
    home = path.resolve().parent
    found: dict[Path, ast.AST] = {}
    waiting = [path]
    while waiting and len(found) < MAX_FILES:
        file = waiting.pop(0)
        if file not in found:
            found[file] = tree = _parsed(file)
            waiting += _own_files(tree, file, path, home)
    missing, possible = [], []
    for file, tree in found.items():
        missing += _missing_in(tree, file)
        possible += _possible_in(tree, file)
    return Look(tuple(found), tuple(missing), tuple(possible))


def _own_files(tree: ast.AST, file: Path, script: Path, home: Path) -> Iterator[Path]:
    """Yield the files beside the script that a file of it imports."""
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


def _missing_in(tree: ast.AST, path: Path) -> list[Missing]:
    """Return the PyTorch names that a file uses and gradcli lacks, by line."""
    found: dict[str, Missing] = {}
    of_tensors = ((n, f"{PYTORCH}.Tensor.{a}") for n, a in attributes_of_tensors(tree))
    for line, name in sorted({*_asked(tree), *of_tensors}):
        if name not in found:
            text = lack_of(name)
            if text is not None:
                found[name] = Missing(path, line, name, text)
    names = {each.name for each in found.values()}
    asked = [m for m in found.values() if not _inside(m.name, names)]
    for first in sorted(_without_values(tree))[:1]:
        text = f"gradcli has no device {META!r}{NO_META}"
        asked.append(Missing(path, first, META, text))
    return sorted(asked, key=lambda each: each.line)


def _possible_in(tree: ast.AST, path: Path) -> list[Missing]:
    """Return methods called on possible tensors that no tensor of gradcli has."""
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    known = set(attributes_of_tensors(tree))
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found: dict[str, Missing] = {}
    for node in ast.walk(tree):
        asked = node.func if isinstance(node, ast.Call) else None
        if not isinstance(asked, ast.Attribute) or asked.attr in own:
            continue
        dotted = _dotted(asked)
        line = asked.end_lineno or asked.lineno
        if (dotted and dotted[0] in modules) or (line, asked.attr) in known:
            continue
        name = f"{PYTORCH}.Tensor.{asked.attr}"
        why = refusal(name)
        if why is not None and asked.attr not in found:
            text = f"if that is a tensor: {why}"
            found[asked.attr] = Missing(path, line, name, text)
    return sorted(found.values(), key=lambda each: each.line)


def _without_values(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that use the device ``meta``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = [k.value for k in node.keywords if k.arg == "device"]
            function = getattr(node.func, "attr", getattr(node.func, "id", None))
            first = node.args[:1] if function in ("device", "to") else []
            for value in (*named, *first):
                if isinstance(value, ast.Constant) and value.value == META:
                    yield node.lineno


def _inside(name: str, names: set[str]) -> bool:
    """Tell whether a module that is missing as a whole contains a missing name."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in names for n in range(1, len(parts)))


def _asked(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the PyTorch names that a script uses, in full, with their lines.

    Importing a placeholder module is not reported; using a name from it is.
    """
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        imported = [alias.name for alias in node.names if alias.name != "*"]
        if isinstance(node, ast.ImportFrom):
            home = f"{node.module}"
            whole = [home, *(f"{home}.{name}" for name in imported)]
            imported = [] if node.level else whole
        if any(map(_is_theirs, imported)):
            known |= {n: d for n, d in _bound(node) if isinstance(d, str)}
            for name in filter(_is_theirs, imported):
                if placeholder(name) is None:
                    yield node.lineno, name
    known = {name: dotted for name, dotted in known.items() if _is_theirs(dotted)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            asked = _meant(node, known)
            if asked is not None:
                yield node.lineno, asked
        elif isinstance(node, ast.Name) and placeholder(known.get(node.id, "")):
            yield node.lineno, known[node.id]
        elif isinstance(node, ast.Call) and not _is_switched_off(node):
            asked = _meant(node.func, known)
            if asked in SWITCHED:
                yield node.lineno, f"{asked}{CALLED}"


def _is_switched_off(node: ast.Call) -> bool:
    """Tell whether a call turns mixed precision off: it passes False or ``enabled``."""
    off = any(isinstance(a, ast.Constant) and a.value is False for a in node.args)
    return off or any(keyword.arg in ("enabled", None) for keyword in node.keywords)


def _meant(node: ast.expr, known: Mapping[str, str]) -> str | None:
    """Return the full PyTorch name that ``a.b.c`` means; None if it means none."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    dotted = _dotted(node) if isinstance(node, ast.Attribute) else None
    if dotted is None or dotted[0] not in known:
        return None
    return ".".join([known[dotted[0]], *dotted[1:]])


def _is_theirs(module: str) -> bool:
    return is_pytorchs(module) or module.partition(".")[0] in BESIDE


def _dotted(node: ast.Attribute) -> list[str] | None:
    """Return the parts of ``a.b.c``; None if the expression is no such chain."""
    parts = [node.attr]
    below: ast.expr = node.value
    while isinstance(below, ast.Attribute):
        parts.append(below.attr)
        below = below.value
    if not isinstance(below, ast.Name):
        return None
    return [below.id, *reversed(parts)]


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


def _along_name(dotted: str) -> Iterator[tuple[str, Any]]:
    """Yield the beginnings of a PyTorch name, each with gradcli's object for it; None
    if gradcli has none, as for all that follow."""
    value: Any = None
    for whole in accumulate(dotted.split("."), "{}.{}".format):
        part = whole.rpartition(".")[2]
        below = getattr(value, part, None)
        if below is None and (value is None or isinstance(value, ModuleType)):
            below = counterpart(whole)
        value = below
        yield whole, value
        if value is None:
            return


TENSOR, NUMBER, OPEN = "tensor", "number", "open"
"""Kinds of expressions; ``OPEN`` stands for a name whose kind is being found out."""

OF_TENSORS = (f"{PYTORCH}.Tensor", f"{PYTORCH}.nn.Parameter")
"""Names of PyTorch's classes whose objects are tensors."""

TO_NUMBERS = ("float", "int", "len")
WRITES = ("exec", "globals", "setattr")
"""Functions that may bind names or attributes in ways that the text does not show."""


class Scope:
    """The names of a module, function, class or comprehension, with everything that
    they are bound to: expressions, full PyTorch names, and None for anything else."""

    def __init__(self, above: Scope | None = None, of_class: bool = False) -> None:
        self.above, self.of_class = above, of_class
        self.names: dict[str, list[ast.expr | str | None]] = {}

    def bind(self, name: str, value: ast.expr | str | None) -> None:
        self.names.setdefault(name, []).append(value)

    def holding(self, name: str) -> Scope | None:
        """Return the scope that binds a name as seen from here; None if none does."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and (scope is self or not scope.of_class):
                return scope
            scope = scope.above
        return None


SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip
"""Types of syntax nodes that have a scope of their own."""


class _Names:
    """The names of a script by scope, and the attributes that it reads."""

    def __init__(self, tree: ast.AST) -> None:
        self.read: list[tuple[ast.Attribute, Scope]] = []
        self.given: set[str] = set()
        """Names of attributes that the script sets, and all of its string literals."""
        self.unsure: set[str] = set()
        """Names that may be assigned from another scope."""
        self.trusted = True
        waiting = [(tree, Scope())]
        while waiting:
            node, scope = waiting.pop()
            for name, value in _bound(node):
                scope.bind(name, value)
            self._note(node, scope)
            if isinstance(node, SCOPES):
                scope = Scope(scope, isinstance(node, ast.ClassDef))
            waiting += [(each, scope) for each in ast.iter_child_nodes(node)]

    def _note(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Load):
                self.read.append((node, scope))
            else:
                self.given.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.given.add(node.value)
        elif isinstance(node, ast.Name):
            self.trusted &= node.id not in WRITES
        elif isinstance(node, ast.Global | ast.Nonlocal):
            self.unsure.update(node.names)
        elif isinstance(node, ast.NamedExpr) and scope.above is not None:
            self.unsure.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            stars = any(alias.name == "*" for alias in node.names)
            self.trusted &= not stars or is_pytorchs(node.module or "")


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr | str | None]]:
    """Yield the names that a node itself binds, each with its value or None."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield from _into(target, node.value)
        case ast.AnnAssign(value=ast.expr()):
            yield from _into(node.target, node.value)
        case ast.AugAssign(target=ast.Name(name)):
            before = ast.Name(name, ast.Load())
            yield name, ast.BinOp(before, node.op, node.value)
        case ast.NamedExpr():
            yield node.target.id, node.value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            entry = ast.Subscript(node.iter, ast.Constant(0), ast.Load())
            yield from _into(node.target, entry)
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from _into(target, None)
        case ast.Import():
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, alias.name if alias.asname else name
        case ast.ImportFrom():
            for alias in node.names:
                dotted = None if node.level else f"{node.module}.{alias.name}"
                yield alias.asname or alias.name, dotted
        case ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
            yield name, None
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            yield name, None


def _into(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each name of a target with the value it is bound to; None if unknown."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from _into(target.value, None)
    elif isinstance(target, ast.Tuple | ast.List):
        known = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        alike = len(known) == len(target.elts)
        for n, part in enumerate(target.elts):
            yield from _into(part, known[n] if alike else None)


def attributes_of_tensors(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the lines and names of attributes that a script reads of values known to be
    tensors, except names that it sets or has in a string literal."""
    names = _Names(tree)
    if not names.trusted:
        return
    known = _Known(names)
    try:
        for node, scope in names.read:
            asked = node.attr not in names.given
            if asked and known.kind(node.value, scope) == TENSOR:
                yield node.end_lineno or node.lineno, node.attr
    except RecursionError:
        return  # nested too deeply to be parsed recursively


class _Known:
    """The kinds of a script's expressions, found from its bindings."""

    def __init__(self, names: _Names) -> None:
        self.unsure = names.unsure
        self.names: dict[tuple[int, str], str | None] = {}

    def kind(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the kind of an expression; None if it is unknown."""
        if isinstance(node, ast.Name):
            return self._of_name(node.id, scope)
        if isinstance(node, ast.Constant):
            return NUMBER if type(node.value) in (int, float) else None
        if isinstance(node, ast.Call):
            return self._of_call(node, scope)
        if isinstance(node, ast.Attribute):
            inner = self.kind(node.value, scope)
            return inner if inner == OPEN or _of_tensor(node.attr, inner) else None
        if isinstance(node, ast.BinOp):
            return _of_both(self.kind(node.left, scope), self.kind(node.right, scope))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
                return None
            pair = self.kind(node.left, scope), self.kind(node.comparators[0], scope)
            return None if pair == (NUMBER, NUMBER) else _of_both(*pair)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            return self.kind(node.operand, scope)
        if isinstance(node, ast.IfExp):
            return _alike([self.kind(n, scope) for n in (node.body, node.orelse)])
        if isinstance(node, ast.NamedExpr):
            return self.kind(node.value, scope)
        if isinstance(node, ast.Subscript):
            inner = self.kind(node.value, scope)
            return None if inner == NUMBER else inner
        return None

    def _of_name(self, name: str, scope: Scope) -> str | None:
        home = scope.holding(name)
        if home is None or name in self.unsure:
            return None
        place = (id(home), name)
        if place in self.names:
            return self.names[place]
        self.names[place] = OPEN
        values = home.names[name]
        kinds = [
            self.kind(v, home) if isinstance(v, ast.expr) else None for v in values
        ]
        found = _alike(kinds)
        del self.names[place]
        if OPEN not in kinds:
            self.names[place] = found
        return found

    def _of_call(self, node: ast.Call, scope: Scope) -> str | None:
        dotted = self._dotted(node.func, scope)
        if dotted is not None:
            return TENSOR if _returns_tensor(dotted) else None
        if isinstance(node.func, ast.Attribute):
            inner = self.kind(node.func.value, scope)
            return inner if inner == OPEN or _of_tensor(node.func.attr, inner) else None
        plain = isinstance(node.func, ast.Name) and node.func.id in TO_NUMBERS
        return NUMBER if plain and scope.holding(node.func.id) is None else None  # type: ignore[attr-defined]

    def _dotted(self, node: ast.expr, scope: Scope) -> str | None:
        """Return the full PyTorch name of an expression; None if it is not one of
        PyTorch's names."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.unsure:
            return None
        home = scope.holding(node.id)
        bound = set() if home is None else {*home.names[node.id]}
        root = bound.pop() if len(bound) == 1 else None
        if not isinstance(root, str) or root.partition(".")[0] != PYTORCH:
            return None
        return ".".join([root, *parts])


def _of_both(a: str | None, b: str | None) -> str | None:
    """Return the kind of an arithmetic of two operands; None if it is unknown."""
    if None in (a, b):
        return None
    return TENSOR if TENSOR in (a, b) else OPEN if OPEN in (a, b) else NUMBER


def _alike(kinds: list[str | None]) -> str | None:
    """Return the kind that all alternatives have; None if they differ."""
    known = {kind for kind in kinds if kind != OPEN}
    return known.pop() if len(known) == 1 else None if known else OPEN


def _of_tensor(attribute: str, kind: str | None) -> bool:
    """Tell whether an attribute is of a tensor and is a tensor itself, or a method that
    returns one."""
    return kind == TENSOR and _returns_tensor(f"{PYTORCH}.Tensor.{attribute}")


@cache
def _returns_tensor(dotted: str) -> bool:
    """Tell whether a function, method, attribute or class of PyTorch always gives a
    tensor."""
    if dotted in OF_TENSORS:
        return True
    home, _, name = dotted.rpartition(".")
    value, owner = _found(dotted), _found(home)
    if value is None or isinstance(value, type | ModuleType):
        return False
    if isinstance(value, property):
        said = getattr(value.fget, "__annotations__", {}).get("return")
        return said in ("Tensor", "Tensor | None") or _declared(owner, name)
    try:
        said = inspect.signature(value).return_annotation
    except (TypeError, ValueError):
        return False
    defined = sys.modules.get(getattr(value, "__module__", ""))
    return said == "Tensor" or _declared(owner, name) or _declared(defined, name)


def _found(dotted: str) -> Any:
    """Return gradcli's object for a PyTorch name; None if gradcli has none."""
    *_, (_, value) = _along_name(dotted)
    return value


def _declared(owner: Any, name: str) -> bool:
    """Tell whether the stub of a module, or of the tensors' methods, gives a tensor as
    the result of a function in every overload."""
    methods = isinstance(owner, type)
    module = sys.modules["gradcli.engine.methods"] if methods else owner
    said = _stub(getattr(module, "__file__", None) or "").get(name, set())
    return said == {"Tensor"}


@cache
def _stub(file: str) -> dict[str, set[str]]:
    """Return the result types that a stub declares, by the functions' names."""
    path = Path(file).with_suffix(".pyi") if file else None
    if path is None or not path.is_file():
        return {}
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef):
            said = "" if node.returns is None else ast.unparse(node.returns)
            found.setdefault(node.name, set()).add(said)
    return found
