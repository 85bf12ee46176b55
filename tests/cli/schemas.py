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


LONG = 20
"""The length beyond which a list of numbers can only be an array."""


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
    read = referencing.Resource.from_contents
    resources = [(each, read(text)) for each, text in files.items()]
    registry = referencing.Registry().with_resources(resources)
    return jsonschema.Draft202012Validator(files[name], registry=registry)


def objects(text: str) -> Iterator[Any]:
    """The JSON objects of a text, one after the other."""
    while text := text.strip():
        found, end = json.JSONDecoder().raw_decode(text)
        yield found
        text = text[end:]


def answered(out: str, err: str) -> list[Any]:
    """The objects that a call with ``--json`` printed, each of which fits its schema.

    There is nothing beside them but the notes of rows, which have no object.
    """
    found = [*objects(out)]
    rows = "schema" not in found[0] if found else "could not be computed" in err
    lines = [each for each in err.splitlines() if each.startswith("{") or not rows]
    found += objects("\n".join(lines))
    for each in found:
        name = "error" if "error" in each else each.get("command", "row")
        validator(f"{name}.json").validate(shortened(each))
    return found


def shortened(answer: Any) -> Any:
    """Return the answer with one number of each type in place of a long list of them.

    A schema says the same of all entries of an array, of which there may be many.
    """
    if isinstance(answer, dict):
        return {key: shortened(each) for key, each in answer.items()}
    if not isinstance(answer, list):
        return answer
    if len(answer) > LONG and all(isinstance(each, int | float) for each in answer):
        return [*{type(each): each for each in answer}.values()]
    return [shortened(each) for each in answer]
