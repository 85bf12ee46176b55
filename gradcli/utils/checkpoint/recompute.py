"""A checkpoint whose nodes are recorded, and whose saved values are computed again.

Invariant: what the nodes inside save is a *slot*, not a value. The first slot that a
reverse pass asks for lets the function run again, once, on the saved inputs; what that
run saves, in the same order, fills all slots for that pass. The run ends as soon as
the last slot is filled, unless that is turned off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary, ref

from ...autograd import Function
from ...autograd.graph import saved_tensors_hooks
from ...engine.errors import EngineError
from ...engine.modes import MODE, enable_grad
from ...engine.passes import PASSES, Pass
from ...engine.raw import Params, Raw, Run
from ...engine.record import call
from ...engine.tensor import Tensor
from .draws import same_draws

if TYPE_CHECKING:
    from ...ops import Op

Contexts = Callable[
    [], tuple[AbstractContextManager[object], AbstractContextManager[object]]
]
"""Makes the block of the forward run and the one of the second."""


class CheckpointError(EngineError):
    """A function that ran otherwise for the reverse pass than it did before."""


class _Finished(Exception):
    """Every slot is filled; raised to end the second run."""


class _Settings:
    """Settings that go before a checkpoint's own; None: its own holds."""

    early_stop: bool | None = None
    debug: bool | None = None


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Let checkpoints made inside end their second run early, or never."""
    before, _Settings.early_stop = _Settings.early_stop, enable
    try:
        yield
    finally:
        _Settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Let errors of checkpoints made inside list operations; None: their own."""
    before, _Settings.debug = _Settings.debug, enabled
    try:
        yield
    finally:
        _Settings.debug = before


CHECKS: dict[str, Callable[[Tensor], object]] = {
    "default": lambda t: {"shape": t.shape, "dtype": t.dtype, "device": t.device},
    "none": lambda t: None,
}
"""What has to be the same of a value when it is computed again."""

OTHER_COUNT = (
    "torch.utils.checkpoint: A different number of tensors was saved during the "
    "original forward and recomputation.\nNumber of tensors saved during forward: {}\n"
    "Number of tensors saved during recomputation: {}."
)
TOO_MANY = (
    "torch.utils.checkpoint: trying to save more tensors during recomputation than "
    "during the original forward pass."
)
OTHER_KIND = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have "
    "different metadata than during the forward pass.\n{}"
)
TIP = "\n\nTip: pass `debug=True` to see the operations of both runs."


class _Slot:
    """What a node holds in place of a value that it saves."""

    __slots__ = ("__weakref__",)


Filled: TypeAlias = "MutableMapping[_Slot, Tensor]"


class _Inputs(Function):
    """Keeps the tensors of a call as any node keeps them: packed, and by version."""

    @staticmethod
    def forward(ctx: Any, leaf: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return leaf.detach()

    @staticmethod
    def backward(ctx: object, g: Any) -> Any:
        raise AssertionError("the inputs of a checkpoint are no part of a graph")


class Region:
    """One call of a function under a checkpoint."""

    def __init__(
        self,
        function: Run,
        args: tuple[Any, ...],
        kwargs: Params,
        again: AbstractContextManager[object],
        preserve: bool,
        check: str,
        early_stop: bool,
        debug: bool,
    ) -> None:
        chosen = _Settings.early_stop
        self._early_stop = early_stop if chosen is None else chosen
        self._debug = debug if _Settings.debug is None else _Settings.debug
        self._describe = CHECKS[check]
        self._again, self._draws = again, same_draws(preserve)
        self._function, self._kwargs = function, kwargs
        self._others = [None if isinstance(x, Tensor) else x for x in args]
        self._at = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        leaf = call("zeros_like", args[self._at[0]].detach()) if self._at else None
        self._node: Any = None
        if leaf is not None:
            leaf.requires_grad_(leaf.is_floating_point())
            tensors = [args[i] for i in self._at]
            self._node = _Inputs.apply(leaf, *tensors).grad_fn if leaf.edge else None
        self._tensors = [args[i] for i in self._at] if self._node is None else []
        self._slots: list[ref[_Slot]] = []
        self._kinds: list[object] = []
        self._filled: WeakKeyDictionary[Pass, Filled] = WeakKeyDictionary()
        self._done = False
        self._ran: list[str] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Enter the block of the first run, in which nodes save slots."""
        with saved_tensors_hooks(self._pack, self._unpack), self._listing(self._ran):
            yield

    def _pack(self, tensor: Tensor) -> _Slot:
        slot = _Slot()
        self._slots.append(ref(slot))
        self._kinds.append(self._describe(tensor))
        return slot

    def _unpack(self, slot: _Slot) -> Tensor:
        running = PASSES.running
        filled: Filled
        if running is None:
            filled = WeakKeyDictionary()
        else:
            filled = self._filled.setdefault(running, WeakKeyDictionary())
        if slot not in filled:
            self._fill(filled)
        return filled.pop(slot)

    def _fill(self, filled: Filled) -> None:
        """Run the function again, and fill every slot that somebody still holds."""
        kinds: list[object] = []
        ran: list[str] = []

        def pack(tensor: Tensor) -> Tensor:
            nr = len(kinds)
            if nr == len(self._slots):
                raise self._error(TOO_MANY, ran)
            kinds.append(self._describe(tensor))
            slot = self._slots[nr]()
            alone = tensor.detach()
            if slot is not None:
                filled[slot] = alone
            if self._early_stop and nr + 1 == len(self._slots):
                raise _Finished
            return alone

        args = self._args()
        try:
            with ExitStack() as blocks:
                blocks.enter_context(self._draws())
                blocks.enter_context(enable_grad())
                blocks.enter_context(self._again)
                blocks.enter_context(saved_tensors_hooks(pack, lambda t: t))
                blocks.enter_context(self._listing(ran))
                self._function(*args, **self._kwargs)
        except _Finished:
            pass
        self._compare(kinds, ran)

    def _args(self) -> list[object]:
        kept = self._tensors if self._node is None else self._node.ctx.saved_tensors
        args = list(self._others)
        for position, tensor in zip(self._at, kept, strict=True):
            args[position] = tensor
        return args

    def _compare(self, kinds: list[object], ran: list[str]) -> None:
        if len(kinds) != len(self._kinds):
            text = OTHER_COUNT.format(len(self._kinds), len(kinds))
            raise self._error(text, ran)
        differing = [
            f"tensor at position {nr}:\nsaved metadata: {was}\n"
            f"recomputed metadata: {now}\n"
            for nr, (was, now) in enumerate(zip(self._kinds, kinds, strict=True))
            if was != now
        ]
        if differing:
            raise self._error(OTHER_KIND.format("".join(differing)), ran)

    def _error(self, text: str, ran: list[str]) -> CheckpointError:
        if not self._debug:
            return CheckpointError(text + TIP)
        lists = [
            f"{heading}\n"
            + "\n".join(f"  {nr}. {step}" for nr, step in enumerate(steps, 1))
            for heading, steps in (
                ("Operations of the original forward:", self._ran),
                ("Operations of the recomputation:", ran),
            )
        ]
        return CheckpointError("\n\n".join([text, *lists]))

    @contextmanager
    def _listing(self, steps: list[str]) -> Iterator[None]:
        """Note each operation of a run, where an error is to list them."""
        if not self._debug:
            yield
            return

        def note(op: Op, inputs: object, params: object, raw: Raw, out: object) -> None:
            shapes = [list(r.shape) for r in raw if hasattr(r, "shape")]
            steps.append(f"{op.name} of shapes {', '.join(map(str, shapes))}")

        before = MODE.on_call
        MODE.watch(MODE.on_node, [*before, note])
        try:
            yield
        finally:
            MODE.watch(MODE.on_node, before)
