"""Many programs in both libraries: counts, and each difference."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

import torch

from gradcli.ops import ALIASES, FUNCTIONS
from tests.random.compare import Difference, difference
from tests.random.departures import departure, has_witness
from tests.random.generate import random_program
from tests.random.program import Program
from tests.random.theirs import known

CRASH = "PyTorch's process ends"


@dataclass(frozen=True, slots=True)
class Found:
    """A program that differs; ``reason`` names the departure, if any."""

    seed: int
    program: Program
    difference: Difference
    reason: str | None

    @property
    def group(self) -> str:
        """What differs, and the last function in the program."""
        if self.reason:
            return self.reason
        return f"{self.difference.what} of {last_call(self.program.text)}"


def last_call(text: str) -> str:
    calls = [w for w in re.findall(r"(\w+)\(", text) if w in FUNCTIONS or w in ALIASES]
    kept = [w for w in calls if w not in ("sum", "mean", "flatten", "reshape")]
    signs = re.findall(r"\*\*=?|//=?|[-+*/%@]=|\[|[-+*/%@]|[<>=!]=?", text)
    return (kept or calls or signs or ["nothing"])[-1]


def drawn(seed: int) -> Program:
    """The program of a number, of functions that PyTorch has too, at a point where
    both have numbers."""
    return random_program(seed, wild=False, has=compared)


def compared(name: str, method: bool) -> bool:
    return has_witness(name) and known(name, method)


def look_at(seed: int) -> Found | None:
    """What is different about the program of a number, if anything."""
    program = drawn(seed)
    found = difference(program)
    if found is None:
        return None
    return Found(seed, program, found, departure(program, found))


def work(seeds: list[int], answers: Connection) -> None:
    """Send what is found of each number, as soon as it is."""
    torch.set_num_threads(1)
    for seed in seeds:
        answers.send((seed, look_at(seed)))
    answers.close()


class Worker:
    """A process of its own for some numbers: a program may bring PyTorch down."""

    def __init__(self, seeds: list[int]) -> None:
        self.seeds = seeds
        self.ended = False
        context = get_context("fork")
        self.answers, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(seeds, theirs), daemon=True)
        self.process.start()
        theirs.close()

    def read(self) -> Iterator[Found]:
        """The next answer, if it is a difference; the number that ended the process."""
        try:
            seed, found = self.answers.recv()
        except EOFError:
            self.ended = True
            self.process.join()
            if self.seeds:
                lost = self.seeds.pop(0)
                ended = f"exit status {self.process.exitcode}"
                what = Difference("PyTorch ends the process", "", ended)
                by_signal = (self.process.exitcode or 0) < 0
                yield Found(lost, drawn(lost), what, CRASH if by_signal else None)
        else:
            self.seeds.remove(seed)
            if found is not None:
                yield found


def trial(first: int, count: int, processes: int) -> tuple[list[Found], float]:
    """Every difference among ``count`` programs, and the seconds that took."""
    began = time.perf_counter()
    ends = [first + count * n // processes for n in range(processes + 1)]
    waiting = [list(range(a, b)) for a, b in pairwise(ends)]
    workers = {w.answers: w for w in map(Worker, waiting)}
    found: list[Found] = []
    while workers:
        for answers in wait(list(workers)):
            worker = workers[answers]
            found += worker.read()
            if worker.ended:
                del workers[answers]
                if worker.seeds:
                    again = Worker(worker.seeds)
                    workers[again.answers] = again
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
        members = [f for f in open_ if f.group == group]
        members.sort(key=lambda f: len(f.program.command))
        if members:
            lines.append(f"\n{n:6} {group}")
        for each in members[:most]:
            lines.append(f"  seed {each.seed}: {each.program.command}")
            lines.append(f"    {each.difference}"[:600])
    return "\n".join(lines)
