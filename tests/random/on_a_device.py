"""Random programs on a GPU beside the CPU: ``python -m tests.random.on_a_device
--programs 20000 --seed 0``; values, gradients, graphs and refusals.

Where there is no GPU they run on the stand-in for CuPy. The vectors of `svd` and `eigh`
get the same signs on both. Exit status 1 if a program differs that `meant` does not
explain.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from typing import Any

import numpy as np

from gradcli.engine import Tensor, devices
from gradcli.engine.arrays import ArrayNamespace
from gradcli.engine.devices import host
from tests.cupy_stand_in.standing import gpu
from tests.random import ours
from tests.random.generate import random_program
from tests.random.outcome import Outcome, Refusal, outcome
from tests.random.program import Program

CLOSE = {"float64": 1e-9, "float32": 2e-3}
"""Largest error relative to the largest entry: sums are added in another order."""


REPEATED = ("scatter", "index_put", "index_copy", "put", "put_", "masked_scatter")
"""Functions that may write to a position twice, which leaves any of the values."""

OVERFLOW = "an overflow"
"""Start of a difference that is one of NaN, infinity and a number."""

LARGE = re.compile(r"e\+(1[5-9]\d|[23]\d\d)")
"""Numbers whose sums or squares are above the largest double."""


def meant(program: Program, differing: str) -> str:
    """Return why a program may differ on a GPU; empty: there is no reason."""
    called = set(re.findall(r"\w+", program.text))
    if called & {*REPEATED} or re.search(r"\] *[-+*/]?= ", program.text):
        return "repeated positions"
    if differing.startswith(OVERFLOW) and LARGE.search(program.command):
        return "sums that overflow in one of two orders"
    return ""


@contextmanager
def signs_alike() -> Iterator[None]:
    """Give vectors of `svd` and `eigh` signs that no device chooses: a weighted sum of
    the entries of a vector is positive. The vectors are right with any signs."""
    svd, eigh = ArrayNamespace.svd_factors, ArrayNamespace.eigh_factors

    def signs(xp: Any, vectors: Any) -> Any:
        weights = xp.np.asarray(np.cos(1.0 + 2.0 * np.arange(vectors.shape[-2])))
        total = (vectors * weights[:, None].astype(vectors.dtype)).sum(-2)
        return xp.np.where(total < 0, -1, 1).astype(vectors.dtype)

    def svd_factors(xp: Any, a: Any, full_matrices: bool = True) -> Any:
        u, s, vh = svd(xp, a, full_matrices)
        if not a.size:
            return u, s, vh
        of_u, of_v = signs(xp, u), signs(xp, vh.swapaxes(-1, -2))
        k = s.shape[-1]
        of_v[..., :k] = of_u[..., :k]
        u, vh = u * of_u[..., None, :], vh * of_v[..., :, None]
        return xp._by_columns(u), s, xp._by_columns(vh)

    def eigh_factors(xp: Any, a: Any) -> Any:
        values, vectors = eigh(xp, a)
        turned = vectors * signs(xp, vectors)[..., None, :]
        return values, xp._by_columns(turned)

    kinds: Any = ArrayNamespace
    kinds.svd_factors, kinds.eigh_factors = svd_factors, eigh_factors
    try:
        yield
    finally:
        kinds.svd_factors, kinds.eigh_factors = svd, eigh


def on(device: str) -> Any:
    """Return how programs are run on a device."""
    return replace(
        ours.OURS,
        run=lambda program, given=None: ours.run(program, given, device),
        jacobian=lambda program, inputs: ours.whole(program, inputs, device),
        array=lambda tensor: np.array(host(tensor.raw)),
        tensor=lambda values, like: Tensor(
            like.xp.array(np.asarray(values).astype(like.raw.dtype)), like.xp
        ),
    )


def difference(program: Program) -> str:
    """Return what differs on a GPU; empty if nothing does."""
    here = came_to("cpu", program)
    there = came_to("cuda", program)
    devices.cuda().doubts.clear()  # of a program that was refused for another reason
    if isinstance(there, str) and POSITION.search(there):
        there = Outcome(refusal=Refusal("value", "IndexError", there))
    if isinstance(here, str) or isinstance(there, str):
        return "" if here == there else f"crash: {here!s:.200} | {there!s:.200}"
    if words(here) == "a position" and there.refusal is not None:
        return ""  # it is refused when numbers are read
    if words(here) != words(there):
        return f"refusal: {here.refusal} | {there.refusal}"
    if (here.dtype, here.requires_grad) != (there.dtype, there.requires_grad):
        return f"type: {here.dtype} | {there.dtype}"
    if here.graph != there.graph:
        return f"graph: {'; '.join(here.graph)} | {'; '.join(there.graph)}"
    for name in ("value", "gradients", "jacobians", "seconds"):
        a, b = getattr(here, name), getattr(there, name)
        pairs = [(a, b)] if name == "value" else zip_longest(a, b)
        unequal = [(x, y) for x, y in pairs if far(x, y)]
        if unequal:
            lost = all(overflows(x, y) for x, y in unequal)
            return f"{f'{OVERFLOW} in ' if lost else ''}{name}: {a} | {b}"
    return ""


POSITION = re.compile("out of (bounds|range)")
"""What an error on a position says, which a GPU raises when numbers are next read."""


def words(found: Outcome) -> str:
    """Return what a refusal says; nothing of a position that is out of bounds."""
    text = "" if found.refusal is None else found.refusal.message
    text = re.sub(r"^error\[E\d+\]: ", "", text).partition("\n")[0]
    text = text.replace(", device='cuda:0'", "")
    return "a position" if POSITION.search(text) else text


def came_to(device: str, program: Program) -> Outcome | str:
    try:
        return outcome(on(device), program)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def far(a: Any, b: Any) -> bool:
    """Return whether two arrays differ by more than the order of sums explains."""
    if a is None or b is None:
        return a is not b
    if a.shape != b.shape or a.dtype != b.dtype:
        return True
    if a.dtype.kind != "f":
        return not np.array_equal(a, b)
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return True
    largest = float(np.abs(a[finite]).max(initial=0.0))
    floor = float(np.finfo(a.dtype).smallest_normal)
    bound = CLOSE.get(a.dtype.name, 2e-2) * max(largest, floor)
    return bool((np.abs(a[finite] - b[finite]) > bound).any())


def overflows(a: Any, b: Any) -> bool:
    """Return whether all entries that differ have NaN or infinity in one of two arrays,
    as sums have whose terms overflow when they are added in one order."""
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return False
    both = np.isfinite(a) & np.isfinite(b)
    return not far(np.where(both, a, 0), np.where(both, b, 0))


def differences(seeds: range) -> Iterator[tuple[int, Program, str]]:
    """Yield each program that differs, with its number and what differs."""
    with gpu(), signs_alike():
        for seed in seeds:
            program = random_program(seed)
            found = difference(program)
            if found:
                yield seed, program, found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first number")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    seeds = range(given.seed, given.seed + given.programs)
    for seed, program, found in differences(seeds):
        reason = meant(program, found)
        counts[reason] += 1
        print(f"seed {seed}: {program.command}\n    {found} ({reason})", flush=True)
    open_ = counts.pop("", 0)
    print(f"{given.programs} programs: {open_} differ, {dict(counts)} as is documented")
    return 1 if open_ else 0


if __name__ == "__main__":
    sys.exit(main())
