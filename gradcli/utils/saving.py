"""Tensors in safetensors files, which hold numbers and names but no executable code.

Invariant: a file is read without executing anything from it; an object that a file
cannot hold is refused before the file is opened.

A state dict is stored as tensors by name, which any program can read. Of another
object, such as a checkpoint, the tensors are stored under names of their own, and the
dicts, lists and plain values around them as JSON, in a note of the file. A module or an
optimizer is saved as its state dict, with a warning: that is what `load` gives back.

    save(net.state_dict(), "net.safetensors")
    net.load_state_dict(load("net.safetensors"))
    save({"epoch": 3, "net": net.state_dict()}, "checkpoint.safetensors")
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import IO, Any

from ..engine.dtypes import Size
from ..engine.extras import how_to_install
from ..engine.raw import Params
from ..engine.tensor import Tensor

NOTES = "__metadata__"
"""Key of a header's notes."""

ORDER = "order"
"""Key of the file's note of the names, in the order in which they were given."""

FORM = "form"
"""Key of the file's note of the object around its tensors, if it is no state dict."""

LENGTH_BYTES = 8
"""Length of the number at a file's beginning that gives the header's length, in bytes.
"""

MAX_HEADER_BYTES = 100_000_000
"""Longest header that a safetensors file may have, in bytes."""

PLAIN = (type(None), bool, int, float, str)
ALONE = "tensor"
"""Name of a tensor that is saved by itself."""

SERIES: dict[str, Any] = {"list": list, "tuple": tuple, "size": Size}
DICTS: dict[str, Any] = {"dict": dict, "ordered": OrderedDict}

Target = str | os.PathLike[str] | IO[bytes]


def save(obj: object, f: Target) -> None:
    """Write tensors and the plain values around them to a file.

    Args:
        obj: a dict with tensors under names, such as a module's ``state_dict()``; or a
            tensor, or dicts, lists, tuples, numbers and text around tensors. What has
            a ``state_dict()`` is saved as that, with a warning.
        f: the file's path, or a file open for writing bytes.

    Raises:
        TypeError: ``obj`` holds something else; the message says what to do.
    """
    serialise = _safetensors().save
    notes = {}
    if _has_state(obj):
        obj = _state_of(obj)
    state = isinstance(obj, Mapping) and all(
        isinstance(name, str) and isinstance(value, Tensor)
        for name, value in obj.items()
    )
    tensors: Any = obj
    if not state:
        form, tensors = _disassemble(obj)
        notes[FORM] = json.dumps(form)
    data = serialise(_arrays(tensors), {ORDER: json.dumps(list(tensors)), **notes})
    if isinstance(f, str | os.PathLike):
        with open(f, "wb") as file:
            file.write(data)
    else:
        f.write(data)


def _safetensors() -> Any:
    """Return the module that reads and writes the files; raise ImportError, with the
    way to install it, where it is missing."""
    try:
        import safetensors.numpy
    except ImportError as error:
        way = how_to_install("safetensors")
        message = f"torch.save and torch.load need safetensors: {way}"
        raise ImportError(message) from error
    return safetensors.numpy


def load(
    f: Target,
    map_location: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """Return the object that was saved; for a state dict, the tensors by name.

    Args:
        f: the file's path, or a file open for reading bytes.
        map_location: the device that the tensors are put on; None: main memory.
        weights_only: accepted as in PyTorch; a file is always read as if it were True.
        mmap: accepted as in PyTorch; the file is always read as a whole.

    Raises:
        ValueError: the file is no safetensors file.
    """
    from ..torch.creation import tensor

    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            data = _content(file)
    else:
        data = _content(f)
    parse = _safetensors().load
    try:
        arrays = parse(data)
    except KeyError as error:
        raise ValueError(
            f"the file holds numbers of the type {error.args[0]}, which does not exist "
            "here: convert them to float32 first"
        ) from None
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(_foreign(data, error)) from error
    length = int.from_bytes(data[:LENGTH_BYTES], "little")
    header = json.loads(data[LENGTH_BYTES : LENGTH_BYTES + length])
    notes: dict[str, str] = header.get(NOTES, {})
    names = [name for name in _order(notes) if name in arrays]
    names += [name for name in sorted(arrays) if name not in names]
    read = OrderedDict((n, tensor(arrays[n], device=map_location)) for n in names)
    if FORM not in notes:
        return read
    try:
        return _put_together(json.loads(notes[FORM]), read)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the file's note of its form is damaged: {error}") from None


def _content(file: IO[bytes]) -> bytes:
    """Return the content of a file; only its beginning if it has no header, so that a
    stream without an end is refused."""
    data = file.read(LENGTH_BYTES)
    length = int.from_bytes(data, "little")
    if length > MAX_HEADER_BYTES:
        return data
    data += file.read(length)
    return data + file.read() if data[LENGTH_BYTES:].startswith(b"{") else data


def _has_state(value: object) -> bool:
    known = callable(getattr(value, "state_dict", None))
    return known and not isinstance(value, type)


def _state_of(value: Any, place: str = "") -> object:
    """Return the state dict of an object, with a warning at the line that saves it."""
    kind, here, depth = type(value).__name__, __file__, 1
    while sys._getframe(depth).f_code.co_filename == here:
        depth += 1
    warnings.warn(
        f"{f'{place} ({kind})' if place else kind} is saved as its state_dict(), "
        "because a file holds numbers and no programs: torch.load gives that dict, "
        f"which load_state_dict() of another {kind} takes",
        UserWarning, stacklevel=depth + 1,
    )  # fmt: skip
    return value.state_dict()


def _order(notes: Mapping[str, str]) -> list[str]:
    """Return the names in the order that the file notes, if it notes one."""
    try:
        names = json.loads(notes.get(ORDER, "[]"))
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


def _disassemble(obj: object) -> tuple[Any, dict[str, Tensor]]:
    """Return a value as JSON, and its tensors by the names that replace them in it.

    Raises:
        TypeError: a file cannot hold a part of the value; the message names the part.
    """
    tensors: dict[str, Tensor] = {}
    names: dict[int, str] = {}

    def disassemble(value: object, place: tuple[str, ...]) -> Any:
        if isinstance(value, Tensor):
            name = names.get(id(value)) or ".".join(place) or ALONE
            while tensors.get(name, value) is not value:
                name += "~"
            names[id(value)] = name
            tensors[name] = value
            return {"tensor": name, "requires_grad": value.requires_grad}
        if type(value) in PLAIN:
            return value
        if _has_state(value):
            return disassemble(_state_of(value, ".".join(place)), place)
        for kind, series in SERIES.items():
            if isinstance(value, list | tuple) and type(value) is series:
                return {
                    kind: [
                        disassemble(v, (*place, str(i))) for i, v in enumerate(value)
                    ]
                }
        if isinstance(value, Mapping):
            kind = "ordered" if isinstance(value, OrderedDict) else "dict"
            pairs = [
                (_key(k, place), disassemble(v, (*place, str(k))))
                for k, v in value.items()
            ]
            return {kind: pairs}
        raise TypeError(_refusal(".".join(place), value))

    return disassemble(obj, ()), tensors


def _put_together(shape: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Return the value that `_disassemble` returned as JSON and tensors.

    Raises:
        ValueError: ``shape`` is no JSON that `_disassemble` makes.
    """
    if type(shape) in PLAIN:
        return shape
    if not isinstance(shape, dict):
        raise ValueError(f"the file's note of its form holds {shape!r}")
    kind, inner = next(iter(shape.items()), ("", None))
    if kind == "tensor" and isinstance(inner, str) and inner in tensors:
        found = tensors[inner]
        return found.requires_grad_() if shape.get("requires_grad") else found
    if kind in SERIES and isinstance(inner, list):
        return SERIES[kind]([_put_together(each, tensors) for each in inner])
    if kind in DICTS and isinstance(inner, list):
        pairs = [(_put_together(k, {}), _put_together(v, tensors)) for k, v in inner]
        return DICTS[kind](pairs)
    raise ValueError(f"the file's note of its form has no kind {kind!r}")


def _key(key: object, place: tuple[str, ...]) -> object:
    if type(key) is tuple:
        return {"tuple": [_key(part, place) for part in key]}
    if type(key) not in PLAIN:
        raise TypeError(
            f"save takes names that are text or numbers, not {type(key).__name__} in "
            f"{'.'.join(place)!r}"
        )
    return key


def _refusal(place: str, value: object) -> str:
    kind = type(value).__name__
    what = f"save cannot write {f'{place!r} ({kind})' if place else kind}"
    if hasattr(value, "__array__"):
        return f"{what}: write it as a tensor, by torch.as_tensor(...)"
    return (
        f"{what}: it is no tensor, number, text, list, tuple or dict; keep it in a "
        "file of another kind"
    )
