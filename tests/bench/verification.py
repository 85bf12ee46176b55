"""The cost of checking against the size of the program, whole processes apart.

    python tests/bench/verification.py [chains|tensors]

Each size is checked in a process of its own, so that its peak memory is its own; what
the imports take is taken off. Costs are seconds on the processor. Of chains, the cost
of the first verdict is compared, `certified`, which every length gets; ten times the
length is to cost about ten times as much. Of tensors, the verdict within the default
limit is shown, and of how many entries.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

LENGTHS = (10, 100, 1_000, 10_000)
LIMIT = 60.0

CHAINS = {
    "logistic map": "y = x\nfor i in range({n}): y = r*y*(1 - y)",
    "sines": "y = x\nfor i in range({n}): y = sin(y) + r*x",
}
TENSORS = {
    "squares": ("(x**2).sum()", ("x",), (10, 1_000, 10_000, 100_000, 1_000_000)),
    "softmax": ("(softmax(x, 0)*c).sum()", ("x", "c"), (10, 1_000, 10_000, 100_000)),
    "rows": ("logsumexp(x.reshape(10, -1), 1).sum()", ("x",),
             (10, 1_000, 10_000, 100_000)),
}  # fmt: skip
MATRICES = {
    "product": ("(A @ B).sum()", ("A", "B"), (2, 3, 10, 30, 100, 200, 500)),
    "layers": ("tanh(A @ B).sum()", ("A", "B"), (2, 3, 10, 30, 100, 200)),
    "inverse": ("inverse(A + 9*eye({n})).sum()", ("A",), (2, 3, 10, 30)),
    "det": ("det(A)", ("A",), (2, 3, 10, 30)),
    "cholesky": ("cholesky(A @ A.T + eye({n})).sum()", ("A",), (2, 3, 10, 30)),
    "solve": ("solve(A + 9*eye({n}), B).sum()", ("A", "B"), (2, 3, 10, 30)),
}


def check(source: str, shapes: dict[str, list[int]], values: dict[str, float],
          seconds: float) -> None:  # fmt: skip
    """Check one program and print what it took, as JSON."""
    import resource

    import numpy as np

    sys.path.insert(0, "")
    from gradcli.engine import NUMPY, Tensor, grad
    from gradcli.lang.run import evaluate
    from gradcli.verify.process.job import UNKNOWN, Block, Input, Job, Verification
    from gradcli.verify.process.runner import program_of
    from gradcli.verify.process.worker import spare_the_collector
    from gradcli.verify.verify import verify

    random = np.random.default_rng(0)
    tensors = {n: Tensor(np.asarray(v), NUMPY, True) for n, v in values.items()}
    for name, shape in shapes.items():
        tensors[name] = Tensor(random.normal(size=shape), NUMPY, True)
    output = evaluate(source, tensors)[0]
    found = grad([output], list(tensors.values()))
    inputs = tuple(
        Input(n, Block.of(t.shape, t.raw.ravel()), Block.of(t.shape, g.raw.ravel()))
        for (n, t), g in zip(tensors.items(), found, strict=True)
        if g is not None
    )
    job = Job(source, inputs, Block.of((), [float(output.raw)]), seconds=seconds)
    spare_the_collector()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    first: list[float] = []

    def report(step: Verification) -> None:
        if step.verdict != UNKNOWN:
            first.append(time.process_time() - start)

    shown = verify(job, program_of(job), report)
    print(json.dumps({
        "first": first[0] if first else None, "seconds": time.process_time() - start,
        "bytes": 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before),
        "verdict": shown.verdict, "checked": shown.checked, "of": shown.of,
    }))  # fmt: skip


def measured(*arguments: Any) -> dict[str, Any]:
    command = [sys.executable, __file__, "--check", json.dumps(arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def chains() -> None:
    for name, source in CHAINS.items():
        before = None
        for n in LENGTHS:
            found = measured(source.format(n=n), {}, {"x": 0.3, "r": 3.2}, LIMIT)
            cost = found["first"]
            ratio = f"x{cost / before:5.1f}" if before else ""
            print(
                f"{name:13} {n:>7,} steps   certified {cost:7.3f} s "
                f"{cost / n * 1e6:7.1f} µs a step {ratio:7} "
                f"{found['bytes'] / 2**20:5.0f} MiB   {found['verdict']:8} after "
                f"{found['seconds']:.2f} s"
            )
            before = cost


def tensors() -> None:
    """Within the default limit: what can be shown of how much."""
    for name, (source, names, sizes) in TENSORS.items():
        for n in sizes:
            _tell(name, f"{n:,}", source, {i: [n] for i in names})
    for name, (source, names, sizes) in MATRICES.items():
        for n in sizes:
            shapes = {i: [n, n] for i in names}
            _tell(name, f"{n} x {n}", source.format(n=n), shapes)


def _tell(name: str, size: str, source: str, shapes: dict[str, list[int]]) -> None:
    found = measured(source, shapes, {}, 5.0)
    print(
        f"{name:9} {size:>11}   {found['seconds']:6.2f} s   "
        f"{found['bytes'] / 2**20:6.0f} MiB   {found['verdict']:8} "
        f"{found['checked']:,} of {found['of']:,}"
    )


def main() -> None:
    if sys.argv[1:2] == ["--check"]:
        check(*json.loads(sys.argv[2]))
        return
    if sys.argv[1:] in ([], ["chains"]):
        chains()
    if sys.argv[1:] in ([], ["tensors"]):
        tensors()


if __name__ == "__main__":
    main()
