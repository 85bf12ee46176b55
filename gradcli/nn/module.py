"""Modules: functions with parameters, which may be made of other modules.

Invariant: parameters, buffers and children are in three ordered tables, found as
attributes; a name is in one of them at most, and its value is of the table's kind
or None. Whatever walks a module walks these tables and nothing else. Calling a module
runs its ``forward``, between its hooks if there are any. Its state is all parameters
and persistent buffers by dotted name: each module saves and loads its own entries, by
methods that it may override, and its children theirs.

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
from ..engine.modes import RecordingOff
from ..engine.raw import Params, Run
from ..engine.tensor import Tensor, clear_grad
from ..torch.node_hooks import RemovableHandle
from ..torch.signatures import Parameters
from .hooks import Hook, ModuleHooks, Shelf, put
from .parameter import Parameter

M = TypeVar("M", bound="Module")

INDENT = "  "
"""The step by which a child's text is further in than its owner's."""

TABLES = {
    "_parameters": ("parameter", "torch.nn.Parameter"),
    "_buffers": ("buffer", "torch.Tensor"),
    "_modules": ("child module", "torch.nn.Module"),
}
"""The word for a member of each table, and the class that it has to be of."""


def kind(value: object) -> str:
    """Return the word for a value: ``int``, or for a tensor ``torch.FloatTensor``."""
    if isinstance(value, Tensor):
        return f"torch.{dtypes.of(value.raw).legacy}Tensor"
    return type(value).__name__


def _no_forward(self: Module, *input: object) -> None:
    """Raise: a subclass has to say what it computes."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


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


class Module:
    """The base of all modules; a subclass defines ``forward``."""

    training: bool
    forward: Run = _no_forward
    _hooks: ClassVar[ModuleHooks | None] = None
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    def __init__(self, *args: object, **kwargs: object) -> None:
        if args or kwargs:
            Parameters(f"{type(self).__name__}.__init__", (), 1).bind(args, kwargs)
        own = self.__dict__
        own["training"] = True
        for table in TABLES:
            own[table] = {}
        own["_non_persistent_buffers_set"] = set()

    def __call__(self, *args: object, **kwargs: object) -> Any:
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return hooks.run(self, args, kwargs)

    # members

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        table = _table_of(value)
        if table is not None:
            _demand_ready(self, table)
            own.pop(name, None)
            for other in TABLES:
                if other != table and own[other].pop(name, None) is not None:
                    self._non_persistent_buffers_set.discard(name)
            if table == "_parameters":
                _demand_free(self, table, name)
            own[table][name] = value
            return
        for table in TABLES:
            if name in own.get(table, ()):
                _demand(table, name, value)
                own[table][name] = value
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for table in TABLES:
            found = own.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        tables = [self.__dict__.get(table, {}) for table in TABLES]
        return sorted({*object.__dir__(self), *(n for t in tables for n in t)})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Enter a parameter by name; None keeps the name free of one."""
        self._enter("_parameters", name, param)

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Enter a tensor that is not trained; ``persistent``: `state_dict` has it."""
        self._enter("_buffers", name, tensor)
        short_lived = self._non_persistent_buffers_set
        (short_lived.discard if persistent else short_lived.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Enter a child by name."""
        self._enter("_modules", name, module)

    register_module = add_module

    def _enter(self, table: str, name: str, value: object) -> None:
        """Put a member into a table under a name that no other attribute has."""
        _demand_ready(self, table)
        if not name or "." in name:
            what = f"{TABLES[table][0]} name"
            raise KeyError(f'{what} can\'t be empty or contain ".", got: {name!r}')
        _demand_free(self, table, name)
        _demand(table, name, value)
        self.__dict__[table][name] = value

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """Iterate over this module and all below it, each before its children, with
        dotted names."""
        seen = set() if memo is None else memo
        stack: list[tuple[str, Any]] = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if remove_duplicate:
                if module in seen:
                    continue
                seen.add(module)
            yield path, module
            stack.extend(
                (f"{path}.{name}" if path else name, child)
                for name, child in reversed(module._modules.items())
                if child is not None
            )

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all below it, without their names."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over the modules directly below this one, each once, with names."""
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """Iterate over the modules directly below this one."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over parameters with dotted names; a shared one comes once."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over all parameters, as an optimizer takes them."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over all buffers with dotted names."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        """Iterate over a table's members of this module, or of all below it too."""
        seen: set[int] = set()
        every = self.named_modules(None, prefix, remove_duplicate)
        for path, module in every if recurse else [(prefix, self)]:
            for name, member in module.__dict__[table].items():
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def get_submodule(self, target: str) -> Module:
        """Return the module with a dotted name; the empty name is this one.

        Raises:
            AttributeError: there is none.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(
                    f"{type(module).__name__} has no attribute `{name}`"
                )
            if name not in module._modules:
                raise AttributeError(f"`{name}` is not a child module")
            module = getattr(module, name)
        return module  # type: ignore[no-any-return]

    def apply(self: M, fn: Callable[[Any], object]) -> M:
        """Call ``fn`` with every module, children before their parents."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

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
        """Apply ``fn`` to what every parameter, gradient and buffer holds; with
        ``recurse`` in the modules below first."""
        for child in self.children() if recurse else ():
            child._apply(fn)
        with RecordingOff():
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

    def _module_hooks(self) -> ModuleHooks:
        if "_hooks" not in self.__dict__:
            self.__dict__["_hooks"] = ModuleHooks()
        return self.__dict__["_hooks"]  # type: ignore[no-any-return]

    @property
    def _forward_hooks(self) -> Shelf:
        return self._module_hooks().forward

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward pass; it may replace args.

        ``with_kwargs``: call ``hook(module, args, kwargs)``, which may replace both.
        """

        def of_args(module: object, args: object, kwargs: object) -> Any:
            new = hook(module, args)
            if new is None:
                return None
            return (new if isinstance(new, tuple) else (new,)), kwargs

        run = hook if with_kwargs else of_args
        return put(self._module_hooks().before_forward, run, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after each; it may replace the output.

        ``with_kwargs``: call ``hook(module, args, kwargs, output)``.
        """

        def of_args(module: object, args: object, kwargs: object, out: object) -> Any:
            return hook(module, args, out)

        run = hook if with_kwargs else of_args
        return put(self._module_hooks().forward, run, prepend)

    def register_full_backward_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before each backward pass through it."""
        return put(self._module_hooks().before_backward, hook, prepend)

    def register_full_backward_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` after each."""
        return put(self._module_hooks().backward, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` with the gradients of the
        last node; `register_full_backward_hook` sees the whole module's."""
        return put(self._module_hooks().at_last_node, hook)

    # state

    def state_dict(
        self, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return all parameters and persistent buffers by dotted name, detached.

        The tensors share the module's memory; copy them to keep what they are now.
        """
        if destination is None:
            destination = OrderedDict()
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination, f"{prefix}{name}.", keep_vars)
        return destination

    def _save_to_state_dict(
        self, destination: Any, prefix: str, keep_vars: bool
    ) -> None:
        """Put the module's own entries into ``destination``, not its children's."""
        for name, tensor in self._local_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def _local_state(self) -> dict[str, Tensor]:
        buffers = {
            name: buffer
            for name, buffer in self._buffers.items()
            if name not in self._non_persistent_buffers_set
        }
        every = {**self._parameters, **buffers}
        return {name: tensor for name, tensor in every.items() if tensor is not None}

    def load_state_dict(
        self,
        state_dict: Mapping[str, object],
        strict: bool = True,
        assign: bool = False,
    ) -> _IncompatibleKeys:
        """Take over tensors by dotted name; return the missing and unexpected names.

        Args:
            strict: whether the names have to be exactly the module's own.
            assign: put the given tensors in place rather than copy their values.

        Raises:
            RuntimeError: names or shapes do not match; all of them are listed.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        keys = _IncompatibleKeys([], [])
        problems: list[str] = []
        _load(self, OrderedDict(state_dict), "", assign, keys, problems)
        named = {"Missing": keys.missing_keys, "Unexpected": keys.unexpected_keys}
        for what, names in reversed(named.items()) if strict else ():
            if names:
                quoted = ", ".join(f'"{name}"' for name in names)
                problems.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
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
        assign = local_metadata.get("assign_to_params_buffers", False)
        known = self._local_state()
        for name, tensor in known.items():
            full = prefix + name
            if full in state_dict:
                problem = _take(self, name, tensor, full, state_dict[full], assign)
                error_msgs += [problem] if problem else []
            else:
                missing_keys.append(full)
        for given in state_dict:
            own, dot, _ = given.removeprefix(prefix).partition(".")
            fits = own in self._modules if dot else own in known
            if given.startswith(prefix) and not fits:
                unexpected_keys.append(given)

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


def _table_of(value: object) -> str | None:
    """Return the table that a value enters by itself; a plain tensor enters none."""
    if isinstance(value, Parameter):
        return "_parameters"
    return "_modules" if isinstance(value, Module) else None


def _demand_ready(module: Module, table: str) -> None:
    """Raise AttributeError for a module whose constructor has not run."""
    if table not in module.__dict__:
        raise AttributeError(
            f"cannot assign {TABLES[table][0]}s before Module.__init__() call"
        )


def _demand_free(module: Module, table: str, name: str) -> None:
    """Raise KeyError for the name of an attribute that is no member of the table."""
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute {name!r} already exists")


def _demand(table: str, name: str, value: object) -> None:
    """Raise TypeError for a value that is not of a table's kind."""
    plain = table == "_buffers" and isinstance(value, Tensor)
    if value is not None and not plain and _table_of(value) != table:
        called, wanted = TABLES[table]
        raise TypeError(
            f"cannot assign {kind(value)!r} as {called} {name!r} "
            f"({wanted} or None expected)"
        )


def _load(
    module: Any, state: Params, prefix: str, assign: bool, keys: _IncompatibleKeys,
    problems: list[str],
) -> None:  # fmt: skip
    """Let a module and then its children take their entries."""
    options = {"assign_to_params_buffers": True} if assign else {}
    module._load_from_state_dict(
        state, prefix, options, True, keys.missing_keys, keys.unexpected_keys, problems
    )
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {k: v for k, v in state.items() if k.startswith(below)}
            _load(child, part, below, assign, keys, problems)


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
    if not assign:
        with RecordingOff():
            tensor.copy_(given)
        return ""
    if isinstance(tensor, Parameter):
        if not isinstance(given, Parameter):
            given = Parameter(given.detach())
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
