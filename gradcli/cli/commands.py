"""The commands, in the order in which help lists them."""

COMMANDS = (
    "grad", "graph", "jacobian", "hessian", "check", "paths", "explain", "kinks",
    "descend", "value", "ops", "repl", "tour", "help",
)  # fmt: skip
"""Each is a file of this package with a function `main`."""
