"""Which names a program reads before it gives them a value: its inputs.

The order is that of first use in the text. A called function's name is not read.

    free_names(parse("b = w1*a; c = w2*a"))                  # ("w1", "a", "w2")
    free_names(parse("y = pi*r**2"), known={"pi"})           # ("r",)
"""

from collections.abc import Container

from .syntax import Name, Program, Target, walk


def free_names(program: Program, known: Container[str] = ()) -> tuple[str, ...]:
    """Names read before assignment, in order of the text; none that is in `known`."""
    assigned: set[str] = set()
    free: dict[str, None] = {}
    for node in walk(program):
        if isinstance(node, Target):
            assigned.add(node.name)
        elif (
            isinstance(node, Name)
            and not node.qualified
            and node.name not in assigned
            and node.name not in known
        ):
            free[node.name] = None
    return tuple(free)


def read_names(
    program: Program, constants: Container[str], bound: Container[str]
) -> tuple[str, ...]:
    """The free names but for constants; one that is bound, or that the program assigns
    to anywhere, is no constant."""
    own = set(assigned_names(program))
    names = free_names(program)
    return tuple(n for n in names if n not in constants or n in bound or n in own)


def assigned_names(program: Program) -> tuple[str, ...]:
    """Names that the program gives a value to, in order of first assignment."""
    targets = (node.name for node in walk(program) if isinstance(node, Target))
    return tuple(dict.fromkeys(targets))
