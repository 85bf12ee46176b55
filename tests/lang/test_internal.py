"""What the table keeps to itself: nobody is offered it, in any face."""

from __future__ import annotations

from pathlib import Path

import gradcli
from gradcli.answers.catalog import catalog, find, known_names
from gradcli.lang.tensor_library import is_function
from gradcli.ops import FUNCTIONS, offered

INTERNAL = sorted(set(FUNCTIONS) - set(offered()))
STUBS = Path(gradcli.__file__).parent / "__init__.pyi"


def test_some_functions_are_steps_of_others() -> None:
    assert "as_type_of" in INTERNAL


def test_an_internal_function_is_not_offered() -> None:
    listed, stubs = {each.name for each in catalog()}, STUBS.read_text("utf-8")
    assert not listed.intersection(INTERNAL)
    assert not {*known_names()}.intersection(INTERNAL)
    for name in INTERNAL:
        assert not is_function(name)
        assert find(name) is None
        assert not hasattr(gradcli, name)
        assert f"def {name}(" not in stubs
