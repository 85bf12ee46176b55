"""Checkpoints that keep the results of some operations, and compute the others again.

Invariant: a policy is asked once for each operation of the first run; in the second run
an operation whose result was kept is not computed, its result is taken.

    kept = [torch.ops.aten.mm.default]
    contexts = partial(create_selective_checkpoint_contexts, kept)
    y = checkpoint(block, x, use_reentrant=False, context_fn=contexts)
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any

from ...engine.errors import EngineError
from ...engine.modes import MODE
from ...engine.raw import Params
from ...engine.versions import version
from ...ops import Op


class CheckpointPolicy(Enum):
    """What becomes of an operation's result.

    MUST and PREFER mean the same here; CPU_OFFLOAD keeps the result where it is.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


COMPUTED_AGAIN = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)

MUTATED = "Tensor cached during selective activation checkpoint has been mutated"
ONCE = (
    "Trying to backward an extra time. You are only allowed to backward once on any "
    "region computed under selective activation checkpoint."
)
NEVER_SEEN = (
    "{} encountered during backward, but not found in storage: the second run does "
    "what the first did not"
)


class SelectiveCheckpointContext:
    """What a policy learns beside the operation: whether this is the second run."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


class _Kept:
    """The raw outputs of one operation, or nothing if it is to be computed again."""

    def __init__(self, outputs: object, is_kept: bool) -> None:
        self.outputs = outputs if is_kept else None
        self.is_kept = is_kept
        self.versions = [version(raw) for raw in self._parts()]

    def _parts(self) -> tuple[Any, ...]:
        found = self.outputs if isinstance(self.outputs, tuple) else (self.outputs,)
        return tuple(raw for raw in found if raw is not None)

    def is_changed(self) -> bool:
        return self.versions != [version(raw) for raw in self._parts()]


Policy = Callable[..., object]
Compute = Callable[[], object]


class _Storage:
    """The operations of the first run, in order for each row."""

    def __init__(self, policy: Policy, may_change: bool) -> None:
        self._policy, self._may_change = policy, may_change
        self._kept: defaultdict[Op, deque[_Kept]] = defaultdict(deque)
        self.is_used_up = False

    def keep(self, op: Op, inputs: Any, params: Any, compute: Compute) -> Any:
        """Compute, and keep the result if the policy says so."""
        y = compute()
        context = SelectiveCheckpointContext(is_recompute=False)
        decided = self._policy(context, op, *inputs, **params)
        if isinstance(decided, bool):
            decided = CheckpointPolicy(0 if decided else 3)
        self._kept[op].append(_Kept(y, decided not in COMPUTED_AGAIN))
        return y

    def give(self, op: Op, inputs: object, params: Params, compute: Compute) -> object:
        """Take what was kept, or compute."""
        if not self._kept[op]:
            raise EngineError(ONCE if self.is_used_up else NEVER_SEEN.format(op.name))
        kept = self._kept[op].popleft()
        if not kept.is_kept:
            return compute()
        if not self._may_change and kept.is_changed():
            raise EngineError(MUTATED)
        return kept.outputs


class _Block(AbstractContextManager[None]):
    """A block in which a function computes each operation, or takes what was kept.

    It can be entered again, also inside itself.
    """

    def __init__(self, storage: _Storage, handle: Any, is_last: bool) -> None:
        self._storage, self._handle, self._is_last = storage, handle, is_last
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(MODE.instead)
        MODE.divert(self._handle)

    def __exit__(self, *problem: object) -> None:
        MODE.divert(self._before.pop())
        self._storage.is_used_up |= self._is_last


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | Sequence[Op], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Make the two blocks that a checkpoint's ``context_fn`` gives.

    Args:
        policy_fn_or_list: takes a `SelectiveCheckpointContext`, a row of the table
            (``torch.ops.aten.mm.default``), the operands and parameters; gives a
            `CheckpointPolicy`, or whether to keep the result. Or the rows to keep.
        allow_cache_entry_mutation: take what was kept though it was changed in place.

    Raises:
        TypeError: neither a function nor a list.
        ValueError: the list holds something else than rows.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, Op):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of "
                    f"type {type(op)}. "
                )
        chosen = set(policy_fn_or_list)
        policy: Policy = lambda ctx, op, *args, **kwargs: op in chosen
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage = _Storage(policy, allow_cache_entry_mutation)
    return (
        _Block(storage, storage.keep, False),
        _Block(storage, storage.give, True),
    )
