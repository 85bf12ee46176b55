"""A program in PyTorch with each call put into PyTorch's form.

Invariant: what is called, and on which values, stays as it is; only the names of
parameters, their order, and the kind of numbers and lists are PyTorch's.

    hypot(x, b=2)       # torch.hypot(x, torch.tensor(2.0))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import torch

from gradcli.ops import ALIASES, FUNCTIONS, parameters
from tests.random import theirs
from tests.random.program import Line, Program
from tests.random.theirs import THEIRS, function, jacobian_of, namespace

CALL = "_call"
LIBRARIES = (*theirs.LIBRARIES, "special")


class Calls(ast.NodeTransformer):
    """Every call of a function of the table goes through `put`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        target = node.func
        if isinstance(target, ast.Name) and table_name(target.id):
            return self.through(target.id, node.args, node)
        if not isinstance(target, ast.Attribute):
            return node
        home = target.value
        if isinstance(home, ast.Name) and home.id in LIBRARIES:
            return self.through(f"{home.id}.{target.attr}", node.args, node)
        if table_name(target.attr):
            return self.through(target.attr, [home, *node.args], node)
        return node

    def through(self, name: str, args: list[ast.expr], node: ast.Call) -> ast.AST:
        call = ast.Name(CALL, ast.Load())
        return ast.Call(call, [ast.Constant(name), *args], node.keywords)


def table_name(name: str) -> str | None:
    found = ALIASES.get(name, name)
    return found if found in FUNCTIONS else None


def put(name: str, *args: Any, **named: Any) -> Any:
    """Call a function of PyTorch in the first of its forms that it takes.

    Raises:
        TypeError: it takes none of them.
    """
    larger = FUNCTIONS[table_name(name) or name].of_number
    if larger and of_two_numbers(args) and not named.get("keepdim"):
        like = next(v for v in args if isinstance(v, torch.Tensor))
        name, args, named = larger, tuple(as_tensor(v, like) for v in args), {}
    run = torch_function(name)
    if switched(name, run, len(args)):
        run = of_tensors(name)[0]
    refused: TypeError | None = None
    for args_, named_ in forms(name, args, named):
        for one in (run, *methods(name, args_), *of_tensors(name)):
            try:
                return one(*args_, **named_)
            except (TypeError, NotImplementedError) as error:
                refused = refused or TypeError(str(error))
            except RuntimeError as error:
                if one is run:
                    raise
                refused = refused or TypeError(str(error))
    assert refused is not None
    raise refused


def of_two_numbers(args: tuple[Any, ...]) -> bool:
    """Whether the arguments are a plain number and a tensor, which is one number too
    where it comes first."""
    if len(args) != 2:
        return False
    first, second = (isinstance(value, torch.Tensor) for value in args)
    return first != second and (second or not args[0].ndim)


def switched(name: str, run: Any, count: int) -> bool:
    """Whether PyTorch's layer would take one of so many arguments for ``inplace``."""
    if run is not getattr(torch.nn.functional, name, None) or not of_tensors(name):
        return False
    theirs_ = getattr(getattr(run, "__code__", None), "co_varnames", ())[:count]
    return "inplace" in theirs_ and "inplace" not in own_names(name)[:count]


def methods(name: str, args: list[Any]) -> list[Any]:
    """The method of a name, whose operands may come in another order."""
    own = getattr(torch.Tensor, name, None)
    return [own] if callable(own) and args and isinstance(args[0], torch.Tensor) else []


@cache
def of_tensors(name: str) -> tuple[Any, ...]:
    """PyTorch's overloads of a name, but for those of plain numbers alone."""
    packet = getattr(torch.ops.aten, name, None)
    found = [] if packet is None else [getattr(packet, n) for n in packet.overloads()]
    return tuple(
        o for o in found if any("Tensor" in str(a.type) for a in o._schema.arguments)
    )


def torch_function(name: str) -> Any:
    home, _, last = name.rpartition(".")
    if home:
        return getattr(getattr(torch, home), last)
    return namespace().get(name) or function(name)


def forms(
    name: str, args: tuple[Any, ...], named: dict[str, Any]
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """As it is; in order; with what is no operand named; with operands as tensors."""
    if all(
        meant(name, k, v) is v
        for k, v in [*zip(own_names(name), args, strict=False), *named.items()]
    ):
        yield list(args), named
    entry = FUNCTIONS[table_name(name) or name]
    own = list(parameters(entry))
    values = dict(zip(own, args, strict=False))
    values = {k: meant(name, k, v) for k, v in values.items()}
    extra = list(args[len(own) :])
    for key, value in named.items():
        place = key if key in own else own[OPERANDS.get(key, 0)]
        values[place] = meant(name, place, value)
    like = next((v for v in [*args, *named.values()] if is_float(v)), None)
    for make in (plain, as_tensor, lambda v: as_tensor(v, like)):
        given = {k: make(v) for k, v in values.items() if k in own}
        order = [k for k in own if k in given]
        words = [at for at, k in enumerate(order) if at and isinstance(given[k], str)]
        counts = [*range(min([len(order), *words]), -1, -1)]
        # What is left out is a gap: what follows is named, if PyTorch has the name.
        counts.sort(key=lambda count: order[:count] != own[:count])
        for count in counts:
            rest = {k: given[k] for k in order[count:]}
            yield [*[given[k] for k in order[:count]], *extra], rest
    yield [plain(v) for v in values.values() if v is not None], {}
    flat = [v for value in values.values() for v in spread(value)]
    yield flat, {}


def own_names(name: str) -> tuple[str, ...]:
    return tuple(parameters(FUNCTIONS[table_name(name) or name]))


def meant(function: str, name: str, value: Any) -> Any:
    """A mask of numbers, whole-numbered positions, a dimension that is called True and
    dimensions that stand for True, in PyTorch's types."""
    if name in DIMENSIONS and any(type(v) is bool for v in spread(value)):
        whole = [int(v) for v in spread(value)]
        return whole if isinstance(value, tuple | list) else whole[0]
    if name in SWITCHES and not isinstance(value, bool):
        # One of many entries can only be one that nothing looks at.
        many = isinstance(value, torch.Tensor)
        return bool(value.any()) if many else bool(value)
    kind = KINDS.get(f"{function}.{name}", KINDS.get(name))
    if kind is None or not is_float(value):
        return value
    return value.to(kind)


KINDS = {
    "mask": torch.bool, "condition": torch.bool, "index": torch.long,
    "indices": torch.long, "shifts": torch.long, "bincount.input": torch.long,
}  # fmt: skip

DIMENSIONS = ("dim", "dims", "dim0", "dim1")
SWITCHES = ("keepdim", "descending", "largest", "sorted")

OPERANDS = {"input": 0, "self": 0, "other": 1}


def is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def plain(value: Any) -> Any:
    return torch.contiguous_format if value == "contiguous" else value


def spread(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def as_tensor(value: Any, like: Any = None) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number:
        return torch.tensor(value, dtype=None if like is None else like.dtype)
    if isinstance(value, tuple) and any(
        isinstance(v, list) or v is None for v in value
    ):
        return tuple(torch.tensor(v) if isinstance(v, list) else v for v in value)
    listed = isinstance(value, list | tuple) and not any_tensor(value)
    return torch.tensor(value) if listed else value


def any_tensor(value: Any) -> bool:
    return any(isinstance(v, torch.Tensor) for v in value)


def run(program: Program, given: tuple[torch.Tensor, ...] | None = None) -> Any:
    lines = [line for s in program.statements for line in s.lines]
    tree = ast.fix_missing_locations(Calls().visit(ast.parse("\n".join(lines))))
    *first, last = ast.unparse(tree).splitlines()
    name = program.statements[-1]
    text = Program(
        (*[Line(line) for line in first], Line(last, getattr(name, "name", None))),
        program.inputs,
        program.dtype,
    )
    with theirs.beside({CALL: put}):
        return theirs.run(text, given)


CALLED = replace(THEIRS, run=run, jacobian=jacobian_of(run))
"""PyTorch, called in its own form."""
