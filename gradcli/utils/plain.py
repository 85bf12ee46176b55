"""What stands around tensors in a file: dicts, lists and plain values, as JSON.

Invariant: reading gives values of these kinds alone, and runs nothing; every tensor has
a name of its own in the file, and one that occurs twice is one again.

    shape, tensors = taken_apart({"epoch": 3, "net": net.state_dict()})
    put_together(shape, tensors)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.size import Size
from ..engine.tensor import Tensor

PLAIN = (type(None), bool, int, float, str)
ALONE = "tensor"
"""The name of a tensor that is saved by itself."""

SERIES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list, "tuple": tuple, "size": Size
}  # fmt: skip
KINDS: dict[type, str] = {list: "list", tuple: "tuple", Size: "size"}
DICTS: dict[str, Callable[[list[Any]], Any]] = {"dict": dict, "ordered": OrderedDict}


def taken_apart(obj: object) -> tuple[Any, dict[str, Tensor]]:
    """A value as JSON, and its tensors by the names that stand for them there.

    Raises:
        TypeError: a part of it is nothing that a file holds; with its place.
    """
    tensors: dict[str, Tensor] = {}
    names: dict[int, str] = {}

    def apart(value: object, place: tuple[str, ...]) -> Any:
        if isinstance(value, Tensor):
            name = names.get(id(value)) or _free(".".join(place) or ALONE, tensors)
            names[id(value)] = name
            tensors[name] = value
            return {"tensor": name, "requires_grad": value.requires_grad}
        if type(value) in PLAIN:
            return value
        kind = KINDS.get(type(value))
        if kind is not None and isinstance(value, list | tuple):
            return {kind: [apart(v, (*place, str(i))) for i, v in enumerate(value)]}
        if isinstance(value, Mapping):
            kind = "ordered" if isinstance(value, OrderedDict) else "dict"
            entries = value.items()
            return {kind: [[_key(k, place), apart(v, (*place, str(k)))]
                           for k, v in entries]}  # fmt: skip
        raise TypeError(_refusal(".".join(place), value))

    return apart(obj, ()), tensors


def put_together(shape: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The value that `taken_apart` took apart.

    Raises:
        ValueError: it is not of that form.
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
        return SERIES[kind]([put_together(each, tensors) for each in inner])
    if kind in DICTS and isinstance(inner, list):
        pairs = [(put_together(k, {}), put_together(v, tensors)) for k, v in inner]
        return DICTS[kind](pairs)
    raise ValueError(f"the file's note of its form has no kind {kind!r}")


def _free(name: str, taken: Mapping[str, Tensor]) -> str:
    """The name, or with a number behind it the first that is not taken."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}~{number}"
    return found


def _key(key: object, place: tuple[str, ...]) -> object:
    if type(key) in PLAIN:
        return key
    if type(key) is tuple:
        return {"tuple": [_key(part, place) for part in key]}
    where = f" in {'.'.join(place)!r}" if place else ""
    raise TypeError(
        f"save takes names that are text or numbers, not {type(key).__name__}{where}"
    )


def _refusal(place: str, value: object) -> str:
    kind = type(value).__name__
    what = f"save cannot write {f'{place!r} ({kind})' if place else kind}"
    if hasattr(value, "state_dict"):
        return f"{what}: save its state_dict(), which holds its numbers"
    if hasattr(value, "__array__"):
        return f"{what}: write it as a tensor, by torch.as_tensor(...)"
    return (
        f"{what}: it is no tensor, number, text, list, tuple or dict; keep it in a "
        "file of another kind"
    )
