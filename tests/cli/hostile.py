"""Hostile words in every place of every command; whether one of them ends inside.

    python -m tests.cli.hostile 500 7       # so many command lines, of a seed

Each line is one whose words all come to their use, or the example of the command's
help, with one hostile word: as the value of an option that the command declares, in the
place of a word, behind some of them, or in a variable of the environment.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

from gradcli.answers.writer import prefer
from gradcli.cli.commands import COMMANDS
from gradcli.cli.defaults import SETTINGS
from gradcli.cli.group import command_of
from tests.processes.here import checking_here, ended

from .examples import example
from .wild import KNOWN

STEERING = "\x1b]0;t\x07\x1b[31m\u202eab\u2066\x9b2J\r\x08\x7f\u2028"
"""Text that a terminal would obey: a title, colours, another direction, a line anew."""

DIGITS, LONG = "9" * 5000, "n" * 5000
NUMBERS = (
    "0", "-1", "-0", "1e999", "-1e999", "inf", "-inf", "nan", "1e-999",
    "0x" + "f" * 5000, DIGITS, "-" + DIGITS, "1." + DIGITS, "1e" + DIGITS,
    "99999999999T", "99999999999", "1_0", "٣", "½", "1,5", "1e400MB", "5x", "()",
    "1" * 300, "²", "1e5000",
)  # fmt: skip
NAMES = (
    "", " ", "\t", "\n", "-", "--", "@", "@@", ":", "::", "=", ",", ",,", "*",
    "~", "~nosuch", "~nosuch/x.csv", "~nosuch/x.npz", "@~nosuch/x.csv",
    "~/x.csv:x", LONG, LONG + ".csv", LONG + ".npz", LONG + ".py:f",
    "a/" * 3000 + "x.svg", LONG + ".grad", "n" * 252 + ".csv", "n" * 250 + ".svg",
    "@" + LONG, "x=@" + LONG + ".csv", "folder", "folder/", "folder.csv",
    "folder.npz", "folder.svg", "folder/x.csv:x", "x.csv/y.csv", "x.csv/",
    "nosuch/x.csv", "nosuch/x.npz", "nosuch/g.svg", "e.csv", "x.csv", "b.npy",
    "/dev/null", "/dev/null/x", "/dev/full", "null.npz", "null.npy", "null.csv",
    "null.svg", "null.json", "full.npz", "full.csv", "full.svg", "full.npy",
    "full.mtx", "null.mtx", "null.parquet", "full.parquet", "closed.csv", "loop.csv",
    "loop.npz", "gone.npz", "/proc/self/mem", "/proc/self/fd/99", "/dev/fd/99",
    "/proc/x.csv", "\udcff", "\udcff.csv", "\udcff.npz", "\udc80x",
    "\udcff=1", "x=\udcff", "x=@\udcff.csv", STEERING, STEERING + ".csv",
    STEERING + ".npz", STEERING + "=1", f"x={STEERING}", f"x=@{STEERING}.csv",
    f"x.csv:{STEERING}", f"{STEERING}.py:f", "\ufeff", "\u200b", "\u0301", "\u2028",
    "\x85", "e\u0301=1", "\U000e0041", "\U0001f600",
)  # fmt: skip
TEXTS = (
    "x", "x=", "x=1", "=1", "x=y=1", "x==1", "x=0..1", "x=0..1:5", "x=inf..nan:5",
    "x=0..1:" + DIGITS, "x=0..1:-1", f"x={DIGITS}", f"x=1e{DIGITS}",
    f"x={DIGITS}..1:3", f"x=-{DIGITS}", f"x={DIGITS},1", f"x={DIGITS}.{DIGITS}",
    f"X={DIGITS},2", "x=()", "x=(((((", "x=[[[[[", "x=@", "x=@-", "x=@x.csv:",
    "x=@x.csv:\x1b", "x=@b.npy:x", "x=@/dev/null", "x=@folder", "x=@x.csv:" + LONG,
    "dy/dx = 2", "d/dx", "dy/dx=" + "(" * 999, "(" * 5000, "x" * 5000, "x+" * 5000,
    "x**" + DIGITS, DIGITS, "0x" + "f" * 5000, "'", '"', "\\", "%s%n{}", "{}",
    "{0.__class__}", "{}.npz", "[bold]", "$(x)", "local:0", "local:99999999999",
    "local:" + DIGITS, "local:-1", "local:x", "local:²", "ucx://x", "x://", "tcp://",
    "tcp://127.0.0.1", "://", "tls://127.0.0.1:1", "inproc://x", "127.0.0.1:x",
    f"127.0.0.1:{DIGITS}", "float16", "CUDA", "E101", "E999", "grad.json", "\u212b",
    "proved", "a,b", "x,x", "x,,y", f"x,{LONG}", "x=x", "x=y,y=x", "sin",
    "nosuch.py:f", "two.py:f", "two.py:", "two.py:g.h", "folder:f", "x.csv:f",
    "p.grad", "two.py", "seed", "bash",
)  # fmt: skip
WORDS = (*NUMBERS, *NAMES, *TEXTS)

VARIABLES = (
    "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "PAGER", "XDG_CONFIG_HOME",
    "XDG_STATE_HOME", "HOME", "TMPDIR", "GRADCLI_NOSUCH", "CUDA_VISIBLE_DEVICES",
    *(each.variable for each in SETTINGS),
)  # fmt: skip

ROWS = "x^2 --table x.csv"
LINES = {
    "grad": (ROWS, "x^2 --sweep x=0..1:3", "x^2 x=2 --no-verify", ROWS + " --out o"),
    "value": (ROWS, "x^2 x=2"),
    "jacobian": ("[x,2*x] x=2 --no-verify", ROWS, "x^2 x=2 --no-verify --out J.npz"),
    "hessian": ("x^3 x=2 --no-verify", ROWS),
    "plot": ("x^2 x=0..1:5", "x^2 x=0..1:5 --out g.svg"),
    "graph": ("x^2 x=2", "x^2 x=2 --out g.svg"),
    "check": ("x^2 x=2 --claim d/dx=2*x --verify-seconds 1",),
    "kinks": ("x^2 x=2 --no-verify",),
    "descend": ("x^2 x=2 --steps 3",),
    "verify": ("two.py:f x=[1,2] --verify-seconds 1",),
    "run": ("two.py 1",),
    "help": ("", "E101"),
}  # fmt: skip
"""Command lines by command whose words all come to their use."""

SKIPPED = frozenset({"tour", "repl"})
"""Commands without words."""


@cache
def valued(command: str) -> list[str]:
    """The options of a command that have a value, as they are typed."""
    params = [each for each in command_of(command).params if not each.is_eager]
    options = [each for each in params if each.param_type_name == "option"]
    return [name for each in options if not each.is_flag for name in each.opts]


def line(random: Random) -> tuple[list[str], dict[str, str]]:
    """The words of a command line, and variables of its environment."""
    command = random.choice([each for each in COMMANDS if each not in SKIPPED])
    lines = LINES.get(command, ())
    words = [command, *random.choice(lines).split()] if lines else example(command)
    word, way = random.choice(WORDS), random.random()
    options = valued(command)
    if way < 0.6 and options:
        name = random.choice(options)
        return [*words, *random.choice([[f"{name}={word}"], [name, word]])], {}
    if way < 0.75 and len(words) > 1:
        words[random.randrange(1, len(words))] = word
        return words, {}
    if way < 0.85:
        return [*words[: random.randint(1, len(words))], word], {}
    return words, {random.choice(VARIABLES): word}


def folder() -> None:
    """Write what the command lines read and run into beside each other."""
    import numpy as np

    Path("x.csv").write_text("x,id\n1,a\n2,b\noops,c\n1e400,d\n")
    Path("e.csv").write_text("")
    Path("p.grad").write_text("y = x**3\n")
    np.save("b.npy", np.arange(6.0).reshape(2, 3))
    for name in ("folder", "folder.csv", "folder.npz", "folder.svg"):
        Path(name).mkdir()
    for suffix in ("npz", "npy", "csv", "svg", "json", "mtx", "parquet"):
        Path(f"null.{suffix}").symlink_to("/dev/null")
        Path(f"full.{suffix}").symlink_to("/dev/full")
    for suffix in ("csv", "npz"):
        Path(f"loop.{suffix}").symlink_to(f"loop.{suffix}")
    Path("gone.npz").symlink_to("nosuch/gone.npz")
    Path("two.py").write_text("def f(x):\n    return (x * x).sum()\ng = 3\n")


@contextmanager
def place() -> Iterator[None]:
    """A folder of its own as the working folder, the home and that of settings."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as path:
        own = {"HOME": path, "XDG_CONFIG_HOME": f"{path}/c", "TMPDIR": path}
        own["XDG_STATE_HOME"] = f"{path}/s"
        with patch.dict(os.environ, own):
            os.chdir(path)
            folder()
            try:
                yield
            finally:
                # What a line asked for would hold for later tests of this process.
                prefer()
                os.chdir(before)


def run(words: list[str], variables: Mapping[str, str]) -> tuple[int, str, str]:
    """How a command line ended: its status, and what it wrote to both streams."""
    with patch.dict(os.environ, variables):
        return ended(words)


def main(count: int, seed: int) -> int:
    """Run command lines; how many ended inside."""
    random, statuses, inside = Random(seed), Counter[int](), 0
    with place(), checking_here():
        for _ in range(count):
            words, variables = line(random)
            status, _, told = run(words, variables)
            statuses[int(status)] += 1
            if status not in KNOWN or "Traceback" in told:
                inside += 1
                print(status, words, variables, told[-800:], flush=True)
    print(dict(statuses))
    return inside


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:]))))
