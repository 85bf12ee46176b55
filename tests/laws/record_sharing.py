"""Record which outputs of PyTorch's functions lie in the memory of their inputs.

Invariant: `sharing.jsonl` is never written by hand.

    python -m tests.laws.record_sharing
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import torch

from .in_torch import applied, argument
from .own import OWN
from .sharing import RECORD, Answer, Trial, answer, trials


def recorded(trial: Trial) -> Answer | None:
    """Who shares with whom; None where PyTorch has no such function, or refuses.

    None also for what is written by a change in place, which PyTorch hands to nobody.
    """
    if trial.name in OWN or trial.is_written:
        return None
    inputs = [argument(x) for x in trial.inputs()]
    try:
        outputs = applied(trial.entry, inputs, trial.params)
    except RuntimeError:
        return None
    return answer(outputs, inputs, memory)


def memory(x: Any) -> int | None:
    held = isinstance(x, torch.Tensor) and x.numel() > 0
    return x.untyped_storage().data_ptr() if held else None


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [
        json.dumps({"trial": trial.ident, "shares": recorded(trial)})
        for trial in trials()
    ]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
