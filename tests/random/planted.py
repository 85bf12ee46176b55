"""A test of the comparison: a fault in one row has to be found among few programs.

    python -m tests.random.planted                 # each fault, and the table as it is
    python -m tests.random.planted "a vjp" 500     # one fault among the first 500

A fault is planted before anything runs, so each has a process of its own. Programs that
do not name the function are drawn and not run: the fault is not in them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradcli.ops import OPS
from tests.random.trial import drawn, look_at

FIRST, MOST = 400_000, 3_000
"""Where the programs begin, and among how many of them a fault is to be found."""

SLIGHTLY = 1 + 1e-5
AS_IT_IS = "as it is"


@dataclass(frozen=True, slots=True)
class Fault:
    """A field of a row, and what is put in its place."""

    row: str
    part: str
    spoilt: Callable[[Any], Any]

    def plant(self) -> None:
        op = OPS[self.row]
        object.__setattr__(op, self.part, self.spoilt(getattr(op, self.part)))


def off(formula: Any) -> Any:
    """A formula of one operand whose numbers are off by a hundred thousandth."""
    return lambda xp, x: formula(xp, x) * SLIGHTLY


def all_off(rules: Any) -> Any:
    """Reverse rules whose numbers are off by as much."""
    return tuple([
        lambda *args, rule=rule, **params: rule(*args, **params) * SLIGHTLY
        for rule in rules
    ])  # fmt: skip


def constant(partial: Any) -> Any:
    """A partial with the right numbers, of which nothing is known in a second pass."""
    return lambda xp, y, *inputs, **params: xp.detach(partial(xp, y, *inputs, **params))


FAULTS = {
    "a forward formula": Fault("expm1", "fwd", off),
    "a vjp": Fault("softmax", "vjp", all_off),
    "a double backward": Fault("tan", "partials", lambda parts: tuple(
        map(constant, parts))),
}  # fmt: skip


def search(name: str, fault: Fault | None, most: int) -> tuple[int | None, int]:
    """The number of the first program that differs, and how many were run.

    Args:
        name: the function that the programs have to name.
        fault: what is planted; None: nothing is.
    """
    if fault is not None:
        fault.plant()
    ran = 0
    for seed in range(FIRST, FIRST + most):
        if re.search(rf"\b{name}\b", drawn(seed).text) is None:
            continue
        ran += 1
        found = look_at(seed, small=False)
        if found is not None and found.reason is None:
            return seed, ran
    return None, ran


def in_a_process(*words: str) -> str:
    run = [sys.executable, "-m", "tests.random.planted", *words]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr


def main(words: list[str]) -> None:
    if not words:
        for name in FAULTS:
            print(f"{name}: {in_a_process(name, str(MOST))}")
            print(f"  {AS_IT_IS}: {in_a_process(name, str(MOST), AS_IT_IS)}")
        return
    name, most, *unspoilt = words
    fault = FAULTS[name]
    function = OPS[fault.row].base
    seed, ran = search(function, None if unspoilt else fault, int(most))
    found = "nothing found" if seed is None else f"found at program {seed - FIRST + 1}"
    print(f"{found}, {ran} programs of {function} were run")


if __name__ == "__main__":
    main(sys.argv[1:])
