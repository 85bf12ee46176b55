"""What a program may do with a value besides arithmetic: methods, items, loops.

Lists and tuples are answered here, everything else by the library; what a value does
not have is worded here, with the nearest thing that it does have.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from .arithmetic import NUMBERS
from .errors import ProgramError
from .frame import described
from .lexicon import METHODS_LEFT_OUT, MISSING_ATTRIBUTES, MISSING_METHODS
from .library import Library
from .suggest import did_you_mean

_LISTS = (list, tuple, range)


def method(library: Library, value: object, name: str) -> Callable[..., object]:
    """The method `name` of a value."""
    if name in METHODS_LEFT_OUT:
        message = f"'.{name}()' is not called here"
        raise ProgramError("E106", message, hint=METHODS_LEFT_OUT[name])
    found = library.method(value, name)
    if found is None:
        raise _no_method(library, value, name)
    return found


def _no_method(library: Library, value: object, name: str) -> ProgramError:
    message = f"{described(value)} has no method '{name}'"
    found, _ = library.attribute(value, name)
    if found:
        hint: str | None = f"it is an attribute: write .{name} without ()"
    else:
        hint = MISSING_METHODS.get(name) or _in_place_hint(library, value, name)
    return ProgramError("E103", message, hint=hint or _near(library, value, name))


def _in_place_hint(library: Library, value: object, name: str) -> str | None:
    plain = name.rstrip("_")
    if plain == name or library.method(value, plain) is None:
        return None
    return f"a method gives a new value: write y = y.{plain}(...)"


def _near(library: Library, value: object, name: str) -> str | None:
    return did_you_mean(name, library.method_names(value))


def attribute(library: Library, value: object, name: str) -> object:
    """The attribute `name` of a value."""
    found, result = library.attribute(value, name)
    if found:
        return result
    message = f"{described(value)} has no attribute '{name}'"
    if library.method(value, name) is not None:
        hint: str | None = f"it is a method: write .{name}()"
    else:
        hint = MISSING_ATTRIBUTES.get(name) or _near(library, value, name)
    raise ProgramError("E104", message, hint=hint)


def item(value: Any, key: Any) -> Any:
    """`value[key]`."""
    if isinstance(value, (*NUMBERS, str)) or value is None:
        message = f"{described(value)} cannot be indexed"
        raise ProgramError("E304", message, hint="only tensors and lists have elements")
    if not isinstance(value, _LISTS):
        return value[key]
    try:
        return value[key]
    except IndexError:
        message = f"index {key} is outside a list of {len(value)}"
        raise ProgramError("E304", message, hint="counting starts at 0") from None
    except (TypeError, ValueError):
        message = f"{described(key)} is no index of a list"
        hint = "write tensor([...]) to index by several keys"
        raise ProgramError("E304", message, hint=hint) from None


def iterator(library: Library, value: object) -> Iterator[object]:
    """The items that a `for` goes through."""
    if isinstance(value, _LISTS):
        return iter(value)
    if isinstance(value, (*NUMBERS, str)) or value is None:
        message = f"a loop cannot run over {described(value)}"
        raise ProgramError("E306", message, hint="write range(n)")
    return iter(library.iterate(value))


def unpacked(library: Library, value: object, count: int) -> list[object]:
    """Exactly `count` items of a value."""
    items = list(islice(iterator(library, value), count + 1))
    if len(items) != count:
        found = "more" if len(items) > count else str(len(items))
        message = f"{count} names on the left, but {found} values"
        raise ProgramError("E306", message, hint="one name for each value")
    return items
