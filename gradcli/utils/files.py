"""Tensors in files: safetensors, which hold numbers and names and nothing that runs.

Invariant: a file is read without executing anything from it; what a file cannot hold
is refused before the file is touched.

    save(net.state_dict(), "net.safetensors")
    net.load_state_dict(load("net.safetensors"))
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import IO, Any

from ..engine.raw import Params
from ..engine.tensor import Tensor

ORDER = "order"
"""The file's note of the names in the order in which they were given."""

LENGTH_BYTES = 8
"""How many bytes at the beginning hold the length of the header."""

Target = str | os.PathLike[str] | IO[bytes]


def save(obj: object, f: Target) -> None:
    """Write tensors by name to a file.

    Args:
        obj: a dict with tensors under names, such as a module's ``state_dict()``.
        f: the file's path, or a file open for writing bytes.

    Raises:
        TypeError: something that is no tensor; the message says how to go on.
    """
    from safetensors.numpy import save as serialise

    arrays = _arrays(obj)
    data = serialise(arrays, {ORDER: json.dumps(list(arrays))})
    if isinstance(f, str | os.PathLike):
        with open(f, "wb") as file:
            file.write(data)
    else:
        f.write(data)


def load(
    f: Target, map_location: Any = None, *, weights_only: bool = True
) -> OrderedDict[str, Tensor]:
    """Read the tensors of a file, by name.

    Args:
        f: the file's path, or a file open for reading bytes.
        map_location: the device to put them on; None: main memory.
        weights_only: has to be True: nothing else is ever read.

    Raises:
        ValueError: the file is no safetensors file.
    """
    if not weights_only:
        raise ValueError("files hold tensors only: leave weights_only=True")
    from safetensors import SafetensorError
    from safetensors.numpy import load as parse

    from ..engine.creation import tensor

    data = _read(f)
    try:
        arrays = parse(data)
    except SafetensorError as error:
        raise ValueError(_foreign(data, error)) from None
    except KeyError as error:
        raise ValueError(
            f"the file holds numbers of the type {error.args[0]}, which does not exist "
            "here: convert them to float32 first"
        ) from None
    names = [name for name in _order(data) if name in arrays]
    names += [name for name in sorted(arrays) if name not in names]
    return OrderedDict((n, tensor(arrays[n], device=map_location)) for n in names)


def _read(f: Target) -> bytes:
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return file.read()
    return f.read()


def _order(data: bytes) -> list[str]:
    """Read the names in their order, if the file notes it."""
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    header = json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])
    try:
        names = json.loads(header.get("__metadata__", {}).get(ORDER, "[]"))
    except ValueError:
        return []
    return [n for n in names if isinstance(n, str)] if isinstance(names, list) else []


def _foreign(data: bytes, error: Exception) -> str:
    zipped = data[:2] == b"PK"
    hint = (
        "; it looks like a file of torch.save, which holds programs that loading would "
        "run: load it in PyTorch and write its tensors with safetensors.torch.save_file"
        if zipped
        else ""
    )
    return f"not a safetensors file ({error}){hint}"


def _arrays(obj: object) -> Params:
    import numpy

    if isinstance(obj, Tensor):
        raise TypeError(
            'save takes tensors by name: give a dict such as {"weight": tensor}'
        )
    if not isinstance(obj, Mapping):
        raise TypeError(
            "save takes a dict with tensors under names, such as module.state_dict(), "
            f"not {type(obj).__name__}"
        )
    arrays = {}
    for name, value in obj.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise TypeError(_refusal(name, value))
        arrays[name] = numpy.ascontiguousarray(value.detach().cpu().numpy()).reshape(
            tuple(value.shape)
        )
    return arrays


def _refusal(name: object, value: object) -> str:
    if not isinstance(name, str):
        return f"save takes names that are str, not {name!r}"
    what = f"save cannot write {name!r}: {type(value).__name__} is not a tensor"
    if isinstance(value, Mapping):
        return (
            f"{what}; save each dict to a file of its own, or join the names to "
            "one, such as 'state.0.weight'"
        )
    if isinstance(value, bool | int | float):
        return f"{what}; write it as torch.tensor({value!r})"
    return f"{what}; keep it in a file of another kind, such as JSON"
