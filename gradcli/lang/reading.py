"""A program's text, read and compiled for the names that have values.

reading = Reading("mean((w*x - y)**2)", frozenset(), None)
reading.names, reading.reduction            # (("w", "x", "y"), "mean")
"""

from gradcli.lang.compiler import compile_program
from gradcli.lang.parser import parse
from gradcli.lang.pointwise import pointwise
from gradcli.lang.run import input_names


class Reading:
    """A program's text, read and compiled for the names that have values."""

    def __init__(self, text: str, bound: frozenset[str], of: str | None) -> None:
        program = parse(text, bound)
        self.names = input_names(program, bound)
        self.code = compile_program(program)
        found = None if of is not None else pointwise(program)
        self.reduction = None if found is None else found.reduction
        """What a pointwise program ends with; empty: nothing, None: not pointwise."""
        self.entries = None if found is None else compile_program(found.program)
        """The code of a pointwise program, without its reduction."""
