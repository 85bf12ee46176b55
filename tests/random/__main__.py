"""Random programs beside PyTorch: ``python -m tests.random --programs 20000 --seed 0``;
``--programs 1 --seed N`` shows the program of one number.

Prints the counts and each difference, grouped by what differs and by function; exit
status 1 if a difference is left that no departure explains.
"""

from __future__ import annotations

import argparse
import sys

from tests.random.trial import report, trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first number")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--show", type=int, default=3, help="programs of each group")
    given = parser.parse_args()
    found, seconds = trial(given.seed, given.programs, given.processes)
    print(report(found, given.programs, seconds, given.show))
    return 1 if any(f.reason is None for f in found) else 0


if __name__ == "__main__":
    sys.exit(main())
