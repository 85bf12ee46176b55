"""JSON Schemas of answers, made from the dataclasses of the answers.

A field's type gives its schema, and its metadata its key (`answers/fields.py`). The
line of the class's docstring that begins with the field's name gives the description.

    schema_of(Value)["properties"]["program"]
    # {"type": "string", "description": "The program's text."}

``python -m tests.tools.schemas`` writes the files of `gradcli/documents/schemas`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from pkgutil import iter_modules
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from gradcli import answers
from gradcli.answers.gradients import OutputView
from gradcli.answers.graph_view import GraphView
from gradcli.answers.jsons import SCHEMA
from gradcli.answers.numbers import LargeArray
from gradcli.answers.verdicts import Summary
from gradcli.check.process.job import STRENGTH
from gradcli.functions.function_proof import FileProof, FunctionProof

Schema = dict[str, Any]

ELSEWHERE: Final[Mapping[str, tuple[type, ...]]] = {
    "graph": (GraphView,),
    "verify": (FunctionProof, FileProof),
}
"""Classes of answers that other rooms define, by command."""

SIMPLE: Final[Mapping[object, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    float: {"$ref": "common.json#/$defs/number"},
    Any: {},
}

UNIONS: Final = (Union, UnionType)

FOLDER: Final = Path(__file__).parents[2] / "gradcli" / "documents" / "schemas"


def answers_of_commands() -> dict[str, list[type]]:
    """Return the classes of answers by command; each command prints one of them.

    A class of the room `answers` says by its ``command`` whose answer it is; an answer
    of several commands names them in the type of that field.
    """
    found = {command: [*kinds] for command, kinds in ELSEWHERE.items()}
    for each in iter_modules(answers.__path__, f"{answers.__name__}."):
        for kind in vars(import_module(each.name)).values():
            if not (isinstance(kind, type) and is_dataclass(kind)):
                continue
            own: Any = getattr(kind, "command", getattr(kind, "line_of", ()))
            if any(field.name == "command" for field in fields(kind)):
                own = next(iter(get_args(_hint(kind, "command"))[1:]), ())
            for command in (own,) if isinstance(own, str) else own:
                if kind.__module__ == each.name:
                    found.setdefault(command, []).append(kind)
    return found


def schema_of(kind: type) -> Schema:
    """Return the schema of the object that `as_json` makes of a dataclass."""
    properties, required = _keys(kind)
    command = getattr(kind, "command", None)
    if "command" in properties or command is not None:
        head = {"schema": {"const": SCHEMA}, "command": properties.pop("command", {})}
        if command is not None:
            head["command"] = {"const": command}
        properties = {**head, **properties, "notes": _common("notes")}
        required = [*head, *(key for key in required if key != "command"), "notes"]
    return {"type": "object", "properties": properties, "required": required}


def _keys(kind: Any) -> tuple[Schema, list[str]]:
    """Return the schema of each key of an object, and the keys that are always
    there."""
    told = _descriptions(kind)
    properties: Schema = {}
    rows: Schema = {}
    required: list[str] = []
    known: dict[str, Mapping[str, str]] = {}
    if is_dataclass(kind):
        known = {field.name: field.metadata for field in fields(kind)}
    else:
        known = kind.json_keys()
    for name, metadata in known.items():
        how, key = metadata.get("json"), metadata.get("key", name)
        if how == "hidden":
            continue
        hint = _hint(kind, name)
        members = [*get_args(hint)] if get_origin(hint) in UNIONS else [hint]
        if how == "flat":
            for member in members:
                inner, always = ({}, []) if member is NoneType else _keys(member)
                properties |= inner
                required += always if members == [member] else []
            continue
        members = [m for m in members if how != "if any" or m is not NoneType]
        found = _any([_schema(member) for member in members])
        found |= {"description": told[name]} if name in told else {}
        (rows if how == "rows" else properties)[key] = found
        required += [] if how == "if any" else [key]
    return {**properties, **rows}, required


def _hint(kind: type, name: str) -> Any:
    """Return the type of one field, even if other fields' types cannot be evaluated."""
    owner = next(each for each in kind.__mro__ if name in each.__annotations__)
    alone = SimpleNamespace(__annotations__={name: owner.__annotations__[name]})
    known = vars(sys.modules[owner.__module__])
    return get_type_hints(alone, globalns=known, include_extras=True)[name]


def _descriptions(kind: type) -> dict[str, str]:
    """Return the description of each field: the docstring's lines ``name  text``."""
    told = cleandoc(kind.__doc__ or "")
    found = re.findall(r"(?m)^(\w+) {2,}(.+(?:\n {3,}.+)*)", told)
    return {name: " ".join(text.split()) for name, text in found}


def _any(schemas: Sequence[Schema]) -> Schema:
    """Return a schema for values that fit one of several schemas."""
    different = [each for nr, each in enumerate(schemas) if each not in schemas[:nr]]
    return different[0] if len(different) == 1 else {"anyOf": different}


def _common(name: str) -> Schema:
    return {"$ref": f"common.json#/$defs/{name}"}


def _schema(hint: Any) -> Schema:
    """Return the schema of a type."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint in SIMPLE:
        return {**SIMPLE[hint]}
    if origin is Annotated:
        _, mark = inside
        return _common(mark) if isinstance(mark, str) else {"enum": [*mark]}
    if origin is Literal:
        return {"enum": [*inside]}
    if origin in UNIONS:
        return _any([_schema(member) for member in inside])
    if hint is LargeArray:
        return _common("value")
    if origin is tuple and inside[-1] is not Ellipsis:
        items = _any([_schema(member) for member in inside])
        size = len(inside)
        return {"type": "array", "items": items, "minItems": size, "maxItems": size}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(inside[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(inside[0])}
    shared = getattr(hint, "shared", None)
    return schema_of(hint) if shared is None else _common(shared)


def _described(kind: type) -> Schema:
    """Return the schema of a class with the first line of its docstring."""
    said, _, _ = cleandoc(kind.__doc__ or "").partition("\n")
    return {**schema_of(kind), "description": said}


def texts() -> dict[str, str]:
    """Return the texts of the schema files, by name.

    The definitions that several commands share are kept from the file ``common.json``,
    except for those made from dataclasses and for the verdicts.
    """
    common = json.loads((FOLDER / "common.json").read_text(encoding="utf-8"))
    own = {"output": _described(OutputView), "verification": _described(Summary)}
    shared = common["$defs"] | own
    shared["verdict"]["enum"] = [*STRENGTH]
    title = "What several commands print"
    found = {"common.json": {"title": title, "$defs": shared}}
    for command, kinds in answers_of_commands().items():
        schemas = [schema_of(kind) for kind in kinds]
        for each in schemas:
            if "command" in each["properties"]:
                each["properties"]["command"] = {"const": command}
        title = f"What gradcli {command} --json prints"
        found[f"{command}.json"] = {"title": title, **_any(schemas)}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {
        name: json.dumps({"$schema": draft, "$id": name, **schema}, indent=2) + "\n"
        for name, schema in found.items()
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
