"""Modules: functions with parameters, which may be made of other modules.

Invariant: calling a module runs its ``forward``, between its hooks if there are any;
what it holds is described in `members`. Its state is all parameters and persistent
buffers by dotted name: each module saves and loads its own entries, by methods that it
may override, and its children theirs. Loading lists all that does not fit, and copies
values into the module's memory.

    class Net(Module):
        def __init__(self):
            super().__init__()
            self.hidden = Linear(2, 3)
        def forward(self, x):
            return self.hidden(x).relu()
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

from ..engine import dtypes
from ..engine.creation import empty_like
from ..engine.hooks import RemovableHandle
from ..engine.modes import no_grad
from ..engine.raw import Params, Run
from ..engine.signatures import Parameters
from ..engine.tensor import Tensor, clear_grad
from .hooks import Hook, Hooks, Shelf
from .members import TABLES, Members
from .parameter import Parameter

M = TypeVar("M", bound="Module")

INDENT = "  "
"""The step by which a child's text is further in than its owner's."""


def _no_forward(self: Module, *input: object) -> None:
    """Raise: a subclass has to say what it computes."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


def _table(kind: str) -> Any:
    """Make an attribute of the hooks of one kind."""
    return property(lambda self: getattr(self._own_hooks(), kind))


EXTRA = "_extra_state"
"""The name of what a module saves beside its tensors."""


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Module(Members["Module"]):
    """The base of all modules; a subclass defines ``forward``."""

    training: bool
    forward: Run = _no_forward
    call_super_init: bool = False
    _hooks: ClassVar[Hooks | None] = None
    _version: int = 1

    def __init__(self, *args: object, **kwargs: object) -> None:
        own = self.__dict__
        own["training"] = True
        for table in TABLES:
            own[table] = {}
        own["_non_persistent_buffers_set"] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        elif args or kwargs:
            Parameters(f"{type(self).__name__}.__init__", (), 1).bind(args, kwargs)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return hooks.run(self, args, kwargs)

    # mode, gradients

    def train(self: M, mode: bool = True) -> M:
        """Set this module and all below it to training, or to evaluation."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: M) -> M:
        """Set this module and all below it to evaluation."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Train all parameters, or freeze them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # type and device

    def _apply(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
        """Apply ``fn`` to what every parameter, gradient and buffer holds.

        Args:
            recurse: do so in the modules below this one first.
        """
        if recurse:
            for child in self.children():
                child._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    gradient, parameter.grad = parameter.grad, None
                    parameter.data = fn(parameter.detach())
                    if gradient is not None:
                        parameter.grad = fn(gradient)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: M, *args: object, dtype: Any = None, **kwargs: Any) -> M:
        """Move parameters and buffers: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Integer buffers keep their type.

        Raises:
            TypeError: a dtype that parameters cannot have.
        """
        others = []
        for value in args:
            if isinstance(value, dtypes.dtype):
                dtype = value
            elif isinstance(value, Tensor):
                dtype, kwargs["device"] = value.dtype, value.device
            else:
                others.append(value)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got "
                f"desired dtype={dtype}"
            )

        def move(tensor: Tensor) -> Tensor:
            turned = {"dtype": dtype} if dtype and tensor.is_floating_point() else {}
            return tensor.to(*others, **kwargs, **turned)

        return self._apply(move)

    def to_empty(self: M, *, device: object, recurse: bool = True) -> M:
        """Move to a device without the values, which are to be set anew."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self: M) -> M:
        """Do nothing: processes share no tensors here."""
        return self

    def type(self: M, dst_type: object) -> M:
        """Turn all parameters and buffers to one dtype."""
        return self._apply(lambda t: t.to(dst_type))

    def float(self: M) -> M:
        """Turn floating-point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self: M) -> M:
        """Turn floating-point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def half(self: M) -> M:
        """Turn floating-point parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def cpu(self: M) -> M:
        """Move parameters and buffers to main memory."""
        return self.to("cpu")

    def cuda(self: M, device: object = None) -> M:
        """Move parameters and buffers to a GPU."""
        where = f"cuda:{device}" if isinstance(device, int) else device or "cuda"
        return self.to(where)

    # hooks

    def _own_hooks(self) -> Hooks:
        if "_hooks" not in self.__dict__:
            self.__dict__["_hooks"] = Hooks()
        return self.__dict__["_hooks"]  # type: ignore[no-any-return]

    _forward_hooks: Shelf = _table("forward")
    _forward_pre_hooks: Shelf = _table("before_forward")
    _backward_hooks: Shelf = _table("backward")
    _backward_pre_hooks: Shelf = _table("before_backward")

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward pass; it may replace args."""
        shelf = self._own_hooks().before_forward
        return shelf.put(hook, prepend, with_kwargs=with_kwargs)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:  # fmt: skip
        """Call ``hook(module, args, output)`` after each; it may replace the output."""
        return self._own_hooks().forward.put(
            hook, prepend, with_kwargs=with_kwargs, always_call=always_call
        )

    def register_full_backward_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before each backward pass through it."""
        return self._own_hooks().before_backward.put(hook, prepend)

    def register_full_backward_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` after each."""
        return self._own_hooks().add_backward(hook, True, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` with the gradients of the
        last node alone; `register_full_backward_hook` sees the whole module's."""
        return self._own_hooks().add_backward(hook, False)

    # saving

    def state_dict(
        self, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and persistent buffers by dotted name, detached.

        The tensors share the module's memory; copy them to keep what they are now.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for _, _, hook in self._state_hooks("before_save"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        children: Params = self._modules
        for name, child in children.items():
            if child is not None:
                child.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.",
                    keep_vars=keep_vars,
                )  # fmt: skip
        for _, _, hook in self._state_hooks("after_save"):
            new = hook(self, destination, prefix, metadata)
            destination = destination if new is None else new
        return destination

    def _save_to_state_dict(
        self, destination: Any, prefix: str, keep_vars: bool
    ) -> None:
        """Put the module's own entries into ``destination``, not its children's."""
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        for table in (self._parameters, self._buffers):
            for name, tensor in table.items():
                lasts = name not in self._non_persistent_buffers_set
                if tensor is not None and (lasts or table is self._parameters):
                    yield name, tensor

    def get_extra_state(self) -> Any:
        """Return what the state holds beside tensors, in a subclass that has such."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be "
            "called: a module with state of its own defines it"
        )

    def set_extra_state(self, state: object) -> None:
        """Take over what `get_extra_state` gave."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be "
            "called: a module with state of its own defines it"
        )

    # loading

    def load_state_dict(
        self,
        state_dict: Mapping[str, object],
        strict: bool = True,
        assign: bool = False,
    ) -> _IncompatibleKeys:
        """Take over the values of a state.

        Args:
            state_dict: tensors by dotted name.
            strict: whether its names have to be exactly the module's own.
            assign: put the given tensors in place rather than copy their values.

        Returns:
            The missing and the unexpected names.

        Raises:
            RuntimeError: names or shapes do not match; all of them are listed.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        versions = getattr(state_dict, "_metadata", {})
        given = OrderedDict(state_dict)
        given._metadata = versions  # type: ignore[attr-defined]
        keys = _IncompatibleKeys([], [])
        problems: list[str] = []
        _load(self, given, "", versions, assign, keys, problems)
        if strict:
            named = (
                ("Missing", keys.missing_keys),
                ("Unexpected", keys.unexpected_keys),
            )
            problems[:0] = [_listed(what, names) for what, names in named if names]
        if problems:
            lines = "\n\t".join(problems)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        return keys

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any],
        strict: bool, missing_keys: list[str], unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Take the module's own entries from ``state_dict``, not its children's."""
        rest = (
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
            error_msgs,
        )  # fmt: skip
        for shelf, key, hook in self._state_hooks("before_load"):
            hook(*((self,) if shelf.wants(key, "with_module") else ()), *rest)
        assign = local_metadata.get("assign_to_params_buffers", False)
        known = dict(self._own_state())
        for name, tensor in known.items():
            full = prefix + name
            if full in state_dict:
                problem = _take(self, name, tensor, full, state_dict[full], assign)
                error_msgs += [problem] if problem else []
            elif strict:
                missing_keys.append(full)
        extra = prefix + EXTRA
        takes_extra = type(self).set_extra_state is not Module.set_extra_state
        if takes_extra and extra in state_dict:
            self.set_extra_state(state_dict[extra])
        elif takes_extra and strict:
            missing_keys.append(extra)
        for given in state_dict if strict else ():
            own, dot, _ = given.removeprefix(prefix).partition(".")
            fits = own in self._modules if dot else own in known
            fits = fits or (takes_extra and given == extra)
            if given.startswith(prefix) and not fits:
                unexpected_keys.append(given)

    # hooks

    def _state_hooks(self, kind: str) -> list[tuple[Shelf, int, Hook]]:
        own = self.__dict__.get("_hooks")
        if own is None:
            return []
        shelf: Shelf = getattr(own, kind)
        return [(shelf, key, hook) for key, hook in shelf.items()]

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state is gathered."""
        return self._own_hooks().before_save.put(hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after it is; it may
        change ``state_dict``, or return another."""
        return self._own_hooks().after_save.put(hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` before the module takes its entries."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        return self._own_hooks().before_load.put(hook, with_module=with_module)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after it has; it may change the
        lists of keys."""
        return self._own_hooks().after_load.put(hook)

    # text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return what the module says of itself between its parentheses."""
        return ""

    def __repr__(self) -> str:
        children = [
            f"({name}): {indented(repr(child))}"
            for name, child in self._modules.items()
        ]
        return framed(type(self).__name__, self.extra_repr(), children)


def _load(
    module: Any, state: Params, prefix: str, versions: Any, assign: bool,
    keys: _IncompatibleKeys, problems: list[str],
) -> None:  # fmt: skip
    """Let a module and then its children take their entries."""
    metadata = versions.get(prefix[:-1], {}) if versions else {}
    if assign:
        metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state, prefix, metadata, True, keys.missing_keys, keys.unexpected_keys, problems
    )
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {k: v for k, v in state.items() if k.startswith(below)}
            _load(child, part, below, versions, assign, keys, problems)
    for _, _, hook in module._state_hooks("after_load"):
        hook(module, keys)


def _listed(what: str, names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{what} key(s) in state_dict: {quoted}. "


def _take(
    owner: object, name: str, tensor: Tensor, full: str, given: object, assign: bool
) -> str:
    """Take one value over; the problem in words if it does not fit."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{full}", expected torch.Tensor or '
            f"Tensor-like object from checkpoint but received {type(given)}"
        )
    if tensor.ndim == 0 and tuple(given.shape) == (1,):
        given = given[0]
    if given.shape != tensor.shape:
        return (
            f"size mismatch for {full}: copying a param with shape {given.shape!r} "
            "from checkpoint, the shape in current model is "
            f"{tensor.shape!r}."
        )
    with no_grad():
        if not assign:
            tensor.copy_(given)
            return ""
        if isinstance(tensor, Parameter) and not isinstance(given, Parameter):
            given = Parameter(given.detach(), tensor.requires_grad)
        elif isinstance(tensor, Parameter):
            given.requires_grad_(tensor.requires_grad)
        setattr(owner, name, given)
    return ""


def framed(name: str, extra: str, children: list[str]) -> str:
    """Join a module's text of its name, what it says of itself, and its children's."""
    said = extra.split("\n") if extra else []
    lines = [*said, *children]
    if not lines:
        return f"{name}()"
    if len(said) == 1 and not children:
        return f"{name}({said[0]})"
    return f"{name}(\n{INDENT}" + f"\n{INDENT}".join(lines) + "\n)"


def indented(text: str) -> str:
    """Move all lines but the first in by one step."""
    return text.replace("\n", f"\n{INDENT}")
