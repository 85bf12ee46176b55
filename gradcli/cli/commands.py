"""The commands, in the order in which help lists them."""

ON_PROGRAMS = (
    "grad", "graph", "jacobian", "hessian", "check", "paths", "explain", "kinks",
    "descend", "value", "plot",
)  # fmt: skip
"""Commands that take a program and the values of its inputs."""

COMMANDS = (*ON_PROGRAMS, "verify", "run", "ops", "repl", "tour", "config", "help")
"""All commands, each a file of this package with a function `main`."""
