"""The modes of recording: grad mode, inference mode, and observers of operations.

Invariant: one switch, `MODE`; every recorder reads it. Each thread has its own, and
starts by recording: a backward pass in one thread does not keep another from building
its graph. ``fast`` says that a node may be made without anybody looking; ``looked_at``
that an operation which is not recorded has to take the general path all the same: both
follow from the others. ``renews`` says that what is changed in place gets new memory.

    with no_grad():
        y = x * 2                        # y.requires_grad is False
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial, wraps
from threading import local
from types import TracebackType
from typing import Any

from .raw import Raw, Run


class _Mode(local):
    """The switch of recording, and the observers of what is recorded.

    ``on_node`` are called with each new node; ``on_call`` with each operation: its row,
    inputs, parameters, the raw inputs and the outputs. ``samples`` are the batches of
    which a sample runs, the innermost last. ``traces`` are edges that transforms of
    functions (`gradcli.func`) which are running one differentiate by, ``traced`` these
    and those of `gradcli.autograd.functional`. ``before_change`` is called with an
    array whose memory is about to be changed in place. ``home`` is the namespace that
    new floats are of; None: that of the device they are asked for. ``made`` tells what
    was made since the innermost transform that runs has begun; ``pushes`` says that a
    transform runs that pushes tangents; ``muffled`` that what is recorded is for these
    alone, as no gradient goes through it.
    """

    enabled = fast = True
    inference = looked_at = renews = pushes = muffled = False
    on_node: tuple[Callable[..., None], ...] = ()
    on_call: tuple[Callable[..., None], ...] = ()
    samples: tuple[Any, ...] = ()
    traces: tuple[frozenset[Any], ...] = ()
    traced: tuple[frozenset[Any], ...] = ()
    before_change: Callable[[Raw], None] | None = None
    home: Any = None
    made: Any = None

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        own[name] = value
        seen = self.on_node or self.on_call or self.made or self.muffled
        own["looked_at"] = looked_at = bool(seen)
        own["fast"] = self.enabled and not looked_at

    @contextmanager
    def having(self, **wanted: Any) -> Iterator[None]:
        """Run a block in which attributes have other values."""
        before = {name: getattr(self, name) for name in wanted}
        try:
            for name, value in wanted.items():
                setattr(self, name, value)
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def observe(self, which: str, look: Callable[..., None], wanted: bool) -> None:
        """Let one observer look from now on, last of all, or no longer.

        Args:
            which: the attribute of such observers: on_node or on_call.
        """
        others = tuple([each for each in getattr(self, which) if each != look])
        setattr(self, which, (*others, look) if wanted else others)

    def allow(self, gradients: bool) -> None:
        """Let later recorded operations pass gradients, or stop recording them; with
        ``pushes`` they are still recorded, muffled."""
        self.muffled = self.pushes and self.enabled and not gradients
        self.enabled = gradients or self.muffled

    def change(self, raw: Raw) -> None:
        """Call ``before_change``, if set, with an array that is about to be changed."""
        if self.before_change is not None:
            self.before_change(raw)


MODE = _Mode()


class PassObserver:
    """An observer of reverse passes, which may change the cotangents in them.

    A cotangent is an array, a tensor in a pass that is recorded, or a tuple with one or
    None for each output. ``outer`` is the observer that looked before; what a method
    does not define is left to it.
    """

    outer: PassObserver | None = None

    def sees(self, node: Any) -> bool:
        """Return whether the observer looks at this node."""
        return True

    def arrive(self, node: Any, nr: int, g: Any) -> Any:
        """Return the cotangent that arrived at an output of a node."""
        return g if self.outer is None else self.outer.arrive(node, nr, g)

    def before(self, node: Any, g: Any) -> Any:
        """Return the cotangent of a node that is about to be pulled."""
        return g if self.outer is None else self.outer.before(node, g)

    def after(self, node: Any, pulled: Any, g: Any) -> Any:
        """Return the cotangents of a node's edges, which it gave for ``g``."""
        return pulled if self.outer is None else self.outer.after(node, pulled, g)

    def finished(self, leaf: Any, g: Any) -> None:
        """Look at a leaf to whose gradient ``g`` was added."""
        if self.outer is not None:
            self.outer.finished(leaf, g)

    def failed(self, node: Any, error: Exception) -> None:
        """Look at an error that ends a pass at a node."""
        if self.outer is not None:
            self.outer.failed(node, error)

    def moved(self, t: Any, before: Any) -> None:
        """Look at a tensor whose edge, ``before`` until now, was replaced."""
        if self.outer is not None:
            self.outer.moved(t, before)


class _Watch:
    """The observer of all reverse passes, if there is one."""

    __slots__ = ("observer",)

    def __init__(self) -> None:
        self.observer: PassObserver | None = None

    @contextmanager
    def by(self, observer: PassObserver) -> Iterator[None]:
        """Run a block whose passes one observer looks at."""
        observer.outer, self.observer = self.observer, observer
        try:
            yield
        finally:
            self.observer = observer.outer


WATCH = _Watch()


def is_grad_enabled() -> bool:
    """Return whether operations are recorded at present."""
    return MODE.enabled and not MODE.muffled


def is_inference_mode_enabled() -> bool:
    """Return whether inference mode is on."""
    return MODE.inference


class _Block:
    """A mode as a ``with`` block, which can be entered repeatedly, or a decorator."""

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool, bool]] = []

    def enter(self) -> None:
        """Set the mode that holds inside the block."""
        raise NotImplementedError

    def __enter__(self) -> None:
        self._before.append((MODE.enabled, MODE.muffled, MODE.inference))
        self.enter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        MODE.enabled, MODE.muffled, MODE.inference = self._before.pop()

    def __call__(self, function: Run) -> Run:
        if _makes_generators(function):
            return self._around_each_step(function)

        @wraps(function)
        def wrapped(*args: object, **kwargs: object) -> object:
            with self:
                return function(*args, **kwargs)

        return wrapped

    def _around_each_step(self, function: Run) -> Run:
        """Return a generator function whose every step runs inside the block."""

        @wraps(function)
        def wrapped(
            *args: object, **kwargs: object
        ) -> Generator[object, object, object]:
            steps = function(*args, **kwargs)
            step, given = steps.send, None
            while True:
                with self:
                    try:
                        value = step(given)
                    except StopIteration as end:
                        return end.value
                try:
                    step, given = steps.send, (yield value)
                except GeneratorExit:
                    with self:
                        steps.close()
                    raise
                except BaseException as thrown:
                    step, given = steps.throw, thrown

        return wrapped


GENERATOR = 0x20
"""Flag of a generator's code object (`inspect.CO_GENERATOR`)."""


def _makes_generators(function: object) -> bool:
    """Return whether a function, or the one that a partial calls, is a generator."""
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code is not None and bool(code.co_flags & GENERATOR)


def renewing() -> AbstractContextManager[None]:
    """Return a block in which changed tensors, their bases and views get new memory.

    So results computed from them before, and values saved for those, do not change.
    """
    return MODE.having(renews=True)


def following(
    edges: frozenset[Any], transform: bool = True, forward: bool = False
) -> AbstractContextManager[None]:
    """Return a block whose results are going to be differentiated by ``edges``.

    Args:
        transform: whether a transform of `gradcli.func` runs the block.
        forward: whether tangents will be pushed.
    """
    return MODE.having(
        traces=(*MODE.traces, edges) if transform else MODE.traces,
        traced=(*MODE.traced, edges),
        pushes=MODE.pushes or forward,
    )


class _DecoratorMode(_Block):
    """A mode without an argument, whose class itself is a decorator as well."""

    def __new__(cls, function: Run | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


class RecordingOff(_DecoratorMode):
    """A ``with`` block in which nothing is recorded; also a decorator."""

    def enter(self) -> None:
        MODE.enabled = False


class enable_grad(_DecoratorMode):
    """A ``with`` block that records, even within `RecordingOff`; also a decorator."""

    def enter(self) -> None:
        MODE.allow(True)


class RecordingMode(_Block):
    """A ``with`` block that records or not, by its argument; also a decorator.

    As a plain call it takes effect at once, as in PyTorch.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._outside: tuple[bool, bool] | None = MODE.enabled, MODE.muffled
        self.enter()

    def __enter__(self) -> None:
        self._take_back()
        super().__enter__()

    def enter(self) -> None:
        MODE.enabled = self.mode

    def __call__(self, function: Run) -> Run:
        self._take_back()
        return super().__call__(function)

    def _take_back(self) -> None:
        """Undo the effect of the plain call."""
        if self._outside is not None:
            MODE.enabled, MODE.muffled = self._outside
            self._outside = None


class inference_mode(_Block):
    """A ``with`` block that does not record, as PyTorch's inference mode.

    ``inference_mode(False)`` is a block in which it is off. Both are also decorators,
    with and without parentheses.
    """

    def __new__(cls, mode: bool | Run = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def enter(self) -> None:
        if MODE.inference != self.mode:
            MODE.inference, MODE.enabled = self.mode, not self.mode
