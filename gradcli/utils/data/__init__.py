"""Data sets, and their loading in batches, under the names of PyTorch's ``utils.data``.

data = TensorDataset(x, y)
for xs, ys in DataLoader(data, batch_size=32, shuffle=True):
    ...
"""

from ...engine.absent import offer
from . import dataset, loader, sampler

offer(__name__, dataset, loader, sampler, but=("fresh_seed",))
