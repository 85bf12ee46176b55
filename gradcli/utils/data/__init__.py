"""Data sets and the loading of them in batches, as PyTorch's ``utils.data`` has it.

data = TensorDataset(x, y)
for xs, ys in DataLoader(data, batch_size=32, shuffle=True):
    ...
"""

from typing import TYPE_CHECKING

from ...engine.absent import absent
from .collate import default_collate, default_convert
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .loader import DataLoader
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "random_split",
]


if not TYPE_CHECKING:  # with it, a type checker would take any name

    def __getattr__(name):
        raise absent(__name__, name, __all__)
