"""Record what the installed PyTorch does for every fact's ``code``.

Invariant: ``printed`` and ``raises`` are never written by hand. To add a fact, append a
line with its name and code to the file of its family in ``facts/`` and run this.

    python tests/reference/record.py            # write every file of facts/ anew
    python tests/reference/record.py --check    # exit 1 if anything would change
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from torch_facts import Fact, files, load, run, save


def recorded(facts: list[Fact]) -> list[Fact]:
    import torch

    # The order of a sum, and so its last digit, depends on the number of threads.
    torch.set_num_threads(1)
    fresh = []
    for fact in facts:
        outcome = run(fact.code, torch)
        fresh.append(replace(fact, printed=outcome.printed, raises=outcome.raises))
    return fresh


def main() -> int:
    parser = argparse.ArgumentParser(description="Record PyTorch's facts anew.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    changed = []
    for file in files():
        facts = load(file)
        fresh = recorded(facts)
        if not check:
            save(file, fresh)
        changed += [
            f"{was.name}\n  was {was}\n  now {now}"
            for was, now in zip(facts, fresh, strict=True)
            if was != now
        ]
    print("\n".join(changed) or "every fact is as recorded")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
