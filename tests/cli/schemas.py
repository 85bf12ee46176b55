"""The JSON Schema files, as strict as tests want them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import referencing

from gradcli.answers.pages import schema, schemas

NO_JSON = {"repl", "tour", "run"}
"""Commands that print no object."""


def closed(description: Any) -> Any:
    """The schema that allows no keys but those that it describes."""
    if isinstance(description, list):
        return [closed(each) for each in description]
    if not isinstance(description, dict):
        return description
    found = {key: closed(each) for key, each in description.items()}
    if description.get("type") == "object" and "properties" in description:
        found["additionalProperties"] = False
    return found


@cache
def validator(name: str) -> Any:
    files = {each: closed(json.loads(schema(each))) for each in schemas()}
    assert name in files, f"describe it in gradcli/documents/schemas/{name}"
    registry = referencing.Registry().with_resources(
        (each, referencing.Resource.from_contents(text)) for each, text in files.items()
    )
    return jsonschema.Draft202012Validator(files[name], registry=registry)


def objects(text: str) -> Iterator[Any]:
    """The JSON objects of a text, one after the other."""
    while text := text.strip():
        found, end = json.JSONDecoder().raw_decode(text)
        yield found
        text = text[end:]
