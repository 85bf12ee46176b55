"""Record what the installed PyTorch gives for every row's cases.

python -m tests.laws.record_forward            # write the record anew
python -m tests.laws.record_forward --check    # exit 1 if anything would change
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from .forward import AT, RECORD, arrays, as_line, differs, recorded, settled
from .in_torch import outputs
from .own import OWN


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    fresh = {
        at: [np.asarray(y) for y in outputs(entry, *inputs(at))]
        for at, (entry, _) in AT.items()
        if entry.name not in OWN
    }
    if not check:
        lines = [as_line(at, found) for at, found in fresh.items()]
        RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{len(lines)} cases recorded")
        return 0
    was = recorded()
    changed = [
        at
        for at in fresh
        if at not in was or differs(settled(at, fresh[at]), settled(at, was[at]))
    ]
    changed += sorted(set(was) - set(fresh))
    print("\n".join(changed) or f"{len(was)} cases are as recorded")
    return 1 if changed else 0


def inputs(at: str) -> tuple[tuple[object, ...], dict[str, object]]:
    entry, number = AT[at]
    return arrays(entry, number), entry.cases[number].params


if __name__ == "__main__":
    sys.exit(main())
