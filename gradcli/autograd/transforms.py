"""The transforms behind `gradcli.func`.

Invariant: `Trace` runs a function on tensors of its own. A result is recorded if
recording is on where it is asked for, and the function's graph leads to anything but
those tensors; otherwise it is taken out of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from typing import Any

from ..engine.changes import DERIVATIVE, apart_from
from ..engine.draws import Samples
from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as push
from ..engine.modes import MODE, enable_grad, following, renewing
from ..engine.node import AccumulateGrad
from ..engine.tensor import Tensor, note_sharer, ones_for, with_edge
from ..engine.walk import reaches_leaf
from .blocks import blocks_of, filled, own_copy, pull
from .vmap import flatten

Func = Callable[..., Any]
Argnums = int | tuple[int, ...]


class Trace:
    """A function run on fresh copies of the arguments that are differentiated by.

    ``forward`` says that tangents will be pushed: the function may then change its
    arguments in place.
    """

    def __init__(
        self, func: Func, args: tuple[object, ...], kwargs: dict[str, object],
        argnums: Argnums, has_aux: bool = False, forward: bool = False,
    ) -> None:  # fmt: skip
        several = isinstance(argnums, tuple)
        indices = _counted(argnums, len(args))
        nested = tuple(args[index] for index in indices)
        self.given, self.shape = flatten(nested if several else nested[0])
        with enable_grad():
            fresh = [own_copy(demand_tensor(x)) for x in self.given]
            # Of the same edges, whatever the function does to its arguments.
            self.inputs = [with_edge(x.raw, x.xp, x.edge) for x in fresh]
            self.edges = frozenset(x.edge for x in self.inputs)
            replaced = self.shape.fill(fresh)
            full = list(args)
            own = replaced if several else (replaced,)
            for index, value in zip(indices, own, strict=True):
                full[index] = value
            with ExitStack() as around:
                self._enter(around, fresh, (args, kwargs), forward)
                result = func(*full, **kwargs)
        self.aux = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise EngineError("with has_aux a function returns (output, aux)")
            result, self.aux = result
        self.outputs, self.output_shape = flatten(result)
        self.reaches_out = any(x.edge is not None for x in self.given) or reaches_leaf(
            [y.edge for y in self.outputs if isinstance(y, Tensor)], self.edges
        )

    def _enter(
        self, around: ExitStack, fresh: list[Tensor], args: object, forward: bool
    ) -> None:
        """Enter the blocks in which the function runs on ``fresh`` inputs."""
        around.enter_context(following(self.edges, forward=forward))
        own = (*fresh, *flatten(args)[0])
        around.enter_context(apart_from(own, DERIVATIVE))
        if forward:
            around.enter_context(renewing())
            # The function may change them, and with them the caller's, in place.
            for leaf, x in zip(self.given, fresh, strict=True):
                if isinstance(x.edge, AccumulateGrad):
                    x.edge.changeable = True
                    note_sharer(leaf, x)

    @property
    def recorded(self) -> bool:
        """Return whether what is asked for is part of a graph around this one."""
        return MODE.enabled and self.reaches_out

    def settle(self, value: object) -> Any:
        """Return a nested result outside the graph of the fresh inputs."""
        own = frozenset(x.edge for x in self.inputs if x.is_leaf)

        def settled(leaf: object) -> object:
            if not isinstance(leaf, Tensor) or leaf.edge is None:
                return leaf
            if leaf.is_leaf and leaf.edge not in own:
                return leaf
            recorded = MODE.enabled and reaches_leaf([leaf.edge], own)
            return leaf if recorded else leaf.detach()

        leaves, shape = flatten(value)
        return shape.fill(map(settled, leaves))

    def finish(self) -> tuple[Any, Any]:
        """Return what the function gave, and beside it; nobody asks for the gradients
        of the fresh inputs any more."""
        value = self.settle(self.output_shape.fill(self.outputs))
        for x in self.inputs:
            if isinstance(x.edge, AccumulateGrad):
                x.edge.given_up = True
        return value, self.settle(self.aux)

    def pull(
        self, cotangents: Sequence[Tensor], recorded: bool | None = None
    ) -> list[Tensor]:
        """Return the gradients of the inputs; zeros where nothing depends on one."""
        if recorded is None:
            recorded = self.recorded
        found = pull(self.outputs, self.inputs, cotangents, recorded)
        return filled(found, self.inputs)

    def push(self, tangents: tuple[object, ...]) -> Any:
        """Return the outputs' tangents, nested as the outputs are."""
        given, shape = flatten(tangents)
        if shape != self.shape:
            raise EngineError("tangents are not nested as the primals are")
        wanted = MODE.enabled and any(t.edge is not None for t in given)
        recorded = self.recorded or wanted
        pushed = push(demand_tensors(self.outputs), self.inputs, given, recorded)
        nested = self.output_shape.fill(pushed)
        return nested if wanted else self.settle(nested)


def grad(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """Return the function that gives the gradient of ``func``, which gives a scalar.

    Args:
        func: gives a scalar; with ``has_aux``, a pair of a scalar and anything.
        argnums: the arguments to differentiate by; a tuple gives a tuple. An argument
            may be a tensor or tensors nested in tuples, lists and dicts.
        has_aux: return ``(gradient, aux)``.

    Returns:
        A function of the same arguments; what it gives is nested as the argument is,
        each tensor of the shape of the one in its place.

    Raises:
        GradError: when it is called, and ``func`` gives a larger tensor.
        TypeError: when it is called, and ``func`` gives no tensor.
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: object, **kwargs: object) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """Derive as `grad`; give ``(gradient, value)``, or ``(gradient, (value, aux))``."""

    @wraps(func)
    def gradient_and_value(*args: object, **kwargs: object) -> object:
        trace = Trace(func, args, kwargs, argnums, has_aux)
        y = demand_tensor(trace.output_shape.fill(trace.outputs))
        if y.dim():
            raise GradError(
                f"the function has to return a scalar, not a tensor with {y.dim()} "
                "dimensions: use vjp or jacrev"
            )
        found = trace.settle(trace.shape.fill(trace.pull([ones_for(y)])))
        value, aux = trace.finish()
        return (found, (value, aux)) if has_aux else (found, value)

    return gradient_and_value


def vjp(func: Func, *primals: object, has_aux: bool = False) -> Any:
    """Run ``func``, and return its output with the product by its Jacobian.

    ``pull(cotangents)``, of cotangents nested and shaped as the output is, gives a
    tuple of gradients nested and shaped as the primals are. It may be called again.

    Returns:
        ``(output, pull)``; with ``has_aux``, ``(output, pull, aux)``.

    Raises:
        TypeError: an output is no tensor.
    """
    trace = Trace(func, primals, {}, tuple(range(len(primals))), has_aux)
    demand_tensors(trace.outputs)

    def pull(
        cotangents: object, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[object, ...]:
        given, shape = flatten(cotangents)
        if shape != trace.output_shape:
            raise EngineError("cotangents are not nested as the outputs are")
        wanted = any(isinstance(v, Tensor) and v.edge is not None for v in given)
        recorded = trace.recorded or (MODE.enabled and wanted)
        pulled = trace.shape.fill(trace.pull(given, recorded))
        found: tuple[object, ...] = pulled if wanted else trace.settle(pulled)
        return found

    output, aux = trace.finish()
    return (output, pull, aux) if has_aux else (output, pull)


def jvp(
    func: Func,
    primals: tuple[object, ...],
    tangents: tuple[object, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Run ``func``, and return its output with its Jacobian times ``tangents``.

    Args:
        primals, tangents: tuples that are nested and shaped alike.
        strict: refuse an output that does not depend on the primals.
        has_aux: return ``(output, tangent, aux)``.

    Returns:
        ``(output, tangent)``, the second nested and shaped as the first.

    Raises:
        EngineError: tangents do not fit the primals.
        TypeError: an output is no tensor.
    """
    if not isinstance(primals, tuple):
        raise EngineError("primals have to be a tuple")
    indices = tuple(range(len(primals)))
    trace = Trace(func, primals, {}, indices, has_aux, forward=True)
    pushed = trace.push(tangents)
    if strict and not all(y.edge is not None for y in trace.outputs):
        raise GradError("an output does not depend on the primals")
    output, aux = trace.finish()
    return (output, pushed, aux) if has_aux else (output, pushed)


def linearize(func: Func, *primals: object) -> tuple[Any, Func]:
    """Run ``func`` once, and return its output with the product by its Jacobian.

    Returns:
        ``(output, push)``. ``push(*tangents)``, of tangents nested and shaped as the
        primals are, gives the tangent of the output, of its shape.
    """
    trace = Trace(func, primals, {}, tuple(range(len(primals))), forward=True)
    output, _ = trace.finish()
    return output, lambda *tangents: trace.push(tangents)


def jacrev(
    func: Func,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Func:
    """Return the function that gives the Jacobian of ``func``, by reverse mode.

    Args:
        func: gives tensors, which may be nested.
        argnums: the arguments to differentiate by; a tuple gives a tuple.
        has_aux: return ``(jacobian, aux)``.
        chunk_size: accepted; rows are computed one by one.

    Returns:
        A function of the same arguments that gives, nested as the outputs are, blocks
        of shape ``output.shape + argument.shape``.
    """
    return _jacobian(func, argnums, has_aux, forward=False)


def jacfwd(
    func: Func,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Func:
    """Derive as `jacrev` does, by forward mode; better where outputs outnumber inputs.

    ``randomness`` is that of `vmap`, over the columns; all are of one run of ``func``,
    so that they share its draws even if these may be different.
    """

    @wraps(func)
    def run(*args: object, **kwargs: object) -> Any:
        with Samples(randomness).one():
            return func(*args, **kwargs)

    return _jacobian(run, argnums, has_aux, forward=True)


def hessian(func: Func, argnums: Argnums = 0) -> Func:
    """Return the function that gives ``func``'s Hessian: forward over reverse mode.

    Returns:
        A function of the same arguments that gives blocks of shape
        ``output.shape + argument.shape + argument.shape``.
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _jacobian(func: Func, argnums: Argnums, has_aux: bool, forward: bool) -> Func:
    @wraps(func)
    def jacobian(*args: object, **kwargs: object) -> object:
        trace = Trace(func, args, kwargs, argnums, has_aux, forward)
        recorded, outputs = trace.recorded, demand_tensors(trace.outputs)
        with enable_grad():
            rows = blocks_of(outputs, trace.inputs, recorded, forward)
        nested = trace.output_shape.fill([trace.shape.fill(row) for row in rows])
        found = trace.settle(nested)
        _, aux = trace.finish()
        return (found, aux) if has_aux else found

    return jacobian


def demand_tensor(x: object) -> Tensor:
    """Return a tensor, which a function takes or gives.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(x, Tensor):
        raise TypeError(
            f"a transformed function takes and gives tensors, not {type(x)}"
        )
    return x


def demand_tensors(found: Sequence[object]) -> list[Tensor]:
    """Return the leaves of an argument or an output, which have to be tensors."""
    return [demand_tensor(x) for x in found]


def _counted(argnums: Any, count: int) -> list[int]:
    """Return the arguments' numbers, counted from the front.

    Raises:
        EngineError: one is no number, out of range, or given twice.
    """
    wanted = argnums if isinstance(argnums, tuple) else (argnums,)
    fit = all(isinstance(n, int) and -count <= n < count for n in wanted)
    found = [n % count for n in wanted] if fit else []
    if not found or len({*found}) < len(found):
        raise EngineError(
            f"argnums has to name some of {count} positional arguments, each once, not "
            f"{argnums!r}"
        )
    return found
