"""Record what PyTorch does in a second pass, and what a recorded pass is connected to.

Invariant: `passes.jsonl` is never written by hand.

    python -m tests.laws.record_passes
"""

from __future__ import annotations

import warnings

import torch

from .in_torch import BORDERS, RESAMPLED, applied
from .own import OWN
from .passes import RECORD, Seen, Trial, as_line, trials, witness

UNTOLD = {
    "grid_sampler_2d-4": "both second derivatives are 0, and one of them is connected",
    "grid_sampler_3d-4": "both second derivatives are 0, and one of them is connected",
    "rrelu_with_noise.default-1": "PyTorch draws its noise itself",
    "affine_grid_generator.backward": "PyTorch's autograd stands in its place",
    "linalg_vector_norm.default-4": "of order 0: zeros here, no gradient there",
    "prod.default-3": "of one entry: connected here, with zeros as its derivative",
    "cumprod-4": "of one entry: connected here, with zeros as its derivative",
    "det-3": "of one entry: connected here, with zeros as its derivative",
    "polygamma.order": "mpmath stands in PyTorch's place",
    "einsum.default": "PyTorch makes it of others; here it is one node",
    "slice.backward": "PyTorch's autograd stands in its place",
    "masked_select.backward": "PyTorch's autograd stands in its place",
    **{
        f"{name}.backward": "PyTorch's autograd stands in its place"
        for name in (
            "avg_pool2d",
            "avg_pool3d",
            "adaptive_avg_pool2d",
            "adaptive_avg_pool3d",
            *BORDERS,
            *RESAMPLED,
        )
    },
    "convolution.weight": "PyTorch's autograd stands in its place",
}
"""Rows and cases in which gradcli differs or the stranger does not tell, and why."""


def recorded(trial: Trial) -> Seen | None:
    """What PyTorch does; None where it has no such function, or refuses."""
    if {trial.name, f"{trial.name}-{trial.number}"} & (OWN.keys() | UNTOLD):
        return None
    try:
        return witness(
            torch,
            lambda inputs: applied(trial.entry, inputs, trial.params),
            trial.arrays(),
            trial.leaves,
        )
    except (RuntimeError, TypeError, IndexError):
        return None


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [as_line(trial, recorded(trial)) for trial in trials()]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
