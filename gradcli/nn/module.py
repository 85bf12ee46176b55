"""Modules: functions with parameters, which may be made of other modules.

Invariant: calling a module runs its ``forward``, between its hooks if there are any;
what it holds is described in `members`, what it saves in `state`.

    class Net(Module):
        def __init__(self):
            super().__init__()
            self.hidden = Linear(2, 3)
        def forward(self, x):
            return self.hidden(x).relu()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from ..engine import dtypes
from ..engine.creation import empty_like
from ..engine.hooks import RemovableHandle
from ..engine.leaves import clear_grad
from ..engine.modes import no_grad
from ..engine.raw import Params, Run
from ..engine.tensor import Tensor
from . import text
from .hooks import EVERY, Hook, Hooks, Shelf
from .members import TABLES
from .state import Stateful

M = TypeVar("M", bound="Module")


def _no_forward(self: Module, *input: object) -> None:
    """Raise: a subclass has to say what it computes."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


def _table(kind: str) -> Any:
    """Make an attribute of the hooks of one kind."""
    return property(lambda self: getattr(self._own_hooks(), kind))


class Module(Stateful["Module"]):
    """The base of all modules; a subclass defines ``forward``."""

    training: bool
    forward: Run = _no_forward
    call_super_init: bool = False
    _hooks: ClassVar[Hooks | None] = None

    def __init__(self, *args: object, **kwargs: object) -> None:
        own = self.__dict__
        own["training"] = True
        for table in TABLES:
            own[table] = {}
        own["_non_persistent_buffers_set"] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        elif args or kwargs:
            self._refuse(args, kwargs)

    def _refuse(self, args: tuple[object, ...], kwargs: Params) -> None:
        called = f"{type(self).__name__}.__init__()"
        if kwargs:
            raise TypeError(
                f"{called} got an unexpected keyword argument {next(iter(kwargs))!r}"
            )
        raise TypeError(
            f"{called} takes 1 positional argument but {len(args) + 1} were given"
        )

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

    # text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the module says of itself between its parentheses."""
        return ""

    def __repr__(self) -> str:
        return text.describe(self)


def hooked(module: type[Module]) -> None:
    """Let every module look for the hooks of every module from now on."""
    module._hooks = EVERY
