"""PyTorch's face of tensors: what they have beside the table's functions.

Invariant: nothing that computes a gradient is here, and the calculator does not import
this room; its methods, operators and hooks are put in their places in the engine when
the room is imported, before any public name of `gradcli` is used.
"""

from .tensor_methods import install

install()
