"""What all optimizers share: groups of parameters, their state, and saving both.

Invariant: every parameter is a leaf and stands in one group; ``state`` is keyed by the
parameter itself, and in `state_dict` by its number, so that it can be saved.

    for group in optimizer.param_groups:
        group["lr"] *= 0.5
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from ..engine.hooks import RemovableHandle
from ..engine.leaves import clear_grad
from ..engine.modes import MODE, enable_grad
from ..engine.tensor import Tensor
from ..engine.versions import touch

Group = dict[str, Any]
State = dict[str, Any]


class Optimizer:
    """The base of all optimizers; a subclass defines ``step``.

    Args:
        params: tensors, or groups: dicts with tensors under "params" and options of
            the group's own, or pairs of a name and a tensor.
        defaults: the options of groups that do not give their own.

    Raises:
        TypeError: something that is no tensor.
        ValueError: no parameters, a parameter in two groups, one that is no leaf.
    """

    stepped: bool = False
    """Whether a step was taken; a schedule warns when it is asked first."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _between_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of "
                f"Tensors or dicts, but got {params.type()}"
            )
        self.state: defaultdict[Any, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._before: dict[int, Any] = {}
        self._after: dict[int, Any] = {}
        given = list(params)
        if not given:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(given[0], dict):
            given = [{"params": given}]
        for group in given:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters, with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        members = _listed(group)
        for parameter in members:
            _check(parameter)
        for name, default in self.defaults.items():
            group.setdefault(name, default)
        if len({id(p) for p in members}) < len(members):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in "
                "future, this will cause an error",
                stacklevel=3,
            )
        known = {id(p) for other in self.param_groups for p in other["params"]}
        if known & {id(p) for p in members}:
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                clear_grad(parameter, set_to_none)

    def step(self, closure: Any = None) -> Any:
        """Change the parameters by their gradients."""
        raise NotImplementedError

    # state

    def state_dict(self) -> dict[str, Any]:
        """State and groups, with numbers in place of the parameters."""
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
        """Take over what `state_dict` gave, for parameters in the same order.

        Raises:
            ValueError: groups of another number or another size.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(
                "loaded state dict has a different number of parameter groups"
            )
        sizes = [len(group["params"]) for group in self.param_groups]
        if sizes != [len(group["params"]) for group in saved]:
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the "
                "size of optimizer's group"
            )
        by_number = {
            number: parameter
            for group, mine in zip(saved, self.param_groups, strict=True)
            for number, parameter in zip(group["params"], mine["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = by_number.get(key)
            self.state[key if parameter is None else parameter] = _fitted(
                value, parameter
            )
        self.param_groups = [
            {**group, "params": mine["params"]}
            for group, mine in zip(saved, self.param_groups, strict=True)
        ]

    # hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; it may replace
        both."""
        return RemovableHandle(self._before, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return RemovableHandle(self._after, hook)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [
                f"    {name}: {group[name]}"
                for name in sorted(group)
                if name not in ("params", "param_names")
            ]
            lines.append("")
        return "\n".join(lines[:-1]) + "\n)"


def _between_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(step)
    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        for hook in list(self._before.values()):
            new = hook(self, args, kwargs)
            if new is not None:
                args, kwargs = new
        out = step(self, *args, **kwargs)
        self.stepped = True
        for hook in list(self._after.values()):
            hook(self, args, kwargs)
        return out

    return run


def _listed(group: Group) -> list[Tensor]:
    """The group's parameters as a list, which the group is given; names beside it."""
    params = group["params"]
    if isinstance(params, Tensor):
        members: list[Any] = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the "
            "ordering of tensors in sets will change between runs. Please use a list "
            "instead."
        )
    else:
        members = list(params)
    named = [isinstance(member, tuple) for member in members]
    if any(named):
        if not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names "
                "are missing"
            )
        del group["params"]
        group["params"] = [parameter for _, parameter in members]
        group["param_names"] = [name for name, _ in members]
    else:
        group["params"] = members
    return group["params"]  # type: ignore[no-any-return]


def _check(parameter: Any) -> None:
    if not isinstance(parameter, Tensor):
        raise TypeError(
            "optimizer can only optimize Tensors, but one of the params is "
            f"{type(parameter).__name__}"
        )
    if not (parameter.is_leaf or parameter.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _fitted(value: Any, parameter: Tensor | None) -> Any:
    """A copy of saved state, its tensors of the parameter's type and on its device."""
    if isinstance(value, Tensor):
        copied = value.detach().clone()
        if parameter is None:
            return copied
        if value.shape == () and parameter.shape != ():
            return copied
        return copied.to(parameter.device, parameter.dtype)
    if isinstance(value, dict):
        return {
            k: v.detach().clone() if k == "step" and isinstance(v, Tensor)
            else _fitted(v, parameter)
            for k, v in value.items()
        }  # fmt: skip
    if isinstance(value, list | tuple):
        return type(value)(_fitted(v, parameter) for v in value)
    return value


def evaluated(closure: Callable[[], Any] | None) -> Any:
    """What a closure gives, recorded even where nothing else is; None without one."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


class Descent(Optimizer):
    """An optimizer that changes each parameter by its own gradient and state alone.

    A subclass says in ``update`` what happens to one parameter's array.
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
            lr, sign = float(group["lr"]), -1 if group["maximize"] else 1
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                g = gradient.raw if sign == 1 else -gradient.raw
                raw = parameter._shareable()
                MODE.change(raw)
                self.update(parameter, raw, g, self.state[parameter], group, lr)
                touch(raw)
        return loss

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        """Change the array ``p`` in place by the gradient ``g``."""
        raise NotImplementedError


def zeros_beside(parameter: Tensor) -> Tensor:
    return Tensor(parameter.xp.zeros_like(parameter.raw), parameter.xp)


def step_counter(start: float = 0.0) -> Tensor:
    """A tensor that counts steps, in main memory whatever the parameter's device."""
    from ..engine.creation import tensor

    return tensor(start)


def count_step(state: State) -> float:
    """Count one step more; the number of steps so far."""
    raw = state["step"].raw
    raw += 1
    return float(raw)


def move_towards(mean: Any, new: Any, share: float) -> None:
    """``mean`` moved in place by a share of its distance to ``new``, from the nearer
    end."""
    if share < 0.5:
        mean += share * (new - mean)
    else:
        mean[...] = new - (new - mean) * (1 - share)


def at_least_0(**values: Any) -> None:
    """Raise for an option below 0; names are those of the messages."""
    for name, value in values.items():
        if not value >= 0:
            words = {"lr": "learning rate", "eps": "epsilon value"}
            shown = words.get(name, f"{name} value")
            raise ValueError(f"Invalid {shown}: {value}")


def check_rate(lr: Any) -> None:
    """Raise for a rate that is no single number of at least 0."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    at_least_0(lr=lr)


def check_betas(betas: tuple[float, float]) -> None:
    """Raise for a share that is kept from step to step and not within [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def no_graph_through_steps(differentiable: bool) -> None:
    """Refuse what would need the step itself to be recorded."""
    if differentiable:
        raise NotImplementedError(
            "a step is never recorded: use differentiable=False, and write the update "
            "in tensors where its derivative is wanted"
        )


Params = Iterable[Any]
