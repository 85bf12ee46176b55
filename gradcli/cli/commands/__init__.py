"""The commands: every file of this folder is one, whose function `main` it calls.

Invariant: importing this package imports no command.
"""

import os

_FIRST = (
    "grad", "graph", "jacobian", "hessian", "check", "taylor", "paths", "explain",
    "kinks", "descend", "value", "plot", "verify", "run", "ops", "repl", "tour",
    "config", "help",
)  # fmt: skip
"""Commands in the order in which help lists them; further ones come behind them."""

_FILES = {
    name.removesuffix(".py")
    for name in os.listdir(os.path.dirname(__file__))
    if name.endswith(".py") and not name.startswith("_")
}

COMMANDS = tuple(sorted(_FILES, key=lambda n: (n not in _FIRST, (*_FIRST, n).index(n))))
"""All commands, in the order in which help lists them."""
