"""Modules: functions with parameters, which may be made of other modules.

Invariant: parameters, buffers and children stand in three ordered tables, found as
attributes; whatever walks a module walks these tables and nothing else.

    class Net(Module):
        def __init__(self):
            super().__init__()
            self.hidden = Linear(2, 3)
        def forward(self, x):
            return self.hidden(x).relu()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from ..engine.hooks import RemovableHandle
from ..engine.leaves import clear_grad
from ..engine.tensor import Tensor
from . import convert, state, text
from .hooks import Hook, Hooks
from .parameter import Parameter
from .register import TABLES, check_name, place

M = TypeVar("M", bound="Module")


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    """Every subclass says here what it computes."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module:
    """The base of all modules; a subclass defines ``forward``."""

    training: bool
    forward: Callable[..., Any] = _no_forward
    _hooks: ClassVar[Hooks | None] = None
    _may_miss: ClassVar[frozenset[str]] = frozenset()
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _transient: set[str]

    def __init__(self) -> None:
        own = self.__dict__
        own["training"] = True
        for table in TABLES:
            own[table] = {}
        own["_transient"] = set()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hooks = self._hooks
        if hooks is None:
            return self.forward(*args, **kwargs)
        return hooks.run(self, args, kwargs)

    # attributes

    def __setattr__(self, name: str, value: Any) -> None:
        if not place(self, name, value):
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
                self._transient.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        tables = [self.__dict__.get(table, {}) for table in TABLES]
        return sorted({*object.__dir__(self), *(n for t in tables for n in t)})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Enter a parameter by name; None keeps its place without being one."""
        check_name(self, name, "_parameters", "parameter name")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign {text.kind(param)!r} object to parameter {name!r} "
                "(torch.nn.Parameter or None required)"
            )
        self._parameters[name] = param

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Enter a tensor that belongs to the module's state and is not trained.

        Args:
            name: its attribute's name.
            tensor: what it holds, or None.
            persistent: whether it is part of `state_dict`.
        """
        check_name(self, name, "_buffers", "buffer name")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign {text.kind(tensor)!r} object to buffer {name!r} "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._transient.discard if persistent else self._transient.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Enter a child by name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{text.kind(module)} is not a Module subclass")
        check_name(self, name, "_modules", "module name")
        self._modules[name] = module

    def register_module(self, name: str, module: Module | None) -> None:
        """Another name of `add_module`."""
        self.add_module(name, module)

    # walking

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Module]]:  # fmt: skip
        """This module and all below it, each before its children, with dotted names."""
        seen = set() if memo is None else memo
        stack: list[tuple[str, Module]] = [(prefix, self)]
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
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below this one, each once."""
        seen: set[Module] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly below this one."""
        for _, child in self.named_children():
            yield child

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with dotted names; a shared one comes once."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, as an optimizer takes them."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with dotted names."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        walk = (
            self.named_modules(None, prefix, remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in walk:
            for name, member in module.__dict__[table].items():
                if member is None or (remove_duplicate and id(member) in seen):
                    continue
                seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def get_submodule(self, target: str) -> Module:
        """The module below this one with a dotted name; the empty name is itself.

        Raises:
            AttributeError: there is none.
        """
        module: Module = self
        for name in target.split(".") if target else ():
            module = text.attribute(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found: Any = text.attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name. Raises AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        found: Tensor = text.attribute(owner, name)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
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
        for module in self.modules():
            module.training = mode
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

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """Move parameters and buffers: ``to(dtype)``, ``to(device)``, ``to(tensor)``.

        Integer buffers keep their type.
        """
        return convert.apply_to_all(self, convert.moving(*args, **kwargs))

    def type(self: M, dst_type: Any) -> M:
        """Turn all parameters and buffers to one dtype."""
        return convert.apply_to_all(self, lambda t: t.to(dst_type))

    def float(self: M) -> M:
        """Turn floating-point parameters and buffers to float32."""
        return self.to(convert.dtype("float32"))

    def double(self: M) -> M:
        """Turn floating-point parameters and buffers to float64."""
        return self.to(convert.dtype("float64"))

    def half(self: M) -> M:
        """Turn floating-point parameters and buffers to float16."""
        return self.to(convert.dtype("float16"))

    def cpu(self: M) -> M:
        """Move parameters and buffers to main memory."""
        return self.to("cpu")

    def cuda(self: M, device: Any = None) -> M:
        """Move parameters and buffers to a GPU."""
        where = f"cuda:{device}" if isinstance(device, int) else device or "cuda"
        return self.to(where)

    # state

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and persistent buffers by dotted name, detached.

        The tensors share the module's memory; copy them to keep what they are now.
        """
        return state.collect(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
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
        return state.load(self, state_dict, strict, assign)

    # hooks

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self.__dict__["_hooks"] = Hooks()
        return self.__dict__["_hooks"]  # type: ignore[no-any-return]

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward pass; it may replace args."""
        return self._own_hooks().before_forward.put((hook, with_kwargs), prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:  # fmt: skip
        """Call ``hook(module, args, output)`` after each; it may replace the output."""
        entry = (hook, with_kwargs, always_call)
        return self._own_hooks().forward.put(entry, prepend)

    def register_full_backward_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before each backward pass through it."""
        return self._own_hooks().before_backward.put(hook, prepend)

    def register_full_backward_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` after each."""
        return self._own_hooks().backward.put(hook, prepend)

    # text

    def extra_repr(self) -> str:
        """What the module says of itself between its parentheses."""
        return ""

    def __repr__(self) -> str:
        return text.describe(self)
