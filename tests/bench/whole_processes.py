"""Whole processes, from Enter on: gradcli beside scripts of torch and SymPy."""

from .compare import Comparison, process, script

TORCH = """
import torch
x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
b = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
y = x**3 + b
y.backward()
print(y.item(), x.grad.item(), b.grad.item())
"""

SYMPY = """
import sympy
x, b = sympy.symbols("x b", real=True)
y = x**3 + b
for v in (x, b):
    d = sympy.diff(y, v)
    print(d, d.subs({x: 2, b: 1}))
"""

FIRST_VERDICT = """
import os, sys
from gradcli.check.process.client import Checker
results = Checker.results
def first(self, timeout=None):
    for verification in results(self, timeout):
        if verification.verdict in ("certified", "proved"):
            self.stop()
            os._exit(0)
        yield verification
Checker.results = first
sys.argv = ["gradcli", "grad", "x**3 + b", "x=2", "b=1"]
from gradcli.__main__ import main
main()
"""
"""The command, ended at the first verdict that shows something."""

GRAD = ("-m", "gradcli", "grad", "x**3 + b", "x=2", "b=1")

COMPARISONS = [
    Comparison(
        "start",
        "the command without verification",
        lambda: process(*GRAD, "--no-verify"),
        {
            "torch": script(TORCH, "torch"),
            "import numpy": script("import numpy", "numpy"),
        },
        {"torch": 0.125},
    ),
    Comparison(
        "start-verified",
        "the command with verification, to `proved`",
        lambda: process(*GRAD),
        {"torch": script(TORCH, "torch"), "sympy": script(SYMPY, "sympy")},
        {"torch": 1 / 2.5, "sympy": 1.2},
    ),
    Comparison(
        "start-certified",
        "the command to its first verdict, `certified`",
        lambda: process("-c", FIRST_VERDICT),
        {"sympy": script(SYMPY, "sympy")},
        {"sympy": 0.55},
    ),
]
