"""Jacobians, Hessians and products with them, of a function and its inputs.

Invariant: the function is run on tensors of its own, so that no graph outside it is
entered or changed; with ``create_graph`` the results can be differentiated by the
inputs, without it they stand outside every graph.

    jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))     # diag(2 * x)
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ..engine.errors import EngineError, GradError
from ..engine.forward import jvp as push
from ..engine.modes import MODE, enable_grad, following
from ..engine.tensor import Tensor, ones_for, zeros_for
from ..engine.walk import reaches
from .blocks import blocks_of, filled, pull
from .entry import naming
from .transforms import Func, Trace, demand_tensors
from .vmap import flatten

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
__dir__ = __all__.copy

MODES = {"reverse-mode": False, "forward-mode": True}
"""Whether a mode pushes tangents, by its name."""

FOLLOWED = (
    "autograd.functional.* without create_graph=True gives results outside the graph, "
    "and is called inside of a function being transformed, whose derivative would lose "
    "them. Pass create_graph=True, or use the transforms of gradcli.func (grad, vjp, "
    "jacrev, jacfwd, hessian); detach() the inputs if they are meant to be constant."
)
IN_STRICT = " This is not allowed in strict mode."
NO_OUTPUT = (
    "Output {} of the user-provided function does not require gradients. The outputs "
    "must be computed in a differentiable manner from the input when running in strict "
    "mode."
)
NO_INPUT = "The output of the user-provided function is independent of input {}."
NO_INPUT += IN_STRICT
NO_ROW = "Output {} of the user-provided function is independent of input {}."
NO_ROW += IN_STRICT
CONSTANT = "The {} of the user-provided function is independent of input {}."
CONSTANT += IN_STRICT
CONSTANT_GRAPH = f"{CONSTANT[:-1]} when create_graph=True."
NO_GRADIENT = (
    "The gradient with respect to input {} is independent of the inputs of the "
    f"user-provided function.{IN_STRICT}"
)
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {} is independent of the input. This is not "
    "allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example)."
)
NO_TANGENT = (
    "The gradient with respect to the input is independent of entry {} in the "
    "grad_outputs when using the double backward trick to compute forward mode "
    f"gradients.{IN_STRICT}"
)
NO_SECOND = (
    "The hessian of the user-provided function is independent of entry {} in the "
    "grad_jacobian. This is not allowed in strict mode as it prevents from using the "
    "double backward trick to replace forward mode AD."
)
LONE = "The function given to {} should return a single Tensor"
SINGLE = (
    "The Tensor returned by the function given to {} should contain a single element"
)
APART = (
    "torch.autograd.functional.jacobian: `strict=True` and `{}` are not supported "
    "together{}. Please either set `strict=False` or `{}`."
)


@naming
def jacobian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of every output entry by every input entry.

    Args:
        func: takes tensors, gives a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors.
        create_graph: make the result differentiable by the inputs.
        strict: raise where an output does not depend on an input.
        vectorize: accepted; it changes no result.
        strategy: "reverse-mode" or "forward-mode".

    Returns:
        A block of shape ``output.shape + input.shape``, nested as those are.
    """
    forward = _pushes(strategy, strict)
    run = _Run(func, inputs, create_graph, strict, forward)
    run.demand_rows(run.outputs, vectorize)
    with enable_grad():
        rows = blocks_of(run.outputs, run.inputs, create_graph, forward)
    return run.as_outputs([run.as_inputs(row) for row in rows])


@naming
def hessian(
    func: Func,
    inputs: object,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function with one scalar output, as blocks
    of shape ``input.shape + input.shape``; the arguments are those of `jacobian`."""
    forward = _pushes(outer_jacobian_strategy, strict)
    run = _Run(func, inputs, create_graph, strict, forward)
    gradient = filled(run.gradient("hessian"), run.inputs)
    run.demand_gradients(gradient, LINEAR)
    run.demand_rows(gradient, vectorize)
    with enable_grad():
        rows = blocks_of(gradient, run.inputs, create_graph, forward)
    return run.as_inputs([run.as_inputs(row) for row in rows])


def vjp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of ``v`` with the Jacobian, a part per input.

    Args:
        v: a cotangent per output, of its shape; may be left out where the only output
            has one entry.
        strict: raise where no output depends on an input.

    The others are those of `jacobian`.

    Raises:
        GradError: ``v`` does not fit the outputs.
    """
    run = _Run(func, inputs, create_graph, strict)
    cotangents = _vector(v, run.outputs, "user-provided function returns")
    with enable_grad():
        found = pull(run.outputs, run.inputs, cotangents, create_graph)
    run.demand_all(found, NO_INPUT, "jacobian")
    return run.as_outputs(run.outputs), run.as_inputs(filled(found, run.inputs))


def jvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the outputs, and the product of the Jacobian with ``v``, by forward mode.

    ``v`` has a tangent per input, of its shape; it may be left out where the only input
    has one entry. The others are those of `vjp`.
    """
    run = _Run(func, inputs, create_graph, strict)
    tangents = _vector(v, run.inputs, "input to the user-provided function is")
    if strict:
        again, seeds = run.transposed(run.outputs)
        run.demand_gradients(again, NO_GRADIENT)
        found = pull_some(again, seeds, tangents, create_graph)
        run.demand_all(found, NO_TANGENT, "jacobian")
    with enable_grad():
        pushed = push(run.outputs, run.inputs, tangents, create_graph)
    return run.as_outputs(run.outputs), run.as_outputs(pushed)


def vhp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and ``v`` times the Hessian, by two reverse passes.

    ``func`` gives a tensor with one entry; ``v`` has a vector per input, of its shape,
    and may be left out where the only input has one entry.

    Raises:
        GradError: ``func`` gives no scalar, or ``v`` does not fit the inputs.
    """
    return _product(_Run(func, inputs, create_graph, strict), v, forward=False)


def hvp(
    func: Func,
    inputs: object,
    v: object = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return the value, and the Hessian times ``v``, by forward over reverse; what it
    takes and gives is what `vhp` does."""
    return _product(_Run(func, inputs, create_graph, strict), v, forward=True)


def _product(run: _Run, v: object, forward: bool) -> tuple[Any, Any]:
    """Return the value of a function, and its Hessian times a vector."""
    vector = _vector(v, run.inputs, "input to the user-provided function is")
    gradient = run.gradient("hvp" if forward else "vhp")
    run.demand_gradients(gradient, LINEAR)
    with enable_grad():
        given = filled(gradient, run.inputs), run.inputs, vector, run.create_graph
        found: Sequence[Tensor | None] = push(*given) if forward else pull(*given)
    if run.strict and forward:
        again, seeds = run.transposed(filled(gradient, run.inputs))
        second = pull_some(again, seeds, vector, run.create_graph)
        run.demand_all(second, NO_SECOND, "hessian")
    elif run.strict:
        run.demand_all(found, CONSTANT.format("jacobian", "{}"), "hessian")
    return run.as_outputs(run.outputs), run.as_inputs(filled(found, run.inputs))


class _Run(Trace):
    """A function that is run on inputs of its own, which may come from a graph that
    results with ``create_graph`` belong to.

    Results of ``as_inputs`` and ``as_outputs`` are nested as inputs or outputs were,
    and outside the graph unless they are to be recorded.
    """

    def __init__(
        self, func: Func, inputs: object, create_graph: bool, strict: bool,
        forward: bool = False,
    ) -> None:  # fmt: skip
        self.create_graph, self.strict = create_graph, strict
        args = inputs if isinstance(inputs, tuple) else (inputs,)
        every = tuple(range(len(args))) if isinstance(inputs, tuple) else 0
        super().__init__(func, args, {}, every, forward=forward)
        self.outputs = demand_tensors(self.outputs)
        for nr, y in enumerate(self.outputs if strict else ()):
            if not y.requires_grad:
                raise GradError(NO_OUTPUT.format(nr))
        followed = frozenset().union(*MODE.traced)
        edges = [x.edge for x in (*self.given, *self.outputs)]
        if followed and not create_graph and reaches(edges, followed):
            raise EngineError(FOLLOWED)

    def _enter(
        self, around: ExitStack, fresh: list[Tensor], args: object, forward: bool
    ) -> None:
        around.enter_context(following(self.edges, transform=False, forward=forward))

    def as_inputs(self, values: Sequence[object]) -> Any:
        return self.shape.fill(map(self._settled, values))

    def as_outputs(self, values: Sequence[object]) -> Any:
        return self.output_shape.fill(map(self._settled, values))

    def _settled(self, value: object) -> object:
        if self.create_graph or not isinstance(value, Tensor):
            return value
        return value.detach()

    def demand_all(
        self, found: Sequence[Tensor | None], missing: str, what: str
    ) -> None:
        """Raise GradError where this is strict and a derivative is missing, or is
        constant where it was to be recorded; ``what`` is its name."""
        for nr, g in enumerate(found if self.strict else ()):
            if g is None:
                raise GradError(missing.format(nr))
            if self.create_graph and not g.requires_grad:
                raise GradError(CONSTANT_GRAPH.format(what, nr))

    def demand_gradients(self, found: Sequence[Tensor | None], constant: str) -> None:
        """Raise GradError where this is strict and a recorded gradient is missing, or
        is constant."""
        for nr, g in enumerate(found if self.strict else ()):
            if g is None or not g.requires_grad:
                raise GradError((NO_INPUT if g is None else constant).format(nr))

    def demand_rows(self, outputs: Sequence[Tensor], vectorize: bool) -> None:
        """Raise GradError where this is strict and an output does not depend on an
        input, or its derivative is constant where it was to be recorded."""
        if self.strict and vectorize:
            raise EngineError(APART.format("vectorized=True", "", "vectorize=False"))
        for nr, y in enumerate(outputs if self.strict else ()):
            if not y.numel():
                continue
            with enable_grad():
                found = pull([y], self.inputs, [ones_for(y)], self.create_graph)
            for at, g in enumerate(found):
                if g is None:
                    raise GradError(NO_ROW.format(nr, at))
                if self.create_graph and not g.requires_grad:
                    raise GradError(CONSTANT_GRAPH.format("jacobian", nr))

    def transposed(
        self, outputs: Sequence[Tensor]
    ) -> tuple[list[Tensor | None], list[Tensor]]:
        """Return the recorded product of cotangents with the Jacobian of ``outputs``,
        and the cotangents, zeros, that it is a linear function of."""
        with enable_grad():
            seeds = [zeros_for(y).requires_grad_(True) for y in outputs]
            return pull(outputs, self.inputs, seeds, True), seeds

    def gradient(self, name: str) -> list[Tensor | None]:
        """Return the recorded gradient of the one scalar output, which the function
        ``name`` asks for."""
        single = len(self.outputs) == 1
        if not single or self.outputs[0].numel() != 1:
            error = SINGLE if single else LONE
            raise GradError(error.format(name))
        with enable_grad():
            return pull(self.outputs, self.inputs, [ones_for(self.outputs[0])], True)


def pull_some(
    found: Sequence[Tensor | None],
    inputs: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    create_graph: bool,
) -> list[Tensor | None]:
    """Return the cotangents of ``inputs``, as `pull`, of the outputs that there are."""
    pairs = zip(found, cotangents, strict=True)
    there = [(y, g) for y, g in pairs if y is not None]
    with enable_grad():
        outputs, given = ([each[nr] for each in there] for nr in (0, 1))
        return pull(outputs, inputs, given, create_graph)


def _pushes(strategy: str, strict: bool) -> bool:
    """Return whether a strategy is that of forward mode, which is never strict."""
    if strategy not in MODES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode".'
        )
    if strict and MODES[strategy]:
        other = 'strategy="forward-mode"', " (yet)", 'strategy="reverse-mode"'
        raise EngineError(APART.format(*other))
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
