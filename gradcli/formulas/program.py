"""The adjoint program: a derivative that is itself a program.

The program is run on trees by the same machine and engine that run it on arrays; the
reverse pass then puts the rules' own formulas together. Loops appear unrolled and
branches as they were taken. A tree stands for an array (`adjoint`), or for a
single entry (`entrywise`).

Invariant: the result depends on the inputs' names and shapes, and on the decisions that
are listed; it depends in no other way on an input's value.

    adjoint(run, None, namespace, names).gradients      # (("x_grad", 2 * x),)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import Any, Final

import numpy as np

from ..engine import Tensor, grad
from ..engine.devices import host
from ..engine.dtypes import default_dtype
from ..engine.modes import MODE
from ..engine.raw import Host
from ..lang.compiler import compile_program
from ..lang.errors import ProgramError, Span
from ..lang.factory import CONSTRUCTORS, RANDOM, Draws, Factory
from ..lang.parser import parse
from ..lang.run import Run, computed
from ..lang.tensor_library import TensorLibrary
from ..large.blocks import blocks_of, gradient
from .entries import EntryArray, EntryNamespace, entries
from .namespace import TreeNamespace
from .tree import FreshNames, TooLong, Tree, Unwritable

MAX_CODE_STEPS: Final = 20_000
"""Most steps of a written program, and most entries of its inputs and derivatives."""

MADE: Final = (CONSTRUCTORS - {"tensor"}) | RANDOM
"""Constructors that are written as they were called; `tensor` is written as data."""

TOO_MANY_STEPS: Final = f"the code would have more than {MAX_CODE_STEPS} steps"


@dataclass(frozen=True, slots=True)
class Entrywise:
    """Trees of the entries of a program's value and of its derivatives.

    inputs     what each input is called in the code, and its shape, in the run's order
    blocks     the value, then each derivative: the inputs that it is by, its shape, and
               its entries in C order
    names      the source of further names
    decisions  truth values that the run's course depended on
    pivoted    whether rows of a matrix were put in order by their values
    """

    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    blocks: tuple[tuple[tuple[str, ...], tuple[int, ...], tuple[Tree, ...]], ...]
    names: FreshNames
    decisions: tuple[Tree, ...]
    pivoted: bool


@dataclass(frozen=True, slots=True)
class Adjoint:
    """Trees of a program's value and of its gradients.

    inputs     what each input is called in the code, in the run's order
    output     the value and its name
    gradients  name and tree of the gradient by each input that is differentiated
    called     names of intermediate trees, by serial
    draws      random numbers, in the order of their drawing
    decisions  truth values that the run's course depended on
    """

    run: Run
    inputs: dict[str, str]
    output: tuple[str, Tree]
    gradients: tuple[tuple[str, Tree], ...]
    called: dict[int, str]
    names: FreshNames
    draws: tuple[Tree, ...]
    decisions: tuple[Tree, ...]


class TreeFactory(Factory):
    """Constructors whose results remember how they were made."""

    def constructors(self, draws: Draws) -> dict[str, Callable[..., Any]]:
        made = super().constructors(draws)
        return {n: self._remembering(n, f) if n in MADE else f for n, f in made.items()}

    def _remembering(self, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> object:
            tensor = make(*args, **kwargs)
            given = tuple([a.raw if isinstance(a, Tensor) else a for a in args])
            tensor.raw = self.xp.constructed(name, given, kwargs, tensor.raw.value)
            return tensor

        return call


class TreeLibrary(TensorLibrary):
    """A library in which ``item()`` stays a step of the program."""

    def method(self, value: object, name: str) -> Callable[..., Any] | None:
        if name == "item" and isinstance(value, Tensor) and value.numel() == 1:
            return lambda: value.detach().reshape(())
        return super().method(value, name)


def adjoint(
    run: Run, cotangent: Tensor | None, namespace: Callable[[], TreeNamespace],
    names: Callable[[], FreshNames],
) -> Adjoint:  # fmt: skip
    """Return the gradient of a run's output by its inputs, as trees of arrays; raise
    `Unwritable` if expressions cannot say it, and `TooLong` if it has too many
    parts."""
    try:
        return _adjoint(run, cotangent, namespace(), names(), TreeLibrary)
    except Unwritable:
        # Some function needs the plain number that ``item()`` returns elsewhere.
        return _adjoint(run, cotangent, namespace(), names(), TensorLibrary)


def _adjoint(
    run: Run, cotangent: Tensor | None, xp: TreeNamespace, names: FreshNames,
    library: type[TensorLibrary],
) -> Adjoint:  # fmt: skip
    traced: list[tuple[str, Tensor]] = []
    factory = TreeFactory(xp, "float64", run.seed)
    output, inputs, given = _executed(run, library(factory), names, traced)
    wanted = [given[i.name] for i in run.inputs if i.requires_grad]
    inner = [t for _, t in traced if t.edge is not None and t is not output]
    found = _pulled(output, [*wanted, *inner], cotangent)
    trees = [
        xp.zeros_like(t.raw) if g is None else xp.as_type_of(g.raw, t.raw)
        for t, g in zip(wanted, found, strict=False)
    ]
    outputs = [names.take(f"{i.name}_grad") for i in run.inputs if i.requires_grad]
    called = _called(traced, names)
    for t, g in zip(inner, found[len(wanted) :], strict=True):
        if g is not None and g.raw.serial not in called:
            called[g.raw.serial] = names.take(f"{called[t.raw.serial]}_grad")
    named = called.get(output.raw.serial) or names.take(run.output_name)
    return Adjoint(
        run, inputs, (named, output.raw), tuple(zip(outputs, trees, strict=True)),
        called, names, tuple(xp.draws), tuple(xp.decisions.values()),
    )  # fmt: skip


def _pulled(
    output: Tensor, inputs: Sequence[Tensor], cotangent: Tensor | None
) -> list[Tensor | None]:
    xp = output.xp
    seed = None if cotangent is None else Tensor(xp.array(_host(cotangent.raw)), xp)
    with rows_as_calls(), np.errstate(all="ignore"):
        return grad([output], inputs, [seed])


def entrywise(
    run: Run, kind: str, cotangent: Tensor | None, names: FreshNames
) -> Entrywise:
    """Return the gradient, ``jacobian`` or ``hessian`` of a run's output by its inputs,
    as trees of single entries; raise `Unwritable` or `TooLong` as `adjoint` does."""
    _check_count(run, kind)
    xp = EntryNamespace(TreeNamespace(words=False, zeros_vanish=True))
    library = TensorLibrary(Factory(xp, "float64", run.seed))
    output, called, given = _executed(run, library, names, [])
    if not isinstance(output.raw, EntryArray):
        output = Tensor(xp.array(output.raw), xp)
    asked = {i.name: given[i.name] for i in run.inputs if i.requires_grad}
    with rows_as_calls(), np.errstate(all="ignore"):
        derivatives = _derivatives(kind, output, asked, cotangent)
        blocks = tuple([
            (by, tuple(tensor.shape), tuple(entries(tensor.raw, xp)))
            for by, tensor in [((), output), *derivatives]
        ])  # fmt: skip
    return Entrywise(
        tuple((called[i.name], tuple(i.tensor.shape)) for i in run.inputs),
        blocks, names, tuple(xp.trees.decisions.values()), xp.system.pivoted,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Products:
    """Products of a program's derivatives with vectors, as trees.

    by         the product by the names of the inputs that the derivative is by, and the
               vector; None in its place if the product is the derivative itself
    decisions  truth values that the run's course depended on
    """

    by: dict[tuple[str, ...], tuple[Tree, Tree | None]]
    decisions: tuple[Tree, ...]


def products(
    run: Run, kind: str, xp: TreeNamespace, names: FreshNames, vector: str = "v"
) -> Products:
    """Return the transposed ``jacobian`` of a run's output by each input, times a
    vector; or each block of its ``hessian``, of which the first input is the vector's
    place.

    Raises:
        Unwritable: expressions cannot say it.
        TooLong: it has too many parts.
    """
    library = TreeLibrary(TreeFactory(xp, "float64", run.seed))
    output, _, given = _executed(run, library, names, [])
    asked = {i.name: given[i.name] for i in run.inputs if i.requires_grad}
    inputs = list(asked.values())
    found: dict[tuple[str, ...], tuple[Tree, Tree | None]] = {}
    with rows_as_calls(), np.errstate(all="ignore"):
        firsts: Sequence[tuple[tuple[str, ...], Tensor]] = [((), output)]
        if kind == "hessian":
            if output.edge is None:
                firsts = [((name,), _zeros(x, x.shape)) for name, x in asked.items()]
            else:
                firsts = [
                    ((name,), y)
                    for name, y in zip(asked, gradient(output, inputs), strict=True)
                ]
        for by, y in firsts:
            seed: Tree | None = None
            if y.shape:
                size = prod(y.shape)
                entries_of_it = (np.arange(size) + 2.0) / (size + 2)
                seed = xp.named(names.take(vector), entries_of_it.reshape(y.shape))
            pulled: Sequence[Tensor | None] = [None] * len(inputs)
            if y.edge is not None:
                start = None if seed is None else Tensor(seed, xp)
                pulled = grad([y], inputs, [start], retain_graph=True)
            for (name, x), g in zip(asked.items(), pulled, strict=True):
                tree = (
                    xp.zeros_like(x.raw) if g is None else xp.as_type_of(g.raw, x.raw)
                )
                found[*by, name] = tree, seed
    return Products(found, tuple(xp.decisions.values()))


def _check_count(run: Run, kind: str) -> None:
    asked = sum(prod(i.tensor.shape) for i in run.inputs if i.requires_grad)
    rows = {"jacobian": prod(run.output.shape), "hessian": asked}.get(kind, 1)
    given = sum(prod(i.tensor.shape) for i in run.inputs)
    if given + asked * rows > MAX_CODE_STEPS:
        raise TooLong(TOO_MANY_STEPS)


def _zeros(x: Tensor, shape: Sequence[int]) -> Tensor:
    return Tensor(x.xp.new_full(x.raw, shape, 0), x.xp)


def _derivatives(
    kind: str, output: Tensor, asked: dict[str, Tensor], cotangent: Tensor | None
) -> Iterator[tuple[tuple[str, ...], Tensor]]:
    """Yield each derivative of a kind with the inputs that it is by."""
    inputs = list(asked.values())
    if kind == "hessian":
        if output.edge is None:
            pairs = product(inputs, inputs)
            blocks = [_zeros(x, (*x.shape, *z.shape)) for x, z in pairs]
        else:
            rows = blocks_of(gradient(output, inputs), inputs)
            blocks = list(chain.from_iterable(rows))
        yield from zip(product(asked, asked), blocks, strict=True)
    elif kind == "jacobian":
        (blocks,) = blocks_of([output], inputs)
        yield from zip(((name,) for name in asked), blocks, strict=True)
    else:
        found: Sequence[Tensor | None] = [None] * len(inputs)
        if output.edge is not None:
            found = _pulled(output, inputs, cotangent)
        for (name, x), g in zip(asked.items(), found, strict=True):
            yield (name,), _zeros(x, x.shape) if g is None else g


def _host(raw: object) -> Host:
    return np.asarray(host(raw), dtype=np.float64)


def rows_as_calls() -> AbstractContextManager[None]:
    """Return a block in which the engine calls the namespace's `whole_row` for rows."""
    return MODE.having(on_call=(*MODE.on_call, lambda *call: None))


def _executed(
    run: Run,
    library: TensorLibrary,
    names: FreshNames,
    traced: list[tuple[str, Tensor]],
) -> tuple[Tensor, dict[str, str], dict[str, Tensor]]:
    """Return the program's output on trees, and what its inputs are called in the code
    and their tensors, by name; ``traced`` collects named values."""
    xp = library.factory.xp
    called = {i.name: names.take(i.name) for i in run.inputs}
    given = {
        i.name: Tensor(xp.named(called[i.name], _host(i.tensor.raw)), xp,
                       i.requires_grad)
        for i in run.inputs
    }  # fmt: skip

    def trace(span: Span, name: str | None, value: object) -> None:
        if name is not None and isinstance(value, Tensor):
            traced.append((name, value))

    code = compile_program(parse(run.source, given))
    try:
        with default_dtype("float64"), rows_as_calls(), xp.watched():
            output = computed(code, given, library, run.of, trace=trace)[0]
            return output, called, given
    except ProgramError as error:
        if isinstance(error.__cause__, TooLong):
            raise error.__cause__ from None
        raise Unwritable(error.message) from error


def _called(traced: Iterable[tuple[str, Tensor]], names: FreshNames) -> dict[int, str]:
    called: dict[int, str] = {}
    for name, tensor in traced:
        if isinstance(tensor.raw, Tree) and tensor.raw.serial not in called:
            called[tensor.raw.serial] = names.take(name)
    return called
