"""Record what the installed PyTorch gives for every row's cases.

python -m tests.laws.record_forward            # write the record anew
python -m tests.laws.record_forward --check    # exit 1 if anything would change
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .forward import AT, RECORD, arrays, as_line, differs, recorded, settled
from .in_torch import outputs
from .own import OWN


def main() -> int:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    fresh = {
        at: [np.asarray(y) for y in outputs(entry, *inputs(at))]
        for at, (entry, _) in AT.items()
        if entry.name not in OWN
    }
    was = recorded()
    changed = [at for at in fresh if at not in was or is_another(at, fresh[at], was)]
    gone = sorted(set(was) - set(fresh))
    if check:
        print("\n".join(changed + gone) or f"{len(was)} cases are as recorded")
        return 1 if changed or gone else 0
    # What differs by rounding alone stays as it was: libraries of linear algebra round
    # otherwise on another machine, and where an array lies elsewhere in memory.
    kept = dict(was) | {at: fresh[at] for at in changed}
    lines = [as_line(at, kept[at]) for at in fresh]
    RECORD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(changed)} of {len(lines)} cases recorded anew, {len(gone)} dropped")
    return 0


def is_another(at: str, found: list[Any], was: Mapping[str, list[Any]]) -> bool:
    """Whether a case has other outputs than those that were recorded."""
    held = was[at]
    return len(found) != len(held) or differs(settled(at, found), settled(at, held))


def inputs(at: str) -> tuple[tuple[object, ...], dict[str, object]]:
    entry, number = AT[at]
    return arrays(entry, number), entry.cases[number].params


if __name__ == "__main__":
    sys.exit(main())
