"""The base of optimizers: groups of parameters, their state, options and steps.

Invariant: every parameter is a leaf and stands in one group; ``state`` is keyed by the
parameter itself, and in `state_dict` by its number, so that it can be saved.

    for group in optimizer.param_groups:
        group["lr"] *= 0.5
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from inspect import Parameter
from typing import Any

from ..engine.creation import tensor
from ..engine.modes import MODE, enable_grad
from ..engine.namespace import NumberSystem
from ..engine.raw import Params, Raw
from ..engine.record import RECORDING
from ..engine.signatures import constructor, keyword, new_class
from ..engine.tensor import Tensor, clear_grad
from ..engine.versions import touch
from ..ops.types import Array, Operand

Group = dict[str, Any]
State = dict[str, Any]


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

    def __init__(self, params: object, defaults: dict[str, object]) -> None:
        self._begin(params, defaults)

    def _begin(self, params: Any, defaults: dict[str, object]) -> None:
        """Set the options of all groups, and add the groups of parameters."""
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
            recorded = self.defaults.get("differentiable")
            if not (recorded or each.is_leaf or each.retains_grad):
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
    """One parameter's state: arrays, or tensors where the step is recorded.

    ``step`` is the number of steps so far, this one among them.
    """

    __slots__ = ("parameter", "recorded", "state", "step")
    step: float

    def __init__(self, parameter: Tensor, state: Params, recorded: bool) -> None:
        self.parameter = parameter
        self.state = state
        self.recorded = recorded

    def __getitem__(self, name: str) -> Any:
        value = self.state[name]
        return value if self.recorded else value.raw

    def begin(self, *zeros: str, **numbers: float) -> None:
        """Make a state of zeros of the parameter's shape and of numbers in main memory,
        ``step`` among them."""
        self.state["step"] = tensor(0.0)
        for name, number in numbers.items():
            self.state[name] = tensor(float(number))
        xp, like = self.parameter.xp, self.parameter._shareable()
        for name in zeros:
            self.state[name] = Tensor(xp.new_full(like, like.shape, 0.0), xp)

    def hold(self, name: str, value: Any) -> Any:
        """Put a copy of a value into the state, and return the copy."""
        if self.recorded:
            self.state[name] = value.detach().clone()
        else:
            xp = self.parameter.xp
            self.state[name] = Tensor(xp.clone(value), xp)
        return self[name]


class Descent(Optimizer):
    """An optimizer that changes each parameter by its own gradient and state alone.

    A subclass defines ``update``, which changes one parameter, and may define
    ``start``, which makes a parameter's state.
    """

    start: Callable[[ParameterState, Group], None] | None = None

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients anew.

        Returns:
            What the closure returned, or None.
        """
        loss = evaluated(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._change(parameter, parameter.grad, group)
        return loss

    def _change(self, parameter: Tensor, gradient: Tensor, group: Group) -> None:
        g: Any
        recorded = bool(group.get("differentiable"))
        kept = ParameterState(parameter, self.state[parameter], recorded)
        if self.start is not None:
            if not kept.state:
                self.start(kept, group)
            kept.step = float(kept.state["step"].raw) + 1
            kept.state["step"].raw[...] = kept.step
        if recorded:
            with enable_grad():
                g = -gradient if group.get("maximize") else gradient
                g = decayed(parameter, g, group, group["lr"])
                self.update(RECORDING, parameter, g, kept, group, group["lr"])
            return
        g = -gradient.raw if group.get("maximize") else gradient.raw
        raw, lr = parameter._shareable(), float(group["lr"])
        MODE.change(raw)
        g = decayed(raw, g, group, lr)
        self.update(parameter.xp, raw, g, kept, group, lr)
        touch(raw)

    def update(
        self,
        xp: NumberSystem,
        p: Array,
        g: Array,
        kept: ParameterState,
        o: Group,
        lr: Operand,
    ) -> None:
        """Change ``p`` in place by the gradient ``g``, to which weight decay is added,
        with options ``o``."""
        raise NotImplementedError


def move_towards(mean: Raw, new: Array, share: Operand) -> None:
    """Move ``mean`` in place by a share of its distance to ``new``, computed from the
    nearer of the two."""
    if share < 0.5:
        mean += share * (new - mean)
    else:
        mean[...] = new - (new - mean) * (1 - share)


def decayed(p: Array, g: Array, o: Group, lr: Operand) -> Array:
    """Return the gradient with weight decay added, or shrink ``p`` in place instead."""
    decay = o["weight_decay"]
    if not decay:
        return g
    if o.get("decoupled_weight_decay"):
        p *= 1 - lr * decay
        return g
    found: Array = g + decay * p
    return found


Check = Callable[[Any], None]


def _at_least_0(words: str, value: Any) -> None:
    if not value >= 0:
        raise ValueError(f"Invalid {words}: {value}")


def _rate(lr: object) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    _at_least_0("learning rate", lr)


def _betas(betas: tuple[float, float]) -> None:
    for i, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"Invalid {name} value: {value}")


@dataclass(frozen=True, slots=True)
class Option:
    """An option's meaning, its value where nothing is given, and its check."""

    meaning: str
    default: Any = None
    check: Check | None = None


def _nonnegative(name: str, meaning: str, default: float = 0) -> Option:
    return Option(meaning, default, partial(_at_least_0, f"{name} value"))


NO_EFFECT = "accepted, as in PyTorch; it changes no result"

OPTIONS = {
    "params": Option("tensors or groups"),
    "lr": Option("how far a step goes", check=_rate),
    "alpha": _nonnegative("alpha", "how much of the mean is kept from step to step"),
    "amsgrad": Option("divide by the largest mean so far", False),
    "betas": Option(
        "how much of the two means is kept from step to step", (0.9, 0.999), _betas
    ),
    "capturable": Option(NO_EFFECT, False),
    "centered": Option("divide by the deviation, not by the size", False),
    "dampening": Option("the part of a new gradient left out of the direction", 0),
    "decoupled_weight_decay": Option(
        "shrink the parameter instead of adding to its gradient", False
    ),
    "differentiable": Option("record the step", False),
    "eps": Option(
        "added to what is divided by", 1e-8, partial(_at_least_0, "epsilon value")
    ),
    "foreach": Option(NO_EFFECT),
    "fused": Option(NO_EFFECT),
    "history_size": Option("how many changes are remembered", 100),
    "initial_accumulator_value": _nonnegative(
        "initial_accumulator_value", "where the sum begins"
    ),
    "line_search_fn": Option('None, or "strong_wolfe"'),
    "lr_decay": _nonnegative(
        "lr_decay", "how fast the rate falls: ``lr/(1 + (step - 1)*lr_decay)``"
    ),
    "max_eval": Option("values of the loss per call; None: ``max_iter*5//4``"),
    "max_iter": Option("steps per call", 20),
    "maximize": Option("go uphill", False),
    "momentum": _nonnegative("momentum", "how much of the last direction is kept"),
    "nesterov": Option("look ahead along the direction", False),
    "rho": Option("how much of the means is kept", 0.9, partial(_share, "rho")),
    "tolerance_change": Option("stop when step or loss change by less", 1e-9),
    "tolerance_grad": Option("stop when no entry of the gradient is larger", 1e-7),
    "weight_decay": _nonnegative(
        "weight_decay", "how much of the parameter itself is added to its gradient"
    ),
}  # fmt: skip


def optimizer(
    name: str,
    rule: Callable[..., None] | None,
    order: str,
    *,
    takes: str = "",
    base: type[Optimizer] = Descent,
    start: Callable[[ParameterState, Group], None] | None = None,
    at_once: bool = False,
    check: Check | None = None,
    fixed: Params | None = None,
    **options: object,
) -> type[Optimizer]:
    """Return a new class of optimizers.

    Args:
        name: the class's name.
        rule: the function that changes one parameter; None: ``base`` defines `step`.
        order: the names of the options, as ordered in a group and in a saved state.
        takes: the names of the constructor's options in order, those after ``*`` by
            name alone; empty: ``order``.
        base: the class that the new one is derived from.
        start: makes a parameter's state before its first step; None: there is none.
        at_once: make it as soon as the optimizer is made.
        check: raises ValueError for options that do not fit each other.
        fixed: options that the constructor does not take, with their values.
        options: defaults of options that differ from those in `OPTIONS`.
    """
    by_place, _, by_name = (takes or order).partition("*")
    defaults = {name: option.default for name, option in OPTIONS.items()} | options
    kind = Parameter.POSITIONAL_OR_KEYWORD
    shown = [
        Parameter("params", kind),
        *(Parameter(n, kind, default=defaults[n]) for n in by_place.split()),
        *(keyword(n, defaults[n]) for n in by_name.split()),
    ]

    def begin(self: Optimizer, given: dict[str, object]) -> None:
        for each in shown:
            may_be = OPTIONS[each.name].check
            if may_be is not None:
                may_be(given[each.name])
        if check is not None:
            check(given)
        given |= fixed or {}
        chosen = {option: given[option] for option in order.split()}
        self._begin(given["params"], chosen)
        if at_once and start is not None:
            for group in self.param_groups:
                for p in group["params"]:
                    start(ParameterState(p, self.state[p], False), group)

    meanings = [f"    {each.name}: {OPTIONS[each.name].meaning}." for each in shown]
    doc = (base if rule is None else rule).__doc__
    members: Params = {
        "__doc__": "\n".join([f"{(doc or '').rstrip()}\n\nArgs:", *meanings]),
        "__init__": constructor(name, shown, begin),
    }
    if rule is not None:
        members["update"] = staticmethod(rule)
    if start is not None:
        members["start"] = staticmethod(start)
    return new_class(name, (base,), members)
