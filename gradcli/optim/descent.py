"""Optimizers that change each parameter by its own gradient and state alone.

Invariant: an update rule is one function of arrays; with ``differentiable=True`` it is
run with recording tensors instead, so that the step itself has derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.creation import tensor
from ..engine.modes import MODE, enable_grad
from ..engine.namespace import Namespace
from ..engine.raw import Params, Raw
from ..engine.record import RECORDING
from ..engine.tensor import Tensor
from ..engine.versions import touch
from ..ops.types import Array, Operand
from .optimizer import Group, Optimizer, evaluated


class Kept:
    """One parameter's state: arrays, or tensors where the step is recorded."""

    __slots__ = ("parameter", "recorded", "state")

    def __init__(self, parameter: Tensor, state: Params, recorded: bool) -> None:
        self.parameter = parameter
        self.state = state
        self.recorded = recorded

    def __getitem__(self, name: str) -> Any:
        value = self.state[name]
        return value if self.recorded else value.raw

    def __contains__(self, name: object) -> bool:
        return name in self.state

    def begin(self, *zeros: str, **numbers: float) -> bool:
        """At the first step, begin with zeros beside the parameter and with numbers
        in main memory, ``step`` among them; whether it is the first one."""
        if self.state:
            return False
        self.state["step"] = tensor(0.0)
        for name, number in numbers.items():
            self.state[name] = tensor(float(number))
        for name in zeros:
            self.fill(name, 0.0)
        return True

    def fill(self, name: str, number: float) -> None:
        """Put an array of one number, of the parameter's shape, into the state."""
        xp, like = self.parameter.xp, self.parameter._shareable()
        self.state[name] = Tensor(xp.new_full(like, like.shape, number), xp)

    def hold(self, name: str, value: Any) -> Any:
        """Put a copy of a value into the state and give it back."""
        if self.recorded:
            self.state[name] = value.detach().clone()
        else:
            xp = self.parameter.xp
            self.state[name] = Tensor(xp.clone(value), xp)
        return self[name]

    def count(self) -> float:
        """Count one step more and give the number of steps so far."""
        raw = self.state["step"].raw
        raw += 1
        return float(raw)


class Descent(Optimizer):
    """An optimizer that changes each parameter by its own gradient and state alone.

    A subclass says in ``update`` what happens to one parameter.
    """

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients anew.

        Returns:
            What the closure gave.
        """
        loss = evaluated(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad, group)
        return loss

    def _change(self, parameter: Tensor, gradient: Tensor, group: Group) -> None:
        recorded = bool(group.get("differentiable"))
        kept = Kept(parameter, self.state[parameter], recorded)
        if recorded:
            with enable_grad():
                g = -gradient if group.get("maximize") else gradient
                self.update(RECORDING, parameter, g, kept, group, group["lr"])
            return
        g = -gradient.raw if group.get("maximize") else gradient.raw
        raw = parameter._shareable()
        MODE.change(raw)
        self.update(parameter.xp, raw, g, kept, group, float(group["lr"]))
        touch(raw)

    def update(
        self, xp: Namespace, p: Array, g: Array, kept: Kept, o: Group, lr: Operand
    ) -> None:
        """Change ``p`` in place by the gradient ``g``, with options ``o``."""
        raise NotImplementedError


def sum_of_squares(kept: Kept, o: Group) -> None:
    """Begin the state that `adagrad` keeps from when a parameter is added."""
    if kept.begin():
        kept.fill("sum", o["initial_accumulator_value"])


class SummingFromTheStart(Descent):
    """Gradient descent whose state begins when a parameter is added."""

    def _begin(self, params: object, defaults: Group) -> None:
        super()._begin(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                kept = Kept(parameter, self.state[parameter], False)
                sum_of_squares(kept, group)


def move_towards(mean: Raw, new: Array, share: Operand) -> None:
    """``mean`` moved in place by a share of its distance to ``new``, from the nearer
    end."""
    if share < 0.5:
        mean += share * (new - mean)
    else:
        mean[...] = new - (new - mean) * (1 - share)


def decayed(p: Array, g: Array, o: Group, lr: Operand) -> Array:
    """Add the parameter's share to the gradient, or shrink the parameter itself."""
    decay = o["weight_decay"]
    if not decay:
        return g
    if o.get("decoupled_weight_decay"):
        p *= 1 - lr * decay
        return g
    found: Array = g + decay * p
    return found
