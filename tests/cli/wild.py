"""Command lines that somebody could type: right ones, with wild sizes and files; what
each prints with `--json` fits its schema.

python -m tests.cli.wild 2000 7     # so many, of a seed; prints what ended inside
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from tests.processes.here import ended

from .examples import ON_PROGRAMS
from .schemas import answered

PROGRAMS = [
    "x^2", "sum(x)*y", "x*y", "x@x", "where(x>0, x, 1)", "igamma(2.0, x)", "sin(x)/x",
    "x[0]*y", "log(x)", "norm(x)", "(" * 40 + "x" + ")" * 40, "x**99999",
    "x if 1 else y",
    "sort(x)[0]", "max(x, y)", "det(x)", "x.reshape(-1)", "floor(x)*y",
    "cholesky(x@x.T)",
    "for i in range(30): x = x*2\nx.sum()", "y = x*x\nz = sin(y)\nz.sum()",
    "cumsum(x, 0)",
    "softmax(x, 0)", "einsum('i->', x)", "x%3", "exp(exp(x))", "x.mean()/y", "pi*x + e",
    "cat([x.reshape(-1), x.reshape(-1)])", "abs(x)**y", "detach(x)*x", "bessel_j1(x)",
    "ndtr(x)", "lgamma(x)", "clamp(x, -1, 1)", "conv1d(x.reshape(1,1,-1), ones(1,1,1))",
]  # fmt: skip
VALUES = [
    "1", "0", "-1", "0.5", "2^0.5", "1e308", "-1e-308", "[1,2]", "[[1,2],[3,4]]", "[]",
    "[[]]", "pi", "randn(2,2)", "ones(300)", "zeros(0)", "ones(1,1,1,1,1,1)", "1/3",
    "linspace(0,1,1000)", "[1e300,1e300]", "@x.csv:x", "@a.csv", "@b.npy", "@e.csv",
    "1e400",
]  # fmt: skip
POINT = [
    [], [], ["--json"], ["-q"], ["--dtype", "float32"], ["--seed", "7"], ["--strict"],
    ["--wrt", "x"], ["--shape", "x=3"], ["--shape", "x=0"],
    ["--max-seconds", "3"], ["--max-memory", "8GB"], ["--json", "--dtype", "float32"],
    ["-f", "p.grad"], ["--of", "y"],
]  # fmt: skip
OWN = {
    "grad": [
        ["--no-verify"], ["--order", "2"], ["--order", "4", "--json"], ["--condition"],
        ["--digits", "30"], ["--grad-output", "1"], ["--code", "c"],
        ["--code", "numpy"], ["--code", "torch"], ["--grad-output", "[1,2]"],
        ["--sweep", "x=0..1:5"], ["--sweep", "x=-1..1:3", "--json"],
        ["--table", "e.csv"], ["--table", "x.csv"],
        ["--table", "x.csv", "--on-error", "nan"],
        ["--table", "x.csv", "--out", "o.csv"], ["--sweep", "x=0..1:70"],
        ["--sweep", "x=0..2:3", "--sweep", "y=1..2:3"], ["--table", "w.jsonl"],
        ["--out", "g.npz"],
    ],
    "graph": [
        [], ["--tree"], ["--dot"], ["--mermaid"], ["-o", "g.svg"],
        ["-o", "g.html"], ["-o", "g.json"], ["--unfold"],
    ],
    "jacobian": [[], ["--sparse"], ["--spy"], ["--code", "c"], ["--times", "x=1"],
                 ["--out", "J.npz"], ["--mode", "fwd"]],
    "hessian": [[], ["--times", "x=1"], ["--code", "numpy"], ["--spy"]],
    "paths": [[], ["--to", "x"], ["--latex"]],
    "explain": [[], ["--latex"], ["--markdown"]],
    "descend": [["--steps", "5"], ["--steps", "3", "--lr", "1e300"],
                ["--steps", "3", "--optimizer", "adam"]],
    "kinks": [["--radius", "0.1"], []],
    "plot": [["-o", "p.svg"], ["-o", "p.json"], []],
}  # fmt: skip
VERIFYING = {"grad", "jacobian", "hessian"}
KNOWN = {0, 1, 2, 3, 4, 74}
"""How a command line may end."""


def files() -> None:
    """Write what the command lines read into the folder."""
    import numpy as np

    Path("x.csv").write_text("x\n1\n2\n\noops\n1e400\n")
    Path("a.csv").write_text("1,2\n3,4\n")
    Path("e.csv").write_text("")
    Path("w.jsonl").write_text('{"x": 1}\n{"x": [1, 2]}\n{"x": null}\n{}\n')
    Path("p.grad").write_text("y = x**3\n")
    np.save("b.npy", np.arange(6.0).reshape(2, 3))


def line(random: Random) -> list[str]:
    """Return the words of a command line."""
    command = random.choice([name for name in ON_PROGRAMS if name != "check"])
    own, shared = random.choice(OWN.get(command, [[]])), random.choice(POINT)
    program = random.choice(PROGRAMS)
    words = [command, *([] if "-f" in shared else [program]), *own, *shared]
    given = " ".join(own)
    text = "" if "-f" in shared else program
    for name in "xy":
        wanted = name in text.replace("exp", "") or ("-f" in shared and name == "x")
        if wanted and f"{name}=" not in given and "--table" not in own:
            ends = command == "plot" and name == "x"
            words.append(f"{name}={'-1:1:9' if ends else random.choice(VALUES)}")
        elif wanted and "--table" in own and name == "y":
            words.append(f"{name}={random.choice(VALUES)}")
    if command in VERIFYING and not {"--table", "--sweep", "--no-verify"} & {*own}:
        words.append("--no-verify")
    return words


def main(count: int, seed: int) -> int:
    """Run command lines in a folder of their own; how many ended inside."""
    random, statuses, found = Random(seed), Counter[int](), 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    files()
    for _ in range(count):
        words = line(random)
        status, _, told = ended(words)
        statuses[status] += 1
        said = told if status not in KNOWN or "Traceback" in told else ""
        try:
            answered(*ended([*words, "--json"])[1:])
        except Exception as error:
            said += f"--json: {error}"
        if said:
            found += 1
            print(status, words, said[-800:], flush=True)
    print(dict(statuses))
    os.chdir("/")
    shutil.rmtree(folder)
    return found


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
