"""Tensors in files: safetensors, which hold numbers and names and nothing that runs.

Invariant: a file is read without executing anything from it; what a file cannot hold
is refused before the file is touched.

A state dict is tensors by name, as any program reads it; what is not, such as a
checkpoint, has its tensors there and a note of its form.

    save(net.state_dict(), "net.safetensors")
    net.load_state_dict(load("net.safetensors"))
    save({"epoch": 3, "net": net.state_dict()}, "checkpoint.safetensors")
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from typing import IO, Any, TypeGuard

from ..engine.raw import Params
from ..engine.tensor import Tensor
from .plain import put_together, taken_apart

ORDER = "order"
"""The file's note of the names in the order in which they were given."""

FORM = "form"
"""The file's note of what stands around its tensors, where they are no state dict."""

LENGTH_BYTES = 8
"""How many bytes at the beginning hold the length of the header."""

Target = str | os.PathLike[str] | IO[bytes]


def save(obj: object, f: Target) -> None:
    """Write tensors to a file, and the plain values around them.

    Args:
        obj: a dict with tensors under names, such as a module's ``state_dict()``; or a
            tensor, or dicts, lists, tuples, numbers and text around tensors.
        f: the file's path, or a file open for writing bytes.

    Raises:
        TypeError: something else; the message says how to go on.
    """
    from safetensors.numpy import save as serialise

    notes = {}
    if _is_state(obj):
        tensors: Mapping[str, Tensor] = obj
    else:
        form, tensors = taken_apart(obj)
        notes[FORM] = json.dumps(form)
    data = serialise(_arrays(tensors), {ORDER: json.dumps(list(tensors)), **notes})
    if isinstance(f, str | os.PathLike):
        with open(f, "wb") as file:
            file.write(data)
    else:
        f.write(data)


def _is_state(obj: Any) -> TypeGuard[Mapping[str, Tensor]]:
    """Whether these are tensors by name."""
    return isinstance(obj, Mapping) and all(
        isinstance(name, str) and isinstance(value, Tensor)
        for name, value in obj.items()
    )


def load(
    f: Target,
    map_location: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """Read the tensors of a file, by name, or what else was saved.

    Args:
        f: the file's path, or a file open for reading bytes.
        map_location: the device to put them on; None: main memory.
        weights_only: nothing else is ever read; False changes nothing.
        mmap: taken for PyTorch's sake: the file is read at once.

    Raises:
        ValueError: the file is no safetensors file.
    """
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
    read = OrderedDict((n, tensor(arrays[n], device=map_location)) for n in names)
    form = _notes(data).get(FORM)
    if form is None:
        return read
    try:
        return put_together(json.loads(form), read)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the file's note of its form is damaged: {error}") from None


def _read(f: Target) -> bytes:
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return file.read()
    return f.read()


def _notes(data: bytes) -> dict[str, str]:
    """Read the file's notes."""
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    header = json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])
    found: dict[str, str] = header.get("__metadata__", {})
    return found


def _order(data: bytes) -> list[str]:
    """Read the names in their order, if the file notes it."""
    try:
        names = json.loads(_notes(data).get(ORDER, "[]"))
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


def _arrays(tensors: Mapping[str, Tensor]) -> Params:
    import numpy

    return {
        name: numpy.ascontiguousarray(t.detach().cpu().numpy()).reshape(tuple(t.shape))
        for name, t in tensors.items()
    }
