"""A program's text, read and compiled for the names that have values.

reading = Reading("mean((w*x - y)**2)", frozenset(), None)
reading.names, reading.reduction            # (("w", "x", "y"), "mean")
"""

from gradcli.lang.code import Code
from gradcli.lang.compiler import compile_program
from gradcli.lang.entries import Known
from gradcli.lang.parser import parse
from gradcli.lang.pointwise import pointwise
from gradcli.lang.run import input_names


class Reading:
    """A program's text, read and compiled for the names that have values."""

    def __init__(self, text: str, bound: frozenset[str], of: str | None) -> None:
        program = parse(text, bound)
        self.names = input_names(program, bound)
        self.code = compile_program(program)
        self.pointwise = None if of is not None else pointwise(program)
        """The program as one of single entries; None: not its last value is asked
        for."""
        self.reduction: str | None = None
        """What a pointwise program ends with; empty: nothing, None: not pointwise."""
        self.entries: Code | None = None
        """The code of a pointwise program, without its reduction."""
        if self.pointwise is not None and self.pointwise.program is not None:
            self.reduction = self.pointwise.reduction
            self.entries = compile_program(self.pointwise.program)
        self.known: Known = {}
        """What was recorded of these."""
