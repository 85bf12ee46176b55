"""Tools for training, under PyTorch's names: checkpoints, data sets and timers."""

from ..engine.absent import offer
from . import benchmark, checkpoint, data

offer(
    __name__, also={"benchmark": benchmark, "checkpoint": checkpoint, "data": data}
)  # fmt: skip
