"""The transforms behind `gradcli.func`.

Invariant: `_Trace` runs a function on tensors of its own. A result is recorded if
recording is on where it is asked for, and the function's graph leads to anything but
those tensors; otherwise it is taken out of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from typing import Any

from ..engine.changes import DERIVATIVE, apart_from
from ..engine.draws import Samples
from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as _forward
from ..engine.modes import MODE, enable_grad, following, renewing
from ..engine.node import AccumulateGrad
from ..engine.tensor import Tensor, note_sharer, ones_for, unrecorded, with_edge
from ..engine.walk import reaches_leaf
from .blocks import blocks_of, filled, own_copy, pull
from .vmap import flatten

Func = Callable[..., Any]
Argnums = int | tuple[int, ...]


class _Trace:
    """A function run on fresh copies of the arguments that are differentiated by.

    ``forward`` says that tangents will be pushed: the function may then change its
    arguments in place.
    """

    def __init__(self, func: Func, args: tuple[object, ...], kwargs: dict[str, object],
                 argnums: Argnums, has_aux: bool, name: str, forward: bool = False
                 ) -> None:  # fmt: skip
        indices = _counted(argnums, len(args))
        nested = [args[index] for index in indices]
        leaves, self.shape = flatten(nested[0] if isinstance(argnums, int) else
                                     tuple(nested))  # fmt: skip
        with enable_grad():
            given = [_fresh(x) for x in leaves]
            # Of the same edges, whatever the function does to its arguments.
            self.inputs = [with_edge(x.raw, x.xp, x.edge) for x in given]
            self.edges = frozenset(x.edge for x in self.inputs)
            if forward:
                # The function may change them, and with them the caller's, in place.
                for leaf, fresh in zip(leaves, given, strict=True):
                    if isinstance(fresh.edge, AccumulateGrad):
                        fresh.edge.changeable = True
                        note_sharer(leaf, fresh)
            replaced = self.shape.fill(given)
            own = (replaced,) if isinstance(argnums, int) else replaced
            full = list(args)
            for index, value in zip(indices, own, strict=True):
                full[index] = value
            own_tensors = (*given, *flatten((args, kwargs))[0])
            with (
                following(self.edges, forward=forward),
                apart_from(own_tensors, DERIVATIVE),
                renewing() if forward else nullcontext(),
            ):
                result = func(*full, **kwargs)
        self.aux = None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise EngineError(
                    f"{name}: output of function f should be a tuple: (output, aux) if "
                    "has_aux is True"
                )
            result, self.aux = result
        self.outputs, self.output_shape = flatten(result)
        self.reaches_out = any(x.edge is not None for x in leaves) or reaches_leaf(
            [y.edge for y in self.outputs if isinstance(y, Tensor)], self.edges
        )

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
            return leaf if recorded else unrecorded(leaf)

        leaves, shape = flatten(value)
        return shape.fill(map(settled, leaves))

    def close(self) -> None:
        """Mark the fresh inputs as done with: nobody asks for their gradients."""
        for x in self.inputs:
            if isinstance(x.edge, AccumulateGrad):
                x.edge.given_up = True

    def value(self) -> Any:
        """Return what the function gave."""
        return self.settle(self.output_shape.fill(self.outputs))

    def demand_tensors(self, name: str) -> list[Tensor]:
        """Return the outputs, which have to be tensors."""
        for y in self.outputs:
            if not isinstance(y, Tensor):
                raise EngineError(
                    f"{name}: Expected f(*args) to return tensors, got unsupported "
                    f"type {type(y)}"
                )
        return self.outputs

    def pull(self, cotangents: Sequence[Tensor], recorded: bool) -> list[Tensor]:
        """Return the gradients of the inputs; zeros where nothing depends on one."""
        found = pull(self.outputs, self.inputs, cotangents, recorded)
        return filled(found, self.inputs)


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
        EngineError: when it is called, and ``func`` gives something else.
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: object, **kwargs: object) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """Derive as `grad`; give ``(gradient, value)``, or ``(gradient, (value, aux))``."""
    name = "grad_and_value(f)(*args)"

    @wraps(func)
    def gradient_and_value(*args: object, **kwargs: object) -> object:
        trace = _Trace(func, args, kwargs, argnums, has_aux, name)
        y = trace.output_shape.fill(trace.outputs)
        if not isinstance(y, Tensor):
            raise EngineError(
                f"{name}: Expected f(*args) to return a Tensor, got {type(y)}"
            )
        if y.dim():
            raise GradError(
                f"{name}: Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{y.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs "
                "instead?"
            )
        gradient = trace.pull([ones_for(y)], trace.recorded)
        found = trace.settle(trace.shape.fill(gradient))
        value, aux = trace.value(), trace.settle(trace.aux)
        trace.close()
        return (found, (value, aux)) if has_aux else (found, value)

    return gradient_and_value


def vjp(func: Func, *primals: object, has_aux: bool = False) -> Any:
    """Run ``func``, and return its output with the product by its Jacobian.

    Args:
        func: gives tensors, which may be nested; with ``has_aux``, a pair of them and
            anything.
        primals: its arguments, tensors or nested tensors.
        has_aux: return ``(output, pull, aux)``.

    Returns:
        ``(output, pull)``. ``pull(cotangents)``, of cotangents nested and shaped as the
        output is, gives a tuple of gradients nested and shaped as the primals are; it
        may be called repeatedly.

    Raises:
        EngineError: an output is no tensor.
    """
    name = "vjp(f, *primals)"
    trace = _Trace(func, primals, {}, tuple(range(len(primals))), has_aux, name)
    trace.demand_tensors(name)

    def pull(
        cotangents: object, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[object, ...]:
        given, shape = flatten(cotangents)
        if shape != trace.output_shape:
            raise EngineError(
                "Expected pytree structure of cotangents to be the same as pytree "
                f"structure of outputs to the function. cotangents: {shape}, primal "
                f"output: {trace.output_shape}"
            )
        wanted = any(isinstance(v, Tensor) and v.edge is not None for v in given)
        recorded = trace.recorded or (MODE.enabled and wanted)
        pulled = trace.shape.fill(trace.pull(given, recorded))
        found: tuple[object, ...] = pulled if wanted else trace.settle(pulled)
        return found

    output, aux = trace.value(), trace.settle(trace.aux)
    trace.close()
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
        func: gives tensors, which may be nested; with ``has_aux``, a pair of them and
            anything.
        primals: its arguments, tensors or nested tensors, as a tuple.
        tangents: nested and shaped as ``primals`` are.
        strict: refuse an output that does not depend on the primals.
        has_aux: return ``(output, tangent, aux)``.

    Returns:
        ``(output, tangent)``, the second nested and shaped as the first.

    Raises:
        EngineError: tangents do not fit the primals, or an output is no tensor.
    """
    name = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple) or not primals:
        raise EngineError(
            f"{name}: Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)."
        )
    indices = tuple(range(len(primals)))
    trace = _Trace(func, primals, {}, indices, has_aux, name, forward=True)
    pushed = _push(trace, tangents, name, strict)
    output, aux = trace.value(), trace.settle(trace.aux)
    trace.close()
    return (output, pushed, aux) if has_aux else (output, pushed)


def linearize(func: Func, *primals: object) -> tuple[Any, Func]:
    """Run ``func`` once, and return its output with the product by its Jacobian.

    Returns:
        ``(output, push)``. ``push(*tangents)``, of tangents nested and shaped as the
        primals are, gives the tangent of the output, of its shape.
    """
    name = "linearize(f, *primals)"
    indices = tuple(range(len(primals)))
    trace = _Trace(func, primals, {}, indices, False, name, forward=True)
    output = trace.value()
    trace.close()
    return output, lambda *tangents: _push(trace, tangents, name, False)


def _push(
    trace: _Trace, tangents: tuple[object, ...], name: str, strict: bool
) -> object:
    """Return the outputs' tangents, nested as the outputs are."""
    given, shape = flatten(tangents)
    if shape != trace.shape:
        raise EngineError(
            f"{name}: Expected primals and tangents to have the same python structure. "
            "For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {trace.shape} and tangents with structure "
            f"{shape}"
        )
    outputs = trace.demand_tensors(name)
    if strict and not all(y.edge is not None for y in outputs):
        raise GradError(f"{name}: an output does not depend on the primals")
    wanted = MODE.enabled and any(t.edge is not None for t in given)
    pushed = _forward(outputs, trace.inputs, given, trace.recorded or wanted)
    nested = trace.output_shape.fill(pushed)
    return nested if wanted else trace.settle(nested)


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
    return _jacobian(func, argnums, has_aux, "jacrev(f)(*args)", forward=False)


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

    return _jacobian(run, argnums, has_aux, "jacfwd(f)(*args)", forward=True)


def hessian(func: Func, argnums: Argnums = 0) -> Func:
    """Return the function that gives ``func``'s Hessian: forward over reverse mode.

    Returns:
        A function of the same arguments that gives blocks of shape
        ``output.shape + argument.shape + argument.shape``.
    """
    return jacfwd(jacrev(func, argnums), argnums)


def _jacobian(
    func: Func, argnums: Argnums, has_aux: bool, name: str, forward: bool
) -> Func:
    @wraps(func)
    def jacobian(*args: object, **kwargs: object) -> object:
        trace = _Trace(func, args, kwargs, argnums, has_aux, name, forward)
        trace.demand_tensors(name)
        recorded = trace.recorded
        with enable_grad():
            rows = blocks_of(trace.outputs, trace.inputs, recorded, forward)
        nested = trace.output_shape.fill([trace.shape.fill(row) for row in rows])
        found, aux = trace.settle(nested), trace.settle(trace.aux)
        trace.close()
        return (found, aux) if has_aux else found

    return jacobian


def _fresh(x: object) -> Tensor:
    """Return a tensor to differentiate by; what it was made from stays reachable."""
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    return own_copy(x)


def _counted(argnums: Any, count: int) -> list[int]:
    """Return the arguments' numbers, counted from the front.

    Raises:
        EngineError: one is no number, out of range, or given twice.
    """
    several = isinstance(argnums, tuple)
    if not several and not isinstance(argnums, int):
        raise EngineError(
            f"argnums must be int or Tuple[int, ...], got: {type(argnums)}"
        )
    wanted = argnums if several else (argnums,)
    if not wanted:
        raise EngineError("argnums must be non-empty")
    for argnum in wanted:
        if not isinstance(argnum, int):
            raise EngineError(f"argnum must be int, got: {type(argnum)}")
        if not -count <= argnum < count:
            raise EngineError(
                f"Got argnum={argnum}, but only {count} positional inputs"
            )
    found = [argnum % count for argnum in wanted]
    if len(set(found)) != len(found):
        raise EngineError(f"argnums elements must be unique, got {tuple(found)}")
    return found
