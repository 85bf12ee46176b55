"""Tools for training, under PyTorch's names: data sets, loaders and samplers."""

from ..torch.absent import offer
from . import data

offer(__name__, also={"data": data})
