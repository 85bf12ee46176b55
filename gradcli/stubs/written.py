"""How a stub is written: its first lines, and the parameters of a function.

parameters([Parameter("x", kind, default=1)], lambda each: "float")
# (x: float = ...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, Signature

HEAD = '"""Written by ``python -m gradcli.stubs``."""\n\n'


class _Text(str):
    """Text that a signature shows as it is."""

    def __repr__(self) -> str:
        return str(self)


def parameters(shown: Iterable[Parameter], type_of: Callable[[Parameter], str]) -> str:
    """Parameters in parentheses with their types; ``self`` has none."""
    return str(Signature([
        each.replace(
            annotation=(
                Parameter.empty if each.name == "self" else _Text(type_of(each))
            ),
            default=(
                Parameter.empty if each.default is Parameter.empty else _Text("...")
            ),
        )
        for each in shown
    ]))  # fmt: skip


def stub(imports: str, lines: Iterable[str]) -> str:
    """The text of a stub from its imports and its lines."""
    return HEAD + imports + "\n".join(lines) + "\n"
