"""A graph that PyTorch itself recorded, as the same list of nodes that gradcli's own
graphs are.

Invariants: ids count from 0 at the root in the order in which following
`next_functions` from left to right discovers the nodes, as in `graph_view`; the view is
PyTorch's graph, node for node and edge for edge, with its names. Nothing is imported:
whoever has a tensor of PyTorch has PyTorch. Nothing is changed and nothing is freed;
what a backward pass has freed is not known.

    graph = PyTorchGraph(loss, {"w": w})
    graph.view.nodes[0].name                # "MeanBackward0"
    graph.steps(None)                       # the backward pass, step by step
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, Final

import numpy as np

from ..ops import FUNCTIONS, OPS, Op
from .explanation import Send, StepView
from .graph_view import GraphView, NodeView, Shape
from .numbers import Brief, briefly, number, shown

LEAF: Final = "AccumulateGrad"
"""Name of the nodes of leaves."""

SAVED: Final = "_saved_"
"""Text that the names of what nodes saved begin with."""

MAX_PARTIAL_ENTRIES: Final = 4096
"""Largest number of entries of a node for which local gradients are computed."""

MAX_SAVED_CHARACTERS: Final = 60
"""Largest length of the text of a saved value that is no tensor, in characters."""

Output = tuple[Any, int]
"""Type of an output of a node: the node and the output's number."""


class PyTorchGraph:
    """The graph below a tensor of PyTorch: its ``view``, the ``values`` that are known
    by id, the ``formulas`` of its operations, and the steps of a backward pass.

    Args:
        output: the tensor.
        names: tensors by their names.
        numbers: whether nodes have local gradients and what they saved.
    """

    def __init__(
        self, output: Any, names: Mapping[str, Any], numbers: bool = True
    ) -> None:
        self._output = output
        self._numbers = numbers
        self._torch: Any = sys.modules["torch"]
        self._names = {id(t): n for n, t in reversed([*names.items()])}
        self._outputs: dict[Output, str] = {}
        for name, tensor in names.items():
            if tensor.grad_fn is not None:
                place = tensor.grad_fn, tensor.output_nr
                self._outputs.setdefault(place, name)
        root, first = output.grad_fn, output.output_nr
        if root is None and output.requires_grad:
            # The node of a leaf is reached through a view of it.
            root, first = output.view_as(output).grad_fn.next_functions[0]
        self._shapes: list[Shape] = []
        self._ids: dict[Any, int] = {}
        if root is not None:
            self._discover(root, first)
        self.nodes: Sequence[Any] = list(self._ids)
        called = self._names.get(id(output), "output")
        views = tuple(self._view(node) for node in self.nodes)
        start = None if root is None else 0
        shape = _sizes(output.shape)
        self.view = GraphView("", called, shape, first, start, views)

    def _discover(self, root: Any, nr: int) -> None:
        stack = [(root, nr)]
        while stack:
            node, nr = stack.pop()
            if node in self._ids:
                continue
            self._ids[node] = len(self._shapes)
            self._shapes.append(self._shape(node, nr))
            below = [end for end in node.next_functions if end[0] is not None]
            stack.extend(reversed(below))

    def _shape(self, node: Any, nr: int) -> Shape:
        """Return the shape of one output of a node."""
        if name_of(node) == LEAF:
            return _sizes(node.variable.shape)
        metadata: Any = getattr(node, "_input_metadata", ())
        return _sizes(metadata[nr].shape) if nr < len(metadata) else ()

    def _view(self, node: Any) -> NodeView:
        id_, name = self._ids[node], name_of(node)
        leaf = name == LEAF
        edges = tuple(
            (None if end is None else self._ids[end], nr)
            for end, nr in node.next_functions
        )
        partials: Sequence[np.ndarray | None] = [None] * len(edges)
        saved = None
        if self._numbers:
            partials = self._partials(node)
            saved = {n.removeprefix(SAVED): _text(v) for n, v in _saved(node)}
        return NodeView(
            id=id_,
            name=name,
            address=id(node),
            variable=self._names.get(id(node.variable)) if leaf else None,
            output=None if leaf else self._outputs.get((node, 0)),
            shape=self._shapes[id_],
            source=None,
            line=None,
            column=None,
            span=None,
            next_functions=edges,
            local_gradients=tuple(None if p is None else shown(p) for p in partials),
            saved=saved,
        )

    def _partials(self, node: Any) -> Sequence[np.ndarray | None]:
        """Return the partial derivative along each edge of an elementwise node."""
        none = [None] * len(node.next_functions)
        metadata: Any = getattr(node, "_input_metadata", ())
        if not callable(node) or op_of(node) is None or len(metadata) != 1:
            return none
        made: Any = metadata[0]
        if prod(_sizes(made.shape)) > MAX_PARTIAL_ENTRIES:
            return none
        try:
            with self._torch.no_grad():
                ones = self._torch.ones(
                    made.shape, dtype=made.dtype, device=made.device
                )
                sent = node(ones)
        except RuntimeError:
            return none
        given = sent if isinstance(sent, tuple) else (sent,)
        pairs = zip(given, node.next_functions, strict=False)
        known = [None if end[0] is None else _one(_raw(g)) for g, end in pairs]
        return known if len(known) == len(none) else none

    @property
    def formulas(self) -> list[str]:
        """Formula of each node's operation, by id; empty where none is known."""
        return [formula_of(op_of(node)) for node in self.nodes]

    def values(self) -> dict[int, Brief]:
        """Return the known values of the nodes' first outputs, by id: those of leaves,
        of tensors with names, and of what nodes saved."""
        known: dict[int, Brief] = {}

        def note(tensor: Any) -> None:
            node = tensor.grad_fn
            id_ = self._ids.get(node)
            if id_ is not None and id_ not in known and tensor.output_nr == 0:
                raw = _raw(tensor)
                if raw is not None:
                    known[id_] = briefly(raw)

        if self._output.grad_fn is not None:
            note(self._output)
        for node, id_ in self._ids.items():
            if name_of(node) == LEAF:
                raw = _raw(node.variable)
                if raw is not None:
                    known[id_] = briefly(raw)
            for _, value in _saved(node):
                if hasattr(value, "grad_fn"):
                    note(value)
        return known

    def steps(self, cotangent: Any) -> tuple[StepView, ...]:
        """Return the steps of a backward pass, those of leaves at the end; none if
        there is no pass without a cotangent, or PyTorch refuses it."""
        if self.view.root is None or self._output.grad_fn is None:
            return ()
        if cotangent is None and self._output.numel() != 1:
            return ()
        recorder = _StepsOfPyTorch(self.view, self._ids, self._called)
        leaves = [node for node in self.nodes if name_of(node) == LEAF]
        hooks = [
            node.register_hook(recorder.hook(node))
            for node in self.nodes
            if name_of(node) != LEAF
        ]
        try:
            arriving = self._torch.autograd.grad(
                [self._output], [leaf.variable for leaf in leaves],
                None if cotangent is None else [cotangent],
                retain_graph=True, allow_unused=True,
            )  # fmt: skip
        except Exception:  # a backward of the user's own may raise anything
            return ()
        finally:
            for hook in hooks:
                hook.remove()
        for leaf, g in zip(leaves, arriving, strict=True):
            if g is not None:
                recorder.leaf(leaf, g)
        return tuple(recorder.steps)

    def _called(self, node: Any, nr: int) -> str | None:
        if name_of(node) == LEAF:
            return self._names.get(id(node.variable))
        return self._outputs.get((node, nr))


class _StepsOfPyTorch:
    """A recorder of the steps of a pass that PyTorch takes."""

    def __init__(
        self,
        view: GraphView,
        ids: Mapping[Any, int],
        called: Callable[[Any, int], str | None],
    ) -> None:
        self.steps: list[StepView] = []
        self._view, self._ids, self._called = view, ids, called
        self._arrived: dict[tuple[int, int], Any] = {}

    def hook(self, node: Any) -> Callable[[Any, Any], None]:
        """Return the hook that records a node's step."""

        def after(sent: Sequence[Any], given: Sequence[Any]) -> None:
            edges = zip(node.next_functions, sent, strict=False)
            sends = [
                self._send(node, edge, end, g)
                for edge, (end, g) in enumerate(edges)
                if end[0] is not None and g is not None
            ]
            self._note(node, tuple(map(_brief, given)), tuple(sends))

        return after

    def leaf(self, node: Any, g: Any) -> None:
        """Record the step of a leaf that a gradient arrives at."""
        held = node.variable.grad
        before = None if held is None else _brief(held)
        after = _brief(g if held is None else held + g)
        self._note(node, (_brief(g),), (), before, after)

    def _send(self, node: Any, edge: int, end: Output, g: Any) -> Send:
        to, nr = end
        id_ = self._ids[to]
        before = self._arrived.get((id_, nr))
        total = g if before is None else before + g
        self._arrived[id_, nr] = total
        made = self._view.nodes[id_]
        local: Any = self._view.nodes[self._ids[node]].local_gradients[edge]
        return Send(
            edge=edge,
            id=id_,
            to=made.name,
            name=self._called(to, nr),
            output_nr=nr,
            local_gradient=local,
            rule=None,
            gradient=_brief(g),
            reduced=None,
            held=None if before is None else _brief(before),
            total=_brief(total),
        )

    def _note(
        self, node: Any, given: tuple[Any, ...], sends: tuple[Send, ...],
        before: Any = None, after: Any = None,
    ) -> None:  # fmt: skip
        made = self._view.nodes[self._ids[node]]
        self.steps.append(
            StepView(
                number=len(self.steps) + 1,
                id=made.id,
                node=made.name,
                name=made.variable or made.output,
                source=None,
                line=None,
                column=None,
                arrived=given[0] if len(given) == 1 else given,
                sends=sends,
                grad_before=before,
                grad_after=after,
                outputs=len(given),
                local_gradients=tuple(send.local_gradient for send in sends),
            )
        )


def name_of(node: Any) -> str:
    """Return the name of a node of PyTorch, such as ``AddBackward0``."""
    name = type(node).__name__
    if name == "CppFunction":
        name = str(node.name()).rpartition("::")[2]
    return name


@cache
def _elementwise() -> Mapping[str, Op]:
    """Return the elementwise rows by the names of their nodes."""
    rows: dict[str, Op] = {}
    others = {op.node for op in OPS.values() if op.partials is None}
    for op in OPS.values():
        if op.node is not None and op.node not in others:
            rows.setdefault(op.node, op)
    return rows


def op_of(node: Any) -> Op | None:
    """Return the elementwise row of a node; None if it has none."""
    return _elementwise().get(name_of(node))


def formula_of(op: Op | None) -> str:
    """Return the formula of a row; empty if there is none."""
    if op is None:
        return ""
    entry = FUNCTIONS.get(op.base)
    return op.formula or (entry.formula if entry is not None else "")


def _saved_names(node: Any) -> list[str]:
    return [name for name in dir(type(node)) if name.startswith(SAVED)]


def _saved(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of what a node saved; nothing that was freed, or
    changed since."""
    for name in (*_saved_names(node), "saved_tensors"):
        try:
            value = getattr(node, name)
        except (AttributeError, RuntimeError):
            continue
        several = isinstance(value, tuple | list)
        if several and any(hasattr(entry, "grad_fn") for entry in value):
            for nr, entry in enumerate(value):
                yield f"{name}[{nr}]", entry
        elif name != "saved_tensors" and value is not None:
            yield name, value


def _text(value: Any) -> str:
    """Return a number, the type and shape of a tensor, or another value's own text."""
    if not hasattr(value, "grad_fn"):
        text = " ".join(repr(value).split())
        cut = len(text) > MAX_SAVED_CHARACTERS
        return text[: MAX_SAVED_CHARACTERS - 1] + "…" if cut else text
    shape = list(_sizes(value.shape))
    raw = None if shape else _raw(value)
    if raw is None:
        return f"{str(value.dtype).removeprefix('torch.')} {shape}"
    return number(float(raw))


def _sizes(shape: Any) -> Shape:
    return tuple(int(size) for size in shape)


def _raw(tensor: Any) -> np.ndarray | None:
    """Return a tensor's numbers as an array; None for those without real numbers."""
    if tensor is None or tensor.is_complex():
        return None
    try:
        raw: np.ndarray = tensor.detach().cpu().resolve_neg().numpy()
    except TypeError:  # bfloat16 and others that NumPy lacks
        raw = tensor.detach().cpu().float().numpy()
    except RuntimeError:
        return None
    return raw


def _one(raw: np.ndarray | None) -> np.ndarray | None:
    """Return one number for an array of equal ones, as of ``a + b``."""
    if raw is None or not raw.size or raw.ndim == 0:
        return raw
    first = raw.flat[0]
    return first if abs(first) == 1 and (raw == first).all() else raw


def _brief(tensor: Any) -> Any:
    """Return a gradient in brief; None where none arrived."""
    raw = _raw(tensor)
    return None if raw is None else briefly(raw)
