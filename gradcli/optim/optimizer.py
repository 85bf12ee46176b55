"""Optimizers: groups of parameters, their state and options, and a rule for each step.

Invariant: every parameter is a leaf and in one group; ``state`` is keyed by the
parameter itself, and in `state_dict` by its number, so that it can be saved. A rule,
`Descent.update`, changes the array ``p`` in place by the gradient ``g``. Constructors
are PyTorch's, and so is the order of a group's options.

    for group in optimizer.param_groups:
        group["lr"] *= 0.5
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

from ..engine.modes import MODE, enable_grad
from ..engine.namespace import NumberSystem
from ..engine.raw import Params, Raw
from ..engine.tensor import Tensor, clear_grad
from ..engine.versions import touch
from ..torch.creation import tensor

Group = dict[str, Any]
State = dict[str, Any]
Rate = float | Tensor
"""Type of a learning rate, which is a tensor where a group's option is one."""


class Optimizer:
    """The base of all optimizers; a subclass defines ``step``.

    Args:
        params: tensors, or groups: dicts with tensors under "params" and options of
            the group's own.
        defaults: the options of groups that do not give their own.

    Raises:
        TypeError: a parameter is no tensor.
        ValueError: there are no parameters, one is in two groups, or one is no leaf.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[object, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        given: list[Any] = [params] if isinstance(params, Tensor) else list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(given[0], dict):
            given = [{"params": given}]
        for group in given:
            self.add_param_group(group)

    def __getstate__(self) -> State:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: State) -> None:
        self.__dict__.update(state)
        # A state of an older release lacks the options that came after it.
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters, with options of its own."""
        group = dict(param_group)
        given = group["params"]
        group["params"] = [given] if isinstance(given, Tensor) else list(given)
        for each in group["params"]:
            if not isinstance(each, Tensor):
                raise TypeError(
                    "optimizer can only optimize Tensors, but one of the params is "
                    f"{type(each).__name__}"
                )
            if not (each.is_leaf or each.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if known & {id(p) for p in group["params"]}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    def step(self, closure: Callable[..., object] | None = None) -> Any:
        """Change the parameters by their gradients."""
        raise NotImplementedError

    def state_dict(self) -> State:
        """Return the state and the groups, with numbers in place of the parameters."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore what `state_dict` returned, for parameters in the same order.

        Raises:
            ValueError: the number of groups or the size of one is another.
        """
        saved = state_dict["param_groups"]
        sizes, own = (
            [len(group["params"]) for group in groups]
            for groups in (saved, self.param_groups)
        )
        if sizes != own:
            raise ValueError(
                f"the loaded state has parameter groups of the sizes {sizes}, where "
                f"the optimizer's are of the sizes {own}"
            )
        by_number = {
            number: parameter
            for group, mine in zip(saved, self.param_groups, strict=True)
            for number, parameter in zip(group["params"], mine["params"], strict=True)
        }
        state: defaultdict[object, State] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = by_number.get(key)
            state[key if parameter is None else parameter] = _fitted(value, parameter)
        groups = []
        for group, mine in zip(saved, self.param_groups, strict=True):
            options = deepcopy({k: v for k, v in group.items() if k != "params"})
            groups.append(options | {"params": mine["params"]})
        self.__setstate__({"state": state, "param_groups": groups})

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [
                f"    {name}: {group[name]}"
                for name in sorted(group)
                if name != "params"
            ]
            lines.append("")
        return "\n".join(lines[:-1]) + "\n)"


def _fitted(value: object, parameter: Tensor | None) -> Any:
    """Return a copy of saved state, with tensors of the parameter's type and device."""
    if isinstance(value, Tensor):
        copied = value.detach().clone()
        if parameter is None or (value.shape == () and parameter.shape != ()):
            return copied
        return copied.to(parameter.device, parameter.dtype)
    if isinstance(value, dict):
        return {k: _fitted(v, None if k == "step" else parameter)
                for k, v in value.items()}  # fmt: skip
    if isinstance(value, list | tuple):
        return type(value)(_fitted(v, parameter) for v in value)
    return value


def evaluated(closure: Callable[[], object] | None) -> Any:
    """Return what a closure returns, with recording on; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


class ParameterState:
    """One parameter's state, whose arrays are read by name.

    ``step`` is the number of steps so far, this one among them.
    """

    __slots__ = ("parameter", "state", "step")
    step: float

    def __init__(self, parameter: Tensor, state: Params) -> None:
        self.parameter = parameter
        self.state = state

    def __getitem__(self, name: str) -> Any:
        return self.state[name].raw

    def begin(self, *names: str, value: float = 0.0) -> None:
        """Set arrays of the parameter's shape to a value, and the step to 0."""
        self.state["step"] = tensor(0.0)
        xp, like = self.parameter.xp, self.parameter._shareable()
        for name in names:
            self.state[name] = Tensor(xp.new_full(like, like.shape, value), xp)


NONNEGATIVE = (
    "weight_decay", "momentum", "alpha", "lr_decay", "initial_accumulator_value"
)  # fmt: skip
"""Names of further options that may not be negative."""


class Descent(Optimizer):
    """An optimizer that changes each parameter only by its own gradient and state.

    A subclass defines ``update``, which changes one parameter, and may define
    ``start``, which makes a parameter's state.
    """

    start: Callable[[ParameterState, Group], None] | None = None

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if defaults["differentiable"]:
            raise NotImplementedError(
                "differentiable=True: steps are not recorded; compute the new values "
                "from autograd.grad(..., create_graph=True)"
            )
        lr = defaults["lr"]
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        demand_at_least_0({"learning rate": lr}, "")
        demand_at_least_0({"epsilon": defaults.get("eps", 0)})
        demand_at_least_0({name: defaults.get(name, 0) for name in NONNEGATIVE})
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients anew.

        Returns:
            What the closure returned, or None.
        """
        loss = evaluated(closure)
        for group in self.param_groups:
            lr = float(group["lr"])
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad.raw, group, lr)
        return loss

    def _change(self, parameter: Tensor, g: Any, o: Group, lr: float) -> None:
        state = ParameterState(parameter, self.state[parameter])
        if self.start is not None:
            if not state.state:
                self.start(state, o)
            state.step = float(state["step"]) + 1
            state["step"][...] = state.step
        p: Any = parameter._shareable()
        MODE.change(p)
        xp, rates = parameter.xp, self.rates(state, o, lr)
        shrink = 1 - lr * o["weight_decay"]
        if not xp.waits or self.begins(state, o):
            self._move(xp, p, g, state, o, shrink, *rates)
        else:
            self._move_in_a_kernel(parameter, p, g, state, o, (shrink, *rates))
        touch(p)

    def _move(
        self, xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group,
        shrink: float, *rates: float,
    ) -> None:  # fmt: skip
        g, decay = -g if o["maximize"] else g, o["weight_decay"]
        if decay and o.get("decoupled_weight_decay"):
            p *= shrink
        elif decay:
            g = g + decay * p
        self.update(xp, p, g, state, o, *rates)

    def _move_in_a_kernel(
        self, parameter: Tensor, p: Any, g: Any, state: ParameterState, o: Group,
        rates: tuple[float, ...],
    ) -> None:  # fmt: skip
        """Do what `_move` does, as one kernel of a GPU; what differs from step to step
        is given to it as numbers."""
        xp, count = parameter.xp, len(rates)
        arrays = {name: each.raw for name, each in state.state.items()
                  if name != "step" and isinstance(each, Tensor)}  # fmt: skip
        constant = [(n, o[n]) for n in self.defaults if n != "lr"]

        def move(p: Any, g: Any, *given: Any) -> None:
            held = {
                name: SimpleNamespace(raw=raw)
                for name, raw in zip(arrays, given, strict=False)
            }
            self._move(xp, p, g, ParameterState(parameter, held), o, *given[-count:])

        key = type(self), repr(constant), *arrays
        xp.pending.kernels.change(
            key, type(self).__name__, move, (p, g, *arrays.values()), rates
        )

    def begins(self, state: ParameterState, o: Group) -> bool:
        """Return whether this step makes arrays of the parameter's state."""
        return False

    @staticmethod
    def rates(state: ParameterState, o: Group, lr: float) -> tuple[float, ...]:
        """Return the numbers of a step that differ from step to step."""
        return (-lr,)

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float
    ) -> None:
        """Change ``p`` in place by the gradient ``g``, to which weight decay is added,
        with options ``o`` and what `rates` returned."""
        raise NotImplementedError


def demand_at_least_0(values: Mapping[str, Any], what: str = " value") -> None:
    """Raise ValueError for the first named option that is negative."""
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"Invalid {name}{what}: {value}")


def move_towards(mean: Raw, new: Any, share: float) -> None:
    """Move ``mean`` in place by a share of its distance to ``new``, computed from the
    nearer of the two."""
    if share < 0.5:
        mean += share * (new - mean)
    else:
        mean[...] = new - (new - mean) * (1 - share)


class SGD(Descent):
    """Step by ``p -= lr*g``; with momentum by ``p -= lr*b``, ``b = momentum*b + g``.

    Args:
        dampening: the part of a new gradient that is left out of the direction b.
        nesterov: look ahead along the direction.
        maximize: go uphill.
        foreach, fused: accepted as in PyTorch; they change no result.
    """

    def __init__(
        self, params: Any, lr: Rate = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip

    def begins(self, state: ParameterState, o: Group) -> bool:
        return bool(o["momentum"]) and state.state.get("momentum_buffer") is None

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float
    ) -> None:
        momentum, named = o["momentum"], state.state
        if momentum:
            if named.get("momentum_buffer") is None:
                named["momentum_buffer"] = Tensor(xp.clone(g), xp)
                direction = state["momentum_buffer"]
            else:
                direction = state["momentum_buffer"]
                direction *= momentum
                direction += (1 - o["dampening"]) * g
            g = g + momentum * direction if o["nesterov"] else direction
        p += rate * g


class Adam(Descent):
    """Step by ``p -= lr*m/(sqrt(v) + eps)``, where m and v are the running means of the
    gradient and of its square, corrected for their start at 0.

    Args:
        betas: the shares of the two means that are kept from step to step.
        amsgrad: divide by the largest mean so far.
        maximize: go uphill.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
        foreach, capturable, fused: accepted as in PyTorch; they change no result.
    """

    def __init__(
        self, params: Any, lr: Rate = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        for i, beta in enumerate(betas):
            if not 0 <= beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip

    @staticmethod
    def start(state: ParameterState, o: Group) -> None:
        largest_too = ("max_exp_avg_sq",) if o["amsgrad"] else ()
        state.begin("exp_avg", "exp_avg_sq", *largest_too)

    @staticmethod
    def rates(state: ParameterState, o: Group, lr: float) -> tuple[float, ...]:
        beta1, beta2 = o["betas"]
        return -(lr / (1 - beta1**state.step)), (1 - beta2**state.step) ** 0.5

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float,
        root: float = 1.0,
    ) -> None:  # fmt: skip
        beta1, beta2 = o["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        move_towards(mean, g, 1 - beta1)
        square *= beta2
        square += (1 - beta2) * g * g
        if o["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            largest[...] = xp.maximum(largest, square)
            square = largest
        scale = xp.sqrt(square) / root + o["eps"]
        p += rate * mean / scale


class AdamW(Adam):
    """Step as `Adam` with ``decoupled_weight_decay``, whose other options these are."""

    def __init__(
        self, params: Any, lr: Rate = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, amsgrad: bool = False, *,
        maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach,
            maximize=maximize, capturable=capturable, differentiable=differentiable,
            fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip


class Adadelta(Descent):
    """Step by ``p -= lr*g*sqrt(d + eps)/sqrt(v + eps)``, where d and v are the running
    means of the squares of steps and of gradients (Zeiler 2012).

    Args:
        rho: the share of the means that is kept from step to step.
        maximize: go uphill.
        foreach, capturable: accepted as in PyTorch; they change no result.
    """

    def __init__(
        self, params: Any, lr: Rate = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *,
        capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "capturable": capturable, "foreach": foreach,
            "differentiable": differentiable,
        })  # fmt: skip

    @staticmethod
    def start(state: ParameterState, o: Group) -> None:
        state.begin("square_avg", "acc_delta")

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float
    ) -> None:
        rho, eps = o["rho"], o["eps"]
        square, steps = state["square_avg"], state["acc_delta"]
        square *= rho
        square += (1 - rho) * g * g
        delta = xp.sqrt(steps + eps) / xp.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * delta * delta
        p += rate * delta


class Adagrad(Descent):
    """Step by ``p -= lr*g/(sqrt(v) + eps)``, where v is the sum of all ``g**2``.

    Args:
        lr_decay: how fast the rate falls: ``lr/(1 + (step - 1)*lr_decay)``.
        initial_accumulator_value: the value at which the sum begins.
        maximize: go uphill.
        foreach, fused: accepted as in PyTorch; they change no result.
    """

    def __init__(
        self, params: Any, lr: Rate = 1e-2, lr_decay: float = 0,
        weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        # PyTorch's users read the sums before the first step.
        for group in self.param_groups:
            for p in group["params"]:
                self.start(ParameterState(p, self.state[p]), group)

    @staticmethod
    def start(state: ParameterState, o: Group) -> None:
        state.begin("sum", value=o["initial_accumulator_value"])

    @staticmethod
    def rates(state: ParameterState, o: Group, lr: float) -> tuple[float, ...]:
        return (-(lr / (1 + (state.step - 1) * o["lr_decay"])),)

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float
    ) -> None:
        total = state["sum"]
        total += g * g
        p += rate * g / (xp.sqrt(total) + o["eps"])


class RMSprop(Descent):
    """Step by ``p -= lr*g/(sqrt(v) + eps)``, where v is the mean of recent ``g**2``.

    Args:
        alpha: the share of the mean that is kept from step to step.
        momentum: the share of the last direction that is kept.
        centered: divide by the deviation, not by the size.
        maximize: go uphill.
        foreach, capturable: accepted as in PyTorch; they change no result.
    """

    def __init__(
        self, params: Any, lr: Rate = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps,
            "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })  # fmt: skip

    @staticmethod
    def start(state: ParameterState, o: Group) -> None:
        also = {"momentum_buffer": o["momentum"] > 0, "grad_avg": o["centered"]}
        state.begin("square_avg", *[name for name, wanted in also.items() if wanted])

    @staticmethod
    def update(
        xp: NumberSystem, p: Any, g: Any, state: ParameterState, o: Group, rate: float
    ) -> None:
        alpha, square = o["alpha"], state["square_avg"]
        square *= alpha
        square += (1 - alpha) * g * g
        if o["centered"]:
            mean = state["grad_avg"]
            move_towards(mean, g, 1 - alpha)
            square = square - mean * mean
        scale = xp.sqrt(square) + o["eps"]
        if o["momentum"] > 0:
            direction = state["momentum_buffer"]
            direction *= o["momentum"]
            direction += g / scale
            p += rate * direction
        else:
            p += rate * g / scale
