"""Many programs in both libraries: counts, and each difference made small."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context

import torch

from gradcli.ops import ALIASES, FUNCTIONS
from tests.random.compare import Difference, difference
from tests.random.departures import departure
from tests.random.generate import random_program
from tests.random.program import Program
from tests.random.shrink import shrunk
from tests.random.theirs import known

CHUNK = 50


@dataclass(frozen=True, slots=True)
class Found:
    """A program that differs, made small; ``reason`` names the departure, if it is one."""

    seed: int
    program: Program
    difference: Difference
    reason: str | None

    @property
    def group(self) -> str:
        """What differs, and the last function in the small program."""
        if self.reason:
            return self.reason
        return f"{self.difference.what} of {last_call(self.program.text)}"


def last_call(text: str) -> str:
    calls = [w for w in re.findall(r"(\w+)\(", text) if w in FUNCTIONS or w in ALIASES]
    kept = [w for w in calls if w not in ("sum", "mean", "flatten", "reshape")]
    signs = re.findall(r"\*\*=?|//=?|[-+*/%@]=|\[|[-+*/%@]|[<>=!]=?", text)
    return (kept or calls or signs or ["nothing"])[-1]


def drawn(seed: int) -> Program:
    """The program of a number, of functions that PyTorch has too."""
    return random_program(seed, has=known)


def look_at(seed: int, small: bool = True) -> Found | None:
    """What is different about the program of a number, if anything."""
    program = drawn(seed)
    found = difference(program)
    if found is None:
        return None
    reason = departure(program, found)
    if reason is not None or not small:
        return Found(seed, program, found, reason and reason.name)
    kind = found.kind

    def same(smaller: Program) -> bool:
        again = difference(smaller)
        return (
            again is not None
            and again.kind == kind
            and departure(smaller, again) is None
        )

    program = shrunk(program, same)
    again = difference(program)
    assert again is not None
    return Found(seed, program, again, None)


def look_at_all(seeds: list[int]) -> tuple[int, list[Found]]:
    torch.set_num_threads(1)
    found = [each for seed in seeds if (each := look_at(seed)) is not None]
    return len(seeds), found


def chunks(first: int, count: int) -> Iterator[list[int]]:
    for start in range(first, first + count, CHUNK):
        yield list(range(start, min(start + CHUNK, first + count)))


def trial(first: int, count: int, processes: int) -> tuple[list[Found], float]:
    """Every difference among ``count`` programs, and the seconds that took."""
    began = time.perf_counter()
    found: list[Found] = []
    if processes == 1:
        parts: Iterable[tuple[int, list[Found]]] = map(
            look_at_all, chunks(first, count)
        )
        for _, some in parts:
            found += some
    else:
        with get_context("fork").Pool(processes) as pool:
            for _, some in pool.imap_unordered(look_at_all, chunks(first, count)):
                found += some
    return sorted(found, key=lambda f: f.seed), time.perf_counter() - began


def report(found: list[Found], count: int, seconds: float, most: int = 3) -> str:
    """The counts, and of each group the smallest programs."""
    groups = Counter(f.group for f in found)
    meant = Counter(f.reason for f in found if f.reason)
    open_ = [f for f in found if f.reason is None]
    lines = [
        f"{count} programs, {count / seconds:.0f} a second: "
        f"{count - len(found)} the same, {sum(meant.values())} differ on purpose, "
        f"{len(open_)} differ",
        *(f"{n:6} {name}" for name, n in meant.most_common()),
    ]
    for group, n in groups.most_common():
        members = sorted(
            (f for f in open_ if f.group == group), key=lambda f: len(f.program.command)
        )
        if members:
            lines.append(f"\n{n:6} {group}")
        for each in members[:most]:
            lines.append(f"  seed {each.seed}: {each.program.command}")
            lines.append(f"    gradcli {each.difference.ours[:300]}")
            lines.append(f"    PyTorch {each.difference.theirs[:300]}")
    return "\n".join(lines)
