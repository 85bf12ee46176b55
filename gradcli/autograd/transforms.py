"""Transforms of functions: `gradcli.func`, `vmap` and `gradcli.autograd.functional`.

Invariant: `DerivativeTrace` runs a function on tensors of its own. A result of
`gradcli.func` is recorded if recording is on where it is asked for, and the function's
graph leads to anything but those tensors; otherwise it is taken out of the graph. One
of `gradcli.autograd.functional` is recorded with ``create_graph``, and not without it.
A function under `vmap` runs once per sample, and results are stacked: all that works
for one sample works for a batch, is differentiable, and is no faster than a loop.

    grad(lambda x: x**3)(torch.tensor(2.0))                # tensor(12.)
    vmap(torch.dot, in_dims=(0, None))(rows, w)
    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from typing import Any

from ..engine.errors import EngineError, GradError, naming
from ..engine.forward import jvp as push
from ..engine.methods import named
from ..engine.modes import MODE, enable_grad, following, renewing
from ..engine.node import AccumulateGrad
from ..engine.record import call
from ..engine.tensor import Tensor, note_sharer, ones_for, with_edge, zeros_for
from ..engine.walk import reaches, reaches_leaf
from ..large.blocks import blocks_of, filled, fresh_alias, pull
from ..torch.draws import SampledDraws
from ..torch.inplace import DERIVATIVE, SAMPLES, separate_from
from .nested import Shape, flatten

Func = Callable[..., Any]
Argnums = int | tuple[int, ...]


class DerivativeTrace:
    """A function run on fresh copies of the arguments that are differentiated by.

    ``forward`` says that tangents will be pushed: in a ``transform``, one of
    `gradcli.func`, the function may then change its arguments in place.
    """

    def __init__(
        self, func: Func, args: tuple[object, ...], kwargs: dict[str, object],
        argnums: Argnums, has_aux: bool = False, forward: bool = False,
        transform: bool = True,
    ) -> None:  # fmt: skip
        several = isinstance(argnums, tuple)
        indices = _counted(argnums, len(args))
        nested = tuple(args[index] for index in indices)
        self.given, self.shape = flatten(nested if several else nested[0])
        with enable_grad():
            fresh = [fresh_alias(demand_tensor(x)) for x in self.given]
            # Of the same edges, whatever the function does to its arguments.
            self.inputs = [with_edge(x.raw, x.xp, x.edge) for x in fresh]
            self.edges = frozenset(x.edge for x in self.inputs)
            replaced = self.shape.fill(fresh)
            full = list(args)
            values = replaced if several else (replaced,)
            for index, value in zip(indices, values, strict=True):
                full[index] = value
            with ExitStack() as around:
                around.enter_context(following(self.edges, transform, forward))
                if transform:
                    own = (*fresh, *flatten((args, kwargs))[0])
                    around.enter_context(separate_from(own, DERIVATIVE))
                if transform and forward:
                    around.enter_context(renewing())
                    # The function may change them, and with them the caller's.
                    for leaf, x in zip(self.given, fresh, strict=True):
                        if isinstance(x.edge, AccumulateGrad):
                            x.edge.changeable = True
                            note_sharer(leaf, x)
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

    def blocks(
        self, outputs: Sequence[Tensor], shape: Shape, recorded: bool, forward: bool
    ) -> Any:
        """Return the Jacobian of ``outputs``, nested as these, then as the inputs."""
        with enable_grad():
            rows = blocks_of(outputs, self.inputs, recorded, forward)
        return shape.fill([self.shape.fill(row) for row in rows])

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
        trace = DerivativeTrace(func, args, kwargs, argnums, has_aux)
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
    trace = DerivativeTrace(func, primals, {}, tuple(range(len(primals))), has_aux)
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
    has_aux: bool = False,
) -> Any:
    """Run ``func``, and return its output with its Jacobian times ``tangents``.

    Args:
        primals, tangents: tuples that are nested and shaped alike.
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
    trace = DerivativeTrace(func, primals, {}, indices, has_aux, forward=True)
    pushed = trace.push(tangents)
    output, aux = trace.finish()
    return (output, pushed, aux) if has_aux else (output, pushed)


def linearize(func: Func, *primals: object) -> tuple[Any, Func]:
    """Run ``func`` once, and return its output with the product by its Jacobian.

    Returns:
        ``(output, push)``. ``push(*tangents)``, of tangents nested and shaped as the
        primals are, gives the tangent of the output, of its shape.
    """
    trace = DerivativeTrace(func, primals, {}, tuple(range(len(primals))), forward=True)
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
        with SampledDraws(randomness).one():
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
        trace = DerivativeTrace(func, args, kwargs, argnums, has_aux, forward)
        recorded, outputs = trace.recorded, demand_tensors(trace.outputs)
        nested = trace.blocks(outputs, trace.output_shape, recorded, forward)
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


# Batches.

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Func,
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Func:
    """Return the function that runs ``func`` on each sample of its arguments' batches.

    Args:
        func: takes and gives tensors, which may be nested in tuples, lists and dicts.
        in_dims: the dimension of each argument along which samples lie; None for an
            argument that all samples share. One number, or a tuple, nested as far as
            the arguments are.
        out_dims: where the samples' dimension is put in each output.
        randomness: whether samples may draw random numbers: ``error``, they may not;
            ``different``, each draws its own; ``same``, all draw those of the first.
        chunk_size: accepted; samples are run one by one.

    Raises:
        ValueError: the batches differ in size, or dimensions do not fit.
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )

    @wraps(func)
    def mapped(*args: object, **kwargs: object) -> object:
        leaves, shape = flatten(args)
        named, named_shape = flatten(kwargs)
        dims = _in_dims(leaves, shape, in_dims)
        dims += [0 if isinstance(x, Tensor) else None for x in named]
        pairs = list(zip(leaves + named, dims, strict=True))
        sizes = [x.shape[dim] for x, dim in pairs if dim is not None]
        if len(set(sizes)) > 1:
            raise ValueError(f"vmap: batches are of one size, got sizes {sizes}")
        samples, size = SampledDraws(randomness), int(sizes[0])
        per_sample: list[list[object]] = []
        nested = Shape()
        for nr in range(max(size, 1)):
            own = [_sample(x, dim, nr, size) for x, dim in pairs]
            mapped_over = [
                x for x, dim in zip(own, dims, strict=True) if dim is not None
            ]
            with samples.one(nr), separate_from(mapped_over, SAMPLES):
                result = func(
                    *shape.fill(own[: len(leaves)]),
                    **named_shape.fill(own[len(leaves) :]),
                )
                outputs, nested = flatten(result)
                per_sample.append(outputs)
        return _batched(per_sample, nested, size, out_dims)

    return mapped


def _in_dims(leaves: Sequence[Any], shape: Shape, in_dims: object) -> list[int | None]:
    """Return the batch dimension of each leaf, counted from the front; None: shared."""
    spread = shape.spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims)
    if spread is None or all(dim is None for dim in spread):
        raise ValueError(
            f"vmap: in_dims={in_dims} is not compatible with the inputs: it is a "
            "number, or numbers and None nested as the inputs are, not all of them None"
        )
    found: list[int | None] = []
    for x, dim in zip(leaves, spread, strict=True):
        if dim is None:
            found.append(None)
            continue
        known = isinstance(dim, int) and isinstance(x, Tensor)
        if not known or not -x.dim() <= dim < x.dim():
            what = f"a tensor of {x.dim()} dimensions" if known else f"{type(x)}"
            raise ValueError(f"vmap: in_dim={dim} is no dimension of {what}")
        found.append(dim % x.dim())
    return found


def _sample(x: Any, dim: int | None, nr: int, size: int) -> Any:
    """Return one sample of a batch; of an empty one, zeros."""
    if dim is None:
        return x
    if size:
        return call("select", x, dim, nr)
    return zeros_for(x, (*x.shape[:dim], *x.shape[dim + 1 :]))


def _batched(
    per_sample: Sequence[Sequence[Any]], nested: Shape, size: int, out_dims: object
) -> object:
    """Stack the samples' outputs, nested as one sample's are."""
    spread = nested.spread(out_dims)
    if spread is None:
        raise ValueError(
            f"vmap: out_dims={out_dims} is not compatible with the outputs"
        )
    stacked = []
    for parts, dim in zip(zip(*per_sample, strict=True), spread, strict=True):
        y = parts[0]
        if dim is None:
            stacked.append(y)
        elif not all(isinstance(part, Tensor) for part in parts):
            raise ValueError(
                f"vmap: a function must only return Tensors, got type {type(y)}: it "
                "needs None in out_dims"
            )
        elif size:
            stacked.append(call("stack", list(parts), dim))
        else:
            at = dim % (y.dim() + 1)
            stacked.append(zeros_for(y, (*y.shape[:at], 0, *y.shape[at:])))
    return nested.fill(stacked)


# The names of `gradcli.autograd.functional`.

MODES = {"reverse-mode": False, "forward-mode": True}
"""Whether a mode pushes tangents, by its name."""

FOLLOWED = (
    "autograd.functional.* without create_graph=True gives results outside the graph, "
    "and is called inside of a function being transformed, whose derivative would lose "
    "them. Pass create_graph=True, or use the transforms of gradcli.func (grad, vjp, "
    "jacrev, jacfwd, hessian); detach() the inputs if they are meant to be constant."
)
LONE = "The function given to {} should return a single Tensor"
SINGLE = (
    "The Tensor returned by the function given to {} should contain a single element"
)


@naming
def jacobian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of every output entry by every input entry.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: make the result differentiable by the inputs.
        vectorize: accepted; it changes no result.
        strategy: "reverse-mode" or "forward-mode".

    Returns:
        A block of shape ``output.shape + input.shape``, nested as those are.
    """
    forward = _is_forward(strategy)
    trace = _at(func, inputs, create_graph, forward)
    shape = trace.output_shape
    return _detach_unless_recorded(
        trace.blocks(trace.outputs, shape, create_graph, forward), create_graph
    )


@naming
def hessian_at(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function with one scalar output, as blocks
    of shape ``input.shape + input.shape``; the arguments are those of `jacobian`."""
    forward = _is_forward(outer_jacobian_strategy)
    trace = _at(func, inputs, create_graph, forward)
    gradient = _gradient(trace, "hessian")
    return _detach_unless_recorded(
        trace.blocks(gradient, trace.shape, create_graph, forward), create_graph
    )


def _product(name: str, what: str, second: bool, forward: bool) -> Func:
    """Return a function that gives a function's outputs and a product of a vector with
    its Jacobian or, if ``second``, that of its gradient."""

    def product(
        func: Func, inputs: object, v: object = None, create_graph: bool = False
    ) -> tuple[Any, Any]:
        trace = _at(func, inputs, create_graph)
        outputs = _gradient(trace, name) if second else trace.outputs
        if forward or second:
            vector = _vector(v, trace.inputs, "input to the user-provided function is")
        else:
            vector = _vector(v, outputs, "user-provided function returns")
        given = outputs, trace.inputs, vector, create_graph
        with enable_grad():
            found = push(*given) if forward else filled(pull(*given), trace.inputs)
        shape = trace.output_shape if forward and not second else trace.shape
        value = trace.output_shape.fill(trace.outputs)
        return _detach_unless_recorded(value, create_graph), _detach_unless_recorded(
            shape.fill(found), create_graph
        )

    doc = f"""Return the outputs, and {what}.

    Args:
        func, inputs, create_graph: those of `jacobian`.
        v: a tensor for each that it is multiplied with, of its shape; may be left out
            where there is one, with one entry.

    Raises:
        GradError: ``v`` does not fit.
    """
    found: Func = naming(named(product, name, doc))
    return found


vjp_at = _product("vjp", "the product of ``v`` with the Jacobian", False, False)
jvp_at = _product("jvp", "the product of the Jacobian with ``v``", False, True)
vhp = _product("vhp", "``v`` times the Hessian of the one scalar output", True, False)
hvp = _product("hvp", "the Hessian of the one scalar output times ``v``", True, True)


def _at(
    func: Func, inputs: object, create_graph: bool, forward: bool = False
) -> DerivativeTrace:
    """Return the trace of a function at its inputs, to which results belong if they
    are recorded."""
    several = isinstance(inputs, tuple)
    args: Any = inputs if several else (inputs,)
    every = tuple(range(len(args))) if several else 0
    trace = DerivativeTrace(func, args, {}, every, forward=forward, transform=False)
    outputs = demand_tensors(trace.outputs)
    followed = frozenset().union(*MODE.traced)
    edges = [x.edge for x in (*trace.given, *outputs)]
    if followed and not create_graph and reaches(edges, followed):
        raise EngineError(FOLLOWED)
    return trace


def _detach_unless_recorded(value: object, create_graph: bool) -> Any:
    """Return a nested result, outside the graph unless it is to be recorded."""
    if create_graph:
        return value
    leaves, shape = flatten(value)
    return shape.fill([x.detach() for x in leaves])


def _gradient(trace: DerivativeTrace, name: str) -> list[Tensor]:
    """Return the recorded gradient of the one scalar output, which the function
    ``name`` asks for."""
    single = len(trace.outputs) == 1
    if not single or trace.outputs[0].numel() != 1:
        raise GradError((SINGLE if single else LONE).format(name))
    with enable_grad():
        ones = [ones_for(trace.outputs[0])]
        return filled(pull(trace.outputs, trace.inputs, ones, True), trace.inputs)


def _is_forward(strategy: str) -> bool:
    """Return whether a strategy is that of forward mode."""
    if strategy not in MODES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".'
        )
    return MODES[strategy]


def _vector(v: object, like: Sequence[Tensor], where: str) -> list[Tensor]:
    """Return the vector as tensors that fit ``like``; one where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise GradError(
                f"The vector v can only be None if the {where} a single Tensor with a "
                "single element."
            )
        return [ones_for(like[0])]
    given = demand_tensors(flatten(v)[0])
    sizes, wanted = ([tuple(t.shape) for t in ts] for ts in (given, like))
    if sizes != wanted:
        raise GradError(f"v has to have the sizes {wanted}, not {sizes}")
    return given
