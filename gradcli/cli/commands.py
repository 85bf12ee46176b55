"""The commands, in the order in which help lists them."""

COMMANDS = (
    "grad", "graph", "jacobian", "hessian", "check", "paths", "explain", "kinks",
    "descend", "value", "plot", "verify", "run", "ops", "repl", "tour",
)  # fmt: skip
"""Each is a file of this package with a function `main`."""
