"""Values that are computed again for the reverse pass, and not kept until then.

A part of a program that runs under `checkpoint` keeps its inputs alone; what its nodes
would have saved is computed anew when the reverse pass asks for it.

    y = checkpoint(block, x, use_reentrant=False)
"""

from .call import checkpoint, checkpoint_sequential, noop_context_fn
from .recompute import (
    CheckpointError,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)
from .reentrant import CheckpointFunction
from .selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]
