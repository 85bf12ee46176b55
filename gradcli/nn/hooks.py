"""Functions that modules call: around a pass, and around a state.

Invariant: a module without hooks has no `Hooks` at all, so that calling it costs one
test. Hooks run in the order they were registered; what one returns, unless it is None,
takes the place of what it was given.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..engine.hooks import RemovableHandle
from ..engine.raw import Params

Hook = Callable[..., Any]

SILENCED = (
    "module forward hook with ``always_call=True`` raised an exception that was "
    "silenced as another error was raised in forward: "
)


class Shelf(OrderedDict[int, Hook]):
    """Hooks of one kind in the order in which they run, and how they want to be run."""

    def __init__(self, *entries: object) -> None:
        super().__init__(*entries)
        self.options: dict[int, frozenset[str]] = {}

    def put(self, hook: Hook, first: bool = False, **options: bool) -> RemovableHandle:
        """Add a hook at the end, or first, with the options that are True."""
        handle = RemovableHandle(self, hook)
        wanted = frozenset(name for name, chosen in options.items() if chosen)
        if wanted:
            self.options[handle.id] = wanted
        if first:
            self.move_to_end(handle.id, last=False)
        return handle

    def wants(self, key: int, option: str) -> bool:
        """True if a hook was registered with an option."""
        return option in self.options.get(key, ())

    def call(
        self, key: int, hook: Hook, module: object, args: object, kwargs: object,
        *out: object,
    ) -> Any:  # fmt: skip
        """Call a hook of a forward pass, with keyword arguments if it wants them."""
        given = (args, kwargs) if self.wants(key, "with_kwargs") else (args,)
        return hook(module, *given, *out)


@dataclass(slots=True, eq=False)
class Hooks:
    """All hooks of one module.

    ``full`` says whether backward hooks see a whole module's gradients; None: there are
    no such hooks yet.
    """

    after_load: Shelf = field(default_factory=Shelf)
    after_save: Shelf = field(default_factory=Shelf)
    backward: Shelf = field(default_factory=Shelf)
    before_backward: Shelf = field(default_factory=Shelf)
    before_forward: Shelf = field(default_factory=Shelf)
    before_load: Shelf = field(default_factory=Shelf)
    before_save: Shelf = field(default_factory=Shelf)
    forward: Shelf = field(default_factory=Shelf)
    full: bool | None = None

    def add_backward(
        self, hook: Hook, full: bool, first: bool = False
    ) -> RemovableHandle:
        """Register a backward hook; only one of both kinds may be used."""
        if self.full is not None and self.full != full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a "
                "single Module. Please use only one of them."
            )
        self.full = full
        return self.backward.put(hook, first)

    def run(self, module: Any, args: tuple[object, ...], kwargs: Params) -> Any:
        """Run the module's forward pass between its hooks."""
        done: set[int] = set()
        out = None
        try:
            args, kwargs = self._before(module, args, kwargs)
            watch = self._watch(module)
            if watch is not None:
                args = watch.arriving(args)
            out = module.forward(*args, **kwargs)
            for key, hook in list(self.forward.items()):
                done.add(key)
                new = self.forward.call(key, hook, module, args, kwargs, out)
                out = out if new is None else new
            if watch is not None:
                out = watch.leaving(out)
            if self.full is False and self.backward:
                from .backward_hooks import watch_last_node

                watch_last_node(module, args, out, [*self.backward.values()])
            return out
        except Exception:
            for key, hook in list(self.forward.items()):
                if key not in done and self.forward.wants(key, "always_call"):
                    try:
                        self.forward.call(key, hook, module, args, kwargs, out)
                    except Exception as problem:
                        warnings.warn(SILENCED + str(problem), stacklevel=3)
            raise

    def _before(
        self, module: Any, args: tuple[object, ...], kwargs: Params
    ) -> tuple[tuple[object, ...], Params]:
        for key, hook in list(self.before_forward.items()):
            new = self.before_forward.call(key, hook, module, args, kwargs)
            if new is None:
                continue
            if not self.before_forward.wants(key, "with_kwargs"):
                args = new if isinstance(new, tuple) else (new,)
            elif isinstance(new, tuple) and len(new) == 2:
                args, kwargs = new
            else:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, "
                    f"new_kwargs), but got {new}."
                )
        return args, kwargs

    def _watch(self, module: Any) -> Any:
        before = [*self.before_backward.values()]
        after = [*self.backward.values()] if self.full else []
        if not before and not after:
            return None
        from .backward_hooks import BackwardWatch

        return BackwardWatch(module, before, after)
