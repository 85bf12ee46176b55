"""Functions that a module calls around its forward and its backward pass.

Invariant: a module without hooks has no `Hooks` at all, so that calling it costs one
test. Hooks run in the order they were registered; what one returns, unless it is None,
takes the place of what it was given.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..engine.hooks import RemovableHandle

if TYPE_CHECKING:
    from .module import Module

Hook = Callable[..., Any]


class Shelf(OrderedDict[int, Any]):
    """Hooks of one kind, in the order in which they run."""

    def put(self, hook: Any, first: bool) -> RemovableHandle:
        handle = RemovableHandle(self, hook)
        if first:
            self.move_to_end(handle.id, last=False)
        return handle


class Hooks:
    """All hooks of one module. Forward hooks come with their registration's options."""

    __slots__ = ("backward", "before_backward", "before_forward", "forward")

    def __init__(self) -> None:
        self.before_forward = Shelf()
        self.forward = Shelf()
        self.before_backward = Shelf()
        self.backward = Shelf()

    def run(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The module's forward pass between its hooks."""
        done: set[int] = set()
        try:
            args, kwargs = self._before(module, args, kwargs)
            watch = self._watch(module)
            if watch is not None:
                args = watch.arriving(args)
            out = module.forward(*args, **kwargs)
            for key, (hook, with_kwargs, _) in list(self.forward.items()):
                done.add(key)
                new = (
                    hook(module, args, kwargs, out)
                    if with_kwargs
                    else hook(module, args, out)
                )
                out = out if new is None else new
            return out if watch is None else watch.leaving(out)
        except Exception:
            self._always(module, args, kwargs, done)
            raise

    def _before(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook, with_kwargs in list(self.before_forward.values()):
            if with_kwargs:
                both = hook(module, args, kwargs)
                if both is None:
                    continue
                if not isinstance(both, tuple) or len(both) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, "
                        f"new_kwargs), but got {both}."
                    )
                args, kwargs = both
            else:
                new = hook(module, args)
                if new is not None:
                    args = new if isinstance(new, tuple) else (new,)
        return args, kwargs

    def _watch(self, module: Module) -> Any:
        if not self.backward and not self.before_backward:
            return None
        from .backward_hooks import BackwardWatch

        return BackwardWatch(
            module, list(self.before_backward.values()), list(self.backward.values())
        )

    def _always(
        self, module: Module, args: Any, kwargs: dict[str, Any], done: set[int]
    ) -> None:
        """After a failure: the hooks that asked to be called in any case."""
        for key, (hook, with_kwargs, always) in list(self.forward.items()):
            if always and key not in done:
                if with_kwargs:
                    hook(module, args, kwargs, None)
                else:
                    hook(module, args, None)
